//! Whether bytes are a valid record, and whether a record is the one that is asked for
//! (storage-and-ha.md 2.8).

use super::crc_property::{self, Verdict};
use super::{
    BODY_CRC_AT, BODY_LENGTH_AT, BORN_HOST_AT, BORN_HOST_IPV6, BORN_TIMESTAMP_AT, IPV6_EXTRA,
    MAGIC_AT, MAGIC_BLANK, MAGIC_V1, MAGIC_V2, PHYSICAL_OFFSET_AT, QUEUE_ID_AT, QUEUE_OFFSET_AT,
    RecordDamage, RecordView, STORE_HOST_IPV6, SYS_FLAG_AT, take_topic,
};
use crate::cursor::Reader;
use crate::record::CrcProperty;

/// What lies at a position of a segment.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    Record(RecordView<'a>),
    Blank,
}

/// Validates what lies at `position`; `rest` are the bytes from there to the segment's end.
pub(crate) fn check(
    rest: &[u8],
    position: u64,
    rule: CrcProperty,
) -> Result<Found<'_>, RecordDamage> {
    match locate(rest, position)? {
        Found::Record(record) => intact(record, rule).map(Found::Record),
        Found::Blank => Ok(Found::Blank),
    }
}

/// [`check`] without a checksum.
pub(crate) fn locate(rest: &[u8], position: u64) -> Result<Found<'_>, RecordDamage> {
    let mut input = Reader::new(rest);
    let size = input.u32().ok_or(RecordDamage::Short)? as usize;
    if input.u32() == Some(MAGIC_BLANK) {
        let fills_segment = size == rest.len();
        return if fills_segment {
            Ok(Found::Blank)
        } else {
            Err(RecordDamage::Length)
        };
    }
    locate_record(rest, position).map(Found::Record)
}

/// Validates the record at `position`, which starts `bytes`.
pub(crate) fn check_record(
    bytes: &[u8],
    position: u64,
    rule: CrcProperty,
) -> Result<RecordView<'_>, RecordDamage> {
    locate_record(bytes, position).and_then(|record| intact(record, rule))
}

fn locate_record(bytes: &[u8], position: u64) -> Result<RecordView<'_>, RecordDamage> {
    let view = RecordView::parse(bytes)?;
    if view.log_position == position {
        Ok(view)
    } else {
        Err(RecordDamage::Position)
    }
}

fn intact(view: RecordView<'_>, rule: CrcProperty) -> Result<RecordView<'_>, RecordDamage> {
    let verdict = match rule {
        CrcProperty::Off => Verdict::Absent,
        CrcProperty::Verified | CrcProperty::Required => crc_property::verify(&view),
    };
    match judged(verdict, rule) {
        Some(outcome) => outcome.map(|()| view),
        None if view.is_intact() => Ok(view),
        None => Err(RecordDamage::BodyCrc),
    }
}

/// What the checksum of a whole record says of it; `None` where that of its body decides.
pub(super) fn judged(verdict: Verdict, rule: CrcProperty) -> Option<Result<(), RecordDamage>> {
    match verdict {
        Verdict::Right => Some(Ok(())),
        Verdict::Wrong => Some(Err(RecordDamage::RecordCrc)),
        Verdict::Absent if rule == CrcProperty::Required => Some(Err(RecordDamage::NoRecordCrc)),
        Verdict::Absent => None,
    }
}

/// How many bytes at the start of `rest` are one record's, although it is not valid: what looks like
/// another one among them is what its sender put in.
///
/// Two fields have to agree on it, so that one that is wrong does not hide what follows the record.
pub(crate) fn claimed_size(rest: &[u8], position: u64) -> usize {
    match locate(rest, position) {
        Ok(Found::Record(whole)) => whole.bytes.len(),
        // What comes behind the body may not be there yet.
        _ => body_end(rest, position).unwrap_or(1),
    }
}

/// Where the body ends of the record at the start of `rest`, if that is within the record's size.
fn body_end(rest: &[u8], position: u64) -> Option<usize> {
    let size = Reader::new(rest).u32()? as usize;
    let record = rest.get(..size)?;
    let body_at = body_length_at(record)? + 4;
    let body_size = Reader::new(&record[body_at - 4..]).i32()?;
    let end = body_at.checked_add(usize::try_from(body_size).ok()?)?;
    (has_header(record, position) && end < size).then_some(end)
}

/// Where a record says how long its body is.
pub(super) fn body_length_at(record: &[u8]) -> Option<usize> {
    let sys_flag = Reader::new(record.get(SYS_FLAG_AT..)?).i32()?;
    let hosts = [BORN_HOST_IPV6, STORE_HOST_IPV6].map(|flag| usize::from(sys_flag & flag != 0));
    let at = BODY_LENGTH_AT + IPV6_EXTRA * (hosts[0] + hosts[1]);
    record.get(at..at + 4).map(|_| at)
}

/// Store time of the record at the start of `bytes`, if it lies where it says it does.
pub(crate) fn store_timestamp(bytes: &[u8], position: u64) -> Option<i64> {
    has_header(bytes, position).then_some(())?;
    let mut input = Reader::new(bytes.get(SYS_FLAG_AT..)?);
    let is_ipv6 = input.i32()? & BORN_HOST_IPV6 != 0;
    let at = BORN_HOST_AT + if is_ipv6 { 8 + IPV6_EXTRA } else { 8 };
    Reader::new(bytes.get(at..)?).i64()
}

/// Whether the header's size, magic and position fit: the check of every read.
pub(crate) fn has_header(record: &[u8], position: u64) -> bool {
    let Some(head) = record.first_chunk::<BORN_TIMESTAMP_AT>() else {
        return false;
    };
    let mut input = Reader::new(head);
    let size = input.u32();
    let magic = input.u32();
    let stored = Reader::new(&head[PHYSICAL_OFFSET_AT..]).u64();
    size.is_some_and(|size| size as usize == record.len())
        && matches!(magic, Some(MAGIC_V1 | MAGIC_V2))
        && stored == Some(position)
}

/// How long the record at the start of `rest` is, if its header fits.
pub(crate) fn record_size(rest: &[u8], position: u64) -> Option<usize> {
    let size = Reader::new(rest).u32()? as usize;
    has_header(rest.get(..size)?, position).then_some(size)
}

/// Whether a record has a checksum of its body: that is written last, and is 0 until then.
pub(crate) fn has_body_crc(record: &[u8]) -> bool {
    let crc = record.get(BODY_CRC_AT..QUEUE_ID_AT);
    crc.is_some_and(|crc| crc.iter().any(|byte| *byte != 0))
}

/// Whether a record is that of a place in a queue. What it costs is a look at the two ends of the
/// body: header and topic.
pub(crate) fn has_place(record: &[u8], topic: &[u8], queue_id: i32, offset: u64) -> bool {
    let Some(head) = record.first_chunk::<BODY_LENGTH_AT>() else {
        return false;
    };
    Reader::new(&head[QUEUE_ID_AT..]).i32() == Some(queue_id)
        && Reader::new(&head[QUEUE_OFFSET_AT..]).u64() == Some(offset)
        && topic_of(record) == Some(topic)
}

/// The topic of a record, found by the length of its body alone.
fn topic_of(record: &[u8]) -> Option<&[u8]> {
    let mut input = Reader::new(record.get(MAGIC_AT..)?);
    let magic = input.u32()?;
    let mut input = Reader::new(record.get(body_length_at(record)?..)?);
    let body_size = usize::try_from(input.i32()?).ok()?;
    input.take(body_size)?;
    take_topic(&mut input, magic)
}
