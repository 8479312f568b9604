//! What a walk over the log counts of one queue.

use crate::queue_places::message_count;
use crate::record::RecordView;

/// What the log holds of one queue.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QueueSurvey {
    /// The topic.
    pub topic: String,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// Records.
    pub record_count: u64,
    /// Bytes of these records.
    pub byte_count: u64,
    /// Lowest offset.
    pub min_offset: u64,
    /// The offset after the highest.
    pub max_offset: u64,
    /// Earliest store time.
    pub first_store_timestamp_ms: i64,
    /// Latest store time.
    pub last_store_timestamp_ms: i64,
}

impl QueueSurvey {
    pub(super) fn count(&mut self, record: &RecordView<'_>, offset: u64) {
        let is_first = self.record_count == 0;
        self.record_count += 1;
        self.byte_count += record.bytes.len() as u64;
        let time = record.store_timestamp_ms;
        if is_first || offset < self.min_offset {
            self.min_offset = offset;
        }
        if is_first || time < self.first_store_timestamp_ms {
            self.first_store_timestamp_ms = time;
        }
        let message_count = u64::from(message_count(record).unwrap_or(1));
        self.max_offset = self.max_offset.max(offset + message_count);
        self.last_store_timestamp_ms = self.last_store_timestamp_ms.max(time);
    }
}
