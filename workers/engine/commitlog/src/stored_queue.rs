//! A consume queue as recovery handles it: read from its files, repaired, handed to its writer.
//!
//! A queue ends before its first invalid entry. Bytes behind that end are cleared, or a later
//! writer would meet them again as entries.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{list, remove_dir, remove_file, segment_name, sync_dir};
use crate::message::QueueEntry;
use crate::queue::file::{create_file, extend_file};
use crate::queue::{QueueTail, QueueWriter};
use crate::queue_layout::{ENTRY_BYTES, ENTRY_SIZE, FILLER, decode_entry, encode_entry, is_filler};
use crate::sys::ExclusiveMap;

mod cutting;
mod finding;
mod loading;

pub(crate) use finding::QueueFiles;
pub(crate) use loading::last_expired;
use loading::{is_blank, open_file};

/// Disk pages: a written entry brings its whole page with it.
const PAGE_SIZE: u64 = 4096;

/// How many of the last files are searched for the end, as in stock's recovery.
const SEARCHED_FILE_COUNT: usize = 3;

/// No level delays a message for longer; what a queue says beyond that is no time.
const DELAY_MS_MAX: i64 = 3660 * 24 * 3_600_000;

/// All files of one queue, owned exclusively.
#[derive(Debug)]
pub(crate) struct StoredQueue {
    dir: PathBuf,
    file_size: u64,
    files: Vec<StoredFile>,
    /// Offsets of the first entry and of the next one.
    first: u64,
    end: u64,
    is_incomplete: bool,
    is_cut_short: bool,
    is_changed: bool,
}

#[derive(Debug)]
struct StoredFile {
    base: u64,
    map: ExclusiveMap,
    allocated: u64,
}

/// Topic and queue id of every queue directory; other names are left alone.
pub(crate) fn list_queues(dir: &Path) -> Result<Vec<(String, i32)>, StoreError> {
    let mut queues = Vec::new();
    for topic_dir in list(dir)?.into_iter().filter(|path| path.is_dir()) {
        let Some(topic) = name_of(&topic_dir) else {
            continue;
        };
        for queue_dir in list(&topic_dir)?.into_iter().filter(|path| path.is_dir()) {
            if let Some(Ok(queue_id)) = name_of(&queue_dir).map(|name| name.parse()) {
                queues.push((topic.clone(), queue_id));
            }
        }
    }
    queues.sort_unstable();
    Ok(queues)
}

fn name_of(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_str()?.to_owned())
}

impl StoredQueue {
    /// A queue without files.
    pub(crate) fn empty(dir: PathBuf, file_size: u64) -> Self {
        Self {
            dir,
            file_size,
            files: Vec::new(),
            first: 0,
            end: 0,
            is_incomplete: false,
            is_cut_short: false,
            is_changed: false,
        }
    }

    /// Reads a queue. One whose files have a gap between them counts as empty: the log still has the
    /// records.
    pub(crate) fn load(found: QueueFiles, is_clean: bool) -> Result<Self, StoreError> {
        let file_size = found.file_size;
        let (dir, files) = found.complete()?;
        let mut queue = Self::empty(dir, file_size);
        let Some(files) = files else {
            queue.is_incomplete = true;
            return Ok(queue);
        };
        queue.first = files.first().map_or(0, |first| first.base / ENTRY_BYTES);
        queue.end = queue.first;
        let searched_from = files.len().saturating_sub(SEARCHED_FILE_COUNT);
        for (index, file) in files.iter().enumerate() {
            if queue.end * ENTRY_BYTES < file.base {
                // Behind the end of the queue; perhaps made for entries that found no room in the log.
                queue.is_cut_short |= !is_blank(file)?;
                remove_file(&file.path)?;
                continue;
            }
            let is_full = index < searched_from;
            let (map, end, is_followed) = open_file(file, is_full, is_clean)?;
            queue.is_incomplete |= is_followed && is_clean;
            queue.is_cut_short |= is_followed;
            let allocated = end.next_multiple_of(PAGE_SIZE).min(file_size);
            queue.end = (file.base + end) / ENTRY_BYTES;
            queue.files.push(StoredFile {
                base: file.base,
                map,
                allocated,
            });
        }
        queue.is_changed = queue.is_cut_short && !is_clean;
        Ok(queue)
    }

    /// Whether anything was written, cleared or removed that may not be on the disk yet.
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Whether files were missing between others, or an entry is damaged, so that all of it must
    /// be rebuilt.
    pub(crate) fn is_incomplete(&self) -> bool {
        self.is_incomplete
    }

    /// Whether bytes other than zeros followed the end, which are gone now: entries that a crash
    /// tore, or those behind a damaged one.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    pub(crate) fn first_offset(&self) -> u64 {
        self.first
    }

    pub(crate) fn end_offset(&self) -> u64 {
        self.end
    }

    fn entry(&self, offset: u64) -> Option<QueueEntry> {
        decode_entry(self.bytes_of(offset)?)
    }

    fn bytes_of(&self, offset: u64) -> Option<&[u8]> {
        let at = offset
            .checked_mul(ENTRY_BYTES)
            .filter(|_| offset < self.end)?;
        let file = &self.files[self.file_index(at)?];
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let local = (at - file.base) as usize;
        file.map.bytes().get(local..local + ENTRY_SIZE)
    }

    /// Whether an offset has this very entry.
    pub(crate) fn holds(&self, offset: u64, entry: &QueueEntry) -> bool {
        self.bytes_of(offset) == Some(&encode_entry(entry))
    }

    /// The time of delivery in the entry of a message that was delayed at `store_timestamp_ms`, if
    /// that time can be right.
    ///
    /// It comes from the levels that there were when the message was stored, which nothing else
    /// shows.
    pub(crate) fn stored_time(
        &self,
        offset: u64,
        entry: &QueueEntry,
        store_timestamp_ms: i64,
    ) -> Option<i64> {
        let held = self.entry(offset).filter(|_| offset >= self.first)?;
        let is_it = held.log_position == entry.log_position && held.size == entry.size;
        let delay_ms = held.tags_code.saturating_sub(store_timestamp_ms);
        (is_it && (1..=DELAY_MS_MAX).contains(&delay_ms)).then_some(held.tags_code)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// The last entry that stands for a record.
    pub(crate) fn last_entry(&self) -> Option<QueueEntry> {
        (self.first..self.end).rev().find_map(|offset| {
            let entry = self.entry(offset)?;
            (!is_filler(&entry)).then_some(entry)
        })
    }

    fn file_index(&self, at: u64) -> Option<usize> {
        let distance = at.checked_sub(self.files.first()?.base)?;
        let index = usize::try_from(distance / self.file_size).ok()?;
        (index < self.files.len()).then_some(index)
    }

    /// Appends the entry of the next offset.
    pub(crate) fn push(&mut self, entry: &QueueEntry) -> Result<(), StoreError> {
        let at = self.end * ENTRY_BYTES;
        let base = at - at % self.file_size;
        let local = at - base;
        let end = local + ENTRY_BYTES;
        let index = self.file_index(at).unwrap_or(self.files.len());
        if index == self.files.len() {
            let (map, allocated) = create_file(&self.dir, base, self.file_size, end)?;
            self.files.push(StoredFile {
                base,
                map,
                allocated,
            });
        }
        let file = &mut self.files[index];
        file.allocated = extend_file(&self.dir, base, self.file_size, file.allocated, end)?;
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let (local, end) = (local as usize, end as usize);
        file.map.bytes_mut()[local..end].copy_from_slice(&encode_entry(entry));
        self.end += 1;
        self.is_changed = true;
        Ok(())
    }

    /// Appends the entry of the next offset of a queue that has entries, where its last file has disk
    /// blocks for it; `false`, and nothing is changed, otherwise.
    #[inline(always)]
    pub(crate) fn push_within(&mut self, offset: u64, entry: &QueueEntry) -> bool {
        let is_next = offset == self.end && self.first < self.end;
        let Some(file) = self.files.last_mut().filter(|_| is_next) else {
            return false;
        };
        let end = (offset + 1) * ENTRY_BYTES - file.base;
        if end > file.allocated {
            return false;
        }
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let end = end as usize;
        file.map.bytes_mut()[end - ENTRY_SIZE..end].copy_from_slice(&encode_entry(entry));
        self.end += 1;
        self.is_changed = true;
        true
    }

    /// Whether the last file has this very entry at its offset.
    #[inline]
    pub(crate) fn has_within(&self, offset: u64, entry: &QueueEntry) -> bool {
        let is_there = (self.first..self.end).contains(&offset);
        let Some(file) = self.files.last().filter(|_| is_there) else {
            return false;
        };
        let at = (offset * ENTRY_BYTES).checked_sub(file.base);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let found = at.and_then(|at| file.map.bytes().get(at..)?.first_chunk());
        found == Some(&encode_entry(entry))
    }

    /// Appends fillers until the queue ends at `offset`.
    pub(crate) fn fill_to(&mut self, offset: u64) -> Result<(), StoreError> {
        while self.end < offset {
            self.push(&FILLER)?;
        }
        Ok(())
    }

    /// Makes the file of the next entry where the queue has no file: an empty file shows where the
    /// queue goes on.
    pub(crate) fn begin_file(&mut self) -> Result<(), StoreError> {
        if self.files.is_empty() && self.end > 0 {
            let base = self.end * ENTRY_BYTES;
            let (map, allocated) = create_file(&self.dir, base, self.file_size, ENTRY_BYTES)?;
            self.files.push(StoredFile {
                base,
                map,
                allocated,
            });
        }
        Ok(())
    }

    /// Removes everything and starts again with `offset` as the next one.
    ///
    /// As in stock the first file is the one that `offset` falls into, with fillers before it.
    pub(crate) fn restart_at(&mut self, offset: u64) -> Result<(), StoreError> {
        self.files.clear();
        remove_dir(&self.dir)?;
        self.is_changed = true;
        let file_count = self.file_size / ENTRY_BYTES;
        self.first = offset - offset % file_count;
        self.end = self.first;
        self.fill_to(offset)
    }

    /// Makes the end of the queue durable: only its last file can have been cut.
    pub(crate) fn flush_end(&self) -> Result<(), StoreError> {
        let Some(last) = self.files.last() else {
            return Ok(());
        };
        self.flush_file(last)?;
        sync_dir(&self.dir)
    }

    /// Makes all of the queue durable in its directory, which is there.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        self.files
            .iter()
            .try_for_each(|file| self.flush_file(file))?;
        sync_dir(&self.dir)
    }

    fn flush_file(&self, file: &StoredFile) -> Result<(), StoreError> {
        let (from, to) = (0, file.map.bytes().len());
        let path = self.dir.join(segment_name(file.base));
        step(Step::SyncRange { from, to }, &path, || {
            file.map.flush(from, to)
        })
        .map_err(|error| StoreError::io(path, error))
    }

    /// Notes that its directory has another name now.
    pub(crate) fn moved_to(self, dir: PathBuf) -> Self {
        Self { dir, ..self }
    }

    /// Hands the files to the queue's writer.
    pub(crate) fn into_writer(self) -> QueueWriter {
        let end = self.end * ENTRY_BYTES;
        let files = self.files.into_iter().map(|file| {
            #[allow(clippy::cast_possible_truncation)] // within one mapped file
            let position = (end - file.base).min(self.file_size) as usize;
            QueueTail::new(file.base, file.map.into_writer(position), file.allocated)
        });
        let files = files.collect();
        QueueWriter::new(self.dir, self.file_size, files)
    }
}
