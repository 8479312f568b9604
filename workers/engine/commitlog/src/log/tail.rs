//! The segment that the log grows in.

use crate::prepare::Prepared;
use crate::record::BLANK_SIZE;
use crate::sys::MapWriter;

#[derive(Debug)]
pub(super) struct Tail {
    pub(super) base: u64,
    pub(super) map: MapWriter,
    /// Position in the segment at which the helper must hear of the writer again.
    pub(super) wake_at: usize,
}

impl Tail {
    pub(super) fn new(base: u64, prepared: Prepared, wake_at: usize) -> Self {
        let mut map = prepared.map;
        map.set_limit(map.size().saturating_sub(BLANK_SIZE));
        Self { base, map, wake_at }
    }

    /// Whether there is room for `size` bytes and the blank header behind them.
    #[inline]
    pub(super) fn has_room(&self, size: usize) -> bool {
        self.map.has_room(size)
    }
}
