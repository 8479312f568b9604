//! The logical queues of a static topic that a broker group leads (logical-queues.md 13).
//!
//! A table without locks and clock. Its owner passes a new one down at each change of the mapping: to
//! the topic for sends, and with each grant for pulls. What it does not hold is for the dispatcher.

use std::sync::atomic::AtomicU32;

use ahash::AHashMap;
use regent_remoting::{Header, Language};

use crate::broker::any_of;

/// The first version of clients that add `offsetDelta` to the offsets of messages: V5_0_0.
const ADDING_VERSION: i32 = 413;

/// The last segment of a logical queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeadingSegment {
    /// The physical queue.
    pub queue_id: i32,
    /// The first offset of the segment there.
    pub physical_start: u64,
    /// The logical offset of that one.
    pub logical_start: u64,
    /// Whether the segment takes messages: it is not sealed.
    pub takes_sends: bool,
}

/// Whether a client adds `offsetDelta` to the offsets of messages. For others the dispatcher writes logical
/// ids and offsets into the records (logical-queues.md 18.3).
pub(crate) fn adds_delta(header: &Header<'_>) -> bool {
    header.language == Language::JAVA && header.version >= ADDING_VERSION
}

/// A logical queue by its id, and its last segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Led {
    pub(crate) global_id: i32,
    pub(crate) segment: LeadingSegment,
}

impl LeadingSegment {
    /// The logical offset of a physical one; before the segment it is the start.
    pub(crate) fn to_logical(self, physical: u64) -> u64 {
        let behind = physical.saturating_sub(self.physical_start);
        self.logical_start.saturating_add(behind)
    }

    /// The physical offset of a logical one; `None` before the segment.
    pub(crate) fn to_physical(self, logical: i64) -> Option<i64> {
        let behind = u64::try_from(logical)
            .ok()?
            .checked_sub(self.logical_start)?;
        i64::try_from(self.physical_start.checked_add(behind)?).ok()
    }

    /// Whether both are the same segment; one may be sealed by now.
    pub(crate) fn is_place_of(self, other: Self) -> bool {
        let place = |it: Self| (it.queue_id, it.physical_start, it.logical_start);
        place(self) == place(other)
    }

    /// What clients add to the offsets of messages (`offsetDelta`).
    pub(crate) fn delta(self) -> i64 {
        let signed = |offset: u64| i64::try_from(offset).unwrap_or(i64::MAX);
        signed(self.logical_start) - signed(self.physical_start)
    }
}

/// The logical queues that a broker group leads, by global id.
#[derive(Debug, Default)]
pub struct LeadingQueues {
    segments: AHashMap<i32, LeadingSegment>,
    /// Those that take messages.
    takers: Vec<i32>,
}

impl LeadingQueues {
    /// A table of these queues.
    #[must_use]
    pub fn new(segments: impl IntoIterator<Item = (i32, LeadingSegment)>) -> Self {
        let segments: AHashMap<_, _> = segments.into_iter().collect();
        let takers = segments.iter().filter(|(_, segment)| segment.takes_sends);
        let mut takers: Vec<_> = takers.map(|(&global_id, _)| global_id).collect();
        takers.sort_unstable();
        Self { segments, takers }
    }

    /// The last segment of a queue, where it is led.
    pub(crate) fn led(&self, global_id: i32) -> Option<Led> {
        let segment = self.segment(global_id)?;
        Some(Led { global_id, segment })
    }

    /// The last segment of a queue, where it is led.
    #[must_use]
    pub fn segment(&self, global_id: i32) -> Option<LeadingSegment> {
        self.segments.get(&global_id).copied()
    }

    /// The ids of all queues, in rising order.
    pub(crate) fn ids(&self) -> Vec<i32> {
        let mut ids: Vec<_> = self.segments.keys().copied().collect();
        ids.sort_unstable();
        ids
    }

    /// The queue of a message: the one asked for if it takes messages, or any for a negative one.
    pub(crate) fn taker(&self, asked: i32, next: &AtomicU32) -> Option<Led> {
        if asked >= 0 {
            return self.led(asked).filter(|led| led.segment.takes_sends);
        }
        self.led(self.takers[any_of(self.takers.len(), next)?])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(queue_id: i32, takes_sends: bool) -> LeadingSegment {
        LeadingSegment {
            queue_id,
            physical_start: 101,
            logical_start: 201,
            takes_sends,
        }
    }

    #[test]
    fn offsets_of_a_reused_queue_go_both_ways() {
        let one = segment(0, true);

        assert_eq!(one.delta(), 100);
        assert_eq!(one.to_logical(101), 201);
        assert_eq!(one.to_logical(7), 201);
        assert_eq!(one.to_physical(250), Some(150));
        assert_eq!(one.to_physical(200), None);
        assert_eq!(one.to_physical(-1), None);
    }

    #[test]
    fn offsets_at_the_end_of_their_range_do_not_overflow() {
        let end = u64::try_from(i64::MAX).unwrap();
        let one = LeadingSegment {
            physical_start: 0,
            logical_start: end,
            ..segment(0, true)
        };

        assert_eq!(one.to_logical(u64::MAX), u64::MAX);
        assert_eq!(one.to_physical(i64::MAX), Some(0));
        assert_eq!(one.delta(), i64::MAX);
        let other = LeadingSegment {
            physical_start: end,
            logical_start: 0,
            ..one
        };
        assert_eq!(other.to_physical(1), None);
        assert_eq!(other.delta(), -i64::MAX);
    }

    #[test]
    fn a_message_without_a_queue_goes_to_one_that_takes_messages() {
        let queues = LeadingQueues::new([
            (3, segment(0, true)),
            (5, segment(1, false)),
            (4, segment(2, true)),
        ]);
        let next = AtomicU32::new(0);
        let taker = |asked| queues.taker(asked, &next).map(|led| led.global_id);

        assert_eq!(
            [taker(-1), taker(-1), taker(-1)],
            [Some(3), Some(4), Some(3)]
        );
        assert_eq!([taker(4), taker(5), taker(0)], [Some(4), None, None]);
        assert_eq!(LeadingQueues::default().taker(-1, &next), None);
    }

    #[test]
    fn producers_that_take_turns_reach_all_queues() {
        let queues = LeadingQueues::new((0..4).map(|id| (id, segment(id, true))));
        let next = AtomicU32::new(0);
        for producers in 1..9 {
            let mut reached = [0; 4];
            for turn in 0..400 * producers {
                let global_id = queues.taker(-1, &next).unwrap().global_id;
                if turn % producers == 0 {
                    reached[usize::try_from(global_id).unwrap()] += 1;
                }
            }
            assert!(
                reached.iter().all(|&count| count > 50),
                "{producers}: {reached:?}"
            );
        }
    }
}
