//! What the log holds behind the confirmed position, which a broker that takes over goes by (D14).

use regent_commitlog::{NewMessage, Store, StoreError};

use crate::support::*;

const DELAYED: &str = "delayed";

/// Appends a copy of the message at a position to another topic.
fn copy(store: &Store, origin: u64) {
    let message = NewMessage {
        prepared_transaction_offset: origin.try_into().unwrap(),
        ..NewMessage::new("t", 0, b"copy")
    };
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
}

#[test]
fn what_readers_do_not_see_is_held() {
    let dir = tempdir();
    let store = open(dir.path());
    let first = append(&store, "t", 0, b"first").log_position;
    let second = append(&store, "t", 0, b"second").log_position;

    store.set_confirmed_position(Some(second));

    assert_eq!(store.queue_offsets("t", 0), Some((0, 1)));
    assert_eq!(store.held_offsets("t", 0), Some((0, 2)));
    let held = store.held_entries("t", 0, 0, 10);
    let positions: Vec<_> = held.iter().map(|entry| entry.log_position).collect();
    assert_eq!(positions, [first, second]);
    assert_eq!(store.held_entries("t", 0, 1, 10), held[1..]);
    assert!(store.read_record(second).unwrap().is_none());
    let record = store.held_record(second).unwrap().unwrap();
    assert_eq!(split(&record)[0].body, b"second");
    assert_eq!(store.held_offsets("t", 1), None);
    assert!(store.held_record(store.max_position()).unwrap().is_none());
}

#[test]
fn the_last_message_that_was_copied_shows_how_far_its_queue_is() {
    let dir = tempdir();
    let store = open(dir.path());
    append(
        &store,
        "other",
        0,
        b"the log's first position means no origin",
    );
    let delayed = [0, 0, 3, 0].map(|queue_id| append(&store, DELAYED, queue_id, b"later"));
    copy(&store, delayed[0].log_position);
    copy(&store, delayed[2].log_position);
    let between = store.max_position();
    copy(&store, delayed[1].log_position);
    let behind = store.max_position();
    append(&store, DELAYED, 0, b"not copied");
    store.set_confirmed_position(Some(delayed[0].log_position));

    assert_eq!(
        store.copied_ends(DELAYED, 0).unwrap(),
        [(0, 2), (3, 1)],
        "the highest of each queue"
    );
    assert_eq!(store.copied_ends(DELAYED, between).unwrap(), [(0, 2)]);
    assert_eq!(store.copied_ends(DELAYED, behind).unwrap(), []);
    assert_eq!(store.copied_ends("t", 0).unwrap(), []);
}

#[test]
fn copies_are_found_across_segments() {
    let dir = tempdir();
    let store = open(dir.path());
    let origin = append(&store, "t", 0, b"first");
    let delayed = append(&store, DELAYED, 1, b"later");
    let segments = store.max_position() / SEGMENT_SIZE + 3;
    while store.max_position() / SEGMENT_SIZE < segments {
        append(&store, "t", 0, &[7; 300]);
    }
    copy(&store, delayed.log_position);

    assert_eq!(
        store.copied_ends(DELAYED, origin.log_position).unwrap(),
        [(1, 1)]
    );
}

#[test]
fn a_walk_that_begins_inside_a_record_says_so() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"first");

    let damaged = store.copied_ends(DELAYED, 1);

    assert!(matches!(
        damaged,
        Err(StoreError::Corrupt { position: 1, .. })
    ));
}

#[test]
fn what_names_no_message_of_the_topic_as_its_origin_is_no_copy() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"first");
    let half = append(&store, "half", 0, b"half").log_position;
    let delayed = append(&store, DELAYED, 0, b"later").log_position;
    for origin in [half, delayed + 1, store.max_position() + 1_000_000] {
        copy(&store, origin);
    }

    assert_eq!(store.copied_ends(DELAYED, 0).unwrap(), []);
}
