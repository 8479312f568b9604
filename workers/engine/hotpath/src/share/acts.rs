//! What consumers do with the messages that they have, and what the broker gives up.

use ahash::AHashMap;
use regent_commitlog::{AppendError, NewMessage, Store};
use regent_share::{
    Act, Body, DECIDED, Delivery, Disposition, Entry, ORDERED_TAG, Ranges, Record, Verdict, Wired,
};

use super::shared::release;
use super::{Reign, Shares};
use crate::broker::HotPathConfig;
use crate::pull::Commit;

/// What came of a wish to finish messages.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Finished {
    /// For each wish whether it succeeds; the handle is void where it does not.
    pub successes: Vec<bool>,
    /// The successes can be answered once the log is confirmed up to here.
    pub position: u64,
    /// How far the groups are by now.
    pub commits: Vec<Commit>,
    /// The queue offset behind the record, if there is one.
    pub lane_end: Option<u64>,
    /// The share queues whose window was full, and has room now: by topic and queue, as consumers wait there.
    pub widened: Vec<(String, i32)>,
}

/// A message that is kept longer, or given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Renewed {
    /// The time of its delivery as of now.
    pub delivery: Delivery,
    /// In SHARED mode the success can be answered once the log is confirmed up to here.
    pub position: Option<u64>,
}

/// What a consumer wants done with a message that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Keep it for so many milliseconds from now on.
    Keep(i64),
    /// Give it back; it is not delivered for so many milliseconds.
    GiveBack(i64),
}

/// What a message has to be for the broker to give it up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Former {
    /// Any message, no matter which consumer has it: its consumer asks for this.
    Any,
    /// With no consumer since this delivery.
    Delivery(Delivery),
    /// With no consumer, and delivered so many times.
    Count(u16),
}

impl Former {
    fn is_of(self, entry: Entry) -> bool {
        match (self, entry) {
            (Self::Any, _) => true,
            (Self::Delivery(own), Entry::Available { last, .. }) => last == Some(own),
            (Self::Count(own), Entry::Available { count, .. }) => count == own,
            (Self::Delivery(_) | Self::Count(_), _) => false,
        }
    }
}

/// A message that was delivered as often as it may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dead {
    /// Topic.
    pub topic: String,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// Consumer group.
    pub group: String,
    /// Which message.
    pub offset: u64,
    /// How often it was delivered.
    pub count: u16,
}

/// One wish to finish a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wish {
    pub(crate) sq_id: u64,
    pub(crate) delivery: Delivery,
    pub(crate) offset: u64,
}

impl Shares {
    /// Finish messages of a share queue (ACCEPT): each once its handle proves that the client may.
    ///
    /// # Errors
    /// The store refused the record; nothing is finished.
    pub fn accept(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_id, group): (&str, i32, &str),
        (delivery, offsets): (Delivery, &[u64]),
        now_ms: i64,
    ) -> Result<Option<Finished>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Ok(None);
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return Ok(None);
        };
        let wish = |&offset: &u64| Wish {
            sq_id,
            delivery,
            offset,
        };
        let wishes: Vec<_> = offsets.iter().map(wish).collect();
        reign.finish(store, config, &wishes, now_ms).map(Some)
    }

    /// Keep a message longer (RENEW), or give it back (RELEASE).
    ///
    /// `None` if the share queue is unknown, or the handle is void.
    ///
    /// # Errors
    /// The store refused the record that SHARED mode needs; nothing changes.
    pub fn change(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_id, group): (&str, i32, &str),
        (delivery, offset): (Delivery, u64),
        change: Change,
        (now_ms, elapsed_ms): (i64, i64),
    ) -> Result<Option<Renewed>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Ok(None);
        };
        let is_shared = reign.is_shared(topic);
        let found = reign.find_finishing(topic, queue_id, group);
        let wired = found.and_then(|sq_id| reign.lane.get(sq_id));
        let Some((sq_id, wired)) = found.zip(wired.filter(|it| is_shared || it.queue.is_owned()))
        else {
            return Ok(None);
        };
        let queue = &wired.queue;
        let clock_ms = if is_shared { now_ms } else { elapsed_ms };
        let renewed = Renewed {
            delivery: Delivery {
                tag: delivery.tag,
                ..queue.next_delivery(now_ms, delivery.tag == ORDERED_TAG)
            },
            position: None,
        };
        let ranges = Ranges::of(offset..offset.saturating_add(1));
        let (act, body) = match change {
            Change::Keep(invisible_ms) => (
                Act::Renew,
                Body::Renew {
                    delivery,
                    ranges,
                    pop_time_ms: renewed.delivery.pop_time_ms,
                    deadline_ms: clock_ms.saturating_add(invisible_ms),
                },
            ),
            Change::GiveBack(delay_ms) => (
                Act::Release,
                Body::Release {
                    delivery,
                    ranges,
                    visible_at_ms: clock_ms.saturating_add(delay_ms),
                },
            ),
        };
        let verdict = queue.judge(offset, act, delivery);
        if verdict == Verdict::Stale {
            return Ok(None);
        }
        if verdict == Verdict::Done {
            reign.note_act(store, config, (sq_id, body), now_ms)?;
        }
        let position = Some(reign.end).filter(|_| is_shared);
        Ok(Some(Renewed {
            position,
            ..renewed
        }))
    }

    /// Whether nothing new can be delivered of a share queue until its front is finished.
    #[must_use]
    pub fn is_full(&self, (topic, queue_id, group): (&str, i32, &str)) -> bool {
        let reign = self.reign();
        let wired = reign.as_ref().and_then(|reign| {
            let sq_id = reign.lane.find(topic, queue_id, group)?;
            reign.lane.get(sq_id)
        });
        wired.is_some_and(|wired| wired.queue.window_left() == 0)
    }

    /// Where a look at the next messages of a group begins; `None` if the share queue is unknown.
    #[must_use]
    pub fn next_offset(
        &self,
        (topic, queue_id, group): (&str, i32, &str),
        (now_ms, elapsed_ms): (i64, i64),
    ) -> Option<u64> {
        let reign = self.reign();
        let reign = reign.as_ref()?;
        let wired = reign.lane.get(reign.lane.find(topic, queue_id, group)?)?;
        let clock_ms = if reign.is_shared(topic) {
            now_ms
        } else {
            elapsed_ms
        };
        let mut ready = wired.queue.ready(clock_ms, wired.policy.attempts);
        Some(ready.next().unwrap_or(wired.queue.end()))
    }

    /// A client is gone: its messages of a group can be delivered again. Returns their queues.
    ///
    /// # Errors
    /// The store refused a record that SHARED mode needs: some of the messages are hidden until their deadline.
    pub fn client_gone(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (connection, group): (u64, &str),
        now_ms: i64,
    ) -> Result<Vec<(String, i32)>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return Ok(Vec::new());
        };
        let named = [connection, reign.client_of(connection)];
        let has_any = |wired: &Wired| {
            let client = named[usize::from(reign.is_shared(&wired.name.topic))];
            let mut entries = wired.queue.entries();
            let is_own = |entry: Entry| matches!(entry, Entry::Acquired { client: own, .. } if own == client);
            let is_any = wired.name.group == group && entries.any(|(_, entry)| is_own(entry));
            is_any.then_some(client)
        };
        let meant: Vec<_> = (reign.lane.iter())
            .filter(|(sq_id, _)| reign.decides() || reign.is_shared_queue(*sq_id))
            .filter_map(|(sq_id, wired)| Some((sq_id, has_any(wired)?, wired.name.clone())))
            .collect();
        let mut queues = Vec::new();
        for (sq_id, client, name) in meant {
            reign.note_act(store, config, (sq_id, Body::ClientGone { client }), now_ms)?;
            queues.push((name.topic, name.queue_id));
        }
        Ok(queues)
    }

    /// Undo deliveries whose answer was never given: the messages can be delivered at once, and the
    /// deliveries do not count, except in SHARED mode. Returns the queues of the messages.
    ///
    /// Nothing happens to messages that were finished or delivered again since, nor in the reign of
    /// another master.
    ///
    /// # Errors
    /// The store refused a record that SHARED mode needs: some of the messages are hidden until their deadline.
    pub fn undo(
        &self,
        store: &Store,
        config: &HotPathConfig,
        deliveries: &[(u64, Delivery)],
        now_ms: i64,
    ) -> Result<Vec<(String, i32)>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return Ok(Vec::new());
        };
        let mut queues = Vec::new();
        for (sq_id, delivery) in deliveries {
            let is_undone = if reign.is_shared_queue(*sq_id) {
                reign.give_back(store, config, (*sq_id, *delivery), now_ms)?
            } else {
                reign.undo(*sq_id, *delivery)
            };
            if is_undone && let Some(wired) = reign.lane.get(*sq_id) {
                queues.push((wired.name.topic.clone(), wired.name.queue_id));
            }
        }
        Ok(queues)
    }

    /// Messages that were delivered as often as they may be, of which no consumer has one: some at a time.
    #[must_use]
    pub fn dead(&self, elapsed_ms: i64, count_max: usize) -> Vec<Dead> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Vec::new();
        };
        let owned = reign.lane.iter().filter(|(sq_id, wired)| {
            let is_decided_here = wired.queue.is_owned() || reign.is_shared(&wired.name.topic);
            is_decided_here && reign.is_placed(*sq_id, wired)
        });
        let ids: Vec<_> = owned.map(|(sq_id, _)| sq_id).collect();
        let mut dead = Vec::new();
        for sq_id in ids {
            reign.expire(sq_id, elapsed_ms);
            let Some(wired) = reign.lane.get(sq_id) else {
                continue;
            };
            for offset in wired.queue.exhausted(wired.policy.attempts) {
                if dead.len() == count_max {
                    return dead;
                }
                dead.push(Dead {
                    topic: wired.name.topic.clone(),
                    queue_id: wired.name.queue_id,
                    group: wired.name.group.clone(),
                    offset,
                    count: wired.queue.entry(offset).count(),
                });
            }
        }
        dead
    }

    /// Give a message up (REJECT), in one unit with its copy, if there is one.
    ///
    /// No success if the message is finished already, or if another consumer has got it since: then nothing is
    /// written. `None` if the share queue is unknown, or if this broker only acts for its master.
    ///
    /// # Errors
    /// The store refused the unit; nothing is given up.
    pub fn reject(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_id, group): (&str, i32, &str),
        (offset, disposition, former): (u64, Disposition, Former),
        copy: Option<NewMessage<'_>>,
        now_ms: i64,
    ) -> Result<Option<Finished>, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.appends()) else {
            return Ok(None);
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return Ok(None);
        };
        let is_shared = reign.is_shared(topic);
        let wired = reign.lane.get(sq_id);
        let Some(wired) = wired.filter(|it| is_shared || it.queue.is_owned()) else {
            return Ok(None);
        };
        let finished = Finished {
            successes: vec![false],
            position: reign.end,
            ..Finished::default()
        };
        let entry = wired.queue.entry(offset);
        if !former.is_of(entry) {
            return Ok(Some(finished));
        }
        let delivery = match entry {
            Entry::Forgotten => return Ok(Some(finished)),
            Entry::Acquired { delivery, .. } => delivery,
            Entry::Available { last, .. } => last.unwrap_or(Delivery {
                tag: Delivery::tag_of(reign.epoch_of(sq_id)),
                ..wired.queue.next_delivery(now_ms, false)
            }),
        };
        if wired.queue.judge(offset, Act::Reject, delivery) != Verdict::Done {
            return Ok(None);
        }
        let record = Record {
            flags: DECIDED,
            sq_id,
            epoch: reign.epoch_of(sq_id),
            body: Body::Reject {
                delivery,
                ranges: Ranges::of(offset..offset + 1),
                disposition,
            },
        };
        let appended = reign.append_with(store, config, copy.as_slice(), &[record], now_ms)?;
        Ok(Some(Finished {
            successes: vec![true],
            position: reign.end,
            commits: reign.commits([sq_id].into_iter()),
            lane_end: appended.last().map(|last| last.queue_offset + 1),
            ..Finished::default()
        }))
    }
}

impl Reign {
    /// Undo a delivery, unless another answer carries it as well. Whether messages were hidden by it.
    fn undo(&mut self, sq_id: u64, delivery: Delivery) -> bool {
        self.is_last_answer(sq_id, delivery) && self.has(sq_id) && self.lane.undo(sq_id, delivery)
    }

    /// Note that an answer was never given. Whether no other one carries the delivery.
    fn is_last_answer(&mut self, sq_id: u64, delivery: Delivery) -> bool {
        let Some(attempt) = self.attempts.get_mut(&sq_id) else {
            return true;
        };
        if attempt.delivery == delivery {
            attempt.answer_count = attempt.answer_count.saturating_sub(1);
            return attempt.answer_count == 0;
        }
        true
    }

    /// Give back what a delivery of SHARED mode handed out. Whether any message has it still.
    fn give_back(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        (sq_id, delivery): (u64, Delivery),
        now_ms: i64,
    ) -> Result<bool, AppendError> {
        let wired = self.lane.get(sq_id);
        let ranges = wired
            .map(|wired| wired.queue.batch(delivery))
            .unwrap_or_default();
        if !self.is_last_answer(sq_id, delivery) || ranges.is_empty() {
            return Ok(false);
        }
        let record = release(sq_id, self.epoch_of(sq_id), delivery, ranges);
        self.append(store, config, &[record], now_ms)?;
        Ok(true)
    }

    /// Note what happened to messages: in the lane in SHARED mode, and in memory alone otherwise.
    pub(super) fn note_act(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        (sq_id, body): (u64, Body),
        now_ms: i64,
    ) -> Result<(), AppendError> {
        if !self.is_shared_queue(sq_id) {
            self.remember(sq_id, body);
            return Ok(());
        }
        let record = Record {
            flags: 0,
            sq_id,
            epoch: self.epoch_of(sq_id),
            body,
        };
        self.append(store, config, &[record], now_ms).map(drop)
    }

    /// Finish messages: one record for each delivery, all in one message of the lane.
    pub(crate) fn finish(
        &mut self,
        store: &Store,
        config: &HotPathConfig,
        wishes: &[Wish],
        now_ms: i64,
    ) -> Result<Finished, AppendError> {
        let mut done: AHashMap<(u64, Delivery), Vec<u64>> = AHashMap::new();
        let mut repeated = Vec::new();
        let mut successes = Vec::with_capacity(wishes.len());
        for wish in wishes {
            let verdict = self.judge(store, wish);
            if verdict == Verdict::Done {
                let offsets = done.entry((wish.sq_id, wish.delivery)).or_default();
                offsets.push(wish.offset);
            }
            successes.push(verdict != Verdict::Stale);
        }
        let mut finished = Finished {
            successes,
            position: self.end,
            ..Finished::default()
        };
        if self.is_acting {
            // The caller keeps all that is finished there, also what it could not keep before.
            let found = wishes.iter().zip(&finished.successes);
            let ids = found.filter(|(_, is_done)| **is_done);
            repeated.extend(ids.map(|(wish, _)| wish.sq_id));
        }
        if done.is_empty() {
            finished.commits = self.commits(repeated.into_iter());
            return Ok(finished);
        }
        let ids: Vec<_> = done
            .keys()
            .map(|(sq_id, _)| *sq_id)
            .chain(repeated)
            .collect();
        let mut records: Vec<_> = done
            .into_iter()
            .map(|((sq_id, delivery), offsets)| Record {
                // In SHARED mode each member can decide, and comes to the same.
                flags: if self.is_shared_queue(sq_id) {
                    0
                } else {
                    DECIDED
                },
                sq_id,
                epoch: self.epoch_of(sq_id),
                body: Body::Accept {
                    delivery,
                    ranges: offsets.into_iter().collect(),
                },
            })
            .collect();
        records.sort_unstable_by_key(|record| record.sq_id);
        let is_full = |sq_id: &u64| self.window_left(*sq_id) == 0;
        let full: Vec<_> = ids.iter().copied().filter(is_full).collect();
        finished.lane_end = self.append(store, config, &records, now_ms)?;
        finished.position = self.end;
        finished.commits = self.commits(ids.into_iter());
        let widened = full.into_iter().filter(|id| self.window_left(*id) > 0);
        finished.widened = widened.filter_map(|id| self.waited_at(id)).collect();
        Ok(finished)
    }

    fn window_left(&self, sq_id: u64) -> u64 {
        let wired = self.lane.get(sq_id);
        wired.map_or(0, |wired| wired.queue.window_left())
    }

    /// The verdict on a wish. No consumer can have a message that readers do not see.
    fn judge(&self, store: &Store, wish: &Wish) -> Verdict {
        let Some(wired) = self.lane.get(wish.sq_id) else {
            return Verdict::Stale;
        };
        if !wired.queue.is_owned() && !self.is_shared(&wired.name.topic) {
            // The next owner would not know.
            return Verdict::Stale;
        }
        if wish.offset >= wired.queue.end() {
            let offsets = self.bounds(store, wish.sq_id);
            if offsets.is_none_or(|(_, max_offset)| wish.offset >= max_offset) {
                return Verdict::Stale;
            }
        }
        wired.queue.judge(wish.offset, Act::Accept, wish.delivery)
    }

    /// The topic and the queue at which POPs of a share queue wait.
    pub(crate) fn waited_at(&self, sq_id: u64) -> Option<(String, i32)> {
        let name = &self.lane.get(sq_id)?.name;
        let segment = self.segment(sq_id);
        let queue_id = segment.map_or(name.queue_id, |segment| segment.queue_id);
        Some((name.topic.clone(), queue_id))
    }

    /// How far groups are in their queues: what lag is counted from.
    pub(crate) fn commits(&self, ids: impl Iterator<Item = u64>) -> Vec<Commit> {
        let mut commits: Vec<Commit> = Vec::new();
        for sq_id in ids {
            let Some(wired) = self.lane.get(sq_id) else {
                continue;
            };
            let start = i64::try_from(wired.queue.start()).unwrap_or(i64::MAX);
            let (queue_id, offset) = match self.segment(sq_id) {
                None if !self.is_placed(sq_id, wired) => continue,
                None => (wired.name.queue_id, start),
                Some(segment) => match segment.to_physical(start) {
                    Some(offset) => (segment.queue_id, offset),
                    // The broker group of the older segment keeps that one.
                    None => continue,
                },
            };
            let commit = Commit {
                group: wired.name.group.clone(),
                topic: wired.name.topic.clone(),
                queue_id,
                offset,
            };
            if !commits.contains(&commit) {
                commits.push(commit);
            }
        }
        commits
    }
}
