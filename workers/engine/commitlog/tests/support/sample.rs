//! A small store with every kind of file, what was appended to it, and whether what it serves is
//! just that.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use regent_commitlog::{Boundary, NewMessage, QueueRead, RecordView, Store, StoreConfig};
use tempfile::TempDir;

use super::NOW_MS;

/// The smallest there is, so that a few kilobytes are several segments.
pub const SEGMENT_SIZE: u64 = 4096;
const MESSAGE_COUNT: u64 = 64;
/// The first messages have records of one size, a power of two: a single wrong bit in the position
/// of a queue entry then points to another whole record of that size.
const EQUAL_COUNT: u64 = 30;
const EQUAL_SIZE: usize = 256;
const RECORD_SIZE_EMPTY: usize = 91;

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

/// The files of a store and what was appended to it.
#[derive(Debug)]
pub struct Sample {
    pub files: Files,
    pub sent: Vec<Sent>,
}

pub fn config(dir: &Path) -> StoreConfig {
    let mut config = super::index::config(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.populate_ahead_bytes = SEGMENT_SIZE;
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

fn append(store: &Store, number: u64) -> Sent {
    let (topic, queue_id) = queue_of(number);
    let keys = vec![format!("U{number}"), format!("K{}", number % 40)];
    let properties = format!(
        "UNIQ_KEY\u{1}{}\u{2}KEYS\u{1}{}\u{2}TAGS\u{1}red\u{2}DELAY\u{1}3\u{2}",
        keys[0], keys[1]
    );
    let is_equal = number < EQUAL_COUNT;
    let size = if is_equal {
        EQUAL_SIZE - RECORD_SIZE_EMPTY - topic.len() - properties.len()
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
    /// A store that was closed, or whose process died.
    pub fn new(is_closed: bool) -> Self {
        let dir = memory_dir();
        let store = Store::open(config(dir.path()), NOW_MS).unwrap();
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
            sent.push(append(&store, number));
        }
        build_index(&store);
        if is_closed {
            store.close().unwrap();
        }
        let files = files_in(dir.path());
        drop(store);
        Self { files, sent }
    }

    /// Makes the directory what it was.
    pub fn restore(&self, dir: &Path) {
        restore(&self.files, dir);
    }

    fn at(&self, position: u64) -> Option<&Sent> {
        let found = self
            .sent
            .binary_search_by_key(&position, |sent| sent.position);
        Some(&self.sent[found.ok()?])
    }
}

fn build_index(store: &Store) {
    while store.index_tick(NOW_MS, 0).is_ok_and(|count| count > 0) {}
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

/// Which bytes a record may differ in from what was appended, by the field they belong to.
pub type Excuse<'a> = &'a dyn Fn(&Sent, &[u8]) -> Option<&'static str>;

/// What a store answers when it is asked for everything.
#[derive(Debug, Default)]
pub struct Served {
    /// Records by queue that are what was appended.
    pub intact: u64,
    /// The field in which a record served by queue differs where no checksum can tell.
    pub altered: Option<&'static str>,
    /// The same of a record served by position.
    pub altered_at_position: Option<&'static str>,
    /// Messages reported as damaged.
    pub refused: u64,
    /// Messages that are neither served nor reported.
    pub missing: u64,
    /// Searches by key that lack a message, and by time that give another one.
    pub searches_short: u64,
    /// What must not be.
    pub wrong: Vec<String>,
}

/// Reads everything by queue, by position, by time and by key.
pub fn read_everything(sample: &Sample, store: &Store, excuse: Excuse<'_>) -> Served {
    let mut reading = Reading {
        sample,
        store,
        excuse,
        served: Served::default(),
    };
    build_index(store);
    for sent in &sample.sent {
        reading.by_position(sent);
        // Some of them: every record that is looked at costs time in thousands of stores.
        if sent.queue_offset % 6 == 1 {
            reading.by_keys(sent);
        }
        if sent.has_entry {
            reading.by_offset(&sent.topic, sent.queue_id, sent.queue_offset, true);
            if sent.queue_offset.is_multiple_of(6) {
                reading.by_time(sent);
            }
        }
    }
    reading.in_bulk();
    reading.served
}

struct Reading<'a> {
    sample: &'a Sample,
    store: &'a Store,
    excuse: Excuse<'a>,
    served: Served,
}

impl Reading<'_> {
    fn wrong(&mut self, text: String) {
        self.served.wrong.push(text);
    }

    /// Whether a record is the one appended there; `place` is what was asked for.
    fn judge(&mut self, record: &[u8], place: Option<(&str, i32, u64)>) -> bool {
        let Ok(view) = RecordView::parse(record) else {
            self.wrong(format!("{place:?}: no record at all"));
            return false;
        };
        let Some(sent) = self.sample.at(view.log_position) else {
            self.wrong(format!("{place:?}: a record that was never appended"));
            return false;
        };
        if sent.bytes == record {
            let own = (sent.topic.as_str(), sent.queue_id, sent.queue_offset);
            if place.is_some_and(|place| place != own) {
                self.wrong(format!("{place:?}: message {own:?} instead"));
            }
            return true;
        }
        match (self.excuse)(sent, record) {
            Some(field) if place.is_some() => self.served.altered = Some(field),
            Some(field) => self.served.altered_at_position = Some(field),
            None => self.wrong(format!("{place:?}: altered bytes at {}", sent.position)),
        }
        false
    }

    fn by_position(&mut self, sent: &Sent) {
        if let Ok(Some(record)) = self.store.read_record(sent.position) {
            self.judge(&record, None);
        }
    }

    fn by_offset(&mut self, topic: &str, queue_id: i32, offset: u64, is_expected: bool) {
        let read = QueueRead {
            offset: offset.cast_signed(),
            count_max: 1,
            bytes_max: 1 << 20,
            filter: None,
        };
        let mut records = Vec::new();
        match self.store.read_queue(topic, queue_id, &read, &mut records) {
            Ok(outcome) if outcome.count == 0 => {
                self.served.missing += u64::from(is_expected);
                if !records.is_empty() {
                    self.wrong(format!("{topic}/{queue_id} {offset}: uncounted bytes"));
                }
            }
            Ok(_) => {
                let is_intact = self.judge(&records, Some((topic, queue_id, offset)));
                self.served.intact += u64::from(is_intact);
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                self.served.refused += u64::from(is_expected);
            }
        }
    }

    fn by_time(&mut self, sent: &Sent) {
        for boundary in [Boundary::Lower, Boundary::Upper] {
            let (topic, queue_id) = (&sent.topic, sent.queue_id);
            let found = self
                .store
                .offset_by_time(topic, queue_id, sent.stored_ms, boundary);
            let is_other = found.is_ok_and(|offset| offset != sent.queue_offset);
            self.served.searches_short += u64::from(is_other);
        }
    }

    fn by_keys(&mut self, sent: &Sent) {
        for key in &sent.keys {
            let found = self.store.find_by_key(&sent.topic, key, 64, 0, i64::MAX);
            self.served.searches_short += u64::from(!found.contains(&sent.position));
            for position in found {
                let Some(other) = self.sample.at(position) else {
                    self.wrong(format!("key {key} leads to {position}, where nothing is"));
                    continue;
                };
                let record = self.store.read_record(position);
                let is_altered = matches!(&record, Ok(Some(record)) if *record != other.bytes);
                let has_key = other.topic == sent.topic && other.keys.contains(key);
                if !is_altered && !has_key {
                    self.wrong(format!("key {key} leads to {:?}", other.keys));
                }
            }
        }
    }

    /// Every queue that the store says it has, from its start to its end, many messages at once.
    fn in_bulk(&mut self) {
        for queue in self.store.queues() {
            let mut offset = queue.min_offset;
            let mut reads = 0;
            while offset < queue.max_offset && reads < 1_000 {
                reads += 1;
                let read = QueueRead {
                    offset: offset.cast_signed(),
                    count_max: 32,
                    bytes_max: 1 << 20,
                    filter: None,
                };
                let mut records = Vec::new();
                let (topic, queue_id) = (queue.topic.as_str(), queue.queue_id);
                let Ok(outcome) = self.store.read_queue(topic, queue_id, &read, &mut records)
                else {
                    offset += 1;
                    continue;
                };
                let mut rest = records.as_slice();
                while let Ok(view) = RecordView::parse(rest) {
                    self.judge(view.bytes, Some((topic, queue_id, view.queue_offset)));
                    rest = &rest[view.bytes.len()..];
                }
                if !rest.is_empty() {
                    self.wrong(format!("{topic}/{queue_id} {offset}: bytes of no record"));
                }
                offset = outcome.next_offset.max(offset + 1);
            }
        }
    }
}
