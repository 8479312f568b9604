//! Records of several queues that are appended as one unit.

use std::fs;

use regent_commitlog::{CrcProperty, NewMessage, Store};

use crate::support::*;

fn append_unit(store: &Store, messages: &[NewMessage<'_>]) -> Vec<regent_commitlog::Appended> {
    let mut writer = store.writer().unwrap();
    writer.append_unit(messages, NOW_MS).unwrap()
}

#[test]
fn a_unit_lies_in_one_piece_and_continues_each_of_its_queues() {
    for has_crc in [false, true] {
        let dir = tempdir();
        let mut config = config(dir.path());
        if has_crc {
            config.crc_property = CrcProperty::Verified;
        }
        let store = Store::open(config.clone(), NOW_MS).unwrap();
        append(&store, "a", 0, b"before");
        let start = store.max_position();

        let appended = append_unit(
            &store,
            &[
                NewMessage::new("a", 0, b"1"),
                NewMessage::new("b", 2, b"22"),
                NewMessage::new("a", 0, b"333"),
                NewMessage::new("a", 1, b"4444"),
            ],
        );

        let offsets: Vec<_> = appended.iter().map(|it| it.queue_offset).collect();
        assert_eq!(offsets, [1, 0, 2, 0]);
        let mut next = start;
        for one in &appended {
            assert_eq!(one.log_position, next);
            next += u64::from(one.size);
        }
        assert_eq!(store.max_position(), next);
        let held = |store: &Store| {
            let bodies = |topic, id| read_all(store, topic, id).into_iter().map(|(_, body)| body);
            assert!(bodies("a", 0).eq([b"before".to_vec(), b"1".to_vec(), b"333".to_vec()]));
            assert!(bodies("a", 1).eq([b"4444".to_vec()]));
            assert!(bodies("b", 2).eq([b"22".to_vec()]));
        };
        held(&store);
        let counters = store.counters();
        assert_eq!(counters.total.message_count, 5);

        drop(store);
        held(&Store::open(config, NOW_MS).unwrap());
    }
}

#[test]
fn a_half_message_in_a_unit_occupies_no_queue() {
    const PREPARED: i32 = 4;
    let dir = tempdir();
    let store = open(dir.path());
    let mut half = NewMessage::new("t", 0, b"half");
    half.sys_flag = PREPARED;

    let appended = append_unit(&store, &[half, NewMessage::new("t", 0, b"whole")]);

    assert_eq!((appended[0].queue_offset, appended[1].queue_offset), (0, 0));
    assert_eq!(store.queue_offsets("t", 0), Some((0, 1)));
}

#[test]
fn of_a_unit_with_a_message_that_is_refused_nothing_is_written() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    let end = store.max_position();
    let good = NewMessage::new("t", 0, b"good");
    let large = vec![0; usize::try_from(SEGMENT_SIZE).unwrap()];
    let too_much = [good; 200];
    for bad in [
        NewMessage::new("", 0, b"no topic"),
        NewMessage::new("t", -1, b"no queue"),
        NewMessage::new("t", 0, &large),
    ] {
        let mut writer = store.writer().unwrap();
        writer.append_unit(&[good, bad], NOW_MS).unwrap_err();
    }
    let refused = store.writer().unwrap().append_unit(&too_much, NOW_MS);
    assert_eq!(refused.unwrap_err().code(), "illegal_message");

    assert_eq!(store.max_position(), end);
    assert_eq!(store.queue_offsets("t", 0), Some((0, 1)));
    assert_eq!(append_unit(&store, &[]), []);
    assert_eq!(append_unit(&store, &[good])[0].queue_offset, 1);
}

#[test]
fn a_unit_that_does_not_fit_begins_the_next_segment() {
    let dir = tempdir();
    let store = open(dir.path());
    let message = NewMessage::new("t", 0, &[7; 500]);
    while SEGMENT_SIZE - store.max_position() > 1_000 {
        append_unit(&store, &[message]);
    }
    let appended = append_unit(&store, &[message, message]);
    assert_eq!(appended[0].log_position, SEGMENT_SIZE);
    assert!(fs::metadata(segment_path(dir.path(), SEGMENT_SIZE)).is_ok());
}
