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

mod batch;
#[cfg(feature = "bench")]
pub mod bench;
mod checked_text;
mod checkpoint;
mod cold;
mod config;
mod confirmed;
mod copy;
mod cursor;
mod directory;
mod epoch_file;
mod epochs;
mod error;
#[cfg(feature = "failpoints")]
pub mod failpoint;
#[cfg(not(feature = "failpoints"))]
mod failpoint;
mod files;
mod flushing;
mod follower;
mod former;
mod held;
mod index;
pub mod inspect;
mod locks;
mod log;
mod log_end;
mod loss;
mod mark;
mod memory;
mod message;
mod native;
mod prepare;
mod properties;
mod queue;
mod queue_ahead;
mod queue_file;
mod queue_flush;
mod queue_layout;
mod queue_rebuild;
mod range_sums;
mod read;
mod rebuild;
mod record;
mod recovery;
mod retention;
mod scan;
mod slices;
mod store;
mod stored_queue;
#[allow(unsafe_code, reason = "the only place for it")]
mod sys;
mod system_run;
mod table;
mod truncation;
mod unserved;
mod unshown;
mod walk;
mod write_back;
mod writer;

pub use batch::batch_properties;
pub use config::{CrcProperty, DELAY_LEVELS_MS, FlushMode, StoreConfig};
pub use copy::{LogSlice, UNIT_HEAD_SIZE, unit_size};
pub use epochs::{Epoch, EpochList};
pub use error::{AppendError, StoreError};
pub use index::{IndexStatus, KeySearch};
pub use message::{
    Appended, Boundary, Counters, Filter, NewMessage, QUEUE_ID_MAX, QueueEntry, QueueRange,
    QueueRead, ReadOutcome, ReadStatus, Traffic,
};
pub use native::spawn_native;
pub use properties::{find_property, java_hash, property_entries};
pub use rebuild::{Rebuild, RebuildParts, Rebuilt};
pub use record::{RecordDamage, RecordView};
pub use recovery::RecoveryReport;
pub use retention::{Expired, Retention};
pub use slices::RecordSlices;
pub use store::Store;
pub use system_run::{is_same_run, system_run};
pub use walk::LogDamage;
pub use writer::Writer;
