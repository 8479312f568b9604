//! The two kinds of queue entries: plain ones, and those of batch queues, which stand for several
//! queue offsets (storage-and-ha.md 3.1, 3.5).
//!
//! ```text
//!  0 log position i64 | 8 record size i32 | 12 tagsCode i64          both kinds
//! 20 store time i64 | 28 first offset i64 | 36 message count i16     batch queues only
//! 38 compactedOffset i32 (-1) | 42 reserved i32 (0)
//! ```

use crate::cursor::{Reader, Writer};
use crate::message::QueueEntry;

/// Size of one entry of a plain queue.
pub(crate) const ENTRY_SIZE: usize = 20;

/// Size of an entry of a batch queue.
pub(crate) const BATCH_ENTRY_SIZE: usize = ENTRY_SIZE + 8 + 8 + 2 + 4 + 4;

/// Last offset whose place in the queue's files is a signed 64-bit integer.
pub(crate) const OFFSET_MAX: u64 = i64::MAX as u64 / BATCH_ENTRY_SIZE as u64 - 1;

/// Stands before the first real entry of a queue that does not begin at offset 0.
pub(crate) const FILLER: QueueEntry = QueueEntry {
    log_position: 0,
    size: i32::MAX as u32,
    tags_code: 0,
};

pub(crate) fn is_filler(entry: &QueueEntry) -> bool {
    *entry == FILLER
}

/// Reads a plain entry, with which those of batch queues begin; `None` for bytes that are not a
/// valid one.
pub(crate) fn decode_entry(bytes: &[u8]) -> Option<QueueEntry> {
    let mut input = Reader::new(bytes);
    let log_position = u64::try_from(input.i64()?).ok()?;
    let size = u32::try_from(input.i32()?).ok().filter(|size| *size > 0)?;
    let tags_code = input.i64()?;
    Some(QueueEntry {
        log_position,
        size,
        tags_code,
    })
}

#[inline(always)]
pub(crate) fn encode_entry(entry: &QueueEntry) -> [u8; ENTRY_SIZE] {
    let mut bytes = [0; ENTRY_SIZE];
    let mut out = Writer::new(&mut bytes);
    out.put_u64(entry.log_position);
    out.put_u32(entry.size);
    out.put_i64(entry.tags_code);
    bytes
}

/// What lies in the files of a queue. All queues of a topic have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Entry n is that of queue offset n.
    Plain,
    /// Entries say which queue offsets they stand for.
    Batch,
}

/// An entry and the queue offsets that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Placed {
    pub(crate) entry: QueueEntry,
    pub(crate) offset: u64,
    pub(crate) count: u16,
    /// Only batch queues hold it.
    pub(crate) store_timestamp_ms: i64,
}

impl Placed {
    pub(crate) fn end_offset(&self) -> u64 {
        self.offset + u64::from(self.count)
    }
}

impl Layout {
    pub(crate) fn entry_size(self) -> usize {
        match self {
            Self::Plain => ENTRY_SIZE,
            Self::Batch => BATCH_ENTRY_SIZE,
        }
    }

    pub(crate) fn entry_bytes(self) -> u64 {
        self.entry_size() as u64
    }

    /// Reads entry `number` of a queue; `None` for bytes that are not a valid one.
    #[inline]
    pub(crate) fn decode(self, bytes: &[u8], number: u64) -> Option<Placed> {
        let entry = decode_entry(bytes)?;
        if self == Self::Plain {
            return Some(Placed {
                entry,
                offset: number,
                count: 1,
                store_timestamp_ms: 0,
            });
        }
        let mut input = Reader::new(bytes.get(ENTRY_SIZE..)?);
        let store_timestamp_ms = input.i64()?;
        let offset = u64::try_from(input.i64()?).ok()?;
        let count = u16::try_from(input.i16()?)
            .ok()
            .filter(|count| *count > 0)?;
        Some(Placed {
            entry,
            offset,
            count,
            store_timestamp_ms,
        })
    }

    /// Writes an entry; `bytes` has the size of one.
    pub(crate) fn encode(self, bytes: &mut [u8], placed: &Placed) {
        let (plain, rest) = bytes.split_at_mut(ENTRY_SIZE);
        plain.copy_from_slice(&encode_entry(&placed.entry));
        if self == Self::Batch {
            let mut out = Writer::new(rest);
            out.put_i64(placed.store_timestamp_ms);
            out.put_u64(placed.offset);
            out.put(&placed.count.to_be_bytes());
            out.put_i32(-1);
            out.put_i32(0);
        }
    }
}

/// The first number of a range for which `is_before` no longer holds.
pub(crate) fn partition_point(mut low: u64, mut high: u64, is_before: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests;
