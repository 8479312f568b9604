//! One consume queue: 20-byte entries that point into the log (storage-and-ha.md 3.1).
//!
//! ```text
//! 0 log position i64 | 8 record size i32 | 12 tagsCode i64
//! ```

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::cursor::{Reader, Writer};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    create_dir, create_segment, open_segment, preallocate, remove_file, segment_name,
};
use crate::message::QueueEntry;
use crate::record::RECORD_SIZE_MIN;
use crate::sys::{ExclusiveMap, MapReader, MapWriter};

/// Size of one entry.
pub(crate) const ENTRY_SIZE: usize = 20;
const ENTRY_BYTES: u64 = ENTRY_SIZE as u64;

/// Disk blocks are given to a queue file in slices, or 10 000 idle queues would hold 60 GB.
const SLICE_SIZE_BYTES: u64 = 64 << 10;

/// Stands before the first real entry of a queue that does not begin at offset 0.
pub(crate) const FILLER: QueueEntry = QueueEntry {
    log_position: 0,
    size: i32::MAX as u32,
    tags_code: 0,
};

pub(crate) fn is_filler(entry: &QueueEntry) -> bool {
    *entry == FILLER
}

/// Reads an entry; `None` for bytes that are not a valid one.
pub(crate) fn decode_entry(bytes: &[u8]) -> Option<QueueEntry> {
    let mut input = Reader::new(bytes);
    let log_position = u64::try_from(input.i64()?).ok()?;
    let size = u32::try_from(input.i32()?).ok().filter(|size| *size > 0)?;
    let tags_code = input.i64()?;
    Some(QueueEntry {
        log_position,
        size,
        tags_code,
    })
}

pub(crate) fn encode_entry(bytes: &mut [u8], entry: &QueueEntry) {
    let mut out = Writer::new(bytes);
    out.put_u64(entry.log_position);
    out.put_u32(entry.size);
    out.put_i64(entry.tags_code);
}

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
}

impl SharedQueue {
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn min_offset(&self) -> u64 {
        self.min_offset.load(Ordering::Acquire)
    }

    pub(crate) fn max_offset(&self) -> u64 {
        self.max_offset.load(Ordering::Acquire)
    }

    /// First offset of the oldest file, whether its records are still there or not.
    pub(crate) fn first_offset(&self) -> u64 {
        let segments = self.segments.read();
        segments.first().map_or(0, |first| first.base / ENTRY_BYTES)
    }

    /// First offset of the file after the one that holds `offset`.
    pub(crate) fn next_file_offset(&self, offset: u64) -> u64 {
        let file_count = self.file_size / ENTRY_BYTES;
        offset - offset % file_count + file_count
    }

    /// The file that holds `offset` and the byte at which its entry starts.
    pub(crate) fn segment_at(&self, offset: u64) -> Option<(QueueSegment, usize)> {
        let at = offset.checked_mul(ENTRY_BYTES)?;
        let segments = self.segments.read();
        let distance = at.checked_sub(segments.first()?.base)?;
        let segment = segments.get(usize::try_from(distance / self.file_size).ok()?)?;
        let local = usize::try_from(distance % self.file_size).ok()?;
        Some((segment.clone(), local))
    }

    pub(crate) fn entry(&self, offset: u64) -> Option<QueueEntry> {
        let (segment, at) = self.segment_at(offset)?;
        decode_entry(segment.map.bytes().get(at..at + ENTRY_SIZE)?)
    }

    /// Takes the queue off the list of touched ones; the append lock is held.
    pub(crate) fn clear_dirty(&self) {
        self.is_dirty.store(false, Ordering::Relaxed);
    }

    /// Whether a file was created since the last call.
    pub(crate) fn take_new_file(&self) -> bool {
        self.has_new_file.swap(false, Ordering::AcqRel)
    }

    /// Declares entries before `offset` durable.
    pub(crate) fn assume_flushed(&self, offset: u64) {
        self.flushed_bytes
            .store(offset * ENTRY_BYTES, Ordering::Release);
    }

    /// Flushes entries written so far.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        let to = self.max_offset() * ENTRY_BYTES;
        let mut from = self.flushed_bytes.load(Ordering::Acquire);
        while from < to {
            let Some((segment, at)) = self.segment_at(from / ENTRY_BYTES) else {
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
        self.flushed_bytes.store(to, Ordering::Release);
        Ok(())
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
            let last = bytes.chunks_exact(ENTRY_SIZE).next_back();
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
        let (mut low, mut high) = (self.first_offset(), self.max_offset());
        while low < high {
            let middle = low + (high - low) / 2;
            let gone = |entry: &QueueEntry| is_filler(entry) || entry.log_position < log_position;
            if self.entry(middle).is_none_or(|entry| gone(&entry)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.min_offset.store(low, Ordering::Release);
    }
}

/// The end of a queue; guarded by the append lock.
#[derive(Debug)]
pub(crate) struct QueueWriter {
    shared: Arc<SharedQueue>,
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
    pub(crate) fn new(dir: PathBuf, file_size: u64, files: Vec<QueueTail>) -> Self {
        let end = files
            .last()
            .map_or(0, |last| last.base + last.map.position() as u64);
        let segments = files.iter().map(|file| {
            let map = file.map.reader();
            QueueSegment {
                base: file.base,
                map,
            }
        });
        let shared = Arc::new(SharedQueue {
            dir,
            file_size,
            segments: RwLock::new(segments.collect()),
            min_offset: AtomicU64::new(0),
            max_offset: AtomicU64::new(end / ENTRY_BYTES),
            flushed_bytes: AtomicU64::new(0),
            is_dirty: AtomicBool::new(false),
            has_new_file: AtomicBool::new(true),
        });
        let files = files
            .into_iter()
            .filter(|file| file.map.remaining() > 0)
            .collect();
        Self {
            shared,
            files,
            end_offset: end / ENTRY_BYTES,
        }
    }

    pub(crate) fn shared(&self) -> &Arc<SharedQueue> {
        &self.shared
    }

    pub(crate) fn end_offset(&self) -> u64 {
        self.end_offset
    }

    /// Makes room for `count` entries, so that pushing them cannot fail.
    #[inline]
    pub(crate) fn reserve(&mut self, count: u64) -> Result<(), StoreError> {
        if let Some(file) = self.files.first() {
            let position = file.map.position() as u64;
            if position + count * ENTRY_BYTES <= file.allocated {
                // Among many queues, none of it is in a cache; until the push it comes.
                file.map.prefetch(0, ENTRY_SIZE);
                return Ok(());
            }
        }
        self.grow(count)
    }

    #[cold]
    fn grow(&mut self, count: u64) -> Result<(), StoreError> {
        let SharedQueue { dir, file_size, .. } = &*self.shared;
        let from = self.end_offset * ENTRY_BYTES;
        let to = from + count * ENTRY_BYTES;
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

    /// Appends fillers up to `offset`, the next record's, which lies at `log_position`.
    ///
    /// No checksum covers a record's offset. A wrong one must not make the queue fill the disk, so
    /// the log has to have had room for the records that are missing. Returns whether the queue
    /// became dirty.
    pub(crate) fn fill_to(&mut self, offset: u64, log_position: u64) -> Result<bool, StoreError> {
        let last = self.shared.entry(self.end_offset.saturating_sub(1));
        let since = last.map_or(0, |last| last.log_position);
        let missing = offset - self.end_offset;
        if missing > log_position.saturating_sub(since) / RECORD_SIZE_MIN as u64 {
            let reason = format!("queue offset {offset} cannot be the next one there");
            return Err(StoreError::Corrupt {
                position: log_position,
                reason,
            });
        }
        let mut became_dirty = false;
        for _ in 0..missing {
            self.reserve(1)?;
            became_dirty |= self.push(&FILLER);
        }
        Ok(became_dirty)
    }

    /// Appends an entry for which room was reserved; returns whether the queue became dirty.
    #[inline]
    pub(crate) fn push(&mut self, entry: &QueueEntry) -> bool {
        let file = &mut self.files[0];
        encode_entry(&mut file.map.tail()[..ENTRY_SIZE], entry);
        file.map.publish(ENTRY_SIZE);
        if file.map.remaining() == 0 {
            self.files.remove(0);
        }
        self.end_offset += 1;
        self.shared
            .max_offset
            .store(self.end_offset, Ordering::Release);
        self.mark_dirty()
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

/// Creates the file at `base`, with disk blocks up to `end`; returns how far they reach.
pub(crate) fn create_file(
    dir: &Path,
    base: u64,
    file_size: u64,
    end: u64,
) -> Result<(ExclusiveMap, u64), StoreError> {
    create_dir(dir)?;
    let path = dir.join(segment_name(base));
    let allocated = slice_end(end, file_size);
    let file = create_segment(&path, file_size, allocated)?;
    match ExclusiveMap::new(&file).and_then(|map| map.advise_random().map(|()| map)) {
        Ok(map) => Ok((map, allocated)),
        Err(error) => {
            // It would be in the way of the next attempt.
            remove_file(&path)?;
            Err(StoreError::io(&path, error))
        }
    }
}

/// Gives the file at `base` disk blocks from `allocated` to `end`; returns how far they reach.
pub(crate) fn extend_file(
    dir: &Path,
    base: u64,
    file_size: u64,
    allocated: u64,
    end: u64,
) -> Result<u64, StoreError> {
    if end <= allocated {
        return Ok(allocated);
    }
    let path = dir.join(segment_name(base));
    let to = slice_end(end, file_size);
    let opened = open_segment(&path)?;
    step(Step::Resize, &path, || preallocate(&opened, allocated, to))
        .map_err(|error| StoreError::io(&path, error))?;
    Ok(to)
}

fn slice_end(end: u64, file_size: u64) -> u64 {
    end.next_multiple_of(SLICE_SIZE_BYTES).min(file_size)
}
