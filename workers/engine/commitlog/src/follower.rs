//! Followers: structures that are derived from the log, record by record, behind the appends.
//!
//! The key index is the first one. The store knows followers by this trait only: opening cuts them to
//! the end of the log, [`Store::advance_followers`] hands them new records, retention expires what they keep of
//! records that are gone, and closing flushes them.

use std::fmt::Debug;

use crate::checkpoint::Checkpoint;
use crate::error::StoreError;
use crate::log::SharedLog;
use crate::record::{Found, RecordView, locate};
use crate::store::Store;

/// How much of the log is read before a follower publishes what it applied.
const PIECE_BYTES: u64 = 1 << 20;

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
pub(crate) struct Followers(Vec<Box<dyn Follower>>);

impl Followers {
    pub(crate) fn new(followers: Vec<Box<dyn Follower>>) -> Self {
        Self(followers)
    }

    /// Cuts each to the end of the log.
    pub(crate) fn cut(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.0.iter_mut().try_for_each(|one| one.cut(log))
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

impl Store {
    /// Hands the next piece of the log to each follower, the key index among them. Returns how many
    /// bytes of the log are left for the one that is farthest behind.
    ///
    /// The caller repeats the call while something is left; of a read-only store nothing ever is.
    /// `now_ms` and `utc_offset_s`, the distance of the local time from UTC, name a new file. Appends
    /// go on meanwhile.
    ///
    /// # Errors
    /// No room for a file, or another failure of the system: nothing is lost, the next call
    /// goes on. A damaged record of the log ends each follower before it (D13).
    pub fn advance_followers(&self, now_ms: i64, utc_offset_s: i32) -> Result<u64, StoreError> {
        let time = LocalTime {
            now_ms,
            utc_offset_s,
        };
        let mut left = 0;
        let mut followers = self.followers.lock();
        // Under the lock: closing holds it from the last flush of the files on.
        self.check_open()?;
        if self.is_read_only() {
            return Ok(0);
        }
        let mut failure = None;
        for follower in &mut followers.0 {
            match self.advance_follower(follower.as_mut(), time) {
                Ok(bytes) => left = left.max(bytes),
                // The others go on.
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        failure.map_or(Ok(left), Err)
    }

    /// Hands the next piece of the log to one follower; returns how many bytes are left.
    fn advance_follower(
        &self,
        follower: &mut dyn Follower,
        time: LocalTime,
    ) -> Result<u64, StoreError> {
        follower.repair(&self.log)?;
        follower.expire(self.log.min_position())?;
        // The checkpoint must not vouch for a file that replaces a removed one.
        self.write_follower_checkpoint(follower)?;
        if !follower.is_enabled() {
            return Ok(0);
        }
        follower.publish(time)?;
        let read = read_piece(follower, &self.log);
        follower.publish(time)?;
        read?;
        Ok(self.log.max_position().saturating_sub(follower.position()))
    }
}

/// Has a follower apply the next piece of the log, which ends with a segment at the latest.
fn read_piece(follower: &mut dyn Follower, log: &SharedLog) -> Result<(), StoreError> {
    let from = follower.position();
    let end = log.max_position().min(from.saturating_add(PIECE_BYTES));
    if from >= end {
        return Ok(());
    }
    let segment = log.segment_at(from);
    let rest = segment
        .as_ref()
        .and_then(|segment| segment.bytes_from(from));
    let Some(mut rest) = rest else {
        let min_position = log.min_position();
        if from >= min_position {
            let reason = "the log has no bytes here".into();
            return Err(StoreError::Corrupt {
                position: from,
                reason,
            });
        }
        follower.skip_to(min_position);
        return Ok(());
    };
    while follower.position() < end {
        let position = follower.position();
        match locate(rest, position) {
            Ok(Found::Record(record)) => {
                rest = &rest[record.bytes.len()..];
                follower.apply(&record);
            }
            Ok(Found::Blank) => {
                follower.skip_to(log.next_segment_start(position));
                break;
            }
            Err(damage) => {
                let reason = format!("{} ends here: {damage}", follower.name());
                return Err(StoreError::Corrupt { position, reason });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
