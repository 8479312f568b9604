//! A replica that reads slowly.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use regent_commitlog::Store;
use regent_replication::{LinkError, MasterLink, ReplicaLink, Sending, StoreAccess};
use support::{REPLICA, append, log_of, open};
use tempfile::tempdir;

const SIZE_MAX: usize = 32 << 10;
const BODY_SIZE: usize = 4 << 10;
const MESSAGE_COUNT: usize = 500;
const GREETING_HEAD_SIZE: usize = 20;
const TRANSFER_HEAD_SIZE: usize = 36;

struct Shared(Store);

impl StoreAccess for Shared {
    type Error = LinkError;

    fn with<T>(&self, work: impl FnOnce(&Store) -> Result<T, LinkError>) -> Result<T, LinkError> {
        work(&self.0)
    }
}

/// O49, Q70, Q71: nothing piles up in memory. What the replica does not read stays in the log, and the socket
/// alone bounds what is on its way.
#[test]
fn o49_what_a_slow_replica_does_not_read_stays_in_the_log() {
    let dir = tempdir().unwrap();
    let master = Arc::new(Shared(open(dir.path())));
    master.0.begin_epoch(1).unwrap();
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    let link = MasterLink::default();
    let sending = Sending::begin(Arc::clone(&master), OwnedFd::from(ours), SIZE_MAX, link).unwrap();
    let report = [&2_i32.to_be_bytes()[..], &0_u64.to_be_bytes()].concat();
    let said = [ReplicaLink::new(REPLICA, 1).handshake(), report].concat();
    sending.receive(&said, &mut Vec::new()).unwrap();

    for _ in 0..MESSAGE_COUNT {
        append(&master.0, "t", 0, &[7; BODY_SIZE]);
        sending.pump(0).unwrap();
    }
    let log = log_of(&master.0);
    let on_the_way = sending.sent_bytes();

    assert!(on_the_way < log.len() as u64 / 2, "{on_the_way} bytes");
    // The replica reads at last, and gets all of it.
    let greeting = read(&mut theirs, GREETING_HEAD_SIZE);
    read(&mut theirs, size_at(&greeting));
    let mut got = Vec::new();
    while got.len() < log.len() {
        let head = read(&mut theirs, TRANSFER_HEAD_SIZE);
        got.extend(read(&mut theirs, size_at(&head)));
    }
    assert!(got == log);
    assert!(sending.take_failure().is_none());
    sending.close();
}

fn read(socket: &mut UnixStream, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    socket.read_exact(&mut bytes).unwrap();
    bytes
}

fn size_at(head: &[u8]) -> usize {
    u32::from_be_bytes(head[4..8].try_into().unwrap()) as usize
}
