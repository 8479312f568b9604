//! Which master wrote which part of the log: a pure value (storage-and-ha.md 9.4).

use std::fmt;
use std::sync::Arc;

/// How many epochs that ended before the log begins are still known. From them a replica that was
/// away while its records expired learns that it holds a beginning of this very log.
const EXPIRED_COUNT_MAX: usize = 100;

/// The number of an epoch does not rise, or its start goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{epoch} is refused: {}", known(*newest))]
pub struct EpochRefused {
    /// The epoch refused.
    pub epoch: Epoch,
    /// The newest epoch known.
    pub newest: Option<Epoch>,
}

fn known(newest: Option<Epoch>) -> String {
    let text = |newest| format!("the newest known is {newest}");
    newest.map_or_else(|| "its number is negative".into(), text)
}

/// One term of a master and the log position at which it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Epoch {
    /// Number of the term; the controller raises it by one per election (D4).
    pub number: i32,
    /// Log position of the term's first byte.
    pub start_position: u64,
}

impl fmt::Display for Epoch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "epoch {} from log position {}",
            self.number, self.start_position
        )
    }
}

/// Epochs in order; each ends where the next one begins, so that no byte is without one.
///
/// Numbers and starts both rise strictly. Two epochs can begin at one position only if the earlier
/// one wrote nothing. The earlier one then owns no byte and gives way to the later one: stock
/// shares the file and must not find both (storage-and-ha.md 11.4, trap 47). Of the epochs that
/// wrote nothing only the newest is therefore in the list.
///
/// A clone copies a pointer; the epochs themselves are copied by the first change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EpochList {
    epochs: Arc<Vec<Epoch>>,
}

impl EpochList {
    /// The epochs, oldest first.
    #[must_use]
    pub fn as_slice(&self) -> &[Epoch] {
        &self.epochs
    }

    /// The newest epoch.
    #[must_use]
    pub fn last(&self) -> Option<Epoch> {
        self.epochs.last().copied()
    }

    /// Adds an epoch, which ends the one before it.
    ///
    /// # Errors
    /// [`EpochRefused`] when its number does not rise, or its start goes back.
    pub fn append(&mut self, epoch: Epoch) -> Result<(), EpochRefused> {
        let is_next = epoch.number >= 0
            && self.last().is_none_or(|last| {
                epoch.number > last.number && epoch.start_position >= last.start_position
            });
        if !is_next {
            let newest = self.last();
            return Err(EpochRefused { epoch, newest });
        }
        self.cut_from(epoch.start_position);
        Arc::make_mut(&mut self.epochs).push(epoch);
        Ok(())
    }

    /// Begins an epoch at the end of a log; the newest one again changes nothing.
    ///
    /// # Errors
    /// [`EpochRefused`] when it is older than the newest one.
    pub fn begin(&mut self, number: i32, log_end: u64) -> Result<(), EpochRefused> {
        let epoch = Epoch {
            number,
            start_position: log_end,
        };
        let newest = self.last();
        if newest.is_some_and(|newest| newest.number > number) {
            return Err(EpochRefused { epoch, newest });
        }
        // Epochs that begin behind the end lost all their bytes in a crash, or had none here yet.
        self.cut_from(log_end.saturating_add(1));
        if self.last().is_none_or(|newest| newest.number != number) {
            self.append(epoch)?;
        }
        Ok(())
    }

    /// Where an epoch of this list ends in a log that ends at `log_end`.
    #[must_use]
    pub fn end_of(&self, number: i32, log_end: u64) -> Option<u64> {
        let index = self.index_of(number)?;
        let next = self.epochs.get(index + 1);
        Some(next.map_or(log_end, |next| next.start_position.min(log_end)))
    }

    /// The epoch that wrote the byte at `position`, if the log holds it.
    #[must_use]
    pub fn epoch_at(&self, position: u64) -> Option<Epoch> {
        let behind = self
            .epochs
            .partition_point(|epoch| epoch.start_position <= position);
        self.epochs.get(behind.checked_sub(1)?).copied()
    }

    /// Removes epochs that begin at or behind `position`, where the log is cut.
    pub fn cut_from(&mut self, position: u64) {
        let kept = |epoch: &Epoch| epoch.start_position < position;
        let kept = self.epochs.partition_point(kept);
        Arc::make_mut(&mut self.epochs).truncate(kept);
    }

    /// Removes epochs that own no byte of a log that ends at `log_end` and is a beginning of the
    /// `master`'s: they lost their bytes in a crash, or never had any, and the bytes that come next
    /// may be of an older epoch.
    ///
    /// One that begins right at the end stays if it is the master's as well. The first epoch stays
    /// in any log with bytes: those before it go by it, and a log must not be left without epochs.
    pub fn cut_unwritten(&mut self, log_end: u64, master: &Self) {
        let written = |epoch: &Epoch| epoch.start_position < log_end;
        let written_count = self.epochs.partition_point(written);
        let is_next = |epoch: &Epoch| {
            epoch.start_position == log_end && master.epoch_at(log_end) == Some(*epoch)
        };
        let has_next = self.epochs.get(written_count).is_some_and(is_next);
        let kept = written_count + usize::from(has_next);
        Arc::make_mut(&mut self.epochs).truncate(kept.max(usize::from(log_end > 0)));
    }

    /// Removes epochs that end at or before `position`, where the log now begins, but for the newest
    /// 100 of them. Stock keeps none.
    pub fn cut_before(&mut self, position: u64) {
        let begun = |epoch: &Epoch| epoch.start_position <= position;
        let expired = self.epochs.partition_point(begun).saturating_sub(1);
        Arc::make_mut(&mut self.epochs).drain(..expired.saturating_sub(EXPIRED_COUNT_MAX));
    }

    /// The epochs before the one of a number.
    #[must_use]
    pub fn before(&self, number: i32) -> Self {
        let earlier = self.epochs.iter().filter(|epoch| epoch.number < number);
        Self {
            epochs: Arc::new(earlier.copied().collect()),
        }
    }

    /// Up to which position two logs are the same: the smaller end of the newest epoch that both
    /// began at the same place; `None` when there is no such epoch.
    #[must_use]
    pub fn common_end(&self, log_end: u64, other: &Self, other_log_end: u64) -> Option<u64> {
        let common = self.epochs.iter().rev().find(|epoch| {
            let index = other.index_of(epoch.number);
            index.is_some_and(|index| other.epochs[index] == **epoch)
        })?;
        let own_end = self.end_of(common.number, log_end)?;
        let other_end = other.end_of(common.number, other_log_end)?;
        Some(own_end.min(other_end))
    }

    /// Whether `master` knows the epoch that wrote the end of a log, which ends at `log_end`: then
    /// the master's history names every writer of that log.
    #[must_use]
    pub fn is_known_to(&self, master: &Self, log_end: u64) -> bool {
        let written = |epoch: &&Epoch| epoch.start_position < log_end;
        let newest = self.epochs.iter().rev().find(written);
        newest.is_some_and(|newest| master.epochs.contains(newest))
    }

    fn index_of(&self, number: i32) -> Option<usize> {
        let index = self
            .epochs
            .binary_search_by_key(&number, |epoch| epoch.number);
        index.ok()
    }
}
