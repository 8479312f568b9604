//! The hot path of a broker: one connection as a state machine (D23).
//!
//! Bytes go in; appends happen under one writer lock a call; answers, deferred answers, arrivals
//! and every request that is not hot come out. No sockets, no clock, no threads: time is an
//! argument, and the same input gives the same output under any driver. [`PullAnswers`] is for drivers
//! that have the system take them from where they lie.

#![deny(unsafe_code)]

mod broker;
mod connection;
mod end;
mod forward;
mod leading;
mod parked;
mod pattern;
mod pending;
mod pop;
mod properties;
mod pull;
mod pulled;
mod received;
mod redelivered;
mod repeated;
mod reply;
mod send;
mod share;
#[allow(unsafe_code)]
mod socket;
mod transactions;
mod turn_times;
mod unique_key;

pub use broker::{HotPath, HotPathConfig, Topic};
pub use connection::{
    Connection, DecodedSend, IN_MEMORY_BYTES, WaitingPull, append_send, make_queue_file,
};
pub use forward::{Forward, Forwards, MemberAnswer, SEQUENCER};
pub use leading::{LeadingQueues, LeadingSegment};
pub use parked::{PARKED_COUNT_MAX, PARKED_MS_MAX, PARKED_OF_CONNECTION_MAX, ParkedPull};
pub use pending::{Pending, PendingTransactions};
pub use pop::{PopGrant, RetryTopic};
pub use properties::SPECIAL_PROPERTIES;
pub use pull::{Commit, Grant, Granted, GrantedFilter, PullFilter, PullKind, Pulled, Taker};
pub use pulled::PullAnswer;
pub use received::{Arrival, Received};
pub use share::{
    Appending, Beginning, Change, Counts, Dead, Finished, FinishedPart, Former, GivenAway, Held,
    HeldMessage, Hold, Proposal, Reigning, Renewed, Seen, Shares, decode_state,
};
pub use socket::PullAnswers;
pub use turn_times::{TURN_TIME_LIMITS_MS, TurnTimes};
