//! Stores opened with another size of queue files than they were written with: refused, unchanged.

use std::fs;
use std::path::Path;

use regent_commitlog::{Store, StoreConfig, StoreError};

use crate::support::*;

const FILE_0: &str = "00000000000000000000";

fn sized(dir: &Path, size: u64) -> StoreConfig {
    let mut config = config(dir);
    config.queue_file_size_bytes = size;
    config
}

/// A queue with one file, and one with several.
fn fill_sizes(store: &Store) {
    for _ in 0..5 {
        append(store, "a", 0, b"one file");
    }
    for _ in 0..25 {
        append(store, "b", 0, b"three files");
    }
}

fn assert_sizes_hold(store: &Store) {
    assert_eq!(read_all(store, "a", 0).len(), 5);
    assert_eq!(read_all(store, "b", 0).len(), 25);
    assert_eq!(store.recovery().entries_added, 0);
    assert_eq!(store.recovery().queues_rebuilt, 0);
}

#[test]
fn a_store_opened_with_another_size_is_refused_and_opens_with_its_own() {
    for is_clean in [true, false] {
        let dir = tempdir();
        let store = open(dir.path());
        fill_sizes(&store);
        if is_clean {
            store.close().unwrap();
        }
        drop(store);
        let before = contents(dir.path());
        for size in [100, 400, 6_000_000] {
            let refused = Store::open(sized(dir.path(), size), NOW_MS).unwrap_err();

            assert!(matches!(refused, StoreError::UnexpectedFile { .. }));
            let text = refused.to_string();
            assert!(text.contains(FILE_0), "{text}");
            assert!(text.contains("mappedFileSizeConsumeQueue"), "{text}");
            let sizes = format!("{QUEUE_FILE_SIZE} bytes instead of {size}");
            assert!(text.contains(&sizes), "{text}");
            assert!(contents(dir.path()) == before, "{size}");
        }
        assert_eq!(dir.path().join("abort").exists(), !is_clean);
        assert_sizes_hold(&open(dir.path()));
    }
}

#[test]
fn a_size_in_whole_slices_is_no_sign_of_a_crash_after_a_clean_stop() {
    const WHOLE_SLICES: u64 = 5 << 16;
    let dir = tempdir();
    let own = sized(dir.path(), WHOLE_SLICES);
    let store = Store::open(own.clone(), NOW_MS).unwrap();
    append(&store, "a", 0, b"x");
    store.close().unwrap();
    drop(store);
    let before = contents(dir.path());

    let stock = sized(dir.path(), 6_000_000);
    let refused = Store::open(stock, NOW_MS).unwrap_err();

    assert!(
        refused
            .to_string()
            .contains("327680 bytes instead of 6000000")
    );
    assert!(contents(dir.path()) == before);
    Store::open(own, NOW_MS).unwrap();
}

#[test]
fn a_bad_queue_is_found_before_another_one_is_repaired() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "a", 0, b"x");
    append(&store, "b", 0, b"x");
    drop(store);
    let torn = dir.path().join("consumequeue/a/0/00000000000000000200");
    fs::write(&torn, b"").unwrap();
    let odd = dir.path().join("consumequeue/b/0").join(FILE_0);
    fs::OpenOptions::new()
        .write(true)
        .open(odd)
        .unwrap()
        .set_len(180)
        .unwrap();
    let before = contents(dir.path());

    let refused = try_open(dir.path()).unwrap_err();

    assert!(matches!(refused, StoreError::UnexpectedFile { .. }));
    assert!(contents(dir.path()) == before);
}

#[test]
fn a_file_that_was_being_made_when_the_machine_went_down_is_completed() {
    let sizes = |dir: &Path| sized(dir, 300_000);
    // As made by `fallocate` in slices, or block by block where there is none.
    for size in [0, 4096, 12_288, 65_536, 131_072] {
        let dir = tempdir();
        let store = Store::open(sizes(dir.path()), NOW_MS).unwrap();
        for _ in 0..15_000 {
            append(&store, "a", 0, b"x");
        }
        drop(store);
        let next = dir.path().join("consumequeue/a/0/00000000000000300000");
        fs::write(&next, vec![0; size]).unwrap();

        let store = Store::open(sizes(dir.path()), NOW_MS).unwrap();

        assert_eq!(next.exists(), size > 0);
        assert_eq!(append(&store, "a", 0, b"x").queue_offset, 15_000);
        assert_eq!(fs::metadata(&next).unwrap().len(), 300_000);
    }
}

#[test]
fn a_file_with_entries_whose_size_a_power_cut_took_back_is_completed() {
    let sizes = |dir: &Path| sized(dir, 300_000);
    let dir = tempdir();
    let store = Store::open(sizes(dir.path()), NOW_MS).unwrap();
    for _ in 0..15 {
        append(&store, "a", 0, b"x");
    }
    drop(store);
    let file = dir.path().join("consumequeue/a/0").join(FILE_0);
    let open = fs::OpenOptions::new().write(true).open(&file).unwrap();
    open.set_len(65_536).unwrap();

    let store = Store::open(sizes(dir.path()), NOW_MS).unwrap();

    assert_eq!(fs::metadata(&file).unwrap().len(), 300_000);
    assert_eq!(read_all(&store, "a", 0).len(), 15);
}
