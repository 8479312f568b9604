//! Opening a store whose queues are not in memory: read in large pieces, and only what has entries.

use std::fs::{self, File};
use std::path::Path;

use regent_commitlog::{NewMessage, Store, StoreConfig};
use rustix::fs::{Advice, fadvise};

use crate::support::*;

const PAGE_SIZE: u64 = 4096;
const QUEUE_COUNT: u8 = 20;

fn config(dir: &Path) -> StoreConfig {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 1 << 20;
    config
}

/// A closed store with queues of so many entries, of which no page is in memory.
fn cold_store(dir: &Path, entry_count: u64) {
    let store = Store::open(config(dir), NOW_MS).unwrap();
    for _ in 0..entry_count {
        let mut writer = store.writer().unwrap();
        for queue_id in 0..QUEUE_COUNT {
            let message = NewMessage::new("t", queue_id.into(), b"x");
            writer.append(&message, NOW_MS).unwrap();
        }
    }
    store.close().unwrap();
    drop(store);
    for file in queue_files(dir) {
        file.sync_all().unwrap();
        fadvise(&file, 0, None, Advice::DontNeed).unwrap();
    }
}

fn queue_files(dir: &Path) -> impl Iterator<Item = File> {
    (0..QUEUE_COUNT).map(move |queue_id| {
        let name = format!("consumequeue/t/{queue_id}/00000000000000000000");
        File::open(dir.join(name)).unwrap()
    })
}

/// How often this thread waited for a page of a map to be read.
fn major_fault_count() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/stat").unwrap();
    let (_, fields) = text.rsplit_once(") ").unwrap();
    fields.split(' ').nth(9).unwrap().parse().unwrap()
}

/// What this thread had the disk read; nothing in file systems that lie in memory.
fn read_bytes() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("read_bytes: "));
    line.unwrap().parse().unwrap()
}

#[test]
fn entries_are_not_read_page_by_page() {
    const ENTRY_COUNT: u64 = 5_000;
    let dir = tempdir();
    cold_store(dir.path(), ENTRY_COUNT);
    let before = major_fault_count();

    let store = Store::open(config(dir.path()), NOW_MS).unwrap();

    // 25 pages in each.
    let faults = major_fault_count() - before;
    assert!(faults < 2 * u64::from(QUEUE_COUNT), "{faults} faults");
    assert_eq!(store.queue_offsets("t", 0), Some((0, ENTRY_COUNT)));
    assert_eq!(store.recovery().queues_rebuilt, 0);
}

#[test]
fn of_an_idle_queue_no_more_is_read_than_its_entries() {
    let dir = tempdir();
    cold_store(dir.path(), 1);
    // Only the queues are cold, so that whatever is read is theirs.
    let before = read_bytes();

    let store = Store::open(config(dir.path()), NOW_MS).unwrap();

    let read = (read_bytes() - before) / u64::from(QUEUE_COUNT);
    assert!(read <= 4 * PAGE_SIZE, "{read} bytes of each queue");
    assert_eq!(store.queue_offsets("t", 0), Some((0, 1)));
}

#[test]
fn an_entry_that_ends_in_a_hole_counts() {
    // Without tags an entry ends in zeros; that with this number lies across the end of a page.
    const LAST: u64 = PAGE_SIZE / 20;
    let dir = tempdir();
    cold_store(dir.path(), LAST + 1);
    for queue_id in 0..QUEUE_COUNT {
        let name = format!("consumequeue/t/{queue_id}/00000000000000000000");
        let path = dir.path().join(name);
        let bytes = fs::read(&path).unwrap();
        fs::write(&path, &bytes[..4096]).unwrap();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(bytes.len() as u64).unwrap();
        assert!(fs::read(&path).unwrap() == bytes);
    }

    let store = Store::open(config(dir.path()), NOW_MS).unwrap();

    assert_eq!(store.queue_offsets("t", 0), Some((0, LAST + 1)));
    assert_eq!(store.recovery().entries_added, 0);
}
