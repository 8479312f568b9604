//! An expired segment that is used again before anybody has synced that it expired.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::Store;
use regent_commitlog::failpoint::{Event, Hook, Step, watch};
use tempfile::TempDir;

use crate::disk::Disk;
use crate::support::again::{open_again, too_much};
use crate::support::{NOW_MS, SEGMENT_SIZE, append};
use crate::{go_down, tempdir};

const IMAGE_COUNT: u64 = 40;

fn fill_to(store: &Store, position: u64) {
    while store.max_position() < position {
        append(store, "t", 0, &[b'x'; 900]);
    }
    store.flush().unwrap();
}

/// Has a segment expire, with a failure before that is synced, and goes on until it is used again; what
/// a crash of the system may leave at that moment.
fn used_again_at_once(dir: &Path) -> Vec<TempDir> {
    let store = open_again(dir);
    fill_to(&store, 2 * SEGMENT_SIZE + 100);
    store.flush_tick(NOW_MS).unwrap();
    let disk = Mutex::new(Disk::new(dir, 1));
    let images = Arc::new(Mutex::new(Vec::new()));
    let (taken, log) = (Arc::clone(&images), dir.join("commitlog"));
    let has_failed = Mutex::new(false);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let mut has_failed = has_failed.lock().unwrap();
        if event.step == Step::SyncDir && event.path == log && !*has_failed {
            *has_failed = true;
            return Err(io::Error::other("the disk is slow"));
        }
        let mut disk = disk.lock().unwrap();
        disk.note(event);
        let is_spare = event
            .path
            .parent()
            .is_some_and(|dir| dir.ends_with("spare"));
        if is_spare && event.is_done && matches!(event.step, Step::Rename(_)) {
            for seed in 0..IMAGE_COUNT {
                let image = tempdir();
                disk.crash(image.path(), &mut Rng::with_seed(seed)).unwrap();
                go_down(image.path());
                taken.lock().unwrap().push(image);
            }
        }
        Ok(())
    });
    let _watched = watch(dir, hook);
    store.expire(&too_much(), NOW_MS).unwrap_err();
    fill_to(&store, 4 * SEGMENT_SIZE);
    std::mem::take(&mut images.lock().unwrap())
}

#[test]
fn a_segment_is_not_written_again_while_a_crash_may_bring_it_back() {
    let dir = tempdir();

    let images = used_again_at_once(dir.path());

    assert!(images.len() as u64 >= IMAGE_COUNT);
    for image in images {
        let store = open_again(image.path());
        assert_eq!(store.recovery().damage, None);
        let oldest = store.read_record(store.min_position()).unwrap();
        assert!(oldest.is_some(), "from {}", store.min_position());
    }
}
