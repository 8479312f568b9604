//! Pacing: pages behind the writer go to the disk before a flush waits for them.
//!
//! Whatever an asynchronous flush finds dirty it must wait for, up to a gigabyte at a stroke. The
//! flush's driver therefore starts the write-back of what was appended every few megabytes. Only
//! blocks that the writer has left are started: one that it writes again would go to the disk
//! twice, and the write would have to fault the page in again (targets.md 1.1).

use std::fs::File;

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::open_segment;
use crate::log::{LogSegment, SharedLog};
use crate::store::Store;
use crate::sys::PAGE_SIZE_MAX;

/// Less than this is left alone. At the 3 GB/s of a fast disk (targets.md 1.1) a flush waits three
/// milliseconds for as much. A larger request makes the disk no faster.
const STEP_BYTES: u64 = 8 << 20;

/// The writer has left what lies before its own block.
const BLOCK_BYTES: u64 = PAGE_SIZE_MAX as u64;

/// How far write-back was started.
#[derive(Debug, Default)]
pub(crate) struct WriteBack {
    position: u64,
    /// The segment that `position` is in, by its start.
    open: Option<(u64, File)>,
}

impl Store {
    /// Starts to write what was appended to the disk, if that is 8 MiB or more; returns how many
    /// bytes were started.
    ///
    /// It does not make anything durable, but the next [`Store::flush`] shorter. For the thread
    /// that drives the flushes: it waits while the disk has too many requests queued.
    ///
    /// # Errors
    /// As for [`Store::flush`]: pages that could not be written may count as written.
    pub fn start_write_back(&self) -> Result<u64, StoreError> {
        self.check_open()?;
        if self.is_read_only() {
            return Ok(0);
        }
        let mut write_back = self.write_back.lock();
        self.flushing(|| write_back.start(&self.log))
    }
}

impl WriteBack {
    fn start(&mut self, log: &SharedLog) -> Result<u64, StoreError> {
        let first = self.position.max(log.flushed_position());
        let end = log.max_position();
        self.position = first;
        // An open file keeps its room on the disk, though its segment has expired.
        self.open.take_if(|(base, _)| *base < log.min_position());
        if end.saturating_sub(first) < STEP_BYTES {
            return Ok(0);
        }
        while let Some(segment) = log.segment_at(self.position) {
            let segment_end = log.next_segment_start(self.position);
            let to = if end >= segment_end {
                segment_end
            } else {
                end - (end - segment.base) % BLOCK_BYTES
            };
            if to <= self.position {
                break;
            }
            self.start_range(log, &segment, to)?;
            self.position = to;
        }
        Ok(self.position - first)
    }

    fn start_range(
        &mut self,
        log: &SharedLog,
        segment: &LogSegment,
        to: u64,
    ) -> Result<(), StoreError> {
        let path = log.segment_path(segment.base);
        let file = match &mut self.open {
            Some((base, file)) if *base == segment.base => file,
            open => match open_segment(&path) {
                // It was flushed, and has expired since it was looked up.
                Err(error) if error.is_gone() && segment.base < log.min_position() => {
                    return Ok(());
                }
                opened => &mut open.insert((segment.base, opened?)).1,
            },
        };
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let (from, to) = (
            (self.position - segment.base) as usize,
            (to - segment.base) as usize,
        );
        let started = step(Step::StartWriteBack { from, to }, &path, || {
            segment.map.start_write_back(file, from, to)
        });
        started.map_err(|error| StoreError::io(path, error))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;
    use crate::{NewMessage, StoreConfig};

    #[test]
    fn a_segment_that_expires_once_it_was_looked_up_is_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = StoreConfig::new(dir.path());
        config.segment_size_bytes = 4096;
        let store = Store::open(config, 1).unwrap();
        for _ in 0..8 {
            let message = NewMessage::new("t", 0, &[1; 900]);
            store.writer().unwrap().append(&message, 1).unwrap();
        }
        let segment = store.log.segment_at(0).unwrap();
        store.flush().unwrap();
        store.log.remove_oldest().unwrap();

        let mut write_back = WriteBack::default();
        write_back.start_range(&store.log, &segment, 4096).unwrap();

        assert!(write_back.open.is_none());
    }

    #[test]
    fn a_segment_that_expires_is_not_kept_open() {
        let dir = tempfile::tempdir().unwrap();
        let mut config = StoreConfig::new(dir.path());
        config.segment_size_bytes = 16 << 20;
        let store = Store::open(config, 1).unwrap();
        let fill_to = |position| {
            while store.max_position() < position {
                let message = NewMessage::new("t", 0, &[1; 10_000]);
                store.writer().unwrap().append(&message, 1).unwrap();
            }
        };
        let mut write_back = WriteBack::default();
        fill_to(10 << 20);
        assert!(write_back.start(&store.log).unwrap() > 0);
        store.flush().unwrap();
        fill_to(17 << 20);
        store.flush().unwrap();

        store.log.remove_oldest().unwrap();
        write_back.start(&store.log).unwrap();

        assert!(write_back.open.is_none());
    }
}
