//! Histories that part: failovers, stale masters, and bytes that do not belong.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use fastrand::Rng;
use regent_commitlog::{Epoch, EpochList, Retention, Store, StoreError};
use regent_replication::{Agreement, Greeting, Heard, LinkError, MasterLink, ReplicaLink, agree};
use support::*;
use tempfile::{TempDir, tempdir};

fn greeting(log_end: u64, epochs: &[(i32, u64)]) -> Greeting {
    Greeting {
        log_end,
        last_epoch: epochs.last().map_or(-1, |last| last.0),
        epochs: list(epochs),
    }
}

fn list(epochs: &[(i32, u64)]) -> EpochList {
    let mut list = EpochList::default();
    for (number, start_position) in epochs.iter().copied() {
        let epoch = Epoch {
            number,
            start_position,
        };
        list.append(epoch).unwrap();
    }
    list
}

#[test]
fn histories_agree_up_to_the_end_of_their_newest_common_epoch() {
    let own = list(&[(1, 0), (2, 100)]);
    let cases = [
        (150, greeting(900, &[(1, 0), (2, 100)]), Agreement::Same),
        (
            150,
            greeting(120, &[(1, 0), (2, 100)]),
            Agreement::CutTo(120),
        ),
        (
            150,
            greeting(900, &[(1, 0), (2, 100), (3, 130)]),
            Agreement::CutTo(130),
        ),
        (150, greeting(900, &[(1, 0), (3, 80)]), Agreement::CutTo(80)),
        (150, greeting(900, &[(1, 0), (2, 90)]), Agreement::CutTo(90)),
        (150, greeting(900, &[(4, 0)]), Agreement::Apart),
        (150, greeting(0, &[]), Agreement::Apart),
        (0, greeting(900, &[(4, 0)]), Agreement::Same),
    ];

    for (own_end, greeting, expected) in cases {
        assert_eq!(agree(&own, own_end, &greeting), expected, "{greeting:?}");
    }
    let without_epochs = agree(&EpochList::default(), 150, &greeting(900, &[(1, 0)]));
    assert_eq!(without_epochs, Agreement::Apart);
}

#[test]
fn an_old_master_that_comes_back_gives_up_what_no_other_held() {
    let (one, two) = (tempdir().unwrap(), tempdir().unwrap());
    let (mut old, mut new) = (open(one.path()), open(two.path()));
    old.begin_epoch(1).unwrap();
    append_some(&old, "orders", 400);
    Wire::new(REPLICA, 1).finish(&old, &mut new).unwrap();
    let shared = new.max_position();
    append_some(&old, "orders", 30);
    new.begin_epoch(2).unwrap();
    append_some(&new, "payments", 300);

    Wire::new(REPLICA, 2).finish(&new, &mut old).unwrap();

    assert!(log_of(&old) == log_of(&new));
    assert_eq!(queues_of(&old), queues_of(&new));
    assert_eq!(old.epochs(), list(&[(1, 0), (2, shared)]));
    assert_eq!(old.queue_offsets("orders", 0), Some((0, 400)));
}

/// Two stores with the same records of epoch 1, the second of which has begun epoch 3 behind them.
fn two_of_which_one_began_an_epoch(dirs: &[TempDir; 2]) -> (Store, Store) {
    let (master, mut replica) = (open(dirs[0].path()), open(dirs[1].path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 40);
    Wire::new(REPLICA, 1).finish(&master, &mut replica).unwrap();
    replica.begin_epoch(3).unwrap();
    (master, replica)
}

#[test]
fn a_replica_whose_newest_epoch_lies_ahead_of_its_log_follows_again() {
    let dirs = [(); 2].map(|()| tempdir().unwrap());
    let (mut older, master) = two_of_which_one_began_an_epoch(&dirs);
    append_some(&master, "orders", 3);
    Wire::new(REPLICA, 3).finish(&master, &mut older).unwrap();
    // The epoch was synced before it served, the log before it was not.
    let mut replica = cut_power(older, dirs[0].path(), 20);
    let both = list(&[(1, 0), (3, records(&master)[40])]);
    assert_eq!(replica.epochs(), both);

    Wire::new(REPLICA, 3).finish(&master, &mut replica).unwrap();

    assert!(log_of(&master) == log_of(&replica));
    assert_eq!(replica.epochs(), both);
}

#[test]
fn an_epoch_that_only_a_replica_knows_gives_way_although_no_byte_of_it_is_cut() {
    for kept_count in [20, 40] {
        let dirs = [(); 2].map(|()| tempdir().unwrap());
        let (master, replica) = two_of_which_one_began_an_epoch(&dirs);
        // Elected although it was not in the set.
        append_some(&master, "orders", 10);
        master.begin_epoch(4).unwrap();
        let mut replica = cut_power(replica, dirs[1].path(), kept_count);

        let mut wire = Wire::new(REPLICA, 4);
        wire.finish(&master, &mut replica).unwrap();
        wire.heartbeat(&master);
        wire.down(&mut replica, usize::MAX).unwrap();

        assert!(log_of(&master) == log_of(&replica));
        assert_eq!(replica.epochs(), master.epochs());
    }
}

#[test]
fn a_master_whose_log_ends_before_an_epoch_of_a_replica_gives_it_the_newer_epoch() {
    let dirs = [(); 2].map(|()| tempdir().unwrap());
    let (master, replica) = two_of_which_one_began_an_epoch(&dirs);
    let master = cut_power(master, dirs[0].path(), 20);
    master.begin_epoch(4).unwrap();
    let mut replica = cut_power(replica, dirs[1].path(), 20);

    let mut wire = Wire::new(REPLICA, 4);
    wire.finish(&master, &mut replica).unwrap();
    wire.heartbeat(&master);
    wire.down(&mut replica, usize::MAX).unwrap();

    assert_eq!(
        replica.epochs(),
        list(&[(1, 0), (4, master.max_position())])
    );
}

#[test]
fn an_epoch_without_a_record_yet_is_known_over_the_next_connection_too() {
    let dirs = [(); 2].map(|()| tempdir().unwrap());
    let (mut replica, master) = two_of_which_one_began_an_epoch(&dirs);
    for _ in 0..2 {
        let mut wire = Wire::new(REPLICA, 3);
        wire.finish(&master, &mut replica).unwrap();
        wire.heartbeat(&master);
        wire.down(&mut replica, usize::MAX).unwrap();

        assert_eq!(replica.epochs(), master.epochs());
    }
}

/// O38: a replica that has a part of the log goes on with the next master.
#[test]
fn masters_change_again_and_again_and_the_logs_stay_one() {
    for seed in 0..8 {
        let mut rng = Rng::with_seed(seed);
        let dirs = [(); 3].map(|()| tempdir().unwrap());
        let mut stores: Vec<_> = dirs.iter().map(|dir| (open(dir.path()), dir)).collect();
        for epoch in 1..8 {
            // Any of them may be next: all hold what was confirmed, but for one whose power was cut,
            // which is elected all the same.
            let at = rng.usize(..stores.len());
            let (master, master_dir) = stores.swap_remove(at);
            master.begin_epoch(epoch).unwrap();
            append_some(&master, "orders", rng.u32(..200));
            for (replica, _) in &mut stores {
                Wire::new(REPLICA, epoch).finish(&master, replica).unwrap();
                assert!(log_of(&master) == log_of(replica), "seed {seed}");
                assert_eq!(queues_of(&master), queues_of(replica), "seed {seed}");
            }
            append_some(&master, "unconfirmed", rng.u32(..40));
            let (replica, _) = &mut stores[rng.usize(..2)];
            let mut wire = Wire::new(REPLICA, epoch);
            wire.up(&master, usize::MAX).unwrap();
            wire.down(replica, usize::MAX).unwrap();
            wire.up(&master, usize::MAX).unwrap();
            while rng.u32(..4) > 0 && wire.send(&master, rng.usize(1..500)).unwrap() {}
            wire.down(replica, usize::MAX).unwrap();
            stores.push((master, master_dir));
            if rng.bool() {
                continue;
            }
            let (unlucky, dir) = stores.swap_remove(rng.usize(..3));
            let records = records(&unlucky);
            let on_disk = |at: &u64| *at < unlucky.flushed_position();
            // Without its first record a log would have nothing in common with the others.
            let kept_min = records.partition_point(on_disk).max(1);
            let kept_count = rng.usize(kept_min..=records.len().max(kept_min));
            stores.push((cut_power(unlucky, dir.path(), kept_count), dir));
        }
    }
}

#[test]
fn a_master_older_than_the_controller_said_is_refused() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(4).unwrap();
    let mut wire = Wire::new(REPLICA, 5);
    wire.up(&master, usize::MAX).unwrap();

    let refused = wire.down(&mut replica, usize::MAX);

    assert!(matches!(
        refused,
        Err(LinkError::StaleMaster {
            master: 4,
            known: 5
        })
    ));
}

/// O34: of a damaged record at one member.
#[test]
fn damage_on_the_way_is_never_taken_over() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 3);
    let mut wire = Wire::new(REPLICA, 1);
    wire.up(&master, usize::MAX).unwrap();
    wire.down(&mut replica, usize::MAX).unwrap();
    wire.up(&master, usize::MAX).unwrap();
    wire.send(&master, usize::MAX).unwrap();
    let record_size = usize::try_from(master.max_position()).unwrap() / 3;
    // The first byte of the second record's body.
    wire.flip(36 + record_size + 88);

    let refused = wire.down(&mut replica, usize::MAX);

    assert!(matches!(
        refused,
        Err(LinkError::Store(StoreError::Corrupt { .. }))
    ));
    assert_eq!(replica.max_position(), record_size as u64);
    assert_eq!(replica.queue_offsets("orders", 0), Some((0, 1)));
    Wire::new(REPLICA, 1).finish(&master, &mut replica).unwrap();
    assert!(log_of(&master) == log_of(&replica));
}

#[test]
fn bytes_for_another_place_are_refused_heartbeats_too() {
    let (ours, theirs) = (tempdir().unwrap(), tempdir().unwrap());
    let (master, mut replica) = (open(ours.path()), open(theirs.path()));
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 3);
    let mut wire = Wire::new(REPLICA, 1);
    wire.finish(&master, &mut replica).unwrap();
    append_some(&master, "orders", 3);
    let mut other = MasterLink::default();
    let mut heard = Vec::new();
    let hello = ReplicaLink::new(REPLICA, 1).handshake();
    other.receive(&hello, &master, &mut heard).unwrap();
    let report = [&2_i32.to_be_bytes()[..], &0_i64.to_be_bytes()].concat();
    other.receive(&report, &master, &mut heard).unwrap();
    let beat = other.heartbeat(&master, 0).unwrap();

    let refused = wire.replica.receive(&beat, &replica);

    assert!(matches!(refused, Err(LinkError::Gap { sent: 0, .. })));
}

#[test]
fn a_replica_ahead_of_the_end_is_refused() {
    let ours = tempdir().unwrap();
    let master = open(ours.path());
    master.begin_epoch(1).unwrap();
    append_some(&master, "orders", 3);
    let mut link = MasterLink::default();
    let mut heard = Vec::new();
    let hello = ReplicaLink::new(REPLICA, 1).handshake();
    link.receive(&hello, &master, &mut heard).unwrap();
    let report = [&2_i32.to_be_bytes()[..], &9_999_i64.to_be_bytes()].concat();

    let refused = link.receive(&report, &master, &mut heard);

    assert!(matches!(
        refused,
        Err(LinkError::OutOfReach { wanted: 9_999, .. })
    ));
    assert_eq!(heard, [Heard::Handshake(REPLICA)]);
}

#[test]
fn a_replica_that_begins_where_older_epochs_have_expired_knows_of_them() {
    let dirs = [(); 2].map(|()| tempdir().unwrap());
    let (master, mut replica) = (open(dirs[0].path()), open(dirs[1].path()));
    for number in 1..4 {
        master.begin_epoch(number).unwrap();
        append_some(&master, "orders", 400);
    }
    master.flush().unwrap();
    let retention = Retention {
        log_bytes_max: Some(SEGMENT_SIZE),
        segment_count_max: usize::MAX,
        ..Retention::default()
    };
    master.expire(&retention, NOW_MS).unwrap();
    assert!(master.min_position() > master.epochs().as_slice()[2].start_position);

    Wire::new(REPLICA, 3).finish(&master, &mut replica).unwrap();

    assert_eq!(replica.epochs(), master.epochs());
    assert_eq!(replica.epochs().as_slice().len(), 3);
    // One that left in the first epoch finds in either log that it holds a beginning.
    assert!(list(&[(1, 0)]).is_known_to(&replica.epochs(), 400));
}

#[test]
fn any_bytes_are_an_error_or_wait_for_more() {
    let ours = tempdir().unwrap();
    let store = open(ours.path());
    for seed in 0..20_000 {
        let mut rng = Rng::with_seed(seed);
        let mut bytes = vec![0; rng.usize(..90)];
        rng.fill(&mut bytes);
        if rng.bool() && bytes.len() > 8 {
            let state = if rng.bool() { 1_i32 } else { 2 };
            bytes[..4].copy_from_slice(&state.to_be_bytes());
            bytes[4..6].fill(0);
        }
        let mut heard = Vec::new();
        let _ = MasterLink::default().receive(&bytes, &store, &mut heard);
        let _ = ReplicaLink::new(REPLICA, 0).receive(&bytes, &store);
        let mut ready = ReplicaLink::new(REPLICA, 0);
        let _ = ready.begin(&store);
        let _ = ready.receive(&bytes, &store);
        assert_eq!(store.max_position(), 0);
    }
}
