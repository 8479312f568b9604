//! What is made ready ahead of the writer, and what a flush of little writes (targets.md 1).

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use regent_commitlog::{Store, StoreConfig};

use crate::support::*;

const AHEAD: u64 = 4 << 20;
const PAGE_SIZE: u64 = 4096;
static BODY: [u8; 60_000] = [7; 60_000];

fn open_with(dir: &Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 64 << 20;
    config.populate_ahead_bytes = AHEAD;
    Store::open(config, NOW_MS).unwrap()
}

/// Waits until the helper is as far ahead as it must be; returns the end of the log.
fn wait_for_pages(store: &Store) -> u64 {
    let end = store.max_position();
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.populated_position() < end + AHEAD / 2 {
        assert!(Instant::now() < deadline, "no pages ahead of {end}");
        sleep(Duration::from_millis(1));
    }
    end
}

/// How often this thread met a page that was not in its map yet.
fn minor_fault_count() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = text.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}

/// What this thread has given the disk to write, by whole folios; nothing in file systems that lie in
/// memory.
fn write_bytes() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("write_bytes: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn pages_are_ready_ahead_of_the_writer_wherever_it_is_but_not_far() {
    let dir = tempdir();
    let store = open_with(dir.path());
    append(&store, "t", 0, &BODY);

    for _ in 0..5 {
        let end = wait_for_pages(&store);
        let ahead = store.populated_position() - end;
        assert!(ahead <= AHEAD + PAGE_SIZE, "{ahead} bytes");
        let before = minor_fault_count();
        while store.max_position() < end + AHEAD / 2 {
            append(&store, "t", 0, &BODY);
        }
        let (faults, pages) = (minor_fault_count() - before, AHEAD / 2 / PAGE_SIZE);
        assert!(faults < pages / 4, "{faults} faults in {pages} pages");
    }
}

#[test]
fn a_message_that_is_flushed_by_itself_has_little_more_than_its_page_written() {
    const COUNT: u64 = 200;
    let dir = tempdir();
    let store = open_with(dir.path());
    append(&store, "t", 0, &BODY);
    wait_for_pages(&store);
    store.flush().unwrap();
    let before = write_bytes();

    for _ in 0..COUNT {
        append(&store, "t", 0, &[7; 1000]);
        store.flush().unwrap();
    }

    let written = (write_bytes() - before) / COUNT;
    assert!(written <= 2 * PAGE_SIZE, "{written} bytes for each message");
}

/// Waits until the segment at a position is made.
fn wait_for_segment(dir: &Path, base: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !segment_path(dir, base).exists() {
        assert!(Instant::now() < deadline, "no segment at {base}");
        sleep(Duration::from_millis(1));
    }
}

#[test]
fn the_next_segment_is_made_once_the_present_one_is_half_full() {
    // Pages are made in steps of 2 MiB: the second step ends at 4 MiB of 5.
    const SIZE: u64 = 5 << 20;
    let dir = tempdir();
    let mut config = StoreConfig::new(dir.path());
    (config.segment_size_bytes, config.populate_ahead_bytes) = (SIZE, AHEAD);
    let store = Store::open(config.clone(), NOW_MS).unwrap();
    let fill_to = |store: &Store, end: u64| {
        while store.max_position() < end {
            append(store, "t", 0, &BODY);
        }
    };

    fill_to(&store, SIZE / 2 - 2 * BODY.len() as u64);
    assert!(!segment_path(dir.path(), SIZE).exists());
    fill_to(&store, SIZE / 2);

    wait_for_segment(dir.path(), SIZE);
    // As where the log goes on in the middle of a step.
    fill_to(&store, SIZE + SIZE * 2 / 5);
    store.close().unwrap();
    drop(store);
    let store = Store::open(config, NOW_MS).unwrap();
    fill_to(&store, SIZE + SIZE / 2);
    wait_for_segment(dir.path(), 2 * SIZE);
}
