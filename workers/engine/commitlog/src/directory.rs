//! The store directory: its lock file, its mark of an unclean stop, its places.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::checkpoint::CheckpointFile;
use crate::config::{FlushMode, StoreConfig};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{backup_of, create_dir, list, remove_dir, remove_file, sync_dir};
use crate::mark::{Mark, Stop};
use crate::queue_home::QueueHome;
use crate::sys::lock::lock_first_byte;
use crate::system_run::system_run;
use crate::unserved::refuse_queues;

/// Beside the segments, in the same file system.
pub(crate) const FRONT_DIR: &str = "front";

/// A locked store directory; dropping it releases the lock.
#[derive(Debug)]
pub(crate) struct StoreDirectory {
    root: PathBuf,
    commit_log: PathBuf,
    /// This run of the system, if anything names it.
    run: Option<String>,
    _lock: File,
}

impl StoreDirectory {
    /// Creates what is missing and takes the lock.
    pub(crate) fn open(config: &StoreConfig) -> Result<Self, StoreError> {
        let root = config.root.clone();
        let commit_log = config.log_dir();
        create_dir(&root)?;
        let lock = lock(&root.join("lock"))?;
        refuse_queues(&root)?;
        create_dir(&commit_log)?;
        create_dir(&root.join("consumequeue"))?;
        sync_dir(&root)?;
        Ok(Self {
            run: system_run(&[&root, &commit_log]),
            root,
            commit_log,
            _lock: lock,
        })
    }

    pub(crate) fn commit_log(&self) -> &Path {
        &self.commit_log
    }

    /// Where a segment lies that is to go before all others.
    pub(crate) fn front(&self) -> PathBuf {
        self.commit_log.join(FRONT_DIR)
    }

    pub(crate) fn consume_queues(&self) -> PathBuf {
        self.root.join("consumequeue")
    }

    /// Where queues are.
    pub(crate) fn queue_home(&self, config: &StoreConfig) -> QueueHome {
        QueueHome::new(self.consume_queues(), config.queue_file_size_bytes)
            .with_first_offset(config.first_queue_offset)
    }

    /// Removes every queue; that is on the disk when this returns.
    pub(crate) fn remove_queues(&self) -> Result<(), StoreError> {
        let dir = self.consume_queues();
        // Files among them are no store's.
        let mut topics = list(&dir)?.into_iter().filter(|path| path.is_dir());
        topics.try_for_each(|topic| remove_dir(&topic))?;
        sync_dir(&dir)
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.root.join("index")
    }

    pub(crate) fn checkpoint(&self) -> PathBuf {
        self.root.join("checkpoint")
    }

    pub(crate) fn epochs(&self) -> PathBuf {
        self.root.join("epochFileCheckpoint")
    }

    /// Present while a truncation is under way.
    pub(crate) fn truncation(&self) -> PathBuf {
        self.root.join("truncation")
    }

    pub(crate) fn open_checkpoint(&self) -> Result<CheckpointFile, StoreError> {
        CheckpointFile::open(self.checkpoint())
    }

    pub(crate) fn abort(&self) -> PathBuf {
        self.root.join("abort")
    }

    /// This run of the system, if anything names it.
    pub(crate) fn run(&self) -> Option<&str> {
        self.run.as_deref()
    }

    /// The mark of the last user, if the store was not closed.
    pub(crate) fn mark(&self) -> Result<Option<Mark>, StoreError> {
        Mark::find(&self.abort())
    }

    /// Writes the mark, on the disk: it names this run of the system, and how messages are acknowledged.
    pub(crate) fn put_abort_mark(&self, flush_mode: FlushMode) -> Result<(), StoreError> {
        self.write_mark(&Mark::text(self.run(), flush_mode))
    }

    /// Writes a mark, on the disk, that says that the stop was unclean, and nothing else.
    pub(crate) fn put_silent_mark(&self) -> Result<(), StoreError> {
        self.write_mark(&Mark::silent_text())
    }

    fn write_mark(&self, content: &str) -> Result<(), StoreError> {
        let path = self.abort();
        let mut options = OpenOptions::new();
        // The block that the mark of a killed process holds is written again: on a full disk a
        // file that was emptied might not get one back.
        let options = options.write(true).create(true).truncate(false);
        let file = step(Step::Create, &path, || options.open(&path));
        let file = file.map_err(|error| StoreError::io(&path, error))?;
        let written = step(Step::Write, &path, || {
            file.write_all_at(content.as_bytes(), 0)?;
            file.set_len(content.len() as u64)
        });
        match written.map_err(|error| StoreError::io(&path, error)) {
            // That the mark is there says enough; what a former run wrote into it counts no more.
            Err(StoreError::DiskFull { .. }) => step(Step::Resize, &path, || file.set_len(0))
                .map_err(|error| StoreError::io(&path, error))?,
            written => written?,
        }
        // What a former run said in it must not come back, or it would be believed of this one.
        step(Step::SyncFile, &path, || file.sync_all())
            .map_err(|error| StoreError::io(&path, error))?;
        sync_dir(&self.root)
    }

    /// Has the mark of this run of the system name none any more: what is damaged now was so before the system
    /// goes down, and must not be taken for what that loses.
    pub(crate) fn note_damage(&self) -> Result<(), StoreError> {
        match self.mark()?.map(|mark| mark.stop(self.run())) {
            Some(Stop::Killed) => self.put_silent_mark(),
            _ => Ok(()),
        }
    }

    /// Has the mark say that a flush failed, see [`memory`](crate::memory). The write goes over a
    /// sector that is there, so that it seldom fails; no caller could do anything about a failure.
    ///
    /// The size stays: if a smaller size reached the disk before the text, it would cut off the end
    /// of the former text.
    pub(crate) fn note_failed_flush(&self) {
        let path = self.abort();
        let content = Mark::text_of_failed_flush();
        let _ = step(Step::Write, &path, || {
            let file = OpenOptions::new().write(true).open(&path)?;
            file.write_all_at(content.as_bytes(), 0)
        });
    }

    /// Where all is that a store writes down of its messages, files and directories.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        vec![
            self.commit_log.clone(),
            self.consume_queues(),
            self.index(),
            self.checkpoint(),
            self.epochs(),
            backup_of(&self.epochs()),
            self.truncation(),
        ]
    }

    pub(crate) fn remove_abort_mark(&self) -> Result<(), StoreError> {
        remove_file(&self.abort())?;
        sync_dir(&self.root)
    }
}

fn lock(path: &Path) -> Result<File, StoreError> {
    let mut options = OpenOptions::new();
    let options = options.read(true).write(true).create(true).truncate(false);
    let file = step(Step::Create, path, || options.open(path));
    let file = file.map_err(|error| StoreError::io(path, error))?;
    match lock_first_byte(&file) {
        Ok(true) => {}
        Ok(false) => {
            return Err(StoreError::Locked {
                path: path.to_path_buf(),
            });
        }
        Err(error) => return Err(StoreError::io(path, error)),
    }
    step(Step::Write, path, || file.write_all_at(b"lock", 0))
        .map_err(|error| StoreError::io(path, error))?;
    Ok(file)
}
