//! Surveys of stores that are whole, crashed and damaged.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use regent_commitlog::NewMessage;
use regent_commitlog::inspect::{FindingKind, LogWalk, Step, Survey};

use crate::support::{NOW_MS, SEGMENT_SIZE, append, config, open, tempdir};

fn survey(dir: &Path) -> Survey {
    let mut survey = Survey::comparing(&config(dir), false).expect("readable");
    // Small steps, so that a survey is also interrupted everywhere.
    while survey.advance(100).expect("readable") {}
    survey
}

fn kinds(survey: &Survey) -> Vec<FindingKind> {
    survey.findings().iter().map(|found| found.kind).collect()
}

/// A closed store with 60 messages in three queues over several segments.
fn filled(dir: &Path) -> Vec<u64> {
    let store = open(dir);
    let positions = (0..60)
        .map(|turn| append(&store, "orders", turn % 3, &[b'x'; 900]).log_position)
        .collect();
    store.close().expect("closed");
    positions
}

fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    let file = OpenOptions::new().write(true).open(path).expect("a file");
    file.write_all_at(bytes, at).expect("written");
}

fn segment(dir: &Path, position: u64) -> (PathBuf, u64) {
    let base = position - position % SEGMENT_SIZE;
    let path = dir.join("commitlog").join(format!("{base:020}"));
    (path, position - base)
}

#[test]
fn a_whole_store_is_counted_and_nothing_is_found() {
    let dir = tempdir();
    filled(dir.path());

    let survey = survey(dir.path());

    assert_eq!(kinds(&survey), []);
    let queues = survey.queues();
    assert_eq!(queues.len(), 3);
    for queue in queues {
        assert_eq!(queue.record_count, 20);
        assert_eq!((queue.min_offset, queue.max_offset), (0, 20));
        assert_eq!(queue.first_store_timestamp_ms, NOW_MS);
    }
    assert_eq!(survey.end_position(), open(dir.path()).max_position());
}

#[test]
fn an_open_store_can_be_surveyed() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "orders", 0, b"hello");
    store.flush_tick(NOW_MS).expect("flushed");

    let mut survey = Survey::comparing(&config(dir.path()), true).expect("readable");
    while survey.advance(100).expect("readable") {}

    assert_eq!(kinds(&survey), []);
}

#[test]
fn a_flipped_byte_in_the_middle_is_damage_with_the_place_where_records_go_on() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let (path, at) = segment(dir.path(), positions[20]);
    overwrite(&path, at + 200, b"y");

    let survey = survey(dir.path());

    assert_eq!(
        kinds(&survey),
        [FindingKind::DamagedLog, FindingKind::LostMessages]
    );
    let lost = &survey.findings()[1];
    assert_eq!((lost.queue.as_str(), lost.position), ("orders/2", 6));
    assert!(lost.text.starts_with("1 message "));
    assert_eq!(survey.findings()[0].position, positions[20]);
    assert!(
        survey.findings()[0]
            .text
            .ends_with(&positions[21].to_string())
    );
}

#[test]
fn a_log_shorter_than_what_was_flushed_has_lost_its_tail() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let (path, at) = segment(dir.path(), positions[59]);
    overwrite(&path, at, &[0; 64]);

    assert_eq!(kinds(&survey(dir.path()))[0], FindingKind::LostTail);
}

#[test]
fn bytes_behind_the_end_are_a_torn_record() {
    let dir = tempdir();
    filled(dir.path());
    let (path, at) = segment(dir.path(), survey(dir.path()).end_position());
    overwrite(&path, at, b"torn");

    let survey = survey(dir.path());

    assert_eq!(kinds(&survey), [FindingKind::TornRecord]);
    assert_eq!(survey.findings()[0].kind.severity(), "note");
}

#[test]
fn a_missing_segment_is_found() {
    let dir = tempdir();
    let positions = filled(dir.path());
    fs::remove_file(segment(dir.path(), positions[25]).0).expect("removed");

    assert!(kinds(&survey(dir.path())).contains(&FindingKind::MissingSegments));
}

#[test]
fn entries_that_are_missing_wrong_or_stray_are_distinguished() {
    let dir = tempdir();
    filled(dir.path());
    let queue = |queue_id: u32, base: u32| {
        let folder = dir.path().join("consumequeue/orders");
        folder.join(format!("{queue_id}/{base:020}"))
    };
    // Ten entries to a file; each queue has twenty.
    overwrite(&queue(0, 200), 9 * 20, &[0; 20]);
    overwrite(&queue(1, 0), 3 * 20 + 19, &[77]);
    let entry = fs::read(queue(2, 0)).expect("a file")[..20].to_vec();
    let stray = dir.path().join("consumequeue/orders/9");
    fs::create_dir(&stray).expect("a directory");
    let mut file = vec![0; 200];
    file[..20].copy_from_slice(&entry);
    fs::write(stray.join(format!("{:020}", 0)), file).expect("written");

    let survey = survey(dir.path());

    let found: Vec<_> = survey
        .findings()
        .iter()
        .map(|found| (found.kind, found.queue.as_str(), found.position))
        .collect();
    assert_eq!(
        found,
        [
            (FindingKind::WrongEntry, "orders/1", 3),
            (FindingKind::MissingEntry, "orders/0", 19),
            (FindingKind::StrayEntries, "orders/9", 0),
        ]
    );
}

#[test]
fn a_deleted_topic_is_a_note_and_its_second_life_is_no_fault() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "gone", 0, b"1");
    append(&store, "again", 0, b"2");
    store.delete_queues_of("gone").expect("deleted");
    store.delete_queues_of("again").expect("deleted");
    append(&store, "again", 0, b"3");
    store.close().expect("closed");

    let survey = survey(dir.path());

    assert_eq!(kinds(&survey), [FindingKind::AbsentQueue]);
    assert_eq!(survey.findings()[0].queue, "gone/0");
}

#[test]
fn a_walk_can_begin_at_any_record_and_nowhere_else() {
    let dir = tempdir();
    let positions = filled(dir.path());
    let mut walk = LogWalk::new(&dir.path().join("commitlog")).expect("readable");

    for position in positions.iter().rev() {
        walk.seek(*position).expect("a record");
        let Some(Step::Record(record)) = walk.step().expect("readable") else {
            panic!("no record at {position}");
        };
        assert_eq!(record.log_position, *position);
    }
    assert!(walk.seek(positions[3] + 1).is_err());
    assert!(walk.seek(1 << 40).is_err());
}

#[test]
fn an_empty_directory_is_an_empty_store() {
    let dir = tempdir();

    assert_eq!(kinds(&survey(dir.path())), []);
}

#[test]
fn a_record_whose_properties_were_never_written_is_torn() {
    let dir = tempdir();
    let store = open(dir.path());
    let whole = append(&store, "orders", 0, b"whole");
    store.flush_tick(NOW_MS).expect("flushed");
    let properties = format!("KEYS\u{1}{}\u{2}", "k".repeat(1_600));
    let message = NewMessage {
        properties: properties.as_bytes(),
        ..NewMessage::new("orders", 0, b"torn")
    };
    let mut writer = store.writer().expect("open");
    let torn = writer.append(&message, NOW_MS).expect("appended");
    drop(writer);
    drop(store);
    assert_eq!(torn.log_position, u64::from(whole.size));
    let of_a_killed_store = [FindingKind::UncleanStop, FindingKind::UnfinishedIndex];
    assert_eq!(kinds(&survey(dir.path())), of_a_killed_store);
    let (path, _) = segment(dir.path(), torn.log_position);
    overwrite(&path, 1_024, &[0; 512]);

    let survey = survey(dir.path());

    assert!(kinds(&survey).contains(&FindingKind::TornRecord));
    assert_eq!(survey.end_position(), torn.log_position);
    assert_eq!(open(dir.path()).max_position(), torn.log_position);
}
