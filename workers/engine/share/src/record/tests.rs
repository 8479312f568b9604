use super::*;

fn accept(sq_id: u64) -> Record {
    Record {
        flags: DECIDED,
        sq_id,
        epoch: 3,
        body: Body::Accept {
            delivery: Delivery {
                pop_time_ms: 1_758_000_000_000,
                tag: 3,
            },
            ranges: [4, 5, 9].into_iter().collect(),
        },
    }
}

fn encoded(records: &[Record]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for record in records {
        record.encode(&mut bytes);
    }
    bytes
}

fn known(bytes: &[u8]) -> Vec<Record> {
    Records::new(bytes)
        .filter_map(|read| match read.expect("an intact record") {
            Decoded::Known(record) => Some(record),
            Decoded::Unknown { .. } => None,
        })
        .collect()
}

/// Q76, Q77.
#[test]
fn o46_a_record_of_a_later_version_is_left_out_by_its_size() {
    let mut bytes = encoded(&[accept(1)]);
    bytes.extend_from_slice(&9_u16.to_be_bytes());
    bytes.extend_from_slice(&5_u32.to_be_bytes());
    bytes.extend_from_slice(b"later");
    bytes.extend(encoded(&[accept(2)]));

    assert_eq!(known(&bytes), [accept(1), accept(2)]);
}

#[test]
fn a_record_of_a_later_type_is_left_out() {
    let mut bytes = encoded(&[accept(1)]);
    bytes[6..8].copy_from_slice(&900_u16.to_be_bytes());
    let crc = crc32c(&[&bytes[..CRC_AT], &bytes[CRC_END..]]);
    bytes[CRC_AT..CRC_END].copy_from_slice(&crc.to_be_bytes());

    let read: Vec<_> = Records::new(&bytes).collect();

    assert_eq!(read, [Ok(Decoded::Unknown { version: 1 })]);
}

/// The version is that of the type: another one is a changed byte, whatever the checksum says.
#[test]
fn o47_a_known_type_under_another_version_is_damage() {
    let intact = encoded(&[accept(1)]);
    for version in [0_u16, VERSION] {
        let mut bytes = intact.clone();
        bytes[..2].copy_from_slice(&version.to_be_bytes());
        let crc = crc32c(&[&bytes[..CRC_AT], &bytes[CRC_END..]]);
        bytes[CRC_AT..CRC_END].copy_from_slice(&crc.to_be_bytes());

        let read: Vec<_> = Records::new(&bytes).collect();

        assert_eq!(read, [Err(RecordError::Version)], "version {version}");
    }
}

#[test]
fn a_field_that_is_added_later_is_left_out() {
    let mut bytes = encoded(&[accept(1)]);
    bytes.extend_from_slice(&2_u32.to_be_bytes());
    bytes.extend_from_slice(b"hi");
    let size = u32::try_from(bytes.len() - PREFIX_SIZE).unwrap();
    bytes[2..6].copy_from_slice(&size.to_be_bytes());
    let crc = crc32c(&[&bytes[..CRC_AT], &bytes[CRC_END..]]);
    bytes[CRC_AT..CRC_END].copy_from_slice(&crc.to_be_bytes());

    assert_eq!(known(&bytes), [accept(1)]);
}

#[test]
fn o47_a_torn_record_or_a_wrong_size_is_damage_and_not_a_later_version() {
    let bytes = encoded(&[accept(1)]);
    for cut in 1..bytes.len() {
        let read: Vec<_> = Records::new(&bytes[..cut]).collect();
        assert_eq!(read, [Err(RecordError::Short)], "{cut} bytes");
    }
    let mut wrong = bytes.clone();
    wrong[5] -= 1;
    let first = Records::new(&wrong).next();
    assert!(matches!(first, Some(Err(_))), "{first:?}");
    let mut later = bytes;
    later[0] = 1;
    later[2] = 0xFF;
    let read: Vec<_> = Records::new(&later).collect();
    assert_eq!(read, [Err(RecordError::Short)]);
}

#[test]
fn each_changed_bit_of_a_record_is_found() {
    let bytes = encoded(&[accept(1)]);
    for bit in 8 * 6..8 * bytes.len() {
        let mut changed = bytes.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let read: Vec<_> = Records::new(&changed).collect();
        assert_eq!(read, [Err(RecordError::Checksum)], "bit {bit}");
    }
}

#[test]
fn ranges_that_fall_are_refused() {
    let mut bytes = encoded(&[accept(1)]);
    let at = bytes.len() - 12;
    bytes[at..at + 8].copy_from_slice(&1_u64.to_be_bytes());
    let crc = crc32c(&[&bytes[..CRC_AT], &bytes[CRC_END..]]);
    bytes[CRC_AT..CRC_END].copy_from_slice(&crc.to_be_bytes());

    let read: Vec<_> = Records::new(&bytes).collect();

    assert_eq!(read, [Err(RecordError::Field)]);
}

#[test]
fn o34_a_damaged_record_is_left_out_by_its_size_and_the_next_one_is_read() {
    let [first, second, third] = [1, 2, 3].map(|offset| encoded(&[accept(offset)]));
    for bit in (0..16).chain(8 * 6..8 * second.len()) {
        let mut changed = second.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let bytes = [&first[..], &changed, &third].concat();

        // A reader of any version goes on at the same record.
        for version_max in [1, VERSION] {
            let read: Vec<_> = Records::up_to(version_max, &bytes).collect();

            assert_eq!(read.len(), 3, "bit {bit}");
            assert_eq!(read[0], Ok(Decoded::Known(accept(1))));
            assert!(!matches!(read[1], Ok(Decoded::Known(_))), "bit {bit}");
            assert_eq!(read[2], Ok(Decoded::Known(accept(3))));
        }
    }
}
