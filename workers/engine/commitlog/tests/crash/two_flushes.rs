//! The log is flushed while another thread flushes the queues.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use regent_commitlog::failpoint::{Event, Hook, Step, watch};
use regent_commitlog::{Store, StoreError};

use crate::support::{NOW_MS, append, open};
use crate::tempdir;

const PATIENCE: Duration = Duration::from_secs(20);

struct Outcome {
    /// What the flush of the log gave, unless it waited for that of the queues.
    log: Option<Result<u64, StoreError>>,
    queues: Result<(), StoreError>,
}

/// Flushes the queues; when the first of them is about to be synced, another thread appends a message
/// and flushes the log, whose first sync fails if `is_failing`. The queues wait until it is done.
fn flush_both(store: &Arc<Store>, dir: &Path, is_failing: bool) -> Outcome {
    let (tell, told) = mpsc::channel();
    let (has_begun, has_failed) = (AtomicBool::new(false), AtomicBool::new(!is_failing));
    let (log, other) = (dir.join("commitlog"), Arc::clone(store));
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        if !matches!(event.step, Step::SyncRange { .. }) {
            return Ok(());
        }
        if event.path.starts_with(&log) {
            let must_fail = has_begun.load(Ordering::Acquire);
            if must_fail && !has_failed.swap(true, Ordering::AcqRel) {
                return Err(io::Error::other("the disk is gone"));
            }
        } else if !has_begun.swap(true, Ordering::AcqRel) {
            let (store, (done, flushed)) = (Arc::clone(&other), mpsc::channel());
            thread::spawn(move || {
                append(&store, "t", 0, b"meanwhile");
                done.send(store.flush())
            });
            tell.send(flushed.recv_timeout(PATIENCE).ok()).unwrap();
        }
        Ok(())
    });
    let _watched = watch(dir, hook);
    let queues = store.flush_tick(NOW_MS + 60_000);
    Outcome {
        log: told.recv().unwrap(),
        queues,
    }
}

#[test]
fn a_flush_of_the_log_does_not_wait_for_that_of_the_queues() {
    let dir = tempdir();
    let store = Arc::new(open(dir.path()));
    append(&store, "t", 0, b"before");

    let outcome = flush_both(&store, dir.path(), false);

    outcome.queues.unwrap();
    assert_eq!(outcome.log.unwrap().unwrap(), store.max_position());
    store.close().unwrap();
}

#[test]
fn what_a_failed_flush_of_the_log_lost_meanwhile_is_not_written_down_as_flushed() {
    let dir = tempdir();
    let store = Arc::new(open(dir.path()));
    append(&store, "t", 0, b"before");
    store.flush_tick(NOW_MS).unwrap();
    let checkpoint = fs::read(dir.path().join("checkpoint")).unwrap();

    let outcome = flush_both(&store, dir.path(), true);

    assert!(matches!(outcome.log, Some(Err(StoreError::Io { .. }))));
    assert!(matches!(outcome.queues, Err(StoreError::Poisoned { .. })));
    assert_eq!(fs::read(dir.path().join("checkpoint")).unwrap(), checkpoint);
    assert!(store.close().is_err());
}
