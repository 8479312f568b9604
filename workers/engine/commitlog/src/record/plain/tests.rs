//! Ordinary records are read as every record is.

use super::*;
use crate::message::NewMessage;
use crate::record::CrcProperty;
use crate::record::{Found, Placement, Tail, Version, check, encode, encoded_size};

const POSITION: u64 = 123_456;
/// Miri takes a thousand times as long.
const VALUE_STEP: usize = if cfg!(miri) { 85 } else { 1 };

fn record(topic: &str, body: &[u8], properties: &[u8], version: Version) -> Vec<u8> {
    let message = NewMessage {
        properties,
        ..NewMessage::new(topic, 2, body)
    };
    let mut bytes = vec![0; encoded_size(&message, version, Tail::Nothing)];
    let placement = Placement {
        queue_offset: 41,
        log_position: POSITION,
        store_timestamp_ms: 1_758_000_000_005,
    };
    encode(&mut bytes, &message, version, &placement, Tail::Nothing);
    bytes
}

/// Holds what is read against what the general way finds; returns whether it was read.
fn is_read_alike(bytes: &[u8]) -> bool {
    let plain = PlainRecord::read(bytes, POSITION).filter(PlainRecord::is_intact);
    let found = match check(bytes, POSITION, CrcProperty::Off) {
        Ok(Found::Record(record)) => Some(record),
        Ok(Found::Blank) | Err(_) => None,
    };
    let is_v1 = bytes.get(MAGIC_AT..BODY_CRC_AT) == Some(&MAGIC_V1.to_be_bytes());
    let found = found.filter(|record| is_v1 && has_plain_flag(record.sys_flag));
    assert_eq!(plain.is_some(), found.is_some(), "{bytes:02x?}");
    let Some((plain, record)) = plain.zip(found) else {
        return false;
    };
    assert_eq!(
        (
            plain.size,
            plain.log_position,
            plain.queue_id,
            plain.queue_offset
        ),
        (
            record.bytes.len(),
            record.log_position,
            record.queue_id,
            record.queue_offset
        )
    );
    assert_eq!(plain.store_timestamp_ms, record.store_timestamp_ms);
    assert_eq!(
        (plain.topic, plain.properties),
        (record.topic, record.properties)
    );
    assert_eq!((plain.body, plain.body_crc), (record.body, record.body_crc));
    true
}

#[test]
fn every_byte_of_a_record_counts_as_it_does_in_the_general_way() {
    let whole = record("T", b"hi", b"TAGS\x01A\x02", Version::V1);
    let mut read_count = 0;
    for at in 0..whole.len() {
        for value in (0..=u8::MAX).step_by(VALUE_STEP) {
            let mut bytes = whole.clone();
            bytes[at] = value;
            read_count += usize::from(is_read_alike(&bytes));
            // The segment goes on behind it.
            bytes.extend([value; 200]);
            read_count += usize::from(is_read_alike(&bytes));
        }
    }
    assert!(
        read_count > whole.len(),
        "none of them is an ordinary record"
    );
}

#[test]
fn a_record_that_is_cut_short_is_none() {
    let whole = record("T", b"hi", b"TAGS\x01A\x02", Version::V1);

    let read = (0..=whole.len()).filter(|size| is_read_alike(&whole[..*size]));

    assert_eq!(read.collect::<Vec<_>>(), [whole.len()]);
}

#[test]
fn texts_may_be_empty_or_as_long_as_they_can_be() {
    for (topic, body_size, properties_size) in [(0, 0, 0), (127, 1, 32_767), (1, 70_000, 1)] {
        let (topic, body) = ("t".repeat(topic), vec![7; body_size]);
        let properties = vec![b'p'; properties_size];
        assert!(is_read_alike(&record(
            &topic,
            &body,
            &properties,
            Version::V1
        )));
    }
    assert!(!is_read_alike(&record("T", b"hi", b"", Version::V2)));
}
