//! How the log of a replica goes on: at its master's positions, with its master's blanks.

use std::sync::atomic::Ordering;

use super::LogWriter;
use crate::error::StoreError;
use crate::files::{remove_file, sync_dir};
use crate::prepare::Preparer;

impl LogWriter {
    /// Makes sure that the next byte lies at `position`: the end of the log, or, while it is empty,
    /// the start of a segment.
    pub(crate) fn continue_at(&mut self, position: u64) -> Result<(), StoreError> {
        let end = self.shared.max_position();
        if position == end {
            return Ok(());
        }
        if end > 0 || !position.is_multiple_of(self.plan.segment_size) {
            let reason = format!("the log continues at {end}");
            return Err(StoreError::Corrupt { position, reason });
        }
        self.remove_unwritten()?;
        self.end = position;
        self.roll()?;
        // Not before: a checkpoint of a flush meanwhile would speak of a log that is not there.
        self.shared.max_position.store(position, Ordering::Release);
        self.shared
            .flushed_position
            .store(position, Ordering::Release);
        Ok(())
    }

    /// Removes the segment in which an empty log was to begin, prepared or recovered: before one at
    /// another position is made, or a crash could leave both, with a gap between them.
    fn remove_unwritten(&mut self) -> Result<(), StoreError> {
        self.tail = None;
        self.recovered = None;
        self.shared.segments.write().clear();
        self.stop()?;
        self.preparer = Preparer::start(self.plan.clone())?;
        // Whether or not it is known here: an earlier attempt may have failed.
        remove_file(&self.shared.segment_path(0))?;
        sync_dir(self.shared.dir())
    }

    /// Ends the segment with a copied blank, which is as long as the rest of it.
    pub(crate) fn copy_blank(&mut self, blank: &[u8]) -> Result<(), StoreError> {
        if self.tail.is_none() {
            self.roll()?;
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
