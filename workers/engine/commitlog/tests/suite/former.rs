//! Stores that former versions left, which wrote expired segments again: they are converted.

use std::fs;
use std::path::Path;

use regent_commitlog::Store;
use tempfile::TempDir;

use crate::support::former::*;
use crate::support::*;

const COUNT: u64 = 8;
/// How far a former version had cleared its last segment behind the end of the log.
const CLEARED: u64 = 2_000;

/// The files of a store of so many messages, of which those before the last were flushed, and where each
/// begins. Behind what is cleared lies a stale record.
fn former() -> (TempDir, Vec<u64>) {
    let dir = tempdir();
    let store = open_synchronous(dir.path());
    let positions = fill(&store, COUNT);
    drop(store);
    write_stale(dir.path(), end_of(&positions) + CLEARED);
    (dir, positions)
}

fn end_of(positions: &[u64]) -> u64 {
    *positions.last().unwrap()
}

/// The seals of the last two flushes, each of one message.
fn seals(dir: &Path, positions: &[u64]) -> [Vec<u8>; 2] {
    let at = |number: u64| positions[usize::try_from(number).unwrap()];
    [COUNT - 2, COUNT - 1].map(|number| seal(dir, at(number - 1), at(number)))
}

/// The store holds so many messages, nothing else, and is as any other.
fn assert_converted(dir: &Path, count: u64) -> Store {
    let store = open_synchronous(dir);
    assert!(store.recovery().converted_at.is_some());
    assert_eq!(store.recovery().damage, None);
    assert!(!spare_dir(dir).exists());
    let end = usize::try_from(store.max_position()).unwrap();
    let segment = fs::read(segment_path(dir, 0)).unwrap();
    assert!(segment[end..].iter().all(|byte| *byte == 0), "stale bytes");
    assert_eq!(store.queue_offsets("stale", 0), None);
    assert_holds(&store, count);
    drop(store);
    let store = open_synchronous(dir);
    assert!(store.recovery().converted_at.is_none());
    assert_holds(&store, count + 1);
    store
}

#[test]
fn after_a_kill_all_is_kept_and_nothing_behind_the_write_limit() {
    let (dir, positions) = former();
    let limit = end_of(&positions) + CLEARED;
    leave(
        dir.path(),
        &boot_id(),
        limit,
        &seals(dir.path(), &positions),
    );

    assert_converted(dir.path(), COUNT);
}

#[test]
fn after_a_power_cut_the_log_ends_where_it_was_sealed() {
    let (dir, positions) = former();
    leave(dir.path(), "another", 0, &seals(dir.path(), &positions));

    assert_converted(dir.path(), COUNT - 1);
}

#[test]
fn a_flush_that_did_not_reach_the_disk_whole_is_none() {
    let (dir, positions) = former();
    leave(dir.path(), "another", 0, &seals(dir.path(), &positions));
    let number = usize::try_from(COUNT - 1).unwrap();
    overwrite(&segment_path(dir.path(), 0), positions[number] - 3, b"old");

    assert_converted(dir.path(), COUNT - 2);
}

#[test]
fn after_a_failed_flush_the_log_ends_where_it_was_sealed() {
    let (dir, positions) = former();
    leave(dir.path(), "another", 0, &seals(dir.path(), &positions));
    fs::write(dir.path().join("abort"), "4711\nunflushed\n").unwrap();

    assert_converted(dir.path(), COUNT - 1);
}

#[test]
fn damage_before_the_sealed_end_is_reported() {
    let (dir, positions) = former();
    leave(dir.path(), "another", 0, &seals(dir.path(), &positions));
    overwrite(&segment_path(dir.path(), 0), positions[3] - 3, b"old");

    let store = open_synchronous(dir.path());

    let damage = store.recovery().damage.expect("it was flushed");
    assert_eq!(damage.position, positions[2]);
    assert_eq!(damage.next_valid_position, Some(positions[3]));
}

#[test]
fn what_stock_wrote_after_a_former_version_is_kept() {
    let (dir, positions) = former();
    let at = usize::try_from(end_of(&positions)).unwrap();
    // Stock goes on over what lies behind the end, and its mark names a process and nothing else.
    overwrite(&segment_path(dir.path(), 0), at as u64, &vec![0; 4_000]);
    leave(dir.path(), "another", 0, &seals(dir.path(), &positions));
    fs::write(dir.path().join("abort"), "4711").unwrap();

    assert_converted(dir.path(), COUNT);
}

#[test]
fn a_store_that_a_former_version_closed_loses_the_spare_segments_alone() {
    let dir = tempdir();
    let store = open_synchronous(dir.path());
    let positions = fill(&store, COUNT);
    store.close().unwrap();
    drop(store);
    leave(dir.path(), "another", 0, &seals(dir.path(), &positions));
    fs::remove_file(dir.path().join("abort")).unwrap();

    assert_converted(dir.path(), COUNT);
}

#[test]
fn a_write_limit_before_what_was_flushed_cuts_nothing() {
    let dir = tempdir();
    let store = open_synchronous(dir.path());
    let positions = fill(&store, COUNT);
    store.flush_tick(NOW_MS).unwrap();
    drop(store);
    leave(
        dir.path(),
        &boot_id(),
        positions[2],
        &seals(dir.path(), &positions),
    );

    assert_converted(dir.path(), COUNT);
}

#[test]
fn an_asynchronous_store_of_a_former_version_is_judged_as_one_of_this() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, COUNT);
    drop(store);
    for (run, was_killed) in [(boot_id(), true), ("another".to_owned(), false)] {
        let copy = crash(dir.path());
        let mark = format!("4711\n{run}\nasynchronous\n");
        fs::write(copy.path().join("abort"), mark).unwrap();

        let store = open(copy.path());

        assert!(store.recovery().converted_at.is_none(), "{was_killed}");
        assert_holds(&store, COUNT);
    }
}
