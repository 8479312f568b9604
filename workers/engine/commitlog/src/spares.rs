//! Expired segments that are kept to be used again (FORMAT.md 5.1).
//!
//! Blocks that were written once are written again without a commit of the file system's journal,
//! which is most of what a synchronous flush waits for. What such a file still holds lies before
//! the position that its name says, so that no record of it is valid where it lies from there on; of
//! what bodies hold see [`write_limit`](crate::write_limit).

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rustix::fs::{Advice, fadvise, statfs};

use crate::config::{FlushMode, StoreConfig};
use crate::directory::{MarkedRun, StoreDirectory};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    BLOCK_SIZE, create_dir, list_segments, open_segment, preallocate, remove_dir, remove_file,
    rename, segment_name, sync_dir, sync_parent,
};
use crate::log::SharedLog;
use crate::seal::SealFile;
use crate::write_limit::WriteLimit;

/// Where the spares of a log are, inside its directory.
pub(crate) const SPARE_DIR: &str = "spare";
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// File systems that write a block where it was. Elsewhere using a file again gains nothing, and
/// the seal would not reach the disk with the flush of another file.
const IN_PLACE: [i64; 3] = [
    libc::EXT4_SUPER_MAGIC,
    libc::XFS_SUPER_MAGIC,
    libc::TMPFS_MAGIC,
];

/// Spare segments of one log, in a folder of their own that stock passes over.
#[derive(Debug)]
pub(crate) struct Spares {
    dir: PathBuf,
    segment_size: u64,
    count_max: usize,
    /// Behind it may lie what segments were before.
    write_limit: WriteLimit,
    /// Who lists the folder is not to find files gone: segments expire on one thread and are
    /// prepared on another.
    turn: Mutex<()>,
}

impl Spares {
    /// Where the spares of a log are.
    pub(crate) fn dir_of(log_dir: &Path) -> PathBuf {
        log_dir.join(SPARE_DIR)
    }

    /// The file that says how far the log was flushed.
    pub(crate) fn seal_of(log_dir: &Path) -> PathBuf {
        Self::dir_of(log_dir).join("seal")
    }

    fn new(config: &StoreConfig, log_dir: &Path, write_limit: WriteLimit) -> Self {
        Self {
            dir: Self::dir_of(log_dir),
            segment_size: config.segment_size_bytes,
            count_max: config.spare_segment_count_max,
            write_limit,
            turn: Mutex::new(()),
        }
    }

    /// Notes that records may lie up to a position from now on.
    pub(crate) fn raise_write_limit(&self, position: u64) -> Result<(), StoreError> {
        self.write_limit.raise(position)
    }

    /// Keeps a file, or removes it when there are enough, or where it cannot be kept. It holds nothing
    /// of positions from `usable_from` on, and nobody has it mapped.
    pub(crate) fn keep(&self, path: &Path, usable_from: u64) -> Result<(), StoreError> {
        let _turn = self.turn.lock();
        let is_wanted = list_segments(&self.dir).is_ok_and(|kept| kept.len() < self.count_max);
        if is_wanted && rename(path, &self.dir.join(segment_name(usable_from))).is_ok() {
            return Ok(());
        }
        remove_file(path)
    }

    /// Makes a spare the segment at `base`, which begins with zeros; `None` when there is none.
    ///
    /// Its name is not durable yet. A spare that cannot be used is removed.
    pub(crate) fn take(&self, base: u64, path: &Path) -> Result<Option<File>, StoreError> {
        let _turn = self.turn.lock();
        let spares = list_segments(&self.dir)?;
        // A crash must not bring one back under the name that it had, once it is written again.
        let are_spares_for_good = spares.is_empty() || sync_parent(&self.dir).is_ok();
        for spare in spares {
            let is_fit =
                are_spares_for_good && spare.size == self.segment_size && spare.base <= base;
            if is_fit && let Ok(file) = self.make_ready(&spare.path) {
                rename(&spare.path, path)?;
                return Ok(Some(file));
            }
            remove_file(&spare.path)?;
        }
        Ok(None)
    }

    /// Gives blocks to holes that stock may have left, and takes the head away that stock would
    /// take for a record's, before the file has a segment's name.
    fn make_ready(&self, path: &Path) -> Result<File, StoreError> {
        let file = open_segment(path)?;
        let named = |error| StoreError::io(path, error);
        step(Step::Resize, path, || {
            preallocate(&file, 0, self.segment_size)
        })
        .map_err(named)?;
        // What is in memory may be in large folios, which go to the disk whole (targets.md 1.2).
        // That it stays there only costs speed.
        let _ = fadvise(&file, 0, None, Advice::DontNeed);
        let head = [0; BLOCK_SIZE];
        step(Step::Write, path, || file.write_all_at(&head, 0)).map_err(named)?;
        step(Step::SyncFile, path, || file.sync_data()).map_err(named)?;
        Ok(file)
    }

    /// Removes at most so many, for want of room; returns how many.
    pub(crate) fn give_up(&self, count_max: usize) -> Result<usize, StoreError> {
        let _turn = self.turn.lock();
        let mut spares = list_segments(&self.dir)?;
        spares.truncate(count_max);
        for spare in &spares {
            remove_file(&spare.path)?;
        }
        Ok(spares.len())
    }
}

/// Begins the use of a log: what spares it has, and the file of its seals, if it uses segments
/// again. Then the mark of an unclean stop is there, and says so.
///
/// A full disk has no room for either, and is to be read from nevertheless.
pub(crate) fn begin(
    config: &StoreConfig,
    directory: &StoreDirectory,
    log: &SharedLog,
) -> Result<Option<(Arc<Spares>, SealFile)>, StoreError> {
    let log_dir = directory.commit_log();
    let dir = Spares::dir_of(log_dir);
    let boot_id = boot_id();
    let begun = || -> Result<_, StoreError> {
        if boot_id.is_none() || !may_use_again(config, log_dir) {
            return Ok(None);
        }
        create_dir(&dir)?;
        sync_dir(log_dir)?;
        let end = log.flush(None)?;
        let seals = SealFile::create(Spares::seal_of(log_dir), end)?;
        Ok(Some((end, seals)))
    };
    let begun = match begun() {
        Err(StoreError::DiskFull { .. }) => None,
        done => done?,
    };
    let is_async = config.flush_mode == FlushMode::Async;
    let run = boot_id.as_deref().map(|boot_id| MarkedRun {
        boot_id,
        write_limit: begun.as_ref().map(|(end, _)| *end),
    });
    let run = run.filter(|run| is_async || run.write_limit.is_some());
    if let Some(write_limit) = directory.put_abort_mark(run.as_ref())?
        && let Some((_, seals)) = begun
    {
        let spares = Spares::new(config, log_dir, write_limit);
        return Ok(Some((Arc::new(spares), seals)));
    }
    if dir.exists() {
        remove_dir(&dir)?;
        // Or a former seal could end what this run writes.
        sync_dir(log_dir)?;
    }
    Ok(None)
}

fn may_use_again(config: &StoreConfig, log_dir: &Path) -> bool {
    let is_wanted = config.flush_mode == FlushMode::Sync && config.spare_segment_count_max > 0;
    is_wanted && writes_in_place(log_dir)
}

/// Names this run of the system; `None` where nothing does.
pub(crate) fn boot_id() -> Option<String> {
    let text = fs::read_to_string(BOOT_ID).ok()?;
    let id = text.trim();
    (!id.is_empty()).then(|| id.to_owned())
}

fn writes_in_place(dir: &Path) -> bool {
    let kind = |dir: &Path| -> io::Result<i64> { Ok(statfs(dir)?.f_type) };
    kind(dir).is_ok_and(|kind| IN_PLACE.contains(&kind))
}
