//! The files of one consume queue, read entry by entry.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::StoreError;
use crate::files::{SegmentFile, list_segments};
use crate::message::QueueEntry;
use crate::queue_layout::{ENTRY_SIZE, FILLER, decode_entry};

/// Entries read at once.
const WINDOW_ENTRIES: u64 = 204;
const ENTRY_BYTES: u64 = ENTRY_SIZE as u64;

/// One queue. Files are opened when they are read, since a store may have many thousands.
#[derive(Debug)]
pub(crate) struct QueueFiles {
    files: Vec<SegmentFile>,
    window_from: u64,
    window: Vec<u8>,
}

impl QueueFiles {
    pub(crate) fn open(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self {
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

    /// Entries that stand for a record at `min_position` or behind it.
    pub(crate) fn count_from(&mut self, min_position: u64) -> Result<u64, StoreError> {
        let (Some(first), Some(last)) = (self.files.first(), self.files.last()) else {
            return Ok(0);
        };
        let end = (last.base + last.size) / ENTRY_BYTES;
        let mut count = 0;
        for offset in first.base / ENTRY_BYTES..end {
            match self.entry(offset)? {
                Some(entry) => {
                    count += u64::from(entry != FILLER && entry.log_position >= min_position);
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
