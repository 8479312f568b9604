//! Appending: records and their queue entries, under the append lock (storage-and-ha.md 2.10).

use std::{ptr, thread};

use crate::batch::elements;
use crate::config::StoreConfig;
use crate::error::{AppendError, StoreError};
use crate::locks::{RankedGuard, rank};
use crate::message::{Appended, NewMessage, QueueEntry};
use crate::properties::tags_code;
use crate::record::CrcProperty;
use crate::record::may_look_torn;
use crate::record::{
    PROPERTIES_SIZE_MAX, Placement, TRANSACTION_TYPE, Tail, Version, asks_for_inner_batch, encode,
    encoded_size,
};
use crate::store::{Appender, Store};
use crate::table::{OpenQueue, QueueTable};

mod plain;
mod unit;

/// How much longer than the longest body a whole record may be.
const RECORD_ALLOWANCE: usize = 64 << 10;

/// The append lock, taken once for any number of appends.
#[derive(Debug)]
pub struct Writer<'a> {
    store: &'a Store,
    appender: RankedGuard<'a, { rank::APPENDER }, Appender>,
}

impl Store {
    /// Takes the append lock, which the returned value holds.
    ///
    /// A thread that holds it may call only methods of this store that read: the others wait for
    /// the lock, or for a thread that does.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only.
    pub fn writer(&self) -> Result<Writer<'_>, StoreError> {
        let appender = self.appender.lock();
        self.check_writable()?;
        Ok(Writer {
            store: self,
            appender,
        })
    }
}

impl Store {
    /// Has a queue refuse messages from now on, as [`AppendError::QueueSealed`]; the queue is made on
    /// its first use. Returns the offset of its next entry, which stays until [`Store::unseal_queue`].
    ///
    /// Each way to append looks at the seal under the append lock. Copies of a master's records are
    /// still appended. The seal is in memory only: the caller that decided it seals the queue again
    /// after an opening.
    ///
    /// # Errors
    /// The topic or the id is illegal, or the store is closed, poisoned or read-only.
    pub fn seal_queue(&self, topic: &str, queue_id: i32) -> Result<u64, AppendError> {
        self.set_sealed(topic, queue_id, true)
    }

    /// Has a sealed queue take messages again; returns the offset of its next entry.
    ///
    /// # Errors
    /// As for [`Store::seal_queue`].
    pub fn unseal_queue(&self, topic: &str, queue_id: i32) -> Result<u64, AppendError> {
        self.set_sealed(topic, queue_id, false)
    }

    fn set_sealed(&self, topic: &str, queue_id: i32, is_sealed: bool) -> Result<u64, AppendError> {
        let mut writer = self.of(topic).writer()?;
        let mut open = writer.appender.queues.open_topic(topic)?;
        let queue = open.writer(queue_id)?;
        queue.set_sealed(is_sealed);
        Ok(queue.end_offset())
    }
}

impl Appender {
    /// Ends the helpers, and removes a segment that was prepared in vain. No thread writes the
    /// files any more.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        self.queues.stop();
        self.log.stop()
    }
}

impl Writer<'_> {
    /// Whether it appends to the log of a store.
    #[inline]
    #[must_use]
    pub fn is_of(&self, store: &Store) -> bool {
        ptr::eq(self.store, store)
    }

    /// Refuses a message that belongs to the other log of the store.
    #[inline]
    pub(super) fn check_log(&self, topic: &str) -> Result<(), AppendError> {
        if self.store.is_log_of(topic) {
            Ok(())
        } else {
            Err(AppendError::OtherLog)
        }
    }

    pub(crate) fn queues(&mut self) -> &mut QueueTable {
        &mut self.appender.queues
    }

    /// Appends the messages of a packed traditional batch as one unit: all of them, in one
    /// segment, with consecutive queue offsets, or none.
    ///
    /// `shared` gives topic, queue, flags of the system, times and hosts; flag, body and
    /// properties come from each element. Queue offsets and positions are added to `appended`.
    ///
    /// # Errors
    /// The batch is malformed or transactional, breaks a limit, or there is no room for it.
    pub fn append_batch(
        &mut self,
        shared: &NewMessage<'_>,
        packed: &[u8],
        now_ms: i64,
        appended: &mut Vec<Appended>,
    ) -> Result<(), AppendError> {
        self.check_log(shared.topic)?;
        let config = &self.store.config;
        if asks_for_inner_batch(shared.sys_flag) {
            return Err(AppendError::InnerBatch);
        }
        if shared.sys_flag & TRANSACTION_TYPE != 0 {
            return Err(AppendError::MalformedBatch(
                "a batch cannot be transactional",
            ));
        }
        let Appender { log, queues } = &mut *self.appender;
        let mut open = queues.open_topic(shared.topic)?;
        let version = open.topic.traits.version;
        let (total, mut planned) = plan_batch(shared, packed, version, config)?;
        check_unit(total, log.unit_size_max())?;
        let levels = open.topic.traits.is_schedule;
        let levels = levels.then_some(&*config.delay_levels_ms);
        let tail = batch_tail(config);
        let mut queue = open.reserve(shared.queue_id, planned.len() as u64)?;
        let mut unit = log.reserve(total)?;
        let first_offset = queue.end_offset();
        let (mut log_position, mut rest) = (unit.position(), unit.bytes());
        let first_new = appended.len();
        for (queue_offset, planned) in (first_offset..).zip(&mut planned) {
            let (message, size) = (&planned.message, planned.size);
            let (record, behind) = rest.split_at_mut(size);
            let placement = Placement {
                queue_offset,
                log_position,
                store_timestamp_ms: now_ms,
            };
            encode(record, message, version, &placement, tail);
            // What is stored counts: without a separator at their end, the property that follows
            // becomes a part of the last one's value, as in stock.
            let stored = &record[size - message.properties.len() - tail.size()..];
            planned.tags_code = tags_code(stored, now_ms, levels);
            appended.push(self::appended(&placement, size));
            log_position += size as u64;
            rest = behind;
        }
        unit.commit(now_ms);
        for (planned, appended) in planned.iter().zip(&appended[first_new..]) {
            push(&mut queue, planned.tags_code, appended);
        }
        open.count(planned.len() as u64, total);
        Ok(self.store.check_maps()?)
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.store.poison("a thread panicked while it appended");
        }
    }
}

/// One message of a batch.
struct Planned<'a> {
    message: NewMessage<'a>,
    /// Of its record.
    size: usize,
    tags_code: i64,
}

/// The tail of a batch's records: stock adds no separator before it.
fn batch_tail(config: &StoreConfig) -> Tail {
    match config.crc_property {
        CrcProperty::Off => Tail::Nothing,
        CrcProperty::Verified | CrcProperty::Required => Tail::Crc {
            is_separated: false,
        },
    }
}

/// The messages of a batch, and how long their records are together.
fn plan_batch<'a>(
    shared: &NewMessage<'a>,
    packed: &'a [u8],
    version: Version,
    config: &StoreConfig,
) -> Result<(usize, Vec<Planned<'a>>), AppendError> {
    let body_size_max = config.message_body_size_max;
    if packed.is_empty() {
        return Err(AppendError::MalformedBatch("it holds no message"));
    }
    if packed.len() > body_size_max {
        return Err(AppendError::MessageTooLarge {
            size: packed.len(),
            limit: body_size_max,
        });
    }
    let mut total = 0;
    let mut messages = Vec::new();
    for element in elements(packed) {
        let element = element?;
        let message = NewMessage {
            flag: element.flag,
            body: element.body,
            properties: element.properties,
            prepared_transaction_offset: 0,
            ..*shared
        };
        let size = checked_size(&message, version, batch_tail(config), body_size_max)?;
        total += size;
        messages.push(Planned {
            message,
            size,
            tags_code: 0,
        });
    }
    Ok((total, messages))
}

/// Size of the record, if the message is within the limits (storage-and-ha.md 2.9).
fn checked_size(
    message: &NewMessage<'_>,
    version: Version,
    tail: Tail,
    body_size_max: usize,
) -> Result<usize, AppendError> {
    if message.body.len() > body_size_max {
        let size = message.body.len();
        return Err(AppendError::MessageTooLarge {
            size,
            limit: body_size_max,
        });
    }
    let properties_size = message.properties.len() + tail.size();
    if properties_size > PROPERTIES_SIZE_MAX {
        return Err(AppendError::PropertiesTooLarge(properties_size));
    }
    if may_look_torn(message.properties) {
        return Err(AppendError::BlankProperties);
    }
    let size = encoded_size(message, version, tail);
    let limit = body_size_max + RECORD_ALLOWANCE;
    if size > limit {
        return Err(AppendError::MessageTooLarge { size, limit });
    }
    Ok(size)
}

fn check_unit(size: usize, unit_size_max: u64) -> Result<(), AppendError> {
    let limit = usize::try_from(unit_size_max).unwrap_or(usize::MAX);
    if size > limit {
        Err(AppendError::MessageTooLarge { size, limit })
    } else {
        Ok(())
    }
}

#[allow(clippy::cast_possible_truncation)] // checked against the limits
fn appended(placement: &Placement, size: usize) -> Appended {
    Appended {
        log_position: placement.log_position,
        size: size as u32,
        queue_offset: placement.queue_offset,
        store_timestamp_ms: placement.store_timestamp_ms,
    }
}

#[inline(always)]
fn push(queue: &mut OpenQueue<'_>, tags_code: i64, appended: &Appended) {
    queue.push(&QueueEntry {
        log_position: appended.log_position,
        size: appended.size,
        tags_code,
    });
}
