//! In which order the parts of a record come to lie in the log (FORMAT.md 5).
//!
//! The compiler may change that order, and what it does depends on how it optimises. This is a
//! separate program, so that `make soak` can run it with the profile that the engine is shipped
//! with. `REGENT_ORDER_ROUNDS` says how often records of each size are watched while they are
//! written.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::env;
use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

use memmap2::{Mmap, MmapOptions};
use regent_commitlog::{NewMessage, Store};
use support::*;

const TOPIC: &str = "orders";
const PROPERTIES: &[u8] = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02";
const SIZES: [usize; 9] = [
    64,
    65,
    128,
    1_000,
    1 << 10,
    4 << 10,
    50_000,
    64 << 10,
    256 << 10,
];
const BODY_CRC_AT: usize = 8;
const BODY_AT: usize = 88;
const SIGBUS: i32 = 7;
/// Environment of the process that dies.
const CHILD_DIR: &str = "REGENT_TEST_DIR";
const CHILD_SIZE: &str = "REGENT_TEST_BODY_SIZE";
const CHILD_COUNT: &str = "REGENT_TEST_COUNT_BEFORE";

#[test]
fn a_process_that_dies_at_the_first_byte_of_a_body_leaves_all_that_says_where_the_record_ends() {
    // The first message of a queue is appended the long way, others the short way.
    for count_before in [0, 1] {
        for size in SIZES {
            let (dir, other_dir) = (sample::memory_dir(), sample::memory_dir());
            let status = Command::new(env::current_exe().unwrap())
                .args(["--ignored", "--exact", "append_a_body_that_no_one_can_read"])
                .env(CHILD_DIR, dir.path())
                .env(CHILD_SIZE, size.to_string())
                .env(CHILD_COUNT, count_before.to_string())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap();
            assert_eq!(status.signal(), Some(SIGBUS), "{size} bytes: {status}");

            let store = open_large(other_dir.path());
            let at = append_some(&store, count_before);
            let record_size = append_body(&store, &vec![b'x'; size]);
            let whole = log_bytes(other_dir.path(), at, record_size);
            let mut left = log_bytes(dir.path(), at, record_size);

            // The checksum of the body comes after the body.
            let crc = BODY_CRC_AT..BODY_CRC_AT + 4;
            left[crc.clone()].copy_from_slice(&whole[crc]);
            left[BODY_AT..BODY_AT + size].fill(b'x');
            assert!(left == whole, "{size} bytes behind {count_before} messages");
        }
    }
}

#[test]
#[ignore = "dies: it is a process of the test above"]
fn append_a_body_that_no_one_can_read() {
    let variable = |name| env::var(name).unwrap();
    let (size, count) = (variable(CHILD_SIZE), variable(CHILD_COUNT));
    let body = unreadable(size.parse().unwrap());
    let store = open_large(Path::new(&variable(CHILD_DIR)));
    append_some(&store, count.parse().unwrap());
    append_body(&store, &body);
}

/// Bytes of which the first one that is read ends the process: they lie behind the end of their file.
fn unreadable(size: usize) -> Mmap {
    let file = tempfile::tempfile().unwrap();
    // SAFETY: to read it raises a signal, which is what the test needs; no code writes the file.
    unsafe { MmapOptions::new().len(size).map(&file) }.unwrap()
}

/// Appends short messages; returns where the next one goes.
fn append_some(store: &Store, count: usize) -> u64 {
    for _ in 0..count {
        append_body(store, b"before");
    }
    store.max_position()
}

fn append_body(store: &Store, body: &[u8]) -> usize {
    let message = NewMessage {
        properties: PROPERTIES,
        ..NewMessage::new(TOPIC, 0, body)
    };
    let appended = store.writer().unwrap().append(&message, NOW_MS);
    appended.unwrap().size as usize
}

fn log_bytes(dir: &Path, at: u64, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    let file = File::open(segment_path(dir, 0)).unwrap();
    file.read_exact_at(&mut bytes, at).unwrap();
    bytes
}

#[test]
fn of_a_record_that_is_being_written_or_copied_the_header_is_there_first() {
    const TOTAL_BYTES: usize = 40 << 20;
    let rounds = env::var("REGENT_ORDER_ROUNDS").map_or(1, |it| it.parse().unwrap());
    // More than 64 KiB a replica writes to the file at once.
    for body_size in [4_000, 50_000, 256 << 10].repeat(rounds) {
        let (from, to) = (sample::memory_dir(), sample::memory_dir());
        let open = |dir: &Path| {
            let mut config = config(dir);
            config.segment_size_bytes = 48 << 20;
            Store::open(config, NOW_MS).unwrap()
        };
        let (master, replica) = (open(from.path()), open(to.path()));
        let body = vec![b'x'; body_size];
        let size = append_body(&master, &body) as u64;

        let appending = headless_count(&master, from.path(), size, || {
            for _ in 1..TOTAL_BYTES / body_size {
                append_body(&master, &body);
            }
        });
        let copying = headless_count(&replica, to.path(), size, || {
            while let Some(slice) = master.log_slice(replica.max_position(), size) {
                let appended = replica.append_copied(slice.position(), slice.bytes());
                appended.unwrap();
            }
        });

        assert_eq!((appending, copying), (0, 0), "bodies of {body_size} bytes");
    }
}

/// How often a record is met that has its middle but not its header, while records of one size are
/// written. After a kill at such a moment, recovery could not see that the middle lies in a body.
fn headless_count(store: &Store, dir: &Path, size: u64, write: impl FnOnce() + Send) -> u32 {
    let file = File::open(segment_path(dir, 0)).unwrap();
    let is_written = |at| {
        let mut bytes = [0; 4];
        match file.read_exact_at(&mut bytes, at) {
            // The first append makes the file as long as a segment.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => false,
            outcome => outcome.map(|()| bytes != [0; 4]).unwrap(),
        }
    };
    let mut count = 0;
    thread::scope(|scope| {
        let writer = scope.spawn(write);
        while !writer.is_finished() {
            let at = store.max_position();
            count += u32::from(is_written(at + size / 2) && !is_written(at));
        }
    });
    count
}
