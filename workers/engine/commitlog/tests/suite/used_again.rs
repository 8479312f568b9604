//! Expired segments that become the next ones, and what they held before (FORMAT.md 5.1).

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::inspect::Survey;
use regent_commitlog::{FlushMode, QueueRead, Retention, Store};
use tempfile::TempDir;

use crate::support::again::*;
use crate::support::*;

const TOPIC: &str = "orders";
/// So that a record takes up the same place whatever the segment: what was there before fits.
const BODY_SIZE: usize = 300;

fn body(number: usize) -> Vec<u8> {
    let mut body = vec![b'x'; BODY_SIZE];
    body[..8].copy_from_slice(&number.to_be_bytes());
    body
}

/// Appends numbered messages until the log reaches a position.
fn fill_to(store: &Store, next: &mut usize, position: u64) {
    while store.max_position() < position {
        append(store, TOPIC, 0, &body(*next));
        *next += 1;
    }
    store.flush().unwrap();
}

fn forced() -> Retention {
    Retention {
        is_forced: true,
        ..too_much()
    }
}

fn spares(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir.join("commitlog/spare"))
        .into_iter()
        .flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.filter(|name| name != "seal").collect();
    names.sort();
    names
}

/// A store that goes on in a segment that was one before, and the number of its next message.
fn used_again() -> (TempDir, Store, usize) {
    let dir = tempdir();
    let store = open_again(dir.path());
    let mut next = 0;
    fill_to(&store, &mut next, 2 * SEGMENT_SIZE + 100);
    let old = inode(&segment_path(dir.path(), 0));
    store.expire(&too_much(), NOW_MS).unwrap();
    let mut base = 2 * SEGMENT_SIZE;
    while inode(&segment_path(dir.path(), base)) != old {
        base += SEGMENT_SIZE;
        fill_to(&store, &mut next, base + 1_000);
    }
    (dir, store, next)
}

/// Every message from the oldest that is left on, and no other.
fn assert_whole(store: &Store, next: usize) {
    let (min, max) = store.queue_offsets(TOPIC, 0).unwrap();
    assert_eq!(max, next as u64);
    let read = read_all(store, TOPIC, 0);
    assert_eq!(read.len() as u64, max - min);
    for (offset, found) in read {
        assert_eq!(found, body(usize::try_from(offset).unwrap()), "{offset}");
    }
}

fn tail_path(dir: &Path, store: &Store) -> (PathBuf, u64) {
    let base = store.last_segment_start();
    (segment_path(dir, base), store.max_position() - base)
}

#[test]
fn an_expired_segment_becomes_the_next_one_with_all_messages_whole() {
    let (dir, store, mut next) = used_again();

    let end = store.max_position() + 5 * SEGMENT_SIZE;
    while store.max_position() < end {
        let further = store.max_position() + SEGMENT_SIZE;
        fill_to(&store, &mut next, further);
        assert_whole(&store, next);
        store.expire(&too_much(), NOW_MS).unwrap();
        assert_whole(&store, next);
    }

    assert!(spares(dir.path()).len() <= 2);
}

#[test]
fn units_longer_than_what_is_cleared_ahead_wait_for_the_clearing() {
    let (_dir, store, mut next) = used_again();
    let packed: Vec<u8> = (0..20).flat_map(|_| element(&[b'y'; 500], b"")).collect();
    let shared = regent_commitlog::NewMessage::new("batches", 0, b"");

    for _ in 0..6 {
        let mut appended = Vec::new();
        let mut writer = store.writer().unwrap();
        writer
            .append_batch(&shared, &packed, NOW_MS, &mut appended)
            .unwrap();
        drop(writer);
        let further = store.max_position() + 1;
        fill_to(&store, &mut next, further);
        store.expire(&too_much(), NOW_MS).unwrap();
    }

    assert_whole(&store, next);
    for (_, found) in read_all(&store, "batches", 0) {
        assert_eq!(found, [b'y'; 500]);
    }
}

#[test]
fn what_somebody_reads_is_not_written_again() {
    let dir = tempdir();
    let store = open_again(dir.path());
    let mut next = 0;
    fill_to(&store, &mut next, 2 * SEGMENT_SIZE + 100);
    let read = QueueRead {
        offset: 0,
        count_max: 8,
        bytes_max: 1 << 20,
        filter: None,
    };
    let (_, slices) = store.read_slices(TOPIC, 0, &read).unwrap();
    let before: Vec<u8> = slices.iter().flatten().copied().collect();

    store.expire(&too_much(), NOW_MS).unwrap();
    let kept = spares(dir.path()).len();
    fill_to(&store, &mut next, 6 * SEGMENT_SIZE);

    assert_eq!(kept, 1, "the second segment alone");
    let after: Vec<u8> = slices.iter().flatten().copied().collect();
    assert!(before == after, "a reader saw bytes change");
}

#[test]
fn a_full_disk_takes_the_spares_first_and_leaves_none() {
    let dir = tempdir();
    let store = open_again(dir.path());
    let mut next = 0;
    fill_to(&store, &mut next, 3 * SEGMENT_SIZE + 100);
    store
        .expire(
            &Retention {
                segment_count_max: 2,
                ..too_much()
            },
            NOW_MS,
        )
        .unwrap();
    assert_eq!(spares(dir.path()).len(), 2);

    let retention = Retention {
        segment_count_max: 2,
        ..forced()
    };
    let store_min = store.min_position();
    let first = store.expire(&retention, NOW_MS).unwrap();
    let min = store.min_position();
    let second = store.expire(&retention, NOW_MS).unwrap();

    assert_eq!(
        (first.segment_count, first.byte_count),
        (2, 2 * SEGMENT_SIZE)
    );
    assert_eq!(min, store_min, "the log lost nothing for the first two");
    assert_eq!(second.segment_count, 1);
    assert!(store.min_position() > min);
    assert!(spares(dir.path()).is_empty());
}

#[test]
fn no_more_are_kept_than_asked_for_and_none_where_it_is_off() {
    for (count_max, flush_mode, expected) in [
        (2, FlushMode::Sync, 2),
        (0, FlushMode::Sync, 0),
        (2, FlushMode::Async, 0),
    ] {
        let dir = tempdir();
        let mut config = again(dir.path());
        config.spare_segment_count_max = count_max;
        config.flush_mode = flush_mode;
        let store = Store::open(config, NOW_MS).unwrap();
        fill_to(&store, &mut 0, 5 * SEGMENT_SIZE + 100);

        store.expire(&too_much(), NOW_MS).unwrap();

        assert_eq!(
            spares(dir.path()).len(),
            expected,
            "{count_max} {flush_mode:?}"
        );
    }
}

#[test]
fn segments_expire_though_they_cannot_be_kept() {
    let dir = tempdir();
    let store = open_again(dir.path());
    let mut next = 0;
    fill_to(&store, &mut next, 3 * SEGMENT_SIZE + 100);
    fs::remove_dir_all(dir.path().join("commitlog/spare")).unwrap();

    let expired = store.expire(&too_much(), NOW_MS).unwrap();

    assert_eq!(expired.segment_count, 3);
    assert!(!segment_path(dir.path(), 0).exists());
    assert_whole(&store, next);
}

#[test]
fn a_store_that_is_to_use_none_again_removes_what_it_kept() {
    let (dir, store, next) = used_again();
    store.close().unwrap();
    drop(store);
    assert!(dir.path().join("commitlog/spare").exists());

    let store = open(dir.path());

    assert!(!dir.path().join("commitlog/spare").exists());
    assert_whole(&store, next);
}

#[test]
fn a_closed_store_ends_in_zeros_as_if_nothing_had_been_there_before() {
    let (dir, store, next) = used_again();
    let (path, at) = tail_path(dir.path(), &store);
    let before = fs::read(&path).unwrap();
    let at = usize::try_from(at).unwrap();
    assert!(
        before[at..].iter().any(|byte| *byte != 0),
        "nothing was there before"
    );

    store.close().unwrap();

    let after = fs::read(&path).unwrap();
    assert_eq!(after.len() as u64, SEGMENT_SIZE);
    assert!(after[at..].iter().all(|byte| *byte == 0));
    drop(store);
    assert_whole(&open_again(dir.path()), next);
}

#[test]
fn what_was_prepared_in_vain_is_a_spare_again() {
    let (dir, store, mut next) = used_again();
    let base = store.last_segment_start();
    fill_to(&store, &mut next, base + SEGMENT_SIZE / 2 + 2_000);

    store.close().unwrap();

    let log = fs::read_dir(dir.path().join("commitlog")).unwrap();
    let files = log.filter(|entry| entry.as_ref().unwrap().path().is_file());
    assert_eq!(files.count(), 2, "the segment before, and this one");
    assert_eq!(spares(dir.path()).len(), 1);
}

#[test]
fn a_survey_takes_what_a_segment_was_before_for_nothing() {
    let (dir, store, _) = used_again();
    store.flush_tick(NOW_MS).unwrap();
    let mut survey = Survey::comparing(&again(dir.path()), true).unwrap();

    while survey.advance(u64::MAX).unwrap() {}

    assert_eq!(survey.end_position(), store.max_position());
    assert!(survey.findings().is_empty(), "{:?}", survey.findings());
}

#[test]
fn a_crash_of_the_process_keeps_even_what_was_not_flushed() {
    let (dir, store, mut next) = used_again();
    append(&store, TOPIC, 0, &body(next));
    next += 1;

    let copy = crashed(dir.path(), false);
    let opened = open_again(copy.path());

    assert_eq!(opened.recovery().damage, None);
    assert_eq!(opened.max_position(), store.max_position());
    assert_whole(&opened, next);
}

#[test]
fn a_crash_of_the_system_ends_the_log_where_it_was_flushed_last() {
    let (dir, store, next) = used_again();
    let flushed = store.flushed_position();
    append(&store, TOPIC, 0, &body(next));

    let copy = crashed(dir.path(), true);
    let opened = open_again(copy.path());

    assert_eq!(opened.recovery().damage, None);
    assert_eq!(opened.max_position(), flushed);
    assert_whole(&opened, next);
    assert_eq!(append(&opened, TOPIC, 0, b"on").log_position, flushed);
}

#[test]
fn a_flush_that_did_not_reach_the_disk_whole_is_none() {
    let (dir, store, next) = used_again();
    let flushed = store.flushed_position();
    append(&store, TOPIC, 0, &body(next));
    store.flush().unwrap();

    let copy = crashed(dir.path(), true);
    let (path, at) = tail_path(copy.path(), &store);
    // The last bytes of its properties, as they were before.
    overwrite(&path, at - 3, b"old");
    let opened = open_again(copy.path());

    assert_eq!(opened.recovery().damage, None);
    assert_eq!(opened.max_position(), flushed);
    assert_whole(&opened, next);
}

#[test]
fn damage_before_the_last_flush_is_reported_and_no_end() {
    let (dir, store, next) = used_again();
    let (_, at) = tail_path(dir.path(), &store);
    append(&store, TOPIC, 0, &body(next));
    store.flush().unwrap();

    let copy = crashed(dir.path(), true);
    let (path, _) = tail_path(copy.path(), &store);
    overwrite(&path, at - 200, b"wrong");
    let opened = open_again(copy.path());

    let damage = opened.recovery().damage.unwrap();
    assert_eq!(
        damage.next_valid_position,
        Some(store.last_segment_start() + at)
    );
}

#[test]
fn what_stock_wrote_after_our_crash_is_kept() {
    let (dir, store, mut next) = used_again();
    append(&store, TOPIC, 0, &body(next));
    next += 1;

    let copy = crashed(dir.path(), true);
    // Stock's mark names a process and nothing else.
    fs::write(copy.path().join("abort"), "4711").unwrap();
    let opened = open_again(copy.path());

    assert_eq!(opened.recovery().damage, None);
    assert_whole(&opened, next);
}

#[test]
fn a_record_that_a_kill_tore_is_told_without_what_its_segment_was_before() {
    let (dir, store, _) = used_again();
    let image = crashed(dir.path(), false);
    let (path, end) = tail_path(image.path(), &store);
    overwrite(&path, end, &[1; 5]);
    let mut survey = Survey::comparing(&again(image.path()), false).unwrap();

    while survey.advance(u64::MAX).unwrap() {}

    let mut texts = survey.findings().iter().map(|found| &*found.text);
    assert_eq!(texts.next_back(), Some("5 bytes behind the last record"));
}
