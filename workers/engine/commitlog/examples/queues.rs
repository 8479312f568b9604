//! Prints, as JSON, how fast appends to so many queues are (targets.md R12, R12b). It also prints
//! how much of the page cache each queue takes. Usage: `queues DIRECTORY QUEUE_COUNT APPEND_COUNT
//! BLOCK_COUNT`.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use regent_commitlog::{NewMessage, Store, StoreConfig};

const QUEUES_PER_TOPIC: u32 = 1000;
const BODY_SIZE: usize = 1024;
const NOW_MS: i64 = 1_758_000_000_000;
const PROPERTIES: &[u8] = b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02";

type Failure = Box<dyn Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [parent, queues, appends, blocks] = arguments.as_slice() else {
        return Err("usage: queues DIRECTORY QUEUE_COUNT APPEND_COUNT BLOCK_COUNT".into());
    };
    let (queues, appends): (u32, u32) = (queues.parse()?, appends.parse()?);
    let dir = tempfile::Builder::new()
        .prefix("regent-queues-")
        .tempdir_in(PathBuf::from(parent))?;
    let store = Store::open(StoreConfig::new(dir.path()), NOW_MS)?;
    // Makes every queue.
    append(&store, queues, queues)?;
    store.flush_tick(NOW_MS + 3_600_000)?;
    let cached = cached_bytes(&dir.path().join("consumequeue"))? / u64::from(queues);
    let mut rates = Vec::new();
    for _ in 0..blocks.parse()? {
        let begin = Instant::now();
        append(&store, queues, appends)?;
        rates.push(format!(
            "{:.0}",
            f64::from(appends) / begin.elapsed().as_secs_f64()
        ));
    }
    println!(
        "{{\"appends_per_s\": [{}], \"cached_bytes_per_queue\": {cached}}}",
        rates.join(", ")
    );
    Ok(())
}

/// Appends to the queues in a fixed order that jumps between them.
fn append(store: &Store, queues: u32, count: u32) -> Result<(), Failure> {
    let topics: Vec<String> = (0..queues.div_ceil(QUEUES_PER_TOPIC))
        .map(|number| format!("Benchmark{number}"))
        .collect();
    let body = [0x42_u8; BODY_SIZE];
    // A step without a common factor visits each queue once a round.
    let step = (queues / 2 + 1) | 1;
    let mut at = 0;
    for _ in 0..count {
        at = (at + step) % queues;
        let topic = &topics[(at / QUEUES_PER_TOPIC) as usize];
        let queue_id = i32::try_from(at % QUEUES_PER_TOPIC)?;
        let mut message = NewMessage::new(topic, queue_id, &body);
        message.properties = PROPERTIES;
        store.writer()?.append(&message, NOW_MS)?;
    }
    Ok(())
}

/// Bytes of all files below the directory that are in the page cache.
fn cached_bytes(dir: &Path) -> Result<u64, Failure> {
    let (mut files, mut total) = (Vec::new(), 0);
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            total += cached_bytes(&path)?;
        } else {
            files.push(path);
        }
    }
    if files.is_empty() {
        return Ok(total);
    }
    let told = Command::new("fincore")
        .args(["--bytes", "--noheadings", "--output", "RES"])
        .args(files)
        .output()?;
    for line in String::from_utf8(told.stdout)?.lines() {
        total += line.trim().parse::<u64>()?;
    }
    Ok(total)
}
