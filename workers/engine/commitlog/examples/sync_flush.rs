//! Prints, as JSON, how many synchronously flushed messages a second a store takes when 64 are in
//! flight, against `fdatasync` after 1 KiB on a preallocated file (targets.md R4, R4b). Usage:
//! `sync_flush DIRECTORY BLOCK_COUNT`.
//!
//! Beside it, `fdatasync` after as many pages as 64 messages take, on blocks that were written
//! before: R4 takes that to cost what 1 KiB does, and where it does not no flush can come near.
//!
//! Measured is a store whose retention has begun, so that it writes segments that were written
//! before, as a broker does for all its life but the first days; and beside it one that uses
//! no segment again, whose blocks are written for the first time.

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
/// Segments written before anything is measured, all but the last of which may expire.
const OLD_SEGMENT_COUNT: u64 = 3;
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
    let again = Measured::open(dir.path().join("again"), OLD_SEGMENT_COUNT)?;
    let first = Measured::open(dir.path().join("first"), 0)?;
    let mut blocks = Vec::new();
    for _ in 0..block_count.parse()? {
        blocks.push(measure(dir.path(), &again, &first)?);
    }
    again.store.close()?;
    first.store.close()?;
    println!("[{}]", blocks.join(", "));
    Ok(())
}

/// A store, and the files that were its segments before it was measured.
struct Measured {
    store: Store,
    log: PathBuf,
    old: Vec<u64>,
}

impl Measured {
    /// Fills and expires so many segments; without any it uses none again.
    fn open(dir: PathBuf, old_count: u64) -> Result<Self, Failure> {
        let log = dir.join("commitlog");
        let mut config = StoreConfig::new(dir);
        config.flush_mode = FlushMode::Sync;
        config.segment_size_bytes = SEGMENT_SIZE;
        if old_count == 0 {
            config.spare_segment_count_max = 0;
        }
        let store = Store::open(config, NOW_MS)?;
        append_groups(&store, 20)?;
        let mut old = Vec::new();
        // The segment after the current one is made, anew, at its half.
        let end = old_count * SEGMENT_SIZE + SEGMENT_SIZE / 4;
        while old_count > 0 && store.max_position() < end {
            append_groups(&store, 20)?;
        }
        for base in (0..old_count).map(|number| number * SEGMENT_SIZE) {
            old.push(fs::metadata(log.join(format!("{base:020}")))?.st_ino());
        }
        let measured = Self { store, log, old };
        measured.expire()?;
        while old_count > 0 && !measured.is_used_again()? {
            append_groups(&measured.store, 20)?;
        }
        Ok(measured)
    }

    fn expire(&self) -> Result<(), Failure> {
        let retention = Retention {
            log_bytes_max: Some(0),
            segment_count_max: usize::MAX,
            ..Retention::default()
        };
        self.store.expire(&retention, NOW_MS)?;
        Ok(())
    }

    fn is_used_again(&self) -> Result<bool, Failure> {
        let base = self.store.last_segment_start();
        let file = fs::metadata(self.log.join(format!("{base:020}")))?;
        Ok(self.old.contains(&file.st_ino()))
    }

    /// Waits until its helper has made the pages that it can: what it has left to do would count for
    /// whoever is measured next.
    fn rest(&self) {
        let mut seen = None;
        while seen != Some(self.store.populated_position()) {
            seen = Some(self.store.populated_position());
            sleep(REST);
        }
    }

    /// Appends groups; returns how long that took.
    fn append(&self) -> Result<f64, Failure> {
        let begin = Instant::now();
        append_groups(&self.store, GROUPS_A_HALF)?;
        Ok(begin.elapsed().as_secs_f64())
    }
}

/// Measures one block: syncs, both stores, both in reverse order, syncs (targets.md 1.3).
fn measure(dir: &Path, again: &Measured, first: &Measured) -> Result<String, Failure> {
    let mut syncs = Syncs::new(dir.join("sync"), BODY_SIZE, SYNCS_A_HALF)?;
    let mut bare = Syncs::new(dir.join("bare-groups"), BARE_GROUP_SIZE, BARE_GROUPS_A_HALF)?;
    bare.write_all_blocks()?;
    let (mut written, mut appended) = (Some(0), 0);
    let mut append_again = || -> Result<f64, Failure> {
        let (device, position) = (device_bytes(dir)?, again.store.max_position());
        let duration_s = again.append()?;
        let grown = device_bytes(dir)?.zip(device).map(|(now, then)| now - then);
        written = written.zip(grown).map(|(sum, grown)| sum + grown);
        appended += again.store.max_position() - position;
        Ok(duration_s)
    };
    let mut bare_s = bare.run()?;
    let before_s = syncs.run()?;
    let mut again_s = append_again()?;
    let first_s = first.append()? + first.append()?;
    first.rest();
    again_s += append_again()?;
    let after_s = syncs.run()?;
    bare_s += bare.run()?;
    again.expire()?;
    first.expire()?;
    if !again.is_used_again()? {
        return Err("a new segment was made where an old one was to be used again".into());
    }
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
         \"bare_groups_per_s\": {:.1}, \"acks_per_s\": {:.1}, \"first_use_acks_per_s\": {:.1}, \
         \"device_bytes_per_byte\": {amplification}}}",
        2.0 * syncs / (before_s + after_s),
        syncs / before_s,
        syncs / after_s,
        bare_groups / bare_s,
        acks / again_s,
        acks / first_s,
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
