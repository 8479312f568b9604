//! How the log of a replica goes on: at its master's positions, with its master's blanks.

use std::sync::atomic::Ordering;

use super::LogWriter;
use crate::error::StoreError;

impl LogWriter {
    /// Makes sure that the next byte lies at `position`: the end of the log, or, while it is empty,
    /// the start of a segment.
    pub(crate) fn continue_at(&mut self, position: u64) -> Result<(), StoreError> {
        let end = self.shared.max_position();
        if position == end {
            return Ok(());
        }
        let is_empty = end == 0 && self.tail.is_none();
        if !is_empty || !position.is_multiple_of(self.plan.segment_size) {
            let reason = format!("the log continues at {end}");
            return Err(StoreError::Corrupt { position, reason });
        }
        self.end = position;
        self.shared.max_position.store(position, Ordering::Release);
        self.shared
            .flushed_position
            .store(position, Ordering::Release);
        Ok(())
    }

    /// Ends the segment with a copied blank, which is as long as the rest of it.
    pub(crate) fn copy_blank(&mut self, blank: &[u8]) -> Result<(), StoreError> {
        if self.tail.is_none() {
            self.roll()?;
        }
        if let Some(full) = &mut self.tail {
            full.wait_all_cleared(&self.preparer)?;
        }
        if let Some(mut full) = self.tail.take() {
            full.map.tail().copy_from_slice(blank);
            full.map.publish(blank.len());
            full.map.reader().advise_written(false);
            self.end = full.base + self.plan.segment_size;
            self.shared.max_position.store(self.end, Ordering::Release);
        }
        Ok(())
    }
}
