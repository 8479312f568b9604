//! The message store: stock `RocketMQ`'s commit log and consume queues, byte for byte (D22).
//!
//! A [`Store`] is one directory. [`Store::writer`] takes the append lock for one or many appends;
//! an append writes the record and its queue entry before it returns. Reads never take that lock.
//! The log is the truth: queues are derived from it and rebuilt by recovery, and so is the key
//! index, which [`Store::advance_followers`] builds behind the appends. Nothing here has a socket or a
//! clock, and the only thread prepares segments ahead of the writer (D24).

#![deny(unsafe_code)]
#![warn(clippy::pedantic)]
#![allow(
    clippy::inline_always,
    reason = "the calls and what they hand over in memory were a third of a short append"
)]

// Layers, the lowest first. A module uses modules of its layer and of layers above it in this list,
// and no modules use each other in a circle: tests/architecture/test_engine_layers.py.

// Layer system: what the system gives: bytes, files in memory, threads, locks, points of failure.
mod cursor;
#[cfg(feature = "failpoints")]
pub mod failpoint;
#[cfg(not(feature = "failpoints"))]
mod failpoint;
mod locks;
mod native;
#[allow(unsafe_code, reason = "the only place for it")]
mod sys;
mod system_run;

// Layer record: bytes and their meaning, without a file.
mod batch;
mod checked_text;
mod config;
mod epochs;
mod error;
mod index_layout;
mod log_damage;
mod message;
mod properties;
mod queue_layout;
mod range_sums;
mod record;
mod recovery_report;
mod timer_layout;

// Layer files: the files of a store, and each step that changes the disk.
mod checkpoint;
mod directory;
mod epoch_file;
mod files;
mod mark;
mod queue_home;
mod truncation;
mod unserved;

// Layer log: segments of the log, and what follows it.
mod follower;
mod log;
mod prepare;

// Layer queues: what is derived from the log: queues, the key index and timers.
mod index;
mod queue;
mod queue_flush;
mod stored_queue;
mod table;
mod timers;
mod unshown;

// Layer recovery: from what a stop left to a whole store.
mod former;
mod log_end;
mod memory;
mod queue_rebuild;
mod recovery;
mod walk;

// Layer store: the open store, and tools for a closed one.
#[cfg(feature = "bench")]
pub mod bench;
pub mod inspect;
mod rebuild;
mod store;

pub use batch::batch_properties;
pub use config::{DELAY_LEVELS_MS, FlushMode, StoreConfig};
pub use epochs::{Epoch, EpochList, EpochRefused};
pub use error::{AppendError, StoreError};
pub use index::IndexStatus;
pub use log_damage::LogDamage;
pub use message::{
    Appended, Boundary, Counters, Filter, NewMessage, QUEUE_ID_MAX, QueueEntry, QueueRange,
    QueueRead, ReadOutcome, ReadStatus, Traffic,
};
pub use native::spawn_native;
pub use properties::{find_property, java_hash, property_entries};
pub use rebuild::{Rebuild, RebuildParts, Rebuilt};
pub use record::{CrcProperty, RecordDamage, RecordView};
pub use recovery_report::RecoveryReport;
pub use store::Store;
pub use store::copy::{LogSlice, UNIT_HEAD_SIZE, unit_size};
pub use store::front::FrontSegment;
pub use store::local::{LOCAL_DIR, LOCAL_OFFSET_BITS, LOCAL_START, LocalStore};
pub use store::retention::{Expired, Retention};
pub use store::search::KeySearch;
pub use store::slices::RecordSlices;
pub use store::timers::{DeliveredTimers, DueTimers, Passage, TimerTarget};
pub use store::writer::Writer;
pub use system_run::{is_same_run, system_run};
pub use timer_layout::TimerProgress;
pub use timers::{RealQueue, TimerStatus, TopicTimers};
