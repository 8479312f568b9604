//! Appending records of several queues as one unit.

use std::borrow::Cow;

use super::plain::check;
use super::{Writer, appended, check_unit, push};
use crate::error::AppendError;
use crate::message::{Appended, NewMessage};
use crate::properties::tags_code;
use crate::record::CrcProperty;
use crate::record::{Placement, Tail, encode, occupies_queue, without_crc_property};
use crate::store::Appender;

/// A message of a unit, and where its record will be.
struct Planned<'a> {
    message: &'a NewMessage<'a>,
    properties: Cow<'a, [u8]>,
    tail: Tail,
    size: usize,
    queue_offset: u64,
}

impl Writer<'_> {
    /// Appends messages of any topics and queues as one unit: all of them, in one segment and one
    /// behind the other, or none. Readers of the log see all records of the unit at once.
    ///
    /// After a crash a unit may end with any of its whole records, as a batch may. A caller that
    /// needs all or none makes the last record the one that completes the unit (queue-ownership.md
    /// 4.10).
    ///
    /// # Errors
    /// A message breaks a limit, its queue is sealed, or there is no room. Nothing was written.
    pub fn append_unit(
        &mut self,
        messages: &[NewMessage<'_>],
        now_ms: i64,
    ) -> Result<Vec<Appended>, AppendError> {
        messages
            .iter()
            .try_for_each(|message| self.check_log(message.topic))?;
        let planned = self.plan_unit(messages)?;
        let mut appended = Vec::with_capacity(planned.len());
        let total = planned.iter().map(|planned| planned.size).sum();
        let config = &self.store.config;
        let Appender { log, queues } = &mut *self.appender;
        if planned.is_empty() {
            return Ok(appended);
        }
        check_unit(total, log.unit_size_max())?;
        let mut unit = log.reserve(total)?;
        let (mut log_position, mut rest) = (unit.position(), unit.bytes());
        for planned in &planned {
            let (record, behind) = rest.split_at_mut(planned.size);
            let placement = Placement {
                queue_offset: planned.queue_offset,
                log_position,
                store_timestamp_ms: now_ms,
            };
            let version = queues
                .open_topic(planned.message.topic)?
                .topic
                .traits
                .version;
            encode(record, &planned.stored(), version, &placement, planned.tail);
            appended.push(self::appended(&placement, planned.size));
            log_position += planned.size as u64;
            rest = behind;
        }
        unit.commit(now_ms);
        for (planned, appended) in planned.iter().zip(&appended) {
            let mut open = queues.open_topic(planned.message.topic)?;
            let levels = open
                .topic
                .traits
                .is_schedule
                .then_some(&*config.delay_levels_ms);
            if occupies_queue(planned.message.sys_flag) {
                // There is room since the unit was planned.
                let mut queue = open.reserve(planned.message.queue_id, 1)?;
                debug_assert_eq!(queue.end_offset(), appended.queue_offset);
                let code = match (planned.message.tags_code, levels) {
                    (Some(known), None) => known,
                    _ => tags_code(&planned.properties, now_ms, levels),
                };
                push(&mut queue, code, appended);
            }
            open.count(1, planned.size);
        }
        self.store.check_maps()?;
        Ok(appended)
    }

    /// Checks all messages and makes room for their entries.
    fn plan_unit<'m>(
        &mut self,
        messages: &'m [NewMessage<'m>],
    ) -> Result<Vec<Planned<'m>>, AppendError> {
        let config = &self.store.config;
        let Appender { log, queues } = &mut *self.appender;
        let mut planned: Vec<Planned<'m>> = Vec::with_capacity(messages.len());
        for message in messages {
            let (properties, tail) = if config.crc_property == CrcProperty::Off {
                (Cow::Borrowed(message.properties), Tail::Nothing)
            } else {
                let properties = without_crc_property(message.properties);
                let tail = Tail::crc_behind(&properties);
                (properties, tail)
            };
            let mut open = queues.open_topic(message.topic)?;
            let mut one = Planned {
                message,
                properties,
                tail,
                size: 0,
                queue_offset: 0,
            };
            one.size = check(&one.stored(), &open.topic.traits, tail, config, log)?;
            if occupies_queue(message.sys_flag) {
                let before = planned.iter().filter(|other| other.is_in_queue_of(message));
                let before = before.count() as u64;
                one.queue_offset =
                    open.reserve(message.queue_id, before + 1)?.end_offset() + before;
            }
            planned.push(one);
        }
        Ok(planned)
    }
}

impl Planned<'_> {
    /// The message as the record holds it.
    fn stored(&self) -> NewMessage<'_> {
        NewMessage {
            properties: &self.properties,
            ..*self.message
        }
    }

    fn is_in_queue_of(&self, message: &NewMessage<'_>) -> bool {
        let queue = (self.message.queue_id, self.message.topic);
        occupies_queue(self.message.sys_flag) && queue == (message.queue_id, message.topic)
    }
}
