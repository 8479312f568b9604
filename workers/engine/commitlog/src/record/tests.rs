//! Bytes of records, against the vectors of the protocol description.

use std::net::SocketAddr;

use super::*;
use crate::message::NewMessage;
use crate::record::CrcProperty;

/// remoting.md 4.1: topic `T`, body `hi`, `TAGS`=`A`, queue 2, offset 41, position 123456.
const VECTOR: &str = "00000065 daa320a7 58932aac 00000002 00000000 0000000000000029 \
     000000000001e240 00000000 0000019950f72c00 0a000005 0000c350 0000019950f72c05 0a000001 \
     00002a9f 00000000 0000000000000000 00000002 6869 01 54 0007 54414753014102";

const PLACEMENT: Placement = Placement {
    queue_offset: 41,
    log_position: 123_456,
    store_timestamp_ms: 1_758_000_000_005,
};

fn from_hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks_exact(2).map(byte).collect()
}

fn host(text: &str) -> SocketAddr {
    text.parse().unwrap()
}

fn vector_message() -> NewMessage<'static> {
    NewMessage {
        born_timestamp_ms: 1_758_000_000_000,
        born_host: host("10.0.0.5:50000"),
        store_host: host("10.0.0.1:10911"),
        properties: b"TAGS\x01A\x02",
        ..NewMessage::new("T", 2, b"hi")
    }
}

fn encoded(message: &NewMessage<'_>, version: Version) -> Vec<u8> {
    encoded_with(message, version, Tail::Nothing)
}

fn encoded_with(message: &NewMessage<'_>, version: Version, tail: Tail) -> Vec<u8> {
    let mut record = vec![0xEE; encoded_size(message, version, tail)];
    encode(&mut record, message, version, &PLACEMENT, tail);
    record
}

/// The documented record with these bytes of properties.
fn vector_with(properties: &[u8]) -> Vec<u8> {
    let mut record = from_hex(VECTOR);
    record.truncate(92);
    record.extend(u16::try_from(properties.len()).unwrap().to_be_bytes());
    record.extend(properties);
    let size = u32::try_from(record.len()).unwrap();
    record[..4].copy_from_slice(&size.to_be_bytes());
    record
}

#[test]
fn the_documented_record_is_written_byte_for_byte() {
    let record = encoded(&vector_message(), Version::V1);

    assert_eq!(record, from_hex(VECTOR));
    assert_eq!(record.len(), 101);
}

#[test]
fn the_documented_record_is_read_back() {
    let bytes = from_hex(VECTOR);

    let record = RecordView::parse(&bytes).unwrap();

    assert_eq!((record.queue_id, record.queue_offset), (2, 41));
    assert_eq!(record.log_position, 123_456);
    assert_eq!(record.born_host, host("10.0.0.5:50000"));
    assert_eq!(record.store_host, host("10.0.0.1:10911"));
    assert_eq!(record.store_timestamp_ms, 1_758_000_000_005);
    assert_eq!((record.body, record.topic), (&b"hi"[..], &b"T"[..]));
    assert_eq!(record.properties, b"TAGS\x01A\x02");
    assert!(record.is_intact());
}

#[test]
fn the_smallest_record_has_91_bytes() {
    let message = NewMessage::new("", 0, b"");

    assert_eq!(encoded(&message, Version::V1).len(), 91);
    assert_eq!(RECORD_SIZE_MIN, 91);
}

#[test]
fn each_ipv6_host_shifts_what_follows_by_twelve_and_sets_its_own_flag() {
    for (born, stored, flag, size) in [
        ("10.0.0.5:1", "10.0.0.1:2", 0x00, 101),
        ("[2001:db8::5]:1", "10.0.0.1:2", 0x10, 113),
        ("10.0.0.5:1", "[2001:db8::1]:2", 0x20, 113),
        ("[2001:db8::5]:1", "[2001:db8::1]:2", 0x30, 125),
    ] {
        let mut message = vector_message();
        message.born_host = host(born);
        message.store_host = host(stored);
        // A client's own idea of the flags does not matter.
        message.sys_flag = 0x1 | (0x30 & !flag);

        let bytes = encoded(&message, Version::V1);
        let record = RecordView::parse(&bytes).unwrap();

        assert_eq!(bytes.len(), size);
        assert_eq!(record.sys_flag, flag | 0x1);
        assert_eq!(
            (record.born_host, record.store_host),
            (host(born), host(stored))
        );
        assert_eq!(store_timestamp(&bytes, 123_456), Some(1_758_000_000_005));
    }
}

#[test]
fn version_two_writes_the_topic_length_in_two_bytes() {
    let topic = format!("%RETRY%{}", "g".repeat(200));
    let message = NewMessage {
        topic: &topic,
        ..vector_message()
    };

    let bytes = encoded(&message, Version::V2);

    assert_eq!(bytes[4..8], MAGIC_V2.to_be_bytes());
    assert_eq!(bytes[90..92], 207_u16.to_be_bytes());
    assert_eq!(RecordView::parse(&bytes).unwrap().topic, topic.as_bytes());
}

#[test]
fn a_cut_record_is_damage_at_every_length() {
    let bytes = from_hex(VECTOR);

    for length in 0..bytes.len() {
        assert!(
            check(&bytes[..length], 123_456, CrcProperty::Off).is_err(),
            "cut to {length} bytes"
        );
    }
    assert!(check(&bytes, 123_456, CrcProperty::Off).is_ok());
}

#[test]
fn a_flipped_bit_in_any_length_magic_position_or_body_is_damage() {
    let guarded = (0..12).chain(28..36).chain(84..91).chain([92, 93]);
    for at in guarded {
        for bit in 0..8 {
            let mut bytes = from_hex(VECTOR);
            bytes[at] ^= 1 << bit;

            assert!(
                check(&bytes, 123_456, CrcProperty::Off).is_err(),
                "bit {bit} of byte {at}"
            );
        }
    }
}

#[test]
fn a_record_copied_to_another_position_is_damage() {
    let bytes = from_hex(VECTOR);

    assert_eq!(
        check(&bytes, 123_457, CrcProperty::Off).unwrap_err(),
        RecordDamage::Position
    );
    assert!(!has_header(&bytes, 123_457));
}

#[test]
fn a_blank_record_must_fill_its_segment() {
    let mut rest = vec![0; 64];
    encode_blank(&mut rest, 64);

    assert_eq!(rest[..8], from_hex("00000040 cbd43194"));
    assert!(matches!(
        check(&rest, 0, CrcProperty::Off),
        Ok(Found::Blank)
    ));
    assert_eq!(
        check(&rest[..63], 0, CrcProperty::Off).unwrap_err(),
        RecordDamage::Length
    );
}

#[test]
fn checksums_are_31_bits_wide() {
    let bodies: Vec<[u8; 2]> = (0..=255).map(|byte| [byte, byte]).collect();

    assert!(
        bodies
            .iter()
            .any(|body| crc32fast::hash(body) > 0x7FFF_FFFF)
    );
    assert!(bodies.iter().all(|body| body_crc(body) <= 0x7FFF_FFFF));
}

/// Digits from another implementation of CRC-32 (Python's zlib), by the rule of
/// storage-and-ha.md 2.7.
#[test]
fn the_crc_property_is_written_byte_for_byte_as_stock_does() {
    let cases: [(&[u8], bool, &[u8]); 4] = [
        (
            b"TAGS\x01A\x02",
            true,
            b"TAGS\x01A\x02__CRC32#\x011092550661\x02",
        ),
        (
            b"TAGS\x01A",
            true,
            b"TAGS\x01A\x02__CRC32#\x011092550661\x02",
        ),
        (b"TAGS\x01A", false, b"TAGS\x01A__CRC32#\x014204127150\x02"),
        (b"", true, b"__CRC32#\x017093834431\x02"),
    ];
    for (properties, is_single, stored) in cases {
        let message = NewMessage {
            properties,
            ..vector_message()
        };
        let tail = if is_single {
            Tail::crc_behind(properties)
        } else {
            Tail::Crc {
                is_separated: false,
            }
        };

        let record = encoded_with(&message, Version::V1, tail);

        assert_eq!(record, vector_with(stored));
        for rule in [CrcProperty::Required, CrcProperty::Verified] {
            assert!(check_record(&record, 123_456, rule).is_ok());
        }
    }
}

#[test]
fn a_flipped_bit_anywhere_in_a_record_with_the_crc_property_is_damage() {
    let tail = Tail::crc_behind(b"TAGS\x01A\x02");
    let whole = encoded_with(&vector_message(), Version::V1, tail);
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;

            for rule in [CrcProperty::Required, CrcProperty::Verified] {
                let found = check_record(&bytes, 123_456, rule);
                assert!(found.is_err(), "bit {bit} of byte {at}");
            }
        }
    }
}

#[test]
fn a_record_without_the_crc_property_is_damage_only_where_it_is_required() {
    let bytes = from_hex(VECTOR);

    let required = check_record(&bytes, 123_456, CrcProperty::Required);

    assert_eq!(required.unwrap_err(), RecordDamage::NoRecordCrc);
    assert!(check_record(&bytes, 123_456, CrcProperty::Verified).is_ok());
    let other = vector_with(b"number\x011234567890\x02");
    assert!(check_record(&other, 123_456, CrcProperty::Verified).is_ok());
}

#[test]
fn a_crc_property_that_a_message_brings_along_is_left_out() {
    let cases: [(&[u8], &[u8]); 6] = [
        (b"", b""),
        (b"TAGS\x01A", b"TAGS\x01A"),
        (b"__CRC32#\x0112\x02TAGS\x01A\x02", b"TAGS\x01A\x02"),
        (b"TAGS\x01A\x02__CRC32#\x0112", b"TAGS\x01A\x02"),
        (
            b"a\x01b\x02__CRC32#\x01\x02c\x01d\x02",
            b"a\x01b\x02c\x01d\x02",
        ),
        (
            b"my__CRC32#\x011\x02__CRC32#x\x011\x02",
            b"my__CRC32#\x011\x02__CRC32#x\x011\x02",
        ),
    ];
    for (properties, kept) in cases {
        assert_eq!(*without_crc_property(properties), *kept);
    }
}

#[test]
fn the_place_of_a_record_is_found_whatever_its_hosts_and_version() {
    for (born, stored) in [
        ("10.0.0.5:1", "10.0.0.1:2"),
        ("[2001:db8::5]:1", "10.0.0.1:2"),
        ("10.0.0.5:1", "[2001:db8::1]:2"),
        ("[2001:db8::5]:1", "[2001:db8::1]:2"),
    ] {
        for version in [Version::V1, Version::V2] {
            let mut message = vector_message();
            (message.born_host, message.store_host) = (host(born), host(stored));

            let record = encoded(&message, version);

            assert!(has_place(&record, b"T", 2, 41));
            assert!(!has_place(&record, b"U", 2, 41));
            assert!(!has_place(&record, b"T", 3, 41));
            assert!(!has_place(&record, b"T", 2, 42));
            for length in 0..92 {
                assert!(!has_place(&record[..length], b"T", 2, 41), "{length}");
            }
        }
    }
}
