//! What share queues hold, for operators, and the release of messages whose client is gone.

use regent_commitlog::{AppendError, Store};
use regent_share::{Act, Body, Delivery, Disposition, Entry, Policy, QueueName, Ranges, Record};
use regent_share::{Verdict, Wired};

use super::{Reign, Shares};
use crate::broker::HotPathConfig;

/// So many share queues are looked at before consumers get their turn.
const BATCH_COUNT: usize = 16;

/// What was done with the messages of a share queue in the present reign.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    /// Deliveries to consumers.
    pub delivered: u64,
    /// Deliveries of messages that were delivered before.
    pub redelivered: u64,
    /// Messages that consumers finished.
    pub accepted: u64,
    /// Messages that were given up, with a dead letter.
    pub dead_lettered: u64,
    /// Messages that were given up without a dead letter.
    pub discarded: u64,
    /// Messages that moved to the retry topic.
    pub retried: u64,
}

impl Counts {
    pub(super) fn add(&mut self, body: &Body, count: u64, again_count: u64) {
        let field = match body {
            Body::Acquire { .. } => {
                self.redelivered += again_count;
                &mut self.delivered
            }
            Body::Accept { .. } => &mut self.accepted,
            Body::Reject { disposition, .. } => match disposition {
                Disposition::DeadLetter => &mut self.dead_lettered,
                Disposition::Discard => &mut self.discarded,
                Disposition::Retry => &mut self.retried,
            },
            _ => return,
        };
        *field += count;
    }
}

/// A share queue as its owner has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Which one it is.
    pub name: QueueName,
    /// How it is served.
    pub policy: Policy,
    /// The lease epoch of its last owner.
    pub epoch: u64,
    /// The lease epoch of its last reset; 0 before the first one.
    pub reset_epoch: u64,
    /// Whether a consumer has used it in this reign.
    pub is_used: bool,
    /// Each offset before it is finished (SPSO).
    pub start: u64,
    /// The first offset that was never delivered.
    pub end: u64,
    /// Messages that consumers have.
    pub acquired_count: u64,
    /// Messages that were delivered, and that no consumer has or has finished.
    pub returned_count: u64,
    /// Finished messages behind the start.
    pub finished_count: u64,
    /// When the oldest of the present deliveries began, by the wall clock.
    pub oldest_acquired_at_ms: Option<i64>,
    /// When the oldest message that is not finished was delivered first, by the wall clock.
    pub oldest_delivered_at_ms: Option<i64>,
    /// What was done in this reign.
    pub counts: Counts,
}

/// A message that was delivered, and is not finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeldMessage {
    /// Its offset in the queue.
    pub offset: u64,
    /// The connection of the consumer that has it, 0 at another member; `None` if no consumer has it.
    pub client: Option<u64>,
    /// Its present or last delivery.
    pub delivery: Delivery,
    /// When it was delivered first, by the wall clock.
    pub first_pop_ms: i64,
    /// It can be delivered again from then on, by the clock that is never set; in SHARED mode by the wall clock.
    pub due_ms: i64,
    /// How often it was delivered.
    pub count: u16,
}

/// One message in the hands of a consumer, and the delivery by which the consumer has it.
pub type Hold = (u64, Delivery);

impl Shares {
    /// The share queues of a topic, of a group, or of both, by number: so many at most, and the number of all.
    #[must_use]
    pub fn list(
        &self,
        (topic, group): (Option<&str>, Option<&str>),
        elapsed_ms: i64,
        count_max: usize,
    ) -> (Vec<Held>, usize) {
        let is_meant = |wired: &Wired| {
            topic.is_none_or(|topic| wired.name.topic == topic)
                && group.is_none_or(|group| wired.name.group == group)
        };
        let ids: Vec<_> = self.reign().as_ref().map_or_else(Vec::new, |reign| {
            let meant = reign.lane.iter().filter(|(_, wired)| is_meant(wired));
            meant.map(|(sq_id, _)| sq_id).collect()
        });
        let mut listed = Vec::new();
        for batch in ids[..count_max.min(ids.len())].chunks(BATCH_COUNT) {
            if let Some(reign) = &mut *self.reign() {
                listed.extend(batch.iter().filter_map(|id| reign.held(*id, elapsed_ms)));
            }
        }
        (listed, ids.len())
    }

    /// How many deliveries a share queue had in this reign.
    #[must_use]
    pub fn delivered_count(&self, (topic, queue_id, group): (&str, i32, &str)) -> u64 {
        let reign = self.reign();
        let found = reign.as_ref().and_then(|reign| {
            let sq_id = reign.lane.find(topic, queue_id, group)?;
            reign.counts.get(&sq_id)
        });
        found.map_or(0, |counts| counts.delivered)
    }

    /// The messages of a share queue that were delivered and are not finished, in rising order.
    #[must_use]
    pub fn messages(
        &self,
        (topic, queue_id, group): (&str, i32, &str),
        elapsed_ms: i64,
    ) -> Vec<HeldMessage> {
        let mut reign = self.reign();
        let Some(reign) = &mut *reign else {
            return Vec::new();
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return Vec::new();
        };
        reign.expire(sq_id, elapsed_ms);
        let wired = reign.lane.get(sq_id).into_iter();
        let messages = wired
            .flat_map(|wired| wired.queue.entries())
            .filter_map(|(offset, entry)| held_message(offset, entry));
        if !reign.is_shared(topic) {
            return messages.collect();
        }
        messages
            .map(|message| HeldMessage {
                client: message.client.map(|client| reign.connection_of(client)),
                ..message
            })
            .collect()
    }

    /// Let messages be delivered again of which a consumer has the named deliveries still. Returns how many.
    ///
    /// # Errors
    /// The store refused a record that SHARED mode needs: some of the messages stay with their consumers.
    pub fn release(
        &self,
        store: &Store,
        config: &HotPathConfig,
        (topic, queue_id, group): (&str, i32, &str),
        holds: &[Hold],
        now_ms: i64,
    ) -> Result<u64, AppendError> {
        let mut reign = self.reign();
        let Some(reign) = reign.as_mut().filter(|reign| reign.decides()) else {
            return Ok(0);
        };
        let Some(sq_id) = reign.lane.find(topic, queue_id, group) else {
            return Ok(0);
        };
        let mut count = 0;
        for &(offset, delivery) in holds {
            let queue = reign.lane.get(sq_id).map(|wired| &wired.queue);
            let verdict = queue.map(|queue| queue.judge(offset, Act::Release, delivery));
            if verdict == Some(Verdict::Done) {
                let body = Body::Release {
                    delivery,
                    ranges: Ranges::of(offset..offset + 1),
                    visible_at_ms: 0,
                };
                reign.note_act(store, config, (sq_id, body), now_ms)?;
                count += 1;
            }
        }
        Ok(count)
    }
}

impl Reign {
    /// How many of the messages that a record hands out were delivered before.
    pub(super) fn redelivered_count(&self, record: &Record) -> u64 {
        let Body::Acquire { ranges, .. } = &record.body else {
            return 0;
        };
        self.lane.get(record.sq_id).map_or(0, |wired| {
            let is_again = |offset: &u64| wired.queue.entry(*offset).count() > 0;
            ranges.offsets().filter(is_again).count() as u64
        })
    }

    fn held(&mut self, sq_id: u64, elapsed_ms: i64) -> Option<Held> {
        self.expire(sq_id, elapsed_ms);
        let Wired {
            name,
            policy,
            queue,
        } = self.lane.get(sq_id)?;
        let mut held = Held {
            name: name.clone(),
            policy: *policy,
            epoch: queue.epoch(),
            reset_epoch: queue.reset_epoch(),
            is_used: self.owned.contains(&sq_id) || self.serves(sq_id),
            start: queue.start(),
            end: queue.end(),
            acquired_count: 0,
            returned_count: 0,
            finished_count: 0,
            oldest_acquired_at_ms: None,
            oldest_delivered_at_ms: None,
            counts: self.counts.get(&sq_id).copied().unwrap_or_default(),
        };
        for (offset, entry) in queue.entries() {
            if entry == Entry::Forgotten {
                held.finished_count += 1;
            }
            let Some(message) = held_message(offset, entry) else {
                continue;
            };
            held.oldest_delivered_at_ms =
                earlier(held.oldest_delivered_at_ms, message.first_pop_ms);
            if message.client.is_none() {
                held.returned_count += 1;
                continue;
            }
            held.acquired_count += 1;
            held.oldest_acquired_at_ms =
                earlier(held.oldest_acquired_at_ms, message.delivery.pop_time_ms);
        }
        Some(held)
    }
}

fn earlier(known: Option<i64>, other: i64) -> Option<i64> {
    Some(known.map_or(other, |known| known.min(other)))
}

fn held_message(offset: u64, entry: Entry) -> Option<HeldMessage> {
    match entry {
        Entry::Acquired {
            delivery,
            client,
            deadline_ms,
            count,
            first_pop_ms,
        } => Some(HeldMessage {
            offset,
            client: Some(client),
            delivery,
            first_pop_ms,
            due_ms: deadline_ms,
            count,
        }),
        Entry::Available {
            count,
            last: Some(delivery),
            first_pop_ms,
            visible_at_ms,
        } => Some(HeldMessage {
            offset,
            client: None,
            delivery,
            first_pop_ms,
            due_ms: visible_at_ms,
            count,
        }),
        Entry::Available { .. } | Entry::Forgotten => None,
    }
}
