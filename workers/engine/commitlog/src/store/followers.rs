//! What takes the log to its followers, the key index among them.

use super::Store;
use crate::error::StoreError;
use crate::follower::{Follower, LocalTime};
use crate::log::SharedLog;
use crate::record::{Found, locate};

/// How much of the log is read before a follower publishes what it applied.
const PIECE_BYTES: u64 = 1 << 20;

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
        let local = self.local();
        let mut left = local.map_or(Ok(0), |it| it.advance_followers(now_ms, utc_offset_s))?;
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
