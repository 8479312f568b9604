//! Cutting the log and all that is derived from it at one position (D10).
//!
//! A truncation is written down and synced before anything changes, carried out by recovery, and
//! forgotten last. So a cut that a crash interrupts is made again, whole, by the next opening, and
//! there is one way of doing it. Every step writes and syncs whatever it finds, because an earlier
//! attempt may have changed it without syncing it.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::checked_text;
use crate::checkpoint::{Checkpoint, CheckpointFile};
use crate::directory::StoreDirectory;
use crate::epoch_file::EpochFile;
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    Replacement, clear_file, data_end, list_segments, open_segment, remove_file, sync_dir,
    sync_parent,
};
use crate::record::{Found, check};
use crate::store::Store;
use crate::sys::ExclusiveMap;

/// A cut that has been decided: the content of the journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Truncation {
    /// Where the log ends from now on: the start of a record, or of a segment. At 0 nothing is
    /// left, wherever the log began: no segment and no queue either.
    pub(crate) position: u64,
    /// Store time of the last record before that, 0 when there is none.
    pub(crate) last_store_timestamp_ms: i64,
}

impl Truncation {
    /// Reads the journal; without one no truncation is under way.
    pub(crate) fn load(directory: &StoreDirectory) -> Result<Option<Self>, StoreError> {
        let path = directory.truncation();
        Self::inspect(&path)?.map_err(|reason| StoreError::DamagedFile {
            path,
            reason: format!(
                "{reason}; a truncation was under way and nobody knows up to where, so copy the \
                 store anew from its master"
            ),
        })
    }

    /// The journal at a path as [`Truncation::load`] takes it, or what is wrong with it.
    pub(crate) fn inspect(path: &Path) -> Result<Result<Option<Self>, &'static str>, StoreError> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self::decode(&bytes).map(Some)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Ok(None)),
            Err(error) => Err(StoreError::io(path, error)),
        }
    }

    fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        let not_both = "it does not hold a position and a time";
        let [position, time] = checked_text::decode_own(bytes)?[..] else {
            return Err(not_both);
        };
        let truncation = position.parse().ok().zip(time.parse().ok());
        let (position, last_store_timestamp_ms) = truncation.ok_or(not_both)?;
        Ok(Self {
            position,
            last_store_timestamp_ms,
        })
    }

    /// Whether it empties the store, which may then begin anywhere.
    pub(crate) fn leaves_nothing(&self) -> bool {
        self.position == 0
    }

    /// Writes the journal beside its place; once it is put there, the truncation will be finished.
    fn prepare(&self, directory: &StoreDirectory) -> Result<Replacement, StoreError> {
        let lines = [
            self.position.to_string(),
            self.last_store_timestamp_ms.to_string(),
        ];
        let content = checked_text::encode(&lines);
        Replacement::prepare(&directory.truncation(), content.as_bytes())
    }

    /// Removes the journal, once everything is cut and synced.
    pub(crate) fn finish(directory: &StoreDirectory) -> Result<(), StoreError> {
        let path = directory.truncation();
        remove_file(&path)?;
        sync_parent(&path)
    }

    /// Cuts the log and every file derived from it, but for the queues, which recovery cuts once it
    /// has loaded them, and the followers, which every opening cuts to the end of the log.
    pub(crate) fn cut_files(&self, directory: &StoreDirectory) -> Result<(), StoreError> {
        EpochFile::load(directory.epochs())?.cut_from(self.position)?;
        self.cut_checkpoint(directory)?;
        Self::cut_log_at(directory, self.position)
    }

    /// Nothing behind the cut is on the disk any more, and newer store times are unknown.
    pub(crate) fn cut_checkpoint(&self, directory: &StoreDirectory) -> Result<(), StoreError> {
        let path = directory.checkpoint();
        let found = Checkpoint::load(&path)?;
        let newest_ms = self.last_store_timestamp_ms;
        let mut file = CheckpointFile::open(path)?;
        file.write(Checkpoint {
            log_timestamp_ms: found.log_timestamp_ms.min(newest_ms),
            queue_timestamp_ms: found.queue_timestamp_ms.min(newest_ms),
            index_timestamp_ms: found.index_timestamp_ms.min(newest_ms),
            flushed_position: found.flushed_position.min(self.position),
            confirmed_position: found.confirmed_position.min(self.position),
        })?;
        file.sync()
    }

    /// Removes later segments, the last first, and clears the rest of the one that is cut.
    ///
    /// All of the rest: a record whose head alone is gone could come back behind shorter ones
    /// that are written over it (storage-and-ha.md 11.1, trap 12).
    pub(crate) fn cut_log_at(directory: &StoreDirectory, position: u64) -> Result<(), StoreError> {
        let dir = directory.commit_log();
        for segment in list_segments(dir)?.iter().rev() {
            if segment.base > position || position == 0 {
                remove_file(&segment.path)?;
                continue;
            }
            let at = position - segment.base;
            if at < segment.size {
                let named = |error| StoreError::io(&segment.path, error);
                let file = open_segment(&segment.path)?;
                let data_end = data_end(&file, at, segment.size).map_err(named)?;
                let mut map = ExclusiveMap::new(&file).map_err(named)?;
                clear_file(&file, map.bytes_mut(), (at, data_end)).map_err(named)?;
                step(Step::SyncFile, &segment.path, || file.sync_all()).map_err(named)?;
            }
            break;
        }
        sync_dir(dir)
    }
}

impl Store {
    /// Cuts the log at `position`, and queues, checkpoint and epochs with it, in one durable act:
    /// after a crash at any moment it has happened, or will have when the store is open again.
    ///
    /// The exclusive borrow is what lets bytes change that readers could see. Queues go on with
    /// the offset after their last record in the log; at 0 none is left. The end of the log is fine:
    /// nothing happens, but that a store which lost flushed records behind it is whole again.
    ///
    /// # Errors
    /// [`StoreError::NoBoundary`] when no record starts at `position`, [`StoreError::DiskFull`] and others
    /// where the journal cannot be written: nothing was changed. Any later error poisons the store:
    /// reopening it finishes the truncation if it had begun.
    pub fn truncate_to(&mut self, position: u64) -> Result<(), StoreError> {
        self.check_open()?;
        if position == self.max_position() && !self.is_read_only() {
            return Ok(());
        }
        let last_store_timestamp_ms = self.last_timestamp_before(position)?;
        self.carry_out(Truncation {
            position,
            last_store_timestamp_ms,
        })
    }

    /// Gives up all that this store holds, so that its log may begin anew at any segment, as
    /// [`Self::append_copied`] has it: in one durable act, as [`Self::truncate_to`].
    ///
    /// # Errors
    /// As for [`Self::truncate_to`], but that the log may begin and end anywhere.
    pub fn empty(&mut self) -> Result<(), StoreError> {
        self.check_open()?;
        if self.max_position() == 0 {
            return Ok(());
        }
        self.carry_out(Truncation {
            position: 0,
            last_store_timestamp_ms: 0,
        })
    }

    fn carry_out(&mut self, truncation: Truncation) -> Result<(), StoreError> {
        self.flush_all()?;
        let journal = truncation.prepare(&self.directory)?;
        let done = self.begin_and_reopen(truncation, journal);
        self.poisoning(|| done)
    }

    fn begin_and_reopen(
        &mut self,
        truncation: Truncation,
        journal: Replacement,
    ) -> Result<(), StoreError> {
        journal.put()?;
        // The helper must not make a segment while segments are removed.
        self.appender.get_mut().stop()?;
        let directory = Arc::clone(&self.directory);
        let mut reopened = Self::recover(self.config.clone(), directory, self.opened_at_ms)?;
        let queues = &mut reopened.appender.get_mut().queues;
        let adopted = queues.adopt(&self.appender.get_mut().queues);
        debug_assert!(
            adopted.is_ok(),
            "names and ids were legal before: {adopted:?}"
        );
        let limit = self.log.read_limit();
        if limit < u64::MAX {
            let lowered = limit.min(truncation.position);
            reopened.log.raise_read_limit(Some(lowered));
        }
        *self = reopened;
        Ok(())
    }

    /// Store time of the last record before `position`, found by stepping through its segment,
    /// so that bytes inside a body are never taken for a record.
    fn last_timestamp_before(&self, position: u64) -> Result<i64, StoreError> {
        let refused = |reason| StoreError::NoBoundary { position, reason };
        if !(self.min_position()..=self.max_position()).contains(&position) {
            return Err(refused("the log does not reach there"));
        }
        if position == self.min_position() {
            return Ok(0);
        }
        let holding = self.log.segment_at(position - 1);
        let segment = holding.ok_or(refused("the log does not reach there"))?;
        let (mut at, mut timestamp_ms) = (segment.base, 0);
        while at < position {
            let rest = segment.bytes_from(at).unwrap_or_default();
            match check(rest, at, self.config.crc_property) {
                Ok(Found::Record(record)) => {
                    at += record.bytes.len() as u64;
                    timestamp_ms = record.store_timestamp_ms;
                }
                Ok(Found::Blank) => at += rest.len() as u64,
                Err(_) => return Err(refused("the segment is damaged before it")),
            }
        }
        if at == position {
            Ok(timestamp_ms)
        } else {
            Err(refused("it is inside a record"))
        }
    }
}
