//! Appending: records and their queue entries, under the append lock (storage-and-ha.md 2.10).

use std::thread;

use crate::batch::elements;
use crate::config::{CrcProperty, StoreConfig};
use crate::error::{AppendError, StoreError};
use crate::locks::{RankedGuard, rank};
use crate::message::{Appended, NewMessage, QueueEntry};
use crate::properties::tags_code;
use crate::queue_layout::Placed;
use crate::record::{
    PROPERTIES_SIZE_MAX, Placement, TRANSACTION_TYPE, Tail, Version, encode, encoded_size,
    is_inner_batch,
};
use crate::store::{Appender, Store};
use crate::table::{OpenQueue, QueueTable};
use crate::walk::may_look_torn;

mod inner_batch;
mod plain;

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
    /// While holding it, call no method of this store but reads on the same thread: the others wait for
    /// the lock, or for somebody who does.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only.
    pub fn writer(&self) -> Result<Writer<'_>, StoreError> {
        self.writer_of(self.appender.lock())
    }

    /// As [`Store::writer`], if nobody holds the lock.
    ///
    /// # Errors
    /// As for [`Store::writer`].
    pub fn try_writer(&self) -> Result<Option<Writer<'_>>, StoreError> {
        let appender = self.appender.try_lock();
        appender.map(|it| self.writer_of(it)).transpose()
    }

    fn writer_of<'a>(
        &'a self,
        appender: RankedGuard<'a, { rank::APPENDER }, Appender>,
    ) -> Result<Writer<'a>, StoreError> {
        self.check_writable()?;
        Ok(Writer {
            store: self,
            appender,
        })
    }
}

impl Appender {
    /// Ends the helpers and leaves the files as nobody writes them any more.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        self.queues.stop();
        self.log.stop()
    }
}

impl Writer<'_> {
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
        let config = &self.store.config;
        if shared.sys_flag & TRANSACTION_TYPE != 0 || is_inner_batch(shared.sys_flag) {
            return Err(AppendError::MalformedBatch(
                "a batch can be neither transactional nor an inner one",
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
            // What is stored counts: without a separator of their own, the property that follows
            // becomes a part of the last one's value, as in stock.
            let stored = &record[size - message.properties.len() - tail.size()..];
            planned.tags_code = tags_code(stored, now_ms, levels);
            appended.push(self::appended(&placement, size));
            log_position += size as u64;
            rest = behind;
        }
        unit.commit(now_ms);
        for (planned, appended) in planned.iter().zip(&appended[first_new..]) {
            push(&mut queue, planned.tags_code, appended, 1);
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
fn push(queue: &mut OpenQueue<'_>, tags_code: i64, appended: &Appended, count: u16) {
    let entry = QueueEntry {
        log_position: appended.log_position,
        size: appended.size,
        tags_code,
    };
    queue.push(&Placed {
        entry,
        offset: appended.queue_offset,
        count,
        store_timestamp_ms: appended.store_timestamp_ms,
    });
}
