//! Messages that hold what is a valid record: at the place where they lie themselves (FORMAT.md 6), or
//! once their segment is used again (FORMAT.md 5.1).

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use regent_commitlog::inspect::{LogWalk, Step, Survey, walk_log};
use regent_commitlog::{NewMessage, Rebuild, RebuildParts, Store};
use tempfile::TempDir;

use crate::support::again::*;
use crate::support::*;

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
fn no_planted_record_makes_a_store_read_only_whose_process_was_killed_or_system_went_down() {
    let (dir, store) = planted();

    for is_system in [false, true] {
        let image = crashed(dir.path(), is_system);
        assert_goes_on(image.path(), store.max_position());
    }
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
fn nor_do_tools_take_one_for_a_record() {
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
    let (mut walk, flushed) = walk_log(&again(image.path())).unwrap();
    loop {
        match walk.step().unwrap().unwrap() {
            Step::Record(_) => {}
            Step::End { position, .. } => break assert_eq!(position, flushed),
            other => panic!("{other:?}"),
        }
    }
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

/// A store whose last message holds, in its body and in its properties, a record of the very place
/// at which that lies; and where the message begins.
fn holding_its_own() -> (TempDir, Store, u64) {
    let dir = sample::memory_dir();
    let store = open_again(dir.path());
    append(&store, TOPIC, 0, b"before");
    let at = store.max_position();
    let planted = |position: u64| {
        let mut record = template();
        record[PHYSICAL_OFFSET_AT..PHYSICAL_OFFSET_AT + 8].copy_from_slice(&position.to_be_bytes());
        record
    };
    let mut body = planted(at + BODY_AT);
    body.extend([b'x'; 2_000]);
    let properties_at = at + FRAME_SIZE + body.len() as u64;
    let name = b"name\x01";
    let mut properties = name.to_vec();
    properties.extend(planted(properties_at + name.len() as u64));
    properties.push(2);
    let message = NewMessage {
        properties: &properties,
        ..NewMessage::new(TOPIC, 0, &body)
    };
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
    (dir, store, at)
}

#[test]
fn a_kill_amid_the_writing_of_a_record_leaves_none_of_those_that_it_holds() {
    let (dir, store, at) = holding_its_own();
    let size = usize::try_from(store.max_position() - at).unwrap();
    // The checksum is written last.
    let crc_at = at + 8;
    for cut in [size / 4, size / 2, size - 7, size] {
        for has_tail in [false, true] {
            let image = crashed(dir.path(), false);
            let path = segment_path(image.path(), 0);
            overwrite(&path, crc_at, &[0; 4]);
            // What comes behind the body is written before it, but copied after it.
            let zeros_to = if has_tail { size.min(2_000) } else { size };
            if cut < zeros_to {
                overwrite(&path, at + cut as u64, &vec![0; zeros_to - cut]);
            }
            let mut survey = Survey::new(&again(image.path())).unwrap();
            while survey.advance(u64::MAX).unwrap() {}
            let opened = open_again(image.path());

            assert_eq!(opened.recovery().damage, None, "{cut} {has_tail}");
            assert_eq!(survey.end_position(), at);
            assert_eq!(opened.max_position(), at);
            assert_eq!(read_all(&opened, TOPIC, 0), [(0, b"before".to_vec())]);
        }
    }
}

#[test]
fn nor_does_a_walk_take_one_for_a_record_while_its_broker_writes_it() {
    let (dir, _store, at) = holding_its_own();
    let image = crashed(dir.path(), false);
    let path = segment_path(image.path(), 0);
    let head = fs::read(&path)
        .unwrap()
        .split_off(usize::try_from(at).unwrap());
    overwrite(&path, at, &[0; BODY_AT as usize]);
    let mut walk = LogWalk::new(&image.path().join("commitlog")).unwrap();
    assert!(matches!(walk.step().unwrap(), Some(Step::Record(_))));

    // What was read has the body, but not what the broker writes before it; the checksum is last.
    overwrite(&path, at, &head[..8]);
    overwrite(&path, at + 12, &head[12..BODY_AT as usize]);

    let step = walk.step().unwrap();
    assert!(
        matches!(step, Some(Step::End { position, .. }) if position == at),
        "{step:?}"
    );
}

#[test]
fn a_wrong_bit_in_what_tells_where_a_record_ends_hides_none_behind_it() {
    let dir = sample::memory_dir();
    let store = open_again(dir.path());
    let positions = fill(&store, 12);
    let (at, next) = (positions[4], positions[5]);
    let path = segment_path(dir.path(), 0);
    let record = fs::read(&path).unwrap()[usize::try_from(at).unwrap()..].to_vec();
    let mut damaged = 0;
    // All but what the body holds: header, the length and the text of topic, that of properties.
    let places = (0..BODY_AT).chain(next - at - 4..next - at);
    for bit in places.flat_map(|byte| (0..8).map(move |bit| 8 * byte + bit)) {
        let image = crashed(dir.path(), false);
        let wrong = record[usize::try_from(bit / 8).unwrap()] ^ (1 << (bit % 8));
        overwrite(&segment_path(image.path(), 0), at + bit / 8, &[wrong]);
        let opened = open_again(image.path());

        assert_eq!(opened.max_position(), store.max_position(), "bit {bit}");
        if let Some(damage) = opened.recovery().damage {
            assert_eq!(damage.position, at, "bit {bit}");
            assert_eq!(damage.next_valid_position, Some(next), "bit {bit}");
            damaged += 1;
        }
    }
    assert!(damaged > 100, "{damaged}");
}
