//! One consume queue: entries that point into the log (storage-and-ha.md 3.1).

use std::path::{Path, PathBuf};

use regent_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use regent_sync::{Mutex, RwLock};

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{remove_file, segment_name};
use crate::message::QueueEntry;
use crate::queue_layout::{ENTRY_BYTES, ENTRY_SIZE, decode_entry, is_filler};
use crate::sys::MapReader;

pub(crate) mod ahead;
pub(crate) mod file;
mod front;
mod writer;

pub(crate) use writer::{QueueTail, QueueWriter};

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
    file_size: u64,
    segments: RwLock<Vec<QueueSegment>>,
    min_offset: AtomicU64,
    max_offset: AtomicU64,
    flushed_bytes: AtomicU64,
    /// Whether the queue is on the list of touched queues; changed under the append lock only.
    is_dirty: AtomicBool,
    /// Whether a file was created whose directory entry may not be durable yet.
    has_new_file: AtomicBool,
    /// Whether the directory may be another queue's by now; held while a file is removed.
    has_left_dir: Mutex<bool>,
}

impl SharedQueue {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
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
        let file_count = self.file_size / ENTRY_BYTES;
        offset - offset % file_count + file_count
    }

    /// The file that holds an entry and the byte at which the entry starts.
    pub(crate) fn segment_at(&self, offset: u64) -> Option<(QueueSegment, usize)> {
        let at = offset.checked_mul(ENTRY_BYTES)?;
        let segments = self.segments.read();
        let distance = at.checked_sub(segments.first()?.base)?;
        let segment = segments.get(usize::try_from(distance / self.file_size).ok()?)?;
        let local = usize::try_from(distance % self.file_size).ok()?;
        Some((segment.clone(), local))
    }

    /// The entry of an offset.
    pub(crate) fn entry(&self, offset: u64) -> Option<QueueEntry> {
        let (segment, at) = self.segment_at(offset)?;
        decode_entry(segment.map.bytes().get(at..at + ENTRY_SIZE)?)
    }

    /// Offset of the first entry that the files hold.
    pub(crate) fn first_offset(&self) -> u64 {
        let segments = self.segments.read();
        segments.first().map_or(0, |first| first.base) / ENTRY_BYTES
    }

    /// Offset of the next entry.
    pub(crate) fn end_offset(&self) -> u64 {
        self.end_bytes() / ENTRY_BYTES
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

    /// Topic and id, which the directory is named after.
    pub(crate) fn place(&self) -> Option<(&str, i32)> {
        let queue_id = self.dir.file_name()?.to_str()?.parse().ok()?;
        let topic = self.dir.parent()?.file_name()?.to_str()?;
        Some((topic, queue_id))
    }

    /// Takes the queue off the list of touched ones; the append lock is held.
    pub(crate) fn clear_dirty(&self) {
        self.is_dirty.store(false, Ordering::Relaxed);
    }

    /// Notes that the queue was touched; returns whether it was not yet. The append lock is held.
    #[inline]
    pub(crate) fn mark_dirty(&self) -> bool {
        if self.is_dirty.load(Ordering::Relaxed) {
            return false;
        }
        self.is_dirty.store(true, Ordering::Relaxed);
        true
    }

    /// Whether a file was created since the last call.
    pub(crate) fn take_new_file(&self) -> bool {
        self.has_new_file.swap(false, Ordering::AcqRel)
    }

    /// Has the next flush sync the directory again.
    pub(crate) fn note_new_file(&self) {
        self.has_new_file.store(true, Ordering::Release);
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
            let Some((segment, at)) = self.segment_at(from / ENTRY_BYTES) else {
                // Nothing lies before the first file of a queue with a late start.
                from = self.next_file_begin(from);
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

    /// Where the next file begins behind the one, there or not, that would hold this byte.
    fn next_file_begin(&self, from: u64) -> u64 {
        let next = from - from % self.file_size + self.file_size;
        let segments = self.segments.read();
        segments.first().map_or(next, |first| first.base.max(next))
    }

    /// Place of the byte behind the last file.
    fn files_end(&self) -> u64 {
        let segments = self.segments.read();
        segments.last().map_or(0, |last| last.base + self.file_size)
    }

    /// Removes the files whose entries all stand for records before `log_position`. The last file
    /// with an entry always stays: it shows where the queue ends (storage-and-ha.md 11.2, trap 24).
    pub(crate) fn remove_expired(&self, log_position: u64) -> Result<usize, StoreError> {
        let mut count = 0;
        loop {
            let oldest = match &self.segments.read()[..] {
                [oldest, next, ..] if !next.map.bytes().is_empty() => oldest.clone(),
                _ => break,
            };
            let bytes = oldest.map.bytes();
            let entries = bytes.chunks_exact(ENTRY_SIZE);
            let last = entries
                .map(decode_entry)
                .rfind(|entry| !entry.as_ref().is_some_and(is_filler));
            let is_full = bytes.len() as u64 == self.file_size;
            // A file of fillers alone holds nothing.
            let is_gone =
                last.is_none_or(|last| last.is_some_and(|entry| entry.log_position < log_position));
            let has_left_dir = self.has_left_dir.lock();
            if !is_full || !is_gone || *has_left_dir {
                break;
            }
            remove_file(&self.dir.join(segment_name(oldest.base)))?;
            self.segments.write().remove(0);
            count += 1;
        }
        Ok(count)
    }

    /// Leaves the directory to the next queue with the same topic and id: from now on no file there
    /// is removed through this queue.
    pub(crate) fn leave_dir(&self) {
        *self.has_left_dir.lock() = true;
    }

    /// As [`Self::leave_dir`], if what gives the directory to another queue does not fail.
    pub(crate) fn leave_dir_by(
        &self,
        give: impl FnOnce() -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let mut has_left_dir = self.has_left_dir.lock();
        give()?;
        *has_left_dir = true;
        Ok(())
    }

    /// Raises the first readable offset to the first entry at or behind `log_position`.
    pub(crate) fn correct_min_offset(&self, log_position: u64) {
        let end = self.end_offset();
        let mut first = self.first_offset().max(self.min_offset());
        // Mostly nothing has expired since; halving would then bring in a page at each step.
        let mut high = match self.record_entry(first, end) {
            Some((_, entry)) if entry.log_position >= log_position => first,
            _ => end,
        };
        while first < high {
            let middle = first + (high - first) / 2;
            match self.record_entry(middle, high) {
                Some((offset, entry)) if entry.log_position < log_position => first = offset + 1,
                _ => high = middle,
            }
        }
        let first = self.record_entry(first, end).map_or(end, |found| found.0);
        self.min_offset.store(first, Ordering::Release);
    }

    /// Lowers the first readable offset: records from there on are in the log again.
    pub(crate) fn lower_min_offset(&self, offset: u64) {
        self.min_offset.fetch_min(offset, Ordering::AcqRel);
    }

    /// The first entry of a range that stands for a record, and its offset. Fillers may be anywhere
    /// and say nothing of the entries around them.
    pub(crate) fn record_entry(&self, from: u64, to: u64) -> Option<(u64, QueueEntry)> {
        let segments = self.segments.read();
        let begun = segments.partition_point(|segment| segment.base <= from * ENTRY_BYTES);
        segments[begun.saturating_sub(1)..]
            .iter()
            .find_map(|segment| {
                let base = segment.base / ENTRY_BYTES;
                let skipped = usize::try_from(from.saturating_sub(base)).ok()?;
                let entries = segment.map.bytes().chunks_exact(ENTRY_SIZE);
                (from.max(base)..to)
                    .zip(entries.skip(skipped))
                    .find_map(|(offset, bytes)| {
                        let entry = decode_entry(bytes).filter(|entry| !is_filler(entry));
                        entry.map(|entry| (offset, entry))
                    })
            })
    }

    /// The last entry of a range that stands for a record, and its offset.
    pub(crate) fn last_record_entry(&self, from: u64, to: u64) -> Option<(u64, QueueEntry)> {
        (from..to).rev().find_map(|offset| {
            let entry = self.entry(offset)?;
            (!is_filler(&entry)).then_some((offset, entry))
        })
    }
}

#[cfg(test)]
mod tests;
