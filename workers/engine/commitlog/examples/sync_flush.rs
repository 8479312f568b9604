//! Prints, as JSON, how many synchronously flushed messages a second a store takes when 64 are in
//! flight (targets.md R4, R4b). It compares that with `fdatasync` after 1 KiB on a preallocated
//! file. Usage: `sync_flush DIRECTORY BLOCK_COUNT`.
//!
//! Beside it, `fdatasync` after as many pages as 64 messages take, on blocks that were written
//! before. R4 assumes that this costs as much as 1 KiB; where it costs more, no flush can come
//! near.

use std::error::Error;
use std::fs::{self, File, OpenOptions};
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use regent_commitlog::{FlushMode, NewMessage, Retention, Store, StoreConfig};
use rustix::fs::{FallocateFlags, fallocate, major, minor};

const GROUP_SIZE: u32 = 64;
/// Of a store, in each half of a block.
const GROUPS_A_HALF: u32 = 200;
const SYNCS_A_HALF: u32 = 200;
const BARE_GROUPS_A_HALF: u32 = 50;
/// The pages of 64 messages of 1 176 bytes; the last of the group before is among them.
const BARE_GROUP_SIZE: usize = 80 << 10;
const PAGE_SIZE: usize = 4096;
const BODY_SIZE: usize = 1024;
const QUEUE_COUNT: i32 = 8;
const NOW_MS: i64 = 1_758_000_000_000;
const SEGMENT_SIZE: u64 = 128 << 20;
/// In so much time a helper at work makes a page present.
const REST: Duration = Duration::from_millis(5);
const SECTOR_BYTES: u64 = 512;
const PROPERTIES: &[u8] = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parent, block_count] = arguments.as_slice() else {
        return Err("usage: sync_flush DIRECTORY BLOCK_COUNT".into());
    };
    let dir = tempfile::Builder::new()
        .prefix("regent-sync-flush-")
        .tempdir_in(PathBuf::from(parent))?;
    let mut config = StoreConfig::new(dir.path().join("store"));
    config.flush_mode = FlushMode::Sync;
    config.segment_size_bytes = SEGMENT_SIZE;
    let store = Store::open(config, NOW_MS)?;
    append_groups(&store, 20)?;
    let mut blocks = Vec::new();
    for _ in 0..block_count.parse()? {
        blocks.push(measure(dir.path(), &store)?);
    }
    store.close()?;
    println!("[{}]", blocks.join(", "));
    Ok(())
}

/// Waits until the helper of a store has made all that it makes ahead. The next measurement would
/// include the helper's remaining work.
fn rest(store: &Store) {
    let mut seen = None;
    while seen != Some(store.populated_position()) {
        seen = Some(store.populated_position());
        sleep(REST);
    }
}

/// Measures one block: syncs, the store, the store, syncs (targets.md 1.3).
fn measure(dir: &Path, store: &Store) -> Result<String, Failure> {
    let mut syncs = Syncs::new(dir.join("sync"), BODY_SIZE, SYNCS_A_HALF)?;
    let mut bare = Syncs::new(dir.join("bare-groups"), BARE_GROUP_SIZE, BARE_GROUPS_A_HALF)?;
    bare.write_all_blocks()?;
    let mut bare_s = bare.run()?;
    let before_s = syncs.run()?;
    let (device, position) = (device_bytes(dir)?, store.max_position());
    let begin = Instant::now();
    append_groups(store, 2 * GROUPS_A_HALF)?;
    let store_s = begin.elapsed().as_secs_f64();
    rest(store);
    let written = device_bytes(dir)?.zip(device).map(|(now, then)| now - then);
    let appended = store.max_position() - position;
    let after_s = syncs.run()?;
    bare_s += bare.run()?;
    store.expire(&too_much(), NOW_MS)?;
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
    let amplification = written.map_or_else(
        || "null".to_owned(),
        |written| format!("{:.3}", written as f64 / appended as f64),
    );
    let (syncs, bare_groups, acks) = (
        f64::from(SYNCS_A_HALF),
        f64::from(2 * BARE_GROUPS_A_HALF),
        f64::from(2 * GROUP_SIZE * GROUPS_A_HALF),
    );
    Ok(format!(
        "{{\"syncs_per_s\": {:.1}, \"syncs_per_s_before\": {:.1}, \"syncs_per_s_after\": {:.1}, \
         \"bare_groups_per_s\": {:.1}, \"acks_per_s\": {:.1}, \
         \"device_bytes_per_byte\": {amplification}}}",
        2.0 * syncs / (before_s + after_s),
        syncs / before_s,
        syncs / after_s,
        bare_groups / bare_s,
        acks / store_s,
    ))
}

fn too_much() -> Retention {
    Retention {
        log_bytes_max: Some(0),
        segment_count_max: usize::MAX,
        ..Retention::default()
    }
}

/// Appends messages and flushes after each group, as the group commit of an agent does.
fn append_groups(store: &Store, count: u32) -> Result<(), Failure> {
    let body = [0x42_u8; BODY_SIZE];
    let mut message = NewMessage::new("Benchmark", 0, &body);
    message.properties = PROPERTIES;
    for _ in 0..count {
        let mut writer = store.writer()?;
        for _ in 0..GROUP_SIZE {
            message.queue_id = (message.queue_id + 1) % QUEUE_COUNT;
            writer.append(&message, NOW_MS)?;
        }
        drop(writer);
        store.flush()?;
    }
    Ok(())
}

/// Writes of one size, one behind the other into a preallocated file, each of them synced.
struct Syncs {
    path: PathBuf,
    file: File,
    block: Vec<u8>,
    a_half: u32,
    position: u64,
}

impl Syncs {
    fn new(path: PathBuf, size: usize, a_half: u32) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        let file = options
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)?;
        let block = vec![0x5A; size];
        let file_size = u64::from(2 * a_half) * block.len() as u64;
        fallocate(&file, FallocateFlags::empty(), 0, file_size)?;
        file.sync_all()?;
        Ok(Self {
            path,
            file,
            block,
            a_half,
            position: 0,
        })
    }

    /// Writes the file page by page, so that no sync has to take a block from the file system.
    fn write_all_blocks(&self) -> Result<(), Failure> {
        let size = self.file.metadata()?.len();
        for at in (0..size).step_by(PAGE_SIZE) {
            self.file.write_all_at(&[0; PAGE_SIZE], at)?;
        }
        self.file.sync_all()?;
        Ok(())
    }

    /// Takes one half of a block; returns how long it took.
    fn run(&mut self) -> Result<f64, Failure> {
        let begin = Instant::now();
        for _ in 0..self.a_half {
            self.file.write_all_at(&self.block, self.position)?;
            self.file.sync_data()?;
            self.position += self.block.len() as u64;
        }
        Ok(begin.elapsed().as_secs_f64())
    }
}

impl Drop for Syncs {
    fn drop(&mut self) {
        // It goes with its directory otherwise.
        let _ = fs::remove_file(&self.path);
    }
}

/// Bytes written so far to the device that holds the directory; `None` if unknown.
fn device_bytes(dir: &Path) -> Result<Option<u64>, Failure> {
    let device = fs::metadata(dir)?.st_dev();
    let name = format!("/sys/dev/block/{}:{}/stat", major(device), minor(device));
    let Ok(text) = fs::read_to_string(name) else {
        return Ok(None);
    };
    let sectors = text.split_whitespace().nth(6).ok_or("no such field")?;
    Ok(Some(sectors.parse::<u64>()? * SECTOR_BYTES))
}
