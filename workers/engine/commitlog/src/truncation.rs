//! Cutting the log and all that is derived from it at one position (D10).
//!
//! A truncation is written down and synced before anything changes, carried out by recovery, and
//! forgotten last. So a cut that a crash interrupts is made again, whole, by the next opening, and
//! there is one way of doing it. Every step writes and syncs whatever it finds, because an earlier
//! attempt may have changed it without syncing it.

use std::fs;
use std::io;
use std::path::Path;

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
                "{reason}; a truncation was under way, and its end is unknown: copy the whole \
                 store again from its master"
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
    pub(crate) fn prepare(&self, directory: &StoreDirectory) -> Result<Replacement, StoreError> {
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

    /// Cuts the log and every file derived from it, except queues and followers. Recovery cuts the
    /// queues once it has loaded them, and every opening cuts the followers to the end of the log.
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
