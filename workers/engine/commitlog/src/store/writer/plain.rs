//! Appending messages that stand for themselves: one record and one queue entry each.

use super::{Writer, appended, check_unit, checked_size, push};
use crate::config::StoreConfig;
use crate::error::AppendError;
use crate::log::{LogWriter, Unit};
use crate::message::{Appended, NewMessage};
use crate::properties::tags_code;
use crate::record::CrcProperty;
use crate::record::may_look_torn;
use crate::record::{
    PROPERTIES_SIZE_MAX, Placement, Tail, Version, asks_for_inner_batch, encode, encoded_size,
    has_short_hosts, is_ordinary, occupies_queue, without_crc_property,
};
use crate::store::Appender;
use crate::table::{OpenQueue, TopicTraits};

impl Writer<'_> {
    /// Appends one message and its queue entry.
    ///
    /// # Errors
    /// The message breaks a limit, or there is no room for it. Nothing was written.
    pub fn append(
        &mut self,
        message: &NewMessage<'_>,
        now_ms: i64,
    ) -> Result<Appended, AppendError> {
        self.check_log(message.topic)?;
        if self.store.config.crc_property != CrcProperty::Off {
            return self.append_with_crc(message, now_ms);
        }
        let Some(appended) = self.append_ordinary(message, now_ms) else {
            return self.append_long(message, now_ms);
        };
        self.store.check_maps()?;
        Ok(appended)
    }

    /// Appends what nothing speaks against: most messages are short, and what is seldom needed
    /// would cost them more than their record does. `None`: nothing was written, and
    /// [`Self::append_behind`] knows why.
    #[inline(always)]
    fn append_ordinary(&mut self, message: &NewMessage<'_>, now_ms: i64) -> Option<Appended> {
        let Appender { log, queues } = &mut *self.appender;
        let (mut queue, traffic) = queues.ordinary_queue(message.topic, message.queue_id)?;
        let is_within = is_within(message, &self.store.config);
        if !is_within || !is_ordinary(message.sys_flag) || !has_short_hosts(message) {
            return None;
        }
        let size = encoded_size(message, Version::V1, Tail::Nothing);
        let unit = log.room(size)?;
        let appended = write_ordinary(unit, &mut queue, message, now_ms);
        traffic.count(1, size);
        Some(appended)
    }

    #[inline(never)]
    fn append_long(
        &mut self,
        message: &NewMessage<'_>,
        now_ms: i64,
    ) -> Result<Appended, AppendError> {
        self.append_behind(message, Tail::Nothing, now_ms)
    }

    #[inline(never)]
    fn append_with_crc(
        &mut self,
        message: &NewMessage<'_>,
        now_ms: i64,
    ) -> Result<Appended, AppendError> {
        let properties = without_crc_property(message.properties);
        let tail = Tail::crc_behind(&properties);
        let message = NewMessage {
            properties: &properties,
            ..*message
        };
        self.append_behind(&message, tail, now_ms)
    }

    /// Appends a message with `tail` behind its properties.
    #[inline(always)]
    fn append_behind(
        &mut self,
        message: &NewMessage<'_>,
        tail: Tail,
        now_ms: i64,
    ) -> Result<Appended, AppendError> {
        let config = &self.store.config;
        let Appender { log, queues } = &mut *self.appender;
        let mut open = queues.open_topic(message.topic)?;
        let traits = open.topic.traits;
        let size = check(message, &traits, tail, config, log)?;
        let mut queue = if occupies_queue(message.sys_flag) {
            Some(open.reserve(message.queue_id, 1)?)
        } else {
            None
        };
        let appended = write(
            log,
            queue.as_mut(),
            message,
            &traits,
            (tail, size),
            (config, now_ms),
        )?;
        open.count(1, size);
        self.store.check_maps()?;
        Ok(appended)
    }
}

/// Whether no part of a message is longer than it may be; its topic was looked at on its first use.
#[inline(always)]
fn is_within(message: &NewMessage<'_>, config: &StoreConfig) -> bool {
    message.body.len() <= config.message_body_size_max
        && message.properties.len() <= PROPERTIES_SIZE_MAX
        && !may_look_torn(message.properties)
}

/// The size of the record; an inner batch, or what breaks a limit, is refused.
#[inline(always)]
pub(super) fn check(
    message: &NewMessage<'_>,
    traits: &TopicTraits,
    tail: Tail,
    config: &StoreConfig,
    log: &LogWriter,
) -> Result<usize, AppendError> {
    if asks_for_inner_batch(message.sys_flag) {
        return Err(AppendError::InnerBatch);
    }
    let size = checked_size(message, traits.version, tail, config.message_body_size_max)?;
    check_unit(size, log.unit_size_max())?;
    Ok(size)
}

/// Appends a message that nothing speaks against to a queue with room for it.
#[inline(always)]
fn write_ordinary(
    mut unit: Unit<'_>,
    queue: &mut OpenQueue<'_>,
    message: &NewMessage<'_>,
    now_ms: i64,
) -> Appended {
    let placement = Placement {
        queue_offset: queue.end_offset(),
        log_position: unit.position(),
        store_timestamp_ms: now_ms,
    };
    let record = unit.bytes();
    let size = record.len();
    encode(record, message, Version::V1, &placement, Tail::Nothing);
    unit.commit(now_ms);
    let appended = appended(&placement, size);
    let known = message.tags_code;
    let tags_code = known.unwrap_or_else(|| tags_code(message.properties, now_ms, None));
    push(queue, tags_code, &appended);
    appended
}

/// Appends a message that was checked to a queue with room for it.
#[inline(always)]
fn write(
    log: &mut LogWriter,
    queue: Option<&mut OpenQueue<'_>>,
    message: &NewMessage<'_>,
    traits: &TopicTraits,
    (tail, size): (Tail, usize),
    (config, now_ms): (&StoreConfig, i64),
) -> Result<Appended, AppendError> {
    let mut unit = log.reserve(size)?;
    let placement = Placement {
        queue_offset: queue.as_ref().map_or(0, |queue| queue.end_offset()),
        log_position: unit.position(),
        store_timestamp_ms: now_ms,
    };
    encode(unit.bytes(), message, traits.version, &placement, tail);
    unit.commit(now_ms);
    let appended = appended(&placement, size);
    if let Some(queue) = queue {
        let levels = traits.is_schedule.then_some(&*config.delay_levels_ms);
        let tags_code = match (message.tags_code, levels) {
            (Some(known), None) => known,
            _ => tags_code(message.properties, now_ms, levels),
        };
        push(queue, tags_code, &appended);
    }
    Ok(appended)
}

#[cfg(test)]
mod tests;
