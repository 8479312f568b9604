//! One consume queue: its files, read entry by entry, and what the log holds of it.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::{SegmentFile, list_segments};
use crate::message::QueueEntry;
use crate::queue::{ENTRY_SIZE, FILLER, decode_entry};
use crate::record::RecordView;

/// Entries read at once.
const WINDOW_ENTRIES: u64 = 204;
const ENTRY_BYTES: u64 = ENTRY_SIZE as u64;

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

/// One queue. Files are opened when they are read, since a store may have many thousands.
#[derive(Debug)]
pub(crate) struct QueueFiles {
    dir: PathBuf,
    files: Vec<SegmentFile>,
    window_from: u64,
    window: Vec<u8>,
}

impl QueueFiles {
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            dir: dir.to_path_buf(),
            files: list_segments(dir)?,
            window_from: 0,
            window: Vec::new(),
        })
    }

    /// The entry at `offset`; `None` where there is none.
    pub(crate) fn entry(&mut self, offset: u64) -> Result<Option<QueueEntry>, StoreError> {
        let window_end = self.window_from + (self.window.len() / ENTRY_SIZE) as u64;
        if !(self.window_from..window_end).contains(&offset) {
            self.fill(offset)?;
        }
        let Some(index) = offset.checked_sub(self.window_from) else {
            return Ok(None);
        };
        #[allow(clippy::cast_possible_truncation)] // inside the window
        let at = index as usize * ENTRY_SIZE;
        let entry = self.window.get(at..at + ENTRY_SIZE);
        Ok(entry.and_then(decode_entry))
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
        let (Some(first), Some(last)) = (self.files.first(), self.files.last()) else {
            return Ok(EntryCount::default());
        };
        let end = (last.base + last.size) / ENTRY_BYTES;
        let mut count = EntryCount::default();
        for offset in first.base / ENTRY_BYTES..end {
            match self.entry(offset)? {
                Some(entry) => {
                    let position = entry.log_position;
                    if entry == FILLER || !positions.contains(&position) {
                        continue;
                    }
                    if gaps.iter().any(|gap| gap.contains(&position)) {
                        count.first_lost.get_or_insert(offset);
                        count.lost += 1;
                    } else {
                        count.present += 1;
                    }
                }
                None => break,
            }
        }
        Ok(count)
    }

    fn fill(&mut self, offset: u64) -> Result<(), StoreError> {
        self.window.clear();
        self.window_from = offset;
        let at = offset.saturating_mul(ENTRY_BYTES);
        let holds = |file: &&SegmentFile| (file.base..file.base + file.size).contains(&at);
        let Some(file) = self.files.iter().find(holds) else {
            return Ok(());
        };
        let size = (WINDOW_ENTRIES * ENTRY_BYTES).min(file.base + file.size - at);
        #[allow(clippy::cast_possible_truncation)] // a few kilobytes
        self.window.resize(size as usize, 0);
        let read = File::open(&file.path)
            .and_then(|open| open.read_exact_at(&mut self.window, at - file.base));
        read.map_err(|error| StoreError::io(&file.path, error))
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
        self.max_offset = self.max_offset.max(offset + 1);
        self.last_store_timestamp_ms = self.last_store_timestamp_ms.max(time);
    }
}
