//! Reads that hand out the records where they lie.

use regent_commitlog::{QueueRead, Retention, Store};

use crate::support::*;

fn wanted(offset: i64) -> QueueRead<'static> {
    QueueRead {
        offset,
        count_max: 32,
        bytes_max: 262_144,
        filter: None,
    }
}

fn slices(store: &Store, offset: i64) -> Vec<Vec<u8>> {
    let (_, records) = store.read_slices("t", 0, &wanted(offset)).unwrap();
    let slices: Vec<_> = records.iter().map(<[u8]>::to_vec).collect();
    assert_eq!(records.size(), slices.iter().map(Vec::len).sum::<usize>());
    assert_eq!(slices.concat(), read(store, "t", 0, offset).1);
    slices
}

#[test]
fn records_that_follow_one_another_are_one_slice() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..3 {
        append(&store, "t", 0, b"neighbours");
    }
    append(&store, "other", 0, b"between");
    append(&store, "t", 0, b"alone");

    let counts: Vec<_> = slices(&store, 0)
        .iter()
        .map(|slice| split(slice).len())
        .collect();

    assert_eq!(counts, [3, 1]);
}

#[test]
fn a_slice_ends_with_its_segment() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..3 {
        append(&store, "t", 0, &[7; 7_000]);
    }

    assert_eq!(slices(&store, 0).len(), 2);
}

#[test]
fn slices_outlive_the_deletion_of_their_segment() {
    let dir = tempdir();
    let store = open(dir.path());
    for number in 0..8 {
        append(&store, "t", 0, &[number; 5_000]);
    }
    store.flush().unwrap();
    let (_, records) = store.read_slices("t", 0, &wanted(0)).unwrap();
    let before: Vec<_> = records.iter().map(<[u8]>::to_vec).collect();

    let retention = Retention {
        is_forced: true,
        segment_count_max: 9,
        ..Retention::default()
    };
    let gone = store.expire(&retention, NOW_MS).unwrap();

    assert!(gone.segment_count > 0 && !segment_path(dir.path(), 0).exists());
    assert_eq!(
        records.iter().map(<[u8]>::to_vec).collect::<Vec<_>>(),
        before
    );
}
