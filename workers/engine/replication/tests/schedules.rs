//! The threads of a replication connection, in turns that a seed chooses.
//!
//! `REGENT_SCHEDULES` says how many schedules each test tries, `REGENT_SCHEDULE_SEED` which.
#![cfg(feature = "schedules")]
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use regent_commitlog::Store;
use regent_replication::{Following, LinkError, MasterLink, ReplicaLink, Sending, StoreAccess};
use regent_sync::{explore, thread};
use rustix::event::{EventfdFlags, eventfd};
use rustix::net::sockopt::set_socket_send_buffer_size;
use support::{REPLICA, append, log_of, open};
use tempfile::TempDir;

const SCHEDULES: &str = "REGENT_SCHEDULES";
const SCHEDULE_COUNT: usize = 300;
const MESSAGE_COUNT: usize = 6;
const BODY_SIZE: usize = 3_000;
/// Two messages at once are much.
const SIZE_MAX: usize = 4_000;
/// As little as the system allows, so that the socket is soon full.
const SOCKET_SIZE: usize = 4_096;
const TRANSFER_HEAD_SIZE: usize = 36;
const GREETING_HEAD_SIZE: usize = 20;

struct Owned {
    store: Store,
    _dir: TempDir,
}

impl StoreAccess for Owned {
    type Error = LinkError;

    fn with<T>(&self, work: impl FnOnce(&Store) -> Result<T, LinkError>) -> Result<T, LinkError> {
        work(&self.store)
    }
}

/// A store in memory, if there is some for files.
fn owned() -> Arc<Owned> {
    let memory = Path::new("/dev/shm");
    let dir = if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        tempfile::tempdir().unwrap()
    };
    let store = open(dir.path());
    Arc::new(Owned { store, _dir: dir })
}

fn connect() -> (UnixStream, UnixStream) {
    let (one, other) = UnixStream::pair().unwrap();
    set_socket_send_buffer_size(&one, SOCKET_SIZE).unwrap();
    other.set_nonblocking(true).unwrap();
    (one, other)
}

fn report(end: u64) -> Vec<u8> {
    [&2_i32.to_be_bytes()[..], &end.to_be_bytes()].concat()
}

/// Reads until so many bytes are there, and lets others have their turns meanwhile.
fn read_exact(socket: &UnixStream, size: usize) -> Vec<u8> {
    read_unless(socket, size, || false).expect("nothing else ends it")
}

/// As [`read_exact`], unless `is_over` before the first byte.
fn read_unless(
    mut socket: &UnixStream,
    size: usize,
    is_over: impl Fn() -> bool,
) -> Option<Vec<u8>> {
    let mut bytes = vec![0; size];
    let mut read = 0;
    while read < size {
        if read == 0 && is_over() {
            return None;
        }
        match socket.read(&mut bytes[read..]) {
            Ok(0) => panic!("hung up"),
            Ok(count) => read += count,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
    Some(bytes)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_be_bytes(bytes[at..at + 8].try_into().unwrap())
}

fn size_at(bytes: &[u8]) -> usize {
    u32::from_be_bytes(bytes[4..8].try_into().unwrap()) as usize
}

/// What a replica got.
#[derive(Default)]
struct Got {
    log: Vec<u8>,
    confirmed: u64,
}

/// Reads as a replica until it has the log, and the news that it is confirmed, up to the end.
fn read_log(socket: &UnixStream, end: &AtomicU64, awaits_confirmed: bool) -> Got {
    let greeting = read_exact(socket, GREETING_HEAD_SIZE);
    read_exact(socket, size_at(&greeting));
    let mut got = Got::default();
    loop {
        let is_over = || {
            let end = end.load(Ordering::SeqCst);
            got.log.len() as u64 == end && (got.confirmed == end || !awaits_confirmed)
        };
        let Some(head) = read_unless(socket, TRANSFER_HEAD_SIZE, is_over) else {
            return got;
        };
        assert_eq!(number(&head, 8), got.log.len() as u64, "a gap");
        let confirmed = number(&head, 28);
        assert!(confirmed >= got.confirmed, "less is confirmed than before");
        got.confirmed = confirmed;
        got.log.extend(read_exact(socket, size_at(&head)));
    }
}

/// Waits until the last frame is on its way, or was sent: about then the thread gives its turn back.
fn await_last_frame(sending: &Sending<Owned>, store: &Store) {
    while sending.link(|link| link.pending(store)) > 0 {
        thread::yield_now();
    }
}

fn append_one(store: &Store, number: usize) {
    append(store, "t", 0, &[u8::try_from(number).unwrap(); BODY_SIZE]);
}

/// Connects a replica, appends and sends; returns what the replica got, and the log.
///
/// With `other_count`, another thread appends so many messages meanwhile.
fn send_all(tells: bool, other_count: usize) -> (Got, Vec<u8>) {
    let owned = owned();
    owned.store.begin_epoch(1).unwrap();
    let (ours, theirs) = connect();
    let link = MasterLink::default();
    let sending = Sending::begin(Arc::clone(&owned), OwnedFd::from(ours), SIZE_MAX, link).unwrap();
    let sending = Arc::new(sending);
    let end = Arc::new(AtomicU64::new(u64::MAX));
    let known = Arc::clone(&end);
    let replica = thread::spawn(move || read_log(&theirs, &known, tells));
    let handshake = ReplicaLink::new(REPLICA, 1).handshake();
    sending.receive(&handshake, &mut Vec::new()).unwrap();
    sending.receive(&report(0), &mut Vec::new()).unwrap();

    let (also, other_store) = (Arc::clone(&sending), Arc::clone(&owned));
    let other = thread::spawn(move || {
        for number in 0..other_count {
            append_one(&other_store.store, number);
            also.send_appended();
        }
    });
    for number in 0..MESSAGE_COUNT {
        append_one(&owned.store, number);
        sending.pump(0).unwrap();
        if number % 2 == 1 {
            await_last_frame(&sending, &owned.store);
        }
    }
    other.join().unwrap();
    let log_end = owned.store.max_position();
    if tells {
        await_last_frame(&sending, &owned.store);
        sending.send_confirmed(log_end, false).unwrap();
    }
    end.store(log_end, Ordering::SeqCst);
    let got = replica.join().unwrap();

    assert!(sending.take_failure().is_none());
    sending.close();
    (got, log_of(&owned.store))
}

#[test]
fn all_of_the_log_is_sent_in_order_whichever_thread_has_the_turn() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let (got, log) = send_all(false, 0);

        assert!(got.log == log, "another log");
    });
}

#[test]
fn all_of_the_log_is_sent_in_order_while_two_threads_append() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let (got, log) = send_all(true, MESSAGE_COUNT);

        assert!(got.log == log, "another log");
    });
}

#[test]
fn what_is_confirmed_is_sent_whichever_thread_has_the_turn() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let (got, log) = send_all(true, 0);

        assert_eq!(got.confirmed, log.len() as u64);
    });
}

/// What a master sends to an empty replica: the greeting, and transfers of all of its log.
fn conversation(store: &Store) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut link = MasterLink::default();
    let said = [ReplicaLink::new(REPLICA, 1).handshake(), report(0)].concat();
    link.receive(&said, store, &mut Vec::new()).unwrap();
    let mut transfers = Vec::new();
    while let Some(next) = link.next_transfer(store, SIZE_MAX, 0).unwrap() {
        let confirmed = next.body.position() + next.body.bytes().len() as u64;
        let mut head = next.header;
        head[28..].copy_from_slice(&confirmed.to_be_bytes());
        transfers.push([&head, next.body.bytes()].concat());
    }
    (MasterLink::greeting(store), transfers)
}

/// Waits to be woken as an event loop does.
fn await_wake(wake: &OwnedFd) {
    let mut count = [0; 8];
    while rustix::io::read(wake, &mut count).is_err() {
        thread::yield_now();
    }
}

#[test]
fn who_looks_at_a_follower_is_woken_for_all_news_and_for_its_end() {
    explore(SCHEDULES, SCHEDULE_COUNT, || {
        let (master, replica) = (owned(), owned());
        master.store.begin_epoch(1).unwrap();
        for number in 0..MESSAGE_COUNT {
            append(
                &master.store,
                "t",
                0,
                &[u8::try_from(number).unwrap(); BODY_SIZE],
            );
        }
        let end = master.store.max_position();
        let (greeting, transfers) = conversation(&master.store);
        let mut link = ReplicaLink::new(REPLICA, 1);
        let progress = link.receive(&greeting, &replica.store).unwrap();
        assert!(progress.greeting.is_some());
        let (ours, mut theirs) = connect();
        let wake = eventfd(0, EventfdFlags::NONBLOCK).unwrap();
        let looked_at = wake.try_clone().unwrap();
        let following =
            Following::begin(Arc::clone(&replica), link, OwnedFd::from(ours), wake, true).unwrap();
        let sender = thread::spawn(move || {
            for transfer in transfers {
                for piece in transfer.chunks(BODY_SIZE / 2) {
                    theirs.write_all(piece).unwrap();
                    thread::yield_now();
                }
            }
            let mut reported = 0;
            while reported < end {
                reported = number(&read_exact(&theirs, 12), 4);
            }
            theirs
        });

        let mut confirmed = None;
        while confirmed != Some(end) {
            await_wake(&looked_at);
            // Once is enough; further looks must not miss a later change.
            for _ in 0..3 {
                let newer = following.look();
                assert!(newer >= confirmed);
                confirmed = newer;
            }
        }
        drop(sender.join().unwrap());
        while !following.is_over() {
            await_wake(&looked_at);
            let _ = following.look();
        }

        assert!(matches!(following.take_failure(), Some(LinkError::HungUp)));
        assert_eq!(replica.store.max_position(), end);
        assert!(log_of(&replica.store) == log_of(&master.store));
    });
}
