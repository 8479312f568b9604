//! Cutting a store at a position: everything at once, durable, and once for all (D10).

use std::fs;

use regent_commitlog::StoreError;

use crate::support::*;

/// Enough messages for several segments and several files of each queue.
const COUNT: u64 = 150;

#[test]
fn a_store_holds_exactly_what_lies_before_the_cut() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, COUNT);
    assert!(positions[positions.len() - 1] > 3 * SEGMENT_SIZE);
    for at in interesting(&positions) {
        let image = crash(dir.path());
        let mut cut = open(image.path());

        cut.truncate_to(positions[at]).unwrap();

        assert_eq!(cut.max_position(), positions[at]);
        assert_eq!(cut.recovery().truncated_to, Some(positions[at]));
        assert!(cut.flushed_position() <= positions[at]);
        assert!(!image.path().join("truncation").exists());
        assert_holds(&cut, at as u64);
    }
}

#[test]
fn the_blank_rest_of_a_segment_can_be_cut_off() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, COUNT);
    let first_behind = positions
        .iter()
        .position(|position| *position >= SEGMENT_SIZE);
    let count = first_behind.unwrap();
    let last = positions[count - 1];
    let blank = last + store.read_record(last).unwrap().unwrap().len() as u64;
    assert!(blank < positions[count]);
    let mut cut = store;

    cut.truncate_to(blank).unwrap();

    assert_eq!(cut.max_position(), blank);
    assert!(!segment_path(dir.path(), SEGMENT_SIZE).exists());
    assert_holds(&cut, count as u64);
    let crashed = crash(dir.path());
    assert_holds(&open(crashed.path()), count as u64 + 1);
}

#[test]
fn cut_records_never_come_back_behind_new_ones_of_the_same_size() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, COUNT);
    for at in interesting(&positions) {
        let image = crash(dir.path());
        let mut cut = open(image.path());
        cut.truncate_to(positions[at]).unwrap();

        // Appends the message that was cut first: the one behind it would fit again.
        assert_holds(&cut, at as u64);

        let crashed = crash(image.path());
        drop(cut);
        assert_holds(&open(crashed.path()), at as u64 + 1);
        assert_holds(&open(image.path()), at as u64 + 1);
    }
}

#[test]
fn cut_records_never_come_back_behind_shorter_or_longer_ones() {
    for seed in 0..30 {
        let mut random = fastrand::Rng::with_seed(seed);
        let dir = tempdir();
        let mut store = open(dir.path());
        for _ in 0..40 {
            append(&store, "t", 0, &vec![1; random.usize(..900)]);
        }
        let entries = store.queue_entries("t", 0, 0, 40);
        let kept = random.usize(..40);
        store.truncate_to(entries[kept].log_position).unwrap();
        let mut count = kept as u64;
        for _ in 0..random.usize(1..20) {
            append(&store, "t", 0, &vec![2; random.usize(..900)]);
            count += 1;
            let crashed = open(crash(dir.path()).path());
            let bodies = read_all(&crashed, "t", 0);
            assert_eq!(bodies.len() as u64, count, "seed {seed}");
            let is_old = |body: &Vec<u8>| body.contains(&1);
            assert!(!bodies[kept..].iter().any(|(_, body)| is_old(body)));
            assert_eq!(crashed.max_position(), store.max_position());
        }
    }
}

#[test]
fn truncating_again_and_again_is_like_truncating_once() {
    let dir = tempdir();
    let store = open(dir.path());
    let positions = fill(&store, COUNT);
    let once = crash(dir.path());
    let mut at_once = open(once.path());
    at_once.truncate_to(positions[30]).unwrap();
    let stepwise = crash(dir.path());
    let mut in_steps = open(stepwise.path());

    for at in [140, 139, 100, 99, 30, 30] {
        in_steps.truncate_to(positions[at]).unwrap();
        assert_eq!(in_steps.max_position(), positions[at]);
    }

    assert_eq!(contents(stepwise.path()), contents(once.path()));
    assert_holds(&in_steps, 30);
}

#[test]
fn at_the_end_of_the_log_there_is_nothing_to_do() {
    let dir = tempdir();
    let mut store = open(dir.path());
    store.truncate_to(0).unwrap();
    fill(&store, 5);
    store.begin_epoch(3).unwrap();
    let before = contents(dir.path());

    store.truncate_to(store.max_position()).unwrap();

    assert_eq!(contents(dir.path()), before);
    assert_eq!(store.recovery().truncated_to, None);
    assert_eq!(store.epochs().as_slice().len(), 1);
    assert_holds(&store, 5);
}

#[test]
fn positions_that_are_no_border_are_refused_and_nothing_changes() {
    let dir = tempdir();
    let mut store = open(dir.path());
    // A body that holds what would be a valid record just there (storage-and-ha.md 5.4).
    append(&store, "t", 0, b"first");
    let outer = store.max_position();
    let fake_at = outer + 88;
    let other_dir = tempdir();
    let other = open(other_dir.path());
    append(
        &other,
        "t",
        0,
        &vec![0; usize::try_from(fake_at - 92).unwrap()],
    );
    assert_eq!(append(&other, "t", 0, b"fake").log_position, fake_at);
    let fake = other.read_record(fake_at).unwrap().unwrap();
    append(&store, "t", 0, &fake);
    assert_eq!(store.read_record(fake_at).unwrap(), Some(fake));
    let end = store.max_position();
    while store.max_position() < SEGMENT_SIZE {
        append(&store, "t", 0, &[1; 700]);
    }
    store.flush_tick(NOW_MS).unwrap();
    let before = contents(dir.path());
    let epochs = store.epochs();

    let inside_blank = SEGMENT_SIZE - 1;
    for position in [1, outer + 1, fake_at, end - 1, inside_blank, u64::MAX] {
        let refused = store.truncate_to(position).unwrap_err();
        assert_eq!(refused.code(), "no_boundary", "{position}");
        assert!(refused.to_string().contains(&position.to_string()));
    }

    assert_eq!(contents(dir.path()), before);
    assert_eq!(store.epochs(), epochs);
    assert!(!dir.path().join("truncation").exists());
    append(&store, "t", 0, b"goes on");
}

#[test]
fn epochs_checkpoint_and_counters_follow_the_cut() {
    let dir = tempdir();
    let mut store = open(dir.path());
    store.begin_epoch(1).unwrap();
    append_at(&store, "t", 0, b"a", NOW_MS);
    let first_end = store.max_position();
    append_at(&store, "t", 0, b"b", NOW_MS + 500);
    store.begin_epoch(2).unwrap();
    append_at(&store, "t", 0, b"c", NOW_MS + 900);
    store.flush_tick(NOW_MS + 20_000).unwrap();

    store.truncate_to(first_end).unwrap();

    assert_eq!(store.epochs().as_slice().len(), 1);
    let epochs = fs::read(dir.path().join("epochFileCheckpoint")).unwrap();
    assert_eq!(
        fs::read(dir.path().join("epochFileCheckpoint.bak")).unwrap(),
        epochs
    );
    let checkpoint = fs::read(dir.path().join("checkpoint")).unwrap();
    let field = |at: usize| i64::from_be_bytes(checkpoint[at * 8..at * 8 + 8].try_into().unwrap());
    assert_eq!([field(0), field(1)], [NOW_MS; 2]);
    assert_eq!([field(3), field(4)], [first_end.cast_signed(); 2]);
    assert_eq!(store.counters().total.message_count, 3);
    store.truncate_to(0).unwrap();
    assert!(store.epochs().as_slice().is_empty());
    assert!(!dir.path().join("epochFileCheckpoint").exists());
    assert!(!dir.path().join("epochFileCheckpoint.bak").exists());
}

#[test]
fn queues_go_on_behind_messages_that_have_expired() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut in_first_segment = 0;
    for number in 0..60_u64 {
        let appended = append(
            &store,
            "t",
            0,
            &[&number.to_be_bytes()[..], &[0; 900]].concat(),
        );
        in_first_segment += u64::from(appended.log_position < SEGMENT_SIZE);
    }
    drop(store);
    fs::remove_file(segment_path(dir.path(), 0)).unwrap();
    let mut store = open(dir.path());
    assert_eq!(store.truncate_to(0).unwrap_err().code(), "no_boundary");

    store.truncate_to(SEGMENT_SIZE).unwrap();

    assert_eq!(
        (store.min_position(), store.max_position()),
        (SEGMENT_SIZE, SEGMENT_SIZE)
    );
    let appended = append(&store, "t", 0, b"next");
    assert_eq!(
        (appended.queue_offset, appended.log_position),
        (in_first_segment, SEGMENT_SIZE)
    );
}

#[test]
fn a_closed_store_is_not_cut() {
    let dir = tempdir();
    let mut store = open(dir.path());
    fill(&store, 9);
    store.close().unwrap();

    assert!(matches!(store.truncate_to(0), Err(StoreError::Closed)));

    drop(store);
    assert_holds(&open(dir.path()), 9);
}
