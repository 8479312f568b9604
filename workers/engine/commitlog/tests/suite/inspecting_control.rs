//! Surveys of what lies beside the log: epochs, checkpoint, journal, segments, leftovers.

use std::fs;
use std::path::Path;

use regent_commitlog::inspect::{Finding, FindingKind, Survey};

use crate::support::*;

const EPOCHS: &str = "epochFileCheckpoint";
const BACKUP: &str = "epochFileCheckpoint.bak";

fn survey(dir: &Path) -> Survey {
    let mut survey = Survey::comparing(&config(dir), false).unwrap();
    while survey.advance(1000).unwrap() {}
    survey
}

fn findings(dir: &Path) -> Vec<Finding> {
    survey(dir).findings().to_vec()
}

fn kinds(dir: &Path) -> Vec<FindingKind> {
    findings(dir).iter().map(|found| found.kind).collect()
}

/// A closed store of 90 messages and three epochs; returns where messages begin, and the end.
fn filled(dir: &Path) -> Vec<u64> {
    let store = open(dir);
    store.begin_epoch(1).unwrap();
    let mut positions = Vec::new();
    for number in 0..90 {
        if number % 30 == 29 {
            store.begin_epoch(i32::try_from(number).unwrap()).unwrap();
        }
        let (topic, queue_id, body) = numbered(number);
        positions.push(append(&store, topic, queue_id, &body).log_position);
    }
    positions.push(store.max_position());
    store.close().unwrap();
    positions
}

#[test]
fn every_kind_has_its_own_name_and_a_known_severity() {
    let mut names: Vec<_> = FindingKind::ALL.iter().map(|kind| kind.name()).collect();
    names.sort_unstable();
    names.dedup();

    assert_eq!(names.len(), FindingKind::ALL.len());
    let severities = ["lost", "blocked", "derived", "weakened", "note"];
    assert!(
        FindingKind::ALL
            .iter()
            .all(|kind| severities.contains(&kind.severity()))
    );
}

#[test]
fn a_closed_store_with_epochs_has_no_fault_and_lists_them() {
    let dir = tempdir();
    let positions = filled(dir.path());

    let survey = survey(dir.path());

    assert_eq!(survey.findings(), []);
    let epochs = survey.epochs().iter();
    let epochs: Vec<_> = epochs
        .map(|epoch| (epoch.number, epoch.start_position))
        .collect();
    assert_eq!(
        epochs,
        [
            (1, 0),
            (29, positions[29]),
            (59, positions[59]),
            (89, positions[89])
        ]
    );
    let checkpoint = survey.checkpoint().unwrap();
    assert_eq!(checkpoint.flushed_position, positions[90]);
    assert_eq!(checkpoint.log_timestamp_ms, NOW_MS);
}

#[test]
fn damage_of_the_epoch_file_is_as_bad_as_its_backup_is() {
    let dir = tempdir();
    filled(dir.path());
    let path = |name| dir.path().join(name);
    let (epochs, backup) = (
        fs::read(path(EPOCHS)).unwrap(),
        fs::read(path(BACKUP)).unwrap(),
    );
    let damaged = [&b"4\n1\n"[..], b"1-0\n2-5\n3-9\n4-12\n"].concat();
    for (main, second, expected) in [
        (Some(&damaged), Some(&backup), FindingKind::EpochsFromBackup),
        (None, Some(&backup), FindingKind::EpochsFromBackup),
        (Some(&damaged), Some(&damaged), FindingKind::DamagedEpochs),
        (Some(&damaged), None, FindingKind::DamagedEpochs),
        (None, Some(&damaged), FindingKind::DamagedEpochs),
        (
            Some(&epochs),
            Some(&damaged),
            FindingKind::DamagedEpochBackup,
        ),
    ] {
        for (name, content) in [(EPOCHS, main), (BACKUP, second)] {
            let _ = fs::remove_file(path(name));
            if let Some(content) = content {
                fs::write(path(name), content).unwrap();
            }
        }

        assert_eq!(kinds(dir.path()), [expected]);
        let opens = try_open(&crash(dir.path()).keep()).is_ok();
        assert_eq!(opens, expected.severity() != "blocked");
    }
}

#[test]
fn epochs_that_do_not_fit_the_log_are_notes() {
    let dir = tempdir();
    let end = *filled(dir.path()).last().unwrap();
    let lines = format!("1-100\n7-{}\n", end + 1);
    fs::write(dir.path().join(EPOCHS), format!("2\n0\n{lines}")).unwrap();

    assert_eq!(
        kinds(dir.path()),
        [FindingKind::LogBeforeEpochs, FindingKind::EpochsBehindLog]
    );
}

#[test]
fn a_checkpoint_is_missing_or_ahead_of_the_log() {
    let dir = tempdir();
    filled(dir.path());
    let path = dir.path().join("checkpoint");
    overwrite(&path, 8, &(NOW_MS + 1).to_be_bytes());
    let found = findings(dir.path());
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].kind, found[0].byte),
        (FindingKind::WrongCheckpoint, 8)
    );
    assert!(found[0].text.starts_with("logicsMsgTimestamp"));

    fs::write(&path, [0; 20]).unwrap();

    assert_eq!(kinds(dir.path()), [FindingKind::AbsentCheckpoint]);
}

#[test]
fn with_a_journal_only_what_the_next_start_keeps_is_judged() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let cut_at = positions[50];
    // The cut came as far as the last epochs and one queue, and behind it bytes are torn.
    fs::write(dir.path().join("truncation"), journal(cut_at, NOW_MS)).unwrap();
    fs::remove_dir_all(dir.path().join("consumequeue/b/0")).unwrap();
    let base = positions[80] - positions[80] % SEGMENT_SIZE;
    overwrite(
        &segment_path(dir.path(), base),
        positions[80] - base + 4,
        b"torn",
    );

    let survey = survey(dir.path());

    let found: Vec<_> = survey.findings().iter().map(|found| found.kind).collect();
    assert_eq!(
        found,
        [FindingKind::InterruptedTruncation, FindingKind::AbsentQueue]
    );
    assert_eq!(survey.end_position(), cut_at);
    assert_eq!(survey.truncation_position(), Some(cut_at));
}

#[test]
fn a_damaged_journal_keeps_the_store_closed() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let text = journal(positions[50], NOW_MS).replace("2\n", "3\n");
    fs::write(dir.path().join("truncation"), text).unwrap();

    assert_eq!(kinds(dir.path())[0], FindingKind::DamagedJournal);
    assert!(try_open(dir.path()).is_err());
}

#[test]
fn segments_of_another_size_or_name_are_found() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let last = positions[90] - positions[90] % SEGMENT_SIZE;
    let next = segment_path(dir.path(), last + SEGMENT_SIZE);
    fs::write(&next, [0; 100]).unwrap();
    assert_eq!(kinds(dir.path()), [FindingKind::UnfinishedSegment]);
    fs::remove_file(next).unwrap();

    let first = segment_path(dir.path(), 0);
    let content = fs::read(&first).unwrap();
    fs::write(&first, &content[..8192]).unwrap();
    let found = findings(dir.path());
    let odd = found
        .iter()
        .find(|found| found.kind == FindingKind::OddSegment);
    assert_eq!(odd.unwrap().file, first);
    fs::write(&first, &content).unwrap();

    let odd = segment_path(dir.path(), last + SEGMENT_SIZE + 5);
    fs::write(odd, vec![0; usize::try_from(SEGMENT_SIZE).unwrap()]).unwrap();
    assert!(kinds(dir.path()).contains(&FindingKind::OddSegment));
}

#[test]
fn a_segment_that_leaves_a_gap_behind_the_end_of_the_log_is_found() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let last = positions[90] - positions[90] % SEGMENT_SIZE;
    let empty = vec![0; usize::try_from(SEGMENT_SIZE).unwrap()];
    let next = segment_path(dir.path(), last + SEGMENT_SIZE);
    fs::write(&next, &empty).unwrap();
    assert_eq!(kinds(dir.path()), []);

    let stray = segment_path(dir.path(), last + 3 * SEGMENT_SIZE);
    fs::rename(&next, &stray).unwrap();

    let found = findings(dir.path());
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].kind, FindingKind::OddSegment);
    assert_eq!(found[0].file, stray);
    assert!(try_open(dir.path()).is_err());
}

#[test]
fn queue_files_that_no_broker_opens_are_found() {
    let dir = tempdir();
    filled(dir.path());
    let queue = dir.path().join("consumequeue/b/0");
    let mut files: Vec<_> = fs::read_dir(&queue)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort_unstable();
    let last = files.pop().unwrap();
    let content = fs::read(&last).unwrap();
    for size in [content.len() - 20, content.len() + 20] {
        let mut odd = content.clone();
        odd.resize(size, 0);
        fs::write(&last, odd).unwrap();

        let found = findings(dir.path());
        let odd = found
            .iter()
            .find(|found| found.kind == FindingKind::OddQueueFile);
        assert_eq!(odd.unwrap().file, last, "{size}");
        assert!(try_open(dir.path()).is_err(), "{size}");
    }
    fs::write(&last, content).unwrap();
    assert_eq!(kinds(dir.path()), []);
}

#[test]
fn an_unclean_stop_and_leftovers_are_notes() {
    let dir = tempdir();
    filled(dir.path());
    let root = dir.path();
    fs::write(root.join("abort"), "17").unwrap();
    fs::write(root.join("epochFileCheckpoint.new"), "half").unwrap();
    fs::create_dir(root.join("consumequeue.20260101T000000")).unwrap();
    fs::create_dir(root.join("index")).unwrap();
    fs::write(root.join("index/damaged"), "old").unwrap();
    fs::write(root.join("commitlog/notes.txt"), "mine").unwrap();

    let found = findings(root);

    let leftovers: Vec<_> = found
        .iter()
        .filter(|found| found.kind == FindingKind::Leftover)
        .map(|found| found.file.file_name().unwrap().to_str().unwrap())
        .collect();
    assert_eq!(
        leftovers,
        [
            "notes.txt",
            "damaged",
            "consumequeue.20260101T000000",
            "epochFileCheckpoint.new"
        ]
    );
    assert!(
        found
            .iter()
            .any(|found| found.kind == FindingKind::UncleanStop)
    );
    assert!(found.iter().all(|found| found.kind.severity() == "note"));
}
