//! Which queue offsets a record takes up, and in which light queues it is (storage-and-ha.md 2.11,
//! 3.7).

use crate::properties::find_property;
use crate::record::{RecordView, is_inner_batch};
use crate::table::{RETRY_PREFIX, SCHEDULE_TOPIC, is_legal_topic};

/// Names of light queues begin with it. Their records belong to other topics.
pub(crate) const LIGHT_PREFIX: &str = "%LMQ%";
/// The only queue id a light queue has.
pub(crate) const LIGHT_QUEUE_ID: i32 = 0;
const SYSTEM_PREFIX: &str = "rmq_sys_";

/// Most messages of an inner batch: a batch queue counts them with a signed 16-bit integer.
pub(crate) const INNER_BATCH_COUNT_MAX: u16 = i16::MAX as u16;
pub(crate) const INNER_COUNT: &[u8] = b"INNER_NUM";
pub(crate) const INNER_OFFSET: &[u8] = b"INNER_BASE";
const LIGHT_NAMES: &[u8] = b"INNER_MULTI_DISPATCH";
const LIGHT_OFFSETS: &[u8] = b"INNER_MULTI_QUEUE_OFFSET";

/// How many offsets of its own queue a record takes up; `None` when it gives an impossible number.
pub(crate) fn message_count(record: &RecordView<'_>) -> Option<u16> {
    if !is_inner_batch(record.sys_flag) {
        return Some(1);
    }
    let Some(count) = find_property(record.properties, INNER_COUNT) else {
        return Some(1);
    };
    let count = std::str::from_utf8(count).ok()?.parse().ok()?;
    (1..=INNER_BATCH_COUNT_MAX)
        .contains(&count)
        .then_some(count)
}

/// The light queues that a record of a topic with plain queues is in, each with its offset there.
pub(crate) fn light_places<'a>(record: &RecordView<'a>) -> impl Iterator<Item = (&'a str, u64)> {
    let is_excluded = [RETRY_PREFIX, SYSTEM_PREFIX]
        .iter()
        .any(|prefix| record.topic.starts_with(prefix.as_bytes()))
        || record.topic == SCHEDULE_TOPIC.as_bytes()
        || is_inner_batch(record.sys_flag);
    let listed = |name| {
        let properties = if is_excluded { &[] } else { record.properties };
        list(properties, name)
    };
    let names = listed(LIGHT_NAMES);
    let offsets = if names.is_empty() {
        Vec::new()
    } else {
        listed(LIGHT_OFFSETS)
    };
    let are_paired = names.len() == offsets.len();
    let pairs = names.into_iter().zip(offsets).filter(move |_| are_paired);
    pairs.filter_map(|(name, offset)| {
        let is_light = name.starts_with(LIGHT_PREFIX) && is_legal_topic(name);
        Some((name, offset.parse().ok().filter(|_| is_light)?))
    })
}

/// Whether properties may name light queues.
pub(crate) fn may_have_light_places(properties: &[u8]) -> bool {
    find_property(properties, LIGHT_NAMES).is_some()
}

/// Parts of a property between commas; as in Java, empty ones at the end do not count.
fn list<'a>(properties: &'a [u8], name: &[u8]) -> Vec<&'a str> {
    let value = find_property(properties, name).unwrap_or_default();
    let text = std::str::from_utf8(value).unwrap_or_default();
    let text = text.trim_end_matches(',');
    if text.is_empty() {
        return Vec::new();
    }
    text.split(',').collect()
}

/// The offset of a record in a light queue.
pub(crate) fn light_offset(record: &RecordView<'_>, name: &str) -> Option<u64> {
    let mut places = light_places(record);
    places.find_map(|(other, offset)| (other == name).then_some(offset))
}

/// The offset after a record's in a queue; `None` when it is not in that queue.
pub(crate) fn offset_after(record: &RecordView<'_>, topic: &str, queue_id: i32) -> Option<u64> {
    if record.topic == topic.as_bytes() && record.queue_id == queue_id {
        return Some(record.queue_offset + u64::from(message_count(record)?));
    }
    if queue_id != LIGHT_QUEUE_ID {
        return None;
    }
    light_offset(record, topic).map(|offset| offset + 1)
}
