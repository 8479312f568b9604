//! Logs that are damaged in the middle: readable where they are intact, and never written (D13).

use std::fs;
use std::path::Path;

use regent_commitlog::{LogDamage, NewMessage, RecordDamage, Store, StoreError};

use crate::support::*;

/// Overwrites one byte of the record at a log position.
fn damage(dir: &Path, position: u64, at: u64) {
    let base = position - position % SEGMENT_SIZE;
    let path = segment_path(dir, base);
    let local = position - base + at;
    let old = fs::read(&path).unwrap()[usize::try_from(local).unwrap()];
    overwrite(&path, local, &[old ^ 0x55]);
}

fn try_append(store: &Store) -> Result<(), StoreError> {
    let message = NewMessage::new("a", 0, b"x");
    store.writer()?.append(&message, NOW_MS).unwrap();
    Ok(())
}

/// What one read from an offset of queue a/0 gives, message by message.
fn try_read_one(store: &Store, offset: u64) -> Result<Vec<Vec<u8>>, StoreError> {
    let (_, records) = try_read(store, ("a", 0), offset.cast_signed(), 1)?;
    Ok(split(&records)
        .iter()
        .map(|view| view.body.to_vec())
        .collect())
}

/// Every message of queue a/0 is served but those of `lost`, which are reported.
fn assert_serves(store: &Store, count: u64, lost: &[u64]) {
    for number in (0..count).step_by(3) {
        let read = try_read_one(store, number / 3);
        if lost.contains(&number) {
            assert_eq!(read.unwrap_err().code(), "corrupt", "message {number}");
        } else {
            assert_eq!(read.unwrap(), [numbered(number).2], "message {number}");
        }
    }
}

#[test]
fn a_log_damaged_in_the_middle_opens_for_reading_what_is_intact_and_refuses_the_rest() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 60);
    let kinds = [
        (0, 4, RecordDamage::Magic),
        (6, 90, RecordDamage::BodyCrc),
        (21, 34, RecordDamage::Position),
        (57, 3, RecordDamage::Length),
    ];
    for (number, at, kind) in kinds {
        let crashed = crash(dir.path());
        damage(crashed.path(), positions[number], at);
        let before = contents(crashed.path());

        let opened = open(crashed.path());

        let expected = LogDamage {
            position: positions[number],
            kind,
            next_valid_position: Some(positions[number + 1]),
        };
        assert_eq!(opened.recovery().damage, Some(expected));
        assert_eq!(opened.max_position(), positions[60]);
        assert_serves(&opened, 60, &[number as u64]);
        assert_eq!(read_all(&opened, "b", 0).len(), 20);
        let refused = try_append(&opened).unwrap_err();
        assert_eq!(refused.code(), "read_only");
        let text = refused.to_string();
        let base = positions[number] - positions[number] % SEGMENT_SIZE;
        for part in [
            format!("{base:020}"),
            format!("log position {}", positions[number]),
            format!("cut_damage_at={}", positions[number]),
            format!("go on at {}", positions[number + 1]),
        ] {
            assert!(text.contains(&part), "{text}");
        }
        opened.close().unwrap();
        assert_eq!(contents(crashed.path()), before);
    }
}

#[test]
fn nothing_that_changes_the_store_is_done_to_a_damaged_one() {
    for is_clean in [false, true] {
        let dir = tempdir();
        let store = open(dir.path());
        let positions = fill(&store, 60);
        store.begin_epoch(1).unwrap();
        if is_clean {
            store.close().unwrap();
        }
        drop(store);
        // A clean stop has the newest segment validated only.
        damage(dir.path(), positions[50], 4);
        let before = contents(dir.path());
        let checkpoint = fs::read(dir.path().join("checkpoint")).unwrap();

        let opened = open(dir.path());

        assert_eq!(
            opened.delete_queues_of("a").unwrap_err().code(),
            "read_only"
        );
        assert_eq!(opened.begin_epoch(2).unwrap_err().code(), "read_only");
        assert_eq!(opened.flush().unwrap(), positions[60]);
        opened.flush_tick(NOW_MS + 60_000).unwrap();
        opened.close().unwrap();
        opened.close().unwrap();
        drop(opened);
        assert_eq!(contents(dir.path()), before);
        assert_eq!(fs::read(dir.path().join("checkpoint")).unwrap(), checkpoint);
        assert_eq!(dir.path().join("abort").exists(), !is_clean);
        // It is found again, not half repaired.
        let damage = open(dir.path()).recovery().damage.unwrap();
        assert_eq!(damage.position, positions[50]);
    }
}

#[test]
fn a_log_with_several_damages_reports_the_first_and_serves_none() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 150);
    for number in [30, 33, 90] {
        damage(dir.path(), positions[number], 95);
    }
    drop(store);

    let opened = open(dir.path());

    let damage = opened.recovery().damage.unwrap();
    assert_eq!(damage.position, positions[30]);
    assert_eq!(damage.next_valid_position, Some(positions[31]));
    assert_serves(&opened, 150, &[30, 33, 90]);
}

#[test]
fn a_damaged_first_record_is_no_end_although_stock_left_no_flushed_position() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 60);
    store.close().unwrap();
    drop(store);
    overwrite(&dir.path().join("checkpoint"), 24, &[0; 16]);
    damage(dir.path(), 0, 4);
    // Without its queues the log is read from the start, also after a clean stop.
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();

    let opened = open(dir.path());

    assert_eq!(opened.recovery().damage.unwrap().position, 0);
    assert_eq!(opened.max_position(), positions[60]);
}

#[test]
fn queues_that_are_gone_are_rebuilt_around_the_damage_wherever_it_lies() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 60);
    drop(store);
    fs::remove_dir_all(dir.path().join("consumequeue/a")).unwrap();
    for lost in (0..60).step_by(3) {
        let image = crash(dir.path());
        damage(image.path(), positions[lost], 4);

        let opened = open(image.path());

        let (offsets, missing) = match lost {
            0 => ((1, 20), 0),
            57 => ((0, 19), 0),
            _ => ((0, 20), 1),
        };
        assert_eq!(opened.recovery().offsets_missing, missing, "{lost}");
        assert_eq!(opened.queue_offsets("a", 0), Some(offsets), "{lost}");
        let lost = lost as u64;
        for number in (0..60).step_by(3).filter(|number| *number != lost) {
            let found = try_read_one(&opened, number / 3).unwrap();
            assert_eq!(found, [numbered(number).2], "{number} without {lost}");
        }
        // Reads that meet the gap go on right behind it.
        let (mut offset, mut count) = (offsets.0, 0);
        while offset < offsets.1 {
            let (outcome, records) = read(&opened, "a", 0, offset.cast_signed());
            assert!(outcome.next_offset > offset);
            count += split(&records).len() as u64;
            offset = outcome.next_offset;
        }
        assert_eq!(count, offsets.1 - offsets.0 - missing, "without {lost}");
    }
}

#[test]
fn a_store_whose_damaged_file_is_put_back_is_as_before() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 60);
    drop(store);
    let intact = fs::read(segment_path(dir.path(), 0)).unwrap();
    damage(dir.path(), positions[20], 4);
    fs::remove_dir_all(dir.path().join("consumequeue/a")).unwrap();
    drop(open(dir.path()));
    fs::write(segment_path(dir.path(), 0), intact).unwrap();

    let opened = open(dir.path());

    assert_eq!(opened.recovery().damage, None);
    assert_holds(&opened, 60);
}

#[test]
fn an_operator_can_have_a_damaged_log_cut() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 100);
    drop(store);
    damage(dir.path(), positions[10], 4);
    let mut elsewhere = config(dir.path());
    elsewhere.cut_damage_at = Some(positions[9]);
    let opened = Store::open(elsewhere, NOW_MS).unwrap();
    assert_eq!(opened.recovery().damage.unwrap().position, positions[10]);
    drop(opened);

    let mut there = config(dir.path());
    there.cut_damage_at = Some(positions[10]);
    let recovered = Store::open(there, NOW_MS).unwrap();

    assert_eq!(recovered.recovery().damage, None);
    assert_eq!(recovered.max_position(), positions[10]);
    assert!(recovered.recovery().entries_dropped >= 80);
    assert_holds(&recovered, 10);
    drop(recovered);
    assert_holds(&open(dir.path()), 11);
}

#[test]
fn what_is_appended_after_a_cut_is_kept_although_more_had_been_flushed_before() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 60);
    store.flush_tick(NOW_MS).unwrap();
    drop(store);
    damage(dir.path(), positions[10], 4);
    let mut there = config(dir.path());
    there.cut_damage_at = Some(positions[10]);
    let cut = Store::open(there, NOW_MS).unwrap();
    append(&cut, "after", 0, b"x");
    let end = cut.flush().unwrap();
    drop(cut);

    let recovered = open(dir.path());

    assert_eq!(recovered.recovery().damage, None);
    assert_eq!(recovered.max_position(), end);
    assert_eq!(read_all(&recovered, "after", 0).len(), 1);
}

#[test]
fn consent_to_a_second_damage_does_not_cut_at_the_first_nor_hide_what_lies_behind() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 60);
    drop(store);
    damage(dir.path(), positions[12], 4);
    damage(dir.path(), positions[30], 4);
    let mut second = config(dir.path());
    second.cut_damage_at = Some(positions[30]);

    let opened = Store::open(second, NOW_MS).unwrap();

    assert_eq!(opened.recovery().damage.unwrap().position, positions[12]);
    assert_eq!(opened.max_position(), positions[60]);
    assert_serves(&opened, 60, &[12, 30]);
}

#[test]
fn a_truncation_to_before_the_damage_makes_the_store_writable_again() {
    // The mark also says that a flush failed: the store that is truncated has its files mapped.
    for mark in ["1", "1\nunflushed\n"] {
        let dir = tempdir();
        let store = open(dir.path());
        let positions = fill(&store, 60);
        drop(store);
        damage(dir.path(), positions[20], 4);
        fs::write(dir.path().join("abort"), mark).unwrap();
        let mut opened = open(dir.path());
        let behind = opened.truncate_to(positions[21]).unwrap_err();
        assert_eq!(behind.code(), "no_boundary");

        opened.truncate_to(positions[20]).unwrap();

        assert_eq!(opened.recovery().damage, None);
        assert_holds(&opened, 20);
    }
}

#[test]
fn a_truncation_to_where_flushed_records_are_lost_makes_the_store_writable_again() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 6);
    store.flush_tick(NOW_MS).unwrap();
    drop(store);
    let lost = usize::try_from(positions[6] - positions[4]).unwrap();
    overwrite(&segment_path(dir.path(), 0), positions[4], &vec![0; lost]);
    let mut opened = open(dir.path());
    assert_eq!(opened.max_position(), positions[4]);

    opened.truncate_to(positions[4]).unwrap();

    assert_eq!(opened.recovery().damage, None);
    append(&opened, "after", 0, b"x");
    drop(opened);
    let reopened = open(dir.path());
    assert_eq!(reopened.recovery().damage, None);
    assert_eq!(read_all(&reopened, "after", 0).len(), 1);
}

#[test]
fn a_log_that_lost_flushed_records_is_read_only() {
    for is_clean in [false, true] {
        let dir = tempdir();
        let store = open(dir.path());
        let positions = fill(&store, 6);
        if is_clean {
            store.close().unwrap();
        } else {
            store.flush_tick(NOW_MS).unwrap();
        }
        drop(store);
        let lost = usize::try_from(positions[6] - positions[4]).unwrap();
        overwrite(&segment_path(dir.path(), 0), positions[4], &vec![0; lost]);

        let opened = open(dir.path());

        let damage = opened.recovery().damage.unwrap();
        assert_eq!(
            (damage.position, damage.next_valid_position),
            (positions[4], None)
        );
        let refused = try_append(&opened).unwrap_err().to_string();
        assert!(refused.contains("the log was flushed further"), "{refused}");
        assert_serves(&opened, 4, &[]);
        drop(opened);
        let mut there = config(dir.path());
        there.cut_damage_at = Some(positions[4]);
        assert_holds(&Store::open(there, NOW_MS).unwrap(), 4);
    }
}
