//! The bytes on the wire (storage-and-ha.md 9.3).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use regent_replication::{Handshake, MasterLink, ReplicaLink};
use support::*;
use tempfile::tempdir;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: String = hex.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

#[test]
fn a_handshake_has_sixteen_bytes() {
    let handshake = Handshake {
        is_from_last_segment: true,
        is_learner: false,
        broker_id: 3,
    };

    let sent = ReplicaLink::new(handshake, 0).handshake();

    assert_eq!(sent, bytes("00000001 0001 0000 0000000000000003"));
}

#[test]
fn a_greeting_holds_the_end_the_newest_epoch_and_each_epochs_start() {
    let dir = tempdir().unwrap();
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();
    append(&store, "t", 0, b"x");
    store.begin_epoch(5).unwrap();
    append(&store, "t", 0, b"x");

    // A record of 91 bytes and three: topic, body and nothing else.
    let end = "00000001 00000018 00000000000000ba 00000005";
    let epochs = "00000001 0000000000000000 00000005 000000000000005d";
    assert_eq!(MasterLink::greeting(&store), bytes(&[end, epochs].concat()));
}

#[test]
fn a_transfer_carries_its_own_epoch_and_the_confirmed_position() {
    let dir = tempdir().unwrap();
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();
    append(&store, "t", 0, b"x");
    store.begin_epoch(2).unwrap();
    append(&store, "t", 0, b"x");
    let mut link = MasterLink::default();
    let mut heard = Vec::new();
    let said = bytes("00000001 0000 0000 0000000000000002 00000002 0000000000000000");
    link.receive(&said, &store, &mut heard).unwrap();

    let first = link.next_transfer(&store, 1 << 20, 77).unwrap().unwrap();
    let second = link.next_transfer(&store, 1 << 20, 77).unwrap().unwrap();
    let beat = link.heartbeat(&store, 78).unwrap();

    // The batch ends with its epoch and is labelled with it (storage-and-ha.md 11.4, trap 46).
    let head = "00000002 0000005d 0000000000000000 00000001 0000000000000000 000000000000004d";
    assert_eq!(first.header[..], bytes(head));
    assert_eq!(first.body.bytes().len(), 93);
    let head = "00000002 0000005d 000000000000005d 00000002 000000000000005d 000000000000004d";
    assert_eq!(second.header[..], bytes(head));
    let head = "00000002 00000000 00000000000000ba 00000002 000000000000005d 000000000000004e";
    assert_eq!(beat[..], bytes(head));
}

#[test]
fn nothing_is_sent_before_the_first_report() {
    let dir = tempdir().unwrap();
    let store = open(dir.path());
    store.begin_epoch(1).unwrap();
    append(&store, "t", 0, b"x");
    let mut link = MasterLink::default();
    let mut heard = Vec::new();
    let hello = ReplicaLink::new(REPLICA, 0).handshake();

    link.receive(&hello, &store, &mut heard).unwrap();

    assert!(link.next_transfer(&store, 100, 0).unwrap().is_none());
    assert!(link.heartbeat(&store, 0).is_none());
}
