//! Truncations that a crash or an error interrupts: the journal has the last word (D10).

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::{Retention, StoreError};
use tempfile::TempDir;

use crate::second;
use crate::support::*;

/// Enough messages for several segments and several files of each queue.
const COUNT: u64 = 150;

fn write_journal(dir: &Path, position: u64, timestamp_ms: i64) {
    fs::write(dir.join("truncation"), journal(position, timestamp_ms)).unwrap();
}

/// Files in any order, but of one directory always the later ones first, as they are cut.
fn in_some_order<'n>(
    random: &mut fastrand::Rng,
    names: impl Iterator<Item = &'n PathBuf>,
) -> Vec<&'n PathBuf> {
    let mut by_dir: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for name in names {
        by_dir.entry(name.parent()).or_default().push(name);
    }
    let dirs = by_dir.iter();
    let mut turns: Vec<_> = dirs
        .flat_map(|(dir, files)| vec![*dir; files.len()])
        .collect();
    random.shuffle(&mut turns);
    let next = |dir| by_dir.get_mut(&dir).unwrap().pop().unwrap();
    turns.into_iter().map(next).collect()
}

fn assert_same(found: &BTreeMap<PathBuf, Vec<u8>>, expected: &BTreeMap<PathBuf, Vec<u8>>) {
    assert_eq!(
        Vec::from_iter(found.keys()),
        Vec::from_iter(expected.keys())
    );
    for (name, content) in found {
        assert!(content == &expected[name], "{} differs", name.display());
    }
}

#[test]
fn a_cut_that_was_interrupted_anywhere_ends_like_one_that_was_not() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut positions = Vec::new();
    for number in 0..COUNT {
        if number % 20 == 0 {
            store.begin_epoch(i32::try_from(number).unwrap()).unwrap();
        }
        let (topic, queue_id, body) = numbered(number);
        positions.push(append_at(&store, topic, queue_id, &body, NOW_MS).log_position);
    }
    store.flush_tick(NOW_MS + 10_000).unwrap();
    let mut random = fastrand::Rng::with_seed(3);
    for at in interesting(&positions) {
        let uncut = crash(dir.path());
        let reference = crash(dir.path());
        let mut done = open(reference.path());
        done.truncate_to(positions[at]).unwrap();
        // At 0 no segment is left, but for one that is made ahead.
        let end = positions[at];
        let after_cut = |dir: &Path| contents_before(dir, end.next_multiple_of(SEGMENT_SIZE));
        let (before, after) = (contents(uncut.path()), after_cut(reference.path()));
        let timestamp_ms = if at == 0 { 0 } else { NOW_MS };
        for step in 0..8 {
            // A part of the files as after the cut; at first none, at last all.
            let names = in_some_order(&mut random, before.keys());
            let done_count = names.len() * step / 7;
            let image = crash(uncut.path());
            write_journal(image.path(), positions[at], timestamp_ms);
            for name in &names[..done_count] {
                match after.get(*name) {
                    Some(content) => fs::write(image.path().join(name), content).unwrap(),
                    None => fs::remove_file(image.path().join(name)).unwrap(),
                }
            }
            if step % 2 == 0 {
                fs::copy(
                    reference.path().join("checkpoint"),
                    image.path().join("checkpoint"),
                )
                .unwrap();
            }

            let finished = open(image.path());

            assert_eq!(finished.recovery().truncated_to, Some(positions[at]));
            assert!(!image.path().join("truncation").exists());
            assert_same(&after_cut(image.path()), &after);
            assert_eq!(finished.epochs(), done.epochs());
            assert_holds(&finished, at as u64);
        }
    }
}

#[test]
fn half_cleared_segments_are_cleared_whole_when_the_cut_is_made_again() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, COUNT);
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..30 {
        let at = random.usize(1..positions.len() - 1);
        let base = positions[at] - positions[at] % SEGMENT_SIZE;
        let image = crash(dir.path());
        write_journal(image.path(), positions[at], NOW_MS);
        for _ in 0..random.usize(..6) {
            let from = random.u64(positions[at] - base..SEGMENT_SIZE);
            let size = random.u64(..=SEGMENT_SIZE - from);
            let zeros = vec![0; usize::try_from(size).unwrap()];
            overwrite(&segment_path(image.path(), base), from, &zeros);
        }

        let finished = open(image.path());

        let log = fs::read(segment_path(image.path(), base)).unwrap();
        let end = usize::try_from(positions[at] - base).unwrap();
        assert!(log[end..].iter().all(|byte| *byte == 0));
        assert_holds(&finished, at as u64);
    }
}

#[test]
fn a_damaged_journal_is_an_error_that_says_what_to_do() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 9);
    drop(store);
    let good = journal(100, NOW_MS);
    let damaged = [
        "",
        "x",
        "2\n0\n5\n",
        "2\n0\n-5\n0\n",
        &good.replace("\n100", "\n101"),
        &good[1..],
    ];
    for content in damaged {
        fs::write(dir.path().join("truncation"), content).unwrap();
        let before = contents(dir.path());

        let refused = try_open(dir.path()).unwrap_err();

        assert_eq!(refused.code(), "damaged_file", "{content:?}");
        assert!(
            refused
                .to_string()
                .contains("copy the whole store again from its master")
        );
        assert_eq!(contents(dir.path()), before);
    }
}

#[test]
fn a_journal_that_cannot_be_written_cuts_nothing_and_the_store_goes_on() {
    let dir = tempdir();
    let mut store = open(dir.path());
    let positions = fill(&store, 9);
    fs::create_dir(dir.path().join("truncation.new")).unwrap();

    let refused = store.truncate_to(positions[4]).unwrap_err();

    assert_eq!(refused.code(), "io");
    assert_holds(&store, 9);
    append(&store, "t", 0, b"x");
    fs::remove_dir(dir.path().join("truncation.new")).unwrap();
    store.truncate_to(positions[4]).unwrap();
    drop(store);
    assert_eq!(open(dir.path()).max_position(), positions[4]);
}

#[test]
fn a_cut_that_fails_half_way_is_finished_when_the_store_is_opened_again() {
    let dir = tempdir();
    let mut store = open(dir.path());
    let positions = fill(&store, COUNT);
    store.begin_epoch(1).unwrap();
    // What stands in the way of removing the epoch file.
    let epochs = dir.path().join("epochFileCheckpoint");
    fs::remove_file(&epochs).unwrap();
    fs::create_dir(&epochs).unwrap();

    let failed = store.truncate_to(positions[10]).unwrap_err();

    assert_eq!(failed.code(), "io", "{failed}");
    assert!(dir.path().join("truncation").exists());
    assert!(matches!(store.flush(), Err(StoreError::Poisoned { .. })));
    drop(store);
    fs::remove_dir(&epochs).unwrap();
    assert_holds(&open(dir.path()), 10);
    assert!(!dir.path().join("truncation").exists());
}

#[test]
fn a_queue_whose_end_does_not_follow_from_the_log_is_rebuilt() {
    let dir = tempdir();
    let store = open(dir.path());
    for body in [b"one", b"two"] {
        append_at(&store, "old", 0, body, NOW_MS);
    }
    for number in 0..60_i64 {
        append_at(&store, "t", 0, &[1; 1000], NOW_MS + number * 1_000);
    }
    let end = store.queue_entries("t", 0, 50, 1)[0].log_position;
    store.flush_tick(NOW_MS + 100_000).unwrap();
    let image = crash(dir.path());
    // The second entry of the queue now points to the first one's record.
    let file = image.path().join("consumequeue/old/0/00000000000000000000");
    let first = fs::read(&file).unwrap()[..20].to_vec();
    overwrite(&file, 20, &first);
    write_journal(image.path(), end, NOW_MS + 49_000);

    let recovered = open(image.path());

    assert_eq!(recovered.recovery().queues_rebuilt, 1);
    let bodies: Vec<_> = read_all(&recovered, "old", 0)
        .into_iter()
        .map(|found| found.1)
        .collect();
    assert_eq!(bodies, [b"one", b"two"]);
    assert_eq!(append(&recovered, "t", 0, b"next").queue_offset, 50);
}

/// A store whose log was cut where it begins, behind an expired segment; it is closed. With it that position.
fn cut_where_it_begins() -> (TempDir, u64) {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, COUNT);
    store.flush_tick(NOW_MS).unwrap();
    let behind = Retention {
        log_bytes_max: Some(2 * SEGMENT_SIZE),
        segment_count_max: usize::MAX,
        ..Retention::default()
    };
    store.expire(&behind, NOW_MS).unwrap();
    let begin = store.min_position();
    assert!(begin > 0);
    let image = crash(dir.path());
    write_journal(image.path(), begin, 0);
    let cut = second::open(image.path());
    assert_eq!(cut.recovery().truncated_to, Some(begin));
    assert_eq!((cut.min_position(), cut.max_position()), (begin, begin));
    cut.close().unwrap();
    (image, begin)
}

#[test]
fn a_log_that_is_cut_where_it_begins_keeps_its_position() {
    let (dir, begin) = cut_where_it_begins();

    for _ in 0..2 {
        let again = second::open(dir.path());
        assert_eq!(again.recovery().damage, None);
        assert_eq!((again.min_position(), again.max_position()), (begin, begin));
        again.close().unwrap();
    }
    let killed = second::open(dir.path());
    let image = crash(dir.path());
    assert_eq!(second::open(image.path()).max_position(), begin);
    assert_eq!(append(&killed, "t", 0, b"x").log_position, begin);
}

#[test]
fn a_log_whose_only_segment_is_missing_is_damaged_and_does_not_begin_at_0_again() {
    let (dir, begin) = cut_where_it_begins();
    fs::remove_file(segment_path(dir.path(), begin)).unwrap();
    let before = contents(dir.path());

    for _ in 0..2 {
        let store = second::open(dir.path());

        let damage = store.recovery().damage.unwrap();
        assert_eq!((damage.position, damage.next_valid_position), (0, None));
        assert!(matches!(
            store.writer().err(),
            Some(StoreError::ReadOnly { .. })
        ));
        store.close().unwrap();
    }
    assert_eq!(contents(dir.path()), before);
}
