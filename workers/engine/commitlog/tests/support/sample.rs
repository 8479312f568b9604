//! A small store with every kind of file, and what was appended to it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use regent_commitlog::{CrcProperty, NewMessage, RecordView, Store, StoreConfig, StoreError};
use tempfile::TempDir;

use super::{NOW_MS, journal};

/// The smallest there is, so that a few kilobytes are several segments.
pub const SEGMENT_SIZE: u64 = 4096;
const MESSAGE_COUNT: u64 = 64;
/// The first messages have records of one size, a power of two: a single wrong bit in the position
/// of a queue entry then points to another whole record of that size.
const EQUAL_COUNT: u64 = 30;
const EQUAL_SIZE: usize = 256;
const RECORD_SIZE_EMPTY: usize = 91;
const CRC_PROPERTY_SIZE: usize = 20;
/// How many messages are left by a truncation that is under way.
const KEPT_COUNT: usize = 58;

/// Content by path below the store's directory.
pub type Files = BTreeMap<PathBuf, Vec<u8>>;

/// A message as it was appended.
#[derive(Debug, Clone)]
pub struct Sent {
    pub topic: String,
    pub queue_id: i32,
    pub queue_offset: u64,
    pub position: u64,
    pub stored_ms: i64,
    pub keys: Vec<String>,
    pub has_entry: bool,
    pub bytes: Vec<u8>,
}

/// How a store was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    Closed,
    Killed,
    /// Killed with a truncation under way.
    Truncating,
}

/// The files of a store and what was appended to it.
#[derive(Debug)]
pub struct Sample {
    pub files: Files,
    pub sent: Vec<Sent>,
    has_crc: bool,
}

pub fn config(dir: &Path, has_crc: bool) -> StoreConfig {
    let mut config = super::index::config(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.populate_ahead_bytes = SEGMENT_SIZE;
    if has_crc {
        config.crc_property = CrcProperty::Verified;
    }
    config
}

/// In memory if there is such a place: thousands of openings sync, and no crash is played here.
pub fn memory_dir() -> TempDir {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        tempfile::tempdir_in(memory).unwrap()
    } else {
        super::tempdir()
    }
}

/// What `work` returns; fails if it takes longer than `limit`.
pub fn within<T: Send + 'static>(
    limit: Duration,
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = work();
        sender.send(()).ok();
        result
    });
    let waited = receiver.recv_timeout(limit);
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "{name} hangs");
    match thread.join() {
        Ok(result) => result,
        Err(panic) => {
            eprintln!("panicked: {name}");
            std::panic::resume_unwind(panic)
        }
    }
}

fn queue_of(number: u64) -> (String, i32) {
    let short = [("a", 0), ("a", 1), ("b", 0)];
    let (topic, queue_id) = match number % 7 {
        _ if number < EQUAL_COUNT => short[usize::try_from(number % 3).unwrap()],
        5 => ("SCHEDULE_TOPIC_XXXX", 1),
        // Too long for a V1 record.
        6 => return (format!("%RETRY%{}", "g".repeat(140)), 0),
        other => short[usize::try_from(other % 3).unwrap()],
    };
    (topic.to_owned(), queue_id)
}

fn append(store: &Store, number: u64, has_crc: bool) -> Sent {
    let (topic, queue_id) = queue_of(number);
    let keys = vec![format!("U{number}"), format!("K{}", number % 40)];
    let properties = format!(
        "UNIQ_KEY\u{1}{}\u{2}KEYS\u{1}{}\u{2}TAGS\u{1}red\u{2}DELAY\u{1}3\u{2}",
        keys[0], keys[1]
    );
    let is_equal = number < EQUAL_COUNT;
    let size = if is_equal {
        let crc_size = if has_crc { CRC_PROPERTY_SIZE } else { 0 };
        EQUAL_SIZE - RECORD_SIZE_EMPTY - topic.len() - properties.len() - crc_size
    } else {
        usize::try_from(number * 37 % 211).unwrap()
    };
    let body: Vec<u8> = (0..size).map(|at| (at as u64 ^ number) as u8).collect();
    let mut message = NewMessage::new(&topic, queue_id, &body);
    message.properties = properties.as_bytes();
    message.flag = 7;
    let is_prepared = !is_equal && number.is_multiple_of(11);
    message.sys_flag = if is_prepared { 0x4 } else { 0 };
    if !is_equal && number.is_multiple_of(5) {
        message.born_host = "[2001:db8::7]:4711".parse().unwrap();
    }
    let stored_ms = NOW_MS + i64::try_from(number).unwrap() * 1_000;
    let appended = store.writer().unwrap().append(&message, stored_ms).unwrap();
    let bytes = store.read_record(appended.log_position).unwrap().unwrap();
    assert_eq!(RecordView::parse(&bytes).unwrap().body, body);
    Sent {
        topic,
        queue_id,
        queue_offset: appended.queue_offset,
        position: appended.log_position,
        stored_ms,
        keys,
        has_entry: !is_prepared,
        bytes,
    }
}

impl Sample {
    /// A store left in some way, whose records have the CRC property or not.
    pub fn new(stop: Stop, has_crc: bool) -> Self {
        let dir = memory_dir();
        let store = Store::open(config(dir.path(), has_crc), NOW_MS).unwrap();
        let mut sent = Vec::new();
        for number in 0..MESSAGE_COUNT {
            if number.is_multiple_of(20) {
                store
                    .begin_epoch(i32::try_from(1 + number / 20).unwrap())
                    .unwrap();
            }
            if number == 50 {
                build_index(&store);
                store.flush_tick(NOW_MS + 3_600_000).unwrap();
            }
            sent.push(append(&store, number, has_crc));
        }
        build_index(&store);
        if stop == Stop::Closed {
            store.close().unwrap();
        }
        let mut files = files_in(dir.path());
        drop(store);
        if stop == Stop::Truncating {
            let journal = journal(sent[KEPT_COUNT].position, sent[KEPT_COUNT - 1].stored_ms);
            files.insert("truncation".into(), journal.into_bytes());
            sent.truncate(KEPT_COUNT);
        }
        Self {
            files,
            sent,
            has_crc,
        }
    }

    pub fn open(&self, dir: &Path) -> Result<Store, StoreError> {
        Store::open(config(dir, self.has_crc), NOW_MS)
    }

    pub fn has_crc(&self) -> bool {
        self.has_crc
    }

    /// Where the part of the log ends that is known to be on the disk.
    pub fn flushed_position(&self) -> u64 {
        let checkpoint = &self.files[Path::new("checkpoint")];
        u64::from_be_bytes(checkpoint[24..32].try_into().unwrap())
    }

    /// Makes the directory what it was.
    pub fn restore(&self, dir: &Path) {
        restore(&self.files, dir);
    }

    pub fn at(&self, position: u64) -> Option<&Sent> {
        let found = self
            .sent
            .binary_search_by_key(&position, |sent| sent.position);
        Some(&self.sent[found.ok()?])
    }
}

pub fn build_index(store: &Store) {
    while store
        .advance_followers(NOW_MS, 0)
        .is_ok_and(|count| count > 0)
    {}
}

/// Puts these files into a directory, and nothing else.
pub fn restore(files: &Files, dir: &Path) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
    for (name, content) in files {
        let path = dir.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
}

pub fn files_in(dir: &Path) -> Files {
    let mut files = super::contents(dir);
    for name in ["abort", "checkpoint", "lock"] {
        if let Ok(content) = fs::read(dir.join(name)) {
            files.insert(name.into(), content);
        }
    }
    files
}
