//! Reads by queue offset, with stock's statuses, by position and by time.

use std::fs;

use regent_commitlog::{Boundary, Filter, QueueRead, ReadStatus, Store, java_hash};

use crate::support::*;

fn status(store: &Store, topic: &str, offset: i64) -> (ReadStatus, u64) {
    let (outcome, _) = read(store, topic, 0, offset);
    (outcome.status, outcome.next_offset)
}

#[test]
fn each_place_of_an_offset_has_its_status_and_next_offset() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..3 {
        append(&store, "t", 0, b"x");
    }

    assert_eq!(
        status(&store, "unknown", 5),
        (ReadStatus::NoMatchedLogicQueue, 0)
    );
    assert_eq!(status(&store, "t", -1), (ReadStatus::OffsetTooSmall, 0));
    assert_eq!(
        status(&store, "t", i64::MIN),
        (ReadStatus::OffsetTooSmall, 0)
    );
    assert_eq!(status(&store, "t", 0), (ReadStatus::Found, 3));
    assert_eq!(status(&store, "t", 2), (ReadStatus::Found, 3));
    assert_eq!(status(&store, "t", 3), (ReadStatus::OffsetOverflowOne, 3));
    assert_eq!(status(&store, "t", 4), (ReadStatus::OffsetOverflowBadly, 3));
    assert_eq!(
        status(&store, "t", i64::MAX),
        (ReadStatus::OffsetOverflowBadly, 3)
    );
    let (outcome, _) = read(&store, "t", 0, 1);
    assert_eq!(
        (outcome.min_offset, outcome.max_offset, outcome.count),
        (0, 3, 2)
    );
}

#[test]
fn a_queue_that_never_held_a_message_says_so() {
    let dir = tempdir();
    fs::create_dir_all(dir.path().join("consumequeue/t/0")).unwrap();
    let store = open(dir.path());

    assert_eq!(status(&store, "t", 0), (ReadStatus::NoMessageInQueue, 0));
    assert_eq!(status(&store, "t", 9), (ReadStatus::NoMessageInQueue, 0));
}

#[test]
fn a_read_stays_within_its_count_and_bytes_but_returns_at_least_one_message() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..6 {
        append(&store, "t", 0, &[1; 108]);
    }
    let counted = |count_max, bytes_max| {
        let read = QueueRead {
            offset: 1,
            count_max,
            bytes_max,
            filter: None,
        };
        let mut records = Vec::new();
        let outcome = store.read_queue("t", 0, &read, &mut records).unwrap();
        assert_eq!(records.len(), outcome.count * 200);
        (outcome.count, outcome.next_offset)
    };

    assert_eq!(counted(3, 10_000), (3, 4));
    assert_eq!(counted(32, 599), (2, 3));
    assert_eq!(counted(32, 600), (3, 4));
    assert_eq!(counted(32, 0), (1, 2));
    assert_eq!(counted(0, 0), (1, 2));
    assert_eq!(counted(32, usize::MAX), (5, 6));
}

#[test]
fn a_read_does_not_cross_the_end_of_a_queue_file() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..25 {
        append(&store, "t", 0, b"x");
    }

    assert_eq!(status(&store, "t", 3), (ReadStatus::Found, 10));
    assert_eq!(status(&store, "t", 10), (ReadStatus::Found, 20));
    assert_eq!(read_all(&store, "t", 0).len(), 25);
}

#[test]
fn a_filter_passes_only_its_tags_and_moves_past_the_others() {
    let dir = tempdir();
    let store = open(dir.path());
    for tag in ["A", "B", "A", "C"] {
        let properties = format!("TAGS\x01{tag}\x02");
        let mut message = regent_commitlog::NewMessage::new("t", 0, tag.as_bytes());
        message.properties = properties.as_bytes();
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    let filtered = |tags: &[&str], offset| {
        let hashes: Vec<i32> = tags.iter().map(|tag| java_hash(tag.as_bytes())).collect();
        let read = QueueRead {
            offset,
            count_max: 32,
            bytes_max: 1 << 20,
            filter: Some(Filter::Tags(&hashes)),
        };
        let mut records = Vec::new();
        let outcome = store.read_queue("t", 0, &read, &mut records).unwrap();
        let bodies: Vec<_> = split(&records)
            .iter()
            .map(|view| view.body.to_vec())
            .collect();
        (outcome.status, outcome.next_offset, bodies.concat())
    };

    assert_eq!(filtered(&["A"], 0), (ReadStatus::Found, 4, b"AA".to_vec()));
    assert_eq!(
        filtered(&["B", "C"], 1),
        (ReadStatus::Found, 4, b"BC".to_vec())
    );
    assert_eq!(
        filtered(&["Z"], 0),
        (ReadStatus::NoMatchedMessage, 4, Vec::new())
    );
    assert_eq!(
        filtered(&["A"], 3),
        (ReadStatus::NoMatchedMessage, 4, Vec::new())
    );
}

#[test]
fn a_filter_by_properties_passes_what_matches_and_moves_past_the_rest() {
    // Case C9.
    let dir = tempdir();
    let store = open(dir.path());
    for (body, properties) in [
        ("a", "price\x0110\x02"),
        ("b", "price\x0120\x02"),
        ("c", ""),
        ("d", "price\x01many\x02"),
        ("e", "TAGS\x01A\x02price\x0130\x02"),
    ] {
        let mut message = regent_commitlog::NewMessage::new("t", 0, body.as_bytes());
        message.properties = properties.as_bytes();
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    let filtered = |expression: &str, offset, count_max| {
        let expression = regent_filter::Expression::parse(expression).unwrap();
        let read = QueueRead {
            offset,
            count_max,
            bytes_max: 1 << 20,
            filter: Some(Filter::Properties(&expression)),
        };
        let mut records = Vec::new();
        let outcome = store.read_queue("t", 0, &read, &mut records).unwrap();
        let bodies: Vec<_> = split(&records)
            .iter()
            .map(|view| view.body.to_vec())
            .collect();
        (outcome.status, outcome.next_offset, bodies.concat())
    };

    let found = ReadStatus::Found;
    assert_eq!(filtered("price > 10", 0, 32), (found, 5, b"be".to_vec()));
    assert_eq!(filtered("price > 10", 0, 1), (found, 2, b"b".to_vec()));
    assert_eq!(filtered("price IS NULL", 1, 32), (found, 5, b"c".to_vec()));
    assert_eq!(
        filtered("price > 30", 0, 32),
        (ReadStatus::NoMatchedMessage, 5, Vec::new())
    );
}

#[test]
fn an_address_of_an_extension_file_is_no_hash_and_passes_every_filter() {
    let dir = tempdir();
    let store = open(dir.path());
    append(
        &store,
        "t",
        0,
        b"of a stock broker with enableConsumeQueueExt",
    );
    append(&store, "t", 0, b"without tags");
    let file = dir.path().join("consumequeue/t/0/00000000000000000000");
    let wanted = QueueRead {
        offset: 0,
        count_max: 32,
        bytes_max: 1 << 20,
        filter: Some(Filter::Tags(&[java_hash(b"A")])),
    };

    let counts = [i64::MIN, i64::from(i32::MIN) - 1, i64::from(i32::MIN)].map(|tags_code| {
        overwrite(&file, 12, &tags_code.to_be_bytes());
        let outcome = store.read_queue("t", 0, &wanted, &mut Vec::new());
        outcome.unwrap().count
    });

    assert_eq!(counts, [1, 1, 0]);
}

/// A store whose first segment was deleted, as the cleaning of stock leaves it.
fn store_without_its_first_segment() -> (tempfile::TempDir, u64) {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "old", 0, b"gone");
    let mut first_kept = None;
    for _ in 0..40 {
        let appended = append(&store, "t", 0, &[1; 1000]);
        if appended.log_position >= SEGMENT_SIZE && first_kept.is_none() {
            first_kept = Some(appended.queue_offset);
        }
    }
    store.close().unwrap();
    fs::remove_file(segment_path(dir.path(), 0)).unwrap();
    (dir, first_kept.unwrap())
}

#[test]
fn offsets_whose_records_have_expired_are_too_small() {
    let (dir, first_kept) = store_without_its_first_segment();

    let store = open(dir.path());

    assert_eq!(store.min_position(), SEGMENT_SIZE);
    assert_eq!(store.queue_offsets("t", 0), Some((first_kept, 40)));
    assert_eq!(
        status(&store, "t", 0),
        (ReadStatus::OffsetTooSmall, first_kept)
    );
    assert_eq!(store.store_timestamp_at("t", 0, 0).unwrap(), None);
    assert_eq!(
        read_all(&store, "t", 0).len(),
        usize::try_from(40 - first_kept).unwrap()
    );
}

#[test]
fn a_queue_whose_messages_have_all_expired_keeps_its_end() {
    let (dir, _) = store_without_its_first_segment();

    let store = open(dir.path());

    assert_eq!(store.queue_offsets("old", 0), Some((1, 1)));
    assert_eq!(status(&store, "old", 0), (ReadStatus::OffsetTooSmall, 1));
    assert_eq!(append(&store, "old", 0, b"new").queue_offset, 1);
}

#[test]
fn a_record_is_read_by_its_position_only() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"first");
    let second = append(&store, "t", 0, b"second");

    let record = store.read_record(second.log_position).unwrap().unwrap();

    assert_eq!(split(&record)[0].body, b"second");
    for position in [
        1,
        second.log_position + 1,
        store.max_position(),
        SEGMENT_SIZE,
        u64::MAX,
    ] {
        assert_eq!(store.read_record(position).unwrap(), None, "at {position}");
    }
}

#[test]
fn searches_by_time_find_the_borders_of_a_run_of_equal_times() {
    let dir = tempdir();
    let store = open(dir.path());
    for (at, _) in [10, 20, 20, 20, 40].into_iter().zip(0..) {
        append_at(&store, "t", 0, b"x", at);
    }
    let lower = |at| store.offset_by_time("t", 0, at, Boundary::Lower).unwrap();
    let upper = |at| store.offset_by_time("t", 0, at, Boundary::Upper).unwrap();

    assert_eq!([5, 10, 15, 20, 30, 40].map(lower), [0, 0, 1, 1, 4, 4]);
    assert_eq!([5, 10, 15, 20, 30, 40].map(upper), [0, 0, 0, 3, 3, 4]);
    // Behind the last message the two differ: its end, and the message itself.
    assert_eq!((lower(41), upper(41)), (5, 4));
    assert_eq!(
        store
            .offset_by_time("unknown", 0, 5, Boundary::Lower)
            .unwrap(),
        0
    );
    assert_eq!(store.store_timestamp_at("t", 0, 4).unwrap(), Some(40));
    assert_eq!(store.store_timestamp_at("t", 0, 5).unwrap(), None);
    assert_eq!(store.earliest_store_timestamp("t", 0).unwrap(), Some(10));
}

#[test]
fn damaged_bytes_are_reported_and_not_served() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"first");
    let second = append(&store, "t", 0, b"second");
    overwrite(
        &segment_path(dir.path(), 0),
        second.log_position + 4,
        &[0; 4],
    );

    let read_of = |offset| QueueRead {
        offset,
        count_max: 1,
        bytes_max: 1000,
        filter: None,
    };
    let refused = store
        .read_queue("t", 0, &read_of(1), &mut Vec::new())
        .unwrap_err();

    assert_eq!(refused.code(), "corrupt");
    assert_eq!(
        read(&store, "t", 0, 0).0.status as u8,
        ReadStatus::Found as u8
    );
}

#[test]
fn readers_see_whole_records_while_a_writer_appends() {
    let dir = tempdir();
    let store = open(dir.path());
    let count = 3_000_u64;
    append(&store, "t", 0, &0_u64.to_be_bytes());

    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in 1..count {
                append(&store, "t", 0, &number.to_be_bytes());
            }
        });
        let mut expected = 0;
        while expected < count {
            let (outcome, records) = read(&store, "t", 0, expected.cast_signed());
            for view in split(&records) {
                assert_eq!(view.queue_offset, expected);
                assert_eq!(view.body, expected.to_be_bytes());
                expected += 1;
            }
            assert_eq!(outcome.next_offset, expected);
        }
    });
}
