//! Which master wrote which part of the log: the list, and the file that keeps it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::{Epoch, EpochList, Store, StoreError};
use support::*;

fn epoch(number: i32, start_position: u64) -> Epoch {
    Epoch {
        number,
        start_position,
    }
}

fn list(epochs: &[(i32, u64)]) -> EpochList {
    let mut list = EpochList::default();
    for (number, start) in epochs {
        list.append(epoch(*number, *start)).unwrap();
    }
    list
}

fn pairs(list: &EpochList) -> Vec<(i32, u64)> {
    let epochs = list.as_slice().iter();
    epochs
        .map(|epoch| (epoch.number, epoch.start_position))
        .collect()
}

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
fn each_epoch_ends_where_the_next_begins_and_the_last_with_the_log() {
    let list = list(&[(1, 0), (2, 100), (7, 250)]);

    let ends = [1, 2, 7, 3].map(|number| list.end_of(number, 300));
    let owners = [0, 99, 100, 249, 250, 9_999].map(|at| list.epoch_at(at).unwrap().number);

    assert_eq!(ends, [Some(100), Some(250), Some(300), None]);
    assert_eq!(owners, [1, 1, 2, 2, 7, 7]);
    assert_eq!(EpochList::default().epoch_at(0), None);
}

#[test]
fn an_epoch_that_wrote_nothing_gives_way_to_the_next_and_its_number_is_gone_for_good() {
    let mut list = list(&[(1, 0), (2, 100), (3, 100), (4, 100)]);

    assert_eq!(pairs(&list), [(1, 0), (4, 100)]);
    assert!(list.append(epoch(4, 100)).is_err());
    assert!(list.append(epoch(3, 200)).is_err());
}

#[test]
fn epochs_that_do_not_rise_or_begin_earlier_are_refused_and_change_nothing() {
    let before = list(&[(1, 0), (5, 100)]);
    for (number, start) in [(5, 200), (4, 200), (6, 99), (-1, 100)] {
        let mut list = before.clone();

        let refused = list.append(epoch(number, start)).unwrap_err();

        assert_eq!(refused.code(), "epoch_refused");
        assert_eq!(list, before);
    }
    let mut empty = EpochList::default();
    assert!(empty.append(epoch(-1, 0)).is_err());
}

#[test]
fn cutting_removes_epochs_without_a_byte_left() {
    let whole = list(&[(1, 0), (2, 100), (3, 200)]);
    let from = |position| {
        let mut list = whole.clone();
        list.cut_from(position);
        list.as_slice().len()
    };
    let before = |position| {
        let mut list = whole.clone();
        list.cut_before(position);
        list.as_slice().len()
    };

    assert_eq!([0, 1, 100, 101, 200, 201].map(from), [0, 1, 1, 2, 2, 3]);
    assert_eq!([0, 99, 100, 199, 200, 999].map(before), [3, 3, 2, 2, 1, 1]);
}

#[test]
fn two_logs_are_common_up_to_the_smaller_end_of_the_newest_shared_epoch() {
    let master = list(&[(1, 0), (2, 100), (4, 180)]);
    let cases = [
        (list(&[(1, 0), (2, 100)]), 200, Some(180)),
        (list(&[(1, 0), (2, 100)]), 150, Some(150)),
        (list(&[(1, 0), (3, 100)]), 200, Some(100)),
        (list(&[(1, 0), (2, 100), (3, 150)]), 200, Some(150)),
        (list(&[(1, 0), (2, 110)]), 200, Some(100)),
        (list(&[(1, 0), (2, 100), (4, 180)]), 170, Some(170)),
        (list(&[(9, 0)]), 200, None),
        (EpochList::default(), 200, None),
    ];
    for (replica, replica_end, expected) in cases {
        let common = replica.common_end(replica_end, &master, 300);

        assert_eq!(common, expected, "{replica:?}");
        assert_eq!(master.common_end(300, &replica, replica_end), expected);
    }
}

/// Elections, appends and lost tails of several logs, against the epoch of every single byte.
#[test]
fn a_common_end_never_keeps_a_byte_that_another_epoch_wrote() {
    for seed in 0..400 {
        let mut random = fastrand::Rng::with_seed(seed);
        // One byte of each log is the epoch that wrote it.
        let mut logs: Vec<(Vec<i32>, EpochList)> = vec![Default::default(); 3];
        let mut master = 0;
        logs[master].1.append(epoch(0, 0)).unwrap();
        for number in 1..60 {
            match random.u8(..6) {
                0 | 1 => {
                    // Anybody may win; what it holds decides where its epoch begins.
                    master = random.usize(..logs.len());
                    let (bytes, list) = &mut logs[master];
                    list.append(epoch(number, bytes.len() as u64)).unwrap();
                }
                2 => {
                    // A crash loses a tail, and with it the epochs that begin behind the end.
                    let (bytes, list) = &mut logs[master];
                    bytes.truncate(random.usize(..=bytes.len()));
                    list.cut_from(bytes.len() as u64 + 1);
                    list.append(epoch(number, bytes.len() as u64)).unwrap();
                }
                3 => replicate(&mut random, &mut logs, master),
                _ => {
                    let (bytes, list) = &mut logs[master];
                    let number = list.last().unwrap().number;
                    bytes.extend(vec![number; random.usize(..5)]);
                }
            }
            for (bytes, list) in &logs {
                let owner = |at: usize| list.epoch_at(at as u64).map(|epoch| epoch.number);
                assert!(
                    bytes
                        .iter()
                        .enumerate()
                        .all(|(at, byte)| owner(at) == Some(*byte))
                );
                let starts = list.as_slice().windows(2);
                assert!(starts.into_iter().all(|two| {
                    two[0].number < two[1].number && two[0].start_position < two[1].start_position
                }));
            }
        }
    }
}

/// Another log cuts itself where it leaves the master's, then copies some of what follows.
fn replicate(random: &mut fastrand::Rng, logs: &mut [(Vec<i32>, EpochList)], master: usize) {
    let replica = (master + random.usize(1..logs.len())) % logs.len();
    let (master_bytes, master_list) = logs[master].clone();
    let (bytes, list) = &mut logs[replica];
    let common = list.common_end(bytes.len() as u64, &master_list, master_bytes.len() as u64);
    let common = usize::try_from(common.unwrap_or(0)).unwrap();
    assert_eq!(bytes[..common], master_bytes[..common]);
    bytes.truncate(common);
    list.cut_from(common as u64);
    let end = random.usize(common..=master_bytes.len());
    bytes.extend(&master_bytes[common..end]);
    *list = master_list;
    list.cut_from(end as u64);
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

    assert!(matches!(refused, StoreError::EpochRefused { .. }));
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
            assert!(text.contains("copy the whole store anew"), "{text}");
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
