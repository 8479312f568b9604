//! One topic with batch queues.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use regent_commitlog::{Appended, NewMessage, QueueRead, Store};

use super::element;

pub const ENTRY_SIZE: usize = 46;
/// Four entries to a file.
pub const FILE_SIZE: u64 = 4 * ENTRY_SIZE as u64;
pub const EVERYTHING: QueueRead<'static> = QueueRead {
    offset: 0,
    count_max: 1_000,
    bytes_max: 1 << 20,
    filter: None,
};

pub fn packed(bodies: &[&[u8]]) -> Vec<u8> {
    bodies.iter().flat_map(|body| element(body, b"")).collect()
}

pub fn append_inner(store: &Store, queue_id: i32, bodies: &[&[u8]], now_ms: i64) -> Appended {
    let mut message = NewMessage::new("batches", queue_id, b"");
    message.properties = b"UNIQ_KEY\x01U\x02TAGS\x01red";
    let mut writer = store.writer().unwrap();
    writer
        .append_inner_batch(&message, &packed(bodies), now_ms)
        .unwrap()
}

pub fn append_plain(store: &Store, queue_id: i32, body: &[u8]) -> Appended {
    super::append(store, "batches", queue_id, body)
}

pub fn queue_files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = super::contents(dir);
    files.retain(|name, _| name.to_string_lossy().contains("consumequeue"));
    files
}
