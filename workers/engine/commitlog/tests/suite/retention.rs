//! What goes by age, by size and by force, and what never goes.

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::{Expired, ReadStatus, Retention, Store, StoreError};

use crate::support::*;

const HOUR_MS: i64 = 3_600_000;

/// A store with a message an hour, three queues in turn; about 16 messages to a segment.
fn filled(dir: &Path, count: i32) -> Store {
    let store = open(dir);
    for turn in 0..count {
        let now_ms = NOW_MS + i64::from(turn) * HOUR_MS;
        append_at(&store, "orders", turn % 3, &[b'x'; 900], now_ms);
    }
    store.flush().unwrap();
    store
}

fn everything() -> Retention {
    Retention {
        segment_count_max: usize::MAX,
        ..Retention::default()
    }
}

fn by_age(hours: i64) -> Retention {
    Retention {
        age_ms: Some(hours * HOUR_MS),
        ..everything()
    }
}

fn forced() -> Retention {
    Retention {
        is_forced: true,
        ..everything()
    }
}

fn segments(dir: &Path) -> usize {
    fs::read_dir(dir.join("commitlog")).unwrap().count()
}

#[test]
fn a_segment_goes_once_its_last_record_is_old_enough() {
    let dir = tempdir();
    let store = filled(dir.path(), 60);
    let first_size = store.min_position() + SEGMENT_SIZE;
    let second = (0..60)
        .find(|turn| append_position(&store, *turn) >= first_size)
        .unwrap();
    let dies_at = NOW_MS + (i64::from(second) + 72) * HOUR_MS;

    assert_eq!(
        store.expire(&by_age(72), dies_at - 1).unwrap(),
        Expired::default()
    );
    let expired = store.expire(&by_age(72), dies_at).unwrap();

    assert_eq!(expired.segment_count, 1);
    assert_eq!(expired.byte_count, SEGMENT_SIZE);
    assert_eq!(store.min_position(), first_size);
}

#[test]
fn a_damaged_record_at_the_start_of_a_segment_keeps_none_before_it_for_ever() {
    let dir = tempdir();
    let store = filled(dir.path(), 60);
    let second = segment_path(dir.path(), SEGMENT_SIZE);
    overwrite(&second, 200, b"wrong");
    assert!(store.read_record(SEGMENT_SIZE).is_err());
    let third = (0..60).find(|turn| append_position(&store, *turn) >= 2 * SEGMENT_SIZE);
    let dies_at = NOW_MS + (i64::from(third.unwrap()) + 72) * HOUR_MS;

    assert_eq!(
        store.expire(&by_age(72), dies_at - 1).unwrap(),
        Expired::default()
    );
    let expired = store.expire(&by_age(72), dies_at).unwrap();

    assert_eq!(expired.segment_count, 2);
}

/// Where the message of a turn lies.
fn append_position(store: &Store, turn: i32) -> u64 {
    let offset = i64::from(turn / 3);
    let entries = store.queue_entries("orders", turn % 3, u64::try_from(offset).unwrap(), 1);
    entries[0].log_position
}

#[test]
fn the_newest_segment_and_the_ends_of_queues_never_go() {
    let dir = tempdir();
    let store = filled(dir.path(), 60);
    append_at(&store, "quiet", 0, b"long ago", NOW_MS);
    for turn in 0..30 {
        append(&store, "orders", turn % 3, &[b'x'; 900]);
    }
    store.flush().unwrap();

    store.expire(&forced(), NOW_MS).unwrap();

    assert!(store.min_position() > 0);
    assert!(store.max_position() - store.min_position() <= SEGMENT_SIZE);
    let (outcome, _) = read(&store, "quiet", 0, 0);
    assert_eq!((outcome.min_offset, outcome.max_offset), (1, 1));
    let (outcome, _) = read(&store, "orders", 0, 0);
    assert_eq!(outcome.status, ReadStatus::OffsetTooSmall);
    assert_eq!(outcome.max_offset, 30);
    let (next, _) = read(
        &store,
        "orders",
        0,
        i64::try_from(outcome.min_offset).unwrap(),
    );
    assert_eq!(next.status, ReadStatus::Found);
}

#[test]
fn what_is_not_on_the_disk_never_goes() {
    let dir = tempdir();
    let store = open(dir.path());
    for turn in 0..60 {
        append(&store, "orders", turn % 3, &[b'x'; 900]);
    }

    assert_eq!(store.expire(&forced(), NOW_MS).unwrap().segment_count, 0);
}

#[test]
fn by_size_so_much_stays_and_a_call_deletes_so_many() {
    let dir = tempdir();
    let store = filled(dir.path(), 120);
    let retention = Retention {
        log_bytes_max: Some(3 * SEGMENT_SIZE),
        segment_count_max: 2,
        ..Retention::default()
    };

    assert_eq!(store.expire(&retention, NOW_MS).unwrap().segment_count, 2);
    while store.expire(&retention, NOW_MS).unwrap().segment_count > 0 {}

    let left = store.max_position() - store.min_position();
    assert!((3 * SEGMENT_SIZE..5 * SEGMENT_SIZE).contains(&left));
}

#[test]
fn a_reader_inside_goes_on_reading_what_was_deleted() {
    let dir = tempdir();
    let store = filled(dir.path(), 60);
    let before = store.read_record(0).unwrap().unwrap();
    std::thread::scope(|threads| {
        let reader = threads.spawn(|| {
            let mut last = 0;
            for _ in 0..2_000 {
                for offset in 0..20 {
                    let (outcome, records) = read(&store, "orders", 0, offset);
                    if outcome.status == ReadStatus::Found {
                        assert_eq!(&records[8..12], &before[8..12], "the body's checksum");
                        last = outcome.max_offset;
                    }
                }
            }
            last
        });
        while store.expire(&forced(), NOW_MS).unwrap().segment_count > 0 {}
        assert_eq!(reader.join().unwrap(), 20);
    });
}

#[test]
fn queue_files_go_with_their_records_and_epochs_stay_known() {
    let dir = tempdir();
    let store = open(dir.path());
    for epoch in 1..=6 {
        store.begin_epoch(epoch).unwrap();
        for turn in 0..60 {
            append(&store, "orders", turn % 3, &[b'x'; 900]);
        }
    }
    store.flush().unwrap();

    let expired = store.expire(&forced(), NOW_MS).unwrap();

    // Ten entries to a file, 120 in each of three queues.
    assert!(expired.queue_file_count >= 30, "{expired:?}");
    let numbers = store
        .epochs()
        .as_slice()
        .iter()
        .map(|epoch| epoch.number)
        .collect::<Vec<_>>();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6]);
}

#[test]
fn a_replica_that_the_log_has_left_behind_is_known_to_hold_a_beginning_of_it() {
    let (master_dir, dir) = (tempdir(), tempdir());
    let master = filled(master_dir.path(), 60);
    let first = master.log_slice(0, SEGMENT_SIZE).unwrap();
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();
    store.append_copied(0, first.bytes()).unwrap();
    let of_replica = store.epochs();
    store.begin_epoch(2).unwrap();
    for turn in 0..60 {
        append(&store, "orders", turn % 3, &[b'x'; 900]);
    }
    store.flush().unwrap();
    let one_more = Retention {
        segment_count_max: 1,
        ..forced()
    };

    let common_ends = [1, 2].map(|count| {
        store.expire(&one_more, NOW_MS).unwrap();
        assert_eq!(store.min_position(), count * SEGMENT_SIZE);
        of_replica.common_end(SEGMENT_SIZE, &store.epochs(), store.max_position())
    });

    assert_eq!(common_ends, [Some(SEGMENT_SIZE); 2]);
    assert!(of_replica.is_known_to(&store.epochs(), SEGMENT_SIZE));
}

#[test]
fn what_a_replica_needs_goes_when_twice_as_old_or_as_much_or_by_force() {
    let dir = tempdir();
    let store = filled(dir.path(), 120);
    let needed = |from, retention| Retention {
        needed_from: Some(from),
        ..retention
    };
    let by_size = Retention {
        log_bytes_max: Some(2 * SEGMENT_SIZE),
        ..everything()
    };
    let now_ms = NOW_MS + 100 * HOUR_MS;

    // The first segment lies before what it needs, and goes as ever.
    let first = store.expire(&needed(SEGMENT_SIZE, by_age(72)), now_ms);
    assert_eq!(first.unwrap().segment_count, 1);
    let none = store.expire(&needed(SEGMENT_SIZE, by_age(72)), now_ms);
    assert_eq!(none.unwrap().segment_count, 0);
    let many = store
        .expire(&needed(SEGMENT_SIZE, by_size), NOW_MS)
        .unwrap();
    let left = store.max_position() - store.min_position();
    assert!(many.segment_count > 0 && (4 * SEGMENT_SIZE..6 * SEGMENT_SIZE).contains(&left));
    let aged = store.expire(&needed(0, by_age(10)), now_ms).unwrap();
    assert!(aged.segment_count > 0);
    store.expire(&needed(0, forced()), NOW_MS).unwrap();
    assert!(store.max_position() - store.min_position() <= SEGMENT_SIZE);
}

#[test]
fn a_store_opens_after_an_expiry_with_the_same_queues() {
    for is_clean in [true, false] {
        let dir = tempdir();
        let store = filled(dir.path(), 100);
        store.expire(&by_age(40), NOW_MS + 100 * HOUR_MS).unwrap();
        let (queues, min) = (store.queues(), store.min_position());
        assert!(min > 0);
        if is_clean {
            store.close().unwrap();
        }
        drop(store);

        let store = open(dir.path());

        assert_eq!(store.queues(), queues);
        assert_eq!(store.min_position(), min);
    }
}

#[test]
fn a_closed_store_expires_nothing() {
    let dir = tempdir();
    let store = filled(dir.path(), 60);
    let before = segments(dir.path());
    store.close().unwrap();

    let refused = store.expire(&forced(), NOW_MS);

    assert!(matches!(refused, Err(StoreError::Closed)));
    assert!(segments(dir.path()) <= before);
}

/// Files below a directory that have no name any more and that this process has open.
fn open_without_name(dir: &Path) -> Vec<PathBuf> {
    let links = fs::read_dir("/proc/self/fd").unwrap().flatten();
    let files = links.filter_map(|link| fs::read_link(link.path()).ok());
    let is_gone = |path: &PathBuf| path.to_string_lossy().ends_with(" (deleted)");
    files
        .filter(|path| path.starts_with(dir) && is_gone(path))
        .collect()
}

#[test]
fn a_replica_that_has_caught_up_gives_back_the_room_of_segments_that_expired() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (master, replica) = (open_large(master_dir.path()), open_large(dir.path()));
    while master.max_position() < 3 << 20 {
        append(&master, "t", 0, &[b'x'; 10_000]);
    }

    let (mut position, mut size_max) = (0, 200 << 10);
    while let Some(slice) = master.log_slice(position, size_max) {
        position += replica.append_copied(position, slice.bytes()).unwrap() as u64;
        size_max = 20 << 10;
    }
    replica.flush().unwrap();
    replica.expire(&forced(), NOW_MS).unwrap();

    assert!(replica.min_position() > 0);
    assert_eq!(open_without_name(dir.path()), Vec::<PathBuf>::new());
}
