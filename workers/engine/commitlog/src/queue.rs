//! One consume queue: entries that point into the log (storage-and-ha.md 3.1).
//!
//! Entries are numbered by their place in the files. In a plain queue, whose entries have 20 bytes,
//! that is the queue offset; in a batch queue the entries tell.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{remove_file, segment_name};
use crate::message::QueueEntry;
use crate::queue_file::{create_file, extend_file};
use crate::queue_layout::{
    ENTRY_SIZE, Layout, Placed, decode_entry, encode_entry, is_filler, partition_point,
};
use crate::sys::{MapReader, MapWriter};

/// One file of a queue as readers see it; `base` is a byte offset inside the queue.
#[derive(Debug, Clone)]
pub(crate) struct QueueSegment {
    pub(crate) base: u64,
    pub(crate) map: MapReader,
}

/// What readers and the flusher share with the writer of a queue.
#[derive(Debug)]
pub(crate) struct SharedQueue {
    dir: PathBuf,
    layout: Layout,
    file_size: u64,
    segments: RwLock<Vec<QueueSegment>>,
    min_offset: AtomicU64,
    max_offset: AtomicU64,
    flushed_bytes: AtomicU64,
    /// Whether the queue is on the list of touched queues; changed under the append lock only.
    is_dirty: AtomicBool,
    /// Whether a file was created whose directory entry may not be durable yet.
    has_new_file: AtomicBool,
}

impl SharedQueue {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// The first answer that a file gives.
    pub(crate) fn each_segment<T>(&self, ask: impl FnMut(&QueueSegment) -> Option<T>) -> Option<T> {
        self.segments.read().iter().find_map(ask)
    }

    pub(crate) fn min_offset(&self) -> u64 {
        self.min_offset.load(Ordering::Acquire)
    }

    pub(crate) fn max_offset(&self) -> u64 {
        self.max_offset.load(Ordering::Acquire)
    }

    /// Offset after the file that holds `offset`, which could not be read.
    pub(crate) fn next_file_offset(&self, offset: u64) -> u64 {
        match self.layout {
            Layout::Plain => {
                let file_count = self.file_size / self.layout.entry_bytes();
                offset - offset % file_count + file_count
            }
            // Its file went after the first offset was looked at, which has risen since.
            Layout::Batch => self.min_offset(),
        }
    }

    /// The file that holds an entry and the byte at which the entry starts.
    pub(crate) fn segment_at(&self, number: u64) -> Option<(QueueSegment, usize)> {
        let at = number.checked_mul(self.layout.entry_bytes())?;
        let segments = self.segments.read();
        let distance = at.checked_sub(segments.first()?.base)?;
        let segment = segments.get(usize::try_from(distance / self.file_size).ok()?)?;
        let local = usize::try_from(distance % self.file_size).ok()?;
        Some((segment.clone(), local))
    }

    /// The entry with a number.
    pub(crate) fn placed(&self, number: u64) -> Option<Placed> {
        let (segment, at) = self.segment_at(number)?;
        let bytes = segment.map.bytes().get(at..at + self.layout.entry_size())?;
        self.layout.decode(bytes, number)
    }

    /// Number of the entry that stands for `offset`, or of the first one behind it.
    pub(crate) fn number_of(&self, offset: u64) -> u64 {
        if self.layout == Layout::Plain {
            return offset;
        }
        let is_before = |number| {
            let placed = self.placed(number);
            placed.is_some_and(|placed| placed.end_offset() <= offset)
        };
        partition_point(self.first_number(), self.end_number(), is_before)
    }

    /// Number of the first entry that the files hold.
    pub(crate) fn first_number(&self) -> u64 {
        let segments = self.segments.read();
        segments.first().map_or(0, |first| first.base) / self.layout.entry_bytes()
    }

    /// Number of the next entry.
    pub(crate) fn end_number(&self) -> u64 {
        self.end_bytes() / self.layout.entry_bytes()
    }

    /// Place of the byte behind the last entry.
    pub(crate) fn end_bytes(&self) -> u64 {
        let segments = self.segments.read();
        let first = segments.first().map_or(0, |first| first.base);
        // The last file may have been made for entries to come while the one before has room.
        let mut ends = segments.iter().rev().filter_map(|segment| {
            let size = segment.map.bytes().len() as u64;
            (size > 0).then_some(segment.base + size)
        });
        ends.next().unwrap_or(first)
    }

    /// The queue offset that the entry with a number begins at, or would begin at.
    pub(crate) fn offset_at(&self, number: u64) -> u64 {
        if self.layout == Layout::Plain {
            return number;
        }
        let placed = self.placed(number);
        placed.map_or_else(|| self.max_offset(), |placed| placed.offset)
    }

    /// Takes the queue off the list of touched ones; the append lock is held.
    pub(crate) fn clear_dirty(&self) {
        self.is_dirty.store(false, Ordering::Relaxed);
    }

    /// Whether a file was created since the last call.
    pub(crate) fn take_new_file(&self) -> bool {
        self.has_new_file.swap(false, Ordering::AcqRel)
    }

    /// Declares the bytes before a place durable.
    pub(crate) fn assume_flushed(&self, bytes: u64) {
        self.flushed_bytes.store(bytes, Ordering::Release);
    }

    /// Flushes entries written so far; the first time also what recovery cleared behind them.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        let flushed = self.end_bytes();
        let mut from = self.flushed_bytes.load(Ordering::Acquire);
        let to = if from == 0 { self.files_end() } else { flushed };
        while from < to {
            let Some((segment, at)) = self.segment_at(from / self.layout.entry_bytes()) else {
                // Nothing lies before the first file of a queue with a late start.
                from += self.file_size - from % self.file_size;
                continue;
            };
            let end = to.min(segment.base + self.file_size);
            #[allow(clippy::cast_possible_truncation)] // within one mapped file
            let local_end = (end - segment.base) as usize;
            let range = Step::SyncRange {
                from: at,
                to: local_end,
            };
            let path = self.dir.join(segment_name(segment.base));
            step(range, &path, || segment.map.flush(at, local_end))
                .map_err(|error| StoreError::io(path, error))?;
            from = end;
        }
        self.flushed_bytes.store(flushed, Ordering::Release);
        Ok(())
    }

    /// Place of the byte behind the last file.
    fn files_end(&self) -> u64 {
        let segments = self.segments.read();
        segments.last().map_or(0, |last| last.base + self.file_size)
    }

    /// Removes the files all of whose entries stand for records before `log_position`, but never the
    /// last one, which tells where the queue ends (storage-and-ha.md 11.2, trap 24).
    pub(crate) fn remove_expired(&self, log_position: u64) -> Result<usize, StoreError> {
        let mut count = 0;
        loop {
            let oldest = match &self.segments.read()[..] {
                [oldest, _, ..] => oldest.clone(),
                _ => break,
            };
            let bytes = oldest.map.bytes();
            let last = bytes.chunks_exact(self.layout.entry_size()).next_back();
            let is_full = bytes.len() as u64 == self.file_size;
            let is_gone = last
                .and_then(decode_entry)
                .is_some_and(|entry| is_filler(&entry) || entry.log_position < log_position);
            if !is_full || !is_gone {
                break;
            }
            remove_file(&self.dir.join(segment_name(oldest.base)))?;
            self.segments.write().remove(0);
            count += 1;
        }
        Ok(count)
    }

    /// Raises the first readable offset to the first entry at or behind `log_position`.
    pub(crate) fn correct_min_offset(&self, log_position: u64) {
        let is_gone = |number| {
            let placed = self.placed(number);
            placed.is_none_or(|Placed { entry, .. }| {
                is_filler(&entry) || entry.log_position < log_position
            })
        };
        let first = partition_point(self.first_number(), self.end_number(), is_gone);
        let offset = self.offset_at(first);
        self.min_offset.store(offset, Ordering::Release);
    }
}

/// The end of a queue; guarded by the append lock.
#[derive(Debug)]
pub(crate) struct QueueWriter {
    shared: Arc<SharedQueue>,
    layout: Layout,
    files: Vec<QueueTail>,
    end_offset: u64,
}

/// A file that still has room; the first of them takes the next entry.
#[derive(Debug)]
pub(crate) struct QueueTail {
    pub(crate) base: u64,
    pub(crate) map: MapWriter,
    pub(crate) allocated: u64,
}

impl QueueWriter {
    /// A queue with these files, of which only the last may have room.
    pub(crate) fn new(dir: PathBuf, layout: Layout, file_size: u64, files: Vec<QueueTail>) -> Self {
        let segments = files.iter().map(|file| {
            let map = file.map.reader();
            QueueSegment {
                base: file.base,
                map,
            }
        });
        let shared = SharedQueue {
            dir,
            layout,
            file_size,
            segments: RwLock::new(segments.collect()),
            min_offset: AtomicU64::new(0),
            max_offset: AtomicU64::new(0),
            flushed_bytes: AtomicU64::new(0),
            is_dirty: AtomicBool::new(false),
            has_new_file: AtomicBool::new(true),
        };
        let end_number = shared.end_number();
        let end_offset = match layout {
            Layout::Plain => end_number,
            Layout::Batch => {
                let last = end_number
                    .checked_sub(1)
                    .and_then(|last| shared.placed(last));
                last.map_or(0, |last| last.end_offset())
            }
        };
        shared.max_offset.store(end_offset, Ordering::Relaxed);
        let files = files
            .into_iter()
            .filter(|file| file.map.remaining() > 0)
            .collect();
        Self {
            shared: Arc::new(shared),
            layout,
            files,
            end_offset,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<SharedQueue> {
        &self.shared
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    pub(crate) fn end_offset(&self) -> u64 {
        self.end_offset
    }

    /// Whether the last entry, and so every one, stands for a record before `log_position`.
    pub(crate) fn is_before(&self, log_position: u64) -> bool {
        let last = self.shared.end_number().checked_sub(1);
        let last = last.and_then(|last| self.shared.placed(last));
        last.is_none_or(|placed| placed.entry.log_position < log_position)
    }

    /// Makes room for `count` entries, so that pushing them cannot fail.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, count: u64) -> Result<(), StoreError> {
        if let Some(file) = self.files.first() {
            let position = file.map.position() as u64;
            let layout = self.layout;
            if position + count * layout.entry_bytes() <= file.allocated {
                // Among many queues, none of it is in a cache; until the push it comes.
                file.map.prefetch(0, layout.entry_size());
                return Ok(());
            }
        }
        self.grow(count)
    }

    #[cold]
    fn grow(&mut self, count: u64) -> Result<(), StoreError> {
        let SharedQueue { dir, file_size, .. } = &*self.shared;
        let from = self.shared.end_bytes();
        let to = from + count * self.shared.layout.entry_bytes();
        let mut base = from - from % file_size;
        while base < to {
            let end = to.min(base + file_size) - base;
            if let Some(file) = self.files.iter_mut().find(|file| file.base == base) {
                file.allocated = extend_file(dir, base, *file_size, file.allocated, end)?;
            } else {
                let (map, allocated) = create_file(dir, base, *file_size, end)?;
                let map = map.into_writer(0);
                self.shared.has_new_file.store(true, Ordering::Release);
                self.shared.segments.write().push(QueueSegment {
                    base,
                    map: map.reader(),
                });
                self.files.push(QueueTail {
                    base,
                    map,
                    allocated,
                });
            }
            base += file_size;
        }
        Ok(())
    }

    /// Appends an entry to a plain queue with room for it; returns whether the queue became dirty.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: &QueueEntry) -> bool {
        let file = &mut self.files[0];
        encode_entry(&mut file.map.tail()[..ENTRY_SIZE], entry);
        self.publish(ENTRY_SIZE, self.end_offset + 1)
    }

    /// As [`Self::push`], for a batch queue.
    #[inline(never)]
    pub(crate) fn push_batch(&mut self, placed: &Placed) -> bool {
        let layout = self.layout;
        let file = &mut self.files[0];
        layout.encode(&mut file.map.tail()[..layout.entry_size()], placed);
        self.publish(layout.entry_size(), placed.end_offset())
    }

    #[inline(always)]
    fn publish(&mut self, size: usize, end_offset: u64) -> bool {
        let file = &mut self.files[0];
        file.map.publish(size);
        if file.map.remaining() == 0 {
            self.leave_full_file();
        }
        self.end_offset = end_offset;
        self.shared
            .max_offset
            .store(self.end_offset, Ordering::Release);
        self.mark_dirty()
    }

    #[cold]
    fn leave_full_file(&mut self) {
        self.files.remove(0);
    }

    /// Notes that the queue was touched; returns whether it was not yet.
    #[inline]
    pub(crate) fn mark_dirty(&mut self) -> bool {
        if self.shared.is_dirty.load(Ordering::Relaxed) {
            return false;
        }
        self.shared.is_dirty.store(true, Ordering::Relaxed);
        true
    }
}

#[cfg(test)]
mod tests;
