//! Building the index: the keys of a piece of the log wait in memory, then go into files.
//!
//! Records are applied without any lock that a search needs; only putting keys into a file excludes
//! searches.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::file::IndexedKey;
use super::keys::each_hash;
use super::stamp::stamp;
use super::{Index, IndexFile};
use crate::checkpoint::Checkpoint;
use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::follower::{Follower, LocalTime};
use crate::index_layout::FIRST_NUMBER;
use crate::log::SharedLog;
use crate::record::{Found, RecordView, locate};

/// The follower that builds the key index.
#[derive(Debug)]
pub(crate) struct IndexBuilder {
    index: Arc<Index>,
    is_enabled: bool,
    /// Position of the next record to read.
    next: u64,
    /// Keys of records before that, not yet in a file.
    pending: VecDeque<IndexedKey>,
    /// Files were removed, perhaps not all that had to be: `next` and `pending` mean nothing.
    must_resume: bool,
    text: Vec<u8>,
}

impl Follower for IndexBuilder {
    fn name(&self) -> &'static str {
        "the key index"
    }

    fn position(&self) -> u64 {
        self.next
    }

    fn is_enabled(&self) -> bool {
        self.is_enabled
    }

    fn apply(&mut self, record: &RecordView<'_>) {
        debug_assert_eq!(record.log_position, self.next, "a record out of order");
        self.note(record);
        self.next = record.log_position + record.bytes.len() as u64;
    }

    fn skip_to(&mut self, position: u64) {
        self.next = position;
    }

    fn publish(&mut self, time: LocalTime) -> Result<(), StoreError> {
        let put = self.put(stamp(time.now_ms, time.utc_offset_s));
        self.show_position();
        put
    }

    /// A file that reaches that far goes as a whole: its remaining keys are built again.
    fn cut(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        let end = log.max_position();
        let reaches = |file: &IndexFile| file.header.end_position >= end;
        let first = self.index.files.read().iter().position(reaches);
        if let Some(first) = first {
            self.index.remove_from(first)?;
        }
        self.resume(log)
    }

    fn restart(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.index.remove_from(0)?;
        self.resume(log)
    }

    fn repair(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.remove_damaged()?;
        if self.must_resume {
            self.resume(log)?;
        }
        Ok(())
    }

    fn expire(&mut self, min_position: u64) -> Result<(), StoreError> {
        self.index.remove_expired(min_position)
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.index.flush()
    }

    fn checkpoint(&self, checkpoint: &mut Checkpoint) {
        checkpoint.index_timestamp_ms = self.index.durable_timestamp_ms();
    }
}

impl IndexBuilder {
    pub(crate) fn new(index: Arc<Index>, is_enabled: bool) -> Self {
        Self {
            index,
            is_enabled,
            next: 0,
            pending: VecDeque::new(),
            must_resume: false,
            text: Vec::new(),
        }
    }

    /// Searches read the log from there on.
    fn show_position(&self) {
        let first = self.pending.front();
        let position = first.map_or(self.next, |key| key.log_position);
        self.index.position.store(position, Ordering::Release);
    }

    fn remove_damaged(&mut self) -> Result<(), StoreError> {
        if let Some(damaged) = self.index.first_damaged() {
            self.must_resume = true;
            self.index.remove_damaged(damaged)?;
        }
        Ok(())
    }

    /// Finds where building goes on: with the newest entry's record, less its keys in the files.
    ///
    /// A newest file that does not hold the keys of its newest record is damaged.
    fn resume(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        let index = Arc::clone(&self.index);
        self.pending.clear();
        loop {
            let found = {
                let files = index.files.read();
                self.next = files.last().map_or(0, |last| last.header.end_position);
                // The first file may hold no key yet: stock makes it before it knows of one.
                let is_begun = |file: &IndexFile| {
                    file.header.next_number > FIRST_NUMBER || file.header.end_position > 0
                };
                let is_there = files.iter().any(is_begun) && self.next >= log.min_position();
                if is_there {
                    self.resume_in_record(&files, log)
                } else {
                    Some(())
                }
            };
            if found.is_some() {
                break;
            }
            if let Some(last) = index.files.read().last() {
                last.mark_damaged();
            }
            self.remove_damaged()?;
        }
        self.must_resume = false;
        self.next = self.next.max(log.min_position());
        self.show_position();
        Ok(())
    }

    /// Puts the pending keys, creating files as they are needed. On an error the rest stays pending.
    fn put(&mut self, stamp: u64) -> Result<(), StoreError> {
        let index = &self.index;
        while !self.pending.is_empty() {
            let is_full = index.files.read().last().is_none_or(IndexFile::is_full);
            if is_full {
                // Searches may go on while 420 MB are written.
                index.files.read().iter().try_for_each(IndexFile::flush)?;
                index.create_file(stamp)?;
            }
            let mut files = index.files.write();
            let Some(last) = files.last_mut() else {
                continue;
            };
            while let Some(key) = self.pending.front().filter(|_| !last.is_full()) {
                last.put(key)?;
                self.pending.pop_front();
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

/// An index that is made from records handed to it, beside the one in use.
#[derive(Debug)]
pub(crate) struct NewIndex {
    builder: IndexBuilder,
    stamp: u64,
}

impl NewIndex {
    /// An empty one; the time names its files, as for [`Store::advance_followers`].
    pub(crate) fn new(config: &StoreConfig, dir: PathBuf, now_ms: i64, utc_offset_s: i32) -> Self {
        let index = Arc::new(Index::empty(config, dir));
        Self {
            builder: IndexBuilder::new(index, true),
            stamp: stamp(now_ms, utc_offset_s),
        }
    }

    /// Adds the keys of the log's next record.
    pub(crate) fn add(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        self.builder.note(record);
        self.builder.put(self.stamp)
    }

    /// Puts everything on the disk; returns how many files and keys there are, and the time that
    /// the checkpoint may hold.
    pub(crate) fn finish(&self) -> Result<(usize, u64, i64), StoreError> {
        let index = &self.builder.index;
        index.flush()?;
        let files = index.files.read();
        let keys = |file: &IndexFile| u64::from(file.header.next_number - FIRST_NUMBER);
        let key_count = files.iter().map(keys).sum();
        Ok((files.len(), key_count, index.durable_timestamp_ms()))
    }
}
