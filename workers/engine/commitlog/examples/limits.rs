//! Prints, as JSON, how fast records are appended and how fast their bytes are merely copied.
//!
//! Both sides write into populated file maps of the same directory, in short turns, on the clock
//! of this thread, so that other work on the machine counts for neither. The ratio is the median
//! over the blocks (targets.md R1). Usage: `limits [directory]`.

use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use regent_commitlog::bench::PopulatedFile;
use regent_commitlog::{NewMessage, Store, StoreConfig};
use rustix::time::{ClockId, clock_gettime};

const BLOCK_COUNT: usize = 7;
const TURN_COUNT: usize = 16;
const TURN_BYTES: usize = 8 << 20;
const TOTAL_BYTES: usize = BLOCK_COUNT * TURN_COUNT * TURN_BYTES;
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
    println!("{}", measure(dir.path())?);
    Ok(())
}

/// What one side moved in how much time of this thread.
#[derive(Default)]
struct Moved {
    bytes: usize,
    count: u32,
    seconds: f64,
}

impl Moved {
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
    fn gb_per_s(&self) -> f64 {
        self.bytes as f64 / self.seconds / 1e9
    }

    fn nanoseconds(&self) -> f64 {
        self.seconds * 1e9 / f64::from(self.count)
    }
}

/// Alternates copies and appends and writes the report.
fn measure(dir: &Path) -> Result<String, Failure> {
    let mut file = PopulatedFile::create(&dir.join("copy"), TOTAL_BYTES as u64)?;
    let store = prepared_store(&dir.join("store"))?;
    let mut blocks = Vec::new();
    for _ in 0..BLOCK_COUNT {
        let (mut copied, mut appended) = (Moved::default(), Moved::default());
        for _ in 0..TURN_COUNT {
            copy_turn(&mut file, &mut copied);
            append_turn(&store, &mut appended)?;
        }
        blocks.push((copied, appended));
    }
    store.close()?;
    let median_of = |value: fn(&(Moved, Moved)) -> f64| median(blocks.iter().map(value).collect());
    Ok(format!(
        "{{\"blocks\": {BLOCK_COUNT}, \"memcpy_1kib_gb_per_s\": {:.3}, \
         \"append_1kib_gb_per_s\": {:.3}, \"append_1kib_ns\": {:.1}, \
         \"append_over_memcpy\": {:.3}}}",
        median_of(|(copied, _)| copied.gb_per_s()),
        median_of(|(_, appended)| appended.gb_per_s()),
        median_of(|(_, appended)| appended.nanoseconds()),
        median_of(|(copied, appended)| appended.gb_per_s() / copied.gb_per_s()),
    ))
}

/// A store whose segment is present in memory for all that will be appended.
fn prepared_store(dir: &Path) -> Result<Store, Failure> {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = (TOTAL_BYTES + 4 * TURN_BYTES) as u64;
    config.populate_ahead_bytes = config.segment_size_bytes;
    let store = Store::open(config, NOW_MS)?;
    append_turn(&store, &mut Moved::default())?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.populated_position() < TOTAL_BYTES as u64 {
        if Instant::now() > deadline {
            return Err("the segment was not populated within a minute".into());
        }
        sleep(Duration::from_millis(10));
    }
    Ok(store)
}

fn copy_turn(file: &mut PopulatedFile, moved: &mut Moved) {
    let piece = [0x5A_u8; COPY_SIZE];
    let begin = thread_seconds();
    file.fill_next(&piece, TURN_BYTES);
    moved.seconds += thread_seconds() - begin;
    moved.bytes += TURN_BYTES;
}

fn append_turn(store: &Store, moved: &mut Moved) -> Result<(), Failure> {
    let body = [0x42_u8; COPY_SIZE];
    let mut message = NewMessage::new("Benchmark", 0, &body);
    message.properties = PROPERTIES;
    message.born_timestamp_ms = NOW_MS;
    let mut writer = store.writer()?;
    let (mut bytes, mut count) = (0, 0);
    let begin = thread_seconds();
    while bytes < TURN_BYTES {
        message.queue_id = (message.queue_id + 1) % QUEUE_COUNT;
        bytes += writer.append(black_box(&message), NOW_MS)?.size as usize;
        count += 1;
    }
    moved.seconds += thread_seconds() - begin;
    moved.bytes += bytes;
    moved.count += count;
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "processor time of one run")]
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values[values.len() / 2]
}
