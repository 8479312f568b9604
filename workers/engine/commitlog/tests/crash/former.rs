//! Crashes while a store of a former version is converted.

use std::path::Path;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, watch};
use tempfile::TempDir;

use crate::disk::Disk;
use crate::second::open_with;
use crate::support::former::*;
use crate::support::{copy_dir, fill, go_down};
use crate::tempdir;

const COUNT: u64 = 8;

/// A store that was left open, of which all but the last message is sealed; where the sealed part ends, and
/// the log.
fn former(run: &str) -> (TempDir, u64, u64) {
    let dir = tempdir();
    let store = open_synchronous(dir.path());
    let positions = fill(&store, COUNT);
    drop(store);
    let [.., from, to, end] = positions[..] else {
        panic!("too few messages");
    };
    let limit = end + 2_000;
    write_stale(dir.path(), limit);
    leave(dir.path(), run, limit, &[seal(dir.path(), from, to)]);
    (dir, to, end)
}

/// What a kill and a power cut leave at each step of an opening.
fn images(dir: &Path) -> (Vec<TempDir>, Vec<TempDir>) {
    let taken: Arc<Mutex<(Vec<TempDir>, Vec<TempDir>)>> = Arc::default();
    let disk = Mutex::new((Disk::new(dir, 1), Rng::with_seed(1)));
    let (images, root) = (Arc::clone(&taken), dir.to_path_buf());
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let (disk, random) = &mut *disk.lock().unwrap();
        disk.note(event);
        let (killed, down) = (tempdir(), tempdir());
        copy_dir(&root, killed.path());
        disk.crash(down.path(), random).unwrap();
        go_down(down.path());
        let mut images = images.lock().unwrap();
        images.0.push(killed);
        images.1.push(down);
        Ok(())
    });
    let watching = watch(dir, hook);
    drop(open_synchronous(dir));
    drop(watching);
    std::mem::take(&mut *taken.lock().unwrap())
}

#[test]
fn a_store_of_a_former_version_is_converted_whole_after_a_crash_at_any_step() {
    for (run, was_killed) in [(boot_id(), true), ("another run".to_owned(), false)] {
        let (dir, sealed, end) = former(&run);
        let expected = if was_killed { end } else { sealed };

        let (killed, down) = images(dir.path());

        assert!(killed.len() > 10);
        for image in &killed {
            let store = open_with(synchronous(image.path()));
            assert_eq!(store.recovery().damage, None);
            assert_eq!(store.max_position(), expected);
            assert_eq!(store.queue_offsets("stale", 0), None);
            assert!(!spare_dir(image.path()).exists());
        }
        for image in &down {
            let store = open_with(synchronous(image.path()));
            assert_eq!(store.recovery().damage, None);
            assert!((sealed..=end).contains(&store.max_position()));
            assert_eq!(store.queue_offsets("stale", 0), None);
        }
    }
}
