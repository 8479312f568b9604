//! What only stock serves: batch queues, light queues and inner batches are refused by name.

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::inspect::Survey;
use regent_commitlog::{AppendError, NewMessage, Rebuild, RebuildParts, RecordView, StoreError};

use crate::support::*;

/// Where a record has the flags of the system, and those of an inner batch.
const SYS_FLAG_AT: u64 = 36;
const INNER_BATCH: i32 = 0x80;
const NEEDS_UNWRAPPING: i32 = 0x40;

const QUEUES: RebuildParts = RebuildParts {
    queues: true,
    index: false,
};

/// The errors of opening a store, of rebuilding its queues and of a survey.
fn refusals(dir: &Path) -> [StoreError; 3] {
    let rebuilt = Rebuild::begin(config(dir), QUEUES, NOW_MS, 0).and_then(|it| it.finish(None));
    let surveyed = Survey::comparing(&config(dir), false).and_then(|mut it| it.advance(u64::MAX));
    [
        try_open(dir).unwrap_err(),
        rebuilt.unwrap_err(),
        surveyed.unwrap_err(),
    ]
}

/// A store with eight messages in one queue; where they begin.
fn filled(dir: &Path, is_closed: bool) -> Vec<u64> {
    let store = open(dir);
    let positions = (0..8).map(|at| append(&store, "t", 0, &[at; 50]).log_position);
    let positions = positions.collect();
    if is_closed {
        store.close().unwrap();
    }
    positions
}

fn flag(dir: &Path, position: u64, sys_flag: i32) {
    let at = position + SYS_FLAG_AT;
    overwrite(&segment_path(dir, 0), at, &sys_flag.to_be_bytes());
}

/// Every file and directory below a store directory.
fn names(dir: &Path) -> Vec<PathBuf> {
    let mut dirs = vec![dir.to_path_buf()];
    let mut names = Vec::new();
    while let Some(next) = dirs.pop() {
        let inner = fs::read_dir(&next).unwrap();
        names.extend(inner.map(|entry| entry.unwrap().path()));
        dirs.extend(
            names
                .iter()
                .filter(|path| path.is_dir() && path.parent() == Some(&next))
                .cloned(),
        );
    }
    names.sort_unstable();
    names
}

#[test]
fn a_store_with_queues_that_only_stock_serves_is_refused_by_name_and_unchanged() {
    for (kind, named, file) in [
        (
            "batch",
            "batchconsumequeue",
            "batchconsumequeue/b/0/00000000000000000000",
        ),
        (
            "light",
            "consumequeue/%LMQ%a",
            "consumequeue/%LMQ%a/0/00000000000000000000",
        ),
    ] {
        for is_closed in [true, false] {
            let dir = tempdir();
            filled(dir.path(), is_closed);
            let file = dir.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, [7; 46]).unwrap();
            let before = (names(dir.path()), contents(dir.path()));

            let refusals = refusals(dir.path());

            for refused in refusals {
                assert_eq!(refused.code(), "unserved_queues");
                let text = refused.to_string();
                let holds = format!("{named} holds {kind} queues");
                assert!(text.contains(&holds), "{text}");
                assert!(text.contains("open the store with RocketMQ"), "{text}");
            }
            assert!((names(dir.path()), contents(dir.path())) == before);
        }
    }
}

#[test]
fn directories_that_such_queues_left_behind_are_no_obstacle() {
    let dir = tempdir();
    filled(dir.path(), true);
    for left in ["batchconsumequeue/b/0", "consumequeue/%LMQ%a/0"] {
        fs::create_dir_all(dir.path().join(left)).unwrap();
    }

    let store = open(dir.path());

    assert_eq!(read_all(&store, "t", 0).len(), 8);
    assert_eq!(store.queues().len(), 1);
}

#[test]
fn a_log_with_an_inner_batch_is_refused_by_topic_and_position_and_unchanged() {
    let dir = tempdir();
    let positions = filled(dir.path(), true);
    flag(dir.path(), positions[5], INNER_BATCH | NEEDS_UNWRAPPING);
    let before = contents(dir.path());

    let refusals = refusals(dir.path());

    for refused in refusals {
        assert_eq!(refused.code(), "inner_batch");
        let text = refused.to_string();
        let named = format!(
            "of topic t at log position {} is an inner batch",
            positions[5]
        );
        assert!(text.contains(&named), "{text}");
        assert!(text.contains("keep this log with RocketMQ"), "{text}");
    }
    assert!(contents(dir.path()) == before);
    assert!(!dir.path().join("abort").exists());
}

#[test]
fn one_of_the_two_flags_is_a_wrong_bit_and_its_message_is_served() {
    for sys_flag in [INNER_BATCH, NEEDS_UNWRAPPING] {
        for is_closed in [true, false] {
            let dir = tempdir();
            let positions = filled(dir.path(), is_closed);
            flag(dir.path(), positions[5], sys_flag);

            let store = open(dir.path());

            assert_eq!(read_all(&store, "t", 0).len(), 8);
        }
    }
}

#[test]
fn a_replica_stops_before_an_inner_batch_and_keeps_what_came_before() {
    // Few bytes are copied record by record, many are written at once.
    for body_size in [50, 20_000] {
        let master_dir = tempdir();
        let master = open_large(master_dir.path());
        let append = |at| append(&master, "t", 0, &vec![at; body_size]).log_position;
        let positions: Vec<u64> = (0..8).map(append).collect();
        flag(
            master_dir.path(),
            positions[5],
            INNER_BATCH | NEEDS_UNWRAPPING,
        );
        let slice = master.log_slice(0, u64::MAX).unwrap();
        let dir = tempdir();
        let replica = open_large(dir.path());

        for _ in 0..2 {
            let held = usize::try_from(replica.max_position()).unwrap();
            let refused = replica.append_copied(held as u64, &slice.bytes()[held..]);
            assert_eq!(refused.unwrap_err().code(), "inner_batch");
            assert_eq!(replica.max_position(), positions[5]);
        }

        assert_eq!(read_all(&replica, "t", 0).len(), 5);
        drop(replica);
        assert_eq!(read_all(&open_large(dir.path()), "t", 0).len(), 5);
    }
}

#[test]
fn a_replica_does_not_take_over_a_topic_with_the_name_of_a_light_queue() {
    let master_dir = tempdir();
    let master = open(master_dir.path());
    let first = append(&master, "LMQ_a", 0, b"x").log_position;
    let path = segment_path(master_dir.path(), 0);
    let record = master.read_record(first).unwrap().unwrap();
    let at = record.windows(5).position(|part| part == b"LMQ_a").unwrap();
    overwrite(&path, first + at as u64, b"%LMQ%");
    let slice = master.log_slice(0, u64::MAX).unwrap();
    let dir = tempdir();
    let replica = open(dir.path());

    let refused = replica.append_copied(0, slice.bytes()).unwrap_err();

    assert!(refused.to_string().contains("%LMQ%"), "{refused}");
    assert_eq!(replica.max_position(), 0);
}

#[test]
fn inner_batches_and_light_queues_are_not_appended() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"plain");
    let end = store.max_position();
    let mut flagged = NewMessage::new("t", 0, b"");
    flagged.sys_flag = INNER_BATCH;
    let light = NewMessage::new("%LMQ%a", 0, b"x");
    let mut writer = store.writer().unwrap();

    let packed = element(b"x", b"");
    let refusals = [
        writer.append(&flagged, NOW_MS).unwrap_err(),
        writer
            .append_batch(&flagged, &packed, NOW_MS, &mut Vec::new())
            .unwrap_err(),
        writer.append(&light, NOW_MS).unwrap_err(),
        writer
            .append_batch(&light, &packed, NOW_MS, &mut Vec::new())
            .unwrap_err(),
    ];
    drop(writer);

    assert!(matches!(
        refusals,
        [
            AppendError::InnerBatch,
            AppendError::InnerBatch,
            AppendError::LightQueue,
            AppendError::LightQueue
        ]
    ));
    assert_eq!(refusals.map(|it| it.code()), ["illegal_message"; 4]);
    assert_eq!(store.max_position(), end);
    assert!(!dir.path().join("consumequeue/%LMQ%a").exists());
}

#[test]
fn a_record_that_names_light_queues_is_an_ordinary_message() {
    let dir = tempdir();
    let store = open(dir.path());
    let properties = b"INNER_MULTI_DISPATCH\x01%LMQ%a\x02INNER_MULTI_QUEUE_OFFSET\x010\x02";
    let message = NewMessage {
        properties,
        ..NewMessage::new("t", 3, b"body")
    };
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
    let copy_dir = tempdir();
    let copy = open(copy_dir.path());
    copy.append_copied(0, store.log_slice(0, u64::MAX).unwrap().bytes())
        .unwrap();
    drop(store);
    let recovered = open(dir.path());

    for store in [&copy, &recovered] {
        let (_, records) = read(store, "t", 3, 0);
        let stored = RecordView::parse(&records).unwrap();
        assert_eq!(stored.properties, properties);
        assert_eq!(store.queues().len(), 1);
    }
}
