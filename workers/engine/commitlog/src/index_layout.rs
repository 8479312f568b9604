//! Where things lie in an index file, and its header (storage-and-ha.md 4.1).
//!
//! ```text
//!  0 beginTimestamp i64 | 8 endTimestamp i64 | 16 beginPhyOffset i64 | 24 endPhyOffset i64
//! 32 hashSlotCount i32 | 36 indexCount i32
//! 40 slots: entry number i32 each
//!    entries: keyHash i32 | log position i64 | seconds since beginTimestamp i32 | previous i32
//! ```

use crate::cursor::{Reader, Writer};

pub(crate) const HEADER_SIZE: usize = 40;
pub(crate) const SLOT_SIZE: usize = 4;
pub(crate) const ENTRY_SIZE: usize = 20;
/// Entries are counted from here; 0 ends a chain.
pub(crate) const FIRST_NUMBER: u32 = 1;

/// How many slots and entries a file has.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) slot_count: u32,
    pub(crate) entry_count: u32,
}

impl Shape {
    /// Size of a file.
    pub(crate) fn file_size(self) -> u64 {
        let slots = u64::from(self.slot_count) * SLOT_SIZE as u64;
        HEADER_SIZE as u64 + slots + u64::from(self.entry_count) * ENTRY_SIZE as u64
    }

    /// Where the slot of a hash starts; hashes are not negative.
    pub(crate) fn slot_at(self, key_hash: i32) -> usize {
        HEADER_SIZE + (key_hash.unsigned_abs() % self.slot_count) as usize * SLOT_SIZE
    }

    pub(crate) fn entry_at(self, number: u32) -> usize {
        HEADER_SIZE + self.slot_count as usize * SLOT_SIZE + number as usize * ENTRY_SIZE
    }
}

/// An entry as it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entry {
    pub(crate) key_hash: i32,
    pub(crate) log_position: u64,
    pub(crate) elapsed_s: i32,
    pub(crate) previous: i32,
}

impl Entry {
    /// Reads the entry that starts `bytes`; `None` for a negative log position.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        Some(Self {
            key_hash: input.i32()?,
            log_position: u64::try_from(input.i64()?).ok()?,
            elapsed_s: input.i32()?,
            previous: input.i32()?,
        })
    }
}

/// What a file begins with.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Header {
    pub(crate) begin_timestamp_ms: i64,
    pub(crate) end_timestamp_ms: i64,
    pub(crate) begin_position: u64,
    pub(crate) end_position: u64,
    pub(super) used_slot_count: u32,
    pub(crate) next_number: u32,
}

impl Header {
    /// The header of an empty file: its begin and its end are the end of the file before it.
    pub(super) fn after(previous: Option<&Header>) -> Self {
        let (timestamp_ms, position) = previous.map_or((0, 0), |header| {
            (header.end_timestamp_ms.max(0), header.end_position)
        });
        Self {
            begin_timestamp_ms: timestamp_ms,
            end_timestamp_ms: timestamp_ms,
            begin_position: position,
            end_position: position,
            used_slot_count: 0,
            next_number: FIRST_NUMBER,
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        Some(Self {
            begin_timestamp_ms: input.i64()?,
            end_timestamp_ms: input.i64()?,
            begin_position: u64::try_from(input.i64()?).ok()?,
            end_position: u64::try_from(input.i64()?).ok()?,
            used_slot_count: u32::try_from(input.i32()?).ok()?,
            next_number: u32::try_from(input.i32()?).unwrap_or(0).max(FIRST_NUMBER),
        })
    }

    pub(super) fn encode(&self, bytes: &mut [u8]) {
        let mut out = Writer::new(bytes);
        out.put_i64(self.begin_timestamp_ms);
        out.put_i64(self.end_timestamp_ms);
        out.put_u64(self.begin_position);
        out.put_u64(self.end_position);
        out.put_u32(self.used_slot_count);
        out.put_u32(self.next_number);
    }

    pub(crate) fn is_full(&self, shape: Shape) -> bool {
        self.next_number >= shape.entry_count
    }

    /// Whether counts and positions are possible in a file of this shape.
    pub(crate) fn is_plausible(&self, shape: Shape) -> bool {
        let last = self.next_number - 1;
        self.next_number <= shape.entry_count
            // Older stock counts every entry there.
            && self.used_slot_count <= last
            && (self.used_slot_count > 0) == (last > 0)
            && self.begin_position <= self.end_position
    }

    /// Whole seconds from the begin to a time, as an entry holds them.
    pub(crate) fn elapsed_s(&self, timestamp_ms: i64) -> i32 {
        if self.begin_timestamp_ms <= 0 {
            return 0;
        }
        let elapsed_s = timestamp_ms.saturating_sub(self.begin_timestamp_ms) / 1000;
        i32::try_from(elapsed_s.max(0)).unwrap_or(i32::MAX)
    }
}
