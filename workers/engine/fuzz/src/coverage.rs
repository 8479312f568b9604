//! Drives one entry point with libFuzzer: `tests/nightly.py` builds and runs it.
//!
//! `REGENT_FUZZ_TARGET` names the target, and `REGENT_FUZZ_CORPUS` the folder that real inputs are put
//! into. Without a name it prints all of them.
#![no_main]
#![allow(clippy::unwrap_used, reason = "a fuzz target fails by panicking")]

use std::cell::OnceCell;
use std::{env, fs, process};

use libfuzzer_sys::fuzz_target;
use regent_fuzz::{EntryPoint, TARGETS, find};

thread_local! {
    static ENTRY_POINT: OnceCell<EntryPoint> = const { OnceCell::new() };
}

fn begin() {
    let Ok(name) = env::var("REGENT_FUZZ_TARGET") else {
        for target in &TARGETS {
            println!("{}", target.name);
        }
        process::exit(0);
    };
    let target = find(&name).expect("a known target");
    if let Ok(corpus) = env::var("REGENT_FUZZ_CORPUS") {
        for (number, input) in (target.inputs)().into_iter().enumerate() {
            fs::write(format!("{corpus}/real-{number}"), input).unwrap();
        }
    }
    ENTRY_POINT.with(|entry_point| {
        let _ = entry_point.set((target.entry_point)());
    });
}

fuzz_target!(
    init: begin(),
    |bytes: &[u8]| {
        ENTRY_POINT.with(|entry_point| entry_point.get().expect("it was begun")(bytes));
    }
);
