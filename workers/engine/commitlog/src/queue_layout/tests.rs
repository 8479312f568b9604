use super::*;

const PLACED: Placed = Placed {
    entry: QueueEntry {
        log_position: 0x0102_0304_0506,
        size: 0x0708,
        tags_code: -2,
    },
    offset: 0x1112,
    count: 0x2122,
    store_timestamp_ms: 0x3132,
};

#[test]
fn an_entry_of_a_batch_queue_lies_as_the_table_of_its_layout_says() {
    let mut bytes = [0xEE; BATCH_ENTRY_SIZE];

    Layout::Batch.encode(&mut bytes, &PLACED);

    let expected = [
        &[0, 0, 1, 2, 3, 4, 5, 6][..],
        &[0, 0, 7, 8],
        &[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE],
        &[0, 0, 0, 0, 0, 0, 0x31, 0x32],
        &[0, 0, 0, 0, 0, 0, 0x11, 0x12],
        &[0x21, 0x22],
        &[0xFF; 4],
        &[0; 4],
    ];
    assert_eq!(bytes[..], expected.concat());
    assert_eq!(Layout::Batch.decode(&bytes, 99), Some(PLACED));
}

#[test]
fn a_plain_entry_stands_for_the_offset_that_is_its_number() {
    let mut bytes = [0; ENTRY_SIZE];

    Layout::Plain.encode(&mut bytes, &PLACED);

    let placed = Placed {
        offset: 99,
        count: 1,
        store_timestamp_ms: 0,
        ..PLACED
    };
    assert_eq!(Layout::Plain.decode(&bytes, 99), Some(placed));
}

#[test]
fn impossible_fields_and_missing_bytes_are_no_entry() {
    let mut bytes = [0; BATCH_ENTRY_SIZE];
    Layout::Batch.encode(&mut bytes, &PLACED);
    let with = |at: usize, change: &[u8]| {
        let mut changed = bytes;
        changed[at..at + change.len()].copy_from_slice(change);
        Layout::Batch.decode(&changed, 0)
    };

    assert_eq!(with(0, &[0x80]), None);
    assert_eq!(with(8, &[0; 4]), None);
    assert_eq!(with(28, &[0x80]), None);
    assert_eq!(with(36, &[0; 2]), None);
    assert_eq!(with(36, &[0x80, 0]), None);
    for size in 0..BATCH_ENTRY_SIZE - 8 {
        assert_eq!(Layout::Batch.decode(&bytes[..size], 0), None);
    }
}

#[test]
fn any_bytes_are_an_entry_that_is_written_back_alike_or_none() {
    let mut random = fastrand::Rng::with_seed(46);
    let mut decoded = 0;
    for _ in 0..100_000 {
        let mut bytes = [0; BATCH_ENTRY_SIZE];
        random.fill(&mut bytes);
        // Otherwise four of five have an impossible field.
        bytes[[0, 8, 28, 36][random.usize(..4)]] &= 0x7F;
        let Some(placed) = Layout::Batch.decode(&bytes, 0) else {
            continue;
        };
        decoded += 1;
        assert!(placed.end_offset() > placed.offset);
        let mut again = [0; BATCH_ENTRY_SIZE];
        Layout::Batch.encode(&mut again, &placed);
        assert_eq!(again[..38], bytes[..38]);
    }
    assert!(decoded > 1_000);
}
