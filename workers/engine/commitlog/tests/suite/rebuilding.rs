//! Queues and index rebuilt from the log: they equal what a store built, and a rebuild that
//! stops anywhere leaves a store that works.

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::inspect::Survey;
use regent_commitlog::{QueueRange, Rebuild, RebuildParts, Rebuilt, Retention, StoreError};

use crate::support::index::{Filler, build, config, files, open};
use crate::support::{
    NOW_MS, QUEUE_FILE_SIZE, append, contents, crash, journal, overwrite, segment_path, tempdir,
};

const ALL: RebuildParts = RebuildParts {
    queues: true,
    index: true,
};

fn begin(dir: &Path, parts: RebuildParts) -> Result<Rebuild, StoreError> {
    Rebuild::begin(config(dir), parts, NOW_MS, 0)
}

fn rebuild(dir: &Path, parts: RebuildParts, suffix: Option<&str>) -> Rebuilt {
    carry_out(begin(dir, parts).unwrap(), suffix)
}

fn carry_out(mut rebuild: Rebuild, suffix: Option<&str>) -> Rebuilt {
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
fn what_is_rebuilt_equals_what_was_there() {
    let dir = tempdir();
    let mut filler = filled(dir.path());
    let (whole, index) = (contents(dir.path()), files(dir.path()));
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();
    overwrite(&dir.path().join("index").join(&index[1].0), 50, &[7; 90]);
    fs::remove_file(dir.path().join("checkpoint")).unwrap();

    let rebuilt = rebuild(dir.path(), ALL, None);

    let queues = |(path, _): &(&PathBuf, &Vec<u8>)| path.starts_with("consumequeue");
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
    let base = at - at % crate::support::SEGMENT_SIZE;
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
    let base = at - at % crate::support::SEGMENT_SIZE;
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

/// A closed store, and the offsets of all its queues. Of some queues the log has no record left,
/// and their files are filled in several ways; of others it has records.
fn with_idle_queues(dir: &Path) -> Vec<QueueRange> {
    let store = open(dir);
    for (queue_id, count) in [(0, 1), (1, 9), (2, 10), (3, 11), (4, 30)] {
        for _ in 0..count {
            append(&store, "idle", queue_id, b"expires");
        }
    }
    for number in 0..400 {
        append(&store, "busy", number % 3, &[7; 300]);
    }
    store.flush().unwrap();
    let everything = Retention {
        segment_count_max: usize::MAX,
        is_forced: true,
        ..Retention::default()
    };
    assert!(store.expire(&everything, NOW_MS).unwrap().segment_count > 1);
    let queues = store.queues();
    assert_eq!(store.queue_offsets("idle", 4), Some((30, 30)));
    store.close().unwrap();
    queues
}

#[test]
fn a_queue_whose_records_have_all_expired_goes_on_where_it_ended() {
    let dir = tempdir();
    let queues = with_idle_queues(dir.path());

    let rebuilt = rebuild(dir.path(), ALL, None);
    // What the first one kept is enough for the second.
    let again = rebuild(dir.path(), ALL, None);

    assert_eq!(sorted(rebuilt.queues), sorted(queues.clone()));
    assert_eq!(sorted(again.queues), sorted(queues.clone()));
    assert!(is_well(dir.path()));
    let store = open(dir.path());
    assert!(store.recovery().was_clean);
    assert_eq!(sorted(store.queues()), sorted(queues));
    assert_eq!(append(&store, "idle", 2, b"next").queue_offset, 10);
}

fn sorted(mut queues: Vec<QueueRange>) -> Vec<QueueRange> {
    queues.sort_by(|one, other| (&one.topic, one.queue_id).cmp(&(&other.topic, other.queue_id)));
    queues
}

#[test]
fn entries_of_an_idle_queue_that_point_into_the_log_do_not_count() {
    let dir = tempdir();
    with_idle_queues(dir.path());
    let store = open(dir.path());
    let stray = (store.max_position() - 500).to_be_bytes();
    store.close().unwrap();
    drop(store);
    let entry = [&stray[..], &100_i32.to_be_bytes(), &[0; 8]].concat();
    let file = dir.path().join("consumequeue/idle/1/00000000000000000000");
    overwrite(&file, QUEUE_FILE_SIZE - 20, &entry);

    rebuild(dir.path(), ALL, None);

    assert_eq!(open(dir.path()).queue_offsets("idle", 1), Some((9, 9)));
}

#[test]
fn an_idle_queue_that_cannot_be_read_is_left_out() {
    let dir = tempdir();
    let queues = with_idle_queues(dir.path());
    let files = dir.path().join("consumequeue/idle");
    fs::write(files.join("0/00000000000000000000"), [9; 201]).unwrap();
    fs::write(files.join("1/00000000000000000400"), [0; 200]).unwrap();
    let before = contents(dir.path());
    let mut under_way = begin(dir.path(), ALL).unwrap();
    while under_way.advance(500).unwrap() {}
    drop(under_way);
    assert_eq!(contents(dir.path()), before);

    let rebuilt = rebuild(dir.path(), ALL, None);

    assert_eq!(rebuilt.queues.len(), queues.len() - 2);
    assert_eq!(open(dir.path()).queue_offsets("idle", 0), None);
}
