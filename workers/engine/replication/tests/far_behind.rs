//! A replica that is far behind takes much at once, and its log is the master's nevertheless.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::path::Path;

use fastrand::Rng;
use regent_commitlog::{CrcProperty, NewMessage, Store, StoreConfig, StoreError};
use regent_replication::LinkError;
use support::{NOW_MS, REPLICA, Wire, log_of, queues_of};
use tempfile::tempdir;

const SEGMENT_SIZE: u64 = 1 << 20;
const TRANSFER_SIZE: usize = 256 << 10;
/// Where a record keeps its offset in its queue.
const QUEUE_OFFSET_AT: usize = 20;

fn open(dir: &Path) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.index_enabled = false;
    Store::open(config, NOW_MS).unwrap()
}

fn fill(store: &Store, rng: &mut Rng, end: u64) {
    while store.max_position() < end {
        let topic = ["orders", "payments", "SCHEDULE_TOPIC_XXXX"][rng.usize(..3)];
        let mut body = vec![0; rng.usize(..6_000)];
        rng.fill(&mut body);
        let message = NewMessage::new(topic, rng.i32(0..3), &body);
        let mut writer = store.writer().unwrap();
        writer.append(&message, NOW_MS + rng.i64(..1_000)).unwrap();
    }
}

/// Asks for the log and has transfers of it on their way.
fn ask(wire: &mut Wire, master: &Store, replica: &mut Store, transfer_count: usize) {
    while wire.master.next_position().is_none() {
        wire.up(master, usize::MAX).unwrap();
        wire.down(replica, usize::MAX).unwrap();
    }
    for _ in 0..transfer_count {
        wire.send(master, TRANSFER_SIZE).unwrap();
    }
}

/// Positions at which records begin, and the sizes of these.
fn records(log: &[u8]) -> Vec<(usize, usize)> {
    let mut at = 0;
    let mut found = Vec::new();
    while at < log.len() {
        let size = u32::from_be_bytes(log[at..at + 4].try_into().unwrap()) as usize;
        found.push((at, size));
        at += size;
    }
    found
}

/// Q41, Q50: what is appended while a replica is far behind comes behind the rest.
#[test]
fn however_much_arrives_at_once_the_log_and_the_queues_become_the_same() {
    for seed in 0..6 {
        let mut rng = Rng::with_seed(seed);
        let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
        let (master, mut replica) = (open(ours.path()), open(theirs.path()));
        master.begin_epoch(1).unwrap();
        fill(&master, &mut rng, 4 * SEGMENT_SIZE + 300_000);
        let mut wire = Wire::new(REPLICA, 1);
        ask(
            &mut wire,
            &master,
            &mut replica,
            usize::from(seed != 0) * 40,
        );

        while wire.on_its_way() > 0 {
            wire.down(&mut replica, rng.usize(1..500_000)).unwrap();
        }
        wire.finish(&master, &mut replica).unwrap();
        fill(&master, &mut rng, 5 * SEGMENT_SIZE);
        wire.finish(&master, &mut replica).unwrap();

        assert!(log_of(&master) == log_of(&replica), "seed {seed}");
        assert_eq!(queues_of(&master), queues_of(&replica), "seed {seed}");
        let queues = queues_of(&replica);
        replica.close().unwrap();
        drop(replica);
        let reopened = open(theirs.path());
        assert!(log_of(&master) == log_of(&reopened), "seed {seed}");
        assert_eq!(queues_of(&reopened), queues, "seed {seed}");
    }
}

#[test]
fn no_pages_are_made_ahead_of_what_is_written_at_once() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    fill(&master, &mut Rng::with_seed(1), 3 * SEGMENT_SIZE + 600_000);
    let mut wire = Wire::new(REPLICA, 1);

    ask(&mut wire, &master, &mut replica, 40);
    wire.down(&mut replica, usize::MAX).unwrap();

    assert_eq!(replica.max_position(), master.max_position());
    assert_eq!(replica.populated_position(), 3 * SEGMENT_SIZE);
}

#[test]
fn what_is_before_damage_is_held_and_nothing_behind_it() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    fill(&master, &mut Rng::with_seed(2), 400_000);
    let log = log_of(&master);
    let (damaged, size) = records(&log)[60];
    assert!(damaged > 100_000 && size > 200);
    let mut wire = Wire::new(REPLICA, 1);
    ask(&mut wire, &master, &mut replica, 4);
    // Behind the header of the first transfer, within the body.
    wire.flip(36 + damaged + 150);

    let refused = wire.down(&mut replica, usize::MAX).unwrap_err();

    let LinkError::Store(StoreError::Corrupt { position, .. }) = refused else {
        panic!("{refused}");
    };
    assert_eq!(position, damaged as u64);
    assert_eq!(replica.max_position(), damaged as u64);
    drop(replica);
    let reopened = open(theirs.path());
    assert!(log_of(&reopened) == log[..damaged]);
}

#[test]
fn records_that_find_no_place_in_a_queue_leave_nothing_behind_the_end() {
    let theirs = tempdir().unwrap();
    let ours = tempdir().unwrap();
    let (master, replica) = (open(ours.path()), open(theirs.path()));
    fill(&master, &mut Rng::with_seed(3), 400_000);
    let mut log = log_of(&master);
    let all = records(&log);
    let (refused_at, _) = all[50];
    assert!(refused_at > 100_000);
    // No checksum covers it: that there is no room for as many records before it is noticed when
    // all of them are in the file already.
    let at = refused_at + QUEUE_OFFSET_AT;
    log[at..at + 8].copy_from_slice(&(1_u64 << 40).to_be_bytes());

    let refused = replica.append_copied(0, &log);

    assert!(matches!(refused, Err(StoreError::Corrupt { .. })));
    assert_eq!(replica.max_position(), refused_at as u64);
    let file = std::fs::read(theirs.path().join("commitlog").join(format!("{:020}", 0))).unwrap();
    assert!(file[..refused_at] == log[..refused_at]);
    assert!(file[refused_at..].iter().all(|byte| *byte == 0));
    drop(replica);
    assert_eq!(open(theirs.path()).max_position(), refused_at as u64);
}

#[test]
fn who_requires_the_checksum_of_whole_records_takes_none_without() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let master = open(ours.path());
    fill(&master, &mut Rng::with_seed(4), 200_000);
    let mut config = StoreConfig::new(theirs.path());
    config.segment_size_bytes = SEGMENT_SIZE;
    config.index_enabled = false;
    config.crc_property = CrcProperty::Required;
    let replica = Store::open(config, NOW_MS).unwrap();

    let refused = replica.append_copied(0, &log_of(&master));

    let Err(StoreError::Corrupt { position: 0, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(replica.max_position(), 0);
}
