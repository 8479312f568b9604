//! Messages that were due, and that their queues did not take: others pass them, but none of the same queue.
//!
//! Queues are tried in rounds, one after the other.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

use super::Waiting;

/// Topic and id of the queue that a message was sent to.
pub type RealQueue = (String, i32);

#[derive(Debug, Default)]
pub(crate) struct Held {
    /// No list is empty.
    queues: BTreeMap<RealQueue, VecDeque<Waiting>>,
    count: usize,
    /// The last queue of this round that took nothing.
    tried: Option<RealQueue>,
}

impl Held {
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    pub(crate) fn holds(&self, queue: &RealQueue) -> bool {
        self.queues.contains_key(queue)
    }

    pub(crate) fn messages(&self) -> impl Iterator<Item = &Waiting> {
        self.queues.values().flatten()
    }

    pub(crate) fn add(&mut self, queue: RealQueue, waiting: Waiting) {
        self.queues.entry(queue).or_default().push_back(waiting);
        self.count += 1;
    }

    /// Tries each queue again.
    pub(crate) fn begin_round(&mut self) {
        self.tried = None;
    }

    /// Whether a queue is left to try in this round.
    pub(crate) fn has_next(&self) -> bool {
        self.next_queue().is_some()
    }

    /// Messages of the queue that is tried next, at most `count_max`.
    pub(crate) fn next(&self, count_max: usize) -> Vec<Waiting> {
        let next = self.next_queue().map(|(_, messages)| messages);
        let messages = next.into_iter().flatten();
        messages.take(count_max).copied().collect()
    }

    /// Notes that the queue that was tried took `count` messages, and whether it takes more.
    pub(crate) fn delivered(&mut self, count: usize, takes_more: bool) {
        let Some(queue) = self.next_queue().map(|(queue, _)| queue.clone()) else {
            return;
        };
        if let Some(messages) = self.queues.get_mut(&queue) {
            let count = count.min(messages.len());
            messages.drain(..count);
            self.count -= count;
            if messages.is_empty() {
                self.queues.remove(&queue);
            }
        }
        if !takes_more {
            self.tried = Some(queue);
        }
    }

    fn next_queue(&self) -> Option<(&RealQueue, &VecDeque<Waiting>)> {
        let from = self
            .tried
            .as_ref()
            .map_or(Bound::Unbounded, Bound::Excluded);
        self.queues.range((from, Bound::Unbounded)).next()
    }
}
