//! Taking entries away from the end of a queue.

use super::{StoredFile, StoredQueue};
use crate::error::StoreError;
use crate::files::{remove_file, segment_name};
use crate::queue_layout::{ENTRY_BYTES, is_filler};

impl StoredQueue {
    /// Forgets all entries whose records a log that begins at `min_position` still has. Those of
    /// expired records stay: nothing else shows where the queue goes on.
    pub(crate) fn forget_from(&mut self, min_position: u64) -> Result<(), StoreError> {
        if min_position == 0 || self.files.is_empty() {
            return self.restart_at(0);
        }
        self.cut_behind(min_position, 0).map(drop)
    }

    /// Cuts the queue before the entry of `offset`, clearing the bytes of what is cut.
    pub(crate) fn truncate(&mut self, offset: u64) -> Result<(), StoreError> {
        let (at, first_at) = (offset * ENTRY_BYTES, self.first * ENTRY_BYTES);
        // Stock searches times wrongly in a queue whose last file is empty.
        let is_unused = |last: &mut StoredFile| last.base >= at && last.base > first_at;
        while let Some(last) = self.files.pop_if(is_unused) {
            remove_file(&self.dir.join(segment_name(last.base)))?;
        }
        if let Some(file) = self.files.last_mut() {
            #[allow(clippy::cast_possible_truncation)] // within one mapped file
            let local = (at - file.base) as usize;
            let end = usize::try_from(self.end * ENTRY_BYTES - file.base);
            let bytes = file.map.bytes_mut();
            let end = end.unwrap_or(bytes.len()).min(bytes.len());
            bytes[local.min(end)..end].fill(0);
        }
        self.end = offset;
        self.is_changed = true;
        Ok(())
    }

    /// Drops the last entries that point at or behind `log_position`, yet none before the offset
    /// `kept`; returns how many.
    ///
    /// Fillers between what stays and what is dropped go as well: the queue goes on with the offset
    /// after its last record. Those that it begins with stay, as its records may have expired.
    pub(crate) fn cut_behind(&mut self, log_position: u64, kept: u64) -> Result<u64, StoreError> {
        let (kept, end) = (kept.max(self.first), self.end);
        let (mut to, mut looked_at) = (end, end);
        while looked_at > kept {
            let entry = self.entry(looked_at - 1);
            let is_filler = entry.as_ref().is_some_and(is_filler);
            if !is_filler && entry.is_some_and(|entry| entry.log_position < log_position) {
                break;
            }
            looked_at -= 1;
            if !is_filler {
                to = looked_at;
            }
        }
        if to == end {
            return Ok(0);
        }
        if looked_at > self.first {
            to = looked_at;
        }
        self.truncate(to)?;
        Ok(end - to)
    }
}
