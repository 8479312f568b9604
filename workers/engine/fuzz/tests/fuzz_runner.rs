//! A seeded mutator of real inputs that drives every entry point with the stable toolchain.
//!
//! A quarter of a second each; `make soak SOAK=fuzz` gives each half a minute.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use fastrand::Rng;
use regent_fuzz::{TARGETS, find, within};

const HANG: Duration = Duration::from_secs(30);
/// Of the whole process, whose inputs are a few kilobytes.
const RESIDENT_KIB_MAX: u64 = 512 << 10;
const INPUT_SIZE_MAX: usize = 64 << 10;
/// On a busy machine the usual time may be over before so many.
const INPUT_COUNT_MIN: u64 = 100;

/// How long each entry point is driven, and with how many inputs at least.
fn budget() -> (Duration, u64) {
    match std::env::var("REGENT_FUZZ_SECONDS") {
        Ok(text) => {
            let seconds = text.parse().expect("whole seconds");
            (Duration::from_secs(seconds), 0)
        }
        Err(_) => (Duration::from_millis(250), INPUT_COUNT_MIN),
    }
}

/// Added to every seed, to drive with other inputs than the usual ones.
fn other_seed() -> u64 {
    let seed = std::env::var("REGENT_FUZZ_SEED").ok();
    seed.map_or(0, |text| text.parse().expect("a whole number"))
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

/// Drives the entry point of a target until its time is over.
fn drive(name: &'static str) {
    let target = find(name).unwrap();
    let seed = (1..).zip(&TARGETS).find(|(_, one)| one.name == name);
    let seed = seed.unwrap().0 + other_seed();
    let input = Arc::new(Mutex::new(Vec::new()));
    let known = Arc::clone(&input);
    let (time, count_min) = budget();
    let run = move || {
        let mut random = Rng::with_seed(seed);
        let (corpus, entry_point) = ((target.inputs)(), (target.entry_point)());
        let started = Instant::now();
        let mut count = 0_u64;
        let mut enter = |bytes: Vec<u8>| {
            known.lock().unwrap().clone_from(&bytes);
            entry_point(&bytes);
        };
        corpus.iter().cloned().for_each(&mut enter);
        while started.elapsed() < time || count < count_min {
            enter(mutate(&mut random, &corpus));
            count += 1;
        }
        count
    };
    let guarded = AssertUnwindSafe(|| within(time + HANG, name, run));
    match catch_unwind(guarded) {
        Ok(count) => println!("{name}, seed {seed}: {count} inputs"),
        Err(panic) => {
            let input = input.lock();
            let input = input.unwrap_or_else(std::sync::PoisonError::into_inner);
            eprintln!("{name}, seed {seed}, input {:?}", *input);
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

#[test]
fn any_bytes_are_a_record_or_damage() {
    drive("record");
}

#[test]
fn any_bytes_have_properties_or_none() {
    drive("properties");
}

#[test]
fn any_bytes_are_messages_of_a_batch_or_none() {
    drive("batch");
}

#[test]
fn any_bytes_in_a_segment_are_records_or_damage() {
    drive("segment");
}

#[test]
fn any_bytes_in_a_queue_file_lead_to_its_messages_or_an_error() {
    drive("queue-file");
}

#[test]
fn any_bytes_in_an_index_file_lead_to_messages_with_the_key() {
    drive("index-file");
}

#[test]
fn any_bytes_in_the_epoch_file_are_epochs_or_an_error() {
    drive("epochs");
}

#[test]
fn any_bytes_in_the_checkpoint_lead_to_a_store_that_lies_about_nothing() {
    drive("checkpoint");
}

#[test]
fn any_bytes_in_the_journal_of_a_truncation_are_a_position_or_an_error() {
    drive("truncation");
}

#[test]
fn any_bytes_in_the_mark_of_an_unclean_stop_cost_nothing_that_was_flushed() {
    drive("abort");
}

#[test]
fn any_bytes_of_a_client_are_the_same_commands_in_any_pieces() {
    drive("frames");
}

#[test]
fn any_bytes_are_a_json_header_that_can_be_written_again_or_an_error() {
    drive("json-header");
}

#[test]
fn any_bytes_are_a_binary_header_that_can_be_written_again_or_an_error() {
    drive("binary-header");
}

#[test]
fn any_bytes_are_properties_that_both_readers_of_headers_agree_on() {
    drive("property-string");
}

#[test]
fn any_bytes_of_a_replica_get_it_the_log_in_order_or_an_error() {
    drive("from-replica");
}

#[test]
fn any_bytes_of_a_master_add_whole_records_or_nothing() {
    drive("from-master");
}
