//! Queues with offsets whose records are gone from the log: fillers stand in their places.

use std::fs;
use std::path::Path;

use regent_commitlog::{Boundary, Store};

use crate::support::*;

const COUNT: u64 = 6;
/// Recovery begins a few seconds before the newest message whose queue entry was flushed.
const TIME_STEP_MS: i64 = 10_000;
/// Place of the queue id in a record, which no checksum covers.
const QUEUE_ID_AT: u64 = 12;
const ELSEWHERE: i32 = 7;

/// Two of it fill a segment, so that each message lies in a separate segment.
const PADDING: [u8; 9_000] = [b'.'; 9_000];

/// A store of six messages in queue 0, ten seconds between two, whose log was changed: those
/// of `gaps`, by bits, belong to another queue. Returns where they begin, and the end.
fn stopped_with_gaps(dir: &Path, gaps: u64) -> Vec<u64> {
    let store = open(dir);
    let append = |number| {
        let at_ms = time_of(number);
        append_at(&store, "padding", 0, &PADDING, at_ms);
        append_at(&store, "t", 0, b"body", at_ms).log_position
    };
    let mut positions: Vec<u64> = (0..COUNT).map(append).collect();
    positions.push(store.max_position());
    store.close().unwrap();
    drop(store);
    for number in (0..COUNT).filter(|number| !is_there(gaps, *number)) {
        let position = positions[usize::try_from(number).unwrap()];
        let (base, queue_id) = (number * SEGMENT_SIZE, ELSEWHERE.to_be_bytes());
        overwrite(
            &segment_path(dir, base),
            position - base + QUEUE_ID_AT,
            &queue_id,
        );
    }
    have_queues_rebuilt(dir);
    positions
}

fn is_there(gaps: u64, number: u64) -> bool {
    gaps & (1 << number) == 0
}

fn time_of(number: u64) -> i64 {
    NOW_MS + i64::try_from(number).unwrap() * TIME_STEP_MS
}

fn have_queues_rebuilt(dir: &Path) {
    fs::remove_dir_all(dir.join("consumequeue")).unwrap();
    fs::write(dir.join("abort"), "").unwrap();
}

/// For each choice of messages but that of none: the store, where its messages begin, and which
/// are there.
fn each_choice(mut check: impl FnMut(&Path, Vec<u64>, Vec<u64>, u64)) {
    for gaps in 0..(1 << COUNT) - 1 {
        let dir = sample::memory_dir();
        let positions = stopped_with_gaps(dir.path(), gaps);
        let numbers = (0..COUNT)
            .filter(|number| is_there(gaps, *number))
            .collect();
        check(dir.path(), positions, numbers, gaps);
    }
}

fn end_of(store: &Store) -> Option<u64> {
    store.queue_offsets("t", 0).map(|(_, end)| end)
}

#[test]
fn searches_by_time_find_the_messages_that_are_there() {
    each_choice(|dir, _, numbers, gaps| {
        let store = open(dir);
        let around = |number| [-1, 0, 1].map(|more| time_of(number) + more);
        for at_ms in (0..COUNT).flat_map(around) {
            let end = numbers[numbers.len() - 1] + 1;
            let lower = numbers.iter().find(|number| time_of(**number) >= at_ms);
            let upper = numbers.iter().rfind(|number| time_of(**number) <= at_ms);

            let found = |boundary| store.offset_by_time("t", 0, at_ms, boundary).unwrap();

            let case = format!("{gaps:b} at {at_ms}");
            let (lower, upper) = (*lower.unwrap_or(&end), *upper.unwrap_or(&numbers[0]));
            assert_eq!(found(Boundary::Lower), lower, "{case}");
            assert_eq!(found(Boundary::Upper), upper, "{case}");
        }
    });
}

#[test]
fn no_unconfirmed_message_is_shown() {
    each_choice(|dir, positions, numbers, gaps| {
        let store = open(dir);
        let place = |number: u64| usize::try_from(number).unwrap();
        for limit in positions.iter().copied() {
            store.set_confirmed_position(Some(limit));

            let first_beyond = numbers
                .iter()
                .find(|number| positions[place(**number) + 1] > limit);
            let end = first_beyond.map_or(numbers[numbers.len() - 1] + 1, |number| *number);
            assert_eq!(end_of(&store), Some(end), "{gaps:b} up to {limit}");
        }
    });
}

#[test]
fn after_a_cut_queues_go_on_behind_their_last_message_as_if_rebuilt() {
    each_choice(|dir, positions, numbers, gaps| {
        for cut in 0..=COUNT {
            let image = sample::memory_dir();
            copy_dir(dir, image.path());
            let mut store = open(image.path());

            let position = positions[usize::try_from(cut).unwrap()];
            store.truncate_to(position).unwrap();

            let Some(last) = numbers.iter().rfind(|number| **number < cut) else {
                continue;
            };
            let case = format!("{gaps:b} cut at {cut}");
            assert_eq!(end_of(&store), Some(last + 1), "{case}");
            let shown = read_all(&store, "t", 0);
            drop(store);
            assert_eq!(end_of(&open(image.path())), Some(last + 1), "{case}, again");
            have_queues_rebuilt(image.path());
            let anew = open(image.path());
            assert_eq!(end_of(&anew), Some(last + 1), "{case}, anew");
            assert_eq!(read_all(&anew, "t", 0), shown, "{case}, anew");
        }
    });
}

#[test]
fn a_copied_record_at_an_offset_that_no_queue_has_is_refused() {
    let (dir, master_dir) = (tempdir(), tempdir());
    let master = open(master_dir.path());
    append(&master, "t", 0, b"x");
    let copied = master.log_slice(0, u64::MAX).unwrap().bytes().to_vec();
    let replica = open(dir.path());
    for offset in [u64::MAX, i64::MAX as u64, i64::MAX as u64 / 20, 1 << 60] {
        let mut bytes = copied.clone();
        bytes[20..28].copy_from_slice(&offset.to_be_bytes());

        let refused = replica.append_copied(0, &bytes).unwrap_err();

        assert_eq!(refused.code(), "corrupt", "{offset}: {refused}");
        assert_eq!(replica.max_position(), 0, "{offset}");
        assert!(!dir.path().join("consumequeue/t").exists(), "{offset}");
    }
    assert_eq!(replica.append_copied(0, &copied).unwrap(), copied.len());
    assert_eq!(replica.queue_offsets("t", 0), Some((0, 1)));
}
