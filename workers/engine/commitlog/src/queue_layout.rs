//! The entries of a consume queue: entry n is that of queue offset n (storage-and-ha.md 3.1).
//!
//! ```text
//! 0 log position i64 | 8 record size i32 | 12 tagsCode i64
//! ```

use crate::cursor::{Reader, Writer};
use crate::message::QueueEntry;

/// Size of one entry.
pub(crate) const ENTRY_SIZE: usize = 20;
/// As [`ENTRY_SIZE`], for places in files.
pub(crate) const ENTRY_BYTES: u64 = ENTRY_SIZE as u64;

/// Last offset whose place in the queue's files is a signed 64-bit integer.
pub(crate) const OFFSET_MAX: u64 = i64::MAX as u64 / ENTRY_BYTES - 1;

/// Stands before the first real entry of a queue that does not begin at offset 0.
pub(crate) const FILLER: QueueEntry = QueueEntry {
    log_position: 0,
    size: i32::MAX as u32,
    tags_code: 0,
};

pub(crate) fn is_filler(entry: &QueueEntry) -> bool {
    *entry == FILLER
}

/// Reads an entry; `None` for bytes that are not a valid one.
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
mod tests {
    use super::*;

    const ENTRY: QueueEntry = QueueEntry {
        log_position: 0x0102_0304_0506,
        size: 0x0708,
        tags_code: -2,
    };

    #[test]
    fn an_entry_lies_as_the_table_of_its_layout_says() {
        let bytes = encode_entry(&ENTRY);

        let expected = [
            &[0, 0, 1, 2, 3, 4, 5, 6][..],
            &[0, 0, 7, 8],
            &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
        ];
        assert_eq!(bytes[..], expected.concat());
        assert_eq!(decode_entry(&bytes), Some(ENTRY));
    }

    #[test]
    fn impossible_fields_and_missing_bytes_are_no_entry() {
        let bytes = encode_entry(&ENTRY);
        let with = |at: usize, change: &[u8]| {
            let mut changed = bytes;
            changed[at..at + change.len()].copy_from_slice(change);
            decode_entry(&changed)
        };

        assert_eq!(with(0, &[0x80]), None);
        assert_eq!(with(8, &[0; 4]), None);
        assert_eq!(with(8, &[0x80]), None);
        for size in 0..ENTRY_SIZE {
            assert_eq!(decode_entry(&bytes[..size]), None);
        }
    }
}
