//! A lane of the state log: the share queues whose records it holds (queue-ownership.md 4.3).

use ahash::AHashMap;
use std::collections::BTreeMap;

use crate::entry::{Act, Delivery, Verdict};
use crate::queue::ShareQueue;
use crate::ranges::Ranges;
use crate::record::{Body, DECIDED, FIRST_VERSION, Policy, REMOVED, Record};

/// Which share queue it is.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct QueueName {
    /// Topic.
    pub topic: String,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// Consumer group.
    pub group: String,
}

/// A share queue under its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wired {
    /// Which one it is.
    pub name: QueueName,
    /// How it is served.
    pub policy: Policy,
    /// What is known of its messages.
    pub queue: ShareQueue,
}

/// What a record did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Applied {
    /// The messages that it changed.
    pub done: Ranges,
    /// The messages for which its handle is void.
    pub stale: Ranges,
}

/// Why a record has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
pub enum Refused {
    /// No WIRE record named the share queue.
    #[error("the share queue is unknown")]
    Unknown,
    /// Another owner has a later lease epoch, or the writer owns the share queue no more.
    #[error("the share queue has another owner")]
    Fenced,
    /// A message is with a consumer already.
    #[error("the message {0} is with a consumer")]
    Taken(u64),
    /// An offset lies outside the window.
    #[error("an offset is outside the window")]
    Outside,
    /// A WIRE record gives the number of one share queue to another one.
    #[error("the number belongs to another share queue")]
    Renamed,
    /// The type was added by a later version than that of the lane here (OI-10). Readers of the lane's version
    /// leave such a record out, and so does each later one.
    #[error("the record is of version {0}, and the lane is not")]
    Later(u16),
}

/// The state that the records of one lane make.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lane {
    version: u16,
    queues: BTreeMap<u64, Wired>,
    names: AHashMap<String, AHashMap<String, BTreeMap<i32, u64>>>,
    last_id: u64,
}

impl Default for Lane {
    fn default() -> Self {
        Self {
            version: FIRST_VERSION,
            queues: BTreeMap::new(),
            names: AHashMap::new(),
            last_id: 0,
        }
    }
}

impl Lane {
    /// The version of the records that may be appended now: that of the last VERSION record (Q80).
    #[must_use]
    pub fn version(&self) -> u16 {
        self.version
    }

    /// The share queues of a topic, of a group, or of both.
    pub fn named<'a>(
        &'a self,
        topic: Option<&'a str>,
        group: Option<&'a str>,
    ) -> impl Iterator<Item = u64> + 'a {
        let is_meant = move |wired: &Wired| {
            topic.is_none_or(|topic| wired.name.topic == topic)
                && group.is_none_or(|group| wired.name.group == group)
        };
        let meant = self.queues.iter().filter(move |(_, wired)| is_meant(wired));
        meant.map(|(sq_id, _)| *sq_id)
    }

    /// The number of a share queue.
    #[must_use]
    pub fn find(&self, topic: &str, queue_id: i32, group: &str) -> Option<u64> {
        self.ids(topic, group)?.get(&queue_id).copied()
    }

    /// The numbers of the share queues of a group in a topic, by queue.
    #[must_use]
    pub fn ids(&self, topic: &str, group: &str) -> Option<&BTreeMap<i32, u64>> {
        self.names.get(group)?.get(topic)
    }

    /// A share queue.
    #[must_use]
    pub fn get(&self, sq_id: u64) -> Option<&Wired> {
        self.queues.get(&sq_id)
    }

    /// All share queues, by number.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u64, &Wired)> {
        self.queues.iter().map(|(id, wired)| (*id, wired))
    }

    /// The last number that a share queue was given, which may be removed since; 0 before the first one.
    ///
    /// A MARK record keeps it beside a snapshot, which names only the share queues that there are.
    #[must_use]
    pub fn last_id(&self) -> u64 {
        self.last_id
    }

    /// A number that no share queue had.
    #[must_use]
    pub fn next_id(&self) -> u64 {
        self.last_id + 1
    }

    /// See [`ShareQueue::overdue`].
    #[must_use]
    pub fn overdue(&mut self, sq_id: u64, now_ms: i64) -> Vec<(i64, Ranges)> {
        let wired = self.queues.get_mut(&sq_id);
        wired.map_or_else(Vec::new, |wired| wired.queue.overdue(now_ms))
    }

    /// Name overdue deliveries of a share queue again: what was to end them may have failed.
    pub fn recheck(&mut self, sq_id: u64) {
        if let Some(wired) = self.queues.get_mut(&sq_id) {
            wired.queue.recheck();
        }
    }

    /// Undo a delivery that no consumer saw, see [`ShareQueue::undo`]. Whether it had any message still.
    pub fn undo(&mut self, sq_id: u64, delivery: Delivery) -> bool {
        let wired = self.queues.get_mut(&sq_id);
        wired.is_some_and(|wired| wired.queue.undo(delivery))
    }

    /// Drop what consumers have of a share queue: only its owner knows, who has no say any more.
    pub fn drop_acquisitions(&mut self, sq_id: u64) {
        if let Some(wired) = self.queues.get_mut(&sq_id) {
            wired.queue.drop_acquisitions();
        }
    }

    /// What each of some records would do after those before it, as one unit: the decision before they are appended.
    ///
    /// It is stricter than [`Lane::apply`], which takes what is in the lane: it hands nothing out behind the window.
    ///
    /// # Errors
    /// One of them has no effect: its place, and why.
    pub fn judge_unit(&self, records: &[Record]) -> Result<Vec<Applied>, (usize, Refused)> {
        if let [record] = records {
            self.check_window(record).map_err(|refused| (0, refused))?;
            let applied = self.judge(record).map_err(|refused| (0, refused))?;
            return Ok(vec![applied]);
        }
        let ids = records.iter().map(|record| record.sq_id);
        let mut part = Self {
            version: self.version,
            queues: ids
                .filter_map(|id| Some((id, self.queues.get(&id)?.clone())))
                .collect(),
            names: AHashMap::new(),
            last_id: self.last_id,
        };
        let outcomes = records.iter().enumerate();
        outcomes
            .map(|(at, record)| {
                let fits = part.check_window(record);
                let applied = fits.and_then(|()| part.apply(record));
                applied.map_err(|refused| (at, refused))
            })
            .collect()
    }

    /// Check that a record hands out no message behind the window: its share queue could not be written down.
    fn check_window(&self, record: &Record) -> Result<(), Refused> {
        let Body::Acquire { ranges, .. } = &record.body else {
            return Ok(());
        };
        let start = self.queues.get(&record.sq_id).map(|it| it.queue.start());
        let limit = start.map(|start| start.saturating_add(crate::WINDOW));
        if limit.is_some() && ranges.end() > limit {
            return Err(Refused::Outside);
        }
        Ok(())
    }

    /// What a record would do: the decision that [`Lane::apply`] carries out.
    ///
    /// Only the owner of the present lease epoch hands out messages (Q5, Q19).
    ///
    /// # Errors
    /// The record has no effect.
    pub fn judge(&self, record: &Record) -> Result<Applied, Refused> {
        let since = record.body.record_type().since();
        if since > self.version {
            return Err(Refused::Later(since));
        }
        let known = self.queues.get(&record.sq_id);
        match &record.body {
            Body::Mark { .. } | Body::Version { .. } | Body::Drop { .. } => {
                return Ok(Applied::default());
            }
            Body::Wire {
                topic,
                queue_id,
                group,
                ..
            } => {
                let is_same = |wired: &Wired| {
                    let name = &wired.name;
                    (&name.topic, &name.group) == (topic, group) && name.queue_id == *queue_id
                };
                let is_free = self.find(topic, *queue_id, group).is_none();
                return if known.map_or(is_free, is_same) {
                    Ok(Applied::default())
                } else {
                    Err(Refused::Renamed)
                };
            }
            Body::ClientGone { .. } | Body::MemberGone { .. } if record.sq_id == 0 => {
                return Ok(Applied::default());
            }
            _ => {}
        }
        judge_of_queue(&known.ok_or(Refused::Unknown)?.queue, record)
    }

    /// Apply a record: the same to the same state, on each member.
    ///
    /// # Errors
    /// The record has no effect.
    pub fn apply(&mut self, record: &Record) -> Result<Applied, Refused> {
        let applied = self.judge(record)?;
        if let Body::Wire { .. } = record.body {
            self.wire(record);
        } else if let Body::Mark { .. } = record.body {
            self.last_id = self.last_id.max(record.sq_id);
        } else if let Body::Version { version } = record.body {
            self.version = version;
        } else if let Body::Drop { topic, group } = &record.body {
            let gone: Vec<_> = self.named(topic.as_deref(), group.as_deref()).collect();
            for sq_id in gone {
                self.remove(sq_id);
            }
        } else if let Some(wired) = self.queues.get_mut(&record.sq_id) {
            carry_out(&mut wired.queue, record, &applied);
        } else if let Body::ClientGone { client } = record.body {
            for wired in self.queues.values_mut() {
                wired.queue.return_all(Some(client));
            }
        }
        Ok(applied)
    }

    fn wire(&mut self, record: &Record) {
        let Body::Wire {
            topic,
            queue_id,
            group,
            policy,
        } = &record.body
        else {
            return;
        };
        self.last_id = self.last_id.max(record.sq_id);
        if record.flags & REMOVED != 0 {
            self.remove(record.sq_id);
            return;
        }
        let topics = self.names.entry(group.clone()).or_default();
        topics
            .entry(topic.clone())
            .or_default()
            .insert(*queue_id, record.sq_id);
        let name = QueueName {
            topic: topic.clone(),
            queue_id: *queue_id,
            group: group.clone(),
        };
        let wired = self.queues.entry(record.sq_id).or_insert_with(|| Wired {
            name,
            policy: *policy,
            queue: ShareQueue::default(),
        });
        wired.policy = *policy;
    }

    fn remove(&mut self, sq_id: u64) {
        let Some(wired) = self.queues.remove(&sq_id) else {
            return;
        };
        let QueueName {
            topic,
            queue_id,
            group,
        } = &wired.name;
        if let Some(topics) = self.names.get_mut(group) {
            if let Some(queues) = topics.get_mut(topic) {
                queues.remove(queue_id);
                if queues.is_empty() {
                    topics.remove(topic);
                }
            }
            if topics.is_empty() {
                self.names.remove(group);
            }
        }
    }

    /// The WIRE record of a share queue.
    #[must_use]
    pub fn wire_record(&self, sq_id: u64, flags: u16) -> Option<Record> {
        let wired = self.queues.get(&sq_id)?;
        Some(Record {
            flags,
            sq_id,
            epoch: wired.queue.epoch(),
            body: Body::Wire {
                topic: wired.name.topic.clone(),
                queue_id: wired.name.queue_id,
                group: wired.name.group.clone(),
                policy: wired.policy,
            },
        })
    }

    /// Records that make the same state: of each share queue its name, then its state. Acquisitions are in the
    /// states of those share queues whose acquisitions are in the lane.
    pub fn snapshot(
        &self,
        has_acquisitions: impl Fn(&QueueName) -> bool,
    ) -> impl Iterator<Item = [Record; 2]> {
        self.queues.iter().filter_map(move |(&sq_id, wired)| {
            let state = Record {
                flags: 0,
                sq_id,
                epoch: wired.queue.epoch(),
                body: Body::Snap(wired.queue.snapshot(has_acquisitions(&wired.name))),
            };
            Some([self.wire_record(sq_id, 0)?, state])
        })
    }
}

/// What a record would do to its share queue.
fn judge_of_queue(queue: &ShareQueue, record: &Record) -> Result<Applied, Refused> {
    let is_owner = queue.is_owned() && record.epoch == queue.epoch();
    let by_owner = |ranges: &Ranges| {
        if is_owner {
            fits(queue, ranges)
        } else {
            Err(Refused::Fenced)
        }
    };
    match &record.body {
        Body::Own { .. } if record.epoch <= queue.epoch() => Err(Refused::Fenced),
        Body::Unown { .. } if !is_owner => Err(Refused::Fenced),
        Body::Acquire { ranges, .. } => {
            by_owner(ranges)?;
            let taken =
                |offset: &u64| matches!(queue.entry(*offset), crate::Entry::Acquired { .. });
            match ranges.offsets().find(taken) {
                Some(offset) => Err(Refused::Taken(offset)),
                None => Ok(done(ranges)),
            }
        }
        Body::Expire {
            ranges,
            deadline_ms,
        } => {
            by_owner(ranges)?;
            let expires = |offset: &u64| {
                matches!(queue.entry(*offset), crate::Entry::Acquired { deadline_ms: own, .. }
                    if own == *deadline_ms)
            };
            Ok(Applied {
                done: ranges.offsets().filter(expires).collect(),
                stale: Ranges::default(),
            })
        }
        Body::Gap { ranges } => by_owner(ranges).map(|()| done(ranges)),
        Body::Accept { ranges, .. } | Body::Reject { ranges, .. }
            if record.flags & DECIDED != 0 =>
        {
            fits(queue, ranges).map(|()| done(ranges))
        }
        Body::Accept { delivery, ranges } => Ok(judge_each(queue, ranges, Act::Accept, *delivery)),
        Body::Reject {
            delivery, ranges, ..
        } => Ok(judge_each(queue, ranges, Act::Reject, *delivery)),
        Body::Release {
            delivery, ranges, ..
        } => Ok(judge_each(queue, ranges, Act::Release, *delivery)),
        Body::Renew {
            delivery, ranges, ..
        } => Ok(judge_each(queue, ranges, Act::Renew, *delivery)),
        Body::Snap(snapshot) if snapshot.epoch < queue.epoch() => Err(Refused::Fenced),
        _ => Ok(Applied::default()),
    }
}

fn done(ranges: &Ranges) -> Applied {
    Applied {
        done: ranges.clone(),
        stale: Ranges::default(),
    }
}

/// Check that the offsets are in the window, once the first range has moved its start if it does so.
fn fits(queue: &ShareQueue, ranges: &Ranges) -> Result<(), Refused> {
    let start = match ranges.as_slice().first() {
        Some(first) if first.start <= queue.start() => queue.start().max(first.end),
        _ => queue.start(),
    };
    let limit = start.saturating_add(crate::WINDOW);
    if ranges.end().is_some_and(|end| end > limit) {
        return Err(Refused::Outside);
    }
    Ok(())
}

fn judge_each(queue: &ShareQueue, ranges: &Ranges, act: Act, delivery: Delivery) -> Applied {
    let (mut done, mut stale) = (Ranges::default(), Ranges::default());
    for range in ranges.as_slice() {
        // What lies outside the window is judged at once, and may be endless.
        let inside = range.start.max(queue.start())..range.end.min(queue.start() + crate::WINDOW);
        if act == Act::Renew {
            stale.push(range.start..range.end.min(queue.start()));
        }
        for offset in inside.clone() {
            match queue.judge(offset, act, delivery) {
                Verdict::Done => done.push(offset..offset + 1),
                Verdict::Void => {}
                Verdict::Stale => stale.push(offset..offset + 1),
            }
        }
        stale.push(range.start.max(queue.start() + crate::WINDOW)..range.end);
    }
    Applied { done, stale }
}

fn carry_out(queue: &mut ShareQueue, record: &Record, applied: &Applied) {
    let done = &applied.done;
    match &record.body {
        Body::Own { member } => queue.own(record.epoch, *member),
        Body::Unown { .. } => queue.disown(),
        Body::Acquire {
            delivery,
            client,
            deadline_ms,
            ..
        } => queue.acquire(done, *delivery, *client, *deadline_ms),
        Body::Accept { .. } | Body::Reject { .. } | Body::Gap { .. } => queue.forget(done),
        Body::Release { visible_at_ms, .. } => queue.give_back(done, *visible_at_ms),
        Body::Renew {
            pop_time_ms,
            deadline_ms,
            ..
        } => queue.renew(done, *pop_time_ms, *deadline_ms),
        Body::Expire { .. } => queue.give_back(done, 0),
        Body::ClientGone { client } => queue.return_all(Some(*client)),
        Body::Snap(snapshot) => queue.restore(snapshot),
        Body::Wire { .. }
        | Body::MemberGone { .. }
        | Body::Mark { .. }
        | Body::Version { .. }
        | Body::Drop { .. } => {}
    }
}
