#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use super::*;
use crate::index::keys::Wanted;
use crate::properties::java_hash;

const SHAPE: Shape = Shape {
    slot_count: 3,
    entry_count: 5,
};

/// What stock 5.5.0 writes for the keys below into files of three slots and five entries: its own
/// `IndexFile.putKey`, the second file created with the end of the first.
const STOCK_FILES: [&str; 2] = [
    concat!(
        "0000019950f72c7b0000019950f72c7b000000000000000000000000000000000000000200000005",
        "000000040000000000000003",
        "0000000000000000000000000000000000000000",
        "1749fd9200000000000000000000000000000000",
        "1749f87c00000000000000000000000000000001",
        "1749f87b00000000000000000000000000000000",
        "2a54273c00000000000000000000000000000002",
    ),
    concat!(
        "0000019950f748200000019950f74b40000000000000009600000000000001c20000000300000004",
        "000000030000000200000001",
        "0000000000000000000000000000000000000000",
        "1749fd91000000000000009600000007",
        "00000000",
        "3fc21dc9000000000000012c0000000200000000",
        "1749fd8f00000000000001c20000000000000000",
        "0000000000000000000000000000000000000000",
    ),
];

fn key(hash: i32, log_position: u64, store_timestamp_ms: i64) -> IndexedKey {
    IndexedKey {
        hash,
        log_position,
        store_timestamp_ms,
    }
}

fn stock_keys() -> [IndexedKey; 7] {
    [
        (Wanted::UniqueKey("A1").hash("orders"), 0, 1_758_000_000_123),
        (Wanted::Key("k1").hash("orders"), 0, 1_758_000_000_123),
        (Wanted::Key("k2").hash("orders"), 0, 1_758_000_000_123),
        (Wanted::Tags("red").hash("orders"), 0, 1_758_000_000_123),
        (Wanted::Key("A2").hash("orders"), 150, 1_758_000_007_200),
        (
            Wanted::Key("polygenelubricants").hash("bücher"),
            300,
            1_758_000_009_999,
        ),
        (Wanted::Key("A4").hash("orders"), 450, 1_758_000_008_000),
    ]
    .map(|(hash, position, time_ms)| key(hash, position, time_ms))
}

fn bytes_of(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    digits
        .map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn selected(file: &IndexFile, hash: i32) -> Vec<u64> {
    let mut positions = Vec::new();
    let mut number = file.newest_link(hash);
    while number != 0 {
        let (position, next) = file.link(number, hash, (0, i64::MAX));
        positions.extend(position);
        number = next;
    }
    positions
}

#[test]
fn files_are_those_of_stock_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let mut files = vec![IndexFile::create(dir.path(), 1, SHAPE, None).unwrap()];

    for key in stock_keys() {
        if files.last().unwrap().is_full() {
            let next = IndexFile::create(dir.path(), 2, SHAPE, Some(&files[0].header));
            files.push(next.unwrap());
        }
        files.last_mut().unwrap().put(&key).unwrap();
    }

    for (file, expected) in files.iter().zip(STOCK_FILES) {
        assert_eq!(fs::read(file.path()).unwrap(), bytes_of(expected));
        let opened = IndexFile::open(dir.path(), file.stamp, SHAPE).unwrap();
        assert_eq!(opened.unwrap().header.next_number, file.header.next_number);
    }
}

#[test]
fn seconds_are_cut_off_and_stay_within_their_field() {
    let header = |begin_timestamp_ms| Header {
        begin_timestamp_ms,
        ..Header::default()
    };
    let cases = [
        (0, i64::MAX, 0),
        (-5, 5_000, 0),
        (5_000, 5_999, 0),
        (5_000, 6_000, 1),
        (5_000, 4_000, 0),
        (1, i64::MAX, i32::MAX),
        (i64::MAX, i64::MIN, 0),
    ];
    for (begin_ms, time_ms, elapsed_s) in cases {
        assert_eq!(
            header(begin_ms).elapsed_s(time_ms),
            elapsed_s,
            "{begin_ms} {time_ms}"
        );
    }
}

#[test]
fn a_hash_without_a_positive_counterpart_is_zero() {
    assert_eq!(java_hash(b"t#qolygtg"), i32::MIN);
    assert_eq!(Wanted::Key("qolygtg").hash("t"), 0);
}

#[test]
fn a_search_ends_at_a_chain_that_does_not_go_down() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = IndexFile::create(dir.path(), 1, SHAPE, None).unwrap();
    for position in [100, 200, 300] {
        file.put(&key(3, position, 1_000)).unwrap();
    }
    assert_eq!(selected(&file, 3), [300, 200, 100]);

    for (number, previous) in [(3, 3), (2, 3), (2, 2), (1, 4), (3, i32::MAX)] {
        let at = SHAPE.entry_at(number) + 16;
        let intact = file.map.bytes()[at..at + 4].to_vec();
        file.map.bytes_mut()[at..at + 4].copy_from_slice(&previous.to_be_bytes());
        file.is_damaged = AtomicBool::new(false);

        assert!(selected(&file, 3).len() < 3);
        assert!(file.is_damaged(), "entry {number} after {previous}");
        file.map.bytes_mut()[at..at + 4].copy_from_slice(&intact);
    }
}

#[test]
fn the_number_of_an_entry_that_is_not_there_ends_a_chain_and_is_no_damage() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = IndexFile::create(dir.path(), 1, SHAPE, None).unwrap();
    file.put(&key(3, 100, 1_000)).unwrap();

    for number in [2, 4, u32::MAX] {
        assert_eq!(file.link(number, 3, (0, i64::MAX)), (None, 0));
    }
    assert!(!file.is_damaged());
}

#[test]
fn a_file_that_contradicts_itself_is_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    let mut file = IndexFile::create(dir.path(), 1, SHAPE, None).unwrap();
    file.put(&key(3, 100, 1_000)).unwrap();
    file.put(&key(4, 200, 1_000)).unwrap();
    let intact = fs::read(file.path()).unwrap();
    assert!(IndexFile::open(dir.path(), 1, SHAPE).unwrap().is_some());

    let numbers = [i32::MIN, -1, 0, 1, 2, 4, 5, 6, i32::MAX];
    let changes = numbers
        .iter()
        .flat_map(|number| [(32, *number), (36, *number)]);
    let positions = [(16, -1), (16, 7), (20, 0), (24, -1), (28, 0)];
    for (at, number) in changes.chain(positions) {
        let mut bytes = intact.clone();
        bytes[at..at + 4].copy_from_slice(&number.to_be_bytes());
        if bytes == intact || (at, number) == (32, 1) {
            continue;
        }
        fs::write(file.path(), &bytes).unwrap();

        let opened = IndexFile::open(dir.path(), 1, SHAPE).unwrap();

        assert!(opened.is_none(), "{number} at {at}");
    }
    for size in [0, 39, 40, intact.len() - 1] {
        fs::write(file.path(), &intact[..size]).unwrap();
        assert!(IndexFile::open(dir.path(), 1, SHAPE).unwrap().is_none());
    }
}

#[test]
fn a_file_of_stock_gets_disk_blocks_before_it_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let shape = Shape {
        slot_count: 100_000,
        entry_count: 400_000,
    };
    let sparse = File::create(file_path(dir.path(), 1)).unwrap();
    sparse.set_len(shape.file_size()).unwrap();
    let mut opened = IndexFile::open(dir.path(), 1, shape).unwrap().unwrap();

    opened.put(&key(7, 100, 1_000)).unwrap();

    let allocated = |path: &Path| {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(path).unwrap().blocks() * 512
    };
    let first_entry = shape.entry_at(1) as u64;
    assert!(allocated(opened.path()) >= first_entry + SLICE_SIZE_BYTES);
    assert!(allocated(opened.path()) < shape.file_size());
    assert_eq!(selected(&opened, 7), [100]);
}
