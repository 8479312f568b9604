//! A second crash anywhere in a recovery that rebuilds a queue.

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, watch};

use crate::disk::Disk;
use crate::second::open;
use crate::support::{NOW_MS, append_at, assert_holds, fill, go_down, overwrite};
use crate::{amount, tempdir};

/// What is wrong with queue `b/0`, all of whose records lie before the part that recovery validates.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// Its last entry is one whose record a power cut took.
    Stray,
    /// A damaged entry.
    Damaged,
    /// A file is missing between others.
    Gap,
}

/// Everything of the store is on the disk, and its checkpoint says so.
fn prepare(dir: &Path, fault: Fault, is_clean: bool) {
    let store = open(dir);
    fill(&store, 90);
    for number in 0..120 {
        append_at(&store, "c", 0, &[1; 400], NOW_MS + number * 1_000);
    }
    store.flush_tick(NOW_MS + 300_000).unwrap();
    let end = store.max_position();
    if is_clean {
        store.close().unwrap();
    }
    drop(store);
    let queue = dir.join("consumequeue/b/0");
    match fault {
        Fault::Stray => {
            let path = queue.join("00000000000000000600");
            let entry = [&end.to_be_bytes()[..], &100_i32.to_be_bytes(), &[0; 8]].concat();
            fs::write(&path, [0; 200]).unwrap();
            overwrite(&path, 0, &entry);
        }
        Fault::Damaged => overwrite(&queue.join("00000000000000000400"), 60, &[0x80]),
        Fault::Gap => fs::remove_file(queue.join("00000000000000000200")).unwrap(),
    }
}

/// Opens the store and lets it work on until its queues are on the disk, with a crash at every step.
fn crash_everywhere(dir: &Path, seed: u64) -> Vec<(String, tempfile::TempDir)> {
    let images = Arc::new(Mutex::new((Disk::new(dir, seed), Vec::new())));
    let taken = Arc::clone(&images);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let mut taken = taken.lock().unwrap();
        taken.0.note(event);
        for _ in 0..amount(1, 6) {
            let image = tempdir();
            // Another one at each step, or all images would have as much of what is newest.
            let mut random = Rng::with_seed(seed + taken.1.len() as u64);
            taken.0.crash(image.path(), &mut random).unwrap();
            go_down(image.path());
            taken.1.push((format!("{event:?}"), image));
        }
        Ok(())
    });
    let watched = watch(dir, hook);
    let store = open(dir);
    assert!(store.recovery().queues_rebuilt > 0);
    store.flush_tick(NOW_MS + 900_000).unwrap();
    drop(store);
    drop(watched);
    std::mem::take(&mut images.lock().unwrap().1)
}

#[test]
fn a_queue_that_is_rebuilt_is_whole_after_a_crash_at_any_step() {
    for (fault, is_clean) in [
        (Fault::Stray, false),
        (Fault::Stray, true),
        (Fault::Damaged, true),
        (Fault::Gap, false),
        (Fault::Gap, true),
    ] {
        let dir = tempdir();
        prepare(dir.path(), fault, is_clean);

        for (at, image) in crash_everywhere(dir.path(), 3) {
            let store = open(image.path());
            let range = store.queue_offsets("b", 0);
            assert_eq!(range, Some((0, 30)), "{fault:?}, closed {is_clean}, {at}");
            assert_holds(&store, 90);
        }
    }
}
