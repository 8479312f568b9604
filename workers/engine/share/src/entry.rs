//! What a share queue knows of one message, and the table of queue-ownership.md 4.5.

/// The tag of ordered deliveries. The others have tags below it.
pub const ORDERED_TAG: u16 = 999;

/// Tags of other deliveries: the lease epoch modulo this number.
const TAG_COUNT: u64 = 998;

/// Which delivery of a message it is: what its handle proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Delivery {
    /// When the owner handed the message out. It rises with each delivery of a share queue.
    pub pop_time_ms: i64,
    /// Distinguishes owners that chose the same time: from the lease epoch, or [`ORDERED_TAG`].
    pub tag: u16,
}

impl Delivery {
    /// The tag of a lease epoch.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "it is below the count")]
    pub fn tag_of(epoch: u64) -> u16 {
        (epoch % TAG_COUNT) as u16
    }

    /// The latest epoch, not after `current`, that has this tag.
    #[must_use]
    pub fn epoch(self, current: u64) -> Option<u64> {
        let behind = (current + TAG_COUNT - u64::from(self.tag) % TAG_COUNT) % TAG_COUNT;
        current.checked_sub(behind)
    }
}

/// One message of a share queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Entry {
    /// It can be delivered.
    Available {
        /// How often it was delivered.
        count: u16,
        /// The delivery that ended without an outcome; `None` if no delivery is known.
        last: Option<Delivery>,
        /// When it was delivered first; 0 if it was not.
        first_pop_ms: i64,
        /// It is not delivered before this time.
        visible_at_ms: i64,
    },
    /// A consumer has it.
    Acquired {
        /// By this delivery.
        delivery: Delivery,
        /// Which client has it; 0 if that is unknown.
        client: u64,
        /// Afterwards it can be delivered again.
        deadline_ms: i64,
        /// How often it was delivered.
        count: u16,
        /// When it was delivered first.
        first_pop_ms: i64,
    },
    /// It is finished, and never delivered again.
    Forgotten,
}

impl Entry {
    /// A message that was never delivered.
    pub const NEW: Self = Self::Available {
        count: 0,
        last: None,
        first_pop_ms: 0,
        visible_at_ms: 0,
    };

    /// The entry once its delivery has ended without an outcome.
    pub(crate) fn returned(self, visible_at_ms: i64) -> Self {
        match self {
            Self::Acquired {
                delivery,
                count,
                first_pop_ms,
                ..
            } => Self::Available {
                count,
                last: Some(delivery),
                first_pop_ms,
                visible_at_ms,
            },
            other => other,
        }
    }

    /// How often the message was delivered.
    #[must_use]
    pub fn count(self) -> u16 {
        match self {
            Self::Available { count, .. } | Self::Acquired { count, .. } => count,
            Self::Forgotten => 0,
        }
    }
}

/// What a client wants done with a message that it received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Act {
    /// Finish it.
    Accept,
    /// Give it back.
    Release,
    /// Keep it longer, under a new handle.
    Renew,
    /// Give it up: it can't be processed.
    Reject,
}

/// What a share queue says to an act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// It is carried out.
    Done,
    /// It succeeds, and changes nothing.
    Void,
    /// It is refused: the handle is of another delivery.
    Stale,
}

/// The table of queue-ownership.md 4.5: what an act with the handle of a delivery does to a message.
///
/// A finished message stays finished, whatever follows (Q9).
#[must_use]
#[expect(clippy::match_same_arms, reason = "cells of the table, in its order")]
pub fn judge(entry: Entry, act: Act, delivery: Delivery) -> Verdict {
    match (entry, act) {
        (Entry::Forgotten, Act::Renew) => Verdict::Stale,
        (Entry::Forgotten, _) => Verdict::Void,
        (Entry::Acquired { delivery: own, .. }, _) if own == delivery => Verdict::Done,
        (Entry::Acquired { .. } | Entry::Available { .. }, Act::Renew) => Verdict::Stale,
        (Entry::Acquired { .. }, _) => Verdict::Stale,
        (Entry::Available { .. }, Act::Release) => Verdict::Void,
        // Late, or of a delivery that a crash has forgotten: no other consumer has the message.
        (Entry::Available { last, .. }, Act::Accept | Act::Reject) => {
            if last.is_none_or(|last| last == delivery) {
                Verdict::Done
            } else {
                Verdict::Stale
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINE: Delivery = Delivery {
        pop_time_ms: 1000,
        tag: 3,
    };
    const OTHERS: [Delivery; 2] = [
        Delivery {
            pop_time_ms: 1001,
            tag: 3,
        },
        Delivery {
            pop_time_ms: 1000,
            tag: 4,
        },
    ];

    fn acquired(delivery: Delivery) -> Entry {
        Entry::Acquired {
            delivery,
            client: 0,
            deadline_ms: 2000,
            count: 1,
            first_pop_ms: delivery.pop_time_ms,
        }
    }

    #[track_caller]
    fn assert_row(act: Act, row: [Verdict; 5]) {
        let [own, lost, mine, other, forgotten] = row;
        assert_eq!(judge(acquired(MINE).returned(0), act, MINE), own);
        assert_eq!(judge(Entry::NEW, act, MINE), lost);
        assert_eq!(judge(acquired(MINE), act, MINE), mine);
        assert_eq!(judge(Entry::Forgotten, act, MINE), forgotten);
        for one in OTHERS {
            assert_eq!(judge(acquired(one), act, MINE), other);
        }
    }

    #[test]
    fn an_accept_is_done_while_no_other_consumer_has_the_message() {
        use Verdict::{Done, Stale, Void};

        assert_row(Act::Accept, [Done, Done, Done, Stale, Void]);
        for one in OTHERS {
            let entry = acquired(one).returned(0);
            assert_eq!(judge(entry, Act::Accept, MINE), Stale);
        }
    }

    #[test]
    fn a_reject_is_judged_as_an_accept() {
        use Verdict::{Done, Stale, Void};

        assert_row(Act::Reject, [Done, Done, Done, Stale, Void]);
        for one in OTHERS {
            let entry = acquired(one).returned(0);
            assert_eq!(judge(entry, Act::Reject, MINE), Stale);
        }
    }

    #[test]
    fn a_release_of_a_message_that_is_back_succeeds_without_effect() {
        use Verdict::{Done, Stale, Void};

        assert_row(Act::Release, [Void, Void, Done, Stale, Void]);
    }

    #[test]
    fn only_the_present_delivery_is_renewed() {
        use Verdict::{Done, Stale};

        assert_row(Act::Renew, [Stale, Stale, Done, Stale, Stale]);
    }

    #[test]
    fn a_tag_gives_the_latest_epoch_that_has_it() {
        for (current, epoch) in [(5, 5), (5, 3), (1500, 1400), (2000, 1003), (0, 0)] {
            let delivery = Delivery {
                pop_time_ms: 0,
                tag: Delivery::tag_of(epoch),
            };
            assert_eq!(delivery.epoch(current), Some(epoch));
        }
        let never = Delivery {
            pop_time_ms: 0,
            tag: 7,
        };
        assert_eq!(never.epoch(5), None);
    }
}
