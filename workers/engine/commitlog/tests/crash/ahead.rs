//! A disk without room for the slices that busy queues are given ahead.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{current, sleep};
use std::time::{Duration, Instant};

use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};
use regent_commitlog::{AppendError, NewMessage, Store, StoreConfig, StoreError};

use crate::support::NOW_MS;
use crate::tempdir;

const HELPER: &str = "queue-prepare";
const SLICE_ENTRIES: u64 = (64 << 10) / 20;
const COUNT: u64 = 10 * SLICE_ENTRIES;

fn open(dir: &Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 16 << 20;
    Store::open(config, NOW_MS).unwrap()
}

fn append(store: &Store) -> Result<(), AppendError> {
    let message = NewMessage::new("t", 0, b"x");
    store.writer()?.append(&message, NOW_MS).map(drop)
}

/// Refuses blocks to files of queues as long as `is_full` says so of the thread that asks.
fn refuse(dir: &Path, is_full: impl Fn(bool) -> bool + Send + Sync + 'static) -> Watch {
    let queues = dir.join("consumequeue");
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let is_helper = current().name() == Some(HELPER);
        if !event.is_done && event.step == Step::Resize && is_full(is_helper) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(())
    });
    watch(&queues, hook)
}

fn assert_whole(store: &Store, count: u64) {
    assert_eq!(store.queue_offsets("t", 0), Some((0, count)));
    let entries = store.queue_entries("t", 0, 0, usize::try_from(count).unwrap());
    assert_eq!(entries.len() as u64, count);
    let positions = entries.iter().map(|entry| entry.log_position);
    assert!(positions.is_sorted_by(|one, next| one < next));
}

#[test]
fn a_queue_whose_helper_has_no_room_takes_its_slices_itself() {
    let dir = tempdir();
    let refused = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&refused);
    let watched = refuse(dir.path(), move |is_helper| {
        counted.fetch_add(u64::from(is_helper), Ordering::SeqCst);
        is_helper
    });
    let store = open(dir.path());

    for _ in 0..COUNT {
        append(&store).unwrap();
    }

    let deadline = Instant::now() + Duration::from_secs(60);
    while refused.load(Ordering::SeqCst) == 0 {
        assert!(Instant::now() < deadline, "no slice was asked for");
        sleep(Duration::from_millis(5));
    }
    assert_whole(&store, COUNT);
    drop(store);
    drop(watched);
    assert_whole(&open(dir.path()), COUNT);
}

#[test]
fn a_queue_on_a_full_disk_says_so_and_goes_on_once_there_is_room() {
    let dir = tempdir();
    let is_full = Arc::new(AtomicBool::new(true));
    let told = Arc::clone(&is_full);
    let store = open(dir.path());
    append(&store).unwrap();
    let watched = refuse(dir.path(), move |_| told.load(Ordering::SeqCst));

    let refusal = (0..COUNT).find_map(|_| append(&store).err());

    let Some(AppendError::Store(StoreError::DiskFull { .. })) = refusal else {
        panic!("{refusal:?}");
    };
    assert_whole(&store, SLICE_ENTRIES);
    append(&store).unwrap_err();
    is_full.store(false, Ordering::SeqCst);
    for _ in SLICE_ENTRIES..COUNT {
        append(&store).unwrap();
    }
    assert_whole(&store, COUNT);
    drop(store);
    drop(watched);
    assert_whole(&open(dir.path()), COUNT);
}
