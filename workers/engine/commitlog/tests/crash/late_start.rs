//! A replica whose log begins later than at 0, and that dies or fails on the way there.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, watch};
use regent_commitlog::{FlushMode, Store};

use crate::disk::Disk;
use crate::second::{open, open_with};
use crate::support::{NOW_MS, SEGMENT_SIZE, append, config, go_down};
use crate::{amount, tempdir};

/// A segment in the middle of a log, and where it begins.
fn segment_of_master() -> (u64, Vec<u8>) {
    let dir = tempdir();
    let store = open(dir.path());
    let start = 3 * SEGMENT_SIZE;
    while store.max_position() < start + SEGMENT_SIZE {
        append(&store, "t", 0, &[1; 900]);
    }
    let bytes = store.log_slice(start, u64::MAX).unwrap().bytes().to_vec();
    (start, bytes)
}

/// Leaves a store that was cut to nothing, whose first segment so is there already.
fn cut_to_nothing(dir: &Path) {
    let mut store = open_empty(dir);
    append(&store, "t", 0, b"to be cut");
    store.truncate_to(0).unwrap();
}

fn open_empty(dir: &Path) -> Store {
    let mut config = config(dir);
    config.flush_mode = FlushMode::Sync;
    open_with(config)
}

/// The store opens, and takes the log over whether or not it had begun to.
fn assert_goes_on(dir: &Path, start: u64, bytes: &[u8], what: &str) {
    let store = open(dir);
    assert_eq!(store.recovery().damage, None, "{what}");
    let held = match store.max_position() {
        0 => 0,
        end => usize::try_from(end - start).unwrap(),
    };
    let rest = &bytes[held..];
    let taken = store.append_copied(start + held as u64, rest).unwrap();
    assert_eq!(taken, rest.len(), "{what}");
    store.flush().unwrap();
    drop(store);
    let store = open(dir);
    assert_eq!(store.recovery().damage, None, "{what}");
    assert_eq!(store.min_position(), start, "{what}");
    assert!(
        store.log_slice(start, u64::MAX).unwrap().bytes() == bytes,
        "{what}"
    );
}

#[test]
fn a_crash_at_any_step_leaves_a_log_that_begins_at_one_place() {
    let (start, bytes) = segment_of_master();
    for seed in 0..amount(6, 20) {
        let dir = tempdir();
        if seed % 2 > 0 {
            cut_to_nothing(dir.path());
        }
        let state = Mutex::new((Disk::new(dir.path(), seed), Rng::with_seed(seed)));
        let images = Arc::new(Mutex::new(Vec::new()));
        let taken = Arc::clone(&images);
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            let (disk, random) = &mut *state.lock().unwrap();
            disk.note(event);
            let image = tempdir();
            disk.crash(image.path(), random)?;
            go_down(image.path());
            taken.lock().unwrap().push((format!("{event:?}"), image));
            Ok(())
        });
        let watching = watch(dir.path(), hook);
        let store = open_empty(dir.path());
        store.append_copied(start, &bytes[..5_000]).unwrap();
        store.flush_tick(NOW_MS).unwrap();
        drop(watching);

        let images = std::mem::take(&mut *images.lock().unwrap());
        assert!(images.len() > 10);
        for (event, image) in images {
            assert_goes_on(
                image.path(),
                start,
                &bytes,
                &format!("seed {seed}, {event}"),
            );
        }
    }
}

#[test]
fn a_step_that_fails_is_made_good_by_the_next_attempt() {
    let (start, bytes) = segment_of_master();
    let mut failed_count = 0;
    for is_again in [false, true] {
        for failing in 0.. {
            let dir = tempdir();
            if is_again {
                cut_to_nothing(dir.path());
            }
            let store = open_empty(dir.path());
            let seen = Arc::new(AtomicU64::new(0));
            let counted = Arc::clone(&seen);
            let hook: Hook = Arc::new(move |event: &Event<'_>| {
                if !event.is_done && counted.fetch_add(1, Ordering::SeqCst) == failing {
                    return Err(io::Error::other("this once"));
                }
                Ok(())
            });
            let watching = watch(&dir.path().join("commitlog"), hook);
            let first = store.append_copied(start, &bytes);
            drop(watching);
            if seen.load(Ordering::SeqCst) <= failing {
                first.unwrap();
                break;
            }
            failed_count += 1;
            // The step may have been one of the thread that makes segments ahead.
            if first.is_err() {
                store.append_copied(start, &bytes).unwrap();
            }
            drop(store);
            assert_goes_on(dir.path(), start, &bytes, &format!("step {failing}"));
        }
    }
    assert!(failed_count > 5);
}
