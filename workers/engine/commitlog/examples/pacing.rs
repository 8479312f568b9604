//! Prints, as JSON, what asynchronous flushes do to appends at a steady rate, with and without
//! write-back started between them. Usage: `pacing DIRECTORY BLOCK_COUNT MEGABYTES_PER_SECOND`.
//!
//! Each block appends for three seconds in bursts of one millisecond while a second thread flushes
//! twice a second; paced and unpaced blocks take turns. `dirty_mb_max` is the most that a flush
//! found left to wait for, `append_us_p999` the time of one append of 1 KiB. The longest appends
//! are those that were pre-empted on a busy machine: `waits` counts those over 0.1 ms in which the
//! kernel made the appending thread wait.

use std::error::Error;
use std::fs;
use std::os::linux::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use regent_commitlog::{NewMessage, Store, StoreConfig};
use rustix::fs::{major, minor};

const BODY_SIZE: usize = 1024;
const NOW_MS: i64 = 1_758_000_000_000;
const BLOCK_TIME: Duration = Duration::from_secs(3);
const FLUSH_INTERVAL: Duration = Duration::from_millis(500);
/// As the agent's flusher.
const PACE: Duration = Duration::from_millis(20);
const BURST: Duration = Duration::from_millis(1);
const SECTOR_BYTES: u64 = 512;

type Failure = Box<dyn Error + Send + Sync>;

/// Slower appends are looked at.
const SLOW: Duration = Duration::from_micros(100);

/// How long appends took, and those of them that waited in the kernel.
#[derive(Debug)]
struct Appends {
    times: Vec<Duration>,
    waits: Vec<Duration>,
}

/// What one flush thread saw.
#[derive(Debug, Default)]
struct Flushes {
    longest: Duration,
    dirty_bytes_max: u64,
    total: Duration,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parent, block_count, rate] = arguments.as_slice() else {
        return Err("usage: pacing DIRECTORY BLOCK_COUNT MEGABYTES_PER_SECOND".into());
    };
    let (parent, rate) = (PathBuf::from(parent), rate.parse::<u64>()? << 20);
    let mut blocks = Vec::new();
    for turn in 0..block_count.parse::<u32>()? {
        for is_paced in [turn % 2 == 0, turn % 2 != 0] {
            blocks.push(measure(&parent, rate, is_paced)?);
        }
    }
    println!("[{}]", blocks.join(",\n "));
    Ok(())
}

fn measure(parent: &Path, rate: u64, is_paced: bool) -> Result<String, Failure> {
    let dir = tempfile::Builder::new()
        .prefix("regent-pacing-")
        .tempdir_in(parent)?;
    let store = Store::open(StoreConfig::new(dir.path().join("store")), NOW_MS)?;
    let written = device_bytes(dir.path())?;
    let is_over = AtomicBool::new(false);
    let (flushes, appends) = thread::scope(|scope| {
        let flusher = scope.spawn(|| drive(&store, &is_over, is_paced));
        let appends = append_at(&store, rate);
        is_over.store(true, Ordering::Release);
        let flushes = flusher.join().map_err(|_| "the flush thread panicked")??;
        Ok::<_, Failure>((flushes, appends?))
    })?;
    let appended = store.max_position();
    let amplification = device_bytes(dir.path())?.zip(written);
    store.close()?;
    let Appends { mut times, waits } = appends;
    times.sort_unstable();
    let at = |permille: usize| times[(times.len() - 1) * permille / 100_000];
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
    let amplification = amplification.map_or("null".into(), |(now, then)| {
        format!("{:.3}", (now - then) as f64 / appended as f64)
    });
    Ok(format!(
        "{{\"is_paced\": {is_paced}, \"appended_mb\": {}, \"dirty_mb_max\": {}, \
         \"flush_ms_max\": {:.1}, \"flush_ms_total\": {:.1}, \"append_us_p50\": {:.2}, \
         \"append_us_p999\": {:.2}, \"append_us_p9999\": {:.2}, \"append_us_max\": {:.1}, \
         \"waits\": {}, \"wait_us_max\": {:.1}, \"device_bytes_per_byte\": {amplification}}}",
        appended >> 20,
        flushes.dirty_bytes_max >> 20,
        flushes.longest.as_secs_f64() * 1e3,
        flushes.total.as_secs_f64() * 1e3,
        micros(at(50_000)),
        micros(at(99_900)),
        micros(at(99_990)),
        micros(at(100_000)),
        waits.len(),
        micros(waits.iter().max().copied().unwrap_or_default()),
    ))
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Flushes on the interval until all is appended, and once more then.
fn drive(store: &Store, is_over: &AtomicBool, is_paced: bool) -> Result<Flushes, Failure> {
    let mut flushes = Flushes::default();
    let mut due_at = Instant::now() + FLUSH_INTERVAL;
    let mut started = 0;
    loop {
        let stops = is_over.load(Ordering::Acquire);
        if Instant::now() < due_at && !stops {
            thread::sleep(PACE);
            if is_paced {
                started += store.start_write_back()?;
            }
            continue;
        }
        let done = store.flushed_position().max(started);
        let dirty = store.max_position().saturating_sub(done);
        let begin = Instant::now();
        started = store.flush()?;
        let took = begin.elapsed();
        flushes.total += took;
        if stops {
            return Ok(flushes);
        }
        flushes.longest = flushes.longest.max(took);
        flushes.dirty_bytes_max = flushes.dirty_bytes_max.max(dirty);
        due_at = Instant::now() + FLUSH_INTERVAL;
    }
}

/// Appends at a rate in bytes a second; what a burst comes too late for is not made up.
fn append_at(store: &Store, rate: u64) -> Result<Appends, Failure> {
    let body = [0x42_u8; BODY_SIZE];
    let message = NewMessage::new("Benchmark", 0, &body);
    let burst = rate * u64::try_from(BURST.as_micros())? / 1_000_000;
    // The first one waits for the segment.
    store.writer()?.append(&message, NOW_MS)?;
    let mut appends = Appends {
        times: Vec::with_capacity(4 << 20),
        waits: Vec::new(),
    };
    let begin = Instant::now();
    while begin.elapsed() < BLOCK_TIME {
        thread::sleep(BURST);
        let end = store.max_position() + burst;
        let mut wait_count = waits_of_this_thread()?;
        while store.max_position() < end {
            let start = Instant::now();
            store.writer()?.append(&message, NOW_MS)?;
            let took = start.elapsed();
            appends.times.push(took);
            if took > SLOW {
                let now = waits_of_this_thread()?;
                if now > wait_count {
                    appends.waits.push(took);
                }
                wait_count = now;
            }
        }
    }
    Ok(appends)
}

/// How often the kernel made this thread wait; to be pre-empted is not to wait.
fn waits_of_this_thread() -> Result<u64, Failure> {
    let status = fs::read_to_string("/proc/thread-self/status")?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
    Ok(line.ok_or("no such field")?.trim().parse()?)
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
