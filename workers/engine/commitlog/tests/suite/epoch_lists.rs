//! Which master wrote which part of the log: the list, without a store.

use regent_commitlog::{EpochList, StoreError};

use crate::support::epochs::{epoch, list, pairs};

/// Miri takes a thousand times as long.
const LOG_COUNT: u64 = if cfg!(miri) { 4 } else { 400 };

#[test]
fn each_epoch_ends_where_the_next_begins_and_the_last_with_the_log() {
    let list = list(&[(1, 0), (2, 100), (7, 250)]);

    let ends = [1, 2, 7, 3].map(|number| list.end_of(number, 300));
    let owners = [0, 99, 100, 249, 250, 9_999].map(|at| list.epoch_at(at).unwrap().number);

    assert_eq!(ends, [Some(100), Some(250), Some(300), None]);
    assert_eq!(owners, [1, 1, 2, 2, 7, 7]);
    assert_eq!(EpochList::default().epoch_at(0), None);
}

#[test]
fn an_epoch_that_wrote_nothing_gives_way_to_the_next_and_its_number_is_gone_for_good() {
    let mut list = list(&[(1, 0), (2, 100), (3, 100), (4, 100)]);

    assert_eq!(pairs(&list), [(1, 0), (4, 100)]);
    assert!(list.append(epoch(4, 100)).is_err());
    assert!(list.append(epoch(3, 200)).is_err());
}

#[test]
fn epochs_that_do_not_rise_or_begin_earlier_are_refused_and_change_nothing() {
    let before = list(&[(1, 0), (5, 100)]);
    for (number, start) in [(5, 200), (4, 200), (6, 99), (-1, 100)] {
        let mut list = before.clone();

        let refused = list.append(epoch(number, start)).unwrap_err();

        assert_eq!(StoreError::from(refused).code(), "epoch_refused");
        assert_eq!(list, before);
    }
    let mut empty = EpochList::default();
    assert!(empty.append(epoch(-1, 0)).is_err());
}

#[test]
fn cutting_the_end_removes_epochs_without_a_byte_left() {
    let whole = list(&[(1, 0), (2, 100), (3, 200)]);
    let from = |position| {
        let mut list = whole.clone();
        list.cut_from(position);
        list.as_slice().len()
    };

    assert_eq!([0, 1, 100, 101, 200, 201].map(from), [0, 1, 1, 2, 2, 3]);
}

#[test]
fn of_epochs_that_ended_before_the_log_begins_the_newest_hundred_stay() {
    let whole: Vec<_> = (1..=150)
        .map(|number| (number, number as u64 * 10))
        .collect();
    let first_left = |position| {
        let mut list = list(&whole);
        list.cut_before(position);
        list.as_slice()[0].number
    };

    assert_eq!(
        [0, 1_010, 1_019, 1_020, 9_999].map(first_left),
        [1, 1, 1, 2, 50]
    );
}

#[test]
fn a_log_is_known_to_a_master_that_knows_who_wrote_its_end() {
    let master = list(&[(1, 0), (2, 100), (4, 180)]);
    let cases = [
        (list(&[(1, 0), (2, 100)]), 300, true),
        (list(&[(1, 0), (2, 100), (3, 150)]), 151, false),
        // An epoch that wrote nothing is part of no history.
        (list(&[(1, 0), (2, 100), (3, 150)]), 150, true),
        (list(&[(1, 0), (2, 90)]), 150, false),
        (EpochList::default(), 150, false),
    ];
    for (own, end, expected) in cases {
        assert_eq!(own.is_known_to(&master, end), expected, "{own:?}");
    }
}

#[test]
fn two_logs_are_common_up_to_the_smaller_end_of_the_newest_shared_epoch() {
    let master = list(&[(1, 0), (2, 100), (4, 180)]);
    let cases = [
        (list(&[(1, 0), (2, 100)]), 200, Some(180)),
        (list(&[(1, 0), (2, 100)]), 150, Some(150)),
        (list(&[(1, 0), (3, 100)]), 200, Some(100)),
        (list(&[(1, 0), (2, 100), (3, 150)]), 200, Some(150)),
        (list(&[(1, 0), (2, 110)]), 200, Some(100)),
        (list(&[(1, 0), (2, 100), (4, 180)]), 170, Some(170)),
        (list(&[(9, 0)]), 200, None),
        (EpochList::default(), 200, None),
    ];
    for (replica, replica_end, expected) in cases {
        let common = replica.common_end(replica_end, &master, 300);

        assert_eq!(common, expected, "{replica:?}");
        assert_eq!(master.common_end(300, &replica, replica_end), expected);
    }
}

/// Elections, appends and lost tails of several logs, against the epoch of every single byte.
#[test]
fn a_common_end_never_keeps_a_byte_that_another_epoch_wrote() {
    for seed in 0..LOG_COUNT {
        let mut random = fastrand::Rng::with_seed(seed);
        // One byte of each log is the epoch that wrote it.
        let mut logs: Vec<(Vec<i32>, EpochList)> = vec![Default::default(); 3];
        let mut master = 0;
        logs[master].1.begin(0, 0).unwrap();
        for number in 1..60 {
            match random.u8(..6) {
                0 | 1 => master = elect(&mut random, &mut logs, number),
                2 => {
                    // A crash loses a tail; the list is in its file, and keeps what it held.
                    let crashed = random.usize(..logs.len());
                    let bytes = &mut logs[crashed].0;
                    bytes.truncate(random.usize(..=bytes.len()));
                    // No master goes on in the epoch in which it lost something.
                    if crashed == master {
                        master = elect(&mut random, &mut logs, number);
                    }
                }
                3 => replicate(&mut random, &mut logs, master),
                _ => {
                    let (bytes, list) = &mut logs[master];
                    let number = list.last().unwrap().number;
                    bytes.extend(vec![number; random.usize(..5)]);
                }
            }
            for (bytes, list) in &logs {
                let owner = |at: usize| list.epoch_at(at as u64).map(|epoch| epoch.number);
                assert!(
                    bytes
                        .iter()
                        .enumerate()
                        .all(|(at, byte)| owner(at) == Some(*byte))
                );
                let starts = list.as_slice().windows(2);
                assert!(starts.into_iter().all(|two| {
                    two[0].number < two[1].number && two[0].start_position < two[1].start_position
                }));
            }
        }
    }
}

/// Any log may win; its end decides where its epoch begins.
fn elect(random: &mut fastrand::Rng, logs: &mut [(Vec<i32>, EpochList)], number: i32) -> usize {
    let master = random.usize(..logs.len());
    let (bytes, list) = &mut logs[master];
    list.begin(number, bytes.len() as u64).unwrap();
    master
}

/// Another log cuts itself where it leaves the master's, then copies some of what follows, each
/// part under the epoch that wrote it.
fn replicate(random: &mut fastrand::Rng, logs: &mut [(Vec<i32>, EpochList)], master: usize) {
    let replica = (master + random.usize(1..logs.len())) % logs.len();
    let (master_bytes, master_list) = logs[master].clone();
    let (bytes, list) = &mut logs[replica];
    let common = list.common_end(bytes.len() as u64, &master_list, master_bytes.len() as u64);
    let common = usize::try_from(common.unwrap_or(0)).unwrap();
    if common == 0 {
        // Nothing in common: an operator gives it an empty store.
        (*bytes, *list) = Default::default();
    } else if common < bytes.len() {
        bytes.truncate(common);
        list.cut_from(common as u64);
    }
    assert_eq!(*bytes, master_bytes[..common]);
    list.cut_unwritten(common as u64, &master_list);
    let end = random.usize(common..=master_bytes.len());
    while bytes.len() < end {
        let epoch = master_list.epoch_at(bytes.len() as u64).unwrap();
        if list.last() != Some(epoch) {
            list.append(epoch).unwrap();
        }
        let epoch_end = master_list.end_of(epoch.number, end as u64).unwrap();
        let copied = bytes.len()..usize::try_from(epoch_end).unwrap();
        bytes.extend(&master_bytes[copied]);
    }
}

#[test]
fn a_replica_keeps_no_epoch_without_a_byte_but_the_masters_next_and_its_first() {
    let master = list(&[(1, 0), (3, 100), (4, 200)]);
    let cases = [
        (list(&[(1, 0), (3, 100)]), 80, list(&[(1, 0)])),
        (list(&[(1, 0), (3, 100)]), 100, list(&[(1, 0), (3, 100)])),
        (list(&[(1, 0), (2, 100)]), 100, list(&[(1, 0)])),
        (
            list(&[(1, 0), (3, 100), (4, 200)]),
            101,
            list(&[(1, 0), (3, 100)]),
        ),
        (list(&[(3, 100), (4, 200)]), 80, list(&[(3, 100)])),
        (list(&[(2, 0), (3, 100)]), 0, list(&[])),
        (list(&[(1, 0), (3, 100)]), 0, list(&[(1, 0)])),
        (list(&[]), 80, list(&[])),
    ];
    for (before, log_end, expected) in cases {
        let mut own = before.clone();

        own.cut_unwritten(log_end, &master);

        assert_eq!(own, expected, "{before:?} in a log that ends at {log_end}");
    }
}
