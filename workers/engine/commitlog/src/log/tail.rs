//! The segment that the log grows in.

use std::fs::File;
use std::sync::Arc;

use crate::error::StoreError;
use crate::prepare::{Prepared, Preparer, SegmentPlan};
use crate::record::BLANK_SIZE;
use crate::sys::fetch::{IS_FETCHED_ANYWAY, fetch_bytes};
use crate::sys::{MapWriter, Room};

/// How far behind the end of the log memory is fetched for units to come: several short ones, since
/// memory takes longer to come than one of them to be written.
const PREFETCH_DISTANCE: usize = 2048;
/// How much is fetched there while a unit is written. The next ones are likely of the same size; of
/// longer ones the processor fetches the rest in time by itself.
const PREFETCHED_BYTES_MAX: usize = 1024;
/// How much for short units.
const PREFETCHED_BYTES_MIN: usize = 512;

#[derive(Debug)]
pub(super) struct Tail {
    pub(super) base: u64,
    pub(super) map: MapWriter,
    /// Position in the segment at which the helper must hear of the writer again.
    pub(super) wake_at: usize,
    /// The file of a segment that is used again.
    pub(super) used_again: Option<Arc<File>>,
    /// Up to here it is cleared of what it was before, and records may lie: at first, nowhere.
    cleared_to: usize,
}

impl Tail {
    pub(super) fn new(base: u64, prepared: Prepared, wake_at: usize) -> Self {
        let mut tail = Self {
            base,
            wake_at,
            map: prepared.map,
            used_again: prepared.used_again,
            cleared_to: 0,
        };
        tail.map.set_limit(0);
        tail
    }

    /// Waits until what it was before is cleared up to `needed`, and gives room up to the blank
    /// header in front of where it is.
    pub(super) fn wait_cleared(
        &mut self,
        (plan, preparer): (&SegmentPlan, &Preparer),
        needed: usize,
    ) -> Result<(), StoreError> {
        if needed <= self.cleared_to {
            return Ok(());
        }
        let cleared_to = match self.used_again {
            Some(_) => preparer.wait_cleared(needed)?,
            None => self.map.size(),
        };
        if let Some(spares) = &plan.spares {
            spares.raise_write_limit(self.base + cleared_to as u64)?;
        }
        self.cleared_to = cleared_to;
        self.map.set_limit(cleared_to.saturating_sub(BLANK_SIZE));
        Ok(())
    }

    /// As above, all of it: a blank takes up the rest, and what is published must not change.
    pub(super) fn wait_all_cleared(
        &mut self,
        by: (&SegmentPlan, &Preparer),
    ) -> Result<(), StoreError> {
        self.wait_cleared(by, self.map.size())
    }

    /// Whether there is room for `size` bytes and the blank header behind them, all of it cleared.
    #[inline]
    pub(super) fn is_ready(&self, size: usize) -> bool {
        self.map.has_room(size)
    }
}

/// Fetches memory for units to come behind one that is written: before, it would cost the writing of
/// long ones a fifth. Each count of lines is a number that the compiler knows: a loop would cost more
/// than to fetch some of them twice.
#[inline(always)]
pub(super) fn prefetch_behind(room: &Room<'_>) {
    let size = room.size();
    if size > PREFETCHED_BYTES_MIN {
        let distance = size.max(PREFETCH_DISTANCE);
        fetch_bytes(room.address_at(distance), PREFETCHED_BYTES_MAX);
    } else if !IS_FETCHED_ANYWAY {
        fetch_bytes(room.address_at(PREFETCH_DISTANCE), PREFETCHED_BYTES_MIN);
    }
}
