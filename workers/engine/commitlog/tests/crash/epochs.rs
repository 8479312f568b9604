//! A disk without room when the store is opened, an epoch begins or the log is cut, and one that fails
//! when a file is replaced.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};
use regent_commitlog::{NewMessage, Store, StoreConfig};

use crate::support::NOW_MS;
use crate::tempdir;

fn open(dir: &Path) -> Store {
    Store::open(StoreConfig::new(dir), NOW_MS).unwrap()
}

fn append(store: &Store) {
    let message = NewMessage::new("t", 0, b"x");
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
}

/// Fails steps on the mark, on files of epochs, and on the journal of a cut, with an error, as long as the switch
/// says so.
fn refuse(
    dir: &Path,
    is_on: &Arc<AtomicBool>,
    kind: io::ErrorKind,
    is_meant: fn(Step<'_>, &str) -> bool,
) -> Watch {
    let is_on = Arc::clone(is_on);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let name = event.path.file_name().unwrap().to_string_lossy();
        let small = ["abort", "epochFileCheckpoint", "truncation"];
        let is_small = small.iter().any(|start| name.starts_with(start));
        let is_it = is_small && is_meant(event.step, &name);
        if is_it && !event.is_done && is_on.load(Ordering::SeqCst) {
            return Err(kind.into());
        }
        Ok(())
    });
    watch(dir, hook)
}

#[test]
fn an_epoch_that_finds_no_room_begins_once_there_is_some() {
    let writes: [fn(Step<'_>, &str) -> bool; 3] = [
        |step, _| step == Step::Write,
        |step, name| step == Step::Write && name.contains(".bak"),
        |step, _| step == Step::Create,
    ];
    for is_meant in writes {
        let dir = tempdir();
        let is_full = Arc::new(AtomicBool::new(false));
        let watched = refuse(dir.path(), &is_full, io::ErrorKind::StorageFull, is_meant);
        let store = open(dir.path());
        store.begin_epoch(1).unwrap();
        append(&store);
        let before = store.epochs();

        is_full.store(true, Ordering::SeqCst);
        let refused = store.begin_epoch(2).unwrap_err();

        assert_eq!(refused.code(), "disk_full", "{refused}");
        assert_eq!((store.failure(), store.epochs()), (None, before));
        is_full.store(false, Ordering::SeqCst);
        store.begin_epoch(2).unwrap();
        append(&store);
        let after = store.epochs();
        assert_eq!(after.as_slice().len(), 2);
        drop(store);
        drop(watched);
        assert_eq!(open(dir.path()).epochs(), after);
    }
}

#[test]
fn an_epoch_of_which_nobody_knows_whether_it_began_ends_all_work() {
    let dir = tempdir();
    let is_failing = Arc::new(AtomicBool::new(false));
    let is_rename: fn(Step<'_>, &str) -> bool = |step, _| matches!(step, Step::Rename(_));
    let watched = refuse(dir.path(), &is_failing, io::ErrorKind::Other, is_rename);
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();

    is_failing.store(true, Ordering::SeqCst);
    store.begin_epoch(2).unwrap_err();

    assert!(store.failure().is_some());
    is_failing.store(false, Ordering::SeqCst);
    store.begin_epoch(2).unwrap_err();
    drop(store);
    drop(watched);
}

#[test]
fn a_cut_that_finds_no_room_changes_nothing_and_is_made_once_there_is_some() {
    let dir = tempdir();
    let is_full = Arc::new(AtomicBool::new(false));
    let kind = io::ErrorKind::StorageFull;
    let watched = refuse(dir.path(), &is_full, kind, |step, _| step == Step::Write);
    let mut store = open(dir.path());
    append(&store);
    let cut_at = store.max_position();
    append(&store);

    is_full.store(true, Ordering::SeqCst);
    let refused = store.truncate_to(cut_at).unwrap_err();

    assert_eq!(refused.code(), "disk_full", "{refused}");
    assert_eq!(store.failure(), None);
    append(&store);
    is_full.store(false, Ordering::SeqCst);
    store.truncate_to(cut_at).unwrap();
    assert_eq!(store.max_position(), cut_at);
    drop(store);
    drop(watched);
    assert_eq!(open(dir.path()).max_position(), cut_at);
}

#[test]
fn a_mark_that_finds_no_room_says_nothing_of_the_run_before() {
    let dir = tempdir();
    let mark = dir.path().join("abort");
    let is_full = Arc::new(AtomicBool::new(true));
    let store = open(dir.path());
    append(&store);
    drop(store);
    assert_ne!(fs::read(&mark).unwrap(), b"");

    let kind = io::ErrorKind::StorageFull;
    let watched = refuse(dir.path(), &is_full, kind, |step, _| step == Step::Write);
    let store = open(dir.path());

    assert_eq!(fs::read(&mark).unwrap(), b"");
    append(&store);
    drop(store);
    drop(watched);
    let store = open(dir.path());
    assert!(!store.recovery().was_clean);
    assert_eq!(store.queue_offsets("t", 0), Some((0, 2)));
}
