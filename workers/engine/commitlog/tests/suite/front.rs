//! A store that takes the end of a log first, and what lies before that segment by segment (Q48, Q50, Q52).
//!
//! It is compared with one that copied the same log from its beginning: both must hold the same bytes.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use regent_commitlog::{KeySearch, NewMessage, ReadStatus, Store, StoreError};

use crate::support::*;

const TIMERS: &str = "rmq_sys_wheel_timer";

/// Appends messages of a few topics, in queues that begin at different times, with delays, timers and
/// half messages among them. A topic is deleted and made again now and then.
fn grow(store: &Store, random: &mut Rng, count: usize) {
    for number in 0..count {
        let topics = ["a", "b", "late", "again", "SCHEDULE_TOPIC_XXXX", TIMERS];
        let topic = topics[random.usize(..topics.len())];
        let queue_id = if topic == TIMERS { 0 } else { random.i32(0..3) };
        if topic == "late" && store.max_position() < 4 * SEGMENT_SIZE {
            continue;
        }
        if topic == "again" && random.u8(..) < 8 {
            store.delete_queues_of("again").unwrap();
        }
        let body = vec![7; random.usize(..900)];
        let properties = format!(
            "KEYS\u{1}k{number}\u{2}DELAY\u{1}3\u{2}REAL_TOPIC\u{1}t\u{2}REAL_QID\u{1}0\u{2}\
             TIMER_OUT_MS\u{1}{}\u{2}",
            NOW_MS + 60_000
        );
        let message = NewMessage {
            properties: properties.as_bytes(),
            sys_flag: if random.u8(..) < 10 { 4 } else { 0 },
            ..NewMessage::new(topic, queue_id, &body)
        };
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
}

/// Copies up to `size` bytes that a replica lacks, from its end or, if it is empty, from `start` on.
fn follow(master: &Store, replica: &Store, start: u64, size: u64) -> bool {
    let position = match replica.max_position() {
        0 => start,
        end => end,
    };
    let Some(slice) = master.log_slice(position, size) else {
        return false;
    };
    replica.append_copied(position, slice.bytes()).unwrap() > 0
}

fn follow_to_end(master: &Store, replica: &Store, start: u64) {
    while follow(master, replica, start, u64::MAX) {}
}

/// Puts the next older segment before the log of a replica; returns whether there was one.
fn put_next(master: &Store, replica: &Store, random: &mut Rng) -> bool {
    if replica.min_position() <= master.min_position() {
        return false;
    }
    let base = replica.min_position() - SEGMENT_SIZE;
    let slice = master.log_slice(base, SEGMENT_SIZE).unwrap();
    let segment = replica.begin_front(base).unwrap();
    let part = random.usize(500..20_000);
    let mut parts: Vec<_> = slice.bytes().chunks(part).enumerate().collect();
    random.shuffle(&mut parts);
    for (number, bytes) in parts {
        segment.write((number * part) as u64, bytes).unwrap();
    }
    replica.insert_front(&segment).unwrap();
    true
}

fn assert_equal(master: &Store, one: (&Store, &Path), other: (&Store, &Path)) {
    one.0.flush().unwrap();
    other.0.flush().unwrap();
    let end = master.max_position();
    assert_eq!(one.0.min_position(), other.0.min_position());
    assert_eq!(one.0.queues(), other.0.queues());
    let (left, right) = (contents_before(one.1, end), contents_before(other.1, end));
    let of_queues = |(name, _): &(&std::path::PathBuf, &Vec<u8>)| {
        name.starts_with("consumequeue") || name.starts_with("commitlog")
    };
    let names = |files: &std::collections::BTreeMap<std::path::PathBuf, Vec<u8>>| {
        let kept = files.iter().filter(of_queues);
        kept.map(|(name, _)| name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(names(&left), names(&right));
    for (name, bytes) in left.iter().filter(of_queues) {
        let differs = bytes.iter().zip(&right[name]).position(|(a, b)| a != b);
        assert!(
            *bytes == right[name],
            "{} {differs:?} {bytes:?} {:?}",
            name.display(),
            right[name]
        );
    }
}

#[test]
fn a_log_that_comes_newest_first_becomes_the_same_as_one_that_comes_oldest_first() {
    for seed in 0..6 {
        let mut random = Rng::with_seed(seed);
        let dirs = [tempdir(), tempdir(), tempdir()];
        let [master, oldest_first, newest_first] = dirs.each_ref().map(|dir| open(dir.path()));
        grow(&master, &mut random, 300);
        let start = master.last_segment_start();
        loop {
            let is_more = put_more(&master, &newest_first, start, &mut random);
            grow(&master, &mut random, 5);
            if !is_more {
                break;
            }
        }
        follow_to_end(&master, &newest_first, start);
        follow_to_end(&master, &oldest_first, 0);

        let [_, first_dir, other_dir] = dirs.each_ref().map(|dir| dir.path());
        assert_equal(
            &master,
            (&newest_first, other_dir),
            (&oldest_first, first_dir),
        );
        assert!(!other_dir.join("commitlog/front").join("0").exists());
        for is_clean in [false, true] {
            if is_clean {
                newest_first.close().unwrap();
            }
            let image = crash(other_dir);
            let again = open(image.path());
            assert_eq!(again.recovery().damage, None);
            assert_eq!(
                again.queues(),
                oldest_first.queues(),
                "seed {seed}, {is_clean}"
            );
        }
    }
}

/// Takes a part of the tail or an older segment; returns whether more is to come before the log.
fn put_more(master: &Store, replica: &Store, start: u64, random: &mut Rng) -> bool {
    if replica.max_position() == 0 || random.bool() {
        follow(master, replica, start, random.u64(1_000..40_000));
        return true;
    }
    put_next(master, replica, random)
}

#[test]
fn what_is_put_in_front_can_be_read_at_once_and_nothing_before_it() {
    let mut random = Rng::with_seed(1);
    let dirs = [tempdir(), tempdir()];
    let [master, replica] = dirs.each_ref().map(|dir| open(dir.path()));
    fill(&master, 300);
    follow_to_end(&master, &replica, master.last_segment_start());

    while put_next(&master, &replica, &mut random) {
        for (topic, queue_id) in [("a", 0), ("a", 1), ("b", 0)] {
            let (first, end) = replica.queue_offsets(topic, queue_id).unwrap();
            let held = read_all(&replica, topic, queue_id);
            assert_eq!(held.len() as u64, end - first);
            let all = read_all(&master, topic, queue_id);
            assert!(all.ends_with(&held), "{topic}/{queue_id} from {first}");
            let (outcome, _) = read(&replica, topic, queue_id, first.cast_signed() - 1);
            assert!(first == 0 || outcome.status == ReadStatus::OffsetTooSmall);
        }
    }

    assert_holds(&replica, 300);
}

#[test]
fn a_segment_that_is_not_whole_does_not_become_part_of_the_log() {
    let dirs = [tempdir(), tempdir()];
    let [master, replica] = dirs.each_ref().map(|dir| open(dir.path()));
    fill(&master, 300);
    follow_to_end(&master, &replica, master.last_segment_start());
    let (begin, queues) = (replica.min_position(), replica.queues());
    let base = begin - SEGMENT_SIZE;
    let bytes = master
        .log_slice(base, SEGMENT_SIZE)
        .unwrap()
        .bytes()
        .to_vec();

    // A wrong bit, a part that never came, and bytes of another place.
    let mut wrong_bit = bytes.clone();
    wrong_bit[9_000] ^= 1;
    let elsewhere = master.log_slice(0, SEGMENT_SIZE).unwrap().bytes().to_vec();
    for given in [&wrong_bit[..], &bytes[..12_000], &elsewhere] {
        let segment = replica.begin_front(base).unwrap();
        segment.write(0, given).unwrap();
        let refused = replica.insert_front(&segment).unwrap_err();
        assert!(matches!(refused, StoreError::Corrupt { .. }), "{refused}");
        assert_eq!(
            (replica.min_position(), replica.queues()),
            (begin, queues.clone())
        );
    }
    let beyond = replica.begin_front(base).unwrap();
    assert!(beyond.write(SEGMENT_SIZE - 1, &[0; 2]).is_err());

    let segment = replica.begin_front(base).unwrap();
    segment.write(0, &bytes).unwrap();
    replica.insert_front(&segment).unwrap();
    assert_eq!(replica.min_position(), base);
}

#[test]
fn only_the_segment_before_the_first_one_can_be_put_in_front() {
    let dirs = [tempdir(), tempdir()];
    let [master, replica] = dirs.each_ref().map(|dir| open(dir.path()));
    fill(&master, 300);

    assert!(replica.begin_front(0).is_err(), "the log is empty");
    follow_to_end(&master, &replica, master.last_segment_start());
    assert!(replica.begin_front(0).is_err());
    let begun = replica.begin_front(replica.min_position() - SEGMENT_SIZE);
    let segment = begun.unwrap();
    drop(replica);

    let again = open(dirs[1].path());
    assert!(!dirs[1].path().join("commitlog/front").exists());
    assert!(again.insert_front(&segment).is_err());
}

#[test]
fn keys_and_timers_of_older_messages_are_found_once_they_are_derived_again() {
    let mut random = Rng::with_seed(3);
    let dirs = [tempdir(), tempdir()];
    let [master, replica] = dirs.each_ref().map(|dir| open(dir.path()));
    grow(&master, &mut random, 300);
    follow_to_end(&master, &replica, master.last_segment_start());
    let take_all = |store: &Store| {
        while store.advance_followers(NOW_MS, 0).unwrap() > 0 {}
        while store.follow_timers(1_000).unwrap().1 > 0 {}
    };
    take_all(&master);
    take_all(&replica);
    while put_next(&master, &replica, &mut random) {}

    replica.restart_followers().unwrap();
    take_all(&replica);

    for number in [0, 7, 100, 299] {
        for topic in ["a", "b"] {
            let find = |store: &Store| {
                store.search(KeySearch::by_key(
                    topic,
                    &format!("k{number}"),
                    64,
                    0,
                    i64::MAX,
                ))
            };
            assert_eq!(find(&replica), find(&master), "{topic} {number}");
        }
    }
    let status = |store: &Store| store.timer_status(NOW_MS).next_offset;
    assert_eq!(status(&replica), status(&master));
    assert_eq!(
        replica.timer_status(NOW_MS).waiting_count,
        master.timer_status(NOW_MS).waiting_count
    );
    assert!(fs::read_dir(dirs[1].path().join("index")).unwrap().count() > 0);
}

#[test]
fn a_queue_that_begins_at_a_border_of_files_has_the_offsets_of_its_records() {
    let dirs = [tempdir(), tempdir()];
    let [master, replica] = dirs.each_ref().map(|dir| open(dir.path()));
    // Ten entries fill a queue file, and their records a segment.
    for number in 0..12 {
        append(&master, "t", 0, &[number; 1_500]);
    }
    let start = master.last_segment_start();
    assert_eq!(start, SEGMENT_SIZE);

    follow_to_end(&master, &replica, start);

    assert_eq!(replica.queue_offsets("t", 0), Some((10, 12)));
    let expected: Vec<_> = (10..12)
        .map(|at| (at, vec![u8::try_from(at).unwrap(); 1_500]))
        .collect();
    assert_eq!(read_all(&replica, "t", 0), expected);
    replica.flush().unwrap();
    let again = open(crash(dirs[1].path()).path());
    assert_eq!(again.queue_offsets("t", 0), Some((10, 12)));
}
