//! A sealed queue refuses messages by each way to append, and takes copies of a master's records.

use regent_commitlog::{AppendError, NewMessage, Store};

use crate::support::*;

const TOPIC: &str = "orders";

fn assert_sealed<T: std::fmt::Debug>(outcome: Result<T, AppendError>) {
    let error = outcome.unwrap_err();
    assert!(
        matches!(&error, AppendError::QueueSealed { topic, queue_id: 1 } if topic == TOPIC),
        "{error}"
    );
    assert_eq!(error.code(), "queue_sealed");
}

fn assert_refuses(store: &Store) {
    let message = NewMessage::new(TOPIC, 1, b"late");
    let mut writer = store.writer().unwrap();
    assert_sealed(writer.append(&message, NOW_MS));
    let packed = element(b"late", b"");
    assert_sealed(writer.append_batch(&message, &packed, NOW_MS, &mut Vec::new()));
    let other = NewMessage::new(TOPIC, 0, b"with it");
    assert_sealed(writer.append_unit(&[other, message], NOW_MS));
}

#[test]
fn each_way_to_append_to_a_sealed_queue_is_refused_until_the_seal_is_gone() {
    for has_crc in [false, true] {
        let dir = tempdir();
        let mut config = config(dir.path());
        if has_crc {
            config.crc_property = regent_commitlog::CrcProperty::Verified;
        }
        let store = Store::open(config, NOW_MS).unwrap();
        for _ in 0..3 {
            append(&store, TOPIC, 1, b"x");
        }
        let end = store.max_position();

        assert_eq!(store.seal_queue(TOPIC, 1).unwrap(), 3);
        assert_refuses(&store);

        assert_eq!(store.max_position(), end);
        assert_eq!(store.queue_offsets(TOPIC, 1), Some((0, 3)));
        assert_eq!(append(&store, TOPIC, 0, b"other queue").queue_offset, 0);
        assert_eq!(store.seal_queue(TOPIC, 1).unwrap(), 3);

        assert_eq!(store.unseal_queue(TOPIC, 1).unwrap(), 3);
        assert_eq!(append(&store, TOPIC, 1, b"again").queue_offset, 3);
    }
}

#[test]
fn a_queue_can_be_sealed_before_its_first_message() {
    let dir = tempdir();
    let store = open(dir.path());
    assert_eq!(store.seal_queue(TOPIC, 1).unwrap(), 0);
    assert_refuses(&store);
    store.unseal_queue(TOPIC, 1).unwrap();
    assert_eq!(append(&store, TOPIC, 1, b"first").queue_offset, 0);
}

#[test]
fn a_queue_with_an_illegal_id_or_topic_cannot_be_sealed() {
    let dir = tempdir();
    let store = open(dir.path());
    for (topic, queue_id) in [(TOPIC, -1), ("", 0), ("a/b", 0)] {
        let refused = store.seal_queue(topic, queue_id).unwrap_err();
        assert_eq!(refused.code(), "illegal_message");
    }
}

#[test]
fn a_replica_copies_into_a_sealed_queue_and_keeps_the_seal_over_a_truncation() {
    let (master_dir, replica_dir) = (tempdir(), tempdir());
    let (master, mut replica) = (open(master_dir.path()), open(replica_dir.path()));
    for _ in 0..4 {
        append(&master, TOPIC, 1, b"x");
    }
    replica.seal_queue(TOPIC, 1).unwrap();
    let records: Vec<u8> = read(&master, TOPIC, 1, 0).1;
    assert_eq!(replica.append_copied(0, &records).unwrap(), records.len());
    assert_eq!(replica.queue_offsets(TOPIC, 1), Some((0, 4)));
    assert_refuses(&replica);

    let half = replica.max_position() / 2;
    replica.truncate_to(half).unwrap();

    assert_refuses(&replica);
    assert_eq!(replica.queue_offsets(TOPIC, 1), Some((0, 2)));
}

#[test]
fn a_seal_is_in_memory_only() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, TOPIC, 1, b"x");
    store.seal_queue(TOPIC, 1).unwrap();
    store.close().unwrap();
    drop(store);
    let store = open(dir.path());
    assert_eq!(append(&store, TOPIC, 1, b"y").queue_offset, 1);
}
