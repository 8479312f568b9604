//! Readers see the log up to the confirmed position only.

use regent_commitlog::{Boundary, KeySearch, NewMessage, QueueRange, ReadStatus, Store};

use crate::support::*;

fn names(queues: &[QueueRange]) -> Vec<(&str, i32, u64)> {
    let mut names: Vec<_> = queues
        .iter()
        .map(|queue| (&*queue.topic, queue.queue_id, queue.max_offset))
        .collect();
    names.sort_unstable();
    names
}

/// Ten messages of one queue; returns where they begin, and the end.
fn ten(store: &Store) -> Vec<u64> {
    let mut positions: Vec<u64> = (0..10)
        .map(|number| append_at(store, "t", 0, b"body", NOW_MS + number * 1_000).log_position)
        .collect();
    positions.push(store.max_position());
    positions
}

#[test]
fn without_a_limit_readers_see_all_of_the_log() {
    let dir = tempdir();
    let store = open(dir.path());
    ten(&store);

    assert_eq!(store.confirmed_position(), store.max_position());
    assert_eq!(store.queue_offsets("t", 0), Some((0, 10)));
}

#[test]
fn every_read_of_a_queue_ends_at_the_confirmed_position() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = ten(&store);

    store.set_confirmed_position(Some(positions[6]));

    let (outcome, records) = read(&store, "t", 0, 4);
    assert_eq!((outcome.count, outcome.next_offset), (2, 6));
    assert_eq!(split(&records).len(), 2);
    assert_eq!(outcome.max_offset, 6);
    assert_eq!(
        read(&store, "t", 0, 6).0.status,
        ReadStatus::OffsetOverflowOne
    );
    assert_eq!(
        read(&store, "t", 0, 9).0.status,
        ReadStatus::OffsetOverflowBadly
    );
    assert_eq!(store.queue_offsets("t", 0), Some((0, 6)));
    assert_eq!(store.queues()[0].max_offset, 6);
    assert_eq!(store.queue_entries("t", 0, 4, 10).len(), 2);
    assert!(store.store_timestamp_at("t", 0, 5).unwrap().is_some());
    assert!(store.store_timestamp_at("t", 0, 6).unwrap().is_none());
    let late = NOW_MS + 8_000;
    let by_time = |boundary| store.offset_by_time("t", 0, late, boundary).unwrap();
    assert_eq!((by_time(Boundary::Lower), by_time(Boundary::Upper)), (6, 5));
    assert!(store.read_record(positions[5]).unwrap().is_some());
    assert!(store.read_record(positions[6]).unwrap().is_none());
}

#[test]
fn a_record_that_ends_behind_the_position_is_not_seen_though_it_begins_before_it() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = ten(&store);

    store.set_confirmed_position(Some(positions[3] - 1));
    assert_eq!(store.queue_offsets("t", 0), Some((0, 2)));
    assert!(store.read_record(positions[2]).unwrap().is_none());

    assert_eq!(
        names(&store.set_confirmed_position(Some(positions[3]))),
        [("t", 0, 3)]
    );
}

#[test]
fn a_queue_of_which_nothing_is_confirmed_seems_never_to_have_held_a_message() {
    let dir = tempdir();
    let store = open(dir.path());
    ten(&store);

    store.set_confirmed_position(Some(0));

    let (outcome, _) = read(&store, "t", 0, 0);
    assert_eq!(outcome.status, ReadStatus::NoMessageInQueue);
    assert_eq!(store.earliest_store_timestamp("t", 0).unwrap(), None);
}

#[test]
fn keys_of_records_behind_the_position_are_not_found() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..2 {
        let properties = b"KEYS\x01k\x02";
        let message = NewMessage {
            properties,
            ..NewMessage::new("t", 0, b"body")
        };
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    while store.advance_followers(NOW_MS, 0).unwrap() > 0 {}
    let find = || store.search(KeySearch::by_key("t", "k", 10, 0, i64::MAX));
    let all = find();

    store.set_confirmed_position(Some(store.max_position() - 1));
    assert_eq!((all.len(), find()), (2, vec![all[1]]));

    store.set_confirmed_position(None);
    assert_eq!(find(), all);
}

#[test]
fn the_position_only_rises_and_names_the_queues_that_grew() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "a", 0, b"x");
    let first = store.max_position();
    assert!(store.set_confirmed_position(Some(first)).is_empty());
    append(&store, "b", 1, b"x");
    append(&store, "b", 1, b"x");
    let second = store.max_position();
    append(&store, "c", 0, b"x");

    assert_eq!(
        names(&store.set_confirmed_position(Some(second)))
            .into_iter()
            .filter(|(topic, ..)| *topic == "b")
            .count(),
        1
    );
    assert!(store.set_confirmed_position(Some(first)).is_empty());
    assert_eq!(store.confirmed_position(), second);
    assert_eq!(
        names(&store.set_confirmed_position(None)),
        [("c", 0, 1)],
        "what the lifted limit uncovers"
    );
}

#[test]
fn what_is_appended_below_the_position_is_seen_at_once_and_named_by_the_next_call() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "a", 0, b"x");
    store.set_confirmed_position(Some(1 << 20));
    store.set_confirmed_position(Some(1 << 20));

    append(&store, "b", 0, b"x");

    assert_eq!(store.queue_offsets("b", 0), Some((0, 1)));
    assert_eq!(
        names(&store.set_confirmed_position(Some(1 << 20))),
        [("b", 0, 1)]
    );
}

#[test]
fn beyond_so_many_changes_of_queues_every_queue_is_named() {
    let dir = tempdir();
    let mut config = config(dir.path());
    config.segment_size_bytes = 8 << 20;
    let store = Store::open(config, NOW_MS).unwrap();
    store.set_confirmed_position(Some(0));
    append(&store, "u", 0, b"seen");
    store.set_confirmed_position(Some(store.max_position()));
    for number in 0..=64 << 10 {
        append(&store, "t", number % 2, b"");
    }

    let end = store.max_position();
    assert_eq!(
        names(&store.set_confirmed_position(Some(end))),
        [("t", 0, 32_769), ("t", 1, 32_768), ("u", 0, 1)]
    );

    append(&store, "t", 1, b"x");
    let end = store.max_position();
    assert_eq!(
        names(&store.set_confirmed_position(Some(end))),
        [("t", 1, 32_769)],
        "and the next changes are noted again"
    );
}

#[test]
fn a_queue_is_named_at_each_position_within_a_run_of_its_messages() {
    let dir = tempdir();
    let store = open(dir.path());
    store.set_confirmed_position(Some(0));
    let positions = ten(&store);
    append(&store, "u", 0, b"x");

    for (number, end) in (1..).zip(&positions[1..]) {
        let named = store.set_confirmed_position(Some(*end));
        assert_eq!(names(&named), [("t", 0, number)]);
    }
    let named = store.set_confirmed_position(Some(store.max_position()));
    assert!(names(&named).contains(&("u", 0, 1)));
}

#[test]
fn a_truncation_lowers_the_position_and_nothing_behind_it_shows_when_the_log_grows_again() {
    let dir = tempdir();
    let mut store = open(dir.path());
    let positions = ten(&store);
    store.set_confirmed_position(Some(positions[8]));

    store.truncate_to(positions[5]).unwrap();

    assert_eq!(store.confirmed_position(), positions[5]);
    append(&store, "t", 0, b"other");
    assert_eq!(store.queue_offsets("t", 0), Some((0, 5)));
    store.set_confirmed_position(Some(store.max_position()));
    assert_eq!(store.queue_offsets("t", 0), Some((0, 6)));
}
