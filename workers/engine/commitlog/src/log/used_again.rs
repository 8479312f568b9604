//! Writing a segment that was one before, and leaving it as a new one would be (FORMAT.md 5.1).

use super::{LogWriter, SharedLog};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{clear_file_rest, remove_file};
use crate::spares::Spares;

impl LogWriter {
    /// Ends the helper, keeps or removes a segment that it prepared in vain, and clears what the
    /// last segment was before.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        if let Some((base, prepared)) = self.preparer.stop() {
            let path = self.shared.segment_path(base);
            match &self.plan.spares {
                Some(spares) if prepared.used_again.is_some() => {
                    drop(prepared);
                    spares.keep(&path, base)?;
                }
                _ => remove_file(&path)?,
            }
        }
        let Some(tail) = &self.tail else {
            return Ok(());
        };
        let Some(file) = &tail.used_again else {
            return Ok(());
        };
        let path = self.shared.segment_path(tail.base);
        let named = |error| StoreError::io(&path, error);
        let (from, to) = (tail.map.position() as u64, self.plan.segment_size);
        step(Step::Write, &path, || clear_file_rest(file, from, to)).map_err(named)?;
        step(Step::SyncFile, &path, || file.sync_all()).map_err(named)
    }
}

impl SharedLog {
    /// Removes the oldest segment, or keeps it as a spare; readers inside keep its map until they
    /// leave, and then its file is no spare.
    pub(crate) fn remove_oldest(&self, spares: Option<&Spares>) -> Result<(), StoreError> {
        let Some(oldest) = self.segments.write().pop_front() else {
            return Ok(());
        };
        let path = self.segment_path(oldest.base);
        let gone = match spares {
            // Nobody finds the map any more, so that nobody can come to share it.
            Some(spares) if !oldest.map.is_shared() => {
                spares.keep(&path, oldest.base + self.segment_size)
            }
            _ => remove_file(&path),
        };
        gone.inspect_err(|_| self.segments.write().push_front(oldest))
    }
}
