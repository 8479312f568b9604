//! Stores as former versions left them that wrote expired segments again in `SYNC_FLUSH`; see `former.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use regent_commitlog::{FlushMode, Store, StoreConfig};

use super::{NOW_MS, SEGMENT_SIZE, append, config, overwrite, segment_path};

const SLOT_SIZE: usize = 4096;
const POSITION_AT: usize = 28;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

pub fn synchronous(dir: &Path) -> StoreConfig {
    let mut config = config(dir);
    config.flush_mode = FlushMode::Sync;
    config
}

pub fn open_synchronous(dir: &Path) -> Store {
    Store::open(synchronous(dir), NOW_MS).unwrap()
}

/// This boot, which is all that former versions named of a run of the system.
pub fn boot_id() -> String {
    fs::read_to_string(BOOT_ID).unwrap().trim().to_owned()
}

pub fn spare_dir(dir: &Path) -> PathBuf {
    dir.join("commitlog").join("spare")
}

/// Bytes of the log of a segment.
fn log_bytes(dir: &Path, from: u64, to: u64) -> Vec<u8> {
    let base = from - from % SEGMENT_SIZE;
    let segment = fs::read(segment_path(dir, base)).unwrap();
    let local = |position: u64| usize::try_from(position - base).unwrap();
    segment[local(from)..local(to)].to_vec()
}

/// The seal of a range of the log, which says that the range was flushed.
pub fn seal(dir: &Path, from: u64, to: u64) -> Vec<u8> {
    let crc = crc32fast::hash(&log_bytes(dir, from, to));
    let fields = [
        &from.to_be_bytes()[..],
        &to.to_be_bytes(),
        &crc.to_be_bytes(),
    ]
    .concat();
    let own_crc = crc32fast::hash(&fields);
    [&fields[..], &own_crc.to_be_bytes()].concat()
}

/// Makes a store that is not open look as a former version left it: its mark, its seals, and a
/// segment that was to be written again.
pub fn leave(dir: &Path, run: &str, write_limit: u64, seals: &[Vec<u8>]) {
    fs::write(
        dir.join("abort"),
        format!("4711\n{run}\n{write_limit:020}\n"),
    )
    .unwrap();
    let spare_dir = spare_dir(dir);
    fs::create_dir_all(&spare_dir).unwrap();
    let spare = spare_dir.join(format!("{SEGMENT_SIZE:020}"));
    fs::write(spare, vec![7; usize::try_from(SEGMENT_SIZE).unwrap()]).unwrap();
    let mut slots = vec![0; 2 * SLOT_SIZE];
    for (slot, seal) in slots.chunks_mut(SLOT_SIZE).zip(seals) {
        slot[..seal.len()].copy_from_slice(seal);
    }
    fs::write(spare_dir.join("seal"), slots).unwrap();
}

/// Writes what is a valid record of its place over bytes that a former use of the segment left there.
pub fn write_stale(dir: &Path, position: u64) {
    let source = super::sample::memory_dir();
    let store = super::open(source.path());
    let size = u64::from(append(&store, "stale", 0, b"of a former use").size);
    let mut record = log_bytes(source.path(), 0, size);
    record[POSITION_AT..POSITION_AT + 8].copy_from_slice(&position.to_be_bytes());
    let base = position - position % SEGMENT_SIZE;
    overwrite(&segment_path(dir, base), position - base, &record);
}
