//! Reading by queue offset, by log position and by time. Readers never take the append lock.

use crate::error::StoreError;
use crate::log::LogSegment;
use crate::message::{Boundary, QueueEntry, QueueRead, ReadOutcome, ReadStatus};
use crate::queue::SharedQueue;
use crate::queue_layout::{Layout, Placed, is_filler};
use crate::queue_places::{LIGHT_PREFIX, LIGHT_QUEUE_ID, light_offset};
use crate::record::{
    Found, RECORD_SIZE_MIN, RecordView, check, check_record, has_header, has_queue_place,
    store_timestamp,
};
use crate::store::Store;

/// `maxFilterMessageSize`: how many bytes of entries a read examines at most, unless the count
/// asked for needs more.
const EXAMINED_BYTES_MAX: usize = 16_000;

impl Store {
    /// First and next offset of a queue.
    #[must_use]
    pub fn queue_offsets(&self, topic: &str, queue_id: i32) -> Option<(u64, u64)> {
        let queue = self.queues.find(topic, queue_id)?;
        Some((queue.min_offset(), queue.max_offset()))
    }

    /// Up to `count` entries from the one for `offset` on, ending with the readable ones. In a batch
    /// queue an entry stands for as many offsets as its record has messages.
    #[must_use]
    pub fn queue_entries(
        &self,
        topic: &str,
        queue_id: i32,
        offset: u64,
        count: usize,
    ) -> Vec<QueueEntry> {
        let Some(queue) = self.queues.find(topic, queue_id) else {
            return Vec::new();
        };
        if offset < queue.min_offset() {
            return Vec::new();
        }
        (queue.number_of(offset)..queue.end_number())
            .take(count)
            .map_while(|number| queue.placed(number))
            .map(|placed| placed.entry)
            .collect()
    }

    /// Reads messages of a queue, appending their records to `records`.
    ///
    /// # Errors
    /// A record is damaged: it is reported and not served (D13).
    pub fn read_queue(
        &self,
        topic: &str,
        queue_id: i32,
        read: &QueueRead<'_>,
        records: &mut Vec<u8>,
    ) -> Result<ReadOutcome, StoreError> {
        let Some(queue) = self.queues.find(topic, queue_id) else {
            return Ok(ReadOutcome {
                status: ReadStatus::NoMatchedLogicQueue,
                next_offset: 0,
                min_offset: 0,
                max_offset: 0,
                count: 0,
            });
        };
        let (min_offset, max_offset) = (queue.min_offset(), queue.max_offset());
        let offset = u64::try_from(read.offset).ok();
        let (status, next_offset) = match offset {
            _ if max_offset == 0 => (ReadStatus::NoMessageInQueue, 0),
            Some(offset) if offset >= min_offset && offset < max_offset => {
                let mut scan = Scan::new(self, (topic, queue_id), read, records);
                scan.run(&queue, offset, max_offset)?;
                let (status, next_offset, count) = (scan.status, scan.next_offset, scan.count);
                return Ok(ReadOutcome {
                    status,
                    next_offset,
                    min_offset,
                    max_offset,
                    count,
                });
            }
            Some(offset) if offset == max_offset => (ReadStatus::OffsetOverflowOne, offset),
            Some(offset) if offset > max_offset => (ReadStatus::OffsetOverflowBadly, max_offset),
            _ => (ReadStatus::OffsetTooSmall, min_offset),
        };
        Ok(ReadOutcome {
            status,
            next_offset,
            min_offset,
            max_offset,
            count: 0,
        })
    }

    /// The whole record at a position; `None` when no record starts there.
    ///
    /// # Errors
    /// The record's header is right and its body is not.
    pub fn read_record(&self, log_position: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let Some(segment) = self.log.segment_at(log_position) else {
            return Ok(None);
        };
        let Some(rest) = segment.bytes_from(log_position) else {
            return Ok(None);
        };
        match check(rest, log_position) {
            Ok(Found::Record(record)) => Ok(Some(record.bytes.to_vec())),
            Err(damage @ crate::record::RecordDamage::BodyCrc) => Err(StoreError::Corrupt {
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
        let Some(queue) = self.queues.find(topic, queue_id) else {
            return Ok(None);
        };
        if offset < queue.min_offset() {
            return Ok(None);
        }
        self.entry_timestamp(&queue, (topic, queue_id), queue.number_of(offset))
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
        let Some(queue) = self.queues.find(topic, queue_id) else {
            return Ok(None);
        };
        let number = queue.number_of(queue.min_offset());
        self.entry_timestamp(&queue, (topic, queue_id), number)
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
        let Some(queue) = self.queues.find(topic, queue_id) else {
            return Ok(0);
        };
        let min = queue.number_of(queue.min_offset());
        let end = queue.end_number();
        // The entries before the wanted border, found by halving; a message whose record is gone
        // counts as older.
        let (mut low, mut high) = (min, end);
        while low < high {
            let middle = low + (high - low) / 2;
            let is_before = match (
                self.entry_timestamp(&queue, (topic, queue_id), middle)?,
                boundary,
            ) {
                (None, _) => true,
                (Some(stored), Boundary::Lower) => stored < timestamp_ms,
                (Some(stored), Boundary::Upper) => stored <= timestamp_ms,
            };
            if is_before {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let number = match (boundary, queue.layout()) {
            (Boundary::Lower, Layout::Plain) => low,
            // As in stock no time is later than the last batch.
            (Boundary::Lower, Layout::Batch) => low.min(end.saturating_sub(1)).max(min),
            (Boundary::Upper, _) => low.saturating_sub(1).max(min),
        };
        Ok(queue.offset_at(number))
    }

    fn entry_timestamp(
        &self,
        queue: &SharedQueue,
        place: Place<'_>,
        number: u64,
    ) -> Result<Option<i64>, StoreError> {
        let Some(placed) = queue.placed(number) else {
            return Ok(None);
        };
        let mut cursor = LogCursor::new(self, place);
        let Some(record) = cursor.record(&placed)? else {
            return Ok(None);
        };
        Ok(store_timestamp(record, placed.entry.log_position))
    }
}

/// Topic and id of a queue.
type Place<'a> = (&'a str, i32);

/// Reads records by entry, staying in the segment of the previous one.
struct LogCursor<'a> {
    store: &'a Store,
    place: Place<'a>,
    segment: Option<LogSegment>,
}

impl<'a> LogCursor<'a> {
    fn new(store: &'a Store, place: Place<'a>) -> Self {
        Self {
            store,
            place,
            segment: None,
        }
    }

    /// Whether bytes are the record of an entry: one of this queue with that offset, since nothing
    /// else tells of a wrong entry. In a store known to be damaged, and where recovery did not
    /// look, body and topic are checked as well (D13); elsewhere their writing and recovery saw to
    /// that.
    fn may_serve(&self, record: &[u8], offset: u64, position: u64) -> bool {
        let (topic, queue_id) = self.place;
        let recovery = self.store.recovery();
        let is_known = recovery.damage.is_none() && position >= recovery.scanned_from;
        let is_whole =
            || check_record(record, position).is_ok_and(|view| view.topic == topic.as_bytes());
        has_header(record, position)
            && (has_queue_place(record, queue_id, offset) && (is_known || is_whole())
                || self.is_light(record, offset, is_known))
    }

    /// Whether a record of another topic names this queue and this offset in it.
    fn is_light(&self, record: &[u8], offset: u64, is_known: bool) -> bool {
        let (topic, queue_id) = self.place;
        queue_id == LIGHT_QUEUE_ID
            && topic.starts_with(LIGHT_PREFIX)
            && RecordView::parse(record).is_ok_and(|view| {
                light_offset(&view, topic) == Some(offset) && (is_known || view.is_intact())
            })
    }

    /// The record of an entry; `None` when it is gone from the log.
    fn record(&mut self, placed: &Placed) -> Result<Option<&[u8]>, StoreError> {
        let (entry, offset) = (&placed.entry, placed.offset);
        let position = entry.log_position;
        if is_filler(entry) || position < self.store.log.min_position() {
            return Ok(None);
        }
        let size = entry.size as usize;
        let is_inside = |segment: &LogSegment| segment.bytes(position, size).is_some();
        if !self.segment.as_ref().is_some_and(is_inside) {
            self.segment = self.store.log.segment_at(position);
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

/// One read in progress, as stock's `getMessage` does it.
struct Scan<'a, 'b> {
    read: &'a QueueRead<'a>,
    records: &'b mut Vec<u8>,
    cursor: LogCursor<'a>,
    status: ReadStatus,
    next_offset: u64,
    count: usize,
    bytes: usize,
    /// Entries before this position are known to be gone.
    gone_before: u64,
}

impl<'a, 'b> Scan<'a, 'b> {
    fn new(
        store: &'a Store,
        place: Place<'a>,
        read: &'a QueueRead<'a>,
        records: &'b mut Vec<u8>,
    ) -> Self {
        Self {
            read,
            records,
            cursor: LogCursor::new(store, place),
            status: ReadStatus::NoMatchedMessage,
            next_offset: 0,
            count: 0,
            bytes: 0,
            gone_before: 0,
        }
    }

    /// Examines entries of the file that holds `offset`.
    fn run(&mut self, queue: &SharedQueue, offset: u64, max: u64) -> Result<(), StoreError> {
        let (layout, number) = (queue.layout(), queue.number_of(offset));
        let entry_size = layout.entry_size();
        let found = queue.segment_at(number);
        let file = found
            .as_ref()
            .and_then(|(segment, at)| segment.map.bytes().get(*at..));
        let Some(entries) = file.filter(|entries| entries.len() >= entry_size) else {
            self.status = ReadStatus::OffsetFoundNull;
            self.next_offset = queue.next_file_offset(offset);
            return Ok(());
        };
        self.next_offset = offset;
        let examined_max = EXAMINED_BYTES_MAX.div_ceil(entry_size);
        let examined_end = offset.saturating_add(examined_max.max(self.read.count_max) as u64);
        let entries = entries.chunks_exact(entry_size);
        for (number, entry) in (number..).zip(entries) {
            let placed = layout.decode(entry, number);
            let placed = placed.ok_or_else(|| StoreError::Corrupt {
                position: 0,
                reason: format!("entry {number} of the queue is not valid"),
            });
            if self.next_offset >= max.min(examined_end)
                || placed.as_ref().is_ok_and(|placed| self.is_full(placed))
            {
                break;
            }
            match placed.and_then(|placed| self.examine(&placed)) {
                Ok(next_offset) => self.next_offset = next_offset,
                // What was found before the damage is served; the next read reports it.
                Err(_) if self.count > 0 => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Takes the record of an entry, or passes it over; returns the offset after it.
    fn examine(&mut self, placed: &Placed) -> Result<u64, StoreError> {
        let (entry, next_offset) = (&placed.entry, placed.end_offset());
        if entry.log_position < self.gone_before {
            return Ok(next_offset);
        }
        if !self.passes(entry.tags_code) {
            if self.bytes == 0 {
                self.status = ReadStatus::NoMatchedMessage;
            }
            return Ok(next_offset);
        }
        let Some(record) = self.cursor.record(placed)? else {
            if self.bytes == 0 {
                self.status = ReadStatus::MessageWasRemoving;
            }
            self.gone_before = self.cursor.store.log.next_segment_start(entry.log_position);
            return Ok(next_offset);
        };
        self.records.extend_from_slice(record);
        self.bytes += record.len();
        self.count += usize::from(placed.count);
        self.status = ReadStatus::Found;
        self.gone_before = 0;
        Ok(next_offset)
    }

    fn is_full(&self, placed: &Placed) -> bool {
        let count = self.count.saturating_add(usize::from(placed.count));
        let bytes = self.bytes.saturating_add(placed.entry.size as usize);
        self.count > 0 && (count > self.read.count_max || bytes > self.read.bytes_max)
    }

    /// Matching compares the low 32 bits, whatever the entry holds.
    #[allow(clippy::cast_possible_truncation)]
    fn passes(&self, tags_code: i64) -> bool {
        self.read
            .filter
            .is_none_or(|hashes| hashes.contains(&(tags_code as i32)))
    }
}
