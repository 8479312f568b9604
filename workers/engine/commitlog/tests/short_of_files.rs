//! A process that may open no more files: what it flushes waits, and nothing else does.
//!
//! The limit is the process's, so this program has one test.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs::{self, File};
use std::path::Path;

use regent_commitlog::{FlushMode, Retention, Store, StoreError};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use support::*;

/// More than are flushed one by one.
const MANY: i32 = 200;

/// Runs `work` while no descriptor is to be had.
fn without_descriptors<T>(work: impl FnOnce() -> T) -> T {
    let before = getrlimit(Resource::Nofile);
    let none = Rlimit {
        current: Some(0),
        ..before
    };
    setrlimit(Resource::Nofile, none).unwrap();
    let outcome = work();
    setrlimit(Resource::Nofile, before).unwrap();
    outcome
}

fn is_for_want_of_files<T>(outcome: Result<T, StoreError>) -> bool {
    let Err(StoreError::Io { source, .. }) = outcome else {
        return false;
    };
    source.raw_os_error() == Some(24)
}

fn open_synchronous(dir: &Path) -> Store {
    let mut config = config(dir);
    config.flush_mode = FlushMode::Sync;
    Store::open(config, NOW_MS).unwrap()
}

/// A field of the checkpoint, which is empty before anything is written down.
fn in_checkpoint(dir: &Path, at: usize) -> u64 {
    let bytes = fs::read(dir.join("checkpoint")).unwrap();
    let field = bytes.get(at..at + 8);
    field.map_or(0, |field| u64::from_be_bytes(field.try_into().unwrap()))
}

fn queues_flushed(dir: &Path) -> u64 {
    in_checkpoint(dir, 8)
}

fn log_flushed(dir: &Path) -> u64 {
    in_checkpoint(dir, 24)
}

/// A replica that cannot open the segment, to write many records to it at once, takes them later.
fn assert_a_replica_catches_up() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let (master, replica) = (open_large(master_dir.path()), open_large(dir.path()));
    for _ in 0..40 {
        append(&master, "t", 0, &[b'x'; 10_000]);
    }
    let slice = master.log_slice(0, u64::MAX).unwrap();
    let (first, rest) = slice.bytes().split_at(30_000);
    let taken = replica.append_copied(0, first).unwrap();
    let rest = [&first[taken..], rest].concat();

    let copy = || replica.append_copied(taken as u64, &rest);
    assert!(is_for_want_of_files(without_descriptors(copy)));

    assert_eq!(replica.failure(), None);
    assert_eq!(copy().unwrap(), rest.len());
    assert_eq!(replica.max_position(), master.max_position());
}

#[test]
fn what_cannot_be_opened_is_flushed_later_and_the_store_goes_on() {
    let dir = tempdir();
    let store = open_synchronous(dir.path());
    let mut now_ms = NOW_MS;
    let mut tick = |store: &Store| {
        now_ms += 1_000_000;
        store.flush_tick(now_ms)
    };

    // The file of a segment.
    append(&store, "t", 0, b"first");
    assert!(is_for_want_of_files(without_descriptors(|| store.flush())));
    append(&store, "t", 0, b"second");
    assert_eq!(store.flush().unwrap(), store.max_position());

    // The directory of a queue with a new file; then the file system of many queues.
    for queue_count in [1, MANY] {
        for queue_id in 0..queue_count {
            append(&store, &format!("new-{queue_count}"), queue_id, b"x");
        }
        store.flush().unwrap();
        let before = queues_flushed(dir.path());
        for _ in 0..2 {
            assert!(is_for_want_of_files(without_descriptors(|| tick(&store))));
            assert_eq!(store.failure(), None);
        }
        // How far the log is on the disk is written down nevertheless.
        assert_eq!(log_flushed(dir.path()), store.max_position());
        let meanwhile = queues_flushed(dir.path());
        assert!(meanwhile <= before);
        append(&store, "t", 0, b"goes on");
        tick(&store).unwrap();
        assert!(queues_flushed(dir.path()) > meanwhile);
    }

    // A topic goes whole or in part without files being opened; what it had on the disk is removed by
    // the first look at what has expired that can.
    append(&store, "goes", 0, b"x");
    append(&store, "part", 0, b"before");
    let deleted_at = store.max_position();
    append(&store, "part", 1, b"behind");
    without_descriptors(|| store.delete_queues_of("goes")).unwrap();
    without_descriptors(|| store.delete_queues_before("part", deleted_at)).unwrap();
    assert_eq!(store.queue_offsets("goes", 0), None);
    assert!(!dir.path().join("consumequeue/goes").exists());
    assert_eq!(store.queue_offsets("part", 0), None);
    assert_eq!(store.queue_offsets("part", 1), Some((0, 1)));
    assert!(!dir.path().join("consumequeue/part/0").exists());
    let expire = || store.expire(&Retention::default(), 0).map(drop);
    assert!(is_for_want_of_files(without_descriptors(expire)));
    assert_eq!(removed_count(dir.path()), 2);
    expire().unwrap();
    assert_eq!(removed_count(dir.path()), 0);

    store.close().unwrap();
    drop(store);
    let store = open_synchronous(dir.path());
    assert!(store.recovery().was_clean && !store.recovery().had_failed_flush);
    assert_eq!(store.recovery().damage, None);
    assert_eq!(read_all(&store, "t", 0).len(), 4);
    assert!(File::open(dir.path()).is_ok());

    assert_a_replica_catches_up();
}
