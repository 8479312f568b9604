//! A glance finds what a look at every byte finds.

use std::convert::Infallible;

use super::*;
use crate::message::NewMessage;
use crate::record::is_torn;
use crate::record::{Placement, Tail, Version, check_record, encode, encoded_size};

/// Log position of the segment, and where in it records are put.
const BASE: u64 = 1 << 20;
const AT: usize = 1000;
/// Miri takes a thousand times as long, and longer still where many bytes are looked at one by one.
const ROUND_COUNT: usize = if cfg!(miri) { 30 } else { 20_000 };
const BODY_SIZE_MAX: usize = if cfg!(miri) { 3_000 } else { 9_000 };
const RULES: [CrcProperty; 3] = [
    CrcProperty::Off,
    CrcProperty::Verified,
    CrcProperty::Required,
];

/// A record of any kind.
fn record(random: &mut fastrand::Rng) -> Vec<u8> {
    let body: Vec<u8> = (0..random.usize(..BODY_SIZE_MAX))
        .map(|_| random.u8(..))
        .collect();
    let mut properties = vec![b'p'; random.usize(..2_000)];
    if random.u8(..8) == 0 && properties.len() > 1_100 {
        properties[10..1_090].fill(0);
    }
    let topic = "t".repeat(random.usize(1..100));
    let hosts = ["10.0.0.1:1", "[::1]:1"].map(|host| host.parse().unwrap());
    let message = NewMessage {
        properties: &properties,
        born_host: hosts[random.usize(..2)],
        store_host: hosts[random.usize(..2)],
        ..NewMessage::new(&topic, 2, &body)
    };
    let version = [Version::V1, Version::V2][random.usize(..2)];
    let tail = [Tail::Nothing, Tail::crc_behind(&properties)][random.usize(..2)];
    let mut bytes = vec![0; encoded_size(&message, version, tail)];
    let placement = Placement {
        queue_offset: 41,
        log_position: BASE + AT as u64,
        store_timestamp_ms: 1_758_000_000_005,
    };
    encode(&mut bytes, &message, version, &placement, tail);
    bytes
}

#[test]
fn whatever_is_wrong_with_a_record_or_not() {
    let mut random = fastrand::Rng::with_seed(17);
    let mut found_counts = [0; 2];
    for number in 0..ROUND_COUNT {
        let record = record(&mut random);
        let mut bytes = vec![7; AT];
        bytes.extend(&record);
        bytes.extend([7; 50]);
        match random.u8(..4) {
            0 => bytes[AT + random.usize(..record.len())] ^= 1 << random.u8(..8),
            1 => bytes[AT + random.usize(..120.min(record.len()))] ^= 1 << random.u8(..8),
            2 => bytes[AT + record.len() - 1 - random.usize(..30)] ^= 1 << random.u8(..8),
            _ => {}
        }
        if random.u8(..8) == 0 {
            bytes.truncate(AT + random.usize(..=record.len()));
        }
        let rule = RULES[random.usize(..3)];
        let flushed = BASE + random.u64(..20_000);
        let from = random.usize(..=AT) as u64;
        let mut glance = Glance::new((BASE, bytes.len() as u64), from, flushed);
        let mut read = |at: u64, part: &mut [u8]| -> Result<(), Infallible> {
            let at = usize::try_from(at).unwrap();
            part.copy_from_slice(&bytes[at..at + part.len()]);
            Ok(())
        };

        let Ok(finds) = glance.finds_record(AT as u64, rule, &mut read);

        let looked = check_record(&bytes[AT..], BASE + AT as u64, rule);
        let is_found = looked.is_ok_and(|record| !is_torn(&record, AT as u64, flushed));
        assert_eq!(finds, is_found, "{number}");
        found_counts[usize::from(finds)] += 1;
    }
    assert!(
        found_counts.iter().all(|count| *count > ROUND_COUNT / 5),
        "{found_counts:?}"
    );
}
