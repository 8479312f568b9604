//! Building the index: read a piece of the log, then put its keys into files.
//!
//! The log is read without any lock that a search needs; only the putting of keys excludes searches.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use super::file::IndexedKey;
use super::keys::each_hash;
use super::layout::FIRST_NUMBER;
use super::stamp::stamp;
use super::{Index, IndexFile, IndexStatus};
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::log::SharedLog;
use crate::record::{Found, RecordView, locate};
use crate::store::Store;

/// How much of the log is read before its keys are put: bounds how long a search waits.
const PIECE_BYTES: u64 = 1 << 20;

/// What lies between the log and the files.
#[derive(Debug, Default)]
pub(crate) struct Build {
    /// Position of the next record to read.
    next: u64,
    /// Keys of records before that, not yet in a file.
    pending: VecDeque<IndexedKey>,
    /// Files were removed, perhaps not all that had to be: the rest of this means nothing.
    pub(super) must_resume: bool,
    text: Vec<u8>,
}

impl Store {
    /// Indexes the next piece of the log and returns how many bytes of it are left to be indexed.
    ///
    /// The caller repeats it while something is left; of a read-only store nothing ever is. `now_ms` and `utc_offset_s`, the distance of
    /// the local time from UTC, name a new file. Appends go on meanwhile.
    ///
    /// # Errors
    /// No room for a file, or another failure of the system: nothing is lost, the next call
    /// goes on. A damaged record of the log ends the index before it (D13).
    pub fn index_tick(&self, now_ms: i64, utc_offset_s: i32) -> Result<u64, StoreError> {
        let index = &self.index;
        let mut build = index.build.lock();
        // Under the lock: closing holds it from the last flush of the files on.
        self.check_open()?;
        if self.is_read_only() {
            return Ok(0);
        }
        index.repair(&mut build, &self.log)?;
        // A file of the past must not vouch for the next one with its times.
        self.write_index_timestamp(index.durable_timestamp_ms())?;
        if !self.config.index_enabled {
            return Ok(0);
        }
        let read = build.read(&self.log);
        let put = index.put(&mut build, stamp(now_ms, utc_offset_s));
        let position = build.position();
        index.position.store(position, Ordering::Release);
        put?;
        read?;
        Ok(self.log.max_position().saturating_sub(position))
    }

    /// How far the key index is.
    #[must_use]
    pub fn index_status(&self) -> IndexStatus {
        self.index.status()
    }
}

impl Index {
    /// Removes what is damaged or expired, so that building can go on.
    fn repair(&self, build: &mut Build, log: &SharedLog) -> Result<(), StoreError> {
        self.remove_damaged(build)?;
        if build.must_resume {
            self.resume(build, log)?;
        }
        self.remove_expired(log.min_position())
    }

    /// Finds where building goes on: with the newest entry's record, less its keys in the files.
    ///
    /// A newest file that does not hold the keys of its newest record is damaged.
    pub(super) fn resume(&self, build: &mut Build, log: &SharedLog) -> Result<(), StoreError> {
        build.pending.clear();
        loop {
            let found = {
                let files = self.files.read();
                build.next = files.last().map_or(0, |last| last.header.end_position);
                // The first file may hold no key yet: stock makes it before it knows of one.
                let is_begun = |file: &IndexFile| {
                    file.header.next_number > FIRST_NUMBER || file.header.end_position > 0
                };
                let is_there = files.iter().any(is_begun) && build.next >= log.min_position();
                if is_there {
                    build.resume_in_record(&files, log)
                } else {
                    Some(())
                }
            };
            if found.is_some() {
                break;
            }
            if let Some(last) = self.files.read().last() {
                last.mark_damaged();
            }
            self.remove_damaged(build)?;
        }
        build.must_resume = false;
        build.next = build.next.max(log.min_position());
        self.position.store(build.position(), Ordering::Release);
        Ok(())
    }

    /// Puts the pending keys, creating files as they are needed. On an error the rest stays pending.
    fn put(&self, build: &mut Build, stamp: u64) -> Result<(), StoreError> {
        while !build.pending.is_empty() {
            let is_full = self.files.read().last().is_none_or(IndexFile::is_full);
            if is_full {
                // Searches may go on while 420 MB are written.
                self.files.read().iter().try_for_each(IndexFile::flush)?;
                self.create_file(stamp)?;
            }
            let mut files = self.files.write();
            let Some(last) = files.last_mut() else {
                continue;
            };
            while let Some(key) = build.pending.front().filter(|_| !last.is_full()) {
                last.put(key)?;
                build.pending.pop_front();
            }
        }
        Ok(())
    }
}

/// An index that is made from records handed to it, beside the one in use.
#[derive(Debug)]
pub(crate) struct NewIndex {
    index: Index,
    build: Build,
    stamp: u64,
}

impl NewIndex {
    /// An empty one; the time names its files, as for [`Store::index_tick`].
    pub(crate) fn new(config: &StoreConfig, dir: PathBuf, now_ms: i64, utc_offset_s: i32) -> Self {
        Self {
            index: Index::empty(config, dir),
            build: Build::default(),
            stamp: stamp(now_ms, utc_offset_s),
        }
    }

    /// Adds the keys of the log's next record.
    pub(crate) fn add(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        self.build.note(record);
        self.index.put(&mut self.build, self.stamp)
    }

    /// Puts everything on the disk; returns how many files and keys there are, and the time that
    /// the checkpoint may hold.
    pub(crate) fn finish(&self) -> Result<(usize, u64, i64), StoreError> {
        self.index.flush()?;
        let files = self.index.files.read();
        let keys = |file: &IndexFile| u64::from(file.header.next_number - FIRST_NUMBER);
        let key_count = files.iter().map(keys).sum();
        Ok((files.len(), key_count, self.index.durable_timestamp_ms()))
    }
}

impl Build {
    /// Every record before this position is in the files.
    fn position(&self) -> u64 {
        self.pending
            .front()
            .map_or(self.next, |key| key.log_position)
    }

    /// Reads the next piece of the log, unless keys of the last one are still pending.
    fn read(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        let end = log
            .max_position()
            .min(self.next.saturating_add(PIECE_BYTES));
        while self.pending.is_empty() && self.next < end {
            self.read_segment(log, end)?;
        }
        Ok(())
    }

    fn read_segment(&mut self, log: &SharedLog, end: u64) -> Result<(), StoreError> {
        let damaged = |position, reason: String| StoreError::Corrupt { position, reason };
        let segment = log.segment_at(self.next);
        let rest = segment
            .as_ref()
            .and_then(|segment| segment.bytes_from(self.next));
        let Some(mut rest) = rest else {
            let min_position = log.min_position();
            if self.next >= min_position {
                return Err(damaged(self.next, "the log has no bytes here".into()));
            }
            self.next = min_position;
            return Ok(());
        };
        while self.next < end {
            match locate(rest, self.next) {
                Ok(Found::Record(record)) => {
                    self.note(&record);
                    rest = &rest[record.bytes.len()..];
                    self.next += record.bytes.len() as u64;
                }
                Ok(Found::Blank) => {
                    self.next = log.next_segment_start(self.next);
                    break;
                }
                Err(damage) => {
                    let reason = format!("the key index ends here: {damage}");
                    return Err(damaged(self.next, reason));
                }
            }
        }
        Ok(())
    }

    fn note(&mut self, record: &RecordView<'_>) {
        let (log_position, store_timestamp_ms) = (record.log_position, record.store_timestamp_ms);
        let pending = &mut self.pending;
        each_hash(record, &mut self.text, |hash| {
            pending.push_back(IndexedKey {
                hash,
                log_position,
                store_timestamp_ms,
            });
        });
    }

    /// Steps over the record at `next` and keeps those of its keys that the files do not hold;
    /// `None` when there is no such record, or the files hold other keys of it.
    fn resume_in_record(&mut self, files: &[IndexFile], log: &SharedLog) -> Option<()> {
        let position = self.next;
        let segment = log.segment_at(position)?;
        let Ok(Found::Record(record)) = locate(segment.bytes_from(position)?, position) else {
            return None;
        };
        self.note(&record);
        self.next += record.bytes.len() as u64;
        let mut held: Vec<i32> = Vec::new();
        for file in files.iter().rev() {
            held.extend(file.newest_of(position));
            if file.header.begin_position < position {
                break;
            }
        }
        let is_prefix = !held.is_empty() && held.len() <= self.pending.len();
        let are_equal = || {
            held.iter()
                .rev()
                .zip(&self.pending)
                .all(|(hash, key)| *hash == key.hash)
        };
        let is_right = is_prefix && are_equal();
        self.pending.drain(..held.len().min(self.pending.len()));
        is_right.then_some(())
    }
}
