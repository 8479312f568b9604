//! Which part of the log is given to the disk before a flush asks for it.

use regent_commitlog::{Store, StoreConfig};

use crate::support::*;

const STEP: u64 = 8 << 20;
const BLOCK: u64 = 64 << 10;
const BODY: [u8; 10_000] = [7; 10_000];

fn open_with(segment_size: u64, dir: &std::path::Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = segment_size;
    Store::open(config, NOW_MS).unwrap()
}

fn append_until(store: &Store, position: u64) {
    while store.max_position() < position {
        append(store, "t", 0, &BODY);
    }
}

#[test]
fn little_is_left_to_the_flush() {
    let dir = tempdir();
    let store = open_with(64 << 20, dir.path());
    append_until(&store, STEP - 20_000);

    let started = store.start_write_back().unwrap();

    assert_eq!(started, 0);
}

#[test]
fn only_what_was_not_started_yet_is_started_and_only_in_blocks_that_the_writer_has_left() {
    let dir = tempdir();
    let store = open_with(64 << 20, dir.path());
    append_until(&store, STEP + 1);
    let first_end = store.max_position();
    let first = store.start_write_back().unwrap();
    let again = store.start_write_back().unwrap();
    append_until(&store, 3 * STEP);

    let second = store.start_write_back().unwrap();

    assert_eq!(first, first_end - first_end % BLOCK);
    assert_eq!(again, 0);
    let end = store.max_position();
    assert_eq!(first + second, end - end % BLOCK);
    assert_eq!(store.flushed_position(), 0);
}

#[test]
fn what_is_on_the_disk_already_is_not_started() {
    let dir = tempdir();
    let store = open_with(64 << 20, dir.path());
    append_until(&store, 2 * STEP);
    let flushed = store.flush().unwrap();
    let little = store.start_write_back().unwrap();
    append_until(&store, 3 * STEP + 20_000);

    let started = store.start_write_back().unwrap();

    let end = store.max_position();
    assert_eq!(little, 0);
    assert_eq!(started, end - end % BLOCK - flushed);
}

#[test]
fn full_segments_are_started_to_their_ends() {
    // No multiple of a block, so that a rounded end would show.
    let segment_size = (3 << 20) + 4096;
    let dir = tempdir();
    let store = open_with(segment_size, dir.path());
    append_until(&store, 3 * segment_size + 100);

    let started = store.start_write_back().unwrap();

    let within = store.max_position() - 3 * segment_size;
    assert_eq!(started, 3 * segment_size + within - within % BLOCK);
    store.flush().unwrap();
    drop(store);
    let store = open_with(segment_size, dir.path());
    assert_eq!(
        read_all(&store, "t", 0).len() as u64,
        store.queue_offsets("t", 0).unwrap().1
    );
}
