//! Records of each released version stay readable (queue-ownership.md 4.15).
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use regent_share::{
    Body, DECIDED, Decoded, Delivery, Disposition, Entry, FALLBACK, Policy, RESUBSCRIBE, Record,
    RecordType, Records, Snapshot, SnapshotRun, VERSION,
};

/// The records of each released version. A file never changes; a version with new types adds one.
const GOLDEN: [&str; VERSION as usize] = [
    include_str!("golden/version_1.txt"),
    include_str!("golden/version_2.txt"),
];

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
        (
            "DROP",
            0,
            Body::Drop {
                topic: Some("Orders".into()),
                group: None,
            },
        ),
        (
            "DROP",
            0,
            Body::Drop {
                topic: Some("Orders".into()),
                group: Some("billing".into()),
            },
        ),
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

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<_> = hex.chars().collect();
    let byte = |pair: &[char]| u8::from_str_radix(&String::from_iter(pair), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn record(flags: u16, body: Body) -> Record {
    Record {
        flags,
        sq_id: 42,
        epoch: 5,
        body,
    }
}

/// Q59, Q61, Q74: each event has its record, with the positions of its messages.
#[test]
fn records_of_each_version_are_written_and_read_as_ever() {
    for (version, golden) in (1..).zip(GOLDEN) {
        let mut golden = golden.lines();
        for (name, flags, body) in samples() {
            if body.record_type().since() != version {
                continue;
            }
            let record = record(flags, body);
            let mut written = Vec::new();
            record.encode(&mut written);

            let line = golden.next().unwrap();
            assert_eq!(line, format!("{name} {}", hex(&written)));
            let kept = bytes(line.rsplit(' ').next().unwrap());
            let read: Vec<_> = Records::new(&kept).collect();
            assert_eq!(read, [Ok(Decoded::Known(record))], "{name}");
        }
        assert_eq!(golden.next(), None, "version {version}");
    }
}

/// Q73, Q74: a type has one line in `types.rs`, and a record of it in the file of the version that added it.
#[test]
fn each_type_has_a_record_in_the_file_of_its_version_and_in_no_other() {
    for record_type in RecordType::ALL {
        for (version, golden) in (1_u16..).zip(GOLDEN) {
            let named = golden.lines().filter_map(|line| line.split_once(' '));
            let written: Vec<_> = named
                .filter(|(name, _)| *name == record_type.name())
                .map(|(_, record)| record)
                .collect();
            let is_its_own = version == record_type.since();
            assert_eq!(!written.is_empty(), is_its_own, "{}", record_type.name());
            // Version, size, type.
            let (since, code) = (record_type.since(), record_type.code());
            for record in written {
                assert_eq!(record[..4], format!("{since:04x}"));
                assert_eq!(record[12..16], format!("{code:04x}"));
            }
        }
        assert_eq!(
            RecordType::from_code(record_type.code()),
            Some(*record_type)
        );
    }
}

/// Q77: so the older release has the state of a lane without them.
#[test]
fn a_release_of_version_1_leaves_out_each_later_record() {
    for line in GOLDEN[1..].iter().flat_map(|golden| golden.lines()) {
        let record = bytes(line.rsplit(' ').next().unwrap());

        let read: Vec<_> = Records::up_to(1, &record).collect();

        assert!(
            matches!(read[..], [Ok(Decoded::Unknown { version })] if version > 1),
            "{line}"
        );
    }
}
