//! A consume queue as recovery handles it: read from its files, repaired, handed to its writer.
//!
//! A queue ends before its first invalid entry. Bytes behind that end are cleared, or a later
//! writer would meet them again as entries.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{list, remove_dir, remove_file, segment_name, sync_dir};
use crate::message::QueueEntry;
use crate::queue::{QueueTail, QueueWriter};
use crate::queue_file::{create_file, extend_file};
use crate::queue_layout::{
    BATCH_ENTRY_SIZE, ENTRY_SIZE, FILLER, Layout, Placed, encode_entry, is_filler, partition_point,
};
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
    layout: Layout,
    file_size: u64,
    files: Vec<StoredFile>,
    /// Numbers of the first entry and of the next one.
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
    pub(crate) fn empty(dir: PathBuf, layout: Layout, file_size: u64) -> Self {
        Self {
            dir,
            layout,
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
        let (layout, file_size) = (found.layout, found.file_size);
        let entry_bytes = layout.entry_bytes();
        let (dir, files) = found.complete()?;
        let mut queue = Self::empty(dir, layout, file_size);
        let Some(files) = files else {
            queue.is_incomplete = true;
            return Ok(queue);
        };
        queue.first = files.first().map_or(0, |first| first.base / entry_bytes);
        queue.end = queue.first;
        let searched_from = files.len().saturating_sub(SEARCHED_FILE_COUNT);
        for (index, file) in files.iter().enumerate() {
            if queue.end * entry_bytes < file.base {
                // Behind the end of the queue; perhaps made for entries that found no room in the log.
                queue.is_cut_short |= !is_blank(file)?;
                remove_file(&file.path)?;
                continue;
            }
            let is_full = index < searched_from;
            let (map, end, is_followed) = open_file(file, layout, is_full, is_clean)?;
            queue.is_incomplete |= is_followed && is_clean;
            queue.is_cut_short |= is_followed;
            let allocated = end.next_multiple_of(PAGE_SIZE).min(file_size);
            queue.end = (file.base + end) / entry_bytes;
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

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Whether bytes other than zeros followed the end, which are gone now: entries that a crash
    /// tore, or those behind a damaged one.
    pub(crate) fn is_cut_short(&self) -> bool {
        self.is_cut_short
    }

    pub(crate) fn first_offset(&self) -> u64 {
        self.offset_at(self.first)
    }

    pub(crate) fn end_offset(&self) -> u64 {
        self.offset_at(self.end)
    }

    /// The queue offset that the entry with a number begins at, or would begin at.
    fn offset_at(&self, number: u64) -> u64 {
        if self.layout == Layout::Plain {
            return number;
        }
        let before = || self.placed(number.checked_sub(1)?);
        match self.placed(number) {
            Some(placed) => placed.offset,
            None => before().map_or(0, |before| before.end_offset()),
        }
    }

    /// Number of the entry that stands for `offset`, or of the first one behind it.
    fn number_of(&self, offset: u64) -> u64 {
        if self.layout == Layout::Plain {
            return offset;
        }
        let is_before = |number| {
            let placed = self.placed(number);
            placed.is_some_and(|placed| placed.end_offset() <= offset)
        };
        partition_point(self.first, self.end, is_before)
    }

    fn placed(&self, number: u64) -> Option<Placed> {
        self.layout.decode(self.bytes_of(number)?, number)
    }

    fn bytes_of(&self, number: u64) -> Option<&[u8]> {
        let at = number
            .checked_mul(self.layout.entry_bytes())
            .filter(|_| number < self.end)?;
        let file = &self.files[self.file_index(at)?];
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let local = (at - file.base) as usize;
        let end = local + self.layout.entry_size();
        file.map.bytes().get(local..end)
    }

    /// Whether this very entry is there.
    pub(crate) fn holds(&self, placed: &Placed) -> bool {
        let mut expected = [0; BATCH_ENTRY_SIZE];
        let expected = &mut expected[..self.layout.entry_size()];
        self.layout.encode(expected, placed);
        self.bytes_of(self.number_of(placed.offset)) == Some(expected)
    }

    /// The time of delivery under which a delayed message is there, if that can be right.
    ///
    /// It is of the levels that there were when the message was stored, which nothing else tells.
    pub(crate) fn stored_time(&self, placed: &Placed) -> Option<i64> {
        let number = self.number_of(placed.offset);
        let held = self.placed(number).filter(|_| number >= self.first)?.entry;
        let is_it =
            held.log_position == placed.entry.log_position && held.size == placed.entry.size;
        let delay_ms = held.tags_code.saturating_sub(placed.store_timestamp_ms);
        (is_it && (1..=DELAY_MS_MAX).contains(&delay_ms)).then_some(held.tags_code)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.first == self.end
    }

    /// The last entry that stands for a record.
    pub(crate) fn last_entry(&self) -> Option<QueueEntry> {
        (self.first..self.end).rev().find_map(|number| {
            let entry = self.placed(number)?.entry;
            (!is_filler(&entry)).then_some(entry)
        })
    }

    fn file_index(&self, at: u64) -> Option<usize> {
        let distance = at.checked_sub(self.files.first()?.base)?;
        let index = usize::try_from(distance / self.file_size).ok()?;
        (index < self.files.len()).then_some(index)
    }

    /// Appends an entry.
    pub(crate) fn push(&mut self, placed: &Placed) -> Result<(), StoreError> {
        let at = self.end * self.layout.entry_bytes();
        let base = at - at % self.file_size;
        let local = at - base;
        let end = local + self.layout.entry_bytes();
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
        self.layout
            .encode(&mut file.map.bytes_mut()[local..end], placed);
        self.end += 1;
        self.is_changed = true;
        Ok(())
    }

    /// Appends the entry of the next offset of a plain queue that has entries, where its last file
    /// has disk blocks for it; `false`, and nothing is changed, otherwise.
    #[inline(always)]
    pub(crate) fn push_within(&mut self, offset: u64, entry: &QueueEntry) -> bool {
        let is_next = self.layout == Layout::Plain && offset == self.end && self.first < self.end;
        let Some(file) = self.files.last_mut().filter(|_| is_next) else {
            return false;
        };
        let end = (offset + 1) * ENTRY_SIZE as u64 - file.base;
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

    /// Whether the last file of a plain queue has this very entry at its offset.
    #[inline]
    pub(crate) fn has_within(&self, offset: u64, entry: &QueueEntry) -> bool {
        let is_there = self.layout == Layout::Plain && (self.first..self.end).contains(&offset);
        let Some(file) = self.files.last().filter(|_| is_there) else {
            return false;
        };
        let at = (offset * ENTRY_SIZE as u64).checked_sub(file.base);
        let at = at.and_then(|at| usize::try_from(at).ok());
        let found = at.and_then(|at| file.map.bytes().get(at..)?.first_chunk());
        found == Some(&encode_entry(entry))
    }

    /// Appends fillers until a plain queue ends at `offset`; a batch queue needs none.
    pub(crate) fn fill_to(&mut self, offset: u64) -> Result<(), StoreError> {
        while self.layout == Layout::Plain && self.end < offset {
            let filler = Placed {
                entry: FILLER,
                offset: self.end,
                count: 1,
                store_timestamp_ms: 0,
            };
            self.push(&filler)?;
        }
        Ok(())
    }

    /// Removes everything and starts again with `offset` as the next one.
    ///
    /// As in stock the first file of a plain queue is the one that `offset` falls into, with fillers
    /// before it; a batch queue starts with its first file.
    pub(crate) fn restart_at(&mut self, offset: u64) -> Result<(), StoreError> {
        self.files.clear();
        remove_dir(&self.dir)?;
        self.is_changed = true;
        let file_count = self.file_size / self.layout.entry_bytes();
        self.first = match self.layout {
            Layout::Plain => offset - offset % file_count,
            Layout::Batch => 0,
        };
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
        let end = self.end * self.layout.entry_bytes();
        let files = self.files.into_iter().map(|file| {
            #[allow(clippy::cast_possible_truncation)] // within one mapped file
            let position = (end - file.base).min(self.file_size) as usize;
            QueueTail::new(file.base, file.map.into_writer(position), file.allocated)
        });
        let files = files.collect();
        QueueWriter::new(self.dir, self.layout, self.file_size, files)
    }
}
