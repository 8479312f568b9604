//! A consume queue as recovery handles it: read from its files, repaired, handed to its writer.
//!
//! A queue ends before its first invalid entry. Bytes behind that end are cleared, or a later
//! writer would meet them again as entries.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    SegmentFile, clear, data_end, list, list_segments, open_segment, remove_dir, remove_file,
    segment_name, sync_dir,
};
use crate::message::QueueEntry;
use crate::queue::{
    ENTRY_SIZE, FILLER, QueueTail, QueueWriter, create_file, decode_entry, encode_entry,
    extend_file,
};
use crate::sys::ExclusiveMap;

const ENTRY_BYTES: u64 = ENTRY_SIZE as u64;

/// Disk pages: a written entry brings its whole page with it.
const PAGE_SIZE: u64 = 4096;

/// How many of the last files are searched for the end, as in stock's recovery.
const SEARCHED_FILE_COUNT: usize = 3;

/// All files of one queue, owned exclusively.
#[derive(Debug)]
pub(crate) struct StoredQueue {
    dir: PathBuf,
    file_size: u64,
    files: Vec<StoredFile>,
    first_offset: u64,
    end_offset: u64,
    is_incomplete: bool,
    is_cut_short: bool,
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
            first_offset: 0,
            end_offset: 0,
            is_incomplete: false,
            is_cut_short: false,
        }
    }

    /// Reads a queue. Files with a gap between them are removed: the log still has the records.
    pub(crate) fn load(dir: PathBuf, file_size: u64, is_clean: bool) -> Result<Self, StoreError> {
        let mut queue = Self::empty(dir, file_size);
        let Some(files) = usable_files(&queue.dir, file_size)? else {
            remove_dir(&queue.dir)?;
            queue.is_incomplete = true;
            return Ok(queue);
        };
        queue.first_offset = files.first().map_or(0, |first| first.base / ENTRY_BYTES);
        queue.end_offset = queue.first_offset;
        let searched_from = files.len().saturating_sub(SEARCHED_FILE_COUNT);
        for (index, file) in files.iter().enumerate() {
            if queue.end_offset * ENTRY_BYTES < file.base {
                // Behind the end of the queue.
                remove_file(&file.path)?;
                queue.is_cut_short = true;
                continue;
            }
            let (map, end, is_followed) = open_file(file, index < searched_from, is_clean)?;
            queue.is_incomplete |= is_followed && is_clean;
            queue.is_cut_short |= is_followed;
            let allocated = end.next_multiple_of(PAGE_SIZE).min(file_size);
            queue.end_offset = (file.base + end) / ENTRY_BYTES;
            queue.files.push(StoredFile {
                base: file.base,
                map,
                allocated,
            });
        }
        Ok(queue)
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
        self.first_offset
    }

    pub(crate) fn end_offset(&self) -> u64 {
        self.end_offset
    }

    pub(crate) fn entry(&self, offset: u64) -> Option<QueueEntry> {
        let at = offset
            .checked_mul(ENTRY_BYTES)
            .filter(|_| offset < self.end_offset)?;
        let file = &self.files[self.file_index(at)?];
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let local = (at - file.base) as usize;
        decode_entry(file.map.bytes().get(local..local + ENTRY_SIZE)?)
    }

    pub(crate) fn last_entry(&self) -> Option<QueueEntry> {
        self.entry(self.end_offset.checked_sub(1)?)
    }

    fn file_index(&self, at: u64) -> Option<usize> {
        let distance = at.checked_sub(self.files.first()?.base)?;
        let index = usize::try_from(distance / self.file_size).ok()?;
        (index < self.files.len()).then_some(index)
    }

    /// Appends an entry.
    pub(crate) fn push(&mut self, entry: &QueueEntry) -> Result<(), StoreError> {
        let at = self.end_offset * ENTRY_BYTES;
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
        let local = local as usize;
        encode_entry(&mut file.map.bytes_mut()[local..local + ENTRY_SIZE], entry);
        self.end_offset += 1;
        Ok(())
    }

    /// Appends fillers until the queue ends at `offset`.
    pub(crate) fn fill_to(&mut self, offset: u64) -> Result<(), StoreError> {
        while self.end_offset < offset {
            self.push(&FILLER)?;
        }
        Ok(())
    }

    /// Removes everything and starts again with `offset` as the next one.
    ///
    /// As in stock the first file is the one that `offset` falls into, with fillers before it.
    pub(crate) fn restart_at(&mut self, offset: u64) -> Result<(), StoreError> {
        self.files.clear();
        remove_dir(&self.dir)?;
        let file_count = self.file_size / ENTRY_BYTES;
        self.first_offset = offset - offset % file_count;
        self.end_offset = self.first_offset;
        self.fill_to(offset)
    }

    /// Cuts the queue at `offset`, clearing the bytes of what is cut.
    pub(crate) fn truncate(&mut self, offset: u64) -> Result<(), StoreError> {
        let at = offset * ENTRY_BYTES;
        while let Some(last) = self.files.pop_if(|last| last.base > at) {
            remove_file(&self.dir.join(segment_name(last.base)))?;
        }
        if let Some(file) = self.files.last_mut() {
            #[allow(clippy::cast_possible_truncation)] // within one mapped file
            let local = (at - file.base) as usize;
            let end = usize::try_from(self.end_offset * ENTRY_BYTES - file.base);
            let bytes = file.map.bytes_mut();
            let end = end.unwrap_or(bytes.len()).min(bytes.len());
            bytes[local.min(end)..end].fill(0);
        }
        self.end_offset = offset;
        Ok(())
    }

    /// Drops the last entries that point at or behind `log_position`, yet none before the offset
    /// `kept`; returns how many.
    pub(crate) fn cut_behind(&mut self, log_position: u64, kept: u64) -> Result<u64, StoreError> {
        let (kept, end) = (kept.max(self.first_offset), self.end_offset);
        let is_behind = |offset| {
            let entry = self.entry(offset);
            entry.is_none_or(|entry| entry.log_position >= log_position)
        };
        let mut to = end;
        while to > kept && is_behind(to - 1) {
            to -= 1;
        }
        if to < end {
            self.truncate(to)?;
        }
        Ok(end - to)
    }

    /// Makes the end of the queue durable: only its last file can have been cut.
    pub(crate) fn flush_end(&self) -> Result<(), StoreError> {
        let Some(last) = self.files.last() else {
            return Ok(());
        };
        let (from, to) = (0, last.map.bytes().len());
        let path = self.dir.join(segment_name(last.base));
        step(Step::SyncRange { from, to }, &path, || {
            last.map.flush(from, to)
        })
        .map_err(|error| StoreError::io(path, error))?;
        sync_dir(&self.dir)
    }

    /// Hands the files to the queue's writer.
    pub(crate) fn into_writer(self) -> QueueWriter {
        let end = self.end_offset * ENTRY_BYTES;
        let files = self.files.into_iter().map(|file| {
            #[allow(clippy::cast_possible_truncation)] // within one mapped file
            let position = (end - file.base).min(self.file_size) as usize;
            QueueTail {
                base: file.base,
                map: file.map.into_writer(position),
                allocated: file.allocated,
            }
        });
        let files = files.collect();
        QueueWriter::new(self.dir, self.file_size, files)
    }
}

/// The files of a queue in order; `None` when one is missing between others.
fn usable_files(dir: &Path, file_size: u64) -> Result<Option<Vec<SegmentFile>>, StoreError> {
    let mut files = list_segments(dir)?;
    if let Some(last) = files.pop_if(|last| last.size == 0) {
        remove_file(&last.path)?;
    }
    if let Some(last) = files.last_mut().filter(|last| last.size < file_size) {
        // Torn while it was created; what is missing reads as zeros.
        let file = open_segment(&last.path)?;
        let grown = step(Step::Resize, &last.path, || file.set_len(file_size));
        grown.map_err(|error| StoreError::io(&last.path, error))?;
        last.size = file_size;
    }
    if let Some(odd) = files.iter().find(|file| file.size != file_size) {
        let reason = format!("{} bytes instead of {file_size}", odd.size);
        return Err(StoreError::UnexpectedFile {
            path: odd.path.clone(),
            reason,
        });
    }
    let is_contiguous = files
        .windows(2)
        .all(|pair| pair[1].base == pair[0].base + file_size);
    let is_aligned = files
        .first()
        .is_none_or(|first| first.base % file_size == 0);
    Ok((is_contiguous && is_aligned).then_some(files))
}

/// Whether entries end before bytes that are neither an entry nor the zeros behind the last one,
/// which only a crash leaves, and recovery then clears.
fn ends_in_damage(bytes: &[u8], end: usize) -> bool {
    let next = bytes.get(end..).and_then(<[u8]>::first_chunk::<ENTRY_SIZE>);
    next.is_some_and(|next| *next != [0; ENTRY_SIZE])
}

/// Maps a file and finds the byte at which its entries end, and whether anything followed them.
fn open_file(
    file: &SegmentFile,
    is_full: bool,
    is_clean: bool,
) -> Result<(ExclusiveMap, u64, bool), StoreError> {
    let named = |error| StoreError::io(&file.path, error);
    let handle = open_segment(&file.path)?;
    let mut map = ExclusiveMap::new(&handle).map_err(named)?;
    map.advise_random().map_err(named)?;
    if is_full {
        return Ok((map, file.size, false));
    }
    let entries = map.bytes().chunks_exact(ENTRY_SIZE);
    let end = entries
        .take_while(|entry| decode_entry(entry).is_some())
        .count()
        * ENTRY_SIZE;
    if is_clean {
        let is_followed = ends_in_damage(map.bytes(), end);
        return Ok((map, end as u64, is_followed));
    }
    let stale = data_end(&handle, end as u64, file.size).map_err(named)?;
    #[allow(clippy::cast_possible_truncation)] // within one mapped file
    let cleared = clear(&mut map.bytes_mut()[end..stale as usize]);
    Ok((map, end as u64, cleared > 0))
}
