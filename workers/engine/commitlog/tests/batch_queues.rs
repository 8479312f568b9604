//! Inner batches and the batch queues they are in.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use regent_commitlog::{
    AppendError, Appended, Boundary, NewMessage, QueueRead, ReadStatus, RecordView, Retention,
    Store, StoreConfig, StoreError, find_property,
};
use support::{NOW_MS, SEGMENT_SIZE, crash, element, split, tempdir};

const ENTRY_SIZE: usize = 46;
/// Four entries to a file.
const FILE_SIZE: u64 = 4 * ENTRY_SIZE as u64;
const EVERYTHING: QueueRead<'static> = QueueRead {
    offset: 0,
    count_max: 1_000,
    bytes_max: 1 << 20,
    filter: None,
};

fn config(dir: &Path) -> StoreConfig {
    let mut config = support::config(dir);
    config.batch_queue_file_size_bytes = FILE_SIZE;
    config
}

fn open(dir: &Path) -> Store {
    Store::open(config(dir), NOW_MS).unwrap()
}

fn packed(bodies: &[&[u8]]) -> Vec<u8> {
    bodies.iter().flat_map(|body| element(body, b"")).collect()
}

fn append_inner(store: &Store, queue_id: i32, bodies: &[&[u8]], now_ms: i64) -> Appended {
    let mut message = NewMessage::new("batches", queue_id, b"");
    message.properties = b"UNIQ_KEY\x01U\x02TAGS\x01red";
    let mut writer = store.writer().unwrap();
    writer
        .append_inner_batch(&message, &packed(bodies), now_ms)
        .unwrap()
}

fn append_plain(store: &Store, queue_id: i32, body: &[u8]) -> Appended {
    support::append(store, "batches", queue_id, body)
}

/// Offset, message count and body of each record of a queue, read in pages of a few messages.
fn records(store: &Store, queue_id: i32) -> Vec<(u64, usize, Vec<u8>)> {
    let Some((mut offset, end)) = store.queue_offsets("batches", queue_id) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    while offset < end {
        let read = QueueRead {
            offset: offset.cast_signed(),
            count_max: 7,
            ..EVERYTHING
        };
        let mut bytes = Vec::new();
        let outcome = store.read_queue("batches", queue_id, &read, &mut bytes);
        let outcome = outcome.unwrap();
        assert_eq!(outcome.status, ReadStatus::Found, "at {offset} of {end}");
        let mut counted = 0;
        for view in split(&bytes) {
            let count = find_property(view.properties, b"INNER_NUM").map_or(1, number);
            found.push((view.queue_offset, count, view.body.to_vec()));
            counted += count;
        }
        assert_eq!(outcome.count, counted);
        assert!(outcome.next_offset > offset);
        offset = outcome.next_offset;
    }
    found
}

fn number(text: &[u8]) -> usize {
    std::str::from_utf8(text).unwrap().parse().unwrap()
}

fn queue_files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = support::contents(dir);
    files.retain(|name, _| name.to_string_lossy().contains("consumequeue"));
    files
}

fn remove_queues(dir: &Path) {
    for name in ["consumequeue", "batchconsumequeue"] {
        fs::remove_dir_all(dir.join(name)).ok();
    }
}

#[test]
fn an_inner_batch_is_one_record_that_takes_up_an_offset_for_each_message() {
    let dir = tempdir();
    let store = open(dir.path());

    let first = append_inner(&store, 0, &[b"a", b"b", b"c"], NOW_MS);
    let plain = append_plain(&store, 0, b"d");
    let last = append_inner(&store, 0, &[b"e", b"f"], NOW_MS);

    assert_eq!(
        [first, plain, last].map(|appended| appended.queue_offset),
        [0, 3, 4]
    );
    assert_eq!(store.queue_offsets("batches", 0), Some((0, 6)));
    assert_eq!(store.counters().total.message_count, 6);
    let record = store.read_record(last.log_position).unwrap().unwrap();
    let view = RecordView::parse(&record).unwrap();
    assert_eq!(view.sys_flag, 0x80 | 0x40);
    assert_eq!(view.body, packed(&[b"e", b"f"]));
    assert_eq!(
        view.properties,
        b"UNIQ_KEY\x01U\x02TAGS\x01red\x02INNER_NUM\x012\x02INNER_BASE\x014\x02"
    );
    let files = queue_files(dir.path());
    let name = Path::new("batchconsumequeue/batches/0/00000000000000000000");
    assert_eq!(files.keys().collect::<Vec<_>>(), [name]);
    let entry = &files[name][2 * ENTRY_SIZE..3 * ENTRY_SIZE];
    assert_eq!(entry[..8], last.log_position.to_be_bytes());
    assert_eq!(entry[8..12], last.size.to_be_bytes());
    assert_eq!(entry[20..28], NOW_MS.to_be_bytes());
    assert_eq!(entry[28..36], 4_u64.to_be_bytes());
    assert_eq!(entry[36..], [0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
}

#[test]
fn a_read_gives_the_whole_inner_batch_that_holds_its_offset() {
    let dir = tempdir();
    let store = open(dir.path());
    append_inner(&store, 0, &[b"a", b"b", b"c"], NOW_MS);
    append_inner(&store, 0, &[b"d", b"e"], NOW_MS);
    append_plain(&store, 0, b"f");

    let read = |offset, count_max| {
        let mut bytes = Vec::new();
        let read = QueueRead {
            offset,
            count_max,
            ..EVERYTHING
        };
        let outcome = store.read_queue("batches", 0, &read, &mut bytes).unwrap();
        let offsets: Vec<_> = split(&bytes).iter().map(|view| view.queue_offset).collect();
        (outcome.count, outcome.next_offset, offsets)
    };

    assert_eq!(read(0, 1), (3, 3, vec![0]));
    assert_eq!(read(2, 4), (3, 3, vec![0]));
    assert_eq!(read(2, 5), (5, 5, vec![0, 3]));
    assert_eq!(read(4, 32), (3, 6, vec![3, 5]));
    assert_eq!(store.queue_entries("batches", 0, 4, 32).len(), 2);
    assert_eq!(
        store.store_timestamp_at("batches", 0, 4).unwrap(),
        Some(NOW_MS)
    );
}

#[test]
fn a_time_leads_to_the_first_offset_of_an_inner_batch() {
    let dir = tempdir();
    let store = open(dir.path());
    for (count, time) in [(3, 10), (2, 20), (2, 20), (4, 30)] {
        append_inner(&store, 0, &vec![&b"x"[..]; count], NOW_MS + time);
    }

    let found = |time, boundary| {
        let found = store.offset_by_time("batches", 0, NOW_MS + time, boundary);
        found.unwrap()
    };

    let lower = [5, 10, 15, 20, 25, 30, 35].map(|time| found(time, Boundary::Lower));
    assert_eq!(lower, [0, 0, 3, 3, 7, 7, 7]);
    let upper = [5, 10, 15, 20, 25, 30, 35].map(|time| found(time, Boundary::Upper));
    assert_eq!(upper, [0, 0, 0, 5, 5, 7, 7]);
}

#[test]
fn inner_batches_are_refused_where_they_have_no_place() {
    let dir = tempdir();
    let store = open(dir.path());
    append_plain(&store, 0, b"plain");
    append_inner_to(&store, "other", &packed(&[b"x"])).unwrap();
    let end = store.max_position();

    let mut flagged = NewMessage::new("other", 0, b"");
    flagged.sys_flag = 0x80;
    let mut numbered = NewMessage::new("other", 0, b"");
    numbered.properties = b"INNER_NUM\x013\x02";
    let results = [
        append_inner_to(&store, "batches", &packed(&[b"x"])),
        append_inner_to(&store, "other", b""),
        append_inner_to(&store, "other", b"garbage"),
        append_inner_to(&store, "other", &packed(&vec![&b""[..]; 32_768])),
        append_message(&store, &flagged),
        append_message(&store, &numbered),
    ];

    assert!(matches!(results[0], Err(AppendError::NoBatchTopic)));
    for result in results {
        assert_eq!(result.unwrap_err().code(), "illegal_message");
    }
    assert_eq!(store.max_position(), end);
}

fn append_message(store: &Store, message: &NewMessage<'_>) -> Result<Appended, AppendError> {
    store.writer().unwrap().append(message, NOW_MS)
}

fn append_inner_to(store: &Store, topic: &str, packed: &[u8]) -> Result<Appended, AppendError> {
    let message = NewMessage::new(topic, 0, b"");
    let mut writer = store.writer().unwrap();
    writer.append_inner_batch(&message, packed, NOW_MS)
}

/// Inner batches and plain messages in three queues, several segments of them.
fn fill(store: &Store, random: &mut Rng, count: u64) {
    for at in 0..count {
        let queue_id = random.i32(0..3);
        let body = vec![7; random.usize(..400)];
        if random.u8(..4) == 0 && store.queue_offsets("batches", 0).is_some() {
            append_plain(store, queue_id, &body);
        } else {
            let bodies = vec![body.as_slice(); random.usize(1..5)];
            append_inner(store, queue_id, &bodies, NOW_MS + at.cast_signed());
        }
    }
}

fn all(store: &Store) -> Vec<Vec<(u64, usize, Vec<u8>)>> {
    (0..3).map(|queue_id| records(store, queue_id)).collect()
}

#[test]
fn lost_batch_queues_are_rebuilt_from_the_log_byte_for_byte() {
    for is_closed in [true, false] {
        let dir = tempdir();
        let store = open(dir.path());
        fill(&store, &mut Rng::with_seed(1), 150);
        let expected = all(&store);
        if is_closed {
            store.close().unwrap();
            drop(store);
        }
        let files = queue_files(dir.path());
        let copy = crash(dir.path());
        remove_queues(copy.path());

        let rebuilt = open(copy.path());

        assert!(rebuilt.max_position() > 3 * SEGMENT_SIZE);
        assert_eq!(all(&rebuilt), expected);
        assert_eq!(rebuilt.recovery().records_unqueued, 0);
        rebuilt.close().unwrap();
        assert_eq!(queue_files(copy.path()), files);
        assert!(files.len() > 12);
    }
}

#[test]
fn a_topic_whose_queues_are_lost_gets_batch_queues_with_its_first_inner_batch() {
    let dir = tempdir();
    let store = open(dir.path());
    append_plain(&store, 1, b"of its first life");
    store.delete_queues_of("batches").unwrap();
    append_inner(&store, 0, &[b"a", b"b"], NOW_MS);
    append_plain(&store, 1, b"c");
    store.close().unwrap();
    drop(store);
    let files = queue_files(dir.path());
    remove_queues(dir.path());

    let rebuilt = open(dir.path());

    assert_eq!(records(&rebuilt, 0).len(), 1);
    assert_eq!(records(&rebuilt, 1), [(0, 1, b"c".to_vec())]);
    rebuilt.close().unwrap();
    assert_eq!(queue_files(dir.path()), files);
}

#[test]
fn inner_batches_of_an_earlier_life_do_not_change_the_plain_queues_of_a_topic() {
    let dir = tempdir();
    let store = open(dir.path());
    append_inner(&store, 0, &[b"a", b"b"], NOW_MS);
    store.delete_queues_of("batches").unwrap();
    append_plain(&store, 0, b"c");
    let copy = crash(dir.path());

    let recovered = open(copy.path());

    assert_eq!(records(&recovered, 0), [(0, 1, b"c".to_vec())]);
    assert_eq!(recovered.recovery().records_unqueued, 1);
}

#[test]
fn a_topic_with_queues_of_both_kinds_is_an_error_that_names_it() {
    let dir = tempdir();
    let store = open(dir.path());
    append_inner(&store, 0, &[b"a"], NOW_MS);
    store.close().unwrap();
    drop(store);
    fs::create_dir_all(dir.path().join("consumequeue/batches/1")).unwrap();

    let error = Store::open(config(dir.path()), NOW_MS).unwrap_err();

    assert!(matches!(error, StoreError::UnexpectedFile { .. }));
    assert!(error.to_string().contains("batchconsumequeue/batches/0"));
}

#[test]
fn a_truncation_cuts_batch_queues_at_a_record() {
    let dir = tempdir();
    let mut store = open(dir.path());
    fill(&store, &mut Rng::with_seed(2), 60);
    let expected = all(&store);
    let cut = store.max_position();
    fill(&store, &mut Rng::with_seed(3), 90);

    store.truncate_to(cut).unwrap();

    assert_eq!(all(&store), expected);
    assert_eq!(store.recovery().queues_rebuilt, 0);
    let offset = append_inner(&store, 0, &[b"x"], NOW_MS).queue_offset;
    let (last, count, _) = expected[0].last().unwrap();
    assert_eq!(offset, last + *count as u64);
}

#[test]
fn expired_segments_take_the_files_of_batch_queues_with_them() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, &mut Rng::with_seed(4), 150);
    let before = all(&store);
    let retention = Retention {
        is_forced: true,
        segment_count_max: 2,
        ..Retention::default()
    };
    store.flush().unwrap();

    let expired = store.expire(&retention, NOW_MS).unwrap();

    assert_eq!(expired.segment_count, 2);
    assert!(expired.queue_file_count > 3);
    let after = all(&store);
    for (queue_id, (before, after)) in (0..).zip(before.iter().zip(&after)) {
        let min = store.queue_offsets("batches", queue_id).unwrap().0;
        assert!(min > 0);
        assert_eq!(min, after[0].0);
        assert!(before.ends_with(after));
    }
    store.close().unwrap();
    drop(store);
    let reopened = open(dir.path());
    assert_eq!(all(&reopened), after);
    reopened.close().unwrap();
    drop(reopened);
    remove_queues(dir.path());
    assert_eq!(all(&open(dir.path())), after);
}

#[test]
fn whatever_happens_to_its_files_a_store_holds_all_inner_batches() {
    for seed in 0..6 {
        let mut random = Rng::with_seed(seed);
        let mut dir = tempdir();
        let mut store = open(dir.path());
        let mut expected = all(&store);
        for _ in 0..5 {
            fill(&store, &mut random, 30);
            let mut cut = None;
            match random.u8(..5) {
                0 => store.close().unwrap(),
                1 => store.flush_tick(NOW_MS + 3_600_000).unwrap(),
                2 => {
                    cut = Some((store.max_position(), all(&store)));
                    fill(&store, &mut random, 10);
                }
                _ => {}
            }
            if let Some((position, then)) = cut {
                store.truncate_to(position).unwrap();
                assert_eq!(all(&store), then, "seed {seed}");
            }
            let now = all(&store);
            assert!(
                now.iter()
                    .zip(&expected)
                    .all(|(now, old)| now.starts_with(old))
            );
            expected = now;
            let copy = crash(dir.path());
            drop(store);
            harm(copy.path(), &mut random);
            dir = copy;
            store = open(dir.path());
            assert_eq!(all(&store), expected, "seed {seed}");
        }
    }
}

/// Loses queue files, or changes bytes of one after an unclean stop.
fn harm(dir: &Path, random: &mut Rng) {
    let files: Vec<PathBuf> = queue_files(dir).into_keys().collect();
    let Some(file) = random.choice(&files).map(|name| dir.join(name)) else {
        return;
    };
    match random.u8(..4) {
        0 => remove_queues(dir),
        1 => fs::remove_file(file).unwrap(),
        2 => {
            let mut bytes = fs::read(&file).unwrap();
            let from = random.usize(..4) * ENTRY_SIZE;
            bytes[from..].fill(0);
            fs::write(&file, bytes).unwrap();
        }
        _ => {}
    }
    // Queue files of a closed store are trusted but for their ends.
    fs::write(dir.join("abort"), "1").unwrap();
    fs::remove_file(dir.join("checkpoint")).ok();
}
