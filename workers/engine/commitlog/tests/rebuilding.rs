//! Queues and index made anew from the log: they equal what a store built, and a rebuild that
//! stops anywhere leaves a store that works.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use regent_commitlog::inspect::Survey;
use regent_commitlog::{Rebuild, RebuildParts, Rebuilt, StoreError};
use support::index::{Filler, build, config, files, open};
use support::{NOW_MS, contents, crash, journal, overwrite, segment_path, tempdir};

const ALL: RebuildParts = RebuildParts {
    queues: true,
    index: true,
};

fn begin(dir: &Path, parts: RebuildParts) -> Result<Rebuild, StoreError> {
    Rebuild::begin(config(dir), parts, NOW_MS, 0)
}

fn rebuild(dir: &Path, parts: RebuildParts, suffix: Option<&str>) -> Rebuilt {
    let mut rebuild = begin(dir, parts).unwrap();
    while rebuild.advance(500).unwrap() {}
    rebuild.finish(suffix).unwrap()
}

/// A closed store whose log is indexed.
fn filled(dir: &Path) -> Filler {
    let store = open(dir);
    let mut filler = Filler::new(11);
    filler.append(&store, 80);
    build(&store);
    store.close().unwrap();
    filler
}

fn is_well(dir: &Path) -> bool {
    let mut survey = Survey::comparing(&config(dir), false).unwrap();
    while survey.advance(u64::MAX).unwrap() {}
    survey.findings().is_empty()
}

#[test]
fn what_is_made_anew_equals_what_was_there() {
    let dir = tempdir();
    let mut filler = filled(dir.path());
    let (whole, index) = (contents(dir.path()), files(dir.path()));
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();
    overwrite(&dir.path().join("index").join(&index[1].0), 50, &[7; 90]);
    fs::remove_file(dir.path().join("checkpoint")).unwrap();

    let rebuilt = rebuild(dir.path(), ALL, None);

    let queues = |(path, _): &(&std::path::PathBuf, &Vec<u8>)| path.starts_with("consumequeue");
    assert!(
        contents(dir.path())
            .iter()
            .filter(queues)
            .eq(whole.iter().filter(queues))
    );
    assert_eq!(files(dir.path()), index);
    assert!(is_well(dir.path()));
    assert_eq!(rebuilt.index_file_count, index.len());
    assert!(rebuilt.has_checkpoint);
    let store = open(dir.path());
    assert!(store.recovery().was_clean);
    build(&store);
    filler.append(&store, 20);
    build(&store);
    filler.check_searches(&store);
}

#[test]
fn only_the_part_that_was_asked_for_is_made_and_the_old_one_can_be_kept() {
    let dir = tempdir();
    filled(dir.path());
    let before = contents(dir.path());
    let queues = RebuildParts {
        index: false,
        ..ALL
    };

    let rebuilt = rebuild(dir.path(), queues, Some("old"));

    assert_eq!((rebuilt.index_file_count, rebuilt.key_count), (0, 0));
    assert!(dir.path().join("consumequeue.old").is_dir());
    assert!(!dir.path().join("index.old").exists());
    fs::remove_dir_all(dir.path().join("consumequeue.old")).unwrap();
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_rebuild_that_stops_anywhere_changes_nothing() {
    let dir = tempdir();
    filled(dir.path());
    let before = contents(dir.path());
    let mut under_way = begin(dir.path(), ALL).unwrap();

    for _ in 0..10 {
        under_way.advance(1000).unwrap();
        let image = crash(dir.path());
        drop(open(image.path()));
        rebuild(image.path(), ALL, None);
        let left = fs::read_dir(image.path()).unwrap();
        let mut names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert!(!names.any(|name| name.ends_with(".new")));
    }
    drop(under_way);

    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_store_in_use_to_be_cut_or_damaged_is_refused_and_left_alone() {
    let dir = tempdir();
    let filler = filled(dir.path());
    let store = open(dir.path());
    assert!(matches!(
        begin(dir.path(), ALL),
        Err(StoreError::Locked { .. })
    ));
    store.close().unwrap();
    drop(store);

    let path = dir.path().join("truncation");
    fs::write(&path, journal(filler.messages[5].position, NOW_MS)).unwrap();
    let error = begin(dir.path(), ALL).unwrap_err();
    assert!(
        error.to_string().contains("start the broker once"),
        "{error}"
    );
    fs::remove_file(path).unwrap();

    let at = filler.messages[40].position;
    let base = at - at % support::SEGMENT_SIZE;
    overwrite(&segment_path(dir.path(), base), at - base + 4, b"dam");
    let before = contents(dir.path());
    let mut refused = begin(dir.path(), ALL).unwrap();
    let error = refused.advance(u64::MAX).unwrap_err();
    assert!(
        matches!(error, StoreError::Corrupt { position, .. } if position == at),
        "{error}"
    );
    drop(refused);
    assert_eq!(contents(dir.path()), before);
}

#[test]
fn a_log_without_its_flushed_end_is_refused() {
    let dir = tempdir();
    let filler = filled(dir.path());
    let at = filler.messages.last().unwrap().position;
    let base = at - at % support::SEGMENT_SIZE;
    overwrite(&segment_path(dir.path(), base), at - base, &[0; 100]);

    let error = begin(dir.path(), ALL)
        .unwrap()
        .advance(u64::MAX)
        .unwrap_err();

    assert!(error.to_string().contains("was flushed up to"), "{error}");
}

#[test]
fn after_a_crash_the_checkpoint_stays_what_recovery_goes_by() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut filler = Filler::new(12);
    filler.append(&store, 40);
    store.flush_tick(NOW_MS + 100_000).unwrap();
    filler.append(&store, 40);
    let image = crash(dir.path());
    let checkpoint = fs::read(image.path().join("checkpoint")).unwrap();

    let rebuilt = rebuild(image.path(), ALL, None);

    assert!(!rebuilt.has_checkpoint);
    assert_eq!(
        fs::read(image.path().join("checkpoint")).unwrap(),
        checkpoint
    );
    let store = open(image.path());
    assert_eq!(store.max_position(), rebuilt_end(&filler, &store));
    build(&store);
    filler.check_searches(&store);
}

fn rebuilt_end(filler: &Filler, store: &regent_commitlog::Store) -> u64 {
    let last = filler.messages.last().unwrap().position;
    last + store.read_record(last).unwrap().unwrap().len() as u64
}
