//! Prints, as JSON, how fast records are appended and how fast their bytes are merely copied.
//!
//! Both sides write into populated file maps of the same directory, in turns, and the ratio is
//! the median over the blocks (targets.md R1). Usage: `limits [directory]`.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use regent_commitlog::bench::PopulatedFile;
use regent_commitlog::{NewMessage, Store, StoreConfig};

const BLOCK_COUNT: usize = 7;
const BLOCK_BYTES: usize = 128 << 20;
const COPY_SIZE: usize = 1024;
const QUEUE_COUNT: i32 = 8;
const NOW_MS: i64 = 1_758_000_000_000;
const PROPERTIES: &[u8] = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let parent = std::env::args_os()
        .nth(1)
        .map_or_else(std::env::temp_dir, PathBuf::from);
    let dir = tempfile::Builder::new()
        .prefix("regent-limits-")
        .tempdir_in(parent)?;
    let report = measure(dir.path(), 1024)?;
    println!("{report}");
    Ok(())
}

/// Interleaves copy and append blocks and writes the report.
fn measure(dir: &Path, body_size: usize) -> Result<String, Failure> {
    let mut copied = PopulatedFile::create(&dir.join("copy"), BLOCK_BYTES as u64)?;
    let mut config = StoreConfig::new(dir.join("store"));
    config.segment_size_bytes = 2 << 30;
    config.populate_ahead_bytes = config.segment_size_bytes;
    let store = Store::open(config, NOW_MS)?;
    let body = vec![0x42_u8; body_size];
    append_block(&store, &body, 1 << 20)?;
    wait_populated(&store, (1 << 20) + (BLOCK_COUNT * BLOCK_BYTES) as u64)?;
    let mut copies = Vec::new();
    let mut appends = Vec::new();
    for _ in 0..BLOCK_COUNT {
        copies.push(copy_block(&mut copied)?);
        appends.push(append_block(&store, &body, BLOCK_BYTES)?);
    }
    let ratios: Vec<f64> = appends
        .iter()
        .zip(&copies)
        .map(|(a, c)| a.rate / c)
        .collect();
    let nanoseconds: Vec<f64> = appends.iter().map(|append| append.nanoseconds).collect();
    let rates: Vec<f64> = appends.iter().map(|append| append.rate).collect();
    store.close()?;
    Ok(format!(
        "{{\"blocks\": {BLOCK_COUNT}, \"body_bytes\": {body_size}, \
         \"memcpy_1kib_gb_per_s\": {:.3}, \"append_1kib_gb_per_s\": {:.3}, \
         \"append_1kib_ns\": {:.1}, \"append_over_memcpy\": {:.3}}}",
        median(copies),
        median(rates),
        median(nanoseconds),
        median(ratios),
    ))
}

/// GB/s of copying 1 KiB pieces one after the other through the whole map.
fn copy_block(file: &mut PopulatedFile) -> Result<f64, Failure> {
    file.populate()?;
    let piece = [0x5A_u8; COPY_SIZE];
    let begin = Instant::now();
    let copied = file.fill_with(&piece);
    Ok(gb_per_s(copied, begin.elapsed()))
}

struct Append {
    rate: f64,
    nanoseconds: f64,
}

/// GB/s of appended records, and nanoseconds for each.
fn append_block(store: &Store, body: &[u8], bytes: usize) -> Result<Append, Failure> {
    let mut writer = store.writer()?;
    let mut message = NewMessage::new("Benchmark", 0, body);
    message.properties = PROPERTIES;
    message.born_timestamp_ms = NOW_MS;
    let (mut written, mut count) = (0, 0_u32);
    let begin = Instant::now();
    while written < bytes {
        message.queue_id = (message.queue_id + 1) % QUEUE_COUNT;
        written += writer.append(black_box(&message), NOW_MS)?.size as usize;
        count += 1;
    }
    let elapsed = begin.elapsed();
    let nanoseconds = elapsed.as_secs_f64() * 1e9 / f64::from(count);
    Ok(Append {
        rate: gb_per_s(written, elapsed),
        nanoseconds,
    })
}

fn wait_populated(store: &Store, position: u64) -> Result<(), Failure> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.populated_position() < position {
        if Instant::now() > deadline {
            return Err("the segment was not populated within a minute".into());
        }
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

#[allow(clippy::cast_precision_loss)] // far below 2^52
fn gb_per_s(bytes: usize, elapsed: Duration) -> f64 {
    bytes as f64 / elapsed.as_secs_f64() / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
