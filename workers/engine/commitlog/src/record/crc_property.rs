//! The checksum of a whole record, kept as its last property (storage-and-ha.md 2.7).
//!
//! ```text
//! __CRC32# | byte 1 | ten decimal digits, the least significant first | byte 2
//! ```
//! It is that of all bytes before it, without its top bit.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::{RecordView, body_crc};
use crate::properties::PROPERTY_SEPARATOR;

/// Whether records end in a checksum of all of their bytes (storage-and-ha.md 2.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcProperty {
    /// No: nothing but the body of a record is covered.
    Off,
    /// New ones do, and what has one is verified by it.
    Verified,
    /// As before, and a record without one is a damaged one.
    Required,
}

/// Size of the property, and of the record's part that its checksum does not cover.
pub(super) const SIZE: usize = 20;
const ZERO: [u8; SIZE] = *b"__CRC32#\x010000000000\x02";
/// Name and separator.
const NAME_SIZE: usize = 9;
const DIGITS_END: usize = SIZE - 1;

/// What the end of a record says of the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The record does not end in the property.
    Absent,
    Right,
    Wrong,
}

/// Writes the property over the end of a record whose other bytes are final.
pub(super) fn write(record: &mut [u8]) {
    if let Some((covered, property)) = record.split_last_chunk_mut::<SIZE>() {
        *property = of(body_crc(covered));
    }
}

/// The property of a record whose other bytes have a checksum.
#[allow(clippy::cast_possible_truncation)] // one digit
fn of(mut crc: u32) -> [u8; SIZE] {
    let mut property = ZERO;
    for digit in &mut property[NAME_SIZE..DIGITS_END] {
        *digit += (crc % 10) as u8;
        crc /= 10;
    }
    property
}

/// Compares a record with its property.
pub(super) fn verify(record: &RecordView<'_>) -> Verdict {
    match (record.bytes.split_last_chunk(), record.properties.len()) {
        (Some((covered, found)), SIZE..) => verdict(found, || body_crc(covered)),
        _ => Verdict::Absent,
    }
}

/// Compares a property with the checksum of what it covers. Of a property that is damaged itself, one
/// part or the other is still right: its name, or the digits.
pub(super) fn verdict(found: &[u8; SIZE], crc: impl FnOnce() -> u32) -> Verdict {
    let has_name = found[..NAME_SIZE] == ZERO[..NAME_SIZE];
    let may_have_digits = || found[NAME_SIZE..DIGITS_END].iter().all(u8::is_ascii_digit);
    if !has_name && !may_have_digits() {
        return Verdict::Absent;
    }
    let expected = of(crc());
    if *found == expected {
        Verdict::Right
    } else if has_name || found[NAME_SIZE..DIGITS_END] == expected[NAME_SIZE..DIGITS_END] {
        Verdict::Wrong
    } else {
        Verdict::Absent
    }
}

/// Properties without any CRC property, which only a copy of a stored message brings along.
pub(crate) fn without_crc_property(properties: &[u8]) -> Cow<'_, [u8]> {
    static NAME: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(&ZERO[..NAME_SIZE]));
    if NAME.find(properties).is_none() {
        return Cow::Borrowed(properties);
    }
    let entries = properties.split_inclusive(|byte| *byte == PROPERTY_SEPARATOR);
    let kept = entries.filter(|entry| !entry.starts_with(&ZERO[..NAME_SIZE]));
    Cow::Owned(kept.flatten().copied().collect())
}
