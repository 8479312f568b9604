//! A disk without room when the store is opened, an epoch begins or the log is cut. A disk that
//! fails when a file is replaced.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};
use regent_commitlog::{EpochList, NewMessage, Store, StoreError};

use crate::second;
use crate::support::epochs::list;
use crate::support::{NOW_MS, crash, open};
use crate::tempdir;

/// How long a call may take that waits for nothing.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a call is given that must wait.
const MOMENT: Duration = Duration::from_millis(100);

fn append(store: &Store) {
    let message = NewMessage::new("t", 0, b"x");
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
}

/// Fails steps on the mark, on files of epochs and on the journal of a cut with an error, as long
/// as `is_on` is set.
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

/// What another thread saw that appended a message and flushed the log while an epoch was written.
struct Meanwhile {
    epochs: EpochList,
    replicable_end: u64,
    /// Whether the flush was over before the file was on the disk.
    is_flushed: bool,
    killed: tempfile::TempDir,
}

/// Begins an epoch whose file takes the disk as long as the other thread needs.
fn begin_slowly(
    store: &Arc<Store>,
    dir: &Path,
    number: i32,
) -> (Meanwhile, Result<u64, StoreError>) {
    let (other, root) = (Arc::clone(store), dir.to_path_buf());
    let (seen, sees) = mpsc::channel();
    let (done, flushed) = mpsc::channel();
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        let is_it = event.step == Step::SyncFile && event.path.ends_with("epochFileCheckpoint.new");
        if is_it && !event.is_done {
            let (store, done) = (Arc::clone(&other), done.clone());
            let (tell, appended) = mpsc::channel();
            let (over, ends) = mpsc::channel();
            thread::spawn(move || {
                append(&store);
                tell.send((store.epochs(), store.replicable_end())).unwrap();
                done.send(store.flush()).unwrap();
                over.send(())
            });
            let (epochs, replicable_end) = appended.recv_timeout(PATIENCE).unwrap();
            let killed = crash(&root);
            let is_flushed = ends.recv_timeout(MOMENT).is_ok();
            let meanwhile = Meanwhile {
                epochs,
                replicable_end,
                is_flushed,
                killed,
            };
            seen.send(meanwhile).unwrap();
        }
        Ok(())
    });
    let _watched = watch(dir, hook);
    store.begin_epoch(number).unwrap();
    (
        sees.recv().unwrap(),
        flushed.recv_timeout(PATIENCE).unwrap(),
    )
}

#[test]
fn appends_and_readers_go_on_while_an_epoch_is_written_and_its_records_are_promised_afterwards() {
    let dir = tempdir();
    let store = Arc::new(open(dir.path()));
    store.begin_epoch(1).unwrap();
    append(&store);
    let start = store.max_position();

    let (meanwhile, flushed) = begin_slowly(&store, dir.path(), 2);

    assert_eq!(meanwhile.epochs, list(&[(1, 0)]));
    assert_eq!(meanwhile.replicable_end, start);
    assert!(!meanwhile.is_flushed);
    assert_eq!(flushed.unwrap(), store.max_position());
    assert_eq!(store.replicable_end(), store.max_position());
    assert!(store.max_position() > start);
    assert_eq!(store.epochs(), list(&[(1, 0), (2, start)]));
    // A kill before the file is on the disk leaves the record to the epoch before.
    let killed = second::open(meanwhile.killed.path());
    assert_eq!(killed.epochs(), list(&[(1, 0)]));
    assert_eq!(killed.max_position(), store.max_position());
}

#[test]
fn an_epoch_that_may_or_may_not_have_begun_ends_all_work() {
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
