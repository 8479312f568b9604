//! A crash while older segments are put before a log.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, Step, watch};
use regent_commitlog::{FlushMode, Store};

use crate::disk::Disk;
use crate::second::open_with;
use crate::support::{NOW_MS, SEGMENT_SIZE, append, config, contents_before, fill, go_down};
use crate::{amount, tempdir};

const COUNT: u64 = 160;

fn open(dir: &Path) -> Store {
    let mut config = config(dir);
    config.flush_mode = FlushMode::Sync;
    open_with(config)
}

fn put_next(master: &Store, store: &Store) {
    let base = store.min_position() - SEGMENT_SIZE;
    let segment = store.begin_front(base).unwrap();
    let slice = master.log_slice(base, SEGMENT_SIZE).unwrap();
    segment.write(0, slice.bytes()).unwrap();
    store.insert_front(&segment).unwrap();
}

fn queues_and_log(dir: &Path, end: u64) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = contents_before(dir, end);
    found.retain(|name, _| name.starts_with("consumequeue") || name.starts_with("commitlog"));
    found
}

#[test]
fn a_crash_at_any_step_leaves_a_log_with_or_without_the_segment_that_goes_on_to_be_the_same() {
    let master_dir = tempdir();
    let master = open(master_dir.path());
    fill(&master, COUNT);
    // A queue that only older segments have, and one that only the newest has.
    append(&master, "new", 0, b"in the last segment");
    master.flush().unwrap();
    let start = master.last_segment_start();
    let tail = master.log_slice(start, u64::MAX).unwrap().bytes().to_vec();
    let end = master.max_position();

    let whole_dir = tempdir();
    let whole = open(whole_dir.path());
    let mut position = 0;
    while let Some(slice) = master.log_slice(position, u64::MAX) {
        whole.append_copied(position, slice.bytes()).unwrap();
        position += slice.bytes().len() as u64;
    }
    whole.flush_tick(NOW_MS).unwrap();
    let expected = queues_and_log(whole_dir.path(), end);

    for seed in 0..amount(2, 12) {
        let dir = tempdir();
        let store = open(dir.path());
        store.append_copied(start, &tail).unwrap();
        store.flush_tick(NOW_MS).unwrap();
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
        put_next(&master, &store);
        put_next(&master, &store);
        drop(watching);
        assert_eq!(store.min_position(), start - 2 * SEGMENT_SIZE);

        let images = std::mem::take(&mut *images.lock().unwrap());
        assert!(images.len() > 20);
        for (event, image) in images {
            let what = format!("seed {seed}, {event}");
            let store = open(image.path());
            assert_eq!(store.recovery().damage, None, "{what}");
            let begin = store.min_position();
            let allowed = [0, 1, 2].map(|count| start - count * SEGMENT_SIZE);
            assert!(allowed.contains(&begin), "{what}: {begin}");
            while store.min_position() > 0 {
                put_next(&master, &store);
            }
            assert_eq!(store.queues(), whole.queues(), "{what}");
            store.flush_tick(NOW_MS).unwrap();
            assert!(
                queues_and_log(image.path(), end) == expected,
                "{what}: the files differ"
            );
        }
    }
}

#[test]
fn a_topic_that_is_deleted_while_its_older_entries_are_synced_does_no_harm() {
    let dirs = [tempdir(), tempdir()];
    let [master, store] = dirs.each_ref().map(|dir| Arc::new(open(dir.path())));
    append(&master, "old", 0, b"in the first segment");
    fill(&master, COUNT);
    let start = master.last_segment_start();
    let tail = master.log_slice(start, u64::MAX).unwrap();
    store.append_copied(start, tail.bytes()).unwrap();
    while store.min_position() > SEGMENT_SIZE {
        put_next(&master, &store);
    }

    let (deleter, is_deleted) = (Arc::clone(&store), AtomicBool::new(false));
    let queues = dirs[1].path().join("consumequeue").join("old");
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let is_it = event.step == Step::SyncFile && event.path.starts_with(&queues);
        if is_it && !is_deleted.swap(true, Ordering::Relaxed) {
            deleter.delete_queues_of("old").unwrap();
            assert!(!queues.exists());
        }
        Ok(())
    });
    let watching = watch(dirs[1].path(), hook);
    put_next(&master, &store);
    drop(watching);

    assert_eq!(store.min_position(), 0);
    assert_eq!(store.queue_offsets("old", 0), None);
    append(&store, "new", 0, b"the store takes messages");
    store.flush_tick(NOW_MS).unwrap();
}
