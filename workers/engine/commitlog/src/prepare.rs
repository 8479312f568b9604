//! The helper thread that creates the next segment and populates pages ahead of the writer.
//!
//! A cold page costs the writer several times what the copy costs (targets.md 1.1). So pages are
//! made present ahead, in slices small enough never to occupy a core (D24). Failing to populate
//! only costs speed; failing to allocate is an error that the writer gets when it needs the
//! segment.
//!
//! A flush into blocks that were only allocated waits for a commit of the file system's journal,
//! about as long as for the data itself. So a store in `SYNC_FLUSH` has blocks *written* ahead.
//! Where it can, the file system writes zeros itself (`FALLOC_FL_WRITE_ZEROES`). Otherwise the
//! populated pages, which hold zeros, go to the disk before the writer gets there. Only the page
//! cache writes them: what the writer has put into a page meanwhile goes along, and no zero is
//! written over a record.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use regent_sync::thread::JoinHandle;
use regent_sync::{Condvar, Mutex};
use rustix::io::Errno;

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    BLOCK_SIZE, create_segment, create_written_segment, open_segment, remove_file, segment_name,
    sync_dir,
};
use crate::native::spawn_native;
use crate::sys::{ExclusiveMap, MapReader, MapWriter, finish_write_back};

/// Populating a slice holds the lock of the process's memory map, and a thread that asks the system
/// for memory waits for that lock: 8 MiB held the loop up for 8 ms and more.
const SLICE_SIZE_BYTES: usize = 1 << 20;

/// How long a failure answers for the appends that follow. To find out that a gigabyte cannot be
/// had took 4 to 60 ms, which every message for a full disk would cost.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// What the helper knows: where segments lie and how large they are.
#[derive(Debug, Clone)]
pub(crate) struct SegmentPlan {
    pub(crate) dir: PathBuf,
    pub(crate) segment_size: u64,
    pub(crate) populate_ahead: usize,
    /// Whether blocks are written before records are.
    pub(crate) writes_blocks: bool,
}

/// A segment that is ready to be written.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) map: MapWriter,
    /// Up to where its pages are present.
    pub(crate) populated: usize,
    /// Whether all of its blocks are written already.
    pub(crate) has_written_blocks: bool,
}

impl SegmentPlan {
    /// How far the writer goes before the helper hears of it again.
    pub(crate) fn wake_distance(&self) -> usize {
        let segment_size = usize::try_from(self.segment_size).unwrap_or(usize::MAX);
        (self.populate_ahead.min(segment_size) / 2).max(1)
    }

    /// Where the writer, now at `position` of a segment, wakes the helper next: in the middle at the latest,
    /// where the next segment is wanted.
    pub(crate) fn wake_after(&self, position: usize) -> usize {
        let next = position + self.wake_distance();
        let middle = usize::try_from(self.segment_size / 2).unwrap_or(usize::MAX);
        if position < middle {
            next.min(middle)
        } else {
            next
        }
    }
}

/// Handle of the helper thread, which ends with it.
#[derive(Debug)]
pub(crate) struct Preparer {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Desk {
    plan: SegmentPlan,
    work: Mutex<Work>,
    changed: Condvar,
}

#[derive(Debug)]
struct Work {
    next: Next,
    current: Option<Populating>,
    is_stopped: bool,
}

#[derive(Debug)]
enum Next {
    Unwanted,
    /// With how many pages' bytes present.
    Wanted(u64, usize),
    InProgress(u64),
    Ready(u64, Prepared),
    Failed(u64, Instant, StoreError),
}

#[derive(Debug, Clone)]
struct Populating {
    base: u64,
    map: MapReader,
    done: usize,
    wanted: usize,
    /// The file, where blocks are to be written.
    file: Option<Arc<File>>,
}

impl Preparer {
    pub(crate) fn start(plan: SegmentPlan) -> Result<Self, StoreError> {
        let work = Work {
            next: Next::Unwanted,
            current: None,
            is_stopped: false,
        };
        let dir = plan.dir.clone();
        let desk = Arc::new(Desk {
            plan,
            work: Mutex::new(work),
            changed: Condvar::new(),
        });
        let shared = Arc::clone(&desk);
        let thread = spawn_native("segment-prepare", move || shared.run())
            .map_err(|error| StoreError::io(dir, error))?;
        Ok(Self {
            desk,
            thread: Some(thread),
        })
    }

    /// Asks for the segment at `base` before it is needed, with its first bytes populated.
    pub(crate) fn want_next(&self, base: u64, populated: usize) {
        let mut work = self.desk.work.lock();
        if matches!(work.next, Next::Unwanted) {
            work.next = Next::Wanted(base, populated);
            self.desk.changed.notify_all();
        }
    }

    /// The segment at `base`, waiting until it is prepared.
    ///
    /// A failure from a while before this call is forgotten: there may be room by now.
    pub(crate) fn take_next(&self, base: u64, populated: usize) -> Result<Prepared, StoreError> {
        let mut work = self.desk.work.lock();
        let mut is_fresh = false;
        loop {
            if work.is_stopped {
                return Err(StoreError::Closed);
            }
            match std::mem::replace(&mut work.next, Next::Unwanted) {
                Next::Ready(ready, prepared) if ready == base => return Ok(prepared),
                Next::Failed(failed, at, error)
                    if failed == base && (is_fresh || at.elapsed() < RETRY_INTERVAL) =>
                {
                    let answer = error.again();
                    work.next = Next::Failed(failed, at, error);
                    return Err(answer);
                }
                Next::InProgress(other) => work.next = Next::InProgress(other),
                _ => work.next = Next::Wanted(base, populated),
            }
            is_fresh = true;
            self.desk.changed.notify_all();
            self.desk.changed.wait(&mut work);
        }
    }

    /// Makes `map` the segment whose pages are populated ahead of `position`.
    pub(crate) fn follow(&self, base: u64, prepared: &Prepared) {
        let mut work = self.desk.work.lock();
        let map = prepared.map.reader();
        let position = prepared.map.position();
        // Units that are written ahead need no pages.
        let wanted = match prepared.populated {
            0 => 0,
            _ => self.desk.wanted(&map, position),
        };
        work.current = Some(Populating {
            base,
            map,
            done: prepared.populated.max(position),
            wanted,
            file: self.desk.file_to_write(base, prepared.has_written_blocks),
        });
        self.desk.changed.notify_all();
    }

    /// Notes where the writer is in the current segment.
    pub(crate) fn advance(&self, position: usize) {
        let mut work = self.desk.work.lock();
        if let Some(current) = &mut work.current {
            let wanted = self.desk.wanted(&current.map, position);
            current.wanted = current.wanted.max(wanted);
            // What a fast writer has overtaken is present already: the helper's place is ahead.
            current.done = current.done.max(position);
            self.desk.changed.notify_all();
        }
    }

    /// Log position up to which pages of the current segment are present.
    pub(crate) fn populated_position(&self) -> u64 {
        let work = self.desk.work.lock();
        work.current
            .as_ref()
            .map_or(0, |current| current.base + current.done as u64)
    }

    /// Ends the thread and gives back the segment that was prepared and not used, and its base.
    pub(crate) fn stop(&mut self) -> Option<(u64, Prepared)> {
        self.desk.work.lock().is_stopped = true;
        self.desk.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut work = self.desk.work.lock();
        match std::mem::replace(&mut work.next, Next::Unwanted) {
            Next::Ready(base, prepared) => Some((base, prepared)),
            _ => None,
        }
    }
}

impl Drop for Preparer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Desk {
    fn wanted(&self, map: &MapReader, position: usize) -> usize {
        whole_blocks(map, position.saturating_add(self.plan.populate_ahead))
    }

    fn run(&self) {
        loop {
            let mut work = self.work.lock();
            if work.is_stopped {
                return;
            }
            if let Next::Wanted(base, populated) = work.next {
                work.next = Next::InProgress(base);
                drop(work);
                let next = match self.prepare(base, populated) {
                    Ok(prepared) => Next::Ready(base, prepared),
                    Err(error) => Next::Failed(base, Instant::now(), error),
                };
                self.work.lock().next = next;
                self.changed.notify_all();
                continue;
            }
            let slice = work
                .current
                .as_ref()
                .filter(|current| current.done < current.wanted);
            let Some(slice) = slice.cloned() else {
                self.changed.wait(&mut work);
                continue;
            };
            drop(work);
            self.populate_slice(&slice);
        }
    }

    fn populate_slice(&self, slice: &Populating) {
        let to = slice
            .wanted
            .min(slice.done.saturating_add(SLICE_SIZE_BYTES));
        let made = self.make_ready(
            &slice.map,
            slice.base,
            (slice.done, to),
            slice.file.as_deref(),
        );
        // An old kernel or a locked-memory limit only makes appends slower.
        let done = made.map_or_else(|_| slice.map.size(), |()| to);
        let mut work = self.work.lock();
        if let Some(current) = work
            .current
            .as_mut()
            .filter(|current| current.base == slice.base)
        {
            current.done = current.done.max(done);
        }
        self.changed.notify_all();
    }

    /// Makes pages present and, where a file is given, writes their blocks. The next flush of the
    /// range, through the map's own file, reports what the disk refuses.
    fn make_ready(
        &self,
        map: &MapReader,
        base: u64,
        (from, to): (usize, usize),
        file: Option<&File>,
    ) -> io::Result<()> {
        map.populate(from, to)?;
        let Some(file) = file else {
            return Ok(());
        };
        let path = self.plan.dir.join(segment_name(base));
        step(Step::StartWriteBack { from, to }, &path, || {
            finish_write_back(file, from, to)
        })?;
        // A page that went to the disk is write-protected, and the writer would have to wait for it.
        map.populate(from, to)
    }

    /// The file of a segment whose blocks are to be written. It is not the file of the map, which
    /// would report an error only once: the flush has to get that error.
    fn file_to_write(&self, base: u64, has_written_blocks: bool) -> Option<Arc<File>> {
        let is_wanted = self.plan.writes_blocks && !has_written_blocks;
        let open = || open_segment(&self.plan.dir.join(segment_name(base)));
        is_wanted.then(open)?.ok().map(Arc::new)
    }

    fn prepare(&self, base: u64, populated: usize) -> Result<Prepared, StoreError> {
        let path = self.plan.dir.join(segment_name(base));
        let size = self.plan.segment_size;
        let (file, has_written_blocks) = if self.plan.writes_blocks {
            create_written_segment(&path, size)?
        } else {
            (create_segment(&path, size, size)?, false)
        };
        let prepared = self.map_new(&file, base, has_written_blocks, populated);
        if prepared.is_err() {
            // The next attempt creates it again. So a failed sync of the directory may be
            // forgotten, too: its entry is made, and synced, again (D13).
            remove_file(&path)?;
        }
        prepared
    }

    /// Maps a new segment, makes its name durable and its first pages present.
    fn map_new(
        &self,
        file: &File,
        base: u64,
        has_written_blocks: bool,
        populated: usize,
    ) -> Result<Prepared, StoreError> {
        let path = self.plan.dir.join(segment_name(base));
        let named = |error| StoreError::io(&path, error);
        let map = ExclusiveMap::new(file).map_err(named)?;
        let map = map.into_writer(0);
        sync_dir(&self.plan.dir)?;
        let reader = map.reader();
        reader.advise_written(true);
        let to_write = self.file_to_write(base, has_written_blocks);
        // Who waits for the segment does not wait for many blocks.
        let ahead = match to_write {
            Some(_) => populated.min(SLICE_SIZE_BYTES),
            None => populated,
        };
        let ahead = whole_blocks(&reader, ahead);
        let mut done = 0;
        while done < ahead {
            let to = ahead.min(done + SLICE_SIZE_BYTES);
            match self.make_ready(&reader, base, (done, to), to_write.as_deref()) {
                Ok(()) => done = to,
                // The system's word for "writing this page would have been a signal".
                Err(error) if error.raw_os_error() == Some(Errno::FAULT.raw_os_error()) => {
                    return Err(named(error));
                }
                Err(_) => break,
            }
        }
        Ok(Prepared {
            map,
            populated: ahead,
            has_written_blocks,
        })
    }
}

/// The end of the block that `position` is in, or of the map.
fn whole_blocks(map: &MapReader, position: usize) -> usize {
    let whole = position.checked_next_multiple_of(BLOCK_SIZE);
    map.size().min(whole.unwrap_or(position))
}
