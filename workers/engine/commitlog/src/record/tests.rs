//! Bytes of records, against the vectors of the protocol description.

use std::net::SocketAddr;

use super::*;

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
    let mut record = vec![0xEE; encoded_size(message, version)];
    encode(&mut record, message, version, &PLACEMENT);
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
            check(&bytes[..length], 123_456).is_err(),
            "cut to {length} bytes"
        );
    }
    assert!(check(&bytes, 123_456).is_ok());
}

#[test]
fn a_flipped_bit_in_any_length_magic_position_or_body_is_damage() {
    let guarded = (0..12).chain(28..36).chain(84..91).chain([92, 93]);
    for at in guarded {
        for bit in 0..8 {
            let mut bytes = from_hex(VECTOR);
            bytes[at] ^= 1 << bit;

            assert!(check(&bytes, 123_456).is_err(), "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn a_record_copied_to_another_position_is_damage() {
    let bytes = from_hex(VECTOR);

    assert_eq!(check(&bytes, 123_457).unwrap_err(), RecordDamage::Position);
    assert!(!has_header(&bytes, 123_457));
}

#[test]
fn a_blank_record_must_fill_its_segment() {
    let mut rest = vec![0; 64];
    encode_blank(&mut rest, 64);

    assert_eq!(rest[..8], from_hex("00000040 cbd43194"));
    assert!(matches!(check(&rest, 0), Ok(Found::Blank)));
    assert_eq!(check(&rest[..63], 0).unwrap_err(), RecordDamage::Length);
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
