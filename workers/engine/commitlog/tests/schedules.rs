//! Appends, reads, the read limit and retention at the same time, in turns that a seed chooses.
//!
//! `REGENT_SCHEDULES` says how many schedules each test tries, `REGENT_SCHEDULE_SEED` which.
#![cfg(feature = "schedules")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use regent_commitlog::{ReadStatus, RecordView, Retention, Store};
use regent_sync::{explore, thread};
use support::sample::{SEGMENT_SIZE, memory_dir};
use support::{NOW_MS, append, split, try_read};

const SCHEDULES: &str = "REGENT_SCHEDULES";
const SCHEDULE_COUNT: usize = 300;
/// Five to a segment.
const BODY_SIZE: usize = 700;
const MESSAGE_COUNT: u64 = 8;
const LOOK_COUNT: usize = 5;
const QUEUES: [(&str, i32); 2] = [("t", 0), ("t", 1)];

fn open(dir: &Path) -> Store {
    let mut config = support::config(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.populate_ahead_bytes = SEGMENT_SIZE;
    config.index_enabled = false;
    Store::open(config, NOW_MS).unwrap()
}

/// The body of a message, which names the queue and the offset of the message.
fn body(queue: usize, offset: u64) -> Vec<u8> {
    let mut body = vec![7; BODY_SIZE];
    body[0] = u8::try_from(queue).unwrap();
    body[1] = u8::try_from(offset).unwrap();
    body
}

/// Appends one message after another to the queues in turn.
fn append_all(store: &Store, from: u64, to: u64) {
    for number in from..to {
        let queue = usize::try_from(number % 2).unwrap();
        let (topic, queue_id) = QUEUES[queue];
        let appended = append(store, topic, queue_id, &body(queue, number / 2));
        assert_eq!(appended.queue_offset, number / 2);
    }
}

fn check_record(view: &RecordView<'_>, queue: usize, offset: u64) {
    assert!(view.is_intact());
    assert_eq!(
        (view.queue_id, view.queue_offset),
        (QUEUES[queue].1, offset)
    );
    assert!(view.body == body(queue, offset), "another message");
}

/// Reads a queue from an offset to the end that it has for readers; returns that end, and the position
/// behind the last record.
fn read_on(store: &Store, queue: usize, from: u64) -> (u64, u64) {
    let (topic, queue_id) = QUEUES[queue];
    let (mut offset, mut behind) = (from, 0);
    let Some((_, end)) = store.queue_offsets(topic, queue_id) else {
        return (from, 0);
    };
    assert!(end >= from, "the queue became shorter");
    while offset < end {
        let read = try_read(store, QUEUES[queue], offset.cast_signed(), 32);
        let (outcome, records) = read.unwrap();
        assert_eq!(outcome.status, ReadStatus::Found, "{offset} of {end}");
        for view in split(&records) {
            check_record(&view, queue, offset);
            behind = view.log_position + view.bytes.len() as u64;
            assert!(behind <= store.max_position());
            offset += 1;
        }
    }
    (offset, behind)
}

/// Reads the log as a replica is sent it; returns the position behind the last whole record.
fn read_log(store: &Store, from: u64) -> u64 {
    let (mut position, end) = (from, store.max_position());
    while position < end {
        let slice = store.log_slice(position, end - position);
        let slice = slice.expect("what lies before the end of the log is there");
        let mut rest = slice.bytes();
        position += rest.len() as u64;
        while let Ok(view) = RecordView::parse(rest) {
            assert!(view.is_intact());
            rest = &rest[view.bytes.len()..];
        }
        // Behind the last record of a segment is a blank.
        assert!(rest.is_empty() || position.is_multiple_of(SEGMENT_SIZE));
    }
    position
}

#[test]
fn what_a_reader_sees_of_appends_is_whole_in_order_and_stays() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let dir = memory_dir();
        let store = Arc::new(open(dir.path()));
        let appending = Arc::clone(&store);
        let appender = thread::spawn(move || append_all(&appending, 0, MESSAGE_COUNT));
        let following = Arc::clone(&store);
        let sender = thread::spawn(move || {
            let mut position = 0;
            for _ in 0..LOOK_COUNT {
                position = read_log(&following, position);
            }
        });

        let mut offsets = [0; 2];
        for _ in 0..LOOK_COUNT {
            for (queue, offset) in offsets.iter_mut().enumerate() {
                (*offset, _) = read_on(&store, queue, *offset);
            }
        }
        appender.join().unwrap();
        sender.join().unwrap();

        for (queue, offset) in offsets.into_iter().enumerate() {
            assert_eq!(read_on(&store, queue, offset).0, MESSAGE_COUNT / 2);
        }
        assert_eq!(read_log(&store, 0), store.max_position());
    });
}

#[test]
fn no_reader_sees_a_record_behind_the_read_limit_and_each_one_before_it() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let dir = memory_dir();
        let store = Arc::new(open(dir.path()));
        let confirmed = Arc::new(AtomicU64::new(0));
        store.set_confirmed_position(Some(0));
        let appending = Arc::clone(&store);
        let appender = thread::spawn(move || append_all(&appending, 0, MESSAGE_COUNT));
        let (raising, noted) = (Arc::clone(&store), Arc::clone(&confirmed));
        let confirmer = thread::spawn(move || {
            for _ in 0..LOOK_COUNT {
                let end = raising.max_position();
                noted.store(end, Ordering::SeqCst);
                raising.set_confirmed_position(Some(end));
            }
        });

        let mut offsets = [0; 2];
        for _ in 0..LOOK_COUNT {
            for (queue, offset) in offsets.iter_mut().enumerate() {
                let (end, behind) = read_on(&store, queue, *offset);
                assert!(behind <= confirmed.load(Ordering::SeqCst));
                *offset = end;
            }
        }
        appender.join().unwrap();
        confirmer.join().unwrap();
        store.set_confirmed_position(Some(store.max_position()));

        for (queue, offset) in offsets.into_iter().enumerate() {
            assert_eq!(read_on(&store, queue, offset).0, MESSAGE_COUNT / 2);
        }
    });
}

#[test]
fn queues_that_became_longer_for_readers_are_reported_once_each_record_was() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let dir = memory_dir();
        let store = Arc::new(open(dir.path()));
        store.set_confirmed_position(Some(0));
        let appending = Arc::clone(&store);
        let appender = thread::spawn(move || append_all(&appending, 0, MESSAGE_COUNT));

        let mut told = [0; 2];
        let mut confirm_all = || {
            for range in store.set_confirmed_position(Some(store.max_position())) {
                told[usize::try_from(range.queue_id).unwrap()] = range.max_offset;
            }
        };
        for _ in 0..LOOK_COUNT {
            confirm_all();
        }
        appender.join().unwrap();
        confirm_all();

        assert_eq!(told, [MESSAGE_COUNT / 2; 2]);
    });
}

/// Reads what is left of a queue while old segments go: a message is served, or is gone.
fn read_what_is_left(store: &Store, queue: usize) {
    let (topic, queue_id) = QUEUES[queue];
    let Some((mut offset, end)) = store.queue_offsets(topic, queue_id) else {
        return;
    };
    while offset < end {
        let read = try_read(store, QUEUES[queue], offset.cast_signed(), 32);
        let (outcome, records) = read.unwrap();
        match outcome.status {
            ReadStatus::Found => {
                for view in split(&records) {
                    assert!(view.queue_offset >= offset);
                    offset = view.queue_offset;
                    check_record(&view, queue, offset);
                    offset += 1;
                }
            }
            ReadStatus::OffsetTooSmall | ReadStatus::MessageWasRemoving => {
                // Only what expired is gone.
                let (min_offset, _) = store.queue_offsets(topic, queue_id).unwrap();
                assert!(store.min_position() > 0);
                offset = outcome.next_offset.max(min_offset).max(offset + 1);
            }
            other => panic!("{other:?} at {offset} of {end}"),
        }
    }
}

#[test]
fn a_reader_gets_a_message_or_hears_that_it_is_gone_while_old_segments_are_deleted() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let dir = memory_dir();
        let store = Arc::new(open(dir.path()));
        append_all(&store, 0, 2 * MESSAGE_COUNT);
        store.flush().unwrap();
        let expiring = Arc::clone(&store);
        let expirer = thread::spawn(move || {
            let retention = Retention {
                is_forced: true,
                segment_count_max: 1,
                ..Retention::default()
            };
            let expired: usize = (0..3)
                .map(|_| expiring.expire(&retention, NOW_MS).unwrap().segment_count)
                .sum();
            assert!(expired > 0);
        });
        let appending = Arc::clone(&store);
        let appender =
            thread::spawn(move || append_all(&appending, 2 * MESSAGE_COUNT, 3 * MESSAGE_COUNT));
        let sending = Arc::clone(&store);
        let sender = thread::spawn(move || {
            for position in (0..4).map(|number| number * SEGMENT_SIZE) {
                match sending.log_slice(position, u64::MAX) {
                    Some(slice) => {
                        let view = RecordView::parse(slice.bytes()).unwrap();
                        assert_eq!(view.log_position, position);
                    }
                    None => assert!(position < sending.min_position()),
                }
            }
        });

        for _ in 0..LOOK_COUNT {
            for queue in 0..2 {
                read_what_is_left(&store, queue);
            }
        }
        for ended in [expirer, appender, sender] {
            ended.join().unwrap();
        }

        for (queue, (topic, queue_id)) in QUEUES.into_iter().enumerate() {
            let (first, end) = store.queue_offsets(topic, queue_id).unwrap();
            assert!(first > 0);
            assert_eq!(read_on(&store, queue, first).0, end);
        }
    });
}
