//! Flushing what is published.

use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::{LogSegment, SharedLog};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::open_segment;
use crate::sys::await_write_back;

/// What one caller at a time has for flushes of the log.
#[derive(Debug, Default)]
pub(crate) struct Flusher {
    /// The segment that was flushed last, by its start.
    open: Option<(u64, File)>,
}

/// What of a segment a flush covers.
struct Part {
    segment: LogSegment,
    path: PathBuf,
    from: usize,
    to: usize,
}

impl SharedLog {
    /// Flushes what is published; returns the position up to which the log is on the disk.
    ///
    /// Only the written range is synced: the file also has populated pages that need no disk yet.
    pub(crate) fn flush(&self, flusher: &mut Flusher) -> Result<u64, StoreError> {
        let end = self.max_position();
        let parts = self.plan_flush(end);
        for part in &parts {
            part.begin(flusher)?;
        }
        if let Some(part) = parts.last() {
            part.wait(flusher)?;
        }
        for part in &parts {
            part.sync()?;
        }
        self.flushed_position.store(end, Ordering::Release);
        Ok(end)
    }

    /// What lies between the flushed position and `end`, a part for each segment.
    fn plan_flush(&self, end: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut position = self.flushed_position();
        while position < end {
            let next = self.next_segment_start(position).min(end);
            if let Some(segment) = self.segment_at(position) {
                let base = segment.base;
                parts.push(Part {
                    segment,
                    path: self.segment_path(base),
                    from: local(position, base),
                    to: local(next, base),
                });
            }
            position = next;
        }
        parts
    }
}

impl Part {
    /// Has the part begin its way to the disk.
    fn begin(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        let (from, to) = (self.from, self.to);
        let file = flusher.file_of(self)?;
        step(Step::StartWriteBack { from, to }, &self.path, || {
            self.segment.map.start_write_back(file, from, to)
        })
        .map_err(|error| StoreError::io(&self.path, error))
    }

    /// Waits until the disk has taken the part, perhaps into its cache.
    fn wait(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        await_write_back(flusher.file_of(self)?, self.from, self.to)
            .map_err(|error| StoreError::io(&self.path, error))
    }

    /// Makes the part durable.
    fn sync(&self) -> Result<(), StoreError> {
        let (from, to) = (self.from, self.to);
        step(Step::SyncRange { from, to }, &self.path, || {
            self.segment.map.flush(from, to)
        })
        .map_err(|error| StoreError::io(&self.path, error))
    }
}

impl Flusher {
    fn file_of(&mut self, part: &Part) -> Result<&File, StoreError> {
        let base = part.segment.base;
        let open = match self.open.take().filter(|(open, _)| *open == base) {
            Some(open) => open,
            None => (base, open_segment(&part.path)?),
        };
        Ok(&self.open.insert(open).1)
    }
}

/// Offset inside a segment; segments are mapped, so it fits.
#[allow(clippy::cast_possible_truncation)]
fn local(position: u64, base: u64) -> usize {
    (position - base) as usize
}
