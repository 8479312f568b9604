//! Surveys of stores whose broker goes on meanwhile: it appends, expires and deletes.

use std::fs;

use regent_commitlog::inspect::{FindingKind, Survey, read_index};
use regent_commitlog::{NewMessage, Retention, Store, StoreConfig};

use crate::support::*;

fn filled(config: &StoreConfig, count: i32) -> Store {
    let store = Store::open(config.clone(), NOW_MS).unwrap();
    more(&store, count);
    store
}

fn more(store: &Store, count: i32) {
    for turn in 0..count {
        append(store, "orders", turn % 3, &[b'x'; 900]);
    }
    store.flush_tick(NOW_MS).unwrap();
}

/// With forty keys in four index files.
fn indexed(config: &StoreConfig) -> Store {
    let store = filled(config, 1);
    for turn in 0..40 {
        let keys = format!("KEYS\u{1}key-{turn}\u{2}");
        let message = NewMessage {
            properties: keys.as_bytes(),
            ..NewMessage::new("orders", 0, b"x")
        };
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    index::build(&store);
    store
}

/// A survey of a store in use that is in the middle of the first segment.
fn begun(config: &StoreConfig) -> Survey {
    let mut survey = Survey::comparing(config, true).unwrap();
    assert!(survey.advance(100).unwrap());
    survey
}

fn finished(mut survey: Survey) -> Vec<(FindingKind, String)> {
    while survey.advance(100).unwrap() {}
    let found = survey.findings().iter();
    found
        .map(|found| (found.kind, found.text.clone()))
        .collect()
}

#[test]
fn entries_of_messages_that_came_after_the_end_was_seen_are_no_strays() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = filled(&config, 60);
    let survey = begun(&config);

    // Into segments that the survey does not know, and queue files neither.
    more(&store, 90);

    assert_eq!(finished(survey), []);
}

#[test]
fn an_entry_without_a_record_before_the_end_is_a_stray_in_a_store_in_use_too() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = filled(&config, 60);
    let stray = dir.path().join("consumequeue/orders/9");
    fs::create_dir(&stray).unwrap();
    let name = format!("{:020}", 0);
    let queue = dir.path().join("consumequeue/orders/0").join(&name);
    fs::copy(queue, stray.join(&name)).unwrap();

    let found = finished(begun(&config));

    assert_eq!(found.len(), 1);
    assert_eq!(found[0].0, FindingKind::StrayEntries);
    drop(store);
}

#[test]
fn segments_and_queue_files_that_expire_meanwhile_are_no_finding() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = filled(&config, 60);
    let survey = begun(&config);

    let expired = Retention {
        is_forced: true,
        segment_count_max: 2,
        ..Retention::default()
    };
    let expired = store.expire(&expired, NOW_MS).unwrap();

    assert_eq!(expired.segment_count, 2);
    assert!(store.min_position() >= 2 * SEGMENT_SIZE);
    assert_eq!(finished(survey), []);
}

#[test]
fn a_topic_that_is_deleted_meanwhile_is_no_finding() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = filled(&config, 60);
    let survey = begun(&config);

    store.delete_queues_of("orders").unwrap();

    let found = finished(survey);
    let is_absent = |found: &(FindingKind, String)| found.0 == FindingKind::AbsentQueue;
    assert!(found.iter().all(is_absent), "{found:?}");
}

#[test]
fn index_files_that_expire_meanwhile_are_no_finding() {
    let dir = tempdir();
    let config = index::config(dir.path());
    let store = indexed(&config);
    let survey = begun(&config);
    let mut files: Vec<_> = fs::read_dir(dir.path().join("index"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort_unstable();
    assert!(files.len() > 2);

    fs::remove_file(&files[1]).unwrap();

    assert_eq!(finished(survey), []);
    drop(store);
}

#[test]
fn the_end_of_the_newest_index_file_may_be_newer_than_the_entries_that_were_seen() {
    let dir = tempdir();
    let config = index::config(dir.path());
    let store = indexed(&config);
    let newest = index::files(dir.path()).pop().unwrap().0;
    let newest = dir.path().join("index").join(newest);

    let newer = || overwrite(&newest, 8, &(NOW_MS + 5).to_be_bytes());
    newer();
    assert_eq!(finished(begun(&config)), []);

    store.close().unwrap();
    newer();
    let found = finished(Survey::comparing(&config, false).unwrap());
    let is_told = |found: &(FindingKind, String)| found.1.contains("its header says");
    assert!(found.iter().any(is_told), "{found:?}");
}

#[test]
fn what_an_open_segment_became_after_it_expired_is_no_damage() {
    let dir = tempdir();
    let config = config(dir.path());
    let store = filled(&config, 60);
    let first = segment_path(dir.path(), 0);
    overwrite(&first, 5_000, &[0; 2_000]);
    let survey = begun(&config);

    fs::remove_file(&first).unwrap();

    assert_eq!(finished(survey), []);
    drop(store);
}

#[test]
fn files_that_go_between_their_listing_and_their_opening_are_passed_over() {
    let dir = tempdir();
    let config = index::config(dir.path());
    let store = indexed(&config);
    for name in [
        format!("commitlog/{:020}", 1_u64 << 40),
        format!("index/{:017}", 1),
    ] {
        // Listed, and not there.
        std::os::unix::fs::symlink("gone", dir.path().join(name)).unwrap();
    }

    assert_eq!(finished(begun(&config)), []);
    assert_eq!(read_index(&config, 0, 100).unwrap().len(), 40);
    drop(store);
}
