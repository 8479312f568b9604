//! The `checkpoint` file: five integers in 4096 bytes (storage-and-ha.md 5.2).
//!
//! ```text
//! 0 physicMsgTimestamp | 8 logicsMsgTimestamp | 16 indexMsgTimestamp
//! 24 masterFlushedOffset | 32 confirmPhyOffset
//! ```

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::cursor::{Reader, Writer};
use crate::error::StoreError;
use crate::failpoint::{Step, step};

const FILE_SIZE: usize = 4096;
/// How much older than its flushed part the log is assumed to be when looking for a start.
const SAFETY_MARGIN_MS: i64 = 3_000;

/// The content of the file; all zero when there is none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Checkpoint {
    /// Store time of the last record known to be flushed.
    pub(crate) log_timestamp_ms: i64,
    /// Store time up to which every queue entry is known to be flushed.
    pub(crate) queue_timestamp_ms: i64,
    /// Store time up to which full files of the key index are on the disk.
    pub(crate) index_timestamp_ms: i64,
    /// End of the part of the log known to be flushed.
    pub(crate) flushed_position: u64,
    /// End of the part of the log that readers may see.
    pub(crate) confirmed_position: u64,
}

impl Checkpoint {
    /// Reads the file; a short one, torn while it was created, counts as absent.
    pub(crate) fn load(path: &Path) -> Result<Self, StoreError> {
        Ok(Self::find(path)?.unwrap_or_default())
    }

    /// Reads the file as [`Checkpoint::load`] does; `None` for what counts as absent.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, StoreError> {
        match fs::read(path) {
            Ok(bytes) => Ok(Self::decode(&bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(path, error)),
        }
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        Some(Self {
            log_timestamp_ms: input.i64()?,
            queue_timestamp_ms: input.i64()?,
            index_timestamp_ms: input.i64()?,
            flushed_position: u64::try_from(input.i64()?).ok()?,
            confirmed_position: u64::try_from(input.i64()?).ok()?,
        })
    }

    fn encode(&self) -> [u8; FILE_SIZE] {
        let mut bytes = [0; FILE_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put_i64(self.log_timestamp_ms);
        out.put_i64(self.queue_timestamp_ms);
        out.put_i64(self.index_timestamp_ms);
        out.put_u64(self.flushed_position);
        out.put_u64(self.confirmed_position);
        bytes
    }

    /// End of the part of the log that must be intact.
    ///
    /// A store of ours writes both positions alike. Stock may run ahead with either: a replica's
    /// first is its master's, a master's second is not flushed yet.
    pub(crate) fn known_flushed_position(&self) -> u64 {
        self.flushed_position.min(self.confirmed_position)
    }

    /// Records stored at or before this time, and their queue entries, are on the disk.
    pub(crate) fn safe_timestamp_ms(&self) -> i64 {
        let known_ms = self.log_timestamp_ms.min(self.queue_timestamp_ms);
        known_ms.saturating_sub(SAFETY_MARGIN_MS).max(0)
    }
}

/// The file, open for the life of a store.
#[derive(Debug)]
pub(crate) struct CheckpointFile {
    path: PathBuf,
    file: File,
    written: Option<Checkpoint>,
    synced: Option<Checkpoint>,
}

impl CheckpointFile {
    pub(crate) fn open(path: PathBuf) -> Result<Self, StoreError> {
        let mut options = OpenOptions::new();
        let options = options.write(true).create(true).truncate(false);
        let file = step(Step::Create, &path, || options.open(&path));
        let file = file.map_err(|error| StoreError::io(&path, error))?;
        Ok(Self {
            path,
            file,
            written: None,
            synced: None,
        })
    }

    /// Writes, unless nothing changed; returns whether there is something to be synced.
    ///
    /// After an error the file may hold the former integers or the new ones. Either are true, so
    /// that it can be written again.
    pub(crate) fn write(&mut self, checkpoint: Checkpoint) -> Result<bool, StoreError> {
        if self.synced == Some(checkpoint) {
            return Ok(false);
        }
        // One sector holds all five integers, so the write is not torn.
        let write = || self.file.write_all_at(&checkpoint.encode(), 0);
        step(Step::Write, &self.path, write).map_err(|error| StoreError::io(&self.path, error))?;
        self.written = Some(checkpoint);
        Ok(true)
    }

    /// Makes what was written durable.
    pub(crate) fn sync(&mut self) -> Result<(), StoreError> {
        step(Step::SyncFile, &self.path, || self.file.sync_data())
            .map_err(|error| StoreError::io(&self.path, error))?;
        self.synced = self.written;
        Ok(())
    }
}
