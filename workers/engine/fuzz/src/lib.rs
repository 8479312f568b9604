//! Entry points for arbitrary bytes, one for each format that the engine reads.
//!
//! Two programs drive them: `tests/fuzz_runner.rs` with mutated real inputs and the stable toolchain, and
//! `src/coverage.rs` with libFuzzer. No input may panic, hang or take much memory, and a wrong
//! derived file never makes the store serve a wrong message.
#![allow(clippy::unwrap_used, reason = "an entry point fails by panicking")]

mod links;
mod records;
mod store_files;
#[path = "../../commitlog/tests/support/mod.rs"]
mod support;
mod wire;

pub use support::sample::within;

/// What takes the bytes.
pub type EntryPoint = Box<dyn Fn(&[u8]) + Send>;

/// One entry point and real inputs for it.
pub struct Target {
    /// Unique, lower case and dashes.
    pub name: &'static str,
    /// Makes real inputs, from which others are made.
    pub inputs: fn() -> Vec<Vec<u8>>,
    /// Makes the entry point, with what it needs.
    pub entry_point: fn() -> EntryPoint,
}

/// Every entry point.
pub const TARGETS: [Target; 16] = [
    records::RECORD,
    records::PROPERTIES,
    records::BATCH,
    store_files::SEGMENT,
    store_files::QUEUE_FILE,
    store_files::INDEX_FILE,
    store_files::EPOCHS,
    store_files::CHECKPOINT,
    store_files::TRUNCATION,
    store_files::ABORT,
    wire::FRAMES,
    wire::JSON_HEADER,
    wire::BINARY_HEADER,
    wire::PROPERTY_STRING,
    links::FROM_REPLICA,
    links::FROM_MASTER,
];

/// Finds a target by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
