//! Appending inner batches: one record for all messages of a packed batch (storage-and-ha.md 2.11).

use super::{Writer, appended, check_unit, checked_size, count, push};
use crate::batch::elements;
use crate::error::AppendError;
use crate::message::{Appended, NewMessage};
use crate::properties::property_entries;
use crate::queue_places::{INNER_BATCH_COUNT_MAX, INNER_COUNT, INNER_OFFSET};
use crate::record::{INNER_BATCH_FLAGS, Placement, TRANSACTION_TYPE, encode};
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
        let version = open.topic.version;
        let body_size_max = config.message_body_size_max;
        // Before the first queue of the topic is made; what is added below is a few bytes.
        let given = NewMessage {
            body: packed,
            ..*shared
        };
        checked_size(&given, version, body_size_max)?;
        if !open.admits_inner_batches() {
            return Err(AppendError::NoBatchTopic);
        }
        let index = open.reserve(shared.queue_id, 1)?;
        let queue_offset = open.end_offset(index);
        let properties = with_place(shared.properties, message_count, queue_offset);
        let message = NewMessage {
            sys_flag: shared.sys_flag | INNER_BATCH_FLAGS,
            properties: &properties,
            ..given
        };
        let size = checked_size(&message, version, body_size_max)?;
        check_unit(size, log.unit_size_max())?;
        let mut unit = log.reserve(size)?;
        let placement = Placement {
            queue_offset,
            log_position: unit.position(),
            store_timestamp_ms: now_ms,
        };
        encode(unit.bytes(), &message, version, &placement);
        unit.commit(now_ms);
        let appended = appended(&placement, size);
        let levels = &config.delay_levels_ms;
        push(
            &mut open,
            index,
            &message,
            (&appended, message_count),
            levels,
        );
        count(&mut open, &appended, message_count);
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
