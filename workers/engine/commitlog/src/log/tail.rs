//! The segment that the log grows in.

use std::fs::File;
use std::sync::Arc;

use crate::prepare::{Prepared, Preparer, SegmentPlan};
use crate::record::BLANK_SIZE;
use crate::sys::MapWriter;

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
    /// Behind this it still is what it was before, or it ends.
    pub(super) cleared_to: usize,
}

impl Tail {
    pub(super) fn new(base: u64, prepared: Prepared, wake_at: usize) -> Self {
        let used_again = prepared.used_again;
        Self {
            base,
            wake_at,
            cleared_to: match used_again {
                Some(_) => prepared.populated,
                None => prepared.map.position() + prepared.map.remaining(),
            },
            map: prepared.map,
            used_again,
        }
    }

    /// Whether there is room for `size` bytes and the blank header behind them, all of it cleared.
    #[inline]
    pub(super) fn is_ready(&self, size: usize) -> bool {
        self.map.position() + size + BLANK_SIZE <= self.cleared_to
    }

    /// Fetches memory for units to come. Each count of lines is a number that the compiler knows:
    /// a loop would cost more than to fetch some of them twice.
    #[inline]
    pub(super) fn prefetch_behind(&self, size: usize) {
        if size <= PREFETCHED_BYTES_MIN {
            self.map.prefetch(PREFETCH_DISTANCE, PREFETCHED_BYTES_MIN);
        } else {
            let distance = size.max(PREFETCH_DISTANCE);
            self.map.prefetch(distance, PREFETCHED_BYTES_MAX);
        }
    }

    #[cold]
    pub(super) fn wake_helper(&mut self, plan: &SegmentPlan, preparer: &Preparer) {
        let position = self.map.position();
        self.wake_at = position + plan.wake_distance();
        preparer.advance(position);
        if position as u64 >= plan.segment_size / 2 {
            preparer.want_next(self.base + plan.segment_size, plan.populate_ahead);
        }
    }
}
