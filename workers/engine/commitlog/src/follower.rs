//! Followers: structures that are derived from the log, record by record, behind the appends.
//!
//! The key index is the first one. The store knows followers by this trait only. Opening cuts them
//! to the end of the log, and [`Store::advance_followers`] hands them new records. Retention
//! expires what they keep of records that are gone, and closing flushes them.

use std::fmt::Debug;

use crate::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::log::SharedLog;
use crate::record::RecordView;

/// The time at which a follower publishes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LocalTime {
    pub(crate) now_ms: i64,
    /// Distance of the local time from UTC.
    pub(crate) utc_offset_s: i32,
}

/// One structure that is derived from the log.
///
/// A follower owns its files. It applies each record at most once between two cuts, in the order of
/// the log. Whatever is wrong in its files, it removes and derives again.
pub(crate) trait Follower: Debug + Send {
    /// What the follower makes, for messages: "the key index".
    fn name(&self) -> &'static str;

    /// Log position of the next record to apply.
    fn position(&self) -> u64;

    /// Whether the follower applies records; one that is switched off keeps what it has.
    fn is_enabled(&self) -> bool;

    /// Applies the record at [`Follower::position`], which then is the end of this record.
    fn apply(&mut self, record: &RecordView<'_>);

    /// Goes on at a later position: no record lies between.
    fn skip_to(&mut self, position: u64);

    /// Makes visible what was applied. On an error the rest stays pending, and the next call goes on.
    fn publish(&mut self, time: LocalTime) -> Result<(), StoreError>;

    /// Forgets each record at or behind the end of the log (D10, storage-and-ha.md 11.4, trap 51).
    fn cut(&mut self, log: &SharedLog) -> Result<(), StoreError>;

    /// Removes all files, and goes on with the first record of the log: older ones have come.
    fn restart(&mut self, log: &SharedLog) -> Result<(), StoreError>;

    /// Removes files that are damaged, and finds where to go on.
    fn repair(&mut self, log: &SharedLog) -> Result<(), StoreError>;

    /// Removes files that only records before `min_position` need.
    fn expire(&mut self, min_position: u64) -> Result<(), StoreError>;

    /// Flushes all files.
    fn flush(&mut self) -> Result<(), StoreError>;

    /// Writes into the store's checkpoint what of the follower is on the disk.
    fn checkpoint(&self, checkpoint: &mut Checkpoint);
}

/// All followers of a store.
#[derive(Debug)]
pub(crate) struct Followers(pub(crate) Vec<Box<dyn Follower>>);

impl Followers {
    pub(crate) fn new(followers: Vec<Box<dyn Follower>>) -> Self {
        Self(followers)
    }

    /// Cuts each to the end of the log.
    pub(crate) fn cut(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.0.iter_mut().try_for_each(|one| one.cut(log))
    }

    /// Has each begin with the first record of the log.
    pub(crate) fn restart(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.0.iter_mut().try_for_each(|one| one.restart(log))
    }

    /// Has each remove what only records before `min_position` need.
    pub(crate) fn expire(&mut self, min_position: u64) -> Result<(), StoreError> {
        self.0
            .iter_mut()
            .try_for_each(|one| one.expire(min_position))
    }

    /// Flushes all files of each.
    pub(crate) fn flush(&mut self) -> Result<(), StoreError> {
        self.0.iter_mut().try_for_each(|one| one.flush())
    }
}

#[cfg(test)]
mod tests;
