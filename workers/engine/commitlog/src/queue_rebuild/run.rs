//! Runs of ordinary records: each is the next message of a queue that is known already.
//!
//! Nearly all of a log is of that kind, and a recovery takes as long as one such record does. It is
//! recognised by a few comparisons; every other record goes the general way, and what this one does
//! to a queue is what the general way would do.

use super::QueueRebuild;
use super::rebuilding::Rebuilding;
use crate::message::QueueEntry;
use crate::properties::tags_code;
use crate::queue_layout::OFFSET_MAX;
use crate::record::PlainRecord;
use crate::table::SCHEDULE_TOPIC;

/// Where the entry of an ordinary record belongs.
#[derive(Debug)]
pub(crate) struct RunPlace<'a> {
    slot: &'a mut Rebuilding,
    offset: u64,
    entry: QueueEntry,
}

impl QueueRebuild {
    /// The place of an ordinary record in a queue that is known; `None` for any other.
    #[inline(always)]
    pub(crate) fn run_place(&mut self, record: &PlainRecord<'_>) -> Option<RunPlace<'_>> {
        let slots = self.topics.known_mut(record.topic)?;
        let is_ordinary =
            record.queue_offset <= OFFSET_MAX && record.topic != SCHEDULE_TOPIC.as_bytes();
        let index = usize::try_from(record.queue_id).ok();
        let slot = slots.get_mut(index.filter(|_| is_ordinary)?)?;
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        let entry = QueueEntry {
            log_position: record.log_position,
            size: record.size as u32,
            tags_code: tags_code(record.properties, record.store_timestamp_ms, None),
        };
        Some(RunPlace {
            slot: slot.as_mut()?,
            offset: record.queue_offset,
            entry,
        })
    }
}

impl RunPlace<'_> {
    /// Appends the entry if it follows on the newest one of its queue, or finds that very entry
    /// there; `false`, and nothing is changed, if it would take anything else.
    #[inline(always)]
    pub(crate) fn take(self) -> bool {
        self.slot.extend(self.offset, &self.entry) || self.slot.confirm(self.offset, &self.entry)
    }
}
