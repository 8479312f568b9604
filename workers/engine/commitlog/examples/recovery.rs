//! Prints, as JSON, how fast a log of 1 GiB is recovered after an unclean stop, its queues rebuilt
//! (targets.md R3, R3b, R16). It compares that with a checksum over the same bytes from memory and
//! with a plain read of them from the disk. Usage: `recovery DIRECTORY BLOCK_COUNT`.

use std::error::Error;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

use regent_commitlog::{NewMessage, Store, StoreConfig};
use rustix::fs::{Advice, fadvise};

const LOG_BYTES: u64 = 1 << 30;
const SEGMENT_BYTES: u64 = 256 << 20;
const BODY_SIZE: usize = 1024;
const QUEUE_COUNT: i32 = 8;
const NOW_MS: i64 = 1_758_000_000_000;
const READ_SIZE: usize = 1 << 20;
const PROPERTIES: &[u8] = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parent, block_count] = arguments.as_slice() else {
        return Err("usage: recovery DIRECTORY BLOCK_COUNT".into());
    };
    let dir = tempfile::Builder::new()
        .prefix("regent-recovery-")
        .tempdir_in(PathBuf::from(parent))?;
    fill(dir.path())?;
    let blocks: Result<Vec<String>, Failure> = (0..block_count.parse()?)
        .map(|_| measure(dir.path()))
        .collect();
    println!("[{}]", blocks?.join(", "));
    Ok(())
}

fn config(dir: &Path) -> StoreConfig {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_BYTES;
    config
}

/// Writes the log, all of it on the disk, and leaves it as a crash would.
fn fill(dir: &Path) -> Result<(), Failure> {
    let store = Store::open(config(dir), NOW_MS)?;
    let body = [0x42_u8; BODY_SIZE];
    let mut message = NewMessage::new("Benchmark", 0, &body);
    message.properties = PROPERTIES;
    while store.max_position() < LOG_BYTES {
        message.queue_id = (message.queue_id + 1) % QUEUE_COUNT;
        store.writer()?.append(&message, NOW_MS)?;
    }
    store.flush()?;
    Ok(())
}

fn measure(dir: &Path) -> Result<String, Failure> {
    let segments = segments(dir)?;
    let crc = timed(|| checksum(&segments))?;
    let (warm, bytes) = recover(dir)?;
    for path in &segments {
        forget(path)?;
    }
    let disk = timed(|| read(&segments))?;
    for path in &segments {
        forget(path)?;
    }
    let (cold, _) = recover(dir)?;
    let store = Store::open(config(dir), NOW_MS)?;
    store.close()?;
    drop(store);
    let begin = Instant::now();
    drop(Store::open(config(dir), NOW_MS)?);
    let clean = begin.elapsed().as_secs_f64();
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
    let gb = bytes as f64 / 1e9;
    Ok(format!(
        "{{\"crc_gb_per_s\": {:.3}, \"recovery_gb_per_s\": {:.3}, \"disk_gb_per_s\": {:.3}, \
         \"cold_recovery_gb_per_s\": {:.3}, \"unclean_open_s\": {warm:.3}, \
         \"clean_open_s\": {clean:.3}}}",
        gb / crc,
        gb / warm,
        gb / disk,
        gb / cold,
    ))
}

fn timed(work: impl FnOnce() -> Result<(), Failure>) -> Result<f64, Failure> {
    let begin = Instant::now();
    work()?;
    Ok(begin.elapsed().as_secs_f64())
}

fn segments(dir: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir.join("commitlog"))? {
        paths.push(entry?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Opens the store as after a crash that lost its queues and its checkpoint.
fn recover(dir: &Path) -> Result<(f64, u64), Failure> {
    fs::remove_dir_all(dir.join("consumequeue"))?;
    let _ = fs::remove_file(dir.join("checkpoint"));
    let begin = Instant::now();
    let store = Store::open(config(dir), NOW_MS)?;
    let seconds = begin.elapsed().as_secs_f64();
    if store.recovery().was_clean || store.recovery().scanned_from != 0 {
        return Err("the store was not recovered from its start".into());
    }
    let end = store.max_position();
    store.flush_tick(NOW_MS + 3_600_000)?;
    Ok((seconds, end))
}

/// Checks 1 KiB blocks of the segments in maps, as recovery reads them.
fn checksum(segments: &[PathBuf]) -> Result<(), Failure> {
    for path in segments {
        regent_commitlog::bench::with_map(path, |bytes| {
            for block in bytes.chunks(BODY_SIZE) {
                black_box(crc32fast::hash(block));
            }
        })?;
    }
    Ok(())
}

fn read(segments: &[PathBuf]) -> Result<(), Failure> {
    let mut buffer = vec![0; READ_SIZE];
    for path in segments {
        let mut file = File::open(path)?;
        while file.read(&mut buffer)? > 0 {
            black_box(&buffer);
        }
    }
    Ok(())
}

/// Drops a file from the page cache.
fn forget(path: &Path) -> Result<(), Failure> {
    let file = File::open(path)?;
    file.sync_all()?;
    fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}
