//! An open store whose log is cut (FORMAT.md 9).

use std::sync::Arc;

use super::Store;
use crate::error::StoreError;
use crate::files::Replacement;
use crate::record::{Found, check};
use crate::truncation::Truncation;

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

    /// Gives up all that this store holds, in one durable act as [`Self::truncate_to`]. Its log may
    /// then begin at any segment, as [`Self::append_copied`] has it.
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
        reopened.local = self.local.take();
        *self = reopened;
        Ok(())
    }

    /// Store time of the last record before `position`. It is found by stepping through the
    /// segment, so that bytes inside a body are never taken for a record.
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
