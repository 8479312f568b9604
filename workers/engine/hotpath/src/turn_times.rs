//! How long turns took, counted by ranges.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The ends of the ranges, in milliseconds; the last range has none.
pub const TURN_TIME_LIMITS_MS: [u32; RANGE_COUNT - 1] = [
    0, 10, 50, 100, 200, 500, 1_000, 2_000, 3_000, 4_000, 5_000, 10_000,
];
const RANGE_COUNT: usize = 13;

/// Turns of one kind: the counts of their ranges, and the longest.
#[derive(Debug, Default)]
pub struct TurnTimes {
    counts: [AtomicU64; RANGE_COUNT],
    longest_ms: AtomicU64,
}

impl TurnTimes {
    /// Count one turn.
    pub fn note(&self, took: Duration) {
        let range = TURN_TIME_LIMITS_MS
            .partition_point(|&limit_ms| Duration::from_millis(limit_ms.into()) < took);
        self.counts[range].fetch_add(1, Ordering::Relaxed);
        let took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        if took_ms > self.longest_ms.load(Ordering::Relaxed) {
            self.longest_ms.fetch_max(took_ms, Ordering::Relaxed);
        }
    }

    /// How many turns ended in each range.
    #[must_use]
    pub fn counts(&self) -> [u64; RANGE_COUNT] {
        std::array::from_fn(|range| self.counts[range].load(Ordering::Relaxed))
    }

    /// The longest turn, in whole milliseconds.
    #[must_use]
    pub fn longest_ms(&self) -> u64 {
        self.longest_ms.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_belongs_to_the_range_whose_end_it_does_not_pass() {
        let times = TurnTimes::default();
        for took_us in [0, 400, 10_000, 10_001, 49_000, 99_000_000] {
            times.note(Duration::from_micros(took_us));
        }

        assert_eq!(times.counts(), [1, 2, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        assert_eq!(times.longest_ms(), 99_000);
    }
}
