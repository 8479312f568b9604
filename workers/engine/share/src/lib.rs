//! Share queues: which messages of a queue a consumer group has received, finished or given back
//! (queue-ownership.md 4.3 to 4.5).
//!
//! A deterministic state machine without input and output: no clock, no file, no lock. Records go in, and the
//! same records give the same state on each member. A broker that decides asks [`Lane::judge`] first, with the
//! state that the records before it made; [`Lane::apply`] decides by the same function.
//!
//! It is the one interface between broker and cluster (Q1). It knows no connection and no request
//! (Q65). A replay gives the same state under another clock or configuration (Q66), so that only
//! the store can make members differ (Q38). Which member hands messages out, and in which order, is
//! not decided here: owners may choose differently (Q63, Q64).

#![deny(unsafe_code)]
#![warn(clippy::pedantic)]

mod checksum;
mod entry;
mod handle;
mod lane;
mod queue;
mod ranges;
mod record;

pub use entry::{Act, Delivery, Entry, ORDERED_TAG, Verdict, judge};
pub use handle::Handle;
pub use lane::{Applied, Lane, QueueName, Refused, Wired};
pub use queue::{ShareQueue, Snapshot, SnapshotRun, WINDOW};
pub use ranges::Ranges;
pub use record::{
    Body, DECIDED, Decoded, Disposition, FALLBACK, FIRST_VERSION, Policy, REMOVED, RESUBSCRIBE,
    Record, RecordError, RecordType, Records, VERSION,
};
