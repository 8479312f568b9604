//! Looking up by queue offset, by log position and by time. Readers never take the append lock.

use crate::error::StoreError;
use crate::log::LogSegment;
use crate::message::{Boundary, QueueEntry};
use crate::queue::SharedQueue;
use crate::queue_layout::is_filler;
use crate::record::{
    Found, RECORD_SIZE_MIN, RecordDamage, check, check_record, has_header, has_place,
    store_timestamp,
};
use crate::store::Store;
use crate::sys::fetch::fetch_bytes;

impl Store {
    /// First and next offset of a queue.
    #[must_use]
    pub fn queue_offsets(&self, topic: &str, queue_id: i32) -> Option<(u64, u64)> {
        let store = self.of(topic);
        let Some(queue) = store.queues.find(topic, queue_id) else {
            return store.offsets_of_new_queue();
        };
        Some((queue.min_offset(), store.readable_end(&queue)))
    }

    /// The offsets of a queue that has had no message; `None` where it is as good as no queue.
    pub(crate) fn offsets_of_new_queue(&self) -> Option<(u64, u64)> {
        let first = self.config.first_queue_offset;
        (first > 0).then_some((first, first))
    }

    /// Up to `count` entries from the one for `offset` on, ending with the readable ones.
    #[must_use]
    pub fn queue_entries(
        &self,
        topic: &str,
        queue_id: i32,
        offset: u64,
        count: usize,
    ) -> Vec<QueueEntry> {
        let store = self.of(topic);
        let Some(queue) = store.queues.find(topic, queue_id) else {
            return Vec::new();
        };
        queue.entries_until(store.readable_end(&queue), offset, count)
    }

    /// The whole record at a position; `None` when no record starts there.
    ///
    /// # Errors
    /// A record lies there and its checksum differs.
    pub fn read_record(&self, log_position: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let store = self.at(log_position);
        store.record_until(store.confirmed_position(), log_position)
    }

    /// The whole record at a position, if it ends at or before another one.
    pub(crate) fn record_until(
        &self,
        end: u64,
        log_position: u64,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(segment) = self.log.segment_at(log_position) else {
            return Ok(None);
        };
        let Some(rest) = segment.bytes_from(log_position) else {
            return Ok(None);
        };
        match check(rest, log_position, self.config.crc_property) {
            Ok(Found::Record(record)) => Ok(Some(record.bytes.to_vec())
                .filter(|record| log_position + record.len() as u64 <= end)),
            Err(
                damage @ (RecordDamage::BodyCrc
                | RecordDamage::RecordCrc
                | RecordDamage::NoRecordCrc),
            ) => Err(StoreError::Corrupt {
                position: log_position,
                reason: damage.to_string(),
            }),
            Ok(Found::Blank) | Err(_) => Ok(None),
        }
    }

    /// Store time of a message; `None` when the queue has no such offset or its record is gone.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn store_timestamp_at(
        &self,
        topic: &str,
        queue_id: i32,
        offset: u64,
    ) -> Result<Option<i64>, StoreError> {
        let store = self.of(topic);
        let Some(queue) = store.queues.find(topic, queue_id) else {
            return Ok(None);
        };
        if offset < queue.min_offset() || offset >= store.readable_end(&queue) {
            return Ok(None);
        }
        store.entry_timestamp(&queue, (topic, queue_id), offset)
    }

    /// Store time of the oldest message of a queue.
    ///
    /// # Errors
    /// The record is damaged.
    pub fn earliest_store_timestamp(
        &self,
        topic: &str,
        queue_id: i32,
    ) -> Result<Option<i64>, StoreError> {
        let store = self.of(topic);
        let Some(queue) = store.queues.find(topic, queue_id) else {
            return Ok(None);
        };
        store.store_timestamp_at(topic, queue_id, queue.min_offset())
    }

    /// The offset of a time (storage-and-ha.md 5.7); 0 for a queue that does not exist.
    ///
    /// # Errors
    /// A record looked at is damaged.
    pub fn offset_by_time(
        &self,
        topic: &str,
        queue_id: i32,
        timestamp_ms: i64,
        boundary: Boundary,
    ) -> Result<u64, StoreError> {
        let store = self.of(topic);
        let Some(queue) = store.queues.find(topic, queue_id) else {
            return Ok(store.config.first_queue_offset);
        };
        let (min, end) = (queue.min_offset(), store.readable_end(&queue));
        // The entries before the wanted border, found by halving; a message whose record is gone
        // counts as older.
        let (mut low, mut high) = (min, end);
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((offset, _)) = queue.record_entry(middle, high) else {
                high = middle;
                continue;
            };
            let is_before = match (
                store.entry_timestamp(&queue, (topic, queue_id), offset)?,
                boundary,
            ) {
                (None, _) => true,
                (Some(stored), Boundary::Lower) => stored < timestamp_ms,
                (Some(stored), Boundary::Upper) => stored <= timestamp_ms,
            };
            if is_before {
                low = offset + 1;
            } else {
                high = middle;
            }
        }
        let (found, otherwise) = match boundary {
            Boundary::Lower => (queue.record_entry(low, end), end),
            Boundary::Upper => (queue.last_record_entry(min, low), min),
        };
        Ok(found.map_or(otherwise, |(offset, _)| offset))
    }

    fn entry_timestamp(
        &self,
        queue: &SharedQueue,
        place: Place<'_>,
        offset: u64,
    ) -> Result<Option<i64>, StoreError> {
        let Some(entry) = queue.entry(offset) else {
            return Ok(None);
        };
        let mut cursor = LogCursor::new(self, place);
        let Some(record) = cursor.record(offset, &entry)? else {
            return Ok(None);
        };
        Ok(store_timestamp(record, entry.log_position))
    }
}

impl SharedQueue {
    /// Up to `count` entries from the one for `offset` on, ending before the one for `end`.
    pub(crate) fn entries_until(&self, end: u64, offset: u64, count: usize) -> Vec<QueueEntry> {
        if offset < self.min_offset() {
            return Vec::new();
        }
        (offset..end)
            .take(count)
            .map_while(|offset| self.entry(offset))
            .collect()
    }
}

/// Where a look at a record begins, and where it likely ends: topic and properties of an ordinary one.
const HEAD_BYTES: usize = 128;
const TAIL_BYTES: usize = 192;

/// Topic and id of a queue.
pub(crate) type Place<'a> = (&'a str, i32);

/// Reads records by entry, staying in the segment of the previous one.
pub(crate) struct LogCursor<'a> {
    pub(crate) store: &'a Store,
    place: Place<'a>,
    /// The one that holds the last record.
    pub(crate) segment: Option<LogSegment>,
}

impl<'a> LogCursor<'a> {
    pub(crate) fn new(store: &'a Store, place: Place<'a>) -> Self {
        Self {
            store,
            place,
            segment: None,
        }
    }

    /// Whether bytes are the record of an entry: one of this queue with that offset, since nothing
    /// else shows a wrong entry. In a store known to be damaged, and where recovery did not look,
    /// checksums are verified as well (D13); elsewhere their writing and recovery saw to that.
    fn may_serve(&self, record: &[u8], offset: u64, position: u64) -> bool {
        let (topic, queue_id) = self.place;
        let recovery = self.store.recovery();
        let is_known = recovery.damage.is_none() && position >= recovery.scanned_from;
        let rule = self.store.config.crc_property;
        has_header(record, position)
            && has_place(record, topic.as_bytes(), queue_id, offset)
            && (is_known || check_record(record, position, rule).is_ok())
    }

    /// Has the processor fetch what will be looked at of the record of an entry, if it lies in the
    /// segment of the last one.
    pub(crate) fn fetch(&self, entry: &QueueEntry) {
        let segment = self.segment.as_ref();
        let record = segment.and_then(|it| it.bytes(entry.log_position, entry.size as usize));
        let Some(record) = record else {
            return;
        };
        let (head, tail) = record.split_at(record.len().min(HEAD_BYTES));
        fetch_bytes(head.as_ptr(), head.len());
        let tail = &tail[tail.len().saturating_sub(TAIL_BYTES)..];
        fetch_bytes(tail.as_ptr(), tail.len());
    }

    /// The record of an offset's entry; `None` when it is gone from the log.
    ///
    /// A segment that expires while the cursor is in it is read to its end.
    pub(crate) fn record(
        &mut self,
        offset: u64,
        entry: &QueueEntry,
    ) -> Result<Option<&[u8]>, StoreError> {
        let position = entry.log_position;
        if is_filler(entry) {
            return Ok(None);
        }
        let size = entry.size as usize;
        let is_inside = |segment: &LogSegment| segment.bytes(position, size).is_some();
        if !self.segment.as_ref().is_some_and(is_inside) {
            self.segment = self.store.log.segment_at(position);
        }
        if self.segment.is_none() && position < self.store.log.min_position() {
            return Ok(None);
        }
        let record = self
            .segment
            .as_ref()
            .and_then(|segment| segment.bytes(position, size));
        match record {
            Some(record) if size >= RECORD_SIZE_MIN && self.may_serve(record, offset, position) => {
                Ok(Some(record))
            }
            _ => {
                let reason = "a queue entry points to bytes that are not its record".into();
                Err(StoreError::Corrupt { position, reason })
            }
        }
    }
}
