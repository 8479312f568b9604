//! Messages that hold what becomes a valid record once their segment is used again (FORMAT.md 5.1).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use regent_commitlog::inspect::Survey;
use regent_commitlog::{NewMessage, Rebuild, RebuildParts, Store};
use support::again::*;
use support::*;
use tempfile::TempDir;

const TOPIC: &str = "orders";
/// How much later in the log the bytes of a segment lie once it is used again.
const SHIFTS: [u64; 3] = [2 * SEGMENT_SIZE, 3 * SEGMENT_SIZE, 4 * SEGMENT_SIZE];
/// Of a record with IPv4 hosts.
const BODY_AT: u64 = 88;
const PHYSICAL_OFFSET_AT: usize = 28;
/// Bytes around a body: the fields before it, a topic and properties.
const FRAME_SIZE: u64 = BODY_AT + 1 + TOPIC.len() as u64 + 2;

/// Appends a message whose body is a record for each of the places at which it may lie later.
fn plant(store: &Store) {
    let mut body = template();
    let size = body.len() as u64;
    body = body.repeat(SHIFTS.len());
    let at = place_of_next(store, FRAME_SIZE + size * SHIFTS.len() as u64);
    for (number, shift) in (0..).zip(SHIFTS) {
        let position = at + BODY_AT + number * size + shift;
        let field = usize::try_from(number * size).unwrap() + PHYSICAL_OFFSET_AT;
        body[field..field + 8].copy_from_slice(&position.to_be_bytes());
    }
    assert_eq!(append(store, TOPIC, 0, &body).log_position, at);
}

/// A record, but for its position.
fn template() -> Vec<u8> {
    let dir = sample::memory_dir();
    let store = open(dir.path());
    append(&store, "planted", 0, b"by whoever sent it");
    read(&store, "planted", 0, 0).1
}

/// Where a record of such a size begins.
fn place_of_next(store: &Store, size: u64) -> u64 {
    let end = store.max_position();
    let rest = SEGMENT_SIZE - end % SEGMENT_SIZE;
    if size + 8 <= rest { end } else { end + rest }
}

fn plant_to(store: &Store, position: u64) {
    while store.max_position() < position {
        plant(store);
    }
    store.flush().unwrap();
}

/// A store that goes on in a segment in which records were planted, and that has another such
/// segment ready.
fn planted() -> (TempDir, Store) {
    let dir = sample::memory_dir();
    let store = open_again(dir.path());
    plant_to(&store, 2 * SEGMENT_SIZE + 100);
    let path = |base| segment_path(dir.path(), base * SEGMENT_SIZE);
    let first = inode(&path(0));
    store.expire(&too_much(), NOW_MS).unwrap();
    plant_to(&store, 3 * SEGMENT_SIZE + SEGMENT_SIZE / 2 + 3_000);
    assert_eq!(inode(&path(3)), first);
    let deadline = Instant::now() + Duration::from_secs(10);
    while !path(4).exists() {
        assert!(Instant::now() < deadline, "no segment was prepared");
        std::thread::sleep(Duration::from_millis(1));
    }
    (dir, store)
}

/// What the mark of an unclean stop says: no record may lie behind it.
fn write_limit(dir: &Path) -> u64 {
    let text = fs::read_to_string(dir.join("abort")).unwrap();
    text.lines().nth(2).unwrap().parse().unwrap()
}

/// All of the log is there after a crash, and it goes on.
fn assert_goes_on(image: &Path, end: u64) {
    let store = open_again(image);
    assert_eq!(store.recovery().damage, None);
    assert_eq!(store.max_position(), end);
    let (min, max) = store.queue_offsets(TOPIC, 0).unwrap();
    assert_eq!(read_all(&store, TOPIC, 0).len() as u64, max - min);
    assert_eq!(append(&store, TOPIC, 0, b"on").queue_offset, max);
}

#[test]
fn no_planted_record_makes_a_store_read_only_whose_process_was_killed() {
    let (dir, store) = planted();

    let image = crashed(dir.path(), false);

    assert_goes_on(image.path(), store.max_position());
}

#[test]
fn nor_one_whose_system_went_down() {
    let (dir, store) = planted();

    let image = crashed(dir.path(), true);

    assert_goes_on(image.path(), store.max_position());
}

#[test]
fn nor_at_any_time_while_segments_are_used_again() {
    let (dir, store) = planted();
    let end = store.max_position() + 3 * SEGMENT_SIZE;
    while store.max_position() < end {
        plant(&store);
        assert!(write_limit(dir.path()) >= store.max_position());
        let image = crashed(dir.path(), false);
        assert_goes_on(image.path(), store.max_position());
        store.flush().unwrap();
        store.expire(&too_much(), NOW_MS).unwrap();
    }
}

#[test]
fn nor_after_a_second_crash() {
    let (dir, store) = planted();
    let end = store.max_position();
    let first = crashed(dir.path(), false);

    let again = open_again(first.path());
    for is_system in [false, true] {
        assert_goes_on(crashed(first.path(), is_system).path(), end);
    }
    plant(&again);
    again.flush().unwrap();
    for is_system in [false, true] {
        let second = crashed(first.path(), is_system);
        assert_goes_on(second.path(), again.max_position());
    }
}

#[test]
fn nor_do_surveys_and_rebuilds_take_one_for_a_record() {
    let (dir, store) = planted();
    store.flush_tick(NOW_MS).unwrap();
    for is_in_use in [true, false] {
        let image = crashed(dir.path(), false);
        let mut survey = Survey::comparing(&again(image.path()), is_in_use).unwrap();

        while survey.advance(u64::MAX).unwrap() {}

        assert_eq!(survey.end_position(), store.max_position());
        let kinds: Vec<_> = survey.findings().iter().map(|found| found.kind).collect();
        let expected = usize::from(!is_in_use);
        assert_eq!(kinds.len(), expected, "an unclean stop alone: {kinds:?}");
    }
    let image = crashed(dir.path(), false);
    let parts = RebuildParts {
        queues: true,
        index: true,
    };
    let mut rebuild = Rebuild::begin(again(image.path()), parts, NOW_MS, 0).unwrap();
    while rebuild.advance(u64::MAX).unwrap() {}
}

#[test]
fn damage_of_a_store_whose_process_was_killed_is_reported_up_to_its_last_record() {
    let (dir, store) = planted();
    let last = store.max_position();
    plant(&store);
    let base = store.last_segment_start();
    let path = |image: &TempDir| segment_path(image.path(), base);

    let image = crashed(dir.path(), false);
    overwrite(&path(&image), last - 200 - base, b"wrong");
    let damaged = open_again(image.path());

    let damage = damaged.recovery().damage.unwrap();
    assert_eq!(damage.next_valid_position, Some(last));
    assert_eq!(damaged.max_position(), store.max_position());
}

#[test]
fn a_write_limit_that_the_log_goes_beyond_hides_no_damage() {
    let (dir, store) = planted();
    let last = store.max_position();
    plant(&store);
    let base = store.last_segment_start();

    let image = crashed(dir.path(), false);
    let abort = image.path().join("abort");
    let text = fs::read_to_string(&abort).unwrap();
    let limit = format!("{:020}", write_limit(image.path()));
    fs::write(&abort, text.replace(&limit, &format!("{base:020}"))).unwrap();
    assert_eq!(write_limit(image.path()), base);
    overwrite(
        &segment_path(image.path(), base),
        last - 200 - base,
        b"wrong",
    );
    let damaged = open_again(image.path());

    let damage = damaged.recovery().damage.unwrap();
    assert_eq!(damage.next_valid_position, Some(last));
}

#[test]
fn no_record_lies_behind_the_write_limit_of_a_master_or_its_replica() {
    let (master, replica) = (sample::memory_dir(), sample::memory_dir());
    let open_large = |dir: &Path| {
        let mut config = again(dir);
        config.segment_size_bytes = 16 * SEGMENT_SIZE;
        Store::open(config, NOW_MS).unwrap()
    };
    let (from, to) = (open_large(master.path()), open_large(replica.path()));
    assert_eq!(write_limit(master.path()), 0);
    let sizes = [10, 3_000, 700, 9_000, 50, 20_000];
    for size in sizes.into_iter().cycle().take(300) {
        let packed = [element(&vec![b'y'; size], b""), element(b"z", b"")].concat();
        let shared = NewMessage::new("batches", 0, b"");
        let mut writer = from.writer().unwrap();
        writer
            .append_batch(&shared, &packed, NOW_MS, &mut Vec::new())
            .unwrap();
        drop(writer);
        assert!(write_limit(master.path()) >= from.max_position());
        // Now and then so much that it is written to the file at once.
        if size == 20_000 {
            while to.max_position() < from.max_position() {
                let slice = from.log_slice(to.max_position(), u64::MAX).unwrap();
                to.append_copied(to.max_position(), slice.bytes()).unwrap();
                assert!(write_limit(replica.path()) >= to.max_position());
            }
            for store in [&from, &to] {
                store.flush().unwrap();
                store.expire(&too_much(), NOW_MS).unwrap();
            }
        }
    }
}
