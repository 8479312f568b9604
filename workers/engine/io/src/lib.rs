//! The driver of the hot path: one thread that owns the sockets of a broker's clients (D23, targets.md 3.4).
//!
//! The thread reads requests, has the hot path answer them, and writes the answers. It never waits for its
//! owner: what the hot path leaves goes to the owner in batches, as [`Event`]s behind a descriptor to poll.
//! The owner's answers and orders come back the same way.
//!
//! The order of one client's requests is kept: the owner gets them in the order of arrival, behind all
//! commits of the pulls before them.

#![forbid(unsafe_code)]

mod access;
mod client;
mod clients;
mod driver;
mod events;
mod forwarding;
mod link;
mod mail;
mod output;
mod peer;
mod serving;

pub use access::{HotAccess, Unusable};
pub use client::{Client, HELD_BYTES_MAX, WRITE_BUFFER_HIGH_BYTES};
pub use clients::Clients;
pub use events::{Batch, Deferred, Event, PulledByClient, What};
pub use output::Bytes;
