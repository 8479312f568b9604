//! The version of a lane: which records may be in it, from which position on (queue-ownership.md 4.15).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use regent_share::{
    Body, Decoded, Lane, Policy, Record, Records, Refused, Snapshot, SnapshotRun, VERSION,
};

const GROUP: &str = "billing";

fn record(sq_id: u64, body: Body) -> Record {
    Record {
        flags: 0,
        sq_id,
        epoch: 1,
        body,
    }
}

fn wire(sq_id: u64, topic: &str, queue_id: i32, group: &str) -> Record {
    let policy = Policy {
        attempts: 16,
        discards: false,
        is_ordered: false,
        window: 4096,
    };
    let body = Body::Wire {
        topic: topic.into(),
        queue_id,
        group: group.into(),
        policy,
    };
    record(sq_id, body)
}

fn version(version: u16) -> Record {
    record(0, Body::Version { version })
}

fn drop_of(topic: Option<&str>, group: Option<&str>) -> Record {
    let body = Body::Drop {
        topic: topic.map(Into::into),
        group: group.map(Into::into),
    };
    record(0, body)
}

/// Four share queues: two of a topic, two of a group.
fn lane() -> Vec<Record> {
    vec![
        wire(1, "Orders", 0, GROUP),
        wire(2, "Orders", 0, "audit"),
        wire(3, "Bills", 0, GROUP),
        wire(4, "Bills", 1, "audit"),
    ]
}

fn applied(records: &[Record]) -> Lane {
    let mut lane = Lane::default();
    for record in records {
        let _ = lane.apply(record);
    }
    lane
}

fn read_up_to(version_max: u16, records: &[Record]) -> Lane {
    let mut bytes = Vec::new();
    records.iter().for_each(|one| one.encode(&mut bytes));
    let known: Vec<_> = Records::up_to(version_max, &bytes)
        .filter_map(|read| match read.unwrap() {
            Decoded::Known(record) => Some(record),
            Decoded::Unknown { .. } => None,
        })
        .collect();
    applied(&known)
}

fn ids(lane: &Lane) -> Vec<u64> {
    lane.iter().map(|(sq_id, _)| sq_id).collect()
}

#[test]
fn one_record_drops_the_share_queues_of_a_topic_of_a_group_or_of_both() {
    for (topic, group, left) in [
        (Some("Orders"), None, vec![3, 4]),
        (None, Some(GROUP), vec![2, 4]),
        (Some("Bills"), Some(GROUP), vec![1, 2, 4]),
        (Some("Other"), None, vec![1, 2, 3, 4]),
    ] {
        let dropped = [lane(), vec![version(2), drop_of(topic, group)]].concat();

        let lane = applied(&dropped);

        assert_eq!(ids(&lane), left);
        // A number is never given again.
        assert_eq!(lane.next_id(), 5);
    }
}

/// OI-10, Q79.
#[test]
fn a_record_above_the_version_of_the_lane_has_no_effect_at_any_member() {
    let early = [lane(), vec![drop_of(None, Some(GROUP))]].concat();

    for version_max in 1..=VERSION {
        assert_eq!(read_up_to(version_max, &early), applied(&lane()));
    }
    let judged = applied(&lane()).judge(&drop_of(None, Some(GROUP)));
    assert_eq!(judged, Err(Refused::Later(2)));
}

/// Q80.
#[test]
fn o44_all_members_switch_at_the_position_of_the_version_record() {
    let dropped = drop_of(Some("Orders"), None);
    let later = drop_of(Some("Bills"), None);
    let records = [lane(), vec![dropped, version(2), later]].concat();

    let lane = applied(&records);

    assert_eq!(lane.version(), 2);
    assert_eq!(ids(&lane), [1, 2]);
}

#[test]
fn o45_an_older_release_lacks_what_later_records_did_until_a_snapshot() {
    let dropped = [lane(), vec![version(2), drop_of(None, Some(GROUP))]].concat();
    let snapshot: Vec<_> = applied(&dropped).snapshot(|_| false).flatten().collect();

    let older = read_up_to(1, &dropped);
    let resumed = read_up_to(1, &[vec![version(1)], snapshot].concat());

    assert_eq!(older.version(), 2, "it knows that it lacks records");
    assert_eq!(ids(&older), [1, 2, 3, 4]);
    assert_eq!(ids(&resumed), [2, 4]);
    assert_eq!(resumed.version(), 1);
}

#[test]
fn o46_a_lane_with_an_unknown_record_in_the_middle_makes_the_state_of_one_without_it() {
    let start = Snapshot {
        start: 7,
        runs: vec![SnapshotRun {
            count: 2,
            entry: regent_share::Entry::Forgotten,
        }],
        ..Snapshot::default()
    };
    let records = [lane(), vec![record(1, Body::Snap(start))]].concat();
    for at in 0..=records.len() {
        let mut bytes = Vec::new();
        records[..at].iter().for_each(|one| one.encode(&mut bytes));
        bytes.extend_from_slice(&9_u16.to_be_bytes());
        bytes.extend_from_slice(&5_u32.to_be_bytes());
        bytes.extend_from_slice(b"later");
        records[at..].iter().for_each(|one| one.encode(&mut bytes));

        let mut lane = Lane::default();
        for read in Records::new(&bytes) {
            if let Decoded::Known(record) = read.unwrap() {
                lane.apply(&record).unwrap();
            }
        }

        assert_eq!(lane, applied(&records), "behind {at} records");
    }
}
