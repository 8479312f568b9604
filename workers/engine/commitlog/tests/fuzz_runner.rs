//! Entry points for arbitrary bytes, one for each format the store reads, and a seeded mutator of
//! real files that drives them with the stable toolchain.
//!
//! A second or two each; `make soak SOAK=fuzz` gives each half a minute. No input may panic, hang
//! or take much memory, and a wrong derived file never makes the store serve a wrong message.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use regent_commitlog::inspect::Survey;
use regent_commitlog::{RecordView, find_property, java_hash, property_entries};
use support::sample::{Sample, Stop, config, memory_dir, within};
use support::served::read_everything;
use tempfile::TempDir;

const HANG: Duration = Duration::from_secs(30);
/// Of the whole process, whose inputs are a few kilobytes.
const RESIDENT_KIB_MAX: u64 = 512 << 10;
const INPUT_SIZE_MAX: usize = 64 << 10;

/// How long each entry point is driven.
fn budget() -> Duration {
    let seconds = std::env::var("REGENT_FUZZ_SECONDS").ok();
    Duration::from_secs(seconds.map_or(1, |text| text.parse().expect("whole seconds")))
}

/// Added to every seed, to drive with other inputs than the usual ones.
fn other_seed() -> u64 {
    let seed = std::env::var("REGENT_FUZZ_SEED").ok();
    seed.map_or(0, |text| text.parse().expect("a whole number"))
}

/// Bytes as the record at the start of a segment.
fn fuzz_record(bytes: &[u8]) {
    let Ok(view) = RecordView::parse(bytes) else {
        return;
    };
    assert!(view.bytes.len() <= bytes.len());
    let _ = view.is_intact();
    fuzz_properties(view.properties);
}

/// Bytes as the properties of a message.
fn fuzz_properties(bytes: &[u8]) {
    for (name, value) in property_entries(bytes) {
        let mut same = property_entries(bytes).filter(|(other, _)| *other == name);
        let last = same.by_ref().last().map(|(_, value)| value);
        assert_eq!(find_property(bytes, name), last);
        let _ = java_hash(value);
    }
    for name in ["TAGS", "KEYS", "DELAY", "UNIQ_KEY"] {
        let found = find_property(bytes, name.as_bytes());
        assert!(found.is_none_or(|value| value.len() < bytes.len()));
    }
}

/// A store of which one file is replaced.
struct Scene {
    sample: Sample,
    dir: TempDir,
    name: &'static str,
}

impl Scene {
    /// Bytes as a file of the store: it is surveyed, opened and read, twice.
    fn fuzz_file(&self, bytes: &[u8]) {
        self.sample.restore(self.dir.path());
        fs::write(self.dir.path().join(self.name), bytes).unwrap();
        survey(self.dir.path());
        for _ in 0..2 {
            let Ok(store) = self.sample.open(self.dir.path()) else {
                return;
            };
            // A log may hold other records than the sample's; a derived file is no excuse.
            if !self.name.starts_with("commitlog") {
                let served = read_everything(&self.sample, &store, &|_, _| None);
                assert_eq!(served.wrong, [""; 0]);
            } else {
                read_everything(&self.sample, &store, &|_, _| Some("log"));
            }
        }
    }
}

fn survey(dir: &Path) {
    if let Ok(mut survey) = Survey::comparing(&config(dir, false), false) {
        while survey.advance(1 << 20).is_ok_and(|goes_on| goes_on) {}
    }
}

/// One change or a few of a real input, which often keep its size.
fn mutate(random: &mut Rng, corpus: &[Vec<u8>]) -> Vec<u8> {
    let origin = random.choice(corpus).unwrap();
    let mut bytes = origin.clone();
    for _ in 0..random.usize(1..5) {
        if bytes.is_empty() {
            bytes.push(random.u8(..));
        }
        let at = random.usize(..bytes.len());
        match random.u8(..6) {
            0 => bytes[at] ^= 1 << random.u8(..8),
            1 => bytes[at] = random.u8(..),
            2 => bytes.truncate(at),
            3 => {
                let other = random.choice(corpus).unwrap();
                let from = random.usize(..=other.len());
                bytes.truncate(at);
                bytes.extend(&other[from..]);
            }
            4 => edit_number(random, &mut bytes, at),
            _ => {
                let size = random.usize(..=bytes.len() - at);
                let part = bytes[at..at + size].to_vec();
                let to = random.usize(..=bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
    if random.bool() {
        bytes.resize(origin.len(), 0);
    }
    bytes.truncate(INPUT_SIZE_MAX);
    bytes
}

/// Writes a number that lengths, counts and positions are likely to break on.
fn edit_number(random: &mut Rng, bytes: &mut [u8], at: usize) {
    let near = u64::from(random.u8(..));
    let number = match random.u8(..6) {
        0 => 0,
        1 => u64::MAX,
        2 => near,
        3 => 0x7FFF_FFFF_7FFF_FFFF,
        4 => 0x8000_0000_8000_0000,
        _ => 1 << random.u8(..64),
    };
    let size = [1, 2, 4, 8][random.usize(..4)].min(bytes.len() - at);
    let at = if random.bool() { at / 4 * 4 } else { at };
    bytes[at..at + size].copy_from_slice(&number.to_be_bytes()[8 - size..]);
}

/// Drives an entry point until its time is over.
fn drive(seed: u64, corpus: Vec<Vec<u8>>, entry_point: impl Fn(&[u8]) + Send + 'static) {
    let seed = seed + other_seed();
    let input = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&input);
    let name = format!("seed {seed}");
    let run = move || {
        let mut random = Rng::with_seed(seed);
        let started = Instant::now();
        let mut count = 0_u64;
        for bytes in &corpus {
            entry_point(bytes);
        }
        while started.elapsed() < budget() {
            let bytes = mutate(&mut random, &corpus);
            known.lock().unwrap().clone_from(&bytes);
            entry_point(&bytes);
            count += 1;
        }
        count
    };
    let guarded = AssertUnwindSafe(|| within(budget() + HANG, &name, run));
    let result = catch_unwind(guarded);
    match result {
        Ok(count) => println!("seed {seed}: {count} inputs"),
        Err(panic) => {
            eprintln!(
                "seed {seed}, input {:?}",
                input
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner)
            );
            resume_unwind(panic);
        }
    }
    let peak = peak_resident_kib();
    assert!(peak < RESIDENT_KIB_MAX, "{peak} KiB");
}

fn peak_resident_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.unwrap().parse().unwrap()
}

/// Real files below a folder of one store, put in the place of one of another.
fn drive_file(seed: u64, folder: &str, name: &'static str) {
    let from = if folder == "truncation" {
        Stop::Truncating
    } else {
        Stop::Closed
    };
    let files = Sample::new(from, false).files;
    let real = files
        .into_iter()
        .filter(|(name, _)| name.starts_with(folder));
    let corpus = real.map(|(_, content)| content).collect();
    let into = match from {
        Stop::Closed if !seed.is_multiple_of(2) => Stop::Killed,
        same => same,
    };
    let scene = Scene {
        sample: Sample::new(into, false),
        dir: memory_dir(),
        name,
    };
    drive(seed, corpus, move |bytes| scene.fuzz_file(bytes));
}

fn records() -> Vec<Vec<u8>> {
    let sent = Sample::new(Stop::Closed, true).sent;
    sent.into_iter().map(|sent| sent.bytes).collect()
}

#[test]
fn any_bytes_are_a_record_or_damage() {
    drive(1, records(), fuzz_record);
}

#[test]
fn any_bytes_have_properties_or_none() {
    let properties = |bytes: Vec<u8>| RecordView::parse(&bytes).unwrap().properties.to_vec();
    drive(
        2,
        records().into_iter().map(properties).collect(),
        fuzz_properties,
    );
}

#[test]
fn any_bytes_in_a_segment_are_records_or_damage() {
    drive_file(3, "commitlog", "commitlog/00000000000000004096");
}

#[test]
fn any_bytes_in_a_queue_file_lead_to_its_messages_or_an_error() {
    drive_file(4, "consumequeue", "consumequeue/a/0/00000000000000000000");
}

#[test]
fn any_bytes_in_an_index_file_lead_to_messages_with_the_key() {
    let files = Sample::new(Stop::Closed, false).files;
    let mut names = files.keys().filter(|name| name.starts_with("index"));
    let name = names.nth(1).unwrap().to_str().unwrap().to_owned();
    drive_file(6, "index", name.leak());
}

#[test]
fn any_bytes_in_the_epoch_file_are_epochs_or_an_error() {
    drive_file(7, "epochFileCheckpoint", "epochFileCheckpoint");
}

#[test]
fn any_bytes_in_the_checkpoint_lead_to_a_store_that_lies_about_nothing() {
    drive_file(9, "checkpoint", "checkpoint");
}

#[test]
fn any_bytes_in_the_journal_of_a_truncation_are_a_position_or_an_error() {
    drive_file(11, "truncation", "truncation");
}
