//! PRIMARY mode: the master decides with what it remembers, and only decisions are in the log.

use std::hash::{Hash, Hasher};

use regent_share::{Act, Body, DECIDED, Delivery, Disposition, Entry, Lane, Verdict};

use crate::lane_log::{LaneLog, SQ, one, queue, record};
use crate::{Model, Rules};

const MESSAGE_COUNT: u64 = 2;
const DELIVERY_MAX: usize = 3;
const FAILOVER_MAX: u8 = 1;
const RENEWAL_MAX: u8 = 1;

/// A client's handle of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Held {
    offset: u64,
    delivery: Delivery,
    asked: Asked,
}

/// What became of the client's act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Asked {
    Nothing,
    /// The answer waits until so many records are confirmed.
    Until(usize),
    /// The answer was lost with its master: the client may ask again.
    Lost,
    Answered,
    Refused,
}

#[derive(Debug, Clone)]
pub(crate) struct State {
    log: LaneLog,
    /// With what only the master remembers.
    memory: Lane,
    held: Vec<Held>,
    /// Messages whose completion a client has heard of.
    completed: [bool; MESSAGE_COUNT as usize],
    /// Messages whose accept came while no other consumer had them: the length of the log then.
    in_time: [Option<usize>; MESSAGE_COUNT as usize],
    failover_count: u8,
    renewal_count: u8,
    now: i64,
}

impl Hash for State {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.log.hash(hasher);
        queue(&self.memory).hash(hasher);
        self.held.hash(hasher);
        (self.completed, self.in_time).hash(hasher);
        (self.failover_count, self.renewal_count, self.now).hash(hasher);
    }
}

impl State {
    pub(crate) fn first() -> Self {
        let mut state = Self {
            log: LaneLog::default(),
            memory: LaneLog::default().lane(0),
            held: Vec::new(),
            completed: [false; _],
            in_time: [None; _],
            failover_count: 0,
            renewal_count: 0,
            now: 1,
        };
        state.own();
        state
    }

    fn own(&mut self) {
        let epoch = queue(&self.memory).epoch() + 1;
        self.append(record(epoch, 0, Body::Own { member: epoch }));
    }

    fn append(&mut self, record: regent_share::Record) {
        self.memory.apply(&record).expect("the master owns it");
        self.log.records.push(record);
    }

    fn remember(&mut self, body: Body) {
        let epoch = queue(&self.memory).epoch();
        self.memory
            .apply(&record(epoch, 0, body))
            .expect("the master owns it");
    }

    fn deliver(&self, offset: u64) -> Option<Result<Self, &'static str>> {
        let is_available = matches!(queue(&self.memory).entry(offset), Entry::Available { .. });
        if !is_available || self.held.len() == DELIVERY_MAX {
            return None;
        }
        if self.completed[offset as usize] {
            return Some(Err(
                "OI-5: a message is delivered whose completion was sent",
            ));
        }
        if self.in_time[offset as usize].is_some() {
            return Some(Err("Q9: a message is delivered whose accept came in time"));
        }
        let mut next = self.clone();
        // The clocks of two masters may show the same time.
        let delivery = queue(&next.memory).next_delivery(next.now, false);
        next.remember(Body::Acquire {
            delivery,
            client: 0,
            ranges: one(offset),
            deadline_ms: 9,
        });
        next.held.push(Held {
            offset,
            delivery,
            asked: Asked::Nothing,
        });
        Some(Ok(next))
    }

    fn act(&self, at: usize, act: Act, rules: Rules) -> Option<Self> {
        let held = self.held[at];
        if !matches!(held.asked, Asked::Nothing | Asked::Lost) {
            return None;
        }
        let mut next = self.clone();
        let entry = queue(&self.memory).entry(held.offset);
        let verdict = match queue(&self.memory).judge(held.offset, act, held.delivery) {
            Verdict::Done if !rules.accepts_late && matches!(entry, Entry::Available { .. }) => {
                Verdict::Stale
            }
            verdict => verdict,
        };
        let is_own = match entry {
            Entry::Available { last, .. } => last.is_none_or(|last| last == held.delivery),
            Entry::Acquired { delivery, .. } => delivery == held.delivery,
            Entry::Forgotten => false,
        };
        if verdict == Verdict::Done {
            let (delivery, ranges) = (held.delivery, one(held.offset));
            let epoch = queue(&self.memory).epoch();
            let body = match act {
                Act::Reject => Body::Reject {
                    delivery,
                    ranges,
                    disposition: Disposition::DeadLetter,
                },
                _ => Body::Accept { delivery, ranges },
            };
            next.append(record(epoch, DECIDED, body));
        }
        if is_own {
            next.in_time[held.offset as usize] = Some(next.log.records.len());
        }
        next.held[at].asked = match verdict {
            Verdict::Stale => Asked::Refused,
            _ => Asked::Until(next.log.records.len()),
        };
        next.answer(rules);
        Some(next)
    }

    /// Answer what is confirmed.
    fn answer(&mut self, rules: Rules) {
        for held in &mut self.held {
            if let Asked::Until(count) = held.asked
                && (count <= self.log.confirmed || !rules.awaits_confirmation)
            {
                held.asked = Asked::Answered;
                self.completed[held.offset as usize] = true;
            }
        }
    }

    fn fail_over(&self, count: usize, now: i64) -> Option<Self> {
        if self.failover_count == FAILOVER_MAX {
            return None;
        }
        let mut next = self.clone();
        next.failover_count += 1;
        next.now = now;
        next.log.cut(count);
        next.memory = next.log.lane(count);
        for held in &mut next.held {
            if matches!(held.asked, Asked::Until(_)) {
                held.asked = Asked::Lost;
            }
        }
        for in_time in &mut next.in_time {
            *in_time = in_time.filter(|needed| *needed <= count);
        }
        next.own();
        Some(next)
    }

    fn fault(&self) -> Option<&'static str> {
        let mut copies = [0; MESSAGE_COUNT as usize];
        for one in &self.log.records {
            if let Body::Reject { ranges, .. } = &one.body {
                ranges
                    .offsets()
                    .for_each(|offset| copies[offset as usize] += 1);
            }
        }
        copies
            .iter()
            .any(|count| *count > 1)
            .then_some("OI-8: two copies of a dead letter")
    }
}

impl Model for State {
    fn steps(&self, rules: Rules) -> Vec<(String, Result<Self, &'static str>)> {
        let mut steps = Vec::new();
        let mut add = |what: String, next: Option<Result<Self, &'static str>>| {
            let next = next.map(|next| next.and_then(|it| it.fault().map_or(Ok(it), Err)));
            steps.extend(next.map(|next| (what, next)));
        };
        for offset in 0..MESSAGE_COUNT {
            add(format!("deliver {offset}"), self.deliver(offset));
            if let Entry::Acquired { deadline_ms, .. } = queue(&self.memory).entry(offset) {
                let mut next = self.clone();
                let ranges = one(offset);
                next.remember(Body::Expire {
                    ranges,
                    deadline_ms,
                });
                add(format!("{offset} expires"), Some(Ok(next)));
            }
        }
        for at in 0..self.held.len() {
            add(
                format!("accept delivery {at}"),
                self.act(at, Act::Accept, rules).map(Ok),
            );
            add(
                format!("reject delivery {at}"),
                self.act(at, Act::Reject, rules).map(Ok),
            );
            add(format!("renew delivery {at}"), self.renew(at).map(Ok));
        }
        if self.log.confirmed < self.log.records.len() {
            let mut next = self.clone();
            next.log.confirmed += 1;
            next.answer(rules);
            add("confirm".into(), Some(Ok(next)));
        }
        for count in self.log.confirmed..=self.log.records.len() {
            for now in [1, 2] {
                let next = self.fail_over(count, now);
                add(
                    format!("fail over with {count} records at {now}"),
                    next.map(Ok),
                );
            }
        }
        steps
    }
}

impl State {
    fn renew(&self, at: usize) -> Option<Self> {
        let held = self.held[at];
        let verdict = queue(&self.memory).judge(held.offset, Act::Renew, held.delivery);
        if verdict != Verdict::Done
            || self.renewal_count == RENEWAL_MAX
            || held.asked != Asked::Nothing
        {
            return None;
        }
        let mut next = self.clone();
        let renewed = queue(&self.memory).next_delivery(self.now, false);
        next.remember(Body::Renew {
            delivery: held.delivery,
            ranges: one(held.offset),
            pop_time_ms: renewed.pop_time_ms,
            deadline_ms: 9,
        });
        assert!(next.memory.get(SQ).is_some());
        next.renewal_count += 1;
        next.held[at].delivery = renewed;
        Some(next)
    }
}
