//! The key index: files that say where in the log messages with a key lie (storage-and-ha.md 4).
//!
//! The index is a follower of the log. The newest file says how far the index is: the record of its
//! last entry is the last one that is indexed, at least in part. What may be wrong is removed and
//! built again.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use regent_sync::RwLock;
use regent_sync::atomic::{AtomicU64, Ordering};

use crate::checkpoint::Checkpoint;
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::files::{create_dir, list, remove_file, rename, sync_dir};
use crate::index_layout::{Header, Shape};
use crate::recovery_report::RecoveryReport;

mod build;
mod file;
mod keys;
mod stamp;

pub(crate) use build::{IndexBuilder, NewIndex};
pub(crate) use file::IndexFile;
pub(crate) use file::file_path;
pub(crate) use keys::{Wanted, each_hash};

/// Where a damaged file goes. There is one such place: a second file of 420 MB would be of no use.
const DAMAGED_NAME: &str = "damaged";

/// How far the key index is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct IndexStatus {
    /// Every record before this log position is indexed.
    pub position: u64,
    /// Files of the index.
    pub file_count: usize,
    /// Store time of the newest entry.
    pub end_timestamp_ms: i64,
    /// Log position of the newest entry.
    pub end_position: u64,
    /// Files set aside as damaged since the store was opened.
    pub damaged_count: u64,
}

/// Which files are believed when a store is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trust {
    /// All of them: the store was closed.
    All,
    /// Those that were flushed before the checkpoint, which holds this time, was written.
    FlushedBefore(i64),
    /// Those that make sense, and none is touched: the store is read-only. What a search finds is
    /// checked by the log in any case.
    ReadOnly,
}

impl Trust {
    /// What the last stop, and the state of the log, leave to be believed.
    pub(crate) fn after(report: &RecoveryReport, checkpoint: &Checkpoint) -> Self {
        match (report.damage, report.was_clean) {
            (Some(_), _) => Self::ReadOnly,
            (None, true) => Self::All,
            (None, false) => Self::FlushedBefore(checkpoint.index_timestamp_ms),
        }
    }

    /// Whether a file is on the disk; it follows others, whose newest entry is of `newest_ms`.
    ///
    /// After an unclean stop only a full file is that is no newer than the checkpoint. Times may
    /// stand still or go back, so the file must also be newer than all before it. Otherwise the
    /// checkpoint may mean one of those.
    pub(crate) fn believes(self, header: &Header, shape: Shape, newest_ms: i64) -> bool {
        let end_ms = header.end_timestamp_ms;
        match self {
            Self::All | Self::ReadOnly => true,
            Self::FlushedBefore(flushed_ms) => {
                header.is_full(shape) && newest_ms < end_ms && end_ms <= flushed_ms
            }
        }
    }
}

/// All index files: what searches read. Only the [`IndexBuilder`] changes them.
#[derive(Debug)]
pub(crate) struct Index {
    dir: PathBuf,
    shape: Shape,
    /// Oldest first, and so by stamp. A search holds it shared for a turn.
    pub(crate) files: RwLock<Vec<IndexFile>>,
    pub(crate) position: AtomicU64,
    damaged_count: AtomicU64,
}

impl Index {
    fn empty(config: &StoreConfig, dir: PathBuf) -> Self {
        Self {
            files: RwLock::new(Vec::new()),
            position: AtomicU64::new(0),
            damaged_count: AtomicU64::new(0),
            dir,
            shape: config.index_shape(),
        }
    }

    /// Loads the files that can be trusted and removes the others. The caller then cuts the builder
    /// to the end of the log, unless the store is read-only.
    pub(crate) fn load(
        config: &StoreConfig,
        dir: PathBuf,
        trust: Trust,
    ) -> Result<Self, StoreError> {
        let index = Self::empty(config, dir);
        let stamps = list_stamps(&index.dir)?;
        let first_refused = index.load_files(&stamps, trust)?;
        if let Some((at, is_damaged)) = first_refused.filter(|_| trust != Trust::ReadOnly) {
            // The last first: none may be kept behind a gap.
            index.remove_files(&stamps[at + 1..])?;
            // What was not known to be on the disk may hold anything, and that is no damage.
            if is_damaged && trust == Trust::All {
                index.set_aside(stamps[at])?;
            } else {
                index.remove_files(&stamps[at..=at])?;
            }
        }
        Ok(index)
    }

    /// Loads files up to the first that is not to be believed. Returns the index of that file, and
    /// whether it contradicts itself or the file before.
    fn load_files(
        &self,
        stamps: &[u64],
        trust: Trust,
    ) -> Result<Option<(usize, bool)>, StoreError> {
        let mut files = self.files.write();
        let mut newest_ms = i64::MIN;
        for (at, stamp) in stamps.iter().enumerate() {
            let opened = IndexFile::open(&self.dir, *stamp, self.shape)?;
            let follows = |file: &IndexFile| {
                let last = files.last();
                last.is_none_or(|last| last.header.end_position <= file.header.begin_position)
            };
            let Some(file) = opened.filter(follows) else {
                return Ok(Some((at, true)));
            };
            if !trust.believes(&file.header, self.shape, newest_ms) {
                return Ok(Some((at, false)));
            }
            newest_ms = newest_ms.max(file.header.end_timestamp_ms);
            files.push(file);
        }
        Ok(None)
    }

    pub(crate) fn status(&self) -> IndexStatus {
        let files = self.files.read();
        let end = files.last().map(|file| file.header).unwrap_or_default();
        IndexStatus {
            position: self.position.load(Ordering::Acquire),
            file_count: files.len(),
            end_timestamp_ms: end.end_timestamp_ms,
            end_position: end.end_position,
            damaged_count: self.damaged_count.load(Ordering::Relaxed),
        }
    }

    /// Store time up to which full files are on the disk: what the checkpoint says
    /// (storage-and-ha.md 5.2).
    fn durable_timestamp_ms(&self) -> i64 {
        let files = self.files.read();
        let durable = files
            .iter()
            .filter(|file| file.is_full() && file.is_durable());
        durable
            .map(|file| file.header.end_timestamp_ms)
            .max()
            .unwrap_or(0)
    }

    /// Removes files all of whose records lie before `min_position`, but never the newest
    /// (storage-and-ha.md 4.4).
    fn remove_expired(&self, min_position: u64) -> Result<(), StoreError> {
        let mut has_removed = false;
        loop {
            let expired = {
                let files = self.files.read();
                let oldest = files.first().filter(|_| files.len() > 1);
                oldest
                    .filter(|file| file.header.end_position < min_position)
                    .map(|file| file.path().to_path_buf())
            };
            let Some(path) = expired else { break };
            remove_file(&path)?;
            self.files.write().remove(0);
            has_removed = true;
        }
        if has_removed {
            sync_dir(&self.dir)?;
        }
        Ok(())
    }

    fn first_damaged(&self) -> Option<(usize, u64)> {
        let files = self.files.read();
        let at = files.iter().position(IndexFile::is_damaged)?;
        Some((at, files[at].stamp))
    }

    /// Sets a damaged file aside, and removes those behind it.
    fn remove_damaged(&self, (at, stamp): (usize, u64)) -> Result<(), StoreError> {
        self.remove_from(at + 1)?;
        self.set_aside(stamp)?;
        self.files.write().truncate(at);
        Ok(())
    }

    /// Removes the files from the given one on, the newest first, so that no gap ever shows.
    fn remove_from(&self, first: usize) -> Result<(), StoreError> {
        let mut has_removed = false;
        loop {
            let newest = {
                let files = self.files.read();
                let newest = files.last().filter(|_| files.len() > first);
                newest.map(|file| file.path().to_path_buf())
            };
            let Some(path) = newest else { break };
            remove_file(&path)?;
            self.files.write().pop();
            has_removed = true;
        }
        if has_removed {
            sync_dir(&self.dir)?;
        }
        Ok(())
    }

    fn remove_files(&self, stamps: &[u64]) -> Result<(), StoreError> {
        if stamps.is_empty() {
            return Ok(());
        }
        for stamp in stamps.iter().rev() {
            remove_file(&file::file_path(&self.dir, *stamp))?;
        }
        sync_dir(&self.dir)
    }

    fn set_aside(&self, stamp: u64) -> Result<(), StoreError> {
        let path = file::file_path(&self.dir, stamp);
        match rename(&path, &self.dir.join(DAMAGED_NAME)) {
            // An earlier attempt came that far.
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            renamed => renamed?,
        }
        self.damaged_count.fetch_add(1, Ordering::Relaxed);
        sync_dir(&self.dir)
    }

    /// Flushes every file; only the newest can have anything to flush.
    fn flush(&self) -> Result<(), StoreError> {
        self.files.read().iter().try_for_each(IndexFile::flush)
    }

    fn create_file(&self, stamp: u64) -> Result<(), StoreError> {
        if !self.dir.exists() {
            create_dir(&self.dir)?;
            sync_dir(self.dir.parent().unwrap_or(Path::new("/")))?;
        }
        let created = {
            let files = self.files.read();
            let last = files.last();
            // Names rise with the files, whatever the clock does.
            let stamp = last.map_or(stamp, |last| stamp.max(last.stamp + 1));
            IndexFile::create(&self.dir, stamp, self.shape, last.map(|last| &last.header))?
        };
        self.files.write().push(created);
        sync_dir(&self.dir)
    }
}

/// Names of the index files in a directory, the oldest first; other names are left alone.
pub(crate) fn list_stamps(dir: &Path) -> Result<Vec<u64>, StoreError> {
    let stamp_of = |path: PathBuf| {
        let name = path.file_name()?.to_str()?;
        let is_stamp = name.len() == 17 && name.bytes().all(|byte| byte.is_ascii_digit());
        is_stamp.then(|| name.parse().ok()).flatten()
    };
    let mut stamps: Vec<u64> = list(dir)?.into_iter().filter_map(stamp_of).collect();
    stamps.sort_unstable();
    Ok(stamps)
}
