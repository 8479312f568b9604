//! What a replica and its master send each other (storage-and-ha.md 9.3).

use std::path::Path;

use regent_commitlog::{RecordView, Store, StoreConfig, unit_size};
use regent_replication::{Agreement, Handshake, Heard, MasterLink, ReplicaLink, agree};

use crate::support::NOW_MS;
use crate::support::sample::{SEGMENT_SIZE, Sample, Stop, memory_dir};
use crate::{EntryPoint, Target};

const TRANSFER_SIZE_MAX: usize = 1_000;
const REPLICA: Handshake = Handshake {
    is_from_last_segment: false,
    is_learner: false,
    broker_id: 2,
};

pub(crate) const FROM_REPLICA: Target = Target {
    name: "from-replica",
    inputs: || {
        let (mut sent, records) = (Vec::new(), Sample::new(Stop::Closed, false).sent);
        let handshake = ReplicaLink::new(REPLICA, 0).handshake();
        for position in [0, records[20].position, records[63].position] {
            let state = 2_i32.to_be_bytes();
            sent.push([&handshake[..], &state, &position.to_be_bytes()].concat());
        }
        sent
    },
    entry_point: from_replica,
};

pub(crate) const FROM_MASTER: Target = Target {
    name: "from-master",
    inputs: || vec![conversation(500), conversation(TRANSFER_SIZE_MAX)],
    entry_point: || Box::new(from_master),
};

/// A store with what the sample holds.
fn open_sample(dir: &Path) -> Store {
    let sample = Sample::new(Stop::Closed, false);
    sample.restore(dir);
    sample.open(dir).unwrap()
}

/// Bytes as what a replica sends: it gets parts of the log of the size that was asked for, in order.
fn from_replica() -> EntryPoint {
    let dir = memory_dir();
    let store = open_sample(dir.path());
    Box::new(move |bytes| {
        let _until_here = &dir;
        let mut link = MasterLink::default();
        let mut heard = Vec::new();
        if link.receive(bytes, &store, &mut heard).is_err() {
            return;
        }
        assert!(heard.len() <= bytes.len() / 12);
        let _ = link.heartbeat(&store, 0);
        let mut expected = link.next_position();
        while let Ok(Some(transfer)) = link.next_transfer(&store, TRANSFER_SIZE_MAX, 0) {
            let size = transfer.body.bytes().len();
            assert!((1..=TRANSFER_SIZE_MAX).contains(&size));
            assert_eq!(Some(transfer.body.position()), expected);
            expected = Some(transfer.body.position() + size as u64);
        }
        assert_eq!(link.pending(&store), 0);
    })
}

/// What a master sends to an empty replica.
fn conversation(size_max: usize) -> Vec<u8> {
    let dir = memory_dir();
    let store = open_sample(dir.path());
    let mut link = MasterLink::default();
    let report = [&2_i32.to_be_bytes()[..], &0_u64.to_be_bytes()].concat();
    let said = [ReplicaLink::new(REPLICA, 0).handshake(), report].concat();
    let mut heard = Vec::new();
    link.receive(&said, &store, &mut heard).unwrap();
    assert!(matches!(heard[..], [Heard::Handshake(_), Heard::Report(0)]));
    let mut sent = MasterLink::greeting(&store);
    while sent.len() < 3_000
        && let Some(transfer) = link.next_transfer(&store, size_max, 0).unwrap()
    {
        sent.extend(transfer.header);
        sent.extend_from_slice(transfer.body.bytes());
    }
    sent
}

/// Bytes as what a master sends: whatever the replica takes over is a whole record in its place.
fn from_master(bytes: &[u8]) {
    let dir = memory_dir();
    let mut config = StoreConfig::new(dir.path());
    config.segment_size_bytes = SEGMENT_SIZE;
    config.queue_file_size_bytes = 200;
    config.index_enabled = false;
    let mut store = Store::open(config, NOW_MS).unwrap();
    let mut link = ReplicaLink::new(REPLICA, 0);
    let piece_size = if bytes.len().is_multiple_of(2) {
        1 + bytes.len() % 97
    } else {
        bytes.len()
    };
    for piece in bytes.chunks(piece_size) {
        let Ok(progress) = link.receive(piece, &store) else {
            break;
        };
        if let Some(greeting) = progress.greeting {
            if let Agreement::CutTo(position) =
                agree(&store.epochs(), store.max_position(), &greeting)
            {
                store.truncate_to(position).unwrap();
            }
            let _ = link.begin(&store);
            if link.receive(&[], &store).is_err() {
                break;
            }
        }
    }
    check_log(&store);
}

fn check_log(store: &Store) {
    let mut position = store.min_position();
    while position < store.max_position() {
        let slice = store.log_slice(position, u64::MAX).unwrap();
        let mut rest = slice.bytes();
        position += rest.len() as u64;
        while !rest.is_empty() {
            let size = unit_size(rest).expect("a whole unit");
            let Ok(view) = RecordView::parse(rest) else {
                // A blank, which ends the segment.
                assert_eq!(size, rest.len());
                break;
            };
            assert!(view.is_intact());
            assert_eq!(view.log_position, position - rest.len() as u64);
            rest = &rest[size..];
        }
    }
}
