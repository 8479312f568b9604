//! Many touched queues go to the disk file by file, over the flush interval.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};
use regent_commitlog::{Store, StoreError};

use crate::support::{NOW_MS, append, open};
use crate::tempdir;

const QUEUE_COUNT: i32 = 300;
/// Of a store that `open` gives.
const INTERVAL_MS: i64 = 10_000;

/// A store with an entry in each of many queues.
fn touched(dir: &Path) -> Store {
    let store = open(dir);
    for queue_id in 0..QUEUE_COUNT {
        append(&store, "t", queue_id, b"x");
    }
    store
}

/// The time up to which the checkpoint vouches for queues.
fn vouched_ms(dir: &Path) -> i64 {
    let checkpoint = fs::read(dir.join("checkpoint")).unwrap();
    // Nothing was written into it yet.
    let written = checkpoint.get(8..16);
    written.map_or(0, |bytes| i64::from_be_bytes(bytes.try_into().unwrap()))
}

/// Notes which queue files are synced; the sync of the one in `failing` is an error.
fn watch_syncs(dir: &Path, failing: &'static str) -> (Arc<Mutex<BTreeSet<PathBuf>>>, Watch) {
    let synced = Arc::new(Mutex::new(BTreeSet::new()));
    let (noted, queues) = (Arc::clone(&synced), dir.join("consumequeue"));
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let is_sync = matches!(event.step, Step::SyncRange { .. });
        if is_sync && event.path.starts_with(&queues) {
            if event.path.parent().unwrap().ends_with(failing) {
                return Err(io::Error::from_raw_os_error(5));
            }
            noted.lock().unwrap().insert(event.path.to_path_buf());
        }
        Ok(())
    });
    (synced, watch(dir, hook))
}

#[test]
fn many_queues_are_flushed_in_parts_and_vouched_for_after_the_last_one() {
    let dir = tempdir();
    let store = touched(dir.path());
    let (synced, _watched) = watch_syncs(dir.path(), "none");
    let begun_ms = NOW_MS + INTERVAL_MS;

    let mut counts = Vec::new();
    for now_ms in [begun_ms, begun_ms + 1_000, begun_ms + INTERVAL_MS] {
        assert_eq!(vouched_ms(dir.path()), 0);
        append(&store, "t", 0, b"meanwhile");
        store.flush_tick(now_ms).unwrap();
        counts.push(synced.lock().unwrap().len());
    }

    assert!(
        0 < counts[0] && counts[0] < counts[1] && counts[1] < 300,
        "{counts:?}"
    );
    assert_eq!(counts[2], 300);
    assert!(vouched_ms(dir.path()) > 0);
    store.close().unwrap();
}

#[test]
fn closing_flushes_what_a_round_has_left() {
    let dir = tempdir();
    let store = touched(dir.path());
    let (synced, _watched) = watch_syncs(dir.path(), "none");
    store.flush_tick(NOW_MS + INTERVAL_MS).unwrap();
    assert!(synced.lock().unwrap().len() < 300);

    store.close().unwrap();

    assert_eq!(synced.lock().unwrap().len(), 300);
    assert!(vouched_ms(dir.path()) > 0);
}

#[test]
fn an_error_of_one_file_among_many_is_seen_and_the_checkpoint_vouches_for_none() {
    // The queues are flushed from the last one on: an early and a late one.
    for failing in ["t/299", "t/0"] {
        let dir = tempdir();
        let store = touched(dir.path());
        let (_, _watched) = watch_syncs(dir.path(), failing);
        let begun_ms = NOW_MS + INTERVAL_MS;

        let outcomes: Vec<_> = [0, 1_000, INTERVAL_MS]
            .map(|later| store.flush_tick(begun_ms + later))
            .into();

        let is_io = |outcome: &Result<(), StoreError>| matches!(outcome, Err(StoreError::Io { path, .. }) if path.parent().unwrap().ends_with(failing));
        assert_eq!(
            outcomes.iter().filter(|it| is_io(it)).count(),
            1,
            "{outcomes:?}"
        );
        assert!(store.failure().is_some());
        assert_eq!(vouched_ms(dir.path()), 0);
    }
}
