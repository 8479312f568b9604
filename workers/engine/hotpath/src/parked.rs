//! Pulls that found no message and wait for one (remoting.md 2.3, long polling).
//!
//! A table without clock, sockets and store. A pull that waits stands in three lists: of its queue, of its
//! connection, and of its deadline. A message, the deadline or a release makes it ready; then it stands in
//! the ready list of its connection alone. Connections with ready pulls take turns.
//!
//! A message costs the same for any number of pulls at its queue: it marks the queue, and the turns make
//! the pulls ready, some at a time.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use ahash::AHashMap;
use regent_remoting::{Command, Encoding, Frame, FrameError};

use crate::broker::RETRY_PREFIX;
use crate::leading::Led;
use crate::pop::ANY_QUEUE;
use crate::pull::Granted;

mod list;

use list::{Kind, List, Lists};

/// Most parked pulls of a broker.
pub const PARKED_COUNT_MAX: usize = 100_000;
/// Most parked pulls of a connection. A consumer has one for each of its queues.
pub const PARKED_OF_CONNECTION_MAX: usize = 16_384;
/// Most POPs of a group that wait at one queue, or at any of a topic.
const POPS_OF_GROUP_MAX: usize = 1024;
/// Longest wait of a pull, in milliseconds: a client gives up after it at the latest.
pub const PARKED_MS_MAX: i64 = 30_000;
/// Deadlines in the same slot are one list, so that a deadline costs the same for any number of pulls.
const SLOT_MS: i64 = 100;

/// How many pulls become ready at once.
const READY_AT_ONCE: usize = 512;

/// A pull that waits.
#[derive(Debug)]
pub struct ParkedPull {
    /// Rises from pull to pull.
    pub(crate) number: u64,
    /// The connection that gets the answer.
    pub(crate) connection: u64,
    pub(crate) opaque: i32,
    pub(crate) encoding: Encoding,
    /// The header as received, for a check by the dispatcher.
    pub(crate) header: Box<[u8]>,
    pub(crate) granted: Arc<Granted>,
    pub(crate) queue_id: i32,
    /// In a static topic the logical queue, of which the queue above has the last segment.
    pub(crate) led: Option<Led>,
    pub(crate) offset: u64,
    pub(crate) count_max: usize,
    /// When it is looked at again in any case.
    pub(crate) deadline_ms: i64,
    /// When it is answered in any case.
    pub(crate) ends_ms: i64,
    /// Whether it is a POP, which stands at one queue or at [`ANY_QUEUE`], and no pull.
    pub(crate) is_pop: bool,
    /// Whether the client adds `offsetDelta` to offsets; for others the dispatcher writes them.
    pub(crate) adds_delta: bool,
    /// The wait has ended, so that the answer is given even without messages.
    pub(crate) is_over: bool,
}

impl ParkedPull {
    /// The request, as received.
    ///
    /// # Errors
    /// None, because the header was decoded when the pull came.
    pub fn request(&self) -> Result<Command, FrameError> {
        Command::decode(&Frame {
            encoding: self.encoding,
            header: &self.header,
            body: &[],
        })
    }

    /// The grant by which the pull was parked.
    #[must_use]
    pub fn granted(&self) -> &Arc<Granted> {
        &self.granted
    }

    fn slot(&self) -> i64 {
        self.deadline_ms.div_euclid(SLOT_MS)
    }
}

/// The pulls of one connection.
#[derive(Debug, Default)]
struct OfConnection {
    waiting: List,
    ready: VecDeque<ParkedPull>,
    count: usize,
    /// Whether the connection stands among those that take turns.
    has_turn: bool,
}

/// The pulls at one queue.
#[derive(Debug, Default)]
struct OfQueue {
    waiting: List,
    /// Messages have come that some of the pulls wait for.
    woken: Option<Woken>,
    /// How many POPs of each group wait.
    pop_counts: AHashMap<Arc<str>, usize>,
}

#[derive(Debug, Clone, Copy)]
struct Woken {
    /// Pulls before this offset find messages.
    max_offset: u64,
    /// Later pulls have seen the messages.
    number_max: u64,
}

/// All waiting pulls of a broker.
#[derive(Debug, Default)]
pub(crate) struct ParkedPulls {
    lists: Lists,
    topics: AHashMap<Arc<str>, AHashMap<i32, OfQueue>>,
    /// Queues with a mark, each once. One that lost its pulls meanwhile has no mark any more.
    woken: VecDeque<(Arc<str>, i32)>,
    deadlines: BTreeMap<i64, List>,
    connections: AHashMap<u64, OfConnection>,
    turns: VecDeque<u64>,
    count: usize,
    last_number: u64,
}

impl ParkedPulls {
    /// How many pulls wait or are ready.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// How many POPs of a group wait at a queue, or at any queue of a topic.
    pub(crate) fn pop_count(&self, topic: &str, queue_id: i32, group: &str) -> usize {
        let queue = self
            .topics
            .get(topic)
            .and_then(|queues| queues.get(&queue_id));
        queue
            .and_then(|queue| queue.pop_counts.get(group))
            .copied()
            .unwrap_or(0)
    }

    /// When the next deadline passes.
    pub(crate) fn next_deadline_ms(&self) -> Option<i64> {
        let (slot, _) = self.deadlines.first_key_value()?;
        Some((slot + 1) * SLOT_MS)
    }

    /// Whether one more may wait.
    pub(crate) fn has_room(&self, pull: &ParkedPull) -> bool {
        let of_connection = self.connections.get(&pull.connection);
        let is_room = self.count < PARKED_COUNT_MAX
            && of_connection.is_none_or(|it| it.count < PARKED_OF_CONNECTION_MAX);
        let queues = self.topics.get(&pull.granted.topic);
        let queue = queues.and_then(|queues| queues.get(&pull.queue_id));
        let pops = queue.and_then(|queue| queue.pop_counts.get(&pull.granted.group));
        is_room && (!pull.is_pop || pops.is_none_or(|count| *count < POPS_OF_GROUP_MAX))
    }

    /// Have a pull wait; there must be room.
    pub(crate) fn park(&mut self, mut pull: ParkedPull) {
        debug_assert!(self.has_room(&pull), "the caller looks first");
        self.last_number += 1;
        pull.number = self.last_number;
        let (slot, queue_id, connection) = (pull.slot(), pull.queue_id, pull.connection);
        let topic = Arc::clone(&pull.granted.topic);
        let group = pull.is_pop.then(|| Arc::clone(&pull.granted.group));
        let place = self.lists.add(pull);
        let queue = self
            .topics
            .entry(topic)
            .or_default()
            .entry(queue_id)
            .or_default();
        self.lists.append(Kind::Queue, &mut queue.waiting, place);
        if let Some(group) = group {
            *queue.pop_counts.entry(group).or_default() += 1;
        }
        let deadline = self.deadlines.entry(slot).or_default();
        self.lists.append(Kind::Deadline, deadline, place);
        let of_connection = self.connections.entry(connection).or_default();
        of_connection.count += 1;
        self.lists
            .append(Kind::Connection, &mut of_connection.waiting, place);
        self.count += 1;
    }

    /// Have a pull look for messages at once, in a turn of its connection; there must be room.
    pub(crate) fn look_again(&mut self, mut pull: ParkedPull) {
        self.last_number += 1;
        pull.number = self.last_number;
        self.count += 1;
        let of_connection = self.connections.entry(pull.connection).or_default();
        of_connection.count += 1;
        self.add_ready(pull);
    }

    /// Note that a queue ends at `max_offset` now. Returns whether pulls wait at it.
    pub(crate) fn wake(&mut self, topic: &str, queue_id: i32, max_offset: u64) -> bool {
        let mut is_any = self.wake_at(topic, queue_id, max_offset);
        is_any |= self.wake_at(topic, ANY_QUEUE, max_offset);
        // Consumers of a topic get the messages of its retry topic too.
        if let Some((_, origin)) = topic
            .strip_prefix(RETRY_PREFIX)
            .and_then(|it| it.split_once('+'))
        {
            is_any |= self.wake_pops(origin);
        }
        is_any
    }

    /// Have all consumers look that wait for messages of any queue of a topic.
    pub(crate) fn wake_pops(&mut self, topic: &str) -> bool {
        self.wake_at(topic, ANY_QUEUE, u64::MAX)
    }

    fn wake_at(&mut self, topic: &str, queue_id: i32, max_offset: u64) -> bool {
        let Some((name, queues)) = self.topics.get_key_value(topic) else {
            return false;
        };
        if !queues.contains_key(&queue_id) {
            return false;
        }
        let name = Arc::clone(name);
        self.mark(&name, queue_id, max_offset);
        true
    }

    /// End the wait of pulls whose deadline has passed, of some at a time: until then
    /// [`Self::next_deadline_ms`] stays.
    pub(crate) fn expire(&mut self, now_ms: i64) -> bool {
        let mut left = READY_AT_ONCE;
        while left > 0
            && let Some((&slot, &list)) = self.deadlines.first_key_value()
            && (slot + 1) * SLOT_MS <= now_ms
            && let Some(place) = list.first()
        {
            let is_over = self.lists.pull(place).ends_ms <= now_ms;
            self.make_ready(place, is_over);
            left -= 1;
        }
        left < READY_AT_ONCE
    }

    /// End the wait of the pulls of a topic.
    pub(crate) fn release_topic(&mut self, topic: &str) -> bool {
        self.release(Some(topic), |_| true)
    }

    /// End the wait of the pulls of a consumer group from a topic.
    pub(crate) fn release_group(&mut self, group: &str, topic: &str) -> bool {
        self.release(Some(topic), |pull| &*pull.granted.group == group)
    }

    /// End the wait of every pull.
    pub(crate) fn release_all(&mut self) -> bool {
        self.release(None, |_| true)
    }

    /// Drop the pulls of a connection that is closed.
    pub(crate) fn drop_connection(&mut self, connection: u64) {
        while let Some(of_connection) = self.connections.get(&connection)
            && let Some(place) = of_connection.waiting.first()
        {
            self.take_out(place);
        }
        let dropped = self.connections.remove(&connection);
        self.count -= dropped.map_or(0, |it| it.count);
    }

    /// The next connection with ready pulls.
    pub(crate) fn next_turn(&mut self) -> Option<u64> {
        if self.turns.is_empty() {
            self.make_woken_ready();
        }
        while let Some(connection) = self.turns.pop_front() {
            if let Some(of_connection) = self.connections.get_mut(&connection) {
                of_connection.has_turn = false;
                if !of_connection.ready.is_empty() {
                    return Some(connection);
                }
            }
        }
        None
    }

    /// Give a connection one more turn if it still has ready pulls.
    pub(crate) fn wait_for_turn(&mut self, connection: u64) -> bool {
        let Some(of_connection) = self.connections.get_mut(&connection) else {
            return false;
        };
        let is_ready = !of_connection.ready.is_empty();
        if is_ready && !std::mem::replace(&mut of_connection.has_turn, true) {
            self.turns.push_back(connection);
        }
        is_ready
    }

    /// Take the next ready pull of a connection; it is no longer parked.
    pub(crate) fn take_ready(&mut self, connection: u64) -> Option<ParkedPull> {
        let of_connection = self.connections.get_mut(&connection)?;
        let pull = of_connection.ready.pop_front()?;
        of_connection.count -= 1;
        if of_connection.count == 0 {
            self.connections.remove(&connection);
        }
        self.count -= 1;
        Some(pull)
    }

    /// The queues at which pulls wait, of one topic or of all.
    fn queues(&self, topic: Option<&str>) -> Vec<(Arc<str>, i32)> {
        let of_topic = topic.map(|topic| self.topics.get_key_value(topic));
        let of_all = topic.is_none().then(|| self.topics.iter());
        let topics = of_topic.flatten().into_iter();
        let topics = topics.chain(of_all.into_iter().flatten());
        topics
            .flat_map(|(topic, queues)| queues.keys().map(|&id| (Arc::clone(topic), id)))
            .collect()
    }

    fn of_queue(&mut self, topic: &str, queue_id: i32) -> Option<&mut OfQueue> {
        self.topics.get_mut(topic)?.get_mut(&queue_id)
    }

    fn mark(&mut self, topic: &Arc<str>, queue_id: i32, max_offset: u64) {
        let woken = Woken {
            max_offset,
            number_max: self.last_number,
        };
        let queue = self.of_queue(topic, queue_id);
        if queue.is_some_and(|queue| queue.woken.replace(woken).is_none()) {
            self.woken.push_back((Arc::clone(topic), queue_id));
        }
    }

    /// Make pulls at marked queues ready, queue by queue.
    fn make_woken_ready(&mut self) {
        let mut left = READY_AT_ONCE;
        while left > 0
            && let Some((topic, queue_id)) = self.woken.pop_front()
        {
            let Some(queue) = self.of_queue(&topic, queue_id) else {
                continue;
            };
            let Some(woken) = queue.woken else {
                continue;
            };
            let mut next = queue.waiting.first();
            while left > 0
                && let Some(place) = next
                && self.lists.pull(place).number <= woken.number_max
            {
                next = self.lists.next(Kind::Queue, place);
                if self.lists.pull(place).offset < woken.max_offset {
                    self.make_ready(place, false);
                    left -= 1;
                }
            }
            let is_done = next.is_none_or(|it| self.lists.pull(it).number > woken.number_max);
            if !is_done {
                self.woken.push_front((topic, queue_id));
            } else if let Some(queue) = self.of_queue(&topic, queue_id) {
                queue.woken = None;
            }
        }
    }

    fn release(&mut self, topic: Option<&str>, takes: impl Fn(&ParkedPull) -> bool) -> bool {
        let mut is_any = false;
        for (name, queue_id) in self.queues(topic) {
            let queue = self.of_queue(&name, queue_id);
            let mut next = queue.and_then(|queue| queue.waiting.first());
            while let Some(place) = next {
                next = self.lists.next(Kind::Queue, place);
                if takes(self.lists.pull(place)) {
                    self.make_ready(place, true);
                    is_any = true;
                }
            }
        }
        is_any
    }

    /// Move a pull from the lists in which it waits to those that are ready.
    fn make_ready(&mut self, place: u32, is_over: bool) {
        let mut pull = self.take_out(place);
        pull.is_over |= is_over;
        self.add_ready(pull);
    }

    fn add_ready(&mut self, pull: ParkedPull) {
        let connection = pull.connection;
        let of_connection = self.connections.entry(connection).or_default();
        of_connection.ready.push_back(pull);
        if !std::mem::replace(&mut of_connection.has_turn, true) {
            self.turns.push_back(connection);
        }
    }

    /// Take a pull out of all lists.
    fn take_out(&mut self, place: u32) -> ParkedPull {
        let pull = self.lists.pull(place);
        let (slot, queue_id, connection) = (pull.slot(), pull.queue_id, pull.connection);
        let topic = Arc::clone(&pull.granted.topic);
        let group = pull.is_pop.then(|| Arc::clone(&pull.granted.group));
        if let Some(queues) = self.topics.get_mut(&topic)
            && let Some(queue) = queues.get_mut(&queue_id)
        {
            self.lists.remove(Kind::Queue, &mut queue.waiting, place);
            if let Some(group) = group
                && let Some(count) = queue.pop_counts.get_mut(&group)
            {
                *count -= 1;
                if *count == 0 {
                    queue.pop_counts.remove(&group);
                }
            }
            if queue.waiting.first().is_none() {
                queues.remove(&queue_id);
            }
            if queues.is_empty() {
                self.topics.remove(&topic);
            }
        }
        if let Some(deadline) = self.deadlines.get_mut(&slot) {
            self.lists.remove(Kind::Deadline, deadline, place);
            if deadline.first().is_none() {
                self.deadlines.remove(&slot);
            }
        }
        if let Some(of_connection) = self.connections.get_mut(&connection) {
            let waiting = &mut of_connection.waiting;
            self.lists.remove(Kind::Connection, waiting, place);
        }
        self.lists.take(place)
    }
}

#[cfg(test)]
mod tests;
