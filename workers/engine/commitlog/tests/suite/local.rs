//! The second log of a store, for the topics that are not replicated (queue-ownership.md 4.8, O56).

use std::fs;
use std::path::Path;

use regent_commitlog::{
    AppendError, Boundary, KeySearch, LOCAL_START, NewMessage, ReadStatus, Retention, Store,
    StoreError,
};

use crate::support::*;

const LOCAL: &str = "metrics";
const OTHER: &str = "orders";

/// Where queues of a generation begin: with a file of ten entries.
fn first_of(generation: u64) -> u64 {
    (generation << 40).next_multiple_of(10)
}

fn lead(dir: &Path, epoch: i32) -> (Store, bool) {
    let mut store = open(dir);
    let is_kept = begin(&mut store, epoch);
    (store, is_kept)
}

fn begin(store: &mut Store, epoch: i32) -> bool {
    begin_with(store, epoch, &[LOCAL])
}

fn begin_with(store: &mut Store, epoch: i32, topics: &[&str]) -> bool {
    store.note_reign(epoch, NOW_MS).unwrap();
    let generation = u64::try_from(epoch).unwrap();
    let (local, is_kept) = store.open_local(generation, epoch, NOW_MS).unwrap();
    let topics = topics.iter().map(|topic| (*topic).to_owned());
    store.use_local(local, topics).unwrap();
    is_kept
}

fn put(store: &Store, topic: &str, body: &[u8]) -> u64 {
    let message = NewMessage {
        properties: b"KEYS\x01k\x02",
        ..NewMessage::new(topic, 0, body)
    };
    let mut writer = store.of(topic).writer().unwrap();
    writer.append(&message, NOW_MS).unwrap().queue_offset
}

fn bodies(store: &Store, topic: &str) -> Vec<Vec<u8>> {
    let messages = read_all(store, topic, 0);
    messages.into_iter().map(|(_, body)| body).collect()
}

#[test]
fn the_first_log_has_nothing_of_a_local_topic_and_all_reads_find_its_messages() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    put(&store, OTHER, b"first");
    let end = store.max_position();

    assert_eq!(put(&store, LOCAL, b"one"), first_of(1));
    assert_eq!(put(&store, LOCAL, b"two"), first_of(1) + 1);

    assert_eq!(store.max_position(), end);
    assert_eq!(bodies(&store, LOCAL), [b"one", b"two"]);
    assert_eq!(bodies(&store, OTHER), [b"first"]);
    assert_eq!(
        store.held_offsets(LOCAL, 0),
        Some((first_of(1), first_of(1) + 2))
    );
    let entries = store.queue_entries(LOCAL, 0, first_of(1), 9);
    assert!(
        entries
            .iter()
            .all(|entry| entry.log_position >= LOCAL_START)
    );
    assert_eq!(store.held_entries(LOCAL, 0, first_of(1), 9), entries);
    let record = store.held_record(entries[1].log_position).unwrap();
    assert_eq!(store.read_record(entries[1].log_position).unwrap(), record);
    assert!(record.is_some());
    assert_eq!(
        store.store_timestamp_at(LOCAL, 0, first_of(1)).unwrap(),
        Some(NOW_MS)
    );
    assert_eq!(
        store.earliest_store_timestamp(LOCAL, 0).unwrap(),
        Some(NOW_MS)
    );
    let found = store.offset_by_time(LOCAL, 0, NOW_MS + 1, Boundary::Lower);
    assert_eq!(found.unwrap(), first_of(1) + 2);
    while store.advance_followers(NOW_MS, 0).unwrap() > 0 {}
    let found = store.search(KeySearch::by_key(LOCAL, "k", 9, 0, i64::MAX));
    assert_eq!(found, [entries[1].log_position, entries[0].log_position]);
    let topics: Vec<_> = store
        .queues()
        .into_iter()
        .map(|queue| queue.topic)
        .collect();
    assert_eq!(topics, [LOCAL, OTHER]);
    assert_eq!(store.counters().total.message_count, 3);
}

#[test]
fn a_limit_of_the_first_log_hides_nothing_of_the_second() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    store.set_confirmed_position(Some(0));
    put(&store, OTHER, b"hidden");
    put(&store, LOCAL, b"seen");

    assert_eq!(bodies(&store, LOCAL), [b"seen"]);
    assert!(bodies(&store, OTHER).is_empty());
}

#[test]
fn a_writer_takes_messages_of_its_own_log_only() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    let (local, other) = (
        NewMessage::new(LOCAL, 0, b"x"),
        NewMessage::new(OTHER, 0, b"x"),
    );
    let mut writer = store.writer().unwrap();

    let refused = [
        writer.append(&local, NOW_MS).map(drop),
        writer.append_unit(&[other, local], NOW_MS).map(drop),
        writer.append_batch(&local, &element(b"x", b""), NOW_MS, &mut Vec::new()),
    ];
    drop(writer);
    let of_other = store.of(LOCAL).writer().unwrap().append(&other, NOW_MS);
    assert!(matches!(of_other, Err(AppendError::OtherLog)));

    for outcome in refused {
        assert!(matches!(outcome, Err(AppendError::OtherLog)), "{outcome:?}");
    }
    assert_eq!(store.queue_offsets(OTHER, 0), None);
}

#[test]
fn a_queue_without_messages_begins_where_its_first_message_will_be() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 3);
    let first = first_of(3);

    assert_eq!(store.queue_offsets(LOCAL, 0), Some((first, first)));
    let cases = [
        (7, ReadStatus::OffsetTooSmall),
        (first, ReadStatus::OffsetOverflowOne),
        (first + 7, ReadStatus::OffsetOverflowBadly),
    ];
    for (offset, status) in cases {
        let (outcome, _) = read(&store, LOCAL, 0, offset.cast_signed());
        assert_eq!((outcome.status, outcome.next_offset), (status, first));
    }
    assert_eq!(put(&store, LOCAL, b"x"), first);
}

#[test]
fn the_master_of_the_epoch_before_keeps_its_messages_through_a_restart() {
    let dir = tempdir();
    let (store, is_kept) = lead(dir.path(), 1);
    assert!(!is_kept, "nothing was before the first epoch");
    put(&store, LOCAL, b"one");
    store.close().unwrap();
    drop(store);

    for epoch in [1, 2] {
        let (store, is_kept) = lead(dir.path(), epoch);
        assert!(is_kept);
        assert_eq!(bodies(&store, LOCAL), [b"one"]);
        store.close().unwrap();
    }
}

#[test]
fn a_kill_keeps_what_was_flushed() {
    let (dir, killed) = (tempdir(), tempdir());
    let (store, _) = lead(dir.path(), 1);
    for number in 0..500 {
        put(&store, LOCAL, format!("{number}").repeat(20).as_bytes());
    }
    store.flush_tick(NOW_MS).unwrap();
    copy_dir(dir.path(), killed.path());

    let (again, is_kept) = lead(killed.path(), 2);

    assert!(is_kept);
    assert_eq!(bodies(&again, LOCAL), bodies(&store, LOCAL));
    assert_eq!(put(&again, LOCAL, b"next"), first_of(1) + 500);
}

#[test]
fn the_log_begins_empty_after_another_broker_has_led() {
    let dir = tempdir();
    let (mut store, _) = lead(dir.path(), 1);
    put(&store, LOCAL, b"one");
    store.end_local().unwrap();
    store.end_local().unwrap();
    assert!(!store.is_local(LOCAL));

    assert!(!begin(&mut store, 3));

    assert!(bodies(&store, LOCAL).is_empty());
    assert_eq!(put(&store, LOCAL, b"new"), first_of(3));
    let removed = dir.path().join("removed");
    assert_eq!(fs::read_dir(&removed).unwrap().count(), 1);
    store.expire(&Retention::default(), NOW_MS).unwrap();
    assert_eq!(fs::read_dir(&removed).unwrap().count(), 0);
}

#[test]
fn a_broker_without_epochs_keeps_its_messages_and_begins_at_offset_0() {
    let dir = tempdir();
    for number in 0..3 {
        let (store, is_kept) = lead(dir.path(), 0);
        assert_eq!(is_kept, number > 0);
        assert_eq!(put(&store, LOCAL, b"x"), number);
        store.close().unwrap();
    }
}

#[test]
fn a_damaged_log_is_refused_and_stays_as_it_is() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    for _ in 0..9 {
        put(&store, LOCAL, b"one");
    }
    store.close().unwrap();
    drop(store);
    let log = dir.path().join("local/commitlog");
    let segment = fs::read_dir(log).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&segment).unwrap();
    bytes[90] ^= 1;
    fs::write(&segment, &bytes).unwrap();
    fs::write(dir.path().join("local/abort"), b"").unwrap();
    let store = open(dir.path());
    store.note_reign(2, NOW_MS).unwrap();

    let error = store.open_local(2, 2, NOW_MS).unwrap_err();

    assert!(matches!(error, StoreError::ReadOnly { .. }), "{error}");
    assert_eq!(fs::read(&segment).unwrap(), bytes);
    fs::remove_dir_all(dir.path().join("local")).unwrap();
    drop(store);
    let (store, is_kept) = lead(dir.path(), 3);
    assert!(!is_kept);
    assert_eq!(put(&store, LOCAL, b"new"), first_of(3));
}

#[test]
fn a_deleted_topic_does_not_come_back_with_an_opening() {
    for makes_again in [false, true] {
        for rebuilds in [false, true] {
            let dir = tempdir();
            let (store, _) = lead(dir.path(), 1);
            for _ in 0..3 {
                put(&store, LOCAL, b"old");
            }
            store.set_local(LOCAL, false).unwrap();
            if makes_again {
                store.set_local(LOCAL, true).unwrap();
                assert_eq!(put(&store, LOCAL, b"new"), first_of(1));
            }
            store.close().unwrap();
            drop(store);
            if rebuilds {
                fs::remove_dir_all(dir.path().join("local/consumequeue")).unwrap();
            }

            let (store, is_kept) = lead(dir.path(), 2);

            assert!(is_kept);
            let expected: &[&[u8]] = if makes_again { &[b"new"] } else { &[] };
            assert_eq!(bodies(&store, LOCAL), expected);
            assert_eq!(
                put(&store, LOCAL, b"next"),
                first_of(1) + u64::from(makes_again)
            );
        }
    }
}

#[test]
fn queues_of_topics_that_do_not_exist_are_removed() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    put(&store, LOCAL, b"one");
    store.close().unwrap();
    drop(store);

    let mut store = open(dir.path());
    begin_with(&mut store, 2, &[OTHER]);

    assert!(store.queues().is_empty());
    store.close().unwrap();
    drop(store);
    fs::remove_dir_all(dir.path().join("local/consumequeue")).unwrap();
    let (store, _) = lead(dir.path(), 3);
    assert!(bodies(&store, LOCAL).is_empty(), "it was made again");
}

#[test]
fn positions_of_two_generations_are_never_the_same() {
    let dir = tempdir();
    let (mut store, _) = lead(dir.path(), 1);
    put(&store, LOCAL, b"one");
    let former = store.queue_entries(LOCAL, 0, first_of(1), 1)[0].log_position;
    store.end_local().unwrap();
    begin(&mut store, 3);
    put(&store, LOCAL, b"two");

    assert_eq!(store.read_record(former).unwrap(), None);
}

#[test]
fn a_log_that_was_not_used_in_an_epoch_is_kept_if_its_master_led() {
    let dir = tempdir();
    let (mut store, _) = lead(dir.path(), 1);
    put(&store, LOCAL, b"one");
    store.end_local().unwrap();
    // A kill, or an error, came before the log was open.
    store.note_reign(2, NOW_MS).unwrap();

    assert!(begin(&mut store, 3));

    assert_eq!(bodies(&store, LOCAL), [b"one"]);
    // Without a controller no other broker has led; then the epochs begin again.
    store.end_local().unwrap();
    assert!(begin(&mut store, 0));
    store.end_local().unwrap();
    assert!(begin(&mut store, 1));
    assert_eq!(bodies(&store, LOCAL), [b"one"]);
}

#[test]
fn a_log_that_a_crash_left_half_made_is_made_again() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    store.close().unwrap();
    drop(store);
    fs::remove_file(dir.path().join("local/reign")).unwrap();

    let mut store = open(dir.path());
    let (local, is_kept) = store.open_local(5, 2, NOW_MS).unwrap();
    store.use_local(local, [LOCAL.to_owned()]).unwrap();

    assert!(!is_kept);
    assert_eq!(put(&store, LOCAL, b"new"), first_of(5));
}

#[test]
fn segments_expire_and_queues_of_a_deleted_topic_go() {
    let dir = tempdir();
    let (store, _) = lead(dir.path(), 1);
    for number in 0..500 {
        put(&store, LOCAL, format!("{number}").repeat(20).as_bytes());
    }
    store.flush_tick(NOW_MS).unwrap();
    let gone = store.expire(&too_much(), NOW_MS).unwrap();
    assert!(gone.segment_count > 0, "{gone:?}");
    let (min, end) = store.queue_offsets(LOCAL, 0).unwrap();
    assert!(min > first_of(1) && end == first_of(1) + 500);

    store.set_local(LOCAL, false).unwrap();
    store.set_local(LOCAL, true).unwrap();

    assert_eq!(
        store.queue_offsets(LOCAL, 0),
        Some((first_of(1), first_of(1)))
    );
}

#[test]
fn the_second_log_outlives_a_truncation_of_the_first() {
    let dir = tempdir();
    let (mut store, _) = lead(dir.path(), 1);
    put(&store, OTHER, b"kept");
    let end = store.max_position();
    put(&store, OTHER, b"cut");
    put(&store, LOCAL, b"one");

    store.truncate_to(end).unwrap();

    assert_eq!(bodies(&store, OTHER), [b"kept"]);
    assert_eq!(bodies(&store, LOCAL), [b"one"]);
}

#[test]
fn a_store_that_takes_no_messages_opens_no_second_log() {
    let dir = tempdir();
    let store = open(dir.path());
    store.close().unwrap();
    let error = store.open_local(1, 1, NOW_MS).unwrap_err();
    assert!(matches!(error, StoreError::Closed), "{error}");
}

#[test]
fn a_broker_that_follows_a_later_epoch_gives_the_log_up() {
    let dir = tempdir();
    let (mut store, _) = lead(dir.path(), 2);
    put(&store, LOCAL, b"one");
    store.give_up_local(3, NOW_MS).unwrap();
    assert_eq!(bodies(&store, LOCAL), [b"one"], "it is open");
    store.end_local().unwrap();

    store.give_up_local(2, NOW_MS).unwrap();
    assert!(dir.path().join("local").exists());
    store.give_up_local(3, NOW_MS).unwrap();

    assert!(!dir.path().join("local").exists());
    store.give_up_local(4, NOW_MS).unwrap();
}
