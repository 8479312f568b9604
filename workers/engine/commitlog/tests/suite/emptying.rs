//! A store that gives up all it holds, and begins again where its master's log begins (D10).

use std::fs;
use std::path::Path;

use crate::support::*;
use regent_commitlog::{Epoch, KeySearch, NewMessage, ReadStatus, Retention, Store, StoreError};

const COUNT: u64 = 150;

fn keyed(store: &Store, number: u64) {
    let (topic, queue_id, body) = numbered(number);
    let mut message = NewMessage::new(topic, queue_id, &body);
    message.properties = b"KEYS\x01k\x02";
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
}

/// A master's store whose log begins behind what `dir` holds, which is a beginning of it.
fn overtaken(dir: &Path, master_dir: &Path) -> (Store, Store) {
    let master = index::open(master_dir);
    master.begin_epoch(1).unwrap();
    (0..COUNT).for_each(|number| keyed(&master, number));
    master.flush().unwrap();
    let replica = index::open(dir);
    replica.begin_epoch(1).unwrap();
    copy(&master, &replica, 0);
    while replica.advance_followers(NOW_MS, 0).unwrap() > 0 {}
    replica.flush_tick(NOW_MS).unwrap();
    (COUNT..3 * COUNT).for_each(|number| keyed(&master, number));
    master.flush().unwrap();
    let behind = Retention {
        log_bytes_max: Some(3 * SEGMENT_SIZE),
        segment_count_max: usize::MAX,
        ..Retention::default()
    };
    master.expire(&behind, NOW_MS).unwrap();
    assert!(master.min_position() > replica.max_position());
    (master, replica)
}

fn copy(from: &Store, to: &Store, start: u64) {
    let mut position = start;
    while let Some(slice) = from.log_slice(position, u64::MAX) {
        to.append_copied(position, slice.bytes()).unwrap();
        position += slice.bytes().len() as u64;
    }
}

fn assert_is_empty(store: &Store, dir: &Path) {
    assert_eq!((store.min_position(), store.max_position()), (0, 0));
    assert_eq!(store.flushed_position(), 0);
    assert!(store.queues().is_empty());
    assert!(store.epochs().as_slice().is_empty());
    assert!(!dir.join("truncation").exists());
    assert!(!dir.join("epochFileCheckpoint").exists());
    assert_eq!(fs::read_dir(dir.join("consumequeue")).unwrap().count(), 0);
    assert!(
        store
            .search(KeySearch::by_key("a", "k", 64, 0, i64::MAX))
            .is_empty()
    );
}

#[test]
fn an_emptied_store_goes_on_as_one_that_never_held_anything() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (master, mut replica) = overtaken(dir.path(), master_dir.path());
    let start = master.min_position();

    replica.empty().unwrap();

    assert_is_empty(&replica, dir.path());
    let never = tempdir();
    let fresh = open(never.path());
    for store in [&replica, &fresh] {
        store.adopt_history(master.epochs().before(2)).unwrap();
        copy(&master, store, start);
        store.flush_tick(NOW_MS).unwrap();
    }
    let end = master.max_position();
    assert_eq!(
        contents_before(dir.path(), end),
        contents_before(never.path(), end)
    );
    assert_eq!(replica.queues(), fresh.queues());
    assert_eq!(replica.min_position(), start);
    let (first, _) = master.queue_offsets("a", 0).unwrap();
    assert_eq!(replica.queue_offsets("a", 0), master.queue_offsets("a", 0));
    let (outcome, _) = read(&replica, "a", 0, 0);
    assert_eq!(
        (outcome.status, outcome.next_offset),
        (ReadStatus::OffsetTooSmall, first)
    );
    assert_eq!(read_all(&replica, "a", 0), read_all(&master, "a", 0));
    for is_clean in [true, false] {
        if is_clean {
            replica.close().unwrap();
        }
        let again = open(crash(dir.path()).path());
        assert_eq!(again.queues(), fresh.queues());
        assert_eq!(
            (again.min_position(), again.epochs()),
            (start, fresh.epochs())
        );
    }
}

#[test]
fn what_a_crash_left_of_queues_is_removed_when_the_store_is_opened() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (_master, replica) = overtaken(dir.path(), master_dir.path());
    drop(replica);
    let queue = dir.path().join("consumequeue/a/0");
    let names = fs::read_dir(&queue)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = names.collect();
    files.sort();
    // A file between others is gone already: such a queue cannot be loaded.
    fs::remove_file(&files[1]).unwrap();
    fs::write(dir.path().join("truncation"), journal(0, 0)).unwrap();

    let store = open(dir.path());

    assert_eq!(store.recovery().truncated_to, Some(0));
    assert_is_empty(&store, dir.path());
}

#[test]
fn a_file_among_the_topics_keeps_no_store_from_being_emptied() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (_master, mut replica) = overtaken(dir.path(), master_dir.path());
    let notes = dir.path().join("consumequeue/notes");
    fs::write(&notes, "not a topic").unwrap();

    replica.empty().unwrap();

    assert_eq!(fs::read_to_string(&notes).unwrap(), "not a topic");
    fs::remove_file(notes).unwrap();
    assert_is_empty(&replica, dir.path());
}

#[test]
fn a_journal_that_cannot_be_written_leaves_all_as_it_was() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (_master, mut replica) = overtaken(dir.path(), master_dir.path());
    fs::create_dir(dir.path().join("truncation.new")).unwrap();
    let before = contents(dir.path());

    assert_eq!(replica.empty().unwrap_err().code(), "io");

    assert_eq!(contents(dir.path()), before);
    assert_holds(&replica, COUNT);
}

#[test]
fn a_closed_store_is_not_emptied_and_an_empty_one_stays_as_it_is() {
    let dir = tempdir();
    let mut store = open(dir.path());
    store.begin_epoch(4).unwrap();
    store.empty().unwrap();
    let kept = Epoch {
        number: 4,
        start_position: 0,
    };
    assert_eq!(store.epochs().last(), Some(kept));
    store.close().unwrap();

    assert!(matches!(store.empty(), Err(StoreError::Closed)));
}

#[test]
fn a_history_is_adopted_by_an_empty_log_alone() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (master, replica) = overtaken(dir.path(), master_dir.path());
    master.begin_epoch(3).unwrap();
    let before = replica.epochs();

    replica.adopt_history(master.epochs()).unwrap();

    assert_eq!(replica.epochs(), before);
}
