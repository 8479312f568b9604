//! SHARED mode with acquisitions in the log: members own the queue by lease. A paused owner may not
//! know that its lease is over.

use std::hash::Hash;

use regent_share::{Body, Delivery, Entry, Lane, Record};

use crate::lane_log::{LaneLog, one, queue, record};
use crate::{Model, Rules};

const MEMBER_COUNT: usize = 2;
const OFFSET: u64 = 0;
const EPOCH_MAX: u64 = 2;
const DELIVERY_MAX: usize = 2;
const CUT_MAX: u8 = 1;

/// A client with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Held {
    delivery: Delivery,
    asked: Asked,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Asked {
    Nothing,
    /// The answer waits until a member has applied so many records.
    Until {
        member: usize,
        count: usize,
    },
    Lost,
    Answered,
    Refused,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
struct Member {
    /// The lease that it was granted last; it may be over.
    epoch: u64,
    /// It has applied so many records: confirmed ones alone.
    applied: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    log: LaneLog,
    members: [Member; MEMBER_COUNT],
    /// Of the arbiter: the last lease.
    epoch: u64,
    held: Vec<Held>,
    is_completed: bool,
    /// The accept came while no other consumer had the message: the length of the log then.
    in_time: Option<usize>,
    cut_count: u8,
}

impl State {
    pub(crate) fn first() -> Self {
        Self {
            log: LaneLog::default(),
            members: [Member::default(); MEMBER_COUNT],
            epoch: 0,
            held: Vec::new(),
            is_completed: false,
            in_time: None,
            cut_count: 0,
        }
    }

    /// The state of the sequencer.
    fn tail(&self) -> Lane {
        self.log.lane(self.log.records.len())
    }

    /// The arbiter takes the lease of the last owner for over, whether or not that one knows.
    fn grant(&self, member: usize) -> Option<Self> {
        (self.epoch < EPOCH_MAX).then(|| {
            let mut next = self.clone();
            next.epoch += 1;
            next.members[member].epoch = next.epoch;
            next
        })
    }

    fn append(&self, record: Record) -> Option<Self> {
        self.tail().judge(&record).ok()?;
        let mut next = self.clone();
        next.log.records.push(record);
        Some(next)
    }

    fn own(&self, at: usize) -> Option<Self> {
        let member = at as u64 + 1;
        self.append(record(self.members[at].epoch, 0, Body::Own { member }))
    }

    /// A member whose lease has come into the log, as far as it knows, hands the message out.
    fn acquire(&self, at: usize, rules: Rules) -> Option<Result<Self, &'static str>> {
        let member = self.members[at];
        let known = self.log.lane(member.applied);
        let known = queue(&known);
        let is_owner = known.is_owned() && known.epoch() == member.epoch;
        let is_available = matches!(known.entry(OFFSET), Entry::Available { .. });
        if !is_owner || !is_available || self.held.len() == DELIVERY_MAX {
            return None;
        }
        let delivery = known.next_delivery(1, false);
        let body = |epoch| {
            let body = Body::Acquire {
                delivery,
                client: at as u64,
                ranges: one(OFFSET),
                deadline_ms: 9,
            };
            record(epoch, 0, body)
        };
        let tail = queue(&self.tail()).epoch();
        let epoch = if rules.fences { member.epoch } else { tail };
        let mut next = self.append(body(epoch))?;
        // It may know less than the sequencer: the record skips what is finished meanwhile.
        let entry = queue(&next.tail()).entry(OFFSET);
        if !matches!(entry, Entry::Acquired { delivery: own, .. } if own == delivery) {
            return None;
        }
        if tail != member.epoch {
            return Some(Err("OI-1: a former owner hands a message out"));
        }
        if let Some(fault) = self.fault_of_delivery() {
            return Some(Err(fault));
        }
        next.held.push(Held {
            delivery,
            asked: Asked::Nothing,
        });
        Some(Ok(next))
    }

    fn fault_of_delivery(&self) -> Option<&'static str> {
        if self.is_completed {
            return Some("OI-5: a message is delivered whose completion was sent");
        }
        let is_late = self.in_time.is_some();
        is_late.then_some("Q9: a message is delivered whose accept came in time")
    }

    /// A client that got the message by a record that is confirmed sends its accept to a member.
    fn accept(&self, at: usize, member: usize, rules: Rules) -> Option<Self> {
        let held = self.held[at];
        if !matches!(held.asked, Asked::Nothing | Asked::Lost) || !self.was_delivered(held.delivery)
        {
            return None;
        }
        let tail = self.tail();
        let entry = queue(&tail).entry(OFFSET);
        let is_own = match entry {
            Entry::Available { last, .. } => last.is_none_or(|last| last == held.delivery),
            Entry::Acquired { delivery, .. } => delivery == held.delivery,
            Entry::Forgotten => false,
        };
        let body = Body::Accept {
            delivery: held.delivery,
            ranges: one(OFFSET),
        };
        let record = record(0, 0, body);
        let is_dropped = !rules.accepts_late && matches!(entry, Entry::Available { .. });
        let is_stale = !tail.judge(&record).ok()?.stale.is_empty();
        let mut next = self.clone();
        if is_dropped || is_stale {
            next.held[at].asked = Asked::Refused;
        } else {
            next.log.records.push(record);
            let count = next.log.records.len();
            next.held[at].asked = Asked::Until { member, count };
        }
        if is_own {
            next.in_time = Some(next.log.records.len());
        }
        next.answer(rules);
        Some(next)
    }

    /// Whether the client could have the message: its ACQUIRE was confirmed, perhaps before a cut.
    fn was_delivered(&self, delivery: Delivery) -> bool {
        self.log.records[..self.log.confirmed]
            .iter()
            .any(|one| matches!(&one.body, Body::Acquire { delivery: own, .. } if *own == delivery))
    }

    fn answer(&mut self, rules: Rules) {
        for held in &mut self.held {
            if let Asked::Until { member, count } = held.asked
                && (self.members[member].applied >= count || !rules.awaits_confirmation)
            {
                held.asked = Asked::Answered;
                self.is_completed = true;
            }
        }
    }

    /// The owner ends a delivery whose deadline has passed.
    fn expire(&self, at: usize) -> Option<Self> {
        let member = self.members[at];
        let known = self.log.lane(member.applied);
        let Entry::Acquired { deadline_ms, .. } = queue(&known).entry(OFFSET) else {
            return None;
        };
        let body = Body::Expire {
            ranges: one(OFFSET),
            deadline_ms,
        };
        let record = record(member.epoch, 0, body);
        let applied = self.tail().judge(&record).ok()?;
        (!applied.done.is_empty()).then(|| self.append(record))?
    }

    /// Another member becomes the sequencer, with so many records.
    fn cut(&self, count: usize) -> Option<Self> {
        if self.cut_count == CUT_MAX {
            return None;
        }
        let mut next = self.clone();
        next.cut_count += 1;
        next.log.cut(count);
        for held in &mut next.held {
            if let Asked::Until { count: needed, .. } = held.asked
                && needed > count
            {
                held.asked = Asked::Lost;
            }
        }
        next.in_time = next.in_time.filter(|needed| *needed <= count);
        Some(next)
    }
}

impl Model for State {
    fn steps(&self, rules: Rules) -> Vec<(String, Result<Self, &'static str>)> {
        let mut steps = Vec::new();
        let mut add = |what: String, next: Option<Result<Self, &'static str>>| {
            steps.extend(next.map(|next| (what, next)));
        };
        for at in 0..MEMBER_COUNT {
            add(format!("grant the lease to {at}"), self.grant(at).map(Ok));
            add(format!("{at} owns"), self.own(at).map(Ok));
            add(format!("{at} delivers"), self.acquire(at, rules));
            add(
                format!("the delivery expires at {at}"),
                self.expire(at).map(Ok),
            );
            for held in 0..self.held.len() {
                let next = self.accept(held, at, rules);
                add(format!("accept delivery {held} at {at}"), next.map(Ok));
            }
            if self.members[at].applied < self.log.confirmed {
                let mut next = self.clone();
                next.members[at].applied += 1;
                next.answer(rules);
                add(format!("{at} applies"), Some(Ok(next)));
            }
        }
        if self.log.confirmed < self.log.records.len() {
            let mut next = self.clone();
            next.log.confirmed += 1;
            add("confirm".into(), Some(Ok(next)));
        }
        for count in self.log.confirmed..=self.log.records.len() {
            add(
                format!("another sequencer has {count} records"),
                self.cut(count).map(Ok),
            );
        }
        steps
    }
}
