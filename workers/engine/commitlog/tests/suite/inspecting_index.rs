//! Surveys of the key index: whole, unfinished, and with every kind of damage.

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::Store;
use regent_commitlog::inspect::{FindingKind, IndexSurvey, Survey, read_index};

use crate::support::index::{ENTRY_COUNT, Filler, SLOT_COUNT, build, config, open};
use crate::support::{NOW_MS, append, overwrite, tempdir};

const ENTRIES_AT: u64 = 40 + 4 * SLOT_COUNT as u64;

fn survey(dir: &Path) -> (Vec<(FindingKind, PathBuf, u64)>, IndexSurvey) {
    let mut survey = Survey::comparing(&config(dir), false).unwrap();
    while survey.advance(100).unwrap() {}
    let found = survey.findings().iter();
    let found = found.map(|found| (found.kind, found.file.clone(), found.byte));
    (found.collect(), survey.index())
}

fn kinds(dir: &Path) -> Vec<FindingKind> {
    survey(dir).0.into_iter().map(|found| found.0).collect()
}

/// A closed store whose log is indexed in several files.
fn indexed(dir: &Path, seed: u64) -> Filler {
    let store = open(dir);
    let mut filler = Filler::new(seed);
    filler.append(&store, 60);
    build(&store);
    store.close().unwrap();
    filler
}

fn index_files(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(dir.join("index"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort_unstable();
    paths
}

fn entry_at(number: u64) -> u64 {
    ENTRIES_AT + 20 * number
}

#[test]
fn an_index_that_a_store_built_has_no_fault_whatever_the_messages() {
    for seed in 0..20 {
        let dir = tempdir();
        let filler = indexed(dir.path(), seed);

        let (found, index) = survey(dir.path());

        assert_eq!(found, [], "seed {seed}");
        let keys = filler
            .messages
            .iter()
            .map(|message| message.key_texts().len() as u64);
        assert_eq!(index.key_count, keys.sum::<u64>());
        assert_eq!(index.missing_count, 0);
        assert_eq!(index.file_count, index_files(dir.path()).len());
    }
}

#[test]
fn files_of_older_stock_whose_headers_count_entries_for_slots_are_whole() {
    let dir = tempdir();
    indexed(dir.path(), 1);
    let paths = index_files(dir.path());
    for path in &paths {
        let next_number = fs::read(path).unwrap()[36..40].try_into().unwrap();
        let key_count = u32::from_be_bytes(next_number) - 1;
        overwrite(path, 32, &key_count.to_be_bytes());
    }

    assert_eq!(survey(dir.path()).0, []);

    let status = open(dir.path()).index_status();
    assert_eq!((status.file_count, status.damaged_count), (paths.len(), 0));
}

#[test]
fn what_is_not_indexed_yet_is_a_note_with_the_number_of_keys() {
    let dir = tempdir();
    indexed(dir.path(), 1);
    let store = open(dir.path());
    let mut filler = Filler::new(2);
    filler.append(&store, 7);
    store.close().unwrap();

    let (found, index) = survey(dir.path());

    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, FindingKind::UnfinishedIndex);
    assert_eq!(found[0].0.severity(), "note");
    let keys = filler
        .messages
        .iter()
        .map(|message| message.key_texts().len() as u64);
    let keys: u64 = keys.sum();
    // The newest indexed record counts as well: it is unknown whether all its keys are there.
    assert_eq!(index.waiting_count, keys);
}

#[test]
fn a_wrong_hash_position_or_time_is_found_with_file_and_byte() {
    let dir = tempdir();
    indexed(dir.path(), 3);
    let path = index_files(dir.path())[1].clone();
    let content = fs::read(&path).unwrap();
    for (field_at, bytes) in [(4, vec![0x7F; 8]), (12, vec![0, 1, 2, 3])] {
        overwrite(&path, entry_at(5) + field_at, &bytes);

        let found = survey(dir.path()).0;

        assert!(
            found.contains(&(
                FindingKind::WrongIndexEntry,
                path.clone(),
                entry_at(5) + field_at
            )),
            "{found:?}"
        );
        fs::write(&path, &content).unwrap();
    }
    overwrite(&path, entry_at(5), &[1, 2, 3, 4]);

    let found = survey(dir.path()).0;

    assert!(
        found.contains(&(FindingKind::WrongIndexEntry, path, entry_at(5))),
        "{found:?}"
    );
    assert!(
        found
            .iter()
            .any(|found| found.0 == FindingKind::MissingIndexKeys)
    );
}

#[test]
fn one_wrong_position_does_not_make_its_neighbours_wrong() {
    let dir = tempdir();
    indexed(dir.path(), 3);
    let path = index_files(dir.path())[1].clone();
    for position in [0_u64, 1 << 40] {
        overwrite(&path, entry_at(5) + 4, &position.to_be_bytes());

        assert_eq!(
            kinds(dir.path()),
            [FindingKind::WrongIndexEntry, FindingKind::MissingIndexKeys]
        );
    }
}

#[test]
fn a_chain_that_leaves_out_entries_is_found_at_the_link_or_the_slot() {
    let dir = tempdir();
    indexed(dir.path(), 4);
    let path = index_files(dir.path())[0].clone();
    let content = fs::read(&path).unwrap();
    let number_at = |at: u64| {
        let at = usize::try_from(at).unwrap();
        u32::from_be_bytes(content[at..at + 4].try_into().unwrap())
    };
    let linked = (1..ENTRY_COUNT as u64)
        .find(|number| number_at(entry_at(*number) + 16) > 0)
        .unwrap();
    overwrite(&path, entry_at(linked) + 16, &[0; 4]);
    assert_eq!(
        survey(dir.path()).0,
        [(
            FindingKind::BrokenIndexChain,
            path.clone(),
            entry_at(linked) + 16
        )]
    );
    fs::write(&path, &content).unwrap();

    let slot = (0..SLOT_COUNT as u64)
        .find(|slot| number_at(40 + 4 * slot) > 0)
        .unwrap();
    overwrite(&path, 40 + 4 * slot, &[0; 4]);
    assert_eq!(
        survey(dir.path()).0,
        [(FindingKind::BrokenIndexChain, path, 40 + 4 * slot)]
    );
}

#[test]
fn a_file_that_cannot_be_is_damaged_at_the_field_that_says_so() {
    let dir = tempdir();
    indexed(dir.path(), 5);
    let path = index_files(dir.path())[1].clone();
    let content = fs::read(&path).unwrap();
    for (at, bytes, byte) in [
        (36, vec![0x7F; 4], 0),
        (16, vec![0x80; 8], 0),
        (16, vec![0; 8], 16),
        (31, vec![content[31] ^ 1], 24),
        (7, vec![content[7] ^ 1], 0),
        (15, vec![content[15] ^ 1], 8),
    ] {
        overwrite(&path, at, &bytes);

        let found = survey(dir.path()).0;

        assert_eq!(
            found[0],
            (FindingKind::DamagedIndex, path.clone(), byte),
            "byte {at}"
        );
        fs::write(&path, &content).unwrap();
    }
    fs::write(&path, &content[..100]).unwrap();

    assert_eq!(kinds(dir.path()), [FindingKind::DamagedIndex]);
}

#[test]
fn keys_of_a_lost_file_are_counted() {
    let dir = tempdir();
    indexed(dir.path(), 6);
    fs::remove_file(&index_files(dir.path())[0]).unwrap();

    let (found, index) = survey(dir.path());

    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, FindingKind::MissingIndexKeys);
    // A file of twelve holds eleven; its last record may have keys in the next one.
    assert_eq!(index.missing_count, ENTRY_COUNT as u64 - 1);
}

#[test]
fn after_a_crash_files_that_may_not_be_on_the_disk_are_no_damage() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut filler = Filler::new(7);
    filler.append(&store, 60);
    build(&store);
    store.flush_tick(NOW_MS + 100_000).unwrap();
    drop(store);
    overwrite(index_files(dir.path()).last().unwrap(), 40, &[9; 60]);

    let found = kinds(dir.path());

    assert!(found.contains(&FindingKind::UnflushedIndex), "{found:?}");
    assert!(found.contains(&FindingKind::UncleanStop), "{found:?}");
    assert!(
        found.iter().all(|kind| kind.severity() == "note"),
        "{found:?}"
    );
}

#[test]
fn entries_behind_a_log_that_lost_its_end_are_reported() {
    let dir = tempdir();
    let positions: Vec<u64> = indexed(dir.path(), 8)
        .messages
        .iter()
        .map(|message| message.position)
        .collect();
    let last = *positions.last().unwrap();
    let base = last - last % crate::support::SEGMENT_SIZE;
    overwrite(
        &crate::support::segment_path(dir.path(), base),
        last - base,
        &[0; 200],
    );

    let found = kinds(dir.path());

    assert!(found.contains(&FindingKind::LostTail), "{found:?}");
    assert!(found.contains(&FindingKind::IndexBehindLog), "{found:?}");
}

#[test]
fn entries_are_read_out_in_order_from_a_position_on() {
    let dir = tempdir();
    let filler = indexed(dir.path(), 9);
    let keys = read_index(&config(dir.path()), 0, usize::MAX).unwrap();
    let expected = filler
        .messages
        .iter()
        .flat_map(|message| vec![message.position; message.key_texts().len()]);
    assert_eq!(
        keys.iter().map(|key| key.log_position).collect::<Vec<_>>(),
        expected.collect::<Vec<_>>()
    );

    let from = keys[20].log_position;
    let first = keys
        .iter()
        .position(|key| key.log_position == from)
        .unwrap();
    let found = read_index(&config(dir.path()), from, 5).unwrap();

    assert_eq!(found, keys[first..first + 5]);
}

#[test]
fn a_store_without_an_index_is_one_that_is_not_indexed_yet() {
    let dir = tempdir();
    let store: Store = open(dir.path());
    append(&store, "orders", 0, b"no keys");
    store.close().unwrap();

    assert_eq!(kinds(dir.path()), []);
}
