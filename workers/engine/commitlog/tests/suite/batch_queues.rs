//! Batch queues: recovered, rebuilt, cut and expired.

use std::fs;
use std::path::{Path, PathBuf};

use fastrand::Rng;
use regent_commitlog::{QueueRead, ReadStatus, Retention, Store, StoreError, find_property};

use crate::support::batches::{ENTRY_SIZE, EVERYTHING, append_inner, append_plain, queue_files};
use crate::support::{NOW_MS, SEGMENT_SIZE, config, crash, open, split, tempdir};

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

fn remove_queues(dir: &Path) {
    for name in ["consumequeue", "batchconsumequeue"] {
        fs::remove_dir_all(dir.join(name)).ok();
    }
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
