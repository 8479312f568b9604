//! Records of the log (FORMAT.md 2).

use super::bytes::{crc31, has_empty_sector, integer, java_hash};

const V1: i64 = 0xDAA3_20A7_u32.cast_signed() as i64;
const V2: i64 = 0xDAA3_20AB_u32.cast_signed() as i64;
const BLANK: i64 = 0xCBD4_3194_u32.cast_signed() as i64;
/// A record without body, topic and properties.
const SMALLEST: usize = 91;
const CRC_PROPERTY_SIZE: usize = 20;
const CRC_NAME: &[u8] = b"__CRC32#\x01";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub position: u64,
    pub size: usize,
    pub is_v2: bool,
    pub queue_id: i32,
    pub flag: i32,
    pub queue_offset: u64,
    pub sys_flag: i32,
    pub born_timestamp: i64,
    pub born_host: Vec<u8>,
    pub store_timestamp: i64,
    pub store_host: Vec<u8>,
    pub reconsume_times: i32,
    pub prepared_offset: i64,
    pub body: Vec<u8>,
    pub topic: String,
    pub properties: Vec<u8>,
}

/// What lies at a position of the log.
#[derive(Debug)]
pub enum Found {
    Record(Box<Record>),
    /// The rest of the segment is filled.
    Blank,
    Invalid(Invalid),
}

/// No record, or not a whole one.
#[derive(Debug, Clone, Copy)]
pub struct Invalid {
    /// How many bytes belong to it, so that no other record begins there.
    pub reach: usize,
    /// How many bytes it would have; those of the smallest record where its head is wrong.
    pub size: usize,
    pub is_head_right: bool,
}

/// Which records count.
#[derive(Debug, Clone, Copy, Default)]
pub struct Rules {
    /// `enabledAppendPropCRC`
    pub has_crc_property: bool,
    /// `forceVerifyPropCRC`
    pub must_have_crc_property: bool,
}

/// Reads fields one after another.
struct Fields<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Fields<'_> {
    fn next(&mut self, size: usize) -> Option<i64> {
        let value = integer(self.bytes, self.at, size)?;
        self.at += size;
        Some(value)
    }

    fn take(&mut self, size: usize) -> Option<Vec<u8>> {
        let taken = self.bytes.get(self.at..self.at.checked_add(size)?)?;
        self.at += size;
        Some(taken.to_vec())
    }

    /// A field behind its length of so many bytes.
    fn counted(&mut self, length_size: usize) -> Option<Vec<u8>> {
        let length = self.next(length_size)?;
        self.take(usize::try_from(length).ok()?)
    }
}

/// What lies at byte `at` of a segment that begins at log position `base`; the log is flushed up to `flushed`.
pub fn look(segment: &[u8], at: usize, base: u64, flushed: u64, rules: Rules) -> Found {
    let rest = &segment[at..];
    let position = base + at as u64;
    let none = Invalid {
        reach: 1,
        size: SMALLEST.min(rest.len()),
        is_head_right: false,
    };
    let (Some(size), Some(magic)) = (integer(rest, 0, 4), integer(rest, 4, 4)) else {
        return Found::Invalid(none);
    };
    let Ok(size) = usize::try_from(size) else {
        return Found::Invalid(none);
    };
    if magic == BLANK && size == rest.len() {
        return Found::Blank;
    }
    let is_place = integer(rest, 28, 8) == Some(position.cast_signed());
    if ![V1, V2].contains(&magic) || !is_place || size < SMALLEST || size > rest.len() {
        return Found::Invalid(none);
    }
    let bytes = &rest[..size];
    let Some((record, topic_at, properties_at)) = decode(bytes, position) else {
        let reach = body_end(bytes).unwrap_or(1);
        return Found::Invalid(Invalid {
            reach,
            size,
            is_head_right: true,
        });
    };
    let is_flushed = position + size as u64 <= flushed;
    let parts = [
        (topic_at, record.topic.len()),
        (properties_at, record.properties.len()),
    ];
    let is_lost =
        |(from, length): (usize, usize)| has_empty_sector(segment, at + from, at + from + length);
    if !is_right(bytes, &record, rules) || (!is_flushed && parts.into_iter().any(is_lost)) {
        return Found::Invalid(Invalid {
            reach: size,
            size,
            is_head_right: true,
        });
    }
    Found::Record(Box::new(record))
}

fn body_at(sys_flag: i64) -> usize {
    let host = |flag: i64| if sys_flag & flag != 0 { 20 } else { 8 };
    48 + host(0x10) + 8 + host(0x20) + 4 + 8
}

/// The end of the body, if something of the record lies behind it.
fn body_end(bytes: &[u8]) -> Option<usize> {
    let at = body_at(integer(bytes, 36, 4)?);
    let length = usize::try_from(integer(bytes, at, 4)?).ok()?;
    let end = (at + 4).checked_add(length)?;
    (end < bytes.len()).then_some(end)
}

/// The record whose lengths fit, and where its topic and its properties begin.
pub fn decode(bytes: &[u8], position: u64) -> Option<(Record, usize, usize)> {
    let mut fields = Fields { bytes, at: 4 };
    let is_v2 = fields.next(4)? == V2;
    fields.at = 12;
    let int = |value: i64| i32::try_from(value).expect("four bytes");
    let (queue_id, flag) = (int(fields.next(4)?), int(fields.next(4)?));
    let queue_offset = fields.next(8)?.cast_unsigned();
    fields.at = 36;
    let sys_flag = int(fields.next(4)?);
    let born_timestamp = fields.next(8)?;
    let host_size = |flag: i32| if sys_flag & flag != 0 { 20 } else { 8 };
    let born_host = fields.take(host_size(0x10))?;
    let store_timestamp = fields.next(8)?;
    let store_host = fields.take(host_size(0x20))?;
    let (reconsume_times, prepared_offset) = (int(fields.next(4)?), fields.next(8)?);
    let body = fields.counted(4)?;
    let topic = fields.counted(if is_v2 { 2 } else { 1 })?;
    let topic_at = fields.at - topic.len();
    let properties = fields.counted(2)?;
    let properties_at = fields.at - properties.len();
    let record = Record {
        position,
        size: bytes.len(),
        is_v2,
        queue_id,
        flag,
        queue_offset,
        sys_flag,
        born_timestamp,
        born_host,
        store_timestamp,
        store_host,
        reconsume_times,
        prepared_offset,
        body,
        topic: String::from_utf8_lossy(&topic).into_owned(),
        properties,
    };
    (fields.at == bytes.len()).then_some((record, topic_at, properties_at))
}

/// Whether the checksums of a record say that it is whole.
fn is_right(bytes: &[u8], record: &Record, rules: Rules) -> bool {
    let is_body_right = integer(bytes, 8, 4) == Some(crc31(&record.body));
    if !rules.has_crc_property {
        return is_body_right;
    }
    match crc_property(bytes) {
        Some(is_right) => is_right,
        None => is_body_right && !rules.must_have_crc_property,
    }
}

/// Whether the CRC property is right; nothing without one.
pub fn crc_property(bytes: &[u8]) -> Option<bool> {
    let (before, property) = bytes.split_at(bytes.len().checked_sub(CRC_PROPERTY_SIZE)?);
    let crc = crc31(before);
    let digits: Vec<u8> = format!("{crc:010}").bytes().rev().collect();
    let (name, value) = property.split_at(CRC_NAME.len());
    let is_name = name == CRC_NAME;
    let are_digits = value[..10] == digits[..];
    (is_name || are_digits).then_some(is_name && are_digits && value[10] == 2)
}

impl Record {
    /// The last value of a property.
    pub fn property(&self, name: &[u8]) -> Option<&[u8]> {
        let entries = self.properties.split(|byte| *byte == 2);
        let pairs = entries.filter_map(|entry| {
            let at = entry.iter().position(|byte| *byte == 1)?;
            let (name, value) = (&entry[..at], &entry[at + 1..]);
            (!name.is_empty() && !value.is_empty()).then_some((name, value))
        });
        pairs.rev().find(|pair| pair.0 == name).map(|pair| pair.1)
    }

    /// Prepared and rolled-back messages have no entry in a queue.
    pub fn has_entry(&self) -> bool {
        [0, 8].contains(&(self.sys_flag & 0x0C))
    }

    /// What the entry of a queue holds beside the place: with a delay, when it ends.
    pub fn tags_code(&self, delay_levels_ms: &[i64]) -> i64 {
        let level = self
            .property(b"DELAY")
            .and_then(|level| std::str::from_utf8(level).ok());
        let level: usize = level.and_then(|level| level.parse().ok()).unwrap_or(0);
        if self.topic == "SCHEDULE_TOPIC_XXXX" && level > 0 {
            return self.store_timestamp + delay_levels_ms[level.min(delay_levels_ms.len()) - 1];
        }
        self.property(b"TAGS")
            .map_or(0, |tags| i64::from(java_hash(tags)))
    }

    /// The index has an entry for each of these.
    pub fn keys(&self) -> Vec<Vec<u8>> {
        if self.sys_flag & 0x0C == 0x0C {
            return Vec::new();
        }
        let key = |parts: &[&[u8]]| [&[self.topic.as_bytes()][..], parts].concat().join(&b'#');
        let unique = self.property(b"UNIQ_KEY").map(|value| key(&[value]));
        let parts = self
            .property(b"KEYS")
            .unwrap_or_default()
            .split(|byte| *byte == b' ');
        let parts = parts
            .filter(|part| !part.is_empty())
            .map(|part| key(&[part]));
        let tags = self.property(b"TAGS").map(|value| key(&[b"T", value]));
        unique.into_iter().chain(parts).chain(tags).collect()
    }
}

/// Whether the disk never had all of an invalid record.
pub fn is_torn(segment: &[u8], at: usize, invalid: Invalid) -> bool {
    has_empty_sector(segment, at, at + invalid.size)
        || (invalid.is_head_right && integer(segment, at + 8, 4) == Some(0))
}
