//! Runs of ordinary records: each is the next message of a plain queue that is known already.
//!
//! Nearly all of a log is of that kind, and a recovery takes as long as one such record does. It is
//! recognised by a few comparisons; every other record goes the general way, and what this one does
//! to a queue is what the general way would do.

use super::{OFFSET_MAX, QueueRebuild};
use crate::message::QueueEntry;
use crate::properties::tags_code;
use crate::queue_layout::Layout;
use crate::queue_places::may_have_light_places;
use crate::record::{RecordView, is_inner_batch};
use crate::table::SCHEDULE_TOPIC;

impl QueueRebuild {
    /// Appends the entry of a record that follows on the newest entry of its plain queue; `false`,
    /// and nothing is changed, for any other record.
    #[inline]
    pub(super) fn extend(&mut self, record: &RecordView<'_>) -> bool {
        let Some(topic) = self.topics.known_mut(record.topic) else {
            return false;
        };
        let is_ordinary = topic.layout == Layout::Plain
            && !is_inner_batch(record.sys_flag)
            && !may_have_light_places(record.properties)
            && record.queue_offset <= OFFSET_MAX
            && record.topic != SCHEDULE_TOPIC.as_bytes();
        let index = usize::try_from(record.queue_id).ok();
        let slot = index
            .filter(|_| is_ordinary)
            .and_then(|index| topic.slots.get_mut(index));
        let Some(Some(slot)) = slot else {
            return false;
        };
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        let entry = QueueEntry {
            log_position: record.log_position,
            size: record.bytes.len() as u32,
            tags_code: tags_code(record.properties, record.store_timestamp_ms, None),
        };
        slot.extend(record.queue_offset, &entry)
    }
}
