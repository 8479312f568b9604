//! Logs that were not closed, or were damaged: what is repaired and what is reported.

use std::fs;

use regent_commitlog::{NewMessage, Store, StoreError};

use crate::support::*;

#[test]
fn everything_is_there_after_a_clean_stop() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 150);
    store.close().unwrap();
    drop(store);

    let store = open(dir.path());

    assert!(store.recovery().was_clean);
    assert_eq!(
        store.recovery().entries_added + store.recovery().entries_dropped,
        0
    );
    assert_eq!(store.flushed_position(), store.max_position());
    assert_holds(&store, 150);
}

#[test]
fn everything_is_there_after_a_crash_at_any_moment() {
    let dir = tempdir();
    let store = open(dir.path());
    for count in 0..120 {
        let (topic, queue_id, body) = numbered(count);
        append(&store, topic, queue_id, &body);
        if count % 7 == 0 {
            let crashed = crash(dir.path());
            let recovered = open(crashed.path());
            assert!(!recovered.recovery().was_clean);
            assert_holds(&recovered, count + 1);
        }
    }
}

#[test]
fn a_torn_tail_is_cut_at_every_byte_of_the_last_records() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 9);
    let end = *positions.last().unwrap();
    let torn_from = positions[6];

    for cut in (torn_from..end).rev().step_by(3) {
        let crashed = crash(dir.path());
        let rest = usize::try_from(end - cut).unwrap();
        overwrite(&segment_path(crashed.path(), 0), cut, &vec![0; rest]);
        // The last two bytes of these records are zeros: losing them loses nothing.
        let whole = positions
            .iter()
            .filter(|position| **position <= cut + 2)
            .count() as u64
            - 1;

        let recovered = open(crashed.path());

        assert_eq!(
            recovered.max_position(),
            positions[usize::try_from(whole).unwrap()]
        );
        assert_holds(&recovered, whole);
    }
}

#[test]
fn a_tail_torn_by_garbage_is_cut_and_the_garbage_cleared() {
    let mut random = fastrand::Rng::with_seed(7);
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 9);
    for _ in 0..40 {
        let crashed = crash(dir.path());
        let cut = random.u64(positions[7]..positions[9]);
        let garbage: Vec<u8> = std::iter::repeat_with(|| random.u8(1..))
            .take(900)
            .collect();
        overwrite(&segment_path(crashed.path(), 0), cut, &garbage);
        let whole = if cut < positions[8] { 7 } else { 8 };

        let recovered = open(crashed.path());

        assert!(recovered.recovery().cleared_bytes > 0);
        assert_eq!(recovered.max_position(), positions[whole]);
        let log = fs::read(segment_path(crashed.path(), 0)).unwrap();
        let end = usize::try_from(positions[whole]).unwrap();
        assert!(log[end..].iter().all(|byte| *byte == 0));
        assert_holds(&recovered, whole as u64);
    }
}

#[test]
fn records_of_another_place_behind_the_end_are_not_taken_for_the_log() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 6);
    drop(store);
    // What a recycled file may hold: whole records that were written for other positions.
    let path = segment_path(dir.path(), 0);
    let log = fs::read(&path).unwrap();
    let stale = &log[..usize::try_from(positions[4]).unwrap()];
    overwrite(&path, positions[6], stale);

    let recovered = open(dir.path());

    assert_eq!(recovered.max_position(), positions[6]);
    assert_holds(&recovered, 6);
    drop(recovered);
    assert_holds(&open(dir.path()), 7);
}

#[test]
fn cut_records_do_not_come_back_after_a_second_crash() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, 8);
    drop(store);
    let mut config = config(dir.path());
    config.cut_damage_at = Some(positions[3]);
    overwrite(&segment_path(dir.path(), 0), positions[3] + 4, &[0; 4]);
    drop(Store::open(config, NOW_MS).unwrap());

    let recovered = open(dir.path());

    assert_eq!(recovered.max_position(), positions[3]);
    assert_holds(&recovered, 3);
}

#[test]
fn a_missing_segment_is_reported() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 150);
    store.close().unwrap();
    drop(store);
    fs::remove_file(segment_path(dir.path(), SEGMENT_SIZE)).unwrap();

    let refused = try_open(dir.path()).unwrap_err();

    assert!(
        matches!(
            refused,
            StoreError::Corrupt {
                position: SEGMENT_SIZE,
                ..
            }
        ),
        "{refused}"
    );
}

#[test]
fn an_unwritten_prepared_segment_is_removed() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 5);
    drop(store);
    let prepared = segment_path(dir.path(), SEGMENT_SIZE);
    fs::write(&prepared, vec![0; usize::try_from(SEGMENT_SIZE).unwrap()]).unwrap();

    let recovered = open(dir.path());

    assert!(!prepared.exists());
    assert_holds(&recovered, 5);
}

#[test]
fn a_crash_between_the_blank_record_and_the_next_segment_loses_nothing() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut count = 0;
    while store.max_position() < SEGMENT_SIZE {
        let (topic, queue_id, body) = numbered(count);
        append(&store, topic, queue_id, &body);
        count += 1;
    }
    for is_missing in [true, false] {
        let crashed = crash(dir.path());
        let next = segment_path(crashed.path(), SEGMENT_SIZE);
        if is_missing {
            fs::remove_file(next).unwrap();
        } else {
            overwrite(&next, 0, &vec![0; usize::try_from(SEGMENT_SIZE).unwrap()]);
        }

        let recovered = open(crashed.path());

        assert_eq!(recovered.max_position(), SEGMENT_SIZE);
        assert_holds(&recovered, count - 1);
    }
}

#[test]
fn recovery_starts_at_the_checkpoint_and_not_at_the_oldest_record() {
    let dir = tempdir();
    let store = open(dir.path());
    for number in 0..60_u32 {
        append_at(
            &store,
            "t",
            0,
            &[1; 1000],
            NOW_MS + i64::from(number) * 1_000,
        );
    }
    store.flush_tick(NOW_MS + 100_000).unwrap();
    append(&store, "t", 0, b"after");
    drop(store);

    let recovered = open(dir.path());

    assert!(recovered.recovery().scanned_from >= 2 * SEGMENT_SIZE);
    assert_eq!(read_all(&recovered, "t", 0).len(), 61);
}

#[test]
fn a_checkpoint_before_all_time_vouches_for_nothing() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..60 {
        append(&store, "t", 0, &[1; 1000]);
    }
    store.flush_tick(NOW_MS + 100_000).unwrap();
    drop(store);
    let least = i64::MIN.to_be_bytes();
    overwrite(&dir.path().join("checkpoint"), 0, &[least; 2].concat());

    let recovered = open(dir.path());

    assert_eq!(recovered.recovery().scanned_from, 0);
    assert_eq!(read_all(&recovered, "t", 0).len(), 60);
}

#[test]
fn records_behind_the_last_flush_of_queues_get_their_entries_although_the_clock_was_set_back() {
    let dir = tempdir();
    let (before, after) = (NOW_MS + 100_000, NOW_MS + 50_000);
    let store = open(dir.path());
    for _ in 0..20 {
        append_at(&store, "t", 0, &[1; 1000], before);
    }
    store.flush_tick(before).unwrap();
    let queues = dir.path().join("consumequeue");
    let flushed = tempdir();
    copy_dir(&queues, flushed.path());
    append_at(&store, "seldom", 0, b"x", after);
    while SEGMENT_SIZE - store.max_position() % SEGMENT_SIZE > 2_000 {
        append_at(&store, "between", 0, &[1; 1000], after);
    }
    // The next segment begins with a queue's first message, so that no entry before it is missed.
    append_at(&store, "later", 0, &[1; 2_000], after);
    append_at(&store, "later", 0, b"x", after + 5_000);
    store.flush_tick(before + 1_000).unwrap();
    drop(store);
    fs::remove_dir_all(&queues).unwrap();
    copy_dir(flushed.path(), &queues);

    let recovered = open(dir.path());

    assert_eq!(read_all(&recovered, "seldom", 0).len(), 1);
    assert_eq!(read_all(&recovered, "t", 0).len(), 20);
}

#[test]
fn a_segment_that_begins_where_the_checkpoint_ends_hides_no_entry_missed_before_it() {
    let (master_dir, dir) = (tempdir(), tempdir());
    let (before, after) = (NOW_MS + 100_000, NOW_MS + 50_000);
    let master = open(master_dir.path());
    for _ in 0..10 {
        append_at(&master, "t", 0, &[1; 1000], before);
    }
    let first_end = usize::try_from(master.max_position()).unwrap();
    append_at(&master, "seldom", 0, b"x", after);
    while SEGMENT_SIZE - master.max_position() > 2_000 {
        append_at(&master, "between", 0, &[1; 1000], after + 5_000);
    }
    // The next segment begins with a queue's first message, so that no entry before it is missed.
    append_at(&master, "later", 0, &[1; 2_000], after);
    let first = master.log_slice(0, SEGMENT_SIZE).unwrap();
    let second = master.log_slice(SEGMENT_SIZE, SEGMENT_SIZE).unwrap();
    let replica = open(dir.path());
    let copy = |position: usize, bytes: &[u8]| {
        let taken = replica.append_copied(position as u64, bytes).unwrap();
        assert_eq!(taken, bytes.len());
    };
    copy(0, &first.bytes()[..first_end]);
    replica.flush_tick(before).unwrap();
    let queues = dir.path().join("consumequeue");
    let flushed = tempdir();
    copy_dir(&queues, flushed.path());
    copy(first_end, &first.bytes()[first_end..]);
    replica.flush_tick(before + 1_000).unwrap();
    assert_eq!(replica.flushed_position(), SEGMENT_SIZE);
    copy(first.bytes().len(), second.bytes());
    drop(replica);
    fs::remove_dir_all(&queues).unwrap();
    copy_dir(flushed.path(), &queues);

    let recovered = open(dir.path());

    assert_eq!(read_all(&recovered, "seldom", 0).len(), 1);
}

#[test]
fn a_record_whose_properties_reached_the_disk_in_part_only_is_the_end_of_the_log() {
    let dir = tempdir();
    let store = open(dir.path());
    let kept = append(&store, "t", 0, b"kept");
    let properties = format!("KEYS\u{1}{}\u{2}", "k".repeat(1_600));
    let message = NewMessage {
        properties: properties.as_bytes(),
        ..NewMessage::new("t", 0, b"body")
    };
    let torn = store.writer().unwrap().append(&message, NOW_MS).unwrap();
    let end = torn.log_position + u64::from(torn.size);
    for sector in (torn.log_position + 200).div_ceil(512)..=(end - 1) / 512 {
        let image = crash(dir.path());
        let lost = (end - sector * 512).min(512);
        let zeros = vec![0; usize::try_from(lost).unwrap()];
        overwrite(&segment_path(image.path(), 0), sector * 512, &zeros);

        let recovered = open(image.path());

        assert_eq!(recovered.recovery().damage, None);
        assert_eq!(recovered.max_position(), torn.log_position);
        let held = read_all(&recovered, "t", 0);
        assert_eq!(held, [(kept.queue_offset, b"kept".to_vec())]);
    }
}
