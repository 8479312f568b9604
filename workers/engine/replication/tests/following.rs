//! A replica that follows: its log is the master's, byte for byte, and its queues with it.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::path::Path;

use fastrand::Rng;
use regent_commitlog::{NewMessage, Retention, Store};
use regent_replication::{Handshake, Heard};
use support::*;
use tempfile::tempdir;

const RUN_COUNT: u64 = 24;
const STEP_COUNT: usize = 120;

fn assert_same(master: &Store, replica: &Store) {
    assert_eq!(master.min_position(), replica.min_position());
    assert_eq!(master.max_position(), replica.max_position());
    assert!(log_of(master) == log_of(replica), "the logs differ");
    assert_eq!(queues_of(master), queues_of(replica));
    assert_eq!(master.epochs(), replica.epochs());
}

fn append_any(store: &Store, rng: &mut Rng) {
    let topic = ["orders", "payments", "%RETRY%g", "SCHEDULE_TOPIC_XXXX"][rng.usize(..4)];
    let mut body = vec![0; rng.usize(..3_000)];
    rng.fill(&mut body);
    let properties = [&b""[..], b"TAGS\x01red\x02", b"DELAY\x013\x02"][rng.usize(..3)];
    let transaction_type = [0, 0, 0, 0x4, 0x8, 0xC][rng.usize(..6)];
    let message = NewMessage {
        sys_flag: transaction_type,
        properties,
        ..NewMessage::new(topic, rng.i32(0..3), &body)
    };
    let mut writer = store.writer().unwrap();
    writer.append(&message, NOW_MS + rng.i64(..1_000)).unwrap();
}

/// One step of either side, of the network, or of a crash.
fn step(rng: &mut Rng, wire: &mut Wire, master: &Store, replica: &mut Store, dir: &Path) {
    match rng.u32(..12) {
        0..=3 => append_any(master, rng),
        4 => {
            let newest = master.epochs().last().map_or(0, |last| last.number);
            master.begin_epoch(newest + rng.i32(1..3)).unwrap();
        }
        5 | 6 => wire.up(master, rng.usize(..40)).unwrap(),
        7 | 8 => drop(wire.send(master, rng.usize(1..5_000)).unwrap()),
        9 => wire.down(replica, rng.usize(..6_000)).unwrap(),
        10 => wire.heartbeat(master),
        _ if rng.u32(..4) > 0 => {}
        _ => {
            if rng.bool() {
                replica.close().unwrap();
            }
            // The lock file is free once the old store is gone.
            let unused = tempdir().unwrap();
            *replica = open(unused.path());
            *replica = open(dir);
            *wire = Wire::new(REPLICA, 0);
        }
    }
}

/// O39: a replica that is killed goes on from where its log ends. Phases of an update do not exist here.
#[test]
fn whatever_happens_on_the_way_the_replica_becomes_the_same() {
    for seed in 0..RUN_COUNT {
        let mut rng = Rng::with_seed(seed);
        let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
        let (master, mut replica) = (open(ours.path()), open(theirs.path()));
        master.begin_epoch(1).unwrap();
        let mut wire = Wire::new(REPLICA, 0);

        for _ in 0..STEP_COUNT {
            step(&mut rng, &mut wire, &master, &mut replica, theirs.path());
        }
        wire.finish(&master, &mut replica).unwrap();
        wire.heartbeat(&master);
        wire.down(&mut replica, usize::MAX).unwrap();

        println!("seed {seed}: {} bytes", replica.max_position());
        assert_same(&master, &replica);
        assert_eq!(wire.master.acknowledged(), master.max_position());
        assert_eq!(wire.confirmed, master.max_position());
        let queues = queues_of(&replica);
        replica.close().unwrap();
        drop(replica);
        assert_eq!(queues_of(&open(theirs.path())), queues, "seed {seed}");
    }
}

/// Q43: the log is all that a replica gets.
#[test]
fn the_files_of_closed_logs_are_the_same() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    let mut rng = Rng::with_seed(1);
    (0..60).for_each(|_| append_any(&master, &mut rng));

    Wire::new(REPLICA, 1).finish(&master, &mut replica).unwrap();
    master.close().unwrap();
    replica.close().unwrap();

    let (of_master, of_replica) = (segment_files(ours.path()), segment_files(theirs.path()));
    assert!(of_master.len() > 2);
    assert!(of_master == of_replica);
}

/// A master whose log has lost so many of its oldest segments.
fn late_master(dir: &Path, expired_count: usize) -> Store {
    let master = open(dir);
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 700);
    let oldest = Retention {
        is_forced: true,
        segment_count_max: expired_count,
        ..Retention::default()
    };
    master.flush().unwrap();
    master.expire(&oldest, NOW_MS).unwrap();
    master
}

/// The replica is what it was once it is opened again, after it was closed or killed.
fn assert_opens_again(mut replica: Store, dir: &Path) {
    for is_closed in [false, true] {
        let (start, end) = (replica.min_position(), replica.max_position());
        let (log, queues) = (log_of(&replica), queues_of(&replica));
        if is_closed {
            replica.close().unwrap();
        }
        drop(replica);

        replica = open(dir);

        assert_eq!(replica.recovery().damage, None);
        assert_eq!(
            (replica.min_position(), replica.max_position()),
            (start, end)
        );
        assert!(log_of(&replica) == log, "the logs differ");
        assert_eq!(queues_of(&replica), queues);
    }
}

#[test]
fn an_empty_replica_begins_with_the_oldest_segment_left_and_queues_where_their_records_begin() {
    for expired_count in [1, 2] {
        let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
        let master = late_master(ours.path(), expired_count);
        let mut replica = open(theirs.path());

        Wire::new(REPLICA, 1).finish(&master, &mut replica).unwrap();

        assert_eq!(replica.min_position(), expired_count as u64 * SEGMENT_SIZE);
        assert_same(&master, &replica);
        let first = replica.queue_offsets("orders", 0).unwrap().0;
        assert!(first > 0);
        assert_opens_again(replica, theirs.path());
    }
}

#[test]
fn an_empty_replica_may_begin_with_the_last_segment() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 700);
    let handshake = Handshake {
        is_from_last_segment: true,
        ..REPLICA
    };

    Wire::new(handshake, 1)
        .finish(&master, &mut replica)
        .unwrap();

    assert_eq!(replica.min_position(), master.last_segment_start());
    assert!(replica.min_position() > 0);
    assert_eq!(replica.max_position(), master.max_position());
    assert_opens_again(replica, theirs.path());
}

#[test]
fn a_replica_that_died_before_its_first_byte_begins_with_the_oldest_segment_left() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let master = late_master(ours.path(), 2);
    drop(open(theirs.path()));
    // The segment of a log that has no record yet.
    let unwritten = vec![0; usize::try_from(SEGMENT_SIZE).unwrap()];
    let first = theirs.path().join("commitlog").join(format!("{:020}", 0));
    fs::write(first, unwritten).unwrap();
    let mut replica = open(theirs.path());

    Wire::new(REPLICA, 1).finish(&master, &mut replica).unwrap();

    assert_same(&master, &replica);
    assert_opens_again(replica, theirs.path());
}

#[test]
fn a_replica_that_was_cut_to_nothing_begins_with_the_oldest_segment_left() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let mut replica = open(theirs.path());
    append_some(&replica, "orders", 300);
    replica.truncate_to(0).unwrap();
    let master = late_master(ours.path(), 2);

    Wire::new(REPLICA, 1).finish(&master, &mut replica).unwrap();

    assert_same(&master, &replica);
    assert_opens_again(replica, theirs.path());
}

#[test]
fn a_replica_that_died_within_its_first_record_goes_on() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let master = late_master(ours.path(), 2);
    let mut replica = open(theirs.path());
    let start = master.min_position();
    let first = master.log_slice(start, 50).unwrap();
    assert_eq!(replica.append_copied(start, first.bytes()).unwrap(), 0);
    // As a broker does from time to time.
    replica.flush_tick(NOW_MS).unwrap();
    drop(replica);

    replica = open(theirs.path());
    assert_eq!(replica.recovery().damage, None);
    replica
        .append_copied(start, &log_of(&master)[..SEGMENT_SIZE as usize])
        .unwrap();

    assert_eq!(replica.min_position(), start);
    assert_eq!(replica.max_position(), start + SEGMENT_SIZE);
    assert_opens_again(replica, theirs.path());
}

#[test]
fn a_topic_that_was_deleted_and_made_again_begins_at_offset_0_on_the_replica_too() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 25);
    let mut wire = Wire::new(REPLICA, 1);
    wire.finish(&master, &mut replica).unwrap();

    master.delete_queues_of("orders").unwrap();
    append_some(&master, "orders", 3);
    wire.finish(&master, &mut replica).unwrap();

    assert_same(&master, &replica);
    assert_eq!(replica.queue_offsets("orders", 0), Some((0, 3)));
}

#[test]
fn the_master_hears_who_the_replica_is_and_what_it_holds() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 5);
    let learner = Handshake {
        is_learner: true,
        broker_id: 7,
        ..REPLICA
    };

    let mut wire = Wire::new(learner, 1);
    wire.finish(&master, &mut replica).unwrap();

    assert_eq!(wire.heard[0], Heard::Handshake(learner));
    assert_eq!(wire.heard[1], Heard::Report(0));
    assert_eq!(
        wire.heard.last(),
        Some(&Heard::Report(master.max_position()))
    );
    assert_eq!(wire.master.replica(), Some(learner));
}

#[test]
fn records_are_appended_before_the_rest_of_their_transfer_has_arrived() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 50);
    let mut wire = Wire::new(REPLICA, 1);
    while wire.master.next_position().is_none() {
        wire.up(&master, usize::MAX).unwrap();
        wire.down(&mut replica, usize::MAX).unwrap();
    }
    assert_eq!(wire.master.pending(&master), master.max_position());

    wire.send(&master, usize::MAX).unwrap();
    wire.down(&mut replica, 36 + 1_000).unwrap();

    let size = master.max_position() / 50;
    assert_eq!(replica.max_position(), 1_000 / size * size);
    assert_eq!(wire.master.pending(&master), 0);
    wire.finish(&master, &mut replica).unwrap();
    assert_same(&master, &replica);
}
