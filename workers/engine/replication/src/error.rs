//! Why a replication connection must end.

use std::io;

use regent_commitlog::StoreError;

/// What broke a link. The connection is to be closed; a new one starts with a handshake.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// The peer does not follow the protocol.
    #[error("the peer broke the replication protocol: {0}")]
    Protocol(&'static str),
    /// Bytes arrived for another place than the end of the replica's log.
    #[error("the master sent log position {sent}, but this log continues at {expected}")]
    Gap {
        /// Where this log continues.
        expected: u64,
        /// What the frame said; negative for a master without a log.
        sent: i64,
    },
    /// The master is of an older epoch than the newest that this broker has heard of (D9).
    #[error("the master is of epoch {master}, but epoch {known} has begun")]
    StaleMaster {
        /// The master's newest epoch; -1 when it has none.
        master: i32,
        /// The newest epoch known here.
        known: i32,
    },
    /// The replica asked for bytes that this log does not hold any more, or not yet.
    #[error(
        "the replica wants to continue at {wanted}, but this log holds {oldest} to {end}: it must \
         begin again with an empty store"
    )]
    OutOfReach {
        /// Where the replica's log ends.
        wanted: u64,
        /// Start of this log.
        oldest: u64,
        /// End of this log.
        end: u64,
    },
    /// The peer is gone.
    #[error("the peer hung up")]
    HungUp,
    /// The connection broke.
    #[error(transparent)]
    Connection(#[from] io::Error),
    /// The store refused what was received.
    #[error(transparent)]
    Store(#[from] StoreError),
}
