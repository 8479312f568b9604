//! Rebuilding queues and key index from the log of a store that is not open (FORMAT.md 10).
//!
//! The new files lie beside those in use until they are whole and on the disk. Then old and new are
//! exchanged, queues and key index each in one step. So a store is complete at every moment.

use std::path::{Path, PathBuf};

use crate::checkpoint::{Checkpoint, CheckpointFile};
use crate::config::StoreConfig;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::failpoint::{self, step};
use crate::files::{
    SegmentFile, create_dir, exchange, list_segments, open_segment, remove_dir, rename, sync_dir,
};
use crate::index::NewIndex;
use crate::inspect::{LogWalk, Step};
use crate::message::QueueRange;
use crate::queue_flush::flush_queues;
use crate::queue_home::QueueHome;
use crate::queue_rebuild::QueueRebuild;
use crate::record::CrcProperty;
use crate::truncation::Truncation;

/// What is to be rebuilt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildParts {
    /// The consume queues.
    pub queues: bool,
    /// The key index.
    pub index: bool,
}

/// What was rebuilt.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rebuilt {
    /// The queues, by topic and id; none if they were left alone.
    pub queues: Vec<QueueRange>,
    /// Files of the new index.
    pub index_file_count: usize,
    /// Keys in it.
    pub key_count: u64,
    /// Records without an entry, since no queue can hold them: a header's bit is wrong.
    pub unqueued_count: u64,
    /// Whether the checkpoint was written, as it is after a clean stop.
    pub has_checkpoint: bool,
    /// Records that were used although their CRC property is wrong; without the option only.
    pub wrong_crc_count: u64,
    /// Log position of the first of these.
    pub first_wrong_crc: Option<u64>,
}

/// A rebuild that is under way; dropping it leaves the store as it was.
#[derive(Debug)]
pub struct Rebuild {
    /// Before the directory: what is left of it is removed under the lock.
    places: Places,
    directory: StoreDirectory,
    parts: RebuildParts,
    walk: LogWalk,
    /// Where the queues are that are replaced.
    stored: QueueHome,
    queues: QueueRebuild,
    index: NewIndex,
    flushed_position: u64,
    newest_timestamp_ms: i64,
    wrong_crc_count: u64,
    first_wrong_crc: Option<u64>,
    /// End of the log, once the walk is there.
    end_position: Option<u64>,
}

impl Rebuild {
    /// Locks the store and begins. The times name index files, as for [`crate::Store::advance_followers`].
    ///
    /// # Errors
    /// The store is in use, is to be truncated first, or the system refuses.
    pub fn begin(
        config: StoreConfig,
        parts: RebuildParts,
        now_ms: i64,
        utc_offset_s: i32,
    ) -> Result<Self, StoreError> {
        let config = config.validated()?;
        let crc_property = config.crc_property;
        let directory = StoreDirectory::open(&config)?;
        if Truncation::load(&directory)?.is_some() {
            return Err(StoreError::UnexpectedFile {
                path: directory.truncation(),
                reason: "a truncation of the log is under way; start the broker once, which \
                         finishes it"
                    .into(),
            });
        }
        let places = Places::prepare(&directory, parts)?;
        let stored = directory.queue_home(&config);
        let made = QueueHome::new(new(&places.queues), stored.file_size());
        let mut queues = QueueRebuild::empty(&config, made);
        queues.begin_pass(Some(0))?;
        Ok(Self {
            walk: walk(&directory, crc_property)?,
            stored,
            queues,
            index: NewIndex::new(&config, new(&places.index), now_ms, utc_offset_s),
            flushed_position: Checkpoint::load(&directory.checkpoint())?.known_flushed_position(),
            newest_timestamp_ms: 0,
            wrong_crc_count: 0,
            first_wrong_crc: None,
            end_position: None,
            directory,
            places,
            parts,
        })
    }

    /// Bytes of the log to read.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.walk.total_bytes()
    }

    /// Bytes read.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.walk.done_bytes()
    }

    /// Reads on over about so many bytes of the log; `false` once all of it is read.
    ///
    /// # Errors
    /// The log is damaged, or the system refuses, for want of room for example.
    pub fn advance(&mut self, bytes: u64) -> Result<bool, StoreError> {
        let until = self.walk.done_bytes().saturating_add(bytes);
        while self.end_position.is_none() && self.walk.done_bytes() < until {
            let step = self.walk.step()?;
            let crc_is_wrong = matches!(step, Some(Step::WrongCrc(_)));
            match step {
                Some(Step::Record(record) | Step::WrongCrc(record)) => {
                    if crc_is_wrong {
                        self.wrong_crc_count += 1;
                        self.first_wrong_crc.get_or_insert(record.log_position);
                    }
                    let newest_ms = self.newest_timestamp_ms.max(record.store_timestamp_ms);
                    self.newest_timestamp_ms = newest_ms;
                    if self.parts.queues {
                        self.queues.on_record(&record)?;
                    }
                    if self.parts.index {
                        self.index.add(&record)?;
                    }
                }
                Some(Step::Damaged {
                    position, damage, ..
                }) => return Err(incomplete(position, &damage.to_string())),
                Some(Step::Missing { position, .. } | Step::Expired { position, .. }) => {
                    return Err(incomplete(position, "a segment is missing"));
                }
                Some(Step::End { position, .. }) => {
                    if position < self.flushed_position {
                        let flushed = self.flushed_position;
                        let reason = format!("the log ends here, but was flushed up to {flushed}");
                        return Err(incomplete(position, &reason));
                    }
                    self.end_position = Some(position);
                }
                None => self.end_position = Some(self.flushed_position),
            }
        }
        Ok(self.end_position.is_none())
    }

    /// Puts what was made into its place, once [`Rebuild::advance`] has read all of the log.
    /// What it replaces is kept as `<name>.<suffix>` or, without a suffix, removed.
    ///
    /// # Errors
    /// The system refuses; each part is then the old one or the new one, and whole.
    pub fn finish(mut self, old_suffix: Option<&str>) -> Result<Rebuilt, StoreError> {
        while self.advance(u64::MAX)? {}
        let end_position = self.end_position.unwrap_or_default();
        let mut rebuilt = Rebuilt {
            wrong_crc_count: self.wrong_crc_count,
            first_wrong_crc: self.first_wrong_crc,
            ..Rebuilt::default()
        };
        let mut index_timestamp_ms = None;
        if self.parts.index {
            let (file_count, key_count, timestamp_ms) = self.index.finish()?;
            (rebuilt.index_file_count, rebuilt.key_count) = (file_count, key_count);
            index_timestamp_ms = Some(timestamp_ms);
        }
        let min_position = self.walk.min_position();
        if self.parts.queues {
            self.queues.keep_ends(&self.stored, min_position)?;
            rebuilt.unqueued_count = self.queues.report().records_unqueued;
        }
        let table = self.queues.finish(min_position, false);
        rebuilt.queues = table.shared().ranges();
        let queues = table.shared().list().into_iter().map(|(_, _, queue)| queue);
        flush_queues(&queues.collect::<Vec<_>>())?;
        // The checkpoint is going to vouch for the log as well.
        sync_segments(self.directory.commit_log())?;
        sync_dir(&self.places.root)?;
        self.places.exchange(self.parts)?;
        if self.directory.mark()?.is_none() {
            // All of the log and the new parts are on the disk now.
            let path = self.directory.checkpoint();
            let found = Checkpoint::load(&path)?;
            let newest_ms = self.newest_timestamp_ms;
            let queue_timestamp_ms = self.parts.queues.then_some(newest_ms);
            CheckpointFile::open(path)?.write(Checkpoint {
                log_timestamp_ms: newest_ms,
                queue_timestamp_ms: queue_timestamp_ms
                    .unwrap_or(found.queue_timestamp_ms.clamp(0, newest_ms)),
                index_timestamp_ms: index_timestamp_ms
                    .unwrap_or(found.index_timestamp_ms.clamp(0, newest_ms)),
                flushed_position: end_position,
                confirmed_position: end_position,
            })?;
            sync_dir(&self.places.root)?;
            rebuilt.has_checkpoint = true;
        }
        if let Some(suffix) = old_suffix {
            self.places.keep_old(self.parts, suffix)?;
        }
        Ok(rebuilt)
    }
}

fn walk(directory: &StoreDirectory, crc_property: CrcProperty) -> Result<LogWalk, StoreError> {
    let walk = LogWalk::new(directory.commit_log())?.measured()?;
    Ok(walk.judging_by(crc_property))
}

/// Makes every segment of a log durable.
fn sync_segments(dir: &Path) -> Result<(), StoreError> {
    for SegmentFile { path, .. } in list_segments(dir)? {
        let file = open_segment(&path)?;
        step(failpoint::Step::SyncFile, &path, || file.sync_all())
            .map_err(|error| StoreError::io(&path, error))?;
    }
    sync_dir(dir)
}

fn incomplete(position: u64, reason: &str) -> StoreError {
    StoreError::Corrupt {
        position,
        reason: format!("{reason}; queues and index are made of intact logs only"),
    }
}

/// Where the parts are and are made; the new places are emptied at the beginning and the end.
#[derive(Debug)]
struct Places {
    root: PathBuf,
    queues: PathBuf,
    index: PathBuf,
}

impl Places {
    fn prepare(directory: &StoreDirectory, parts: RebuildParts) -> Result<Self, StoreError> {
        let queues = directory.consume_queues();
        let places = Self {
            root: queues.parent().unwrap_or(Path::new("/")).to_path_buf(),
            queues,
            index: directory.index(),
        };
        for place in places.of(parts) {
            remove_dir(&new(place))?;
            create_dir(&new(place))?;
        }
        Ok(places)
    }

    fn of(&self, parts: RebuildParts) -> impl Iterator<Item = &PathBuf> {
        let queues = parts.queues.then_some(&self.queues);
        let index = parts.index.then_some(&self.index);
        queues.into_iter().chain(index)
    }

    fn exchange(&self, parts: RebuildParts) -> Result<(), StoreError> {
        for place in self.of(parts) {
            create_dir(place)?;
            exchange(&new(place), place)?;
        }
        sync_dir(&self.root)
    }

    fn keep_old(&self, parts: RebuildParts, suffix: &str) -> Result<(), StoreError> {
        for place in self.of(parts).filter(|place| place.exists()) {
            rename(&new(place), &place.with_extension(suffix))?;
        }
        sync_dir(&self.root)
    }
}

impl Drop for Places {
    fn drop(&mut self) {
        // What cannot be removed is never read, and the next rebuild tries again.
        for place in [&self.queues, &self.index] {
            let _ = remove_dir(&new(place));
        }
    }
}

/// What is to replace a directory is made beside it.
fn new(place: &Path) -> PathBuf {
    place.with_extension("new")
}
