//! Which master wrote which part of the log: the file that keeps the list.

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::{Store, StoreError};

use crate::support::epochs::{list, pairs};
use crate::support::*;

fn file(dir: &Path) -> PathBuf {
    dir.join("epochFileCheckpoint")
}

fn backup(dir: &Path) -> PathBuf {
    dir.join("epochFileCheckpoint.bak")
}

fn append_some(store: &Store, count: u64) {
    for number in 0..count {
        append(store, "t", 0, &number.to_be_bytes());
    }
}

#[test]
fn the_file_is_stocks_byte_for_byte() {
    // The example that stock's own documentation of the format gives.
    let stock = "2\n773307083\n7-7000\n8-8000\n";
    let dir = tempdir();
    fs::write(file(dir.path()), stock).unwrap();
    let store = open(dir.path());
    assert_eq!(pairs(&store.epochs()), [(7, 7000), (8, 8000)]);
    drop(store);
    fs::remove_file(file(dir.path())).unwrap();

    let store = open(dir.path());
    store.begin_epoch(7).unwrap();

    let text = fs::read_to_string(file(dir.path())).unwrap();
    let lines: Vec<_> = text.split('\n').collect();
    assert_eq!((lines[0], &lines[2..]), ("1", &["7-0", ""][..]));
    assert!(!backup(dir.path()).exists());
}

#[test]
fn an_epoch_is_in_the_file_when_beginning_it_returns_and_the_backup_has_what_was_before() {
    let dir = tempdir();
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();
    append_some(&store, 3);
    let end = store.max_position();
    let before = fs::read(file(dir.path())).unwrap();

    store.begin_epoch(4).unwrap();

    let crashed = crash(dir.path());
    assert_eq!(fs::read(backup(dir.path())).unwrap(), before);
    assert_eq!(pairs(&open(crashed.path()).epochs()), [(1, 0), (4, end)]);
}

#[test]
fn beginning_the_newest_epoch_again_changes_nothing_and_an_older_one_is_refused() {
    let dir = tempdir();
    let store = open(dir.path());
    store.begin_epoch(4).unwrap();
    append_some(&store, 3);

    store.begin_epoch(4).unwrap();
    let refused = store.begin_epoch(3).unwrap_err();

    assert!(matches!(refused, StoreError::EpochRefused(_)));
    assert!(
        refused.to_string().contains("epoch 4 from log position 0"),
        "{refused}"
    );
    assert_eq!(pairs(&store.epochs()), [(4, 0)]);
    // A refusal is not a failure: the store goes on.
    append_some(&store, 1);
}

#[test]
fn an_epoch_whose_start_a_crash_lost_is_replaced_by_the_next() {
    let dir = tempdir();
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();
    append_some(&store, 2);
    let kept = store.max_position();
    append_some(&store, 2);
    store.begin_epoch(2).unwrap();
    let lost = usize::try_from(store.max_position() - kept).unwrap();
    drop(store);
    overwrite(&segment_path(dir.path(), 0), kept, &vec![0; lost]);

    let store = open(dir.path());
    store.begin_epoch(3).unwrap();

    assert_eq!(pairs(&store.epochs()), [(1, 0), (3, kept)]);
    assert_eq!(
        store
            .epochs()
            .common_end(kept, &list(&[(1, 0), (2, lost as u64)]), 900),
        Some(kept)
    );
}

#[test]
fn the_backup_counts_when_the_file_is_missing_empty_or_damaged_and_recovery_says_so() {
    let damages: [fn(&Path); 4] = [
        |path| fs::remove_file(path).unwrap(),
        |path| fs::write(path, "").unwrap(),
        |path| fs::write(path, "2\n1\n1-0\n4-5\n").unwrap(),
        |path| fs::write(path, [0xFF; 20]).unwrap(),
    ];
    for damage in damages {
        let dir = tempdir();
        let store = open(dir.path());
        assert!(!store.recovery().are_epochs_from_backup);
        store.begin_epoch(1).unwrap();
        append_some(&store, 1);
        store.begin_epoch(2).unwrap();
        drop(store);
        damage(&file(dir.path()));

        let store = open(dir.path());

        assert!(store.recovery().are_epochs_from_backup);
        assert_eq!(pairs(&store.epochs()), [(1, 0)]);
        let good = fs::read(backup(dir.path())).unwrap();
        store.begin_epoch(3).unwrap();
        assert_eq!(fs::read(backup(dir.path())).unwrap(), good);
        assert_eq!(pairs(&store.epochs()).len(), 2);
    }
}

#[test]
fn a_file_that_cannot_be_read_says_nothing_for_its_backup() {
    let dir = tempdir();
    let store = open(dir.path());
    for number in 1..4 {
        store.begin_epoch(number).unwrap();
        append(&store, "t", 0, b"x");
    }
    store.close().unwrap();
    drop(store);
    let aside = dir.path().join("aside");
    fs::rename(file(dir.path()), &aside).unwrap();
    fs::create_dir(file(dir.path())).unwrap();

    assert_eq!(try_open(dir.path()).unwrap_err().code(), "io");

    fs::remove_dir(file(dir.path())).unwrap();
    fs::rename(&aside, file(dir.path())).unwrap();
    assert_eq!(open(dir.path()).epochs().last().unwrap().number, 3);
}

#[test]
fn a_damaged_file_without_a_usable_backup_is_an_error_that_says_what_to_do() {
    for damage in [
        "1\n5\n1-0\n",
        "1\n0\n1-0\n2-9\n",
        "2\n0\n2-0\n1-9\n",
        "1\n0\n1:0\n",
        "1\n0\n1--5\n",
        "x",
    ] {
        for backup_content in [None, Some("not a list either")] {
            let dir = tempdir();
            drop(open(dir.path()));
            fs::write(file(dir.path()), damage).unwrap();
            if let Some(content) = backup_content {
                fs::write(backup(dir.path()), content).unwrap();
            }

            let refused = try_open(dir.path()).unwrap_err();

            assert_eq!(refused.code(), "damaged_file", "{damage:?}");
            let text = refused.to_string();
            assert!(text.contains("epochFileCheckpoint is damaged"), "{text}");
            assert!(text.contains("copy the whole store again"), "{text}");
        }
    }
}

#[test]
fn a_file_whose_checksum_is_0_is_taken_unchecked() {
    let dir = tempdir();
    fs::write(file(dir.path()), "2\n0\n1-0\n3-50\n").unwrap();

    assert_eq!(pairs(&open(dir.path()).epochs()), [(1, 0), (3, 50)]);
}

/// Elections, appends and crashes of one store: no holes, whatever the order (targets.md 6, row 7).
#[test]
fn every_byte_of_a_store_has_its_epoch_after_any_string_of_elections_appends_and_crashes() {
    for seed in 0..25 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut dir = tempdir();
        let mut store = open(dir.path());
        let mut number = 0;
        store.begin_epoch(number).unwrap();
        let mut owners: Vec<(u64, i32)> = Vec::new();
        for _ in 0..40 {
            match random.u8(..5) {
                0 => {
                    let copy = crash(dir.path());
                    drop(store);
                    store = open(copy.path());
                    dir = copy;
                }
                1 | 2 => {
                    number += random.i32(1..4);
                    store.begin_epoch(number).unwrap();
                }
                _ => {
                    let appended = append(&store, "t", 0, &[1; 50]);
                    owners.push((appended.log_position, number));
                }
            }
            let epochs = store.epochs();
            assert_eq!(epochs.last().unwrap().number, number);
            for (position, owner) in &owners {
                assert_eq!(epochs.epoch_at(*position).unwrap().number, *owner);
            }
        }
        drop((store, dir));
    }
}
