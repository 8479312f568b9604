//! What the connections of one broker share.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use ahash::{AHashMap, AHashSet};
use parking_lot::{Mutex, MutexGuard, RwLock, RwLockReadGuard};
use regent_commitlog::{QueueRange, Store};
use regent_remoting::properties::append_property;

use crate::leading::{LeadingQueues, Led};
use crate::parked::{ParkedPull, ParkedPulls};
use crate::pending::PendingTransactions;
use crate::pull::{Granted, GrantedFilter};
use crate::received::Received;
use crate::reply::{StoredAnswer, trace_text};
use crate::share::Shares;
use crate::transactions::{HALF_TOPIC, OPERATION_TOPIC, Transactions};
use crate::turn_times::TurnTimes;
use crate::unique_key::UniqueKeys;

const PERM_WRITE: u32 = 2;
pub(crate) const RETRY_PREFIX: &str = "%RETRY%";

/// Kinds of pulls known at once: consumers choose them, and must not fill the memory.
const GRANT_COUNT_MAX: usize = 4096;
/// What names a kind of pulls that is known: with a filter that is longer it could be a megabyte.
const GRANT_KEY_SIZE_MAX: usize = 4 << 10;
/// The tags that such a kind asks for.
const GRANT_TAG_COUNT_MAX: usize = 256;

/// Topics that clients must not send to (remoting.md 2.2).
const FORBIDDEN_TOPICS: [&str; 6] = [
    "SCHEDULE_TOPIC_XXXX",
    HALF_TOPIC,
    OPERATION_TOPIC,
    "TRANS_CHECK_MAX_TIME_TOPIC",
    "SELF_TEST_TOPIC",
    "OFFSET_MOVED_EVENT",
];

/// Names and addresses that go into messages and answers.
#[derive(Debug, Clone)]
pub struct HotPathConfig {
    /// `brokerName`.
    pub broker_name: String,
    /// `brokerClusterName`, stored as property `CLUSTER`.
    pub cluster_name: String,
    /// `regionId`, stored as property `MSG_REGION`.
    pub region: String,
    /// `traceOn`: whether clients shall trace, stored as property `TRACE_ON`.
    pub trace_on: bool,
    /// The broker's advertised address.
    pub store_host: SocketAddr,
    /// The largest frame a connection takes.
    pub frame_size_max: usize,
    /// Distinguishes the unique keys of this process from those of other processes.
    pub seed: u64,
}

/// What the hot path knows of a topic.
#[derive(Debug, Clone)]
pub struct Topic {
    /// Permission bits: 4 read, 2 write, 1 inherit.
    pub perm: u32,
    /// Queues that consumers see.
    pub read_queue_count: u32,
    /// Queues that producers see.
    pub write_queue_count: u32,
    /// Of a static topic: its ids are those of logical queues.
    pub leading: Option<Arc<LeadingQueues>>,
}

/// A topic that takes hot sends.
#[derive(Debug)]
pub(crate) struct HotTopic {
    pub(crate) name: Arc<str>,
    queue_count: u32,
    write_queue_count: u32,
    leading: Option<Arc<LeadingQueues>>,
    /// Half messages before this queue offset may be of a topic of the same name that was deleted.
    halves_from: u64,
}

/// The queue of a message.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendQueue {
    /// The physical queue.
    pub(crate) queue_id: i32,
    /// The logical one, in a static topic.
    pub(crate) led: Option<Led>,
}

impl HotTopic {
    /// Whether the commit of a half message may go to a queue without a further check.
    pub(crate) fn takes_commit(&self, queue_id: i32, half_offset: u64) -> bool {
        let has_queue = u32::try_from(queue_id).is_ok_and(|id| id < self.queue_count);
        self.leading.is_none() && has_queue && half_offset >= self.halves_from
    }

    /// Whether the ids of its queues are those of logical queues.
    pub(crate) fn is_static(&self) -> bool {
        self.leading.is_some()
    }

    /// Choose the queue of a message: the one asked for when it exists, or any for a negative
    /// one. `None` is for the dispatcher to refuse.
    pub(crate) fn queue(&self, asked: i32, next: &AtomicU32) -> Option<SendQueue> {
        if let Some(leading) = &self.leading {
            let led = leading.taker(asked, next)?;
            return Some(SendQueue {
                queue_id: led.segment.queue_id,
                led: Some(led),
            });
        }
        let queue_id = match u32::try_from(asked) {
            Ok(queue_id) => (queue_id < self.queue_count).then_some(asked)?,
            Err(_) => {
                let count = usize::try_from(self.write_queue_count).ok()?;
                i32::try_from(any_of(count, next)?).ok()?
            }
        };
        Some(SendQueue {
            queue_id,
            led: None,
        })
    }
}

/// Choose any of so many; `None` of none.
///
/// Choices are even, also those of one producer whose messages alternate with those of others: turns are
/// multiplied by the golden ratio, of which each multiple spreads evenly (Weyl).
pub(crate) fn any_of(count: usize, next: &AtomicU32) -> Option<usize> {
    const GOLDEN_RATIO: u32 = 0x9E37_79B9;
    let place = next
        .fetch_add(1, Ordering::Relaxed)
        .wrapping_mul(GOLDEN_RATIO);
    let chosen = (u64::from(place) * u64::try_from(count).ok()?) >> u32::BITS;
    usize::try_from(chosen).ok().filter(|_| count > 0)
}

pub(crate) type HotTopics = AHashMap<Arc<str>, HotTopic>;

/// The state that one broker's connections share.
#[derive(Debug)]
pub struct HotPath {
    pub(crate) config: HotPathConfig,
    pub(crate) unique_keys: UniqueKeys,
    pub(crate) next_queue: AtomicU32,
    /// What every single message is stored with besides its own properties.
    pub(crate) broker_properties: Vec<u8>,
    /// Answers to stored sends, made ahead.
    pub(crate) stored_answer: Option<StoredAnswer>,
    pub(crate) transactions: Transactions,
    topics: RwLock<HotTopics>,
    writable: AtomicBool,
    /// The reason in the answers to sends while `writable` is false.
    refusal: RwLock<String>,
    handing_up: AtomicBool,
    deferring: AtomicBool,
    setting_aside: AtomicBool,
    /// Of everything that checks of pulls look at; it rises with each change.
    facts_version: AtomicU64,
    /// Kinds of pulls that passed every check, by their keys.
    grants: RwLock<AHashMap<Box<[u8]>, Arc<Granted>>>,
    parked: Mutex<ParkedPulls>,
    /// How often readers were to look for messages.
    wakes: AtomicU64,
    /// What POP consumers are served from while this broker leads.
    pub shares: Shares,
    /// The id of the next connection; none has 0.
    next_connection: AtomicU64,
    /// The members of the group to which requests can be forwarded.
    links: RwLock<AHashSet<u64>>,
    next_forward: AtomicI32,
    /// Turns in which messages were stored.
    pub put_times: TurnTimes,
    /// Turns in which pulls were answered.
    pub pull_times: TurnTimes,
}

impl HotPath {
    /// A hot path without topics, writable.
    #[must_use]
    pub fn new(config: HotPathConfig) -> Self {
        Self {
            unique_keys: UniqueKeys::new(config.store_host.ip(), config.seed),
            next_queue: AtomicU32::new(0),
            broker_properties: broker_properties(&config),
            stored_answer: StoredAnswer::new(&config.region, config.trace_on, config.store_host),
            config,
            transactions: Transactions::default(),
            topics: RwLock::default(),
            writable: AtomicBool::new(true),
            refusal: RwLock::default(),
            handing_up: AtomicBool::new(false),
            deferring: AtomicBool::new(false),
            setting_aside: AtomicBool::new(false),
            facts_version: AtomicU64::new(0),
            grants: RwLock::default(),
            parked: Mutex::default(),
            wakes: AtomicU64::new(0),
            shares: Shares::default(),
            next_connection: AtomicU64::new(1),
            links: RwLock::default(),
            next_forward: AtomicI32::new(0),
            put_times: TurnTimes::default(),
            pull_times: TurnTimes::default(),
        }
    }

    /// Add or change a topic. One that clients can't simply send to stays unknown here, so that
    /// its sends go up cold.
    pub fn set_topic(&self, name: &str, topic: Topic) {
        let takes_sends = topic.perm & PERM_WRITE != 0
            && !name.starts_with(RETRY_PREFIX)
            && !FORBIDDEN_TOPICS.contains(&name);
        if !takes_sends {
            self.remove_topic(name);
            return self.transactions.note_topic(name, true);
        }
        let mut topics = self.topics.write();
        let known = topics.get(name);
        let halves_from =
            known.map_or_else(|| self.transactions.pending.end(), |it| it.halves_from);
        let name: Arc<str> = Arc::from(name);
        let hot = HotTopic {
            name: Arc::clone(&name),
            queue_count: topic.read_queue_count.max(topic.write_queue_count),
            write_queue_count: topic.write_queue_count,
            leading: topic.leading,
            halves_from,
        };
        topics.insert(name, hot);
    }

    /// Forget a topic.
    pub fn remove_topic(&self, name: &str) {
        self.transactions.note_topic(name, false);
        self.topics.write().remove(name);
    }

    /// Take half messages and ends of transactions, of which producers are asked that name no other age
    /// from this one on; or leave all of them to the dispatcher.
    pub fn take_transactions(&self, timeout_ms: Option<i64>) {
        self.transactions.take(timeout_ms);
        self.end_turn();
    }

    /// Wait for the turn of a connection that another thread serves now: it may have looked at facts before
    /// they changed. The next turn sees the change.
    pub fn end_turn(&self) {
        drop(self.topics.write());
    }

    /// The table of the pending transactions.
    #[must_use]
    pub fn pending_transactions(&self) -> &Arc<PendingTransactions> {
        &self.transactions.pending
    }

    /// Say whether hot sends are taken, or answered with code 14 and the reason.
    pub fn set_writable(&self, writable: bool, reason: &str) {
        reason.clone_into(&mut self.refusal.write());
        self.writable.store(writable, Ordering::Release);
        self.end_turn();
    }

    /// Say whether sends are left to the dispatcher, all of them, because another broker takes them.
    pub fn set_handing_up(&self, handing_up: bool) {
        self.handing_up.store(handing_up, Ordering::Release);
        self.end_turn();
    }

    /// Say whether answers to stored sends are deferred although the store flushes by itself,
    /// because replicas must hold the messages first (D7).
    pub fn set_deferring(&self, deferring: bool) {
        self.deferring.store(deferring, Ordering::Release);
        self.end_turn();
    }

    /// Say whether connections set aside a send that would wait for a file of a queue to be made.
    pub fn set_setting_aside(&self, setting_aside: bool) {
        self.setting_aside.store(setting_aside, Ordering::Release);
    }

    /// Say that pulls of one kind pass every check, as long as the facts have the version of the grant.
    /// Those with long filters are checked each time all the same.
    pub fn grant_pulls(&self, granted: &Arc<Granted>) {
        let tag_count = match &granted.grant.filter {
            Some(GrantedFilter::Tags(hashes)) => hashes.len(),
            _ => 0,
        };
        if granted.key.len() > GRANT_KEY_SIZE_MAX || tag_count > GRANT_TAG_COUNT_MAX {
            return;
        }
        let mut grants = self.grants.write();
        if grants.len() >= GRANT_COUNT_MAX {
            let version = self.facts_version();
            grants.retain(|_, granted| granted.grant.facts_version == version);
        }
        if grants.len() >= GRANT_COUNT_MAX {
            grants.clear();
        }
        grants.insert(granted.key.clone(), Arc::clone(granted));
    }

    /// The version of everything that checks of pulls look at: a grant carries that of its checks.
    #[must_use]
    pub fn facts_version(&self) -> u64 {
        self.facts_version.load(Ordering::Acquire)
    }

    /// Hear that something changes that checks of pulls look at, so that no earlier grant holds.
    pub fn facts_changed(&self) {
        self.facts_version.fetch_add(1, Ordering::AcqRel);
        self.end_turn();
    }

    /// Note how long a turn took that came to something.
    pub fn note_turn(&self, received: &Received, took: Duration) {
        if !received.arrivals.is_empty() {
            self.put_times.note(took);
        }
        if !received.pulled.is_empty() {
            self.pull_times.note(took);
        }
    }

    pub(crate) fn granted(&self, key: &[u8]) -> Option<Arc<Granted>> {
        let grants = self.grants.read();
        let granted = grants.get(key)?;
        self.holds(granted).then(|| Arc::clone(granted))
    }

    pub(crate) fn holds(&self, granted: &Granted) -> bool {
        granted.grant.facts_version == self.facts_version()
    }

    /// Names and addresses that go into messages and answers.
    #[must_use]
    pub fn config(&self) -> &HotPathConfig {
        &self.config
    }

    /// How many pulls are parked.
    #[must_use]
    pub fn parked_count(&self) -> usize {
        self.parked().count()
    }

    /// How many POPs of a group wait at a queue, or with -1 at any queue of a topic.
    #[must_use]
    pub fn pop_count(&self, topic: &str, queue_id: i32, group: &str) -> usize {
        self.parked().pop_count(topic, queue_id, group)
    }

    /// When the next deadline of a parked pull passes.
    #[must_use]
    pub fn next_deadline_ms(&self) -> Option<i64> {
        self.parked().next_deadline_ms()
    }

    /// Wake the pulls at a queue that ends at `max_offset` for readers now. Returns whether there are any.
    pub fn wake(&self, topic: &str, queue_id: i32, max_offset: u64) -> bool {
        self.note_wake();
        self.parked().wake(topic, queue_id, max_offset)
    }

    /// Have the POP consumers of a topic look for messages: one was given back. Returns whether any wait.
    pub fn wake_pops(&self, topic: &str, queue_id: i32) -> bool {
        self.note_wake();
        self.parked().wake(topic, queue_id, u64::MAX)
    }

    /// Show readers the log up to a position, as [`Store::set_confirmed_position`], and wake the pulls at
    /// the queues that became longer. Returns those, and whether pulls wait at any of them.
    pub fn confirm(&self, store: &Store, position: Option<u64>) -> (Vec<QueueRange>, bool) {
        let grown = store.set_confirmed_position(position);
        self.note_wake();
        let mut parked = self.parked();
        let mut is_any = false;
        for queue in &grown {
            is_any |= parked.wake(&queue.topic, queue.queue_id, queue.max_offset);
        }
        drop(parked);
        (grown, is_any)
    }

    /// End the wait of pulls whose deadline has passed, of some at a time. Returns whether there were any.
    pub fn expire_pulls(&self, elapsed_ms: i64) -> bool {
        self.parked().expire(elapsed_ms)
    }

    /// End the wait of all pulls of a topic, or of those of one group. Returns whether there were any.
    pub fn release_pulls(&self, topic: &str, group: Option<&str>) -> bool {
        match group {
            Some(group) => self.parked().release_group(group, topic),
            None => self.parked().release_topic(topic),
        }
    }

    /// End the wait of every pull. Returns whether there were any.
    pub fn release_all_pulls(&self) -> bool {
        self.parked().release_all()
    }

    /// The next connection with parked pulls that are ready.
    #[must_use]
    pub fn next_turn(&self) -> Option<u64> {
        self.parked().next_turn()
    }

    /// Let a connection take a turn again if parked pulls of it are ready. Returns whether they are.
    pub fn wait_for_turn(&self, connection_id: u64) -> bool {
        self.parked().wait_for_turn(connection_id)
    }

    /// Forget the parked pulls of a connection, because its client has gone.
    pub fn drop_parked(&self, connection_id: u64) {
        self.parked().drop_connection(connection_id);
    }

    /// Have a pull wait that found nothing after so many wakes. `false` if there is no room.
    ///
    /// If another thread has appended a message since then, this pull was not woken: it looks
    /// again.
    pub(crate) fn park(&self, pull: ParkedPull, wake_count: u64) -> bool {
        let mut parked = self.parked();
        if !parked.has_room(&pull) {
            return false;
        }
        if self.wake_count() == wake_count {
            parked.park(pull);
        } else {
            parked.look_again(pull);
        }
        true
    }

    /// How often readers were to look for messages, which is after each append.
    #[must_use]
    pub fn wake_count(&self) -> u64 {
        self.wakes.load(Ordering::SeqCst)
    }

    fn note_wake(&self) {
        self.wakes.fetch_add(1, Ordering::SeqCst);
    }

    /// Say whether requests can be forwarded to a member, by its broker id or as
    /// [`SEQUENCER`](crate::SEQUENCER): who says so sends them and takes the answers.
    pub fn set_link(&self, member: u64, is_there: bool) {
        let mut links = self.links.write();
        if is_there {
            links.insert(member);
        } else {
            links.remove(&member);
        }
    }

    /// Whether requests are forwarded to a member.
    #[must_use]
    pub fn has_link(&self, member: u64) -> bool {
        self.links.read().contains(&member)
    }

    /// The number of the next request that is forwarded; those under way have different ones.
    pub(crate) fn next_forward(&self) -> i32 {
        self.next_forward.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn next_connection(&self) -> u64 {
        self.next_connection.fetch_add(1, Ordering::Relaxed)
    }

    pub(crate) fn parked(&self) -> MutexGuard<'_, ParkedPulls> {
        self.parked.lock()
    }

    pub(crate) fn is_handing_up(&self) -> bool {
        self.handing_up.load(Ordering::Acquire)
    }

    pub(crate) fn is_deferring(&self) -> bool {
        self.deferring.load(Ordering::Acquire)
    }

    pub(crate) fn is_setting_aside(&self) -> bool {
        self.setting_aside.load(Ordering::Acquire)
    }

    pub(crate) fn refusal(&self) -> RwLockReadGuard<'_, String> {
        self.refusal.read()
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable.load(Ordering::Acquire)
    }

    pub(crate) fn topics(&self) -> RwLockReadGuard<'_, HotTopics> {
        self.topics.read()
    }
}

fn broker_properties(config: &HotPathConfig) -> Vec<u8> {
    let mut encoded = Vec::new();
    for (name, value) in [
        ("CLUSTER", config.cluster_name.as_str()),
        ("MSG_REGION", &config.region),
        ("TRACE_ON", trace_text(config.trace_on)),
    ] {
        if !value.is_empty() {
            append_property(&mut encoded, name.as_bytes(), value.as_bytes());
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pull::{Grant, PullFilter, PullKind};

    fn hot_path() -> HotPath {
        HotPath::new(HotPathConfig {
            broker_name: "broker-a".to_owned(),
            cluster_name: "cluster-1".to_owned(),
            region: "DefaultRegion".to_owned(),
            trace_on: true,
            store_host: SocketAddr::from(([10, 0, 0, 1], 10_911)),
            frame_size_max: 1 << 24,
            seed: 1,
        })
    }

    fn grant(tag_count: i32) -> Grant {
        Grant {
            read_queue_count: 4,
            filter: Some(GrantedFilter::Tags((0..tag_count).collect())),
            count_max: 32,
            bytes_max: 1 << 18,
            suggested_broker_id: 0,
            parked_ms: None,
            moves_consumers: true,
            facts_version: 0,
            leading: None,
            pop: None,
        }
    }

    fn kind_of(expression: &str) -> PullKind<'_> {
        PullKind {
            code: 11,
            group: "g",
            topic: "T",
            filter: PullFilter::Carried {
                expression,
                expression_type: "TAG",
            },
        }
    }

    fn grant_pulls(hot: &HotPath, kind: &PullKind<'_>, grant: Grant) {
        hot.grant_pulls(&Arc::new(Granted::new(kind, grant)));
    }

    fn key_of(kind: &PullKind<'_>) -> Vec<u8> {
        let mut key = Vec::new();
        kind.write_key(&mut key);
        key
    }

    #[test]
    fn a_grant_ends_with_the_facts_that_were_checked() {
        let hot = hot_path();
        let kind = kind_of("A");
        grant_pulls(&hot, &kind, grant(1));
        assert!(hot.granted(&key_of(&kind)).is_some());

        hot.facts_changed();
        assert!(hot.granted(&key_of(&kind)).is_none());

        // Checks that began before the change grant nothing.
        grant_pulls(&hot, &kind, grant(1));
        assert!(hot.granted(&key_of(&kind)).is_none());

        let facts_version = hot.facts_version();
        grant_pulls(
            &hot,
            &kind,
            Grant {
                facts_version,
                ..grant(1)
            },
        );
        assert!(hot.granted(&key_of(&kind)).is_some());
    }

    #[test]
    fn grants_that_hold_are_kept_when_there_are_too_many() {
        let hot = hot_path();
        for number in 0..GRANT_COUNT_MAX - 1 {
            grant_pulls(&hot, &kind_of(&number.to_string()), grant(1));
        }
        hot.facts_changed();
        let fresh = Grant {
            facts_version: hot.facts_version(),
            ..grant(1)
        };
        grant_pulls(&hot, &kind_of("A"), fresh.clone());
        grant_pulls(&hot, &kind_of("B"), fresh);

        assert!(hot.granted(&key_of(&kind_of("A"))).is_some());
        assert!(hot.granted(&key_of(&kind_of("B"))).is_some());
    }

    #[test]
    fn kinds_of_pulls_with_long_filters_are_not_kept() {
        let hot = hot_path();
        let long = "A||".repeat(GRANT_KEY_SIZE_MAX / 3);
        for (expression, tag_count, is_kept) in [
            ("A||B", 2, true),
            (
                "A||B",
                2 * i32::try_from(GRANT_TAG_COUNT_MAX).expect("few"),
                false,
            ),
            (&long, 1, false),
        ] {
            hot.facts_changed();
            let kind = kind_of(expression);
            let granted = Grant {
                facts_version: hot.facts_version(),
                ..grant(tag_count)
            };

            grant_pulls(&hot, &kind, granted);

            assert_eq!(hot.granted(&key_of(&kind)).is_some(), is_kept);
        }
    }
}
