//! One consume queue: its files, read entry by entry, and what the log holds of it.

use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::{SegmentFile, list_segments, open_if_there};
use crate::message::QueueEntry;
use crate::queue_layout::{ENTRY_BYTES, ENTRY_SIZE, FILLER, decode_entry};
use crate::record::RecordView;

/// Entries read at once.
const WINDOW_ENTRIES: u64 = 204;

/// What the log holds of one queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueSurvey {
    /// The topic.
    pub topic: String,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// Records.
    pub record_count: u64,
    /// Bytes of these records.
    pub byte_count: u64,
    /// Lowest offset.
    pub min_offset: u64,
    /// The offset after the highest.
    pub max_offset: u64,
    /// Earliest store time.
    pub first_store_timestamp_ms: i64,
    /// Latest store time.
    pub last_store_timestamp_ms: i64,
}

/// Entries of a queue, by what the log has where they point to.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EntryCount {
    /// Those that point to what the walk could read.
    pub(crate) present: u64,
    /// Those that point to what is damaged or missing.
    pub(crate) lost: u64,
    /// Offset of the first of these.
    pub(crate) first_lost: Option<u64>,
}

/// What a queue has at an offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lookup {
    Entry(QueueEntry),
    Absent,
    /// The file that had it when the queue was first looked at is gone: it has expired, or the
    /// topic was deleted.
    Gone,
}

/// One queue. Files are opened when they are read, since a store may have many thousands.
#[derive(Debug)]
pub(crate) struct QueueFiles {
    dir: PathBuf,
    files: Vec<SegmentFile>,
    window_from: u64,
    window: Vec<u8>,
    /// A broker may write and remove files meanwhile.
    is_in_use: bool,
}

impl QueueFiles {
    pub(crate) fn open(dir: &Path, is_in_use: bool) -> Result<Self, StoreError> {
        Ok(Self {
            dir: dir.to_path_buf(),
            files: list_segments(dir)?,
            window_from: 0,
            window: Vec::new(),
            is_in_use,
        })
    }

    /// The entry at `offset`.
    fn entry(&mut self, offset: u64) -> Result<Lookup, StoreError> {
        match self.seen_entry(offset)? {
            // What was read before may be older than the record that is asked for.
            Lookup::Absent if self.is_in_use => {
                self.window.clear();
                self.files = list_segments(&self.dir)?;
                let was_deleted = self.files.is_empty() && !self.dir.is_dir();
                if was_deleted {
                    return Ok(Lookup::Gone);
                }
                self.seen_entry(offset)
            }
            found => Ok(found),
        }
    }

    /// As [`Self::entry`]; one that is not as expected may have been read when it was half written.
    pub(crate) fn entry_like(
        &mut self,
        offset: u64,
        expected: &QueueEntry,
    ) -> Result<Lookup, StoreError> {
        // One that points farther is of a topic that was deleted and made again.
        let may_be_half =
            |entry: &QueueEntry| entry != expected && entry.log_position <= expected.log_position;
        match self.entry(offset)? {
            Lookup::Entry(entry) if self.is_in_use && may_be_half(&entry) => {
                self.window.clear();
                self.entry(offset)
            }
            found => Ok(found),
        }
    }

    fn seen_entry(&mut self, offset: u64) -> Result<Lookup, StoreError> {
        let window_end = self.window_from + (self.window.len() / ENTRY_SIZE) as u64;
        if !(self.window_from..window_end).contains(&offset) {
            let is_there = self.fill(offset)?;
            if !is_there {
                return Ok(Lookup::Gone);
            }
        }
        let Some(index) = offset.checked_sub(self.window_from) else {
            return Ok(Lookup::Absent);
        };
        #[allow(clippy::cast_possible_truncation)] // inside the window
        let at = index as usize * ENTRY_SIZE;
        let entry = self.window.get(at..at + ENTRY_SIZE);
        let entry = entry.and_then(decode_entry);
        Ok(entry.map_or(Lookup::Absent, Lookup::Entry))
    }

    /// File and byte of the entry at `offset`.
    pub(crate) fn place(&self, offset: u64) -> (PathBuf, u64) {
        let at = offset.saturating_mul(ENTRY_BYTES);
        let begun = self.files.iter().rfind(|file| file.base <= at);
        begun.or(self.files.first()).map_or_else(
            || (self.dir.clone(), 0),
            |file| (file.path.clone(), at.saturating_sub(file.base)),
        )
    }

    /// Counts entries that stand for a record at these log positions, those in gaps of the log
    /// apart.
    pub(crate) fn count_in(
        &mut self,
        positions: &Range<u64>,
        gaps: &[Range<u64>],
    ) -> Result<EntryCount, StoreError> {
        let mut count = EntryCount::default();
        let files = self.files.iter();
        let files: Vec<_> = files.map(|file| (file.base, file.size)).collect();
        for (base, size) in files {
            for offset in base.div_ceil(ENTRY_BYTES)..(base + size) / ENTRY_BYTES {
                let position = match self.seen_entry(offset)? {
                    Lookup::Entry(FILLER) => continue,
                    Lookup::Entry(entry) => entry.log_position,
                    Lookup::Absent => return Ok(count),
                    Lookup::Gone => break,
                };
                if !positions.contains(&position) {
                    continue;
                }
                if gaps.iter().any(|gap| gap.contains(&position)) {
                    count.first_lost.get_or_insert(offset);
                    count.lost += 1;
                } else {
                    count.present += 1;
                }
            }
        }
        Ok(count)
    }

    /// Reads entries from `offset` on; `false` if their file is gone by now.
    fn fill(&mut self, offset: u64) -> Result<bool, StoreError> {
        self.window.clear();
        self.window_from = offset;
        let at = offset.saturating_mul(ENTRY_BYTES);
        let holds = |file: &&SegmentFile| (file.base..file.base + file.size).contains(&at);
        let Some(file) = self.files.iter().find(holds) else {
            return Ok(true);
        };
        let Some(open) = open_if_there(&file.path)? else {
            return Ok(false);
        };
        let size = (WINDOW_ENTRIES * ENTRY_BYTES).min(file.base + file.size - at);
        #[allow(clippy::cast_possible_truncation)] // a few kilobytes
        self.window.resize(size as usize, 0);
        open.read_exact_at(&mut self.window, at - file.base)
            .map_err(|error| StoreError::io(&file.path, error))?;
        Ok(true)
    }
}

impl QueueSurvey {
    pub(super) fn count(&mut self, record: &RecordView<'_>) {
        let is_first = self.record_count == 0;
        self.record_count += 1;
        self.byte_count += record.bytes.len() as u64;
        let (offset, time) = (record.queue_offset, record.store_timestamp_ms);
        if is_first || offset < self.min_offset {
            self.min_offset = offset;
        }
        if is_first || time < self.first_store_timestamp_ms {
            self.first_store_timestamp_ms = time;
        }
        self.max_offset = self.max_offset.max(offset.saturating_add(1));
        self.last_store_timestamp_ms = self.last_store_timestamp_ms.max(time);
    }
}
