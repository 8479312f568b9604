//! Messages that hold what is a valid record of the very place where it lies (FORMAT.md 6).

use std::fs;

use regent_commitlog::inspect::{LogWalk, Step, Survey};
use regent_commitlog::{NewMessage, Store};
use tempfile::TempDir;

use crate::second;
use crate::support::*;

const TOPIC: &str = "orders";
const BLANK_MAGIC: [u8; 4] = 0xCBD4_3194_u32.to_be_bytes();
/// Of a record with IPv4 hosts.
const BODY_AT: u64 = 88;
const PHYSICAL_OFFSET_AT: usize = 28;
/// Bytes around a body: the fields before it, a topic and properties.
const FRAME_SIZE: u64 = BODY_AT + 1 + TOPIC.len() as u64 + 2;

/// A record, but for its position.
fn template() -> Vec<u8> {
    let dir = sample::memory_dir();
    let store = open(dir.path());
    append(&store, "planted", 0, b"by whoever sent it");
    read(&store, "planted", 0, 0).1
}

/// A store whose last message holds, in its body and in its properties, a record of the very place
/// at which that lies; and where the message begins.
fn holding_its_own() -> (TempDir, Store, u64) {
    let dir = sample::memory_dir();
    let store = open(dir.path());
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
fn a_kill_while_a_record_is_written_leaves_none_of_those_that_it_holds() {
    let (dir, store, at) = holding_its_own();
    let size = usize::try_from(store.max_position() - at).unwrap();
    // The checksum is written last.
    let crc_at = at + 8;
    for cut in [size / 4, size / 2, size - 7, size] {
        for has_tail in [false, true] {
            let image = crash(dir.path());
            let path = segment_path(image.path(), 0);
            overwrite(&path, crc_at, &[0; 4]);
            // What comes behind the body is written before it, but copied after it.
            let zeros_to = if has_tail { size.min(2_000) } else { size };
            if cut < zeros_to {
                overwrite(&path, at + cut as u64, &vec![0; zeros_to - cut]);
            }
            let mut survey = Survey::new(&config(image.path())).unwrap();
            while survey.advance(u64::MAX).unwrap() {}
            let opened = open(image.path());

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
    let image = crash(dir.path());
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
fn a_wrong_bit_in_what_says_where_a_record_ends_hides_none_behind_it() {
    let dir = sample::memory_dir();
    let store = open(dir.path());
    let positions = fill(&store, 12);
    let (at, next) = (positions[4], positions[5]);
    let path = segment_path(dir.path(), 0);
    let record = fs::read(&path).unwrap()[usize::try_from(at).unwrap()..].to_vec();
    let mut damaged = 0;
    // All but what the body holds: header, the length and the text of topic, that of properties.
    let places = (0..BODY_AT).chain(next - at - 4..next - at);
    for bit in places.flat_map(|byte| (0..8).map(move |bit| 8 * byte + bit)) {
        let image = crash(dir.path());
        let wrong = record[usize::try_from(bit / 8).unwrap()] ^ (1 << (bit % 8));
        overwrite(&segment_path(image.path(), 0), at + bit / 8, &[wrong]);
        let opened = open(image.path());

        assert_eq!(opened.max_position(), store.max_position(), "bit {bit}");
        if let Some(damage) = opened.recovery().damage {
            assert_eq!(damage.position, at, "bit {bit}");
            assert_eq!(damage.next_valid_position, Some(next), "bit {bit}");
            damaged += 1;
        }
    }
    assert!(damaged > 100, "{damaged}");
}

#[test]
fn a_record_inside_a_blank_follows_damage_before_it() {
    let dir = sample::memory_dir();
    let store = open(dir.path());
    let positions = fill(&store, 12);
    let (at, next) = (positions[4], positions[5]);
    let image = crash(dir.path());
    let path = segment_path(image.path(), 0);
    // Without its magic the record reaches one byte far, so that the blank in it is found.
    overwrite(&path, at + 4, &[0xFF]);
    let blank_at = at + 40;
    let size = u32::try_from(SEGMENT_SIZE - blank_at).unwrap();
    overwrite(&path, blank_at, &size.to_be_bytes());
    overwrite(&path, blank_at + 4, &BLANK_MAGIC);
    let mut walk = LogWalk::new(&image.path().join("commitlog")).unwrap();
    let (from, to) = loop {
        if let Step::Damaged { position, next, .. } = walk.step().unwrap().unwrap() {
            break (position, next);
        }
    };

    let opened = second::open(image.path());

    let damage = opened.recovery().damage.unwrap();
    assert_eq!((from, to), (at, next));
    assert_eq!(
        (damage.position, damage.next_valid_position),
        (at, Some(next))
    );
    assert_eq!(opened.max_position(), store.max_position());
}
