//! Reads that come between the deletion of a file and the word of it to its queue.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use super::*;
use crate::{NewMessage, StoreConfig};

const NOW_MS: i64 = 1_758_000_000_000;
const SEGMENT_SIZE: u64 = 16_384;
const COUNT: u64 = 40;

/// Ten entries to a file of the queue, sixteen messages to a segment.
fn filled(dir: &std::path::Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.queue_file_size_bytes = 200;
    let store = Store::open(config, NOW_MS).unwrap();
    for _ in 0..COUNT {
        let message = NewMessage::new("t", 0, &[1; 900]);
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    store
}

fn read(store: &Store, offset: i64) -> (ReadStatus, usize, u64) {
    let read = QueueRead {
        offset,
        count_max: 32,
        bytes_max: 1 << 20,
        filter: None,
    };
    let outcome = store.read_queue("t", 0, &read, &mut Vec::new()).unwrap();
    (outcome.status, outcome.count, outcome.next_offset)
}

#[test]
fn messages_of_a_segment_that_is_gone_are_passed_over_up_to_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let queue = store.queues.find("t", 0).unwrap();
    let is_gone = |number: &u64| queue.entry(*number).unwrap().log_position < SEGMENT_SIZE;
    let first_left = (0..COUNT).find(|number| !is_gone(number)).unwrap();
    assert!((11..19).contains(&first_left));

    store.log.remove_oldest().unwrap();

    let left = usize::try_from(20 - first_left).unwrap();
    assert_eq!(read(&store, 0), (ReadStatus::MessageWasRemoving, 0, 10));
    assert_eq!(read(&store, 10), (ReadStatus::Found, left, 20));
}

#[test]
fn where_a_file_of_the_queue_is_gone_the_reader_goes_on_with_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = filled(dir.path());
    let queue = store.queues.find("t", 0).unwrap();

    assert_eq!(queue.remove_expired(SEGMENT_SIZE).unwrap(), 1);

    assert_eq!(read(&store, 0), (ReadStatus::OffsetFoundNull, 0, 10));
    assert_eq!(read(&store, 9), (ReadStatus::OffsetFoundNull, 0, 10));
    assert_eq!(read(&store, 10), (ReadStatus::Found, 10, 20));
}
