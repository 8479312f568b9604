//! Busy queues have disk blocks before they need them, idle ones no more than their first slice.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use regent_commitlog::{NewMessage, Store, StoreConfig};

use crate::support::*;

const SLICE_BYTES: u64 = 64 << 10;
const ENTRY_BYTES: u64 = 20;

fn open_with_long_queues(dir: &Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 64 << 20;
    Store::open(config, NOW_MS).unwrap()
}

fn append_many(store: &Store, queue_id: i32, count: u64) {
    let mut writer = store.writer().unwrap();
    for _ in 0..count {
        let message = NewMessage::new("t", queue_id, b"x");
        writer.append(&message, NOW_MS).unwrap();
    }
}

fn allocated_bytes(dir: &Path, queue_id: i32) -> u64 {
    let file = format!("consumequeue/t/{queue_id}/00000000000000000000");
    fs::metadata(dir.join(file)).unwrap().blocks() * 512
}

#[test]
fn a_queue_that_is_half_through_its_slice_is_given_the_next_one() {
    let dir = tempdir();
    let store = open_with_long_queues(dir.path());

    append_many(&store, 0, SLICE_BYTES / 2 / ENTRY_BYTES);
    append_many(&store, 1, SLICE_BYTES / 2 / ENTRY_BYTES + 1);

    let deadline = Instant::now() + Duration::from_secs(60);
    while allocated_bytes(dir.path(), 1) < 2 * SLICE_BYTES {
        assert!(Instant::now() < deadline, "the slice was not prepared");
        sleep(Duration::from_millis(5));
    }
    assert!(allocated_bytes(dir.path(), 0) < 2 * SLICE_BYTES);
}

#[test]
fn entries_in_slices_prepared_ahead_are_there_after_a_restart() {
    const COUNT: u64 = 60_000;
    let dir = tempdir();
    let store = open_with_long_queues(dir.path());
    for _ in 0..6 {
        append_many(&store, 0, COUNT / 6);
        append_many(&store, 1, 10);
    }
    let before = store.queue_entries("t", 0, 0, usize::try_from(COUNT).unwrap());
    store.close().unwrap();
    drop(store);

    let store = open_with_long_queues(dir.path());
    let after = store.queue_entries("t", 0, 0, usize::try_from(COUNT).unwrap());
    assert_eq!(after.len() as u64, COUNT);
    assert!(before == after);
    append_many(&store, 0, 1);
    assert_eq!(store.queue_offsets("t", 0), Some((0, COUNT + 1)));
}

#[test]
fn a_topic_made_again_while_its_slice_is_prepared_begins_at_offset_0() {
    let dir = tempdir();
    let store = open_with_long_queues(dir.path());

    for _ in 0..20 {
        append_many(&store, 0, 2_000);
        store.delete_queues_of("t").unwrap();
        append_many(&store, 0, 3);
        assert_eq!(store.queue_offsets("t", 0), Some((0, 3)));
        assert_eq!(store.queue_entries("t", 0, 0, 9).len(), 3);
        store.delete_queues_of("t").unwrap();
    }
    append_many(&store, 0, 5);
    store.close().unwrap();
    drop(store);

    let store = open_with_long_queues(dir.path());
    assert_eq!(store.recovery().truncated_to, None);
}
