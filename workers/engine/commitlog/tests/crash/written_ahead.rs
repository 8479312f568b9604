//! A replica that dies, or whose disk fails, while many records are written to the log at once.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, Step, watch};
use regent_commitlog::{FlushMode, Store, StoreConfig, StoreError};
use tempfile::TempDir;

use crate::disk::Disk;
use crate::second::open_with;
use crate::support::{NOW_MS, append, copy_dir, go_down, segment_path};
use crate::{amount, tempdir};

const SEGMENT_SIZE: u64 = 512 << 10;
const BLOCK_SIZE: usize = 4096;
const RECORD_COUNT: u8 = 200;
const HELD_COUNT: usize = 10;
/// Where a record keeps its offset in its queue.
const QUEUE_OFFSET_AT: usize = 20;

fn seeds() -> std::ops::Range<u64> {
    0..amount(16, 40)
}

fn open(dir: &Path, flush_mode: FlushMode) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.index_enabled = false;
    config.flush_mode = flush_mode;
    open_with(config)
}

fn log_of(store: &Store) -> Vec<u8> {
    let slice = store.log_slice(0, u64::MAX);
    slice.map_or_else(Vec::new, |slice| slice.bytes().to_vec())
}

/// A master's log of records of one size.
struct Master {
    log: Vec<u8>,
    record_size: usize,
}

impl Master {
    fn new() -> Self {
        let dir = tempdir();
        let store = open(dir.path(), FlushMode::Async);
        for number in 0..RECORD_COUNT {
            append(&store, "t", 0, &[number; 1_400]);
        }
        let log = log_of(&store);
        let record_size = log.len() / usize::from(RECORD_COUNT);
        Self { log, record_size }
    }

    /// Where the records end that a replica has flushed.
    fn held(&self) -> usize {
        self.record_size * HELD_COUNT
    }

    /// A replica that has flushed the first records.
    fn replica(&self, dir: &Path, flush_mode: FlushMode) -> Store {
        let store = open(dir, flush_mode);
        store.append_copied(0, &self.log[..self.held()]).unwrap();
        store.flush_tick(NOW_MS).unwrap();
        store
    }

    /// Such a replica as it is when the other records are about to be written at once, and when
    /// they just were.
    fn images(&self, flush_mode: FlushMode) -> [TempDir; 2] {
        let dir = tempdir();
        let store = self.replica(dir.path(), flush_mode);
        let images: Arc<Mutex<Vec<TempDir>>> = Arc::default();
        let (taken, root) = (Arc::clone(&images), dir.path().to_path_buf());
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            let is_log = event.path == segment_path(&root, 0);
            if is_log && matches!(event.step, Step::Write) {
                let image = tempdir();
                copy_dir(&root, image.path());
                taken.lock().unwrap().push(image);
            }
            Ok(())
        });
        let watching = watch(dir.path(), hook);
        let rest = &self.log[self.held()..];
        store.append_copied(self.held() as u64, rest).unwrap();
        drop(watching);
        let images = std::mem::take(&mut *images.lock().unwrap());
        let images: [TempDir; 2] = images.try_into().unwrap();
        let [old, new] = images.each_ref().map(|image| segment(image.path()));
        assert!(old[..self.held()] == self.log[..self.held()]);
        assert!(old[self.held()..].iter().all(|byte| *byte == 0));
        assert!(new[..self.log.len()] == self.log[..]);
        images
    }

    /// An image recovers as a beginning of the log, which it returns the size of, and goes on.
    fn assert_recovers(&self, image: &Path, flush_mode: FlushMode, what: &str) -> usize {
        let store = open(image, flush_mode);
        assert_eq!(store.recovery().damage, None, "{what}");
        let recovered = log_of(&store);
        assert!(self.log[..recovered.len()] == recovered[..], "{what}");
        let count = (recovered.len() / self.record_size) as u64;
        assert_eq!(store.queue_offsets("t", 0), Some((0, count)), "{what}");
        // Nothing of before shows behind the end.
        let rest = &self.log[recovered.len()..];
        let taken = store.append_copied(recovered.len() as u64, rest);
        assert_eq!(taken.unwrap(), rest.len(), "{what}");
        assert!(log_of(&store) == self.log, "{what}");
        recovered.len()
    }

    /// What is read at a record's place is the master's record, or nothing.
    fn assert_serves_nothing_else(&self, store: &Store, flushed: usize, what: &str) {
        for (number, record) in self.log.chunks(self.record_size).enumerate() {
            let at = number * self.record_size;
            match store.read_record(at as u64) {
                Ok(Some(read)) => assert!(read == record, "{what}: {at}"),
                _ => assert!(at >= flushed, "{what}: {at}"),
            }
        }
    }
}

fn segment(dir: &Path) -> Vec<u8> {
    fs::read(segment_path(dir, 0)).unwrap()
}

/// A copy of an image that has other bytes in its segment.
fn with_segment(image: &Path, bytes: &[u8]) -> TempDir {
    let copy = tempdir();
    copy_dir(image, copy.path());
    fs::write(segment_path(copy.path(), 0), bytes).unwrap();
    copy
}

/// A segment of which any pages reached the disk.
fn some_pages(old: &[u8], new: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut written = new.to_vec();
    let pages = written.chunks_mut(BLOCK_SIZE).zip(old.chunks(BLOCK_SIZE));
    let lost = pages.filter(|_| rng.u8(..8) == 0);
    lost.for_each(|(new, old)| new.copy_from_slice(old));
    written
}

#[test]
fn a_process_killed_during_the_write_leaves_all_whole_records_before_that() {
    let master = Master::new();
    let [before, after] = master.images(FlushMode::Async);
    let new = segment(after.path());
    for seed in seeds() {
        let at = Rng::with_seed(seed).usize(master.held()..master.log.len());
        let mut written = new.clone();
        written[at..].fill(0);
        let whole = master.log.chunks(master.record_size);
        let whole = whole.zip(written.chunks(master.record_size));
        let whole = whole.take_while(|(record, there)| record == there).count();

        let image = with_segment(before.path(), &written);
        let what = format!("seed {seed}");
        let size = master.assert_recovers(image.path(), FlushMode::Async, &what);

        assert_eq!(size, whole * master.record_size, "{what}");
    }
    let recover =
        |image: &TempDir, what| master.assert_recovers(image.path(), FlushMode::Async, what);
    assert_eq!(recover(&before, "before"), master.held());
    assert_eq!(recover(&after, "after"), master.log.len());
}

/// What an append of one record at a time leaves when it was not flushed ends where the first page is lost.
#[test]
fn a_machine_that_goes_down_during_it_is_recovered_as_if_they_were_appended_one_by_one() {
    let master = Master::new();
    let [before, after] = master.images(FlushMode::Async);
    let dir = tempdir();
    let store = master.replica(dir.path(), FlushMode::Async);
    for number in HELD_COUNT..usize::from(RECORD_COUNT) {
        let at = number * master.record_size;
        let record = &master.log[at..at + master.record_size];
        store.append_copied(at as u64, record).unwrap();
    }
    let one_by_one = tempdir();
    copy_dir(dir.path(), one_by_one.path());
    let (old, new) = (segment(before.path()), segment(after.path()));
    assert!(new == segment(one_by_one.path()));
    let mut cut = 0;
    for seed in seeds() {
        let what = format!("seed {seed}");
        let written = some_pages(&old, &new, &mut Rng::with_seed(seed));
        let recover = |image: &TempDir| {
            let image = with_segment(image.path(), &written);
            go_down(image.path());
            let store = open(image.path(), FlushMode::Async);
            master.assert_serves_nothing_else(&store, master.held(), &what);
            let found = *store.recovery();
            let end = (found.end_position, found.record_count);
            assert_eq!(found.damage, None, "{what}");
            (found.lost_unflushed, end, log_of(&store))
        };

        let at_once = recover(&after);

        assert!(at_once == recover(&one_by_one), "{what}");
        let (lost, _, log) = at_once;
        assert!(log.len() >= master.held() && master.log.starts_with(&log));
        if let Some(lost) = lost {
            cut += 1;
            assert_eq!(lost.position, log.len() as u64, "{what}");
            assert!(lost.next_valid_position > Some(lost.position), "{what}");
        }
    }
    assert!(cut > 0);
}

#[test]
fn with_synchronous_flush_such_a_machine_leaves_all_before_the_first_page_lost() {
    let master = Master::new();
    let images = master.images(FlushMode::Sync);
    let [old, new] = images.each_ref().map(|image| segment(image.path()));
    for seed in seeds() {
        let written = some_pages(&old, &new, &mut Rng::with_seed(seed));
        let image = with_segment(images[1].path(), &written);
        go_down(image.path());

        let what = format!("seed {seed}");
        let size = master.assert_recovers(image.path(), FlushMode::Sync, &what);

        let first_lost = written
            .iter()
            .zip(&new)
            .position(|(there, new)| there != new);
        let whole = first_lost.map_or(master.log.len(), |at| at - at % master.record_size);
        assert_eq!(size, whole, "{what}");
    }
}

#[test]
fn a_failed_write_ends_all_work_and_the_next_start_judges_what_it_left() {
    let master = Master::new();
    let held = master.held();
    for is_done in [false, true] {
        let dir = tempdir();
        let store = master.replica(dir.path(), FlushMode::Async);
        let hook: Hook = Arc::new(move |event: &Event<'_>| match event.step {
            Step::Write if event.is_done == is_done => Err(io::Error::from_raw_os_error(5)),
            _ => Ok(()),
        });
        let watching = watch(dir.path(), hook);

        let refused = store.append_copied(held as u64, &master.log[held..]);

        drop(watching);
        assert!(matches!(refused, Err(StoreError::Io { .. })));
        assert_eq!(store.max_position(), held as u64);
        assert!(store.failure().is_some());
        let again = store.append_copied(held as u64, &master.log[held..]);
        assert!(again.is_err());
        drop(store);
        let size = master.assert_recovers(dir.path(), FlushMode::Async, "after a failure");
        let written = if is_done { master.log.len() } else { held };
        assert_eq!(size, written);
    }
}

#[test]
fn what_finds_no_place_in_a_queue_is_gone_from_the_disk_when_it_is_refused() {
    let mut master = Master::new();
    let refused_at = 50 * master.record_size;
    let offset_at = refused_at + QUEUE_OFFSET_AT;
    // No checksum covers it.
    master.log[offset_at..offset_at + 8].copy_from_slice(&(1_u64 << 40).to_be_bytes());
    for seed in seeds() {
        let dir = tempdir();
        let store = master.replica(dir.path(), FlushMode::Async);
        let (disk, watching) = Disk::watching(dir.path(), seed);

        let rest = &master.log[master.held()..];
        let refused = store.append_copied(master.held() as u64, rest);

        drop(watching);
        assert!(matches!(refused, Err(StoreError::Corrupt { .. })));
        assert_eq!(store.max_position(), refused_at as u64);
        let image = tempdir();
        let mut rng = Rng::with_seed(seed);
        disk.lock().unwrap().crash(image.path(), &mut rng).unwrap();
        let left = segment(image.path());
        let is_clear = left[refused_at..].iter().all(|byte| *byte == 0);
        assert!(is_clear, "seed {seed}");
    }
}
