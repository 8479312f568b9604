//! The segment that the log grows in.

use std::fs::File;
use std::sync::Arc;

use crate::error::StoreError;
use crate::prepare::{Prepared, Preparer, SegmentPlan};
use crate::record::BLANK_SIZE;
use crate::sys::MapWriter;

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
