//! What a replica is sent, and when: also one that reads slowly.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use regent_commitlog::Store;
use regent_replication::{LinkError, MasterLink, ReplicaLink, Sending, StoreAccess};
use support::{REPLICA, append, log_of, open};
use tempfile::tempdir;

const SIZE_MAX: usize = 32 << 10;
const BODY_SIZE: usize = 4 << 10;
const MESSAGE_COUNT: usize = 500;
const BACKLOG_SIZE: usize = 6 << 20;
/// What is sent without a limit at the end.
const FREE_SIZE: usize = 4 << 20;
const RATE: u64 = 4 << 20;
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
    let (sending, mut theirs) = empty_replica(&master);

    for _ in 0..MESSAGE_COUNT {
        append(&master.0, "t", 0, &[7; BODY_SIZE]);
        sending.pump(0).unwrap();
    }
    let log = log_of(&master.0);
    let on_the_way = sending.sent_bytes();

    assert!(on_the_way < log.len() as u64 / 2, "{on_the_way} bytes");
    // The replica reads at last, and gets all of it.
    assert!(read_log(&mut theirs, log.len()) == log);
    assert!(sending.take_failure().is_none());
    sending.close();
}

/// Q42, Q56: a replica that lacks much gets it at a limited rate, but for a last part.
#[test]
fn a_backlog_is_sent_at_the_rate_that_was_set() {
    let dir = tempdir().unwrap();
    let master = Arc::new(Shared(open(dir.path())));
    let (sending, mut theirs) = empty_replica(&master);
    let body = vec![7; BODY_SIZE];
    while log_of(&master.0).len() < BACKLOG_SIZE {
        (0..64).for_each(|_| append(&master.0, "t", 0, &body));
    }
    let log = log_of(&master.0);

    sending.set_rate(RATE);
    let begun = Instant::now();
    sending.pump(0).unwrap();
    assert!(read_log(&mut theirs, log.len()) == log);

    let paced = (log.len() - FREE_SIZE - SIZE_MAX) as u64;
    let least = Duration::from_millis(paced * 1000 / RATE);
    assert!(begun.elapsed() >= least, "{:?}", begun.elapsed());
    sending.close();
}

/// I8: a replica shows what its first transfer says is confirmed. 0 would hide from its readers what they have
/// read.
#[test]
fn nothing_is_sent_before_it_is_known_what_is_confirmed() {
    let dir = tempdir().unwrap();
    let master = Arc::new(Shared(open(dir.path())));
    let (sending, mut theirs) = empty_replica(&master);
    let greeting = read(&mut theirs, GREETING_HEAD_SIZE);
    read(&mut theirs, size_at(&greeting));
    let greeted = sending.sent_bytes();
    append(&master.0, "t", 0, &[7; BODY_SIZE]);

    // Another thread appends and sends before the owner of the connection does.
    sending.send_appended();
    assert_eq!(sending.sent_bytes(), greeted);

    sending.pump(123).unwrap();
    let head = read(&mut theirs, TRANSFER_HEAD_SIZE);
    assert_eq!(head[28..], 123_u64.to_be_bytes());
    assert!(size_at(&head) > BODY_SIZE);
    append(&master.0, "t", 0, &[7; BODY_SIZE]);
    read(&mut theirs, size_at(&head));
    sending.send_appended();
    let head = read(&mut theirs, TRANSFER_HEAD_SIZE);
    assert_eq!(head[28..], 123_u64.to_be_bytes());
    sending.close();
}

/// A connection to a replica that has asked for the log from its beginning.
fn empty_replica(master: &Arc<Shared>) -> (Sending<Shared>, UnixStream) {
    master.0.begin_epoch(1).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let link = MasterLink::default();
    let sending = Sending::begin(Arc::clone(master), OwnedFd::from(ours), SIZE_MAX, link).unwrap();
    let report = [&2_i32.to_be_bytes()[..], &0_u64.to_be_bytes()].concat();
    let said = [ReplicaLink::new(REPLICA, 1).handshake(), report].concat();
    sending.receive(&said, &mut Vec::new()).unwrap();
    (sending, theirs)
}

/// The bytes of the log that the replica gets, up to so many, behind a greeting.
fn read_log(socket: &mut UnixStream, size: usize) -> Vec<u8> {
    let greeting = read(socket, GREETING_HEAD_SIZE);
    read(socket, size_at(&greeting));
    let mut got = Vec::new();
    while got.len() < size {
        let head = read(socket, TRANSFER_HEAD_SIZE);
        got.extend(read(socket, size_at(&head)));
    }
    got
}

fn read(socket: &mut UnixStream, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    socket.read_exact(&mut bytes).unwrap();
    bytes
}

fn size_at(head: &[u8]) -> usize {
    u32::from_be_bytes(head[4..8].try_into().unwrap()) as usize
}
