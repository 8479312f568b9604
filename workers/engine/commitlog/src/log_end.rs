//! What is known of the end of a log before it is walked: it depends on how its last user stopped
//! (FORMAT.md 6).

use crate::config::FlushMode;
use crate::mark::{Mark, Stop};
use crate::record::{RECORD_SIZE_MIN, has_body_crc, has_empty_sector, record_size};

/// Up to where a log must be intact, and what invalid bytes behind that mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LogEnd {
    flushed: u64,
    behind: Behind,
    cut_damage_at: Option<u64>,
}

/// What it means that valid records follow an invalid one at or behind the flushed position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// Nothing: the log was closed with its end there, and no record is searched.
    Closed,
    /// The log is damaged.
    Damage,
    /// The invalid one was not flushed.
    Unflushed,
    /// The invalid one was not flushed if it is torn; otherwise the log is damaged.
    UnflushedIfTorn,
}

impl LogEnd {
    /// For a store with this mark in the run `now`; its checkpoint, if there is one, covers the log
    /// up to `flushed`. A marked store without a checkpoint has lost it, and what was flushed is
    /// unknown.
    pub(crate) fn of(mark: Option<&Mark>, now: Option<&str>, flushed: Option<u64>) -> Self {
        let stop = mark.map(|mark| mark.stop(now));
        match (stop, flushed) {
            (None, _) => Self::closed(flushed.unwrap_or(0)),
            (Some(Stop::Killed), _) => Self::killed(flushed.unwrap_or(0)),
            (Some(Stop::PowerCut(FlushMode::Async)), Some(flushed)) => {
                Self::power_cut_async(flushed)
            }
            (Some(Stop::PowerCut(FlushMode::Sync)), Some(flushed)) => Self::power_cut_sync(flushed),
            (Some(Stop::PowerCut(_) | Stop::Unknown), _) => Self::unknown(flushed.unwrap_or(0)),
        }
    }

    /// Closed: the log ends where the checkpoint says. Stock leaves 0 where it keeps no such position.
    pub(crate) fn closed(flushed: u64) -> Self {
        let behind = if flushed > 0 {
            Behind::Closed
        } else {
            Behind::Damage
        };
        Self::new(flushed, behind)
    }

    /// The process alone died: the page cache has all records but the one that it was writing.
    pub(crate) fn killed(flushed: u64) -> Self {
        Self::new(flushed, Behind::Damage)
    }

    /// What the checkpoint does not cover was acknowledged from memory, and may be gone in parts.
    pub(crate) fn power_cut_async(flushed: u64) -> Self {
        Self::new(flushed, Behind::Unflushed)
    }

    /// What the checkpoint does not cover was flushed, but for the flush that was under way. That may be there
    /// in parts, and a sector that is missing holds zeros.
    pub(crate) fn power_cut_sync(flushed: u64) -> Self {
        Self::new(flushed, Behind::UnflushedIfTorn)
    }

    /// A former version flushed so far; what lay behind that is cleared (see [`former`](crate::former)).
    pub(crate) fn former(sealed: u64) -> Self {
        Self::new(sealed, Behind::Damage)
    }

    /// Another program used the store last, or a flush failed.
    pub(crate) fn unknown(flushed: u64) -> Self {
        Self::new(flushed, Behind::Damage)
    }

    fn new(flushed: u64, behind: Behind) -> Self {
        Self {
            flushed,
            behind,
            cut_damage_at: None,
        }
    }

    /// As an operator allows who consents to lose damage at a position, and all behind it.
    pub(crate) fn with_consent(self, cut_damage_at: Option<u64>) -> Self {
        Self {
            cut_damage_at,
            ..self
        }
    }

    /// The log was flushed this far.
    pub(crate) fn flushed(&self) -> u64 {
        self.flushed
    }

    /// Where the log ends for certain.
    pub(crate) fn closed_at(&self) -> Option<u64> {
        (self.behind == Behind::Closed).then_some(self.flushed)
    }

    /// Whether the log may end at a position, whatever follows. Consent is to the first damage only.
    pub(crate) fn allows(&self, position: u64, is_damaged: bool) -> bool {
        let is_cut = self.cut_damage_at == Some(position) && !is_damaged;
        is_cut || self.closed_at() == Some(position)
    }

    /// Whether the invalid bytes at a position were never flushed, although valid records follow them.
    /// `rest` are the bytes from there on, which lie at `at` in their file.
    pub(crate) fn was_unflushed(&self, position: u64, at: u64, rest: &[u8]) -> bool {
        if position < self.flushed {
            return false;
        }
        match self.behind {
            Behind::Closed | Behind::Damage => false,
            Behind::Unflushed => true,
            Behind::UnflushedIfTorn => is_torn(position, at, rest),
        }
    }
}

/// Whether invalid bytes where a record should begin are one that was not written whole: a sector of it was
/// never written, or the checksum of its body, which is written last. Without a right header one of the
/// sectors of the header was not.
fn is_torn(position: u64, at: u64, rest: &[u8]) -> bool {
    let Some(size) = record_size(rest, position) else {
        return has_empty_sector(at, &rest[..RECORD_SIZE_MIN.min(rest.len())]);
    };
    let record = &rest[..size];
    !has_body_crc(record) || has_empty_sector(at, record)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLUSHED: u64 = 1_000;
    /// Where an invalid record lies, and what it holds.
    const TORN: [u8; 200] = [0; 200];
    const WRONG: [u8; 200] = [7; 200];

    #[test]
    fn each_stop_says_what_invalid_bytes_are_that_records_follow() {
        // Whether the log may end at the flushed position whatever follows; whether torn and wrong bytes
        // behind that were never flushed.
        for (end, is_closed, torn, wrong) in [
            (LogEnd::closed(FLUSHED), true, false, false),
            (LogEnd::killed(FLUSHED), false, false, false),
            (LogEnd::power_cut_async(FLUSHED), false, true, true),
            (LogEnd::power_cut_sync(FLUSHED), false, true, false),
            (LogEnd::former(FLUSHED), false, false, false),
            (LogEnd::unknown(FLUSHED), false, false, false),
            (LogEnd::closed(0), false, false, false),
            (LogEnd::power_cut_async(0), false, true, true),
            (LogEnd::power_cut_sync(0), false, true, false),
        ] {
            assert_eq!(end.allows(end.flushed(), false), is_closed, "{end:?}");
            assert!(!end.allows(end.flushed() + 1, false), "{end:?}");
            assert_eq!(end.was_unflushed(FLUSHED, FLUSHED, &TORN), torn, "{end:?}");
            assert_eq!(
                end.was_unflushed(FLUSHED, FLUSHED, &WRONG),
                wrong,
                "{end:?}"
            );
            let before = end.flushed().checked_sub(1);
            assert!(before.is_none_or(|before| !end.was_unflushed(before, before, &TORN)));
        }
    }

    #[test]
    fn a_log_without_a_checkpoint_may_have_been_flushed_anywhere() {
        for mode in [FlushMode::Async, FlushMode::Sync] {
            let mark = Mark::new(&Mark::text(Some("boot 7"), mode));
            let end_of = |flushed| LogEnd::of(Some(&mark), Some("boot 8"), flushed);

            assert!(end_of(Some(0)).was_unflushed(0, 0, &TORN), "{mode:?}");
            assert_eq!(end_of(None), LogEnd::unknown(0), "{mode:?}");
        }
        assert_eq!(LogEnd::of(None, Some("boot 7"), Some(5)), LogEnd::closed(5));
    }

    #[test]
    fn consent_is_to_one_position_of_a_log_without_other_damage() {
        let end = LogEnd::killed(FLUSHED).with_consent(Some(500));

        assert!(end.allows(500, false));
        assert!(!end.allows(500, true));
        assert!(!end.allows(501, false));
    }

    #[test]
    fn a_record_is_torn_wherever_a_sector_of_it_is_missing() {
        let (position, at) = (4_396, 300);
        let mut record = vec![7; 2_000];
        record[..4].copy_from_slice(&2_000_u32.to_be_bytes());
        record[4..8].copy_from_slice(&crate::record::MAGIC_V1.to_be_bytes());
        record[28..36].copy_from_slice(&u64::to_be_bytes(position));
        assert!(!is_torn(position, at, &record));
        for (from, to) in [(0, 212), (212, 724), (724, 1_236), (1_748, 2_000)] {
            let mut torn = record.clone();
            torn[from..to].fill(0);
            assert!(is_torn(position, at, &torn), "{from}..{to}");
            torn[from + 50] = 1;
            assert!(!is_torn(position, at, &torn), "{from}..{to}");
        }
        record[8..12].fill(0);
        assert!(is_torn(position, at, &record), "no checksum");
    }
}
