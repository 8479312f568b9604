//! How fast the log goes to a replica that lacks much of it (Q56).
//!
//! What the log grows by meanwhile does not count: at any rate the replica comes nearer to its end, so that a
//! catch-up takes a bounded time (Q42).

use std::time::{Duration, Instant};

/// With less to send there is no pause: the rest takes a moment.
const FREE_BYTES: u64 = 4 << 20;
/// So long is rested at most before another look at the rate.
const REST_MAX: Duration = Duration::from_millis(20);

/// How much may have been sent since a moment.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: u64,
    since: Instant,
    pending: u64,
}

impl Pace {
    /// Begins at a moment at which so many bytes are left to send.
    pub(crate) fn new(rate: u64, pending: u64, now: Instant) -> Self {
        Self {
            rate,
            since: now,
            pending,
        }
    }

    /// How long to rest before more is sent, at a rate of bytes a second; 0 is no limit.
    pub(crate) fn rest(&mut self, rate: u64, pending: u64, now: Instant) -> Duration {
        if rate == 0 || pending <= FREE_BYTES {
            *self = Self::new(rate, pending, now);
            return Duration::ZERO;
        }
        if rate != self.rate || pending > self.pending {
            *self = Self::new(rate, pending, now);
        }
        let sent = Duration::from_nanos(nanos(self.pending - pending, rate));
        let rest = sent.saturating_sub(now.saturating_duration_since(self.since));
        rest.min(REST_MAX)
    }
}

/// How long bytes take at a rate above 0.
fn nanos(bytes: u64, rate: u64) -> u64 {
    let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(rate);
    u64::try_from(nanos).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RATE: u64 = 64 << 20;

    /// Sends frames of 256 KiB whenever it may, while the log grows; gives how long that took.
    fn send(pending: u64, growth: u64) -> Duration {
        let (begin, frame) = (Instant::now(), 256 << 10);
        let mut elapsed = Duration::ZERO;
        let mut left = pending;
        let mut pace = Pace::new(RATE, left, begin);
        while left > FREE_BYTES {
            left -= frame;
            let rest = pace.rest(RATE, left, begin + elapsed);
            elapsed += rest;
            // What came while it rested.
            left += growth * u64::try_from(rest.as_millis()).unwrap() / 1000;
        }
        elapsed
    }

    #[test]
    fn a_backlog_falls_at_the_rate_whatever_the_log_grows_by() {
        for growth in [0, RATE / 4] {
            let took = send(RATE * 2, growth).as_secs_f64();
            assert!((1.8..2.1).contains(&took), "{growth}: {took}");
        }
    }

    #[test]
    fn there_is_no_rest_without_a_limit_or_near_the_end() {
        let now = Instant::now();
        let mut pace = Pace::new(RATE, 1 << 30, now);

        assert_eq!(pace.rest(RATE, FREE_BYTES, now), Duration::ZERO);
        let mut pace = Pace::new(RATE, 1 << 30, now);
        assert_eq!(pace.rest(0, 1 << 20, now), Duration::ZERO);
        let mut pace = Pace::new(RATE, 1 << 30, now);
        assert_eq!(pace.rest(RATE, 1 << 29, now), REST_MAX);
    }

    #[test]
    fn another_rate_restarts_the_pace() {
        let now = Instant::now();
        let mut pace = Pace::new(RATE, 1 << 30, now);
        assert!(pace.rest(RATE, 1 << 29, now) > Duration::ZERO);

        assert_eq!(pace.rest(2 * RATE, 1 << 29, now), Duration::ZERO);
    }
}
