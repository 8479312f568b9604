//! Up to where a replica's log is the master's (storage-and-ha.md 9.4).

use regent_commitlog::EpochList;

use crate::frames::Greeting;

/// What a replica does before it follows a master.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    /// Its whole log is the beginning of the master's.
    Same,
    /// Its log is the master's up to this position, and must be cut there.
    CutTo(u64),
    /// No epoch is common to both, so the common part is unknown: the log cannot be used.
    Apart,
}

/// Compares the histories of a replica and of the master that greeted it.
///
/// A log with bytes and no epochs comes from outside controller mode. Stock would follow with it
/// unseen; here that is [`Agreement::Apart`], because two histories would be served as one.
#[must_use]
pub fn agree(own_epochs: &EpochList, own_end: u64, greeting: &Greeting) -> Agreement {
    if own_end == 0 {
        return Agreement::Same;
    }
    match own_epochs.common_end(own_end, &greeting.epochs, greeting.log_end) {
        None => Agreement::Apart,
        Some(end) if end < own_end => Agreement::CutTo(end),
        Some(_) => Agreement::Same,
    }
}
