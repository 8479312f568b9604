//! Units that are written to the file in one go before they become part of the log.
//!
//! Through the map each page is made present, zeroed and faulted in before it is written. That
//! takes three times as long as to write all of it in one system call (ADR 9). It pays to write
//! ahead many units that are all there already, as a replica that is behind gets them. Until they
//! are committed no reader sees them. They lie where a crash would have left them, and recovery
//! judges them.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use super::{LogWriter, Unit};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{open_segment, write_zeros};
use crate::record::BLANK_SIZE;

/// Less is written through the map, whose pages are present near the end of the log.
const AHEAD_SIZE_MIN: usize = 64 << 10;

/// The file of the segment that units were last written to.
#[derive(Debug)]
pub(super) struct AheadFile {
    base: u64,
    path: PathBuf,
    file: File,
}

impl LogWriter {
    /// Makes room for `size` bytes of whole units of one segment, if as much is worth being written
    /// ahead; returns whether.
    pub(crate) fn prepare_ahead(&mut self, size: usize) -> Result<bool, StoreError> {
        self.writes_ahead = size >= AHEAD_SIZE_MIN;
        if !self.writes_ahead {
            return Ok(false);
        }
        if !self.has_room(size) {
            self.make_room(size)?;
        }
        let Some(tail) = &self.tail else {
            return Err(StoreError::Closed);
        };
        let open = self.ahead.as_ref().map(|ahead| ahead.base);
        if open != Some(tail.base) {
            // Here, where nothing is written yet: a process may be short of open files.
            let path = self.shared.segment_path(tail.base);
            let (base, file) = (tail.base, open_segment(&path)?);
            self.ahead = Some(AheadFile { base, path, file });
        }
        Ok(true)
    }

    /// Writes units for which room was made behind the end of the log.
    pub(crate) fn write_ahead(&mut self, units: &[u8]) -> Result<(), StoreError> {
        let (Some(tail), Some(ahead)) = (&mut self.tail, &self.ahead) else {
            return Err(StoreError::Closed);
        };
        let at = tail.map.position();
        assert!(
            units.len() + BLANK_SIZE <= tail.map.remaining(),
            "no room was made"
        );
        // The helper is to leave alone what needs no pages, unless many short ones follow.
        tail.wake_at = at + units.len() + AHEAD_SIZE_MIN;
        if (at + units.len()) as u64 >= self.plan.segment_size / 2 {
            self.preparer
                .want_next(tail.base + self.plan.segment_size, 0);
        }
        let write = || ahead.file.write_all_at(units, at as u64);
        step(Step::Write, &ahead.path, write).map_err(|error| StoreError::io(&ahead.path, error))
    }

    /// Clears `size` bytes behind the end of the log, on the disk too, that were written ahead and
    /// cannot become part of it: neither a truncation nor a clean stop would know of them (D10).
    pub(crate) fn clear_ahead(&mut self, size: usize) -> Result<(), StoreError> {
        let (Some(tail), Some(ahead)) = (&self.tail, &self.ahead) else {
            return Ok(());
        };
        let named = |error| StoreError::io(&ahead.path, error);
        let at = tail.map.position() as u64;
        let clear = || write_zeros(&ahead.file, at, at + size as u64);
        step(Step::Write, &ahead.path, clear).map_err(named)?;
        step(Step::SyncFile, &ahead.path, || ahead.file.sync_data()).map_err(named)
    }

    /// The next of the units that were written ahead.
    pub(crate) fn next_ahead(&mut self, size: usize) -> Option<Unit<'_>> {
        self.room(size)
    }
}
