//! Prints, as JSON, how many synchronously flushed messages a second a store takes when 64 are in
//! flight, against `fdatasync` after 1 KiB on a preallocated file (targets.md R4, R4b). Usage:
//! `sync_flush DIRECTORY BLOCK_COUNT`.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::os::linux::fs::MetadataExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use regent_commitlog::{FlushMode, NewMessage, Store, StoreConfig};
use rustix::fs::{FallocateFlags, fallocate, major, minor};

const GROUP_SIZE: u32 = 64;
const GROUP_COUNT: u32 = 400;
const SYNC_COUNT: u32 = 400;
const BODY_SIZE: usize = 1024;
const QUEUE_COUNT: i32 = 8;
const NOW_MS: i64 = 1_758_000_000_000;
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

fn measure(dir: &Path, store: &Store) -> Result<String, Failure> {
    let syncs = syncs_per_second(&dir.join("sync"))?;
    let (written, appended) = (device_bytes(dir)?, store.max_position());
    let begin = Instant::now();
    append_groups(store, GROUP_COUNT)?;
    let acks = f64::from(GROUP_SIZE * GROUP_COUNT) / begin.elapsed().as_secs_f64();
    let written = device_bytes(dir)?
        .zip(written)
        .map(|(now, then)| now - then);
    let appended = store.max_position() - appended;
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
    let amplification = written.map_or_else(
        || "null".to_owned(),
        |written| format!("{:.3}", written as f64 / appended as f64),
    );
    Ok(format!(
        "{{\"syncs_per_s\": {syncs:.1}, \"acks_per_s\": {acks:.1}, \
         \"device_bytes_per_byte\": {amplification}}}"
    ))
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

fn syncs_per_second(path: &Path) -> Result<f64, Failure> {
    let file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    let size = u64::from(SYNC_COUNT) * BODY_SIZE as u64;
    fallocate(&file, FallocateFlags::empty(), 0, size)?;
    file.sync_all()?;
    let block = [0x5A_u8; BODY_SIZE];
    let begin = Instant::now();
    for turn in 0..SYNC_COUNT {
        file.write_all_at(&block, u64::from(turn) * BODY_SIZE as u64)?;
        file.sync_data()?;
    }
    let rate = f64::from(SYNC_COUNT) / begin.elapsed().as_secs_f64();
    fs::remove_file(path)?;
    Ok(rate)
}

/// Bytes written so far to the device that holds the directory; `None` when it does not tell.
fn device_bytes(dir: &Path) -> Result<Option<u64>, Failure> {
    let device = fs::metadata(dir)?.st_dev();
    let name = format!("/sys/dev/block/{}:{}/stat", major(device), minor(device));
    let Ok(text) = fs::read_to_string(name) else {
        return Ok(None);
    };
    let sectors = text.split_whitespace().nth(6).ok_or("no such field")?;
    Ok(Some(sectors.parse::<u64>()? * SECTOR_BYTES))
}
