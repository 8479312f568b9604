//! Prints, as JSON, how fast records are appended and how fast their bytes are merely copied.
//!
//! Both sides write into populated file maps of the same directory, in short turns. The clock of
//! this thread measures them, so that other work on the machine counts for neither side. The rates
//! by the wall clock are printed beside it (targets.md R1). Usage: `limits DIRECTORY BODY_SIZE`.
//!
//! With `turns` behind that it prints `ready`. For each line of its input it then prints the rate
//! of one turn of appends in GB/s. So another program can take turns with it (R2).

use std::error::Error;
use std::hint::black_box;
use std::io::stdin;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use regent_commitlog::bench::PopulatedFile;
use regent_commitlog::{NewMessage, Store, StoreConfig};
use rustix::time::{ClockId, clock_gettime};

const TURN_COUNT: usize = 16;
/// Before they count: a processor that slept needs some milliseconds to be as fast as it can.
const WARM_TURN_COUNT: usize = 2;
const TURN_BYTES: usize = 8 << 20;
const TOTAL_BYTES: usize = TURN_COUNT * TURN_BYTES;
const QUEUE_COUNT: i32 = 8;
const NOW_MS: i64 = 1_758_000_000_000;
const PROPERTIES: &[u8] = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (parent, body_size, takes_turns) = match arguments.as_slice() {
        [parent, body_size] => (parent, body_size, false),
        [parent, body_size, turns] if turns == "turns" => (parent, body_size, true),
        _ => return Err("usage: limits DIRECTORY BODY_SIZE [turns]".into()),
    };
    let dir = tempfile::Builder::new()
        .prefix("regent-limits-")
        .tempdir_in(PathBuf::from(parent))?;
    if takes_turns {
        return take_turns(dir.path(), body_size.parse()?);
    }
    println!("{}", measure(dir.path(), body_size.parse()?)?);
    Ok(())
}

fn take_turns(dir: &Path, body_size: usize) -> Result<(), Failure> {
    let store = prepared_store(dir, body_size)?;
    println!("ready");
    for line in stdin().lines() {
        line?;
        let mut moved = Moved::default();
        append_turn(&store, body_size, &mut moved)?;
        println!("{:.3}", moved.gb() / moved.thread_seconds);
    }
    Ok(store.close()?)
}

/// What one side moved in how much time.
#[derive(Default)]
struct Moved {
    bytes: usize,
    count: u32,
    thread_seconds: f64,
    wall_seconds: f64,
}

impl Moved {
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52 bytes")]
    fn gb(&self) -> f64 {
        self.bytes as f64 / 1e9
    }
}

/// Alternates copies and appends and writes the report.
fn measure(dir: &Path, body_size: usize) -> Result<String, Failure> {
    let file_size = TOTAL_BYTES + WARM_TURN_COUNT * TURN_BYTES;
    let mut file = PopulatedFile::create(&dir.join("copy"), file_size as u64)?;
    let store = prepared_store(&dir.join("store"), body_size)?;
    let (mut copied, mut appended) = (Moved::default(), Moved::default());
    for turn in 0..WARM_TURN_COUNT + TURN_COUNT {
        if turn == WARM_TURN_COUNT {
            (copied, appended) = (Moved::default(), Moved::default());
        }
        copy_turn(&mut file, body_size, &mut copied);
        append_turn(&store, body_size, &mut appended)?;
    }
    store.close()?;
    Ok(format!(
        "{{\"memcpy_gb_per_s\": {:.3}, \"append_gb_per_s\": {:.3}, \"append_ns\": {:.1}, \
         \"memcpy_wall_gb_per_s\": {:.3}, \"append_wall_gb_per_s\": {:.3}}}",
        copied.gb() / copied.thread_seconds,
        appended.gb() / appended.thread_seconds,
        appended.thread_seconds * 1e9 / f64::from(appended.count),
        copied.gb() / copied.wall_seconds,
        appended.gb() / appended.wall_seconds,
    ))
}

/// A store whose segment is present in memory for all that will be appended.
fn prepared_store(dir: &Path, body_size: usize) -> Result<Store, Failure> {
    let mut config = StoreConfig::new(dir);
    let segment_size = (TOTAL_BYTES + (WARM_TURN_COUNT + 4) * TURN_BYTES) as u64;
    config.segment_size_bytes = segment_size;
    config.populate_ahead_bytes = segment_size;
    let store = Store::open(config, NOW_MS)?;
    append_turn(&store, body_size, &mut Moved::default())?;
    let deadline = Instant::now() + Duration::from_secs(60);
    while store.populated_position() < segment_size {
        if Instant::now() > deadline {
            return Err("the segment was not populated within a minute".into());
        }
        sleep(Duration::from_millis(10));
    }
    Ok(store)
}

fn copy_turn(file: &mut PopulatedFile, size: usize, moved: &mut Moved) {
    let piece = vec![0x5A_u8; size];
    let (begin, begin_wall) = (thread_seconds(), Instant::now());
    file.fill_next(&piece, TURN_BYTES);
    moved.wall_seconds += begin_wall.elapsed().as_secs_f64();
    moved.thread_seconds += thread_seconds() - begin;
    moved.bytes += TURN_BYTES;
}

fn append_turn(store: &Store, body_size: usize, moved: &mut Moved) -> Result<(), Failure> {
    let body = vec![0x42_u8; body_size];
    let mut message = NewMessage::new("Benchmark", 0, &body);
    message.properties = PROPERTIES;
    message.born_timestamp_ms = NOW_MS;
    let mut writer = store.writer()?;
    let (mut bytes, mut count) = (0, 0);
    let (begin, begin_wall) = (thread_seconds(), Instant::now());
    while bytes < TURN_BYTES {
        message.queue_id = (message.queue_id + 1) % QUEUE_COUNT;
        bytes += writer.append(black_box(&message), NOW_MS)?.size as usize;
        count += 1;
    }
    moved.wall_seconds += begin_wall.elapsed().as_secs_f64();
    moved.thread_seconds += thread_seconds() - begin;
    moved.bytes += bytes;
    moved.count += count;
    Ok(())
}

#[allow(clippy::cast_precision_loss, reason = "processor time of one run")]
fn thread_seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}
