//! The log as replicas exchange it: read raw by a master, appended raw by a replica
//! (storage-and-ha.md 9.3).
//!
//! A replica's segments are the master's, byte for byte. Queues and index are made from the copied
//! records as recovery would make them, so that both always agree.

use std::marker::PhantomData;

use crate::error::{AppendError, StoreError};
use crate::log::LogSegment;
use crate::message::QueueEntry;
use crate::properties::tags_code;
use crate::record::CrcProperty;
use crate::record::{
    BLANK_SIZE, Found, MAGIC_AT, PlainRecord, RecordView, check, copy_in_order, locate,
    occupies_queue,
};
use crate::store::{Appender, Store};
use crate::unserved::refuse_inner_batch;

/// Published bytes of one segment, which stays mapped as long as this lives.
///
/// It borrows the store, so that no truncation changes them meanwhile.
#[derive(Debug, Clone)]
pub struct LogSlice<'a> {
    segment: LogSegment,
    position: u64,
    size: usize,
    store: PhantomData<&'a Store>,
}

impl LogSlice<'_> {
    /// Position of the first byte.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The bytes, at least one.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let bytes = self.segment.bytes(self.position, self.size);
        bytes.unwrap_or_default()
    }
}

impl Store {
    /// Up to `size_max` bytes of the log from `position` on, none of the next segment; `None` when
    /// the log holds no byte there.
    #[must_use]
    pub fn log_slice(&self, position: u64, size_max: u64) -> Option<LogSlice<'_>> {
        let segment = self.log.segment_at(position)?;
        let available = segment.bytes_from(position)?.len();
        let size = available.min(usize::try_from(size_max).unwrap_or(usize::MAX));
        (size > 0).then_some(LogSlice {
            segment,
            position,
            size,
            store: PhantomData,
        })
    }

    /// Start of the newest segment; the end of the log when there is none.
    #[must_use]
    pub fn last_segment_start(&self) -> u64 {
        self.log.last_segment_start()
    }

    /// Appends what a master's log holds at `position`, which is the end of this one; an empty log
    /// takes the start of any segment. Returns how many of the bytes make up whole records: the
    /// rest is to come again with what follows it.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for bytes that are no record of this place, so that damage is never
    /// taken over (D13). It is also the error for a position that does not continue the log.
    /// [`StoreError::InnerBatch`] for a record that no queue here can hold. Records before that are
    /// appended.
    pub fn append_copied(&self, position: u64, bytes: &[u8]) -> Result<usize, StoreError> {
        let mut appender = self.appender.lock();
        self.check_writable()?;
        appender.log.continue_at(position)?;
        let mut taken = 0;
        loop {
            let at = position + taken as u64;
            let (size, stopped) = self.check_records(at, &bytes[taken..]);
            self.copy_records(&mut appender, at, &bytes[taken..taken + size])?;
            taken += size;
            let Some(blank_size) = stopped? else {
                return Ok(taken);
            };
            appender.log.copy_blank(&bytes[taken..taken + blank_size])?;
            taken += blank_size;
        }
    }

    /// Checks the whole records at the start of `bytes`, which come next in one segment. Returns the
    /// bytes that they take, and what stopped there: the end of the bytes, or a blank of a size.
    fn check_records(
        &self,
        position: u64,
        bytes: &[u8],
    ) -> (usize, Result<Option<usize>, StoreError>) {
        // Another checksum than the body's is for the general way.
        let may_be_plain = self.config.crc_property == CrcProperty::Off;
        let mut checked = 0;
        loop {
            let (at, rest) = (position + checked as u64, &bytes[checked..]);
            if may_be_plain
                && let Some(record) = PlainRecord::read(rest, at)
                && (record.size + BLANK_SIZE) as u64 <= self.room_at(at)
                && record.is_intact()
            {
                checked += record.size;
                continue;
            }
            match self.check_unit(at, rest) {
                Ok(Some((Found::Record(_), size))) => checked += size,
                Ok(Some((Found::Blank, size))) => return (checked, Ok(Some(size))),
                Ok(None) => return (checked, Ok(None)),
                Err(error) => return (checked, Err(error)),
            }
        }
    }

    /// The unit that `bytes` start with, and its size; `None` until it is whole.
    pub(super) fn check_unit<'b>(
        &self,
        at: u64,
        bytes: &'b [u8],
    ) -> Result<Option<(Found<'b>, usize)>, StoreError> {
        let Some(size) = unit_size(bytes) else {
            return Ok(None);
        };
        let room = self.room_at(at);
        if size as u64 > room {
            return Err(corrupt(at, "it reaches into the next segment"));
        }
        let Some(unit) = bytes.get(..size) else {
            return Ok(None);
        };
        let crc = self.config.crc_property;
        match check(unit, at, crc).map_err(|damage| corrupt(at, &damage.to_string()))? {
            Found::Blank if size as u64 != room => {
                Err(corrupt(at, "a blank does not end the segment"))
            }
            Found::Record(_) if size as u64 + BLANK_SIZE as u64 > room => {
                Err(corrupt(at, "it leaves no room for a blank"))
            }
            found => Ok(Some((found, size))),
        }
    }

    /// How much of its segment lies behind a position.
    fn room_at(&self, position: u64) -> u64 {
        self.config.segment_size_bytes - position % self.config.segment_size_bytes
    }

    /// Appends checked records, which `bytes` consist of. Many are written to the file at once, and
    /// become part of the log one by one as their places in queues are made.
    fn copy_records(
        &self,
        appender: &mut Appender,
        position: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let is_ahead = appender.log.prepare_ahead(bytes.len())?;
        if is_ahead {
            // What a failed write has left there is not known.
            self.poisoning(|| appender.log.write_ahead(bytes))?;
        }
        let mut copied = 0;
        while copied < bytes.len() {
            let (at, rest) = (position + copied as u64, &bytes[copied..]);
            let size = match Self::copy_ordinary(appender, at, rest, is_ahead) {
                Some(size) => Ok(size),
                None => self.copy_any(appender, at, rest, is_ahead),
            };
            copied += match size {
                Ok(size) => size,
                Err(error) if is_ahead => {
                    self.poisoning(|| appender.log.clear_ahead(rest.len()))?;
                    return Err(error);
                }
                Err(error) => return Err(error),
            };
        }
        Ok(())
    }

    /// Appends the record that `bytes` start with if it is the next message of a queue with room,
    /// as nearly all are. Returns its size; for any other record does nothing and returns `None`.
    /// What this does to a queue is what [`Self::copy_record`] would do.
    #[inline]
    fn copy_ordinary(
        appender: &mut Appender,
        position: u64,
        bytes: &[u8],
        is_ahead: bool,
    ) -> Option<usize> {
        let record = PlainRecord::read(bytes, position)?;
        let Appender { log, queues } = appender;
        let topic = std::str::from_utf8(record.topic).ok()?;
        let (mut queue, traffic) = queues.ordinary_queue(topic, record.queue_id)?;
        if queue.end_offset() != record.queue_offset {
            return None;
        }
        let unit = if is_ahead {
            log.next_ahead(record.size)
        } else {
            let mut unit = log.room(record.size)?;
            copy_in_order(unit.bytes(), &bytes[..record.size], record.properties.len());
            Some(unit)
        };
        unit?.commit(record.store_timestamp_ms);
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        queue.push(&QueueEntry {
            log_position: position,
            size: record.size as u32,
            tags_code: tags_code(record.properties, record.store_timestamp_ms, None),
        });
        traffic.count(1, record.size);
        Some(record.size)
    }

    /// Appends the record that `bytes` start with, whatever it is; returns its size.
    fn copy_any(
        &self,
        appender: &mut Appender,
        position: u64,
        bytes: &[u8],
        is_ahead: bool,
    ) -> Result<usize, StoreError> {
        match locate(bytes, position) {
            Ok(Found::Record(record)) => {
                self.copy_record(appender, &record, is_ahead)?;
                Ok(record.bytes.len())
            }
            Ok(Found::Blank) => Err(corrupt(position, "a blank between records")),
            Err(damage) => Err(corrupt(position, &damage.to_string())),
        }
    }

    fn copy_record(
        &self,
        appender: &mut Appender,
        record: &RecordView<'_>,
        is_ahead: bool,
    ) -> Result<(), StoreError> {
        refuse_inner_batch(record)?;
        let position = record.log_position;
        let topic = std::str::from_utf8(record.topic);
        let topic = topic.map_err(|_| corrupt(position, "its topic is not text"))?;
        let Appender { log, queues } = appender;
        let mut open = queues
            .open_topic(topic)
            .map_err(|it| refused(position, it))?;
        let entry = self.entry_of(record, open.topic.traits.is_schedule);
        let mut queue = if occupies_queue(record.sys_flag) {
            let place = (record.queue_id, record.queue_offset);
            let reserved = open.reserve_at(place, position, || self.log.min_position());
            Some(reserved.map_err(|error| refused(position, error))?)
        } else {
            None
        };
        let size = record.bytes.len();
        let unit = if is_ahead {
            log.next_ahead(size).ok_or(StoreError::Closed)?
        } else {
            let mut unit = log.reserve(size)?;
            copy_in_order(unit.bytes(), record.bytes, record.properties.len());
            unit
        };
        unit.commit(record.store_timestamp_ms);
        if let Some(queue) = &mut queue {
            queue.push(&entry);
        }
        open.count(1, size);
        Ok(())
    }

    pub(super) fn entry_of(&self, record: &RecordView<'_>, is_schedule: bool) -> QueueEntry {
        let levels = is_schedule.then_some(&*self.config.delay_levels_ms);
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        let size = record.bytes.len() as u32;
        QueueEntry {
            log_position: record.log_position,
            size,
            tags_code: tags_code(record.properties, record.store_timestamp_ms, levels),
        }
    }
}

pub(super) fn refused(position: u64, error: AppendError) -> StoreError {
    match error {
        AppendError::Store(error) => error,
        other => corrupt(position, &other.to_string()),
    }
}

/// So many bytes hold the size of a record or blank, and show which of the two it is.
pub const UNIT_HEAD_SIZE: usize = MAGIC_AT + 4;

/// Size that the record or blank at the start of `bytes` claims; `None` before that is known.
#[must_use]
pub fn unit_size(bytes: &[u8]) -> Option<usize> {
    let head = bytes.first_chunk::<UNIT_HEAD_SIZE>()?;
    let [s3, s2, s1, s0, ..] = *head;
    Some(u32::from_be_bytes([s3, s2, s1, s0]) as usize)
}

pub(super) fn corrupt(position: u64, reason: &str) -> StoreError {
    StoreError::Corrupt {
        position,
        reason: format!("the master's record there cannot be taken over: {reason}"),
    }
}
