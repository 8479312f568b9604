//! The owner and those who only read its records come to the same state.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use fastrand::Rng;
use regent_share::{
    Act, Applied, Body, DECIDED, Decoded, Delivery, Disposition, Entry, Lane, Policy, Ranges,
    Record, Records, Refused, Verdict, WINDOW,
};

const SQ: u64 = 1;
const OFFSET_COUNT: u64 = 24;

fn record(epoch: u64, flags: u16, body: Body) -> Record {
    Record {
        flags,
        sq_id: SQ,
        epoch,
        body,
    }
}

fn wired() -> Lane {
    let mut lane = Lane::default();
    let body = Body::Wire {
        topic: "Orders".into(),
        queue_id: 0,
        group: "billing".into(),
        policy: Policy {
            attempts: 16,
            discards: false,
            is_ordered: false,
            window: 4096,
        },
    };
    lane.apply(&record(0, 0, body)).unwrap();
    lane
}

fn some_offsets(rng: &mut Rng) -> Ranges {
    let count = rng.usize(1..5);
    (0..count).map(|_| rng.u64(0..OFFSET_COUNT)).collect()
}

fn some_delivery(rng: &mut Rng) -> Delivery {
    Delivery {
        pop_time_ms: rng.i64(1..6),
        tag: rng.u16(1..3),
    }
}

/// Any record, most of them with a meaning at this moment.
fn some_record(rng: &mut Rng, lane: &Lane) -> Record {
    let queue = &lane.get(SQ).unwrap().queue;
    let mut epoch = queue.epoch();
    let (ranges, delivery) = (some_offsets(rng), some_delivery(rng));
    let body = match rng.u8(0..12) {
        0 => {
            epoch += u64::from(rng.u8(0..4) != 0);
            Body::Own { member: 1 }
        }
        1..=3 => Body::Acquire {
            delivery: queue.next_delivery(rng.i64(0..6), false),
            client: rng.u64(1..3),
            ranges: ranges
                .offsets()
                .filter(|offset| matches!(queue.entry(*offset), Entry::Available { .. }))
                .collect(),
            deadline_ms: rng.i64(10..13),
        },
        4 | 5 => Body::Accept { delivery, ranges },
        6 => Body::Release {
            delivery,
            ranges,
            visible_at_ms: 0,
        },
        7 => Body::Renew {
            delivery,
            ranges,
            pop_time_ms: queue.next_delivery(0, false).pop_time_ms,
            deadline_ms: 20,
        },
        8 => Body::Reject {
            delivery,
            ranges,
            disposition: Disposition::DeadLetter,
        },
        9 => Body::Expire {
            ranges,
            deadline_ms: rng.i64(10..13),
        },
        10 => Body::Gap { ranges },
        _ => Body::ClientGone {
            client: rng.u64(1..3),
        },
    };
    record(epoch, 0, body)
}

/// What changed of FORGOTTEN entries: nothing, ever (OI-3).
fn assert_finality(before: &Lane, after: &Lane) {
    let [before, after] = [before, after].map(|lane| &lane.get(SQ).unwrap().queue);
    assert!(after.start() >= before.start(), "OI-4");
    for offset in 0..OFFSET_COUNT {
        if before.entry(offset) == Entry::Forgotten {
            assert_eq!(after.entry(offset), Entry::Forgotten, "OI-3");
        }
    }
    assert!(after.end() - after.start() <= WINDOW);
}

/// Q35, Q38, Q66: no clock and no setting takes part, only the order of the records.
#[test]
fn oi_7_a_replay_of_the_records_gives_the_state_of_the_writer() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let (mut writer, mut log) = (wired(), Vec::new());
        let mut snapshot_at = None;
        for _ in 0..200 {
            let next = some_record(&mut rng, &writer);
            let judged = writer.judge(&next);
            let before = writer.clone();

            let applied = writer.apply(&next);

            assert_eq!(applied, judged, "judging is what applying does");
            assert_finality(&before, &writer);
            if applied.is_err() {
                assert_eq!(writer, before, "a refused record changes nothing");
                continue;
            }
            next.encode(&mut log);
            if snapshot_at.is_none() && rng.u8(0..50) == 0 {
                snapshot_at = Some((log.len(), writer.snapshot(|_| true).collect::<Vec<_>>()));
            }
        }
        let mut reader = wired();
        replay(&mut reader, &log);
        assert_eq!(reader, writer, "seed {seed}");

        if let Some((at, snapshot)) = snapshot_at {
            let mut late = Lane::default();
            for one in snapshot.iter().flatten() {
                late.apply(one).unwrap();
            }
            replay(&mut late, &log[at..]);
            assert_eq!(late, writer, "seed {seed}");
        }
    }
}

#[test]
fn decided_records_give_appliers_the_finished_messages_of_the_owner() {
    for seed in 0..200 {
        let mut rng = Rng::with_seed(seed);
        let (mut owner, mut applier) = (wired(), wired());
        let own = record(1, 0, Body::Own { member: 1 });
        owner.apply(&own).unwrap();
        applier.apply(&own).unwrap();
        for _ in 0..200 {
            let next = some_record(&mut rng, &owner);
            let is_decision = matches!(next.body, Body::Accept { .. } | Body::Reject { .. });
            let is_logged = matches!(next.body, Body::Own { .. } | Body::Gap { .. });
            let Ok(applied) = owner.apply(&next) else {
                continue;
            };
            if is_logged {
                applier.apply(&next).unwrap();
            } else if is_decision && !applied.done.is_empty() {
                applier.apply(&decided(&next, &applied)).unwrap();
            }
            let [one, other] =
                [&owner, &applier].map(|lane| lane.get(SQ).unwrap().queue.snapshot(false));
            assert_eq!(
                (one.start, one.runs),
                (other.start, other.runs),
                "seed {seed}"
            );
        }
    }
}

fn decided(record: &Record, applied: &Applied) -> Record {
    let ranges = applied.done.clone();
    let body = match &record.body {
        Body::Reject {
            delivery,
            disposition,
            ..
        } => Body::Reject {
            delivery: *delivery,
            ranges,
            disposition: *disposition,
        },
        Body::Accept { delivery, .. } => Body::Accept {
            delivery: *delivery,
            ranges,
        },
        other => panic!("{other:?}"),
    };
    Record {
        flags: DECIDED,
        body,
        ..record.clone()
    }
}

/// Q5, Q19.
#[test]
fn oi_1_a_record_of_a_former_owner_is_refused() {
    let mut lane = wired();
    lane.apply(&record(4, 0, Body::Own { member: 1 })).unwrap();
    lane.apply(&record(5, 0, Body::Own { member: 2 })).unwrap();

    let ranges = Ranges::of(0..2);
    let delivery = some_delivery(&mut Rng::with_seed(1));
    for body in [
        Body::Own { member: 1 },
        Body::Unown { member: 1 },
        Body::Gap {
            ranges: ranges.clone(),
        },
        Body::Expire {
            ranges: ranges.clone(),
            deadline_ms: 0,
        },
        Body::Acquire {
            delivery,
            client: 1,
            ranges,
            deadline_ms: 9,
        },
    ] {
        assert_eq!(lane.apply(&record(4, 0, body)), Err(Refused::Fenced));
    }
}

#[test]
fn o15_of_a_batch_only_the_messages_of_its_delivery_are_forgotten() {
    let mut lane = wired();
    lane.apply(&record(1, 0, Body::Own { member: 1 })).unwrap();
    let [old, new] = [1000, 1001].map(|pop_time_ms| Delivery {
        pop_time_ms,
        tag: 1,
    });
    for (delivery, ranges) in [(old, Ranges::of(0..4)), (new, Ranges::of(4..6))] {
        let body = Body::Acquire {
            delivery,
            client: 1,
            ranges,
            deadline_ms: 9,
        };
        lane.apply(&record(1, 0, body)).unwrap();
    }

    let body = Body::Accept {
        delivery: old,
        ranges: Ranges::of(2..6),
    };
    let applied = lane.apply(&record(0, 0, body)).unwrap();

    assert_eq!(applied.done, Ranges::of(2..4));
    assert_eq!(applied.stale, Ranges::of(4..6));
    assert_eq!(
        lane.get(SQ).unwrap().queue.judge(4, Act::Accept, new),
        Verdict::Done
    );
}

fn known(bytes: &[u8]) -> impl Iterator<Item = Record> {
    Records::new(bytes).map(|read| match read.unwrap() {
        Decoded::Known(record) => record,
        Decoded::Unknown { version } => panic!("version {version}"),
    })
}

fn replay(lane: &mut Lane, bytes: &[u8]) {
    for record in known(bytes) {
        lane.apply(&record).unwrap();
    }
}

/// Otherwise no reader would take the next snapshot.
#[test]
fn a_unit_hands_out_no_message_behind_the_window() {
    let mut lane = wired();
    lane.apply(&record(1, 0, Body::Own { member: 1 })).unwrap();
    let acquire = |ranges: Ranges| {
        let body = Body::Acquire {
            delivery: Delivery {
                pop_time_ms: 1000,
                tag: 1,
            },
            client: 7,
            ranges,
            deadline_ms: 2000,
        };
        record(1, 0, body)
    };
    let far = acquire([0, WINDOW].into_iter().collect());
    let front = Body::Gap {
        ranges: Ranges::of(0..WINDOW),
    };

    assert_eq!(
        lane.judge_unit(std::slice::from_ref(&far)),
        Err((0, Refused::Outside))
    );
    let near = acquire(Ranges::of(WINDOW - 1..WINDOW));
    assert_eq!(
        lane.judge_unit(&[near.clone(), far]),
        Err((1, Refused::Outside))
    );
    assert!(lane.judge_unit(&[near]).is_ok());
    let behind = acquire([WINDOW, 2 * WINDOW - 1].into_iter().collect());
    assert!(lane.judge_unit(&[record(1, 0, front), behind]).is_ok());
}
