//! Small stores for tests, and what a test asks of them.
#![allow(
    unreachable_pub,
    dead_code,
    reason = "each test program has its own copy and uses a part"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub mod epochs;
pub mod former;
pub mod index;
pub mod sample;
pub mod served;

use regent_commitlog::{
    Appended, NewMessage, QueueRead, ReadOutcome, ReadStatus, RecordView, Retention, Store,
    StoreConfig, StoreError,
};
use tempfile::TempDir;

pub const NOW_MS: i64 = 1_758_000_000_000;
pub const SEGMENT_SIZE: u64 = 16_384;
/// Ten entries to a queue file.
pub const QUEUE_FILE_SIZE: u64 = 200;

pub fn tempdir() -> TempDir {
    tempfile::tempdir().expect("a temporary directory")
}

pub fn config(dir: &Path) -> StoreConfig {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.queue_file_size_bytes = QUEUE_FILE_SIZE;
    config
}

pub fn open(dir: &Path) -> Store {
    try_open(dir).expect("the store opens")
}

/// A store whose segments hold what a replica writes at once.
pub fn open_large(dir: &Path) -> Store {
    let mut config = config(dir);
    config.segment_size_bytes = 1 << 20;
    Store::open(config, NOW_MS).expect("the store opens")
}

pub fn try_open(dir: &Path) -> Result<Store, StoreError> {
    Store::open(config(dir), NOW_MS)
}

pub fn append(store: &Store, topic: &str, queue_id: i32, body: &[u8]) -> Appended {
    append_at(store, topic, queue_id, body, NOW_MS)
}

pub fn append_at(store: &Store, topic: &str, queue_id: i32, body: &[u8], now_ms: i64) -> Appended {
    let message = NewMessage::new(topic, queue_id, body);
    let mut writer = store.writer().expect("the store is open");
    writer
        .append(&message, now_ms)
        .expect("the message is appended")
}

/// One element of a packed batch.
pub fn element(body: &[u8], properties: &[u8]) -> Vec<u8> {
    let size = u32::try_from(22 + body.len() + properties.len()).unwrap();
    let mut packed = Vec::new();
    packed.extend(size.to_be_bytes());
    packed.extend([0; 8]);
    packed.extend(7_i32.to_be_bytes());
    packed.extend(u32::try_from(body.len()).unwrap().to_be_bytes());
    packed.extend(body);
    packed.extend(u16::try_from(properties.len()).unwrap().to_be_bytes());
    packed.extend(properties);
    packed
}

pub fn read(store: &Store, topic: &str, queue_id: i32, offset: i64) -> (ReadOutcome, Vec<u8>) {
    try_read(store, (topic, queue_id), offset, 32).expect("readable")
}

/// One read of a queue.
pub fn try_read(
    store: &Store,
    (topic, queue_id): (&str, i32),
    offset: i64,
    count_max: usize,
) -> Result<(ReadOutcome, Vec<u8>), StoreError> {
    let read = QueueRead {
        offset,
        count_max,
        bytes_max: 262_144,
        filter: None,
    };
    let mut records = Vec::new();
    let outcome = store.read_queue(topic, queue_id, &read, &mut records)?;
    Ok((outcome, records))
}

/// Splits what a read returned into its records.
pub fn split(mut records: &[u8]) -> Vec<RecordView<'_>> {
    let mut views = Vec::new();
    while !records.is_empty() {
        let view = RecordView::parse(records).expect("whole records");
        assert!(view.is_intact());
        records = &records[view.bytes.len()..];
        views.push(view);
    }
    views
}

/// Offset and body of every message of a queue, read page by page.
pub fn read_all(store: &Store, topic: &str, queue_id: i32) -> Vec<(u64, Vec<u8>)> {
    let Some((mut offset, end)) = store.queue_offsets(topic, queue_id) else {
        return Vec::new();
    };
    let mut messages = Vec::new();
    while offset < end {
        let (outcome, records) = read(store, topic, queue_id, offset.cast_signed());
        assert_eq!(outcome.status, ReadStatus::Found, "at {offset} of {end}");
        for view in split(&records) {
            messages.push((view.queue_offset, view.body.to_vec()));
        }
        assert!(outcome.next_offset > offset);
        offset = outcome.next_offset;
    }
    messages
}

/// Has all segments but the newest expire.
pub fn too_much() -> Retention {
    Retention {
        log_bytes_max: Some(0),
        segment_count_max: usize::MAX,
        ..Retention::default()
    }
}

/// A copy of the directory as a dying process would leave it.
pub fn copy_dir(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_dir(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// The state of `store` as a crash at this moment would leave it, in a fresh directory.
pub fn crash(store_dir: &Path) -> TempDir {
    let copy = tempdir();
    copy_dir(store_dir, copy.path());
    copy
}

/// The whole system went down since, not the process alone: it starts with another id. A flush that failed
/// before stays one.
pub fn go_down(dir: &Path) {
    let path = dir.join("abort");
    let text = fs::read_to_string(&path).unwrap_or_default();
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(run) = lines.get_mut(1).filter(|run| **run != "unflushed") {
        *run = "another run";
        fs::write(path, lines.join("\n") + "\n").unwrap();
    }
}

pub fn segment_path(dir: &Path, base: u64) -> std::path::PathBuf {
    dir.join("commitlog").join(format!("{base:020}"))
}

/// Replaces bytes of a file.
pub fn overwrite(path: &Path, at: u64, bytes: &[u8]) {
    use std::os::unix::fs::FileExt;
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(bytes, at).unwrap();
}

/// Topic, queue id and body of a numbered message: three queues, records of many sizes.
pub fn numbered(number: u64) -> (&'static str, i32, Vec<u8>) {
    let (topic, queue_id) = [("a", 0), ("a", 1), ("b", 0)][usize::try_from(number % 3).unwrap()];
    let size = usize::try_from(number * 37 % 700).unwrap();
    (
        topic,
        queue_id,
        [number.to_be_bytes().to_vec(), vec![7; size]].concat(),
    )
}

/// Appends messages `0..count` and returns the positions at which they start, and the end.
pub fn fill(store: &Store, count: u64) -> Vec<u64> {
    let mut positions = Vec::new();
    for number in 0..count {
        let (topic, queue_id, body) = numbered(number);
        positions.push(append(store, topic, queue_id, &body).log_position);
    }
    positions.push(store.max_position());
    positions
}

/// The store holds exactly messages `0..count`, and the next append continues them.
pub fn assert_holds(store: &Store, count: u64) {
    for queue in 0..3 {
        let (topic, queue_id, _) = numbered(queue);
        let expected: Vec<_> = (0..count)
            .filter(|number| number % 3 == queue)
            .map(|number| (number / 3, numbered(number).2))
            .collect();
        assert_eq!(
            read_all(store, topic, queue_id),
            expected,
            "queue {queue} of {count}"
        );
    }
    let (topic, queue_id, body) = numbered(count);
    assert_eq!(
        append(store, topic, queue_id, &body).queue_offset,
        count / 3
    );
}

/// The content of the journal of a truncation.
pub fn journal(position: u64, last_store_timestamp_ms: i64) -> String {
    let lines = format!("{position}\n{last_store_timestamp_ms}\n");
    let crc = crc32fast::hash(lines.as_bytes()) & 0x7FFF_FFFF;
    format!("2\n{crc}\n{lines}")
}

/// Every file of the log, the queues and the epochs below a store directory, with its bytes.
///
/// Of an open store its threads may remove or rename one meanwhile, which then is none.
pub fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut dirs = vec![dir.to_path_buf()];
    while let Some(next) = dirs.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(dir).unwrap().to_path_buf();
            let is_epochs = name.to_string_lossy().starts_with("epochFileCheckpoint");
            if path.is_dir() {
                dirs.push(path);
            } else if is_epochs || name.components().count() > 1 {
                match fs::read(&path) {
                    Ok(bytes) => found.insert(name, bytes),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => panic!("{}: {error}", path.display()),
                };
            }
        }
    }
    found
}

/// As [`contents`], but for segments from `end` on: the helper may or may not have made one ahead.
pub fn contents_before(dir: &Path, end: u64) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = contents(dir);
    found.retain(|name, _| {
        let base = name.file_name().unwrap().to_str().unwrap().parse();
        !name.starts_with("commitlog") || base.is_ok_and(|base: u64| base < end)
    });
    found
}

/// Indexes of the records that begin at and around the borders of segments, and at the ends.
pub fn interesting(positions: &[u64]) -> Vec<usize> {
    let segment_of = |at: usize| positions[at] / SEGMENT_SIZE;
    let borders = (1..positions.len()).filter(|at| segment_of(*at) != segment_of(at - 1));
    let around = borders.flat_map(|at| [at - 1, at, at + 1]);
    let mut chosen: Vec<usize> = around.chain([0, 1, 7, positions.len() - 2]).collect();
    chosen.retain(|at| *at < positions.len());
    chosen
}

/// How many directories of queues that are gone are still on the disk.
pub fn removed_count(dir: &Path) -> usize {
    fs::read_dir(dir.join("removed")).map_or(0, Iterator::count)
}
