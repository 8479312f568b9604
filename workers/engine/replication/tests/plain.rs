//! The default protocol, whose vectors are in storage-and-ha.md 9.2.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use regent_replication::{LinkError, MasterLink, ReplicaLink};
use support::*;
use tempfile::tempdir;

#[test]
fn a_report_has_eight_bytes_and_a_transfer_begins_with_twelve() {
    let dir = tempdir().unwrap();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    let mut link = MasterLink::plain(7);
    let mut heard = Vec::new();

    link.receive(&0_u64.to_be_bytes(), &store, &mut heard)
        .unwrap();
    let sent = link.next_transfer(&store, 1 << 20, 0).unwrap().unwrap();
    let header = sent.header.clone();
    let size = sent.body.bytes().len();
    let beat = link.heartbeat(&store, 0).unwrap();

    assert_eq!(size, 93);
    assert_eq!(header, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 93]);
    assert_eq!(beat, [0, 0, 0, 0, 0, 0, 0, 93, 0, 0, 0, 0]);
    assert_eq!(link.replica().unwrap().broker_id, 7);
}

#[test]
fn a_replica_copies_the_log_in_frames_of_any_size_and_reports_it() {
    for size_max in [1, 2, 11, 12, 13, 4096] {
        let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
        let master = open(ours.path());
        let mut replica = open(theirs.path());
        for n in 0..40_u8 {
            append(&master, "t", 0, &vec![n; usize::from(n) * 40 + 1]);
        }
        let mut wire = Wire::plain(&replica);

        while replica.max_position() < master.max_position() {
            wire.up(&master, usize::MAX).unwrap();
            wire.send(&master, 700).unwrap();
            wire.heartbeat(&master);
            while wire.on_its_way() > 0 {
                wire.down(&mut replica, size_max).unwrap();
            }
        }
        wire.up(&master, usize::MAX).unwrap();

        assert_eq!(wire.confirmed, master.max_position());
        assert_eq!(wire.master.acknowledged(), master.max_position());
        assert!(replica.epochs().as_slice().is_empty());
    }
}

#[test]
fn a_log_that_the_master_does_not_continue_is_left_as_it_is() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let master = open(ours.path());
    let replica = open(theirs.path());
    append(&master, "t", 0, b"x");
    append(&replica, "t", 0, b"xy");
    append(&replica, "t", 0, b"y");
    let mut wire = Wire::plain(&replica);

    // The replica is ahead: its master lost the end of its log.
    let refused = wire.up(&master, usize::MAX).unwrap_err();

    assert!(matches!(refused, LinkError::OutOfReach { .. }));
    let mut link = ReplicaLink::plain();
    let _ = link.begin(&replica);
    let beat = [&[0; 7][..], &[9, 0, 0, 0, 0]].concat();
    let refused = link.receive(&beat, &replica).unwrap_err();
    assert!(matches!(refused, LinkError::Gap { sent: 9, .. }));
}

#[test]
fn a_frame_of_garbage_is_refused() {
    let dir = tempdir().unwrap();
    let store = open(dir.path());
    let mut heard = Vec::new();

    let report = MasterLink::plain(1).receive(&[0xff; 8], &store, &mut heard);
    let mut link = ReplicaLink::plain();
    let _ = link.begin(&store);
    let transfer = link.receive(&[0xff; 12], &store);

    assert!(matches!(report, Err(LinkError::Protocol(_))));
    assert!(matches!(transfer, Err(LinkError::Protocol(_))));
}
