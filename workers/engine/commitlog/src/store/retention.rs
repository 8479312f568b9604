//! Deleting the oldest segments, and with them what was derived from them (storage-and-ha.md 5.6).
//!
//! A segment goes as a whole, the oldest first, so that a crash at any step leaves a log without a
//! gap. Who reads in a segment or a queue file keeps its map until the read is over: the bytes stay
//! until then, only the names are gone.

use crate::error::StoreError;
use crate::files::sync_dir;
use crate::record::check_record;
use crate::store::Store;

/// How many times as long, and as much, is kept of what a replica still needs.
const NEEDED_PATIENCE: i64 = 2;

/// Which segments may go. Never the newest one, and never one that is not on the disk yet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Retention {
    /// Goes when its last record is this old (`fileReservedTime`).
    ///
    /// Stock asks for the file's modification time, which a copy or a restored backup changes.
    pub age_ms: Option<i64>,
    /// Goes while so many bytes of log stay behind it.
    pub log_bytes_max: Option<u64>,
    /// A replica still needs the log from here on: what it needs goes only when it is twice as old, or
    /// twice as much stays behind it, or when deletion is forced.
    pub needed_from: Option<u64>,
    /// Goes whatever its age: the disk is too full.
    pub is_forced: bool,
    /// How many may go in one call (`deleteFileBatchMax`).
    pub segment_count_max: usize,
}

/// What went.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Expired {
    /// Segments of the log.
    pub segment_count: usize,
    /// Their bytes.
    pub byte_count: u64,
    /// Files of consume queues.
    pub queue_file_count: usize,
}

impl Store {
    /// Deletes the files of queues that are gone, and the oldest segments that may go. Then deletes
    /// files of queues and of followers that have no entry for a record that is left. Forgets
    /// epochs that ended long before those records.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only, or a file cannot be removed. Call again: what a
    /// failed call left undone is done then.
    pub fn expire(&self, retention: &Retention, now_ms: i64) -> Result<Expired, StoreError> {
        let of_local = Retention {
            needed_from: None,
            ..*retention
        };
        let local = self.local().map(|local| local.expire(&of_local, now_ms));
        let _alone = self.expiry.lock();
        self.check_writable()?;
        // The error comes at the end: segments, which make more room, go even where this fails.
        let removed = self.expire_removed_queues();
        let mut expired = Expired::default();
        while expired.segment_count < retention.segment_count_max
            && self.oldest_may_go(retention, now_ms)
        {
            self.log.remove_oldest()?;
            expired.segment_count += 1;
            expired.byte_count += self.config.segment_size_bytes;
        }
        if expired.segment_count > 0 {
            sync_dir(self.directory.commit_log())?;
        }
        expired.queue_file_count = self.expire_queues()?;
        let min_position = self.log.min_position();
        self.followers.lock().expire(min_position)?;
        self.timers.lock().expire(min_position)?;
        self.forget_expired_epochs(min_position)?;
        removed?;
        Ok(local.transpose()?.map_or(expired, |local| Expired {
            segment_count: expired.segment_count + local.segment_count,
            byte_count: expired.byte_count + local.byte_count,
            queue_file_count: expired.queue_file_count + local.queue_file_count,
        }))
    }

    fn oldest_may_go(&self, retention: &Retention, now_ms: i64) -> bool {
        let Some(next) = self.log.second_segment() else {
            return false;
        };
        if next.base > self.log.flushed_position() {
            return false;
        }
        let is_needed = retention.needed_from.is_some_and(|from| next.base > from);
        let patience = if is_needed { NEEDED_PATIENCE } else { 1 };
        // The next one's first record is no older than its last one.
        let is_old = |age_ms: i64| {
            let first_ms = self.first_timestamp_from(next.base);
            first_ms.is_some_and(|first_ms| {
                first_ms.saturating_add(age_ms.saturating_mul(patience)) <= now_ms
            })
        };
        let is_too_much = |bytes_max: u64| {
            let bytes_max = bytes_max.saturating_mul(patience.unsigned_abs());
            self.log.max_position() - next.base >= bytes_max
        };
        retention.is_forced
            || retention.age_ms.is_some_and(is_old)
            || retention.log_bytes_max.is_some_and(is_too_much)
    }

    /// Store time of the first record of a segment. Where that is damaged, of the first one behind
    /// it: it would keep all segments before it for ever.
    fn first_timestamp_from(&self, mut base: u64) -> Option<i64> {
        loop {
            let segment = self.log.segment_at(base)?;
            let bytes = segment.bytes_from(base).unwrap_or_default();
            if let Ok(first) = check_record(bytes, base, self.config.crc_property) {
                return Some(first.store_timestamp_ms);
            }
            base = self.log.next_segment_start(base);
        }
    }

    fn expire_queues(&self) -> Result<usize, StoreError> {
        let min_position = self.log.min_position();
        let mut count = 0;
        for (_, _, queue) in self.queues.list() {
            queue.correct_min_offset(min_position);
            count += queue.remove_expired(min_position)?;
        }
        Ok(count)
    }
}
