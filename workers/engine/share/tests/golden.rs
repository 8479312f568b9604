//! Records of each released version stay readable (queue-ownership.md 4.15).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use regent_share::{
    Body, DECIDED, Decoded, Delivery, Disposition, Entry, FALLBACK, Policy, RESUBSCRIBE, Record,
    Records, Snapshot, SnapshotRun,
};

const VERSION_1: &str = include_str!("golden/version_1.txt");

const DELIVERY: Delivery = Delivery {
    pop_time_ms: 1_758_000_000_123,
    tag: 17,
};

fn samples() -> Vec<(&'static str, u16, Body)> {
    let ranges = [100, 101, 105]
        .into_iter()
        .collect::<regent_share::Ranges>();
    let reset = Snapshot {
        reset_pop_time_ms: 1_758_000_000_099,
        ..snapshot()
    };
    let owned = Snapshot {
        owner: Some(3),
        ..snapshot()
    };
    let policy = Policy {
        attempts: 16,
        discards: false,
        is_ordered: true,
        window: 4096,
    };
    vec![
        (
            "WIRE",
            0,
            Body::Wire {
                topic: "Orders".into(),
                queue_id: 3,
                group: "billing".into(),
                policy,
            },
        ),
        ("OWN", FALLBACK, Body::Own { member: 2 }),
        ("UNOWN", RESUBSCRIBE, Body::Unown { member: 2 }),
        (
            "ACQUIRE",
            0,
            Body::Acquire {
                delivery: DELIVERY,
                client: 7,
                ranges: ranges.clone(),
                deadline_ms: 1_758_000_060_123,
            },
        ),
        (
            "ACCEPT",
            DECIDED,
            Body::Accept {
                delivery: DELIVERY,
                ranges: ranges.clone(),
            },
        ),
        (
            "RELEASE",
            0,
            Body::Release {
                delivery: DELIVERY,
                ranges: ranges.clone(),
                visible_at_ms: 5,
            },
        ),
        (
            "RENEW",
            0,
            Body::Renew {
                delivery: DELIVERY,
                ranges: ranges.clone(),
                pop_time_ms: 1_758_000_000_999,
                deadline_ms: 1_758_000_060_999,
            },
        ),
        (
            "REJECT",
            DECIDED,
            Body::Reject {
                delivery: DELIVERY,
                ranges: ranges.clone(),
                disposition: Disposition::DeadLetter,
            },
        ),
        (
            "EXPIRE",
            0,
            Body::Expire {
                ranges: ranges.clone(),
                deadline_ms: 6,
            },
        ),
        ("GAP", 0, Body::Gap { ranges }),
        ("CLIENTGONE", 0, Body::ClientGone { client: 7 }),
        (
            "MEMBERGONE",
            0,
            Body::MemberGone {
                member: 2,
                incarnation: 9,
            },
        ),
        ("SNAP", 0, Body::Snap(snapshot())),
        ("MARK", 0, Body::Mark { sync_point: 4 }),
        ("VERSION", 0, Body::Version { version: 2 }),
        ("SNAP", 0, Body::Snap(reset)),
        ("SNAP", 0, Body::Snap(owned)),
    ]
}

fn snapshot() -> Snapshot {
    let entries = [
        Entry::Available {
            count: 2,
            last: Some(DELIVERY),
            first_pop_ms: 11,
            visible_at_ms: 12,
        },
        Entry::Acquired {
            delivery: DELIVERY,
            client: 7,
            deadline_ms: 13,
            count: 3,
            first_pop_ms: 14,
        },
        Entry::NEW,
        Entry::Forgotten,
    ];
    let runs = entries.into_iter().zip(1..);
    Snapshot {
        epoch: 5,
        is_owned: true,
        reset_epoch: 4,
        last_pop_time_ms: 1_758_000_000_123,
        start: 100,
        runs: runs
            .map(|(entry, count)| SnapshotRun { count, entry })
            .collect(),
        reset_pop_time_ms: 0,
        owner: None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Q59, Q61, Q74: each event has its record, with the positions of its messages.
#[test]
fn records_of_version_1_are_written_and_read_as_ever() {
    let mut golden = VERSION_1.lines();
    for (name, flags, body) in samples() {
        let record = Record {
            flags,
            sq_id: 42,
            epoch: 5,
            body,
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);

        assert_eq!(
            golden.next(),
            Some(format!("{name} {}", hex(&bytes)).as_str())
        );
        let read: Vec<_> = Records::new(&bytes).collect();
        assert_eq!(read, [Ok(Decoded::Known(record))], "{name}");
    }
    assert_eq!(golden.next(), None);
}
