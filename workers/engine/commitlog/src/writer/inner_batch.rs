//! Appending inner batches: one record for all messages of a packed batch (storage-and-ha.md 2.11).

use std::borrow::Cow;

use super::{Writer, appended, check_unit, checked_size, push};
use crate::batch::elements;
use crate::config::CrcProperty;
use crate::error::AppendError;
use crate::message::{Appended, NewMessage};
use crate::properties::{property_entries, tags_code};
use crate::queue_places::{INNER_BATCH_COUNT_MAX, INNER_COUNT, INNER_OFFSET};
use crate::record::{
    INNER_BATCH_FLAGS, Placement, TRANSACTION_TYPE, Tail, encode, without_crc_property,
};
use crate::store::Appender;

impl Writer<'_> {
    /// Appends a packed batch as one record, which takes up one queue offset for each message.
    ///
    /// `shared` gives all but the body. The flags and properties of an inner batch are added to
    /// its own. A topic without queues gets batch queues.
    ///
    /// # Errors
    /// The batch is malformed or transactional, breaks a limit, or there is no room for it;
    /// [`AppendError::NoBatchTopic`] if the topic has plain queues. Nothing was written.
    pub fn append_inner_batch(
        &mut self,
        shared: &NewMessage<'_>,
        packed: &[u8],
        now_ms: i64,
    ) -> Result<Appended, AppendError> {
        if shared.sys_flag & TRANSACTION_TYPE != 0 {
            return Err(AppendError::MalformedBatch(
                "a batch cannot be transactional",
            ));
        }
        let message_count = count_of(packed)?;
        let config = &self.store.config;
        let Appender { log, queues } = &mut *self.appender;
        let mut open = queues.open_topic(shared.topic)?;
        let version = open.topic.traits.version;
        let body_size_max = config.message_body_size_max;
        let is_schedule = open.topic.traits.is_schedule;
        let (given_properties, tail) = match config.crc_property {
            CrcProperty::Off => (Cow::Borrowed(shared.properties), Tail::Nothing),
            // The properties of an inner batch end in a separator.
            CrcProperty::Verified | CrcProperty::Required => {
                let is_separated = false;
                let properties = without_crc_property(shared.properties);
                (properties, Tail::Crc { is_separated })
            }
        };
        // Before the first queue of the topic is made; what is added below is a few bytes.
        let given = NewMessage {
            body: packed,
            properties: &given_properties,
            ..*shared
        };
        checked_size(&given, version, tail, body_size_max)?;
        if !open.admits_inner_batches() {
            return Err(AppendError::NoBatchTopic);
        }
        let mut queue = open.reserve(shared.queue_id, 1)?;
        let queue_offset = queue.end_offset();
        let properties = with_place(&given_properties, message_count, queue_offset);
        let message = NewMessage {
            sys_flag: shared.sys_flag | INNER_BATCH_FLAGS,
            properties: &properties,
            ..given
        };
        let size = checked_size(&message, version, tail, body_size_max)?;
        check_unit(size, log.unit_size_max())?;
        let mut unit = log.reserve(size)?;
        let placement = Placement {
            queue_offset,
            log_position: unit.position(),
            store_timestamp_ms: now_ms,
        };
        encode(unit.bytes(), &message, version, &placement, tail);
        unit.commit(now_ms);
        let appended = appended(&placement, size);
        let levels = is_schedule.then_some(&*config.delay_levels_ms);
        let tags_code = tags_code(&properties, now_ms, levels);
        push(&mut queue, tags_code, &appended, message_count);
        open.count(u64::from(message_count), size);
        self.store.check_maps()?;
        Ok(appended)
    }
}

/// How many messages a packed batch holds.
fn count_of(packed: &[u8]) -> Result<u16, AppendError> {
    let mut count = 0_u16;
    for element in elements(packed) {
        element?;
        count = count
            .checked_add(1)
            .filter(|count| *count <= INNER_BATCH_COUNT_MAX)
            .ok_or(AppendError::MalformedBatch(
                "it holds more than 32767 messages",
            ))?;
    }
    if count == 0 {
        return Err(AppendError::MalformedBatch("it holds no message"));
    }
    Ok(count)
}

/// Properties that also say how many messages there are and where they begin.
fn with_place(properties: &[u8], message_count: u16, queue_offset: u64) -> Vec<u8> {
    let (count, offset) = (message_count.to_string(), queue_offset.to_string());
    let own = [
        (INNER_COUNT, count.as_bytes()),
        (INNER_OFFSET, offset.as_bytes()),
    ];
    let given =
        property_entries(properties).filter(|(name, _)| own.iter().all(|(other, _)| name != other));
    let mut all = Vec::with_capacity(properties.len() + 40);
    for (name, value) in given.chain(own) {
        for part in [name, &[1], value, &[2]] {
            all.extend_from_slice(part);
        }
    }
    all
}
