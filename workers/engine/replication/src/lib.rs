//! Replication between brokers, byte for byte as stock: its `AutoSwitch` protocol
//! (storage-and-ha.md 9.3), and its default one, which has neither greetings nor epochs (storage-and-ha.md 9.2).
//!
//! Each end of a connection is a state machine: bytes in, bytes out, no sockets, clock or threads.
//! Around each stands what moves its bytes: [`Following`] and [`Sending`], with a thread each.
//! A replica says who it is; the master answers with its epochs; the replica cuts its log where the
//! two histories part and reports where it ends; from there on the master sends its log, raw, and
//! the replica reports what it holds.

#![deny(unsafe_code)]
#![warn(clippy::pedantic)]

mod access;
mod agreement;
mod error;
mod following;
mod frames;
mod master;
mod pace;
mod replica;
mod sending;
#[allow(unsafe_code)]
mod sys;

pub use access::StoreAccess;
pub use agreement::{Agreement, agree};
pub use error::LinkError;
pub use following::Following;
pub use frames::{EPOCH_COUNT_MAX, Greeting, Handshake, Protocol};
pub use master::{Heard, MasterLink, Transfer};
pub use replica::{Progress, ReplicaLink, Reports};
pub use sending::Sending;
pub use sys::duplicate;
