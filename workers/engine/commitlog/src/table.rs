//! Every queue by topic and id: the writers' side under the append lock, the readers' side shared.

mod aligned;
mod lacking;
mod open;
mod removal;
mod traffic;

use std::sync::Arc;

use ahash::{AHashMap, RandomState};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use regent_sync::RwLock;

use crate::cursor::are_few_equal;
use crate::error::AppendError;
use crate::message::{QUEUE_ID_MAX, QueueRange};
use crate::queue::ahead::QueuesAhead;
use crate::queue::{QueueWriter, SharedQueue};
use crate::queue_home::QueueHome;
use crate::record::{TOPIC_SIZE_MAX_V1, Version};
use crate::unserved::LIGHT_PREFIX;
use crate::unshown::Unshown;

use open::Touched;
pub(crate) use open::{OpenQueue, OpenTopic};
use removal::RemovedQueues;
pub(crate) use traffic::TopicTraffic;

/// Its entries hold delivery times instead of tag hashes (storage-and-ha.md 3.2).
pub(crate) const SCHEDULE_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";
pub(crate) const RETRY_PREFIX: &str = "%RETRY%";
/// Of retry topics.
const LONG_TOPIC_SIZE_MAX: usize = 255;

/// Queues of one topic, indexed by queue id.
type Slots<Q> = Vec<Option<Q>>;

/// What readers see of all queues.
#[derive(Debug, Default)]
pub(crate) struct SharedQueues {
    topics: RwLock<AHashMap<Arc<str>, Slots<Arc<SharedQueue>>>>,
    /// Of every topic that is known, whether or not it has a queue.
    traffic: RwLock<Vec<Arc<TopicTraffic>>>,
}

impl SharedQueues {
    pub(crate) fn find(&self, topic: &str, queue_id: i32) -> Option<Arc<SharedQueue>> {
        let topics = self.topics.read();
        topics
            .get(topic)?
            .get(usize::try_from(queue_id).ok()?)?
            .clone()
    }
    /// Every queue with its readable range, by topic and id.
    pub(crate) fn ranges(&self) -> Vec<QueueRange> {
        let range = |(topic, queue_id, queue): (Arc<str>, i32, Arc<SharedQueue>)| QueueRange {
            topic: topic.to_string(),
            queue_id,
            min_offset: queue.min_offset(),
            max_offset: queue.max_offset(),
        };
        self.list().into_iter().map(range).collect()
    }

    /// Every queue, ordered by topic and id.
    pub(crate) fn list(&self) -> Vec<(Arc<str>, i32, Arc<SharedQueue>)> {
        let mut queues = Vec::new();
        for (topic, slots) in self.topics.read().iter() {
            for (queue_id, queue) in (0..).zip(slots) {
                if let Some(queue) = queue {
                    queues.push((Arc::clone(topic), queue_id, Arc::clone(queue)));
                }
            }
        }
        queues.sort_unstable_by(|left, right| (&left.0, left.1).cmp(&(&right.0, right.1)));
        queues
    }
}

/// A topic as the writer sees it: its name was checked when the value was made.
#[derive(Debug)]
pub(crate) struct TopicWriter {
    name: Arc<str>,
    queues: Slots<QueueWriter>,
    pub(crate) traits: TopicTraits,
    pub(crate) traffic: Arc<TopicTraffic>,
}

/// What the messages of a topic have in common.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TopicTraits {
    pub(crate) version: Version,
    pub(crate) is_schedule: bool,
}

impl TopicTraits {
    /// Whether messages have records of the first version, and entries with a hash of tags.
    #[inline]
    pub(crate) fn are_ordinary(self) -> bool {
        self.version == Version::V1 && !self.is_schedule
    }
}

/// All queues under the append lock.
#[derive(Debug)]
pub(crate) struct QueueTable {
    home: QueueHome,
    version_by_length: bool,
    topics: HashTable<TopicWriter>,
    hasher: RandomState,
    /// Bucket of the topic opened last: the next message is often of the same topic.
    last: usize,
    shared: Arc<SharedQueues>,
    touched: Touched,
    ahead: QueuesAhead,
    removed: RemovedQueues,
}

impl QueueTable {
    pub(crate) fn new(home: QueueHome, version_by_length: bool) -> Self {
        Self {
            removed: RemovedQueues::new(home.removed()),
            home,
            version_by_length,
            topics: HashTable::new(),
            hasher: RandomState::default(),
            last: 0,
            shared: Arc::default(),
            touched: Touched::default(),
            ahead: QueuesAhead::default(),
        }
    }

    /// What appends note of entries that readers do not see yet.
    pub(crate) fn unshown(&self) -> &Arc<Unshown> {
        &self.touched.unshown
    }

    pub(crate) fn shared(&self) -> &Arc<SharedQueues> {
        &self.shared
    }

    /// The topic of a message, made on its first use.
    #[inline(always)]
    pub(crate) fn open_topic(&mut self, name: &str) -> Result<OpenTopic<'_>, AppendError> {
        let last = self.topics.get_bucket(self.last);
        if !last.is_some_and(|last| are_few_equal(last.name.as_bytes(), name.as_bytes())) {
            self.last = self.bucket(name)?;
        }
        let Some(topic) = self.topics.get_bucket_mut(self.last) else {
            return Err(AppendError::IllegalTopic);
        };
        Ok(OpenTopic {
            topic,
            home: &self.home,
            shared: &self.shared,
            touched: &mut self.touched,
            ahead: &mut self.ahead,
            removed: &mut self.removed,
        })
    }

    /// The queue of a message if its topic is known and has nothing special, and if there is room for
    /// one entry; with it, what was counted of the topic.
    #[inline(always)]
    pub(crate) fn ordinary_queue(
        &mut self,
        name: &str,
        queue_id: i32,
    ) -> Option<(OpenQueue<'_>, &TopicTraffic)> {
        let last = self.topics.get_bucket(self.last);
        if last.is_some_and(|last| are_few_equal(last.name.as_bytes(), name.as_bytes())) {
            self.last_topics_queue(queue_id)
        } else {
            self.other_topics_queue(name, queue_id)
        }
    }

    /// Apart, so that what was looked at in the last topic need not be looked at again.
    #[inline(never)]
    fn other_topics_queue(
        &mut self,
        name: &str,
        queue_id: i32,
    ) -> Option<(OpenQueue<'_>, &TopicTraffic)> {
        self.last = self.known_bucket(name)?;
        self.last_topics_queue(queue_id)
    }

    #[inline(always)]
    fn last_topics_queue(&mut self, queue_id: i32) -> Option<(OpenQueue<'_>, &TopicTraffic)> {
        let topic = self.topics.get_bucket_mut(self.last)?;
        if !topic.traits.are_ordinary() {
            return None;
        }
        // What is negative is beyond every queue.
        #[allow(clippy::cast_sign_loss)]
        let writer = topic.queues.get_mut(queue_id as usize)?.as_mut()?;
        let touched = &mut self.touched;
        writer
            .has_room(1)
            .then_some((OpenQueue { writer, touched }, &topic.traffic))
    }

    fn known_bucket(&self, name: &str) -> Option<usize> {
        let hash = self.hasher.hash_one(name);
        self.topics
            .find_bucket_index(hash, |topic| *topic.name == *name)
    }

    /// Where the topic is in the table, made on its first use.
    #[inline(never)]
    fn bucket(&mut self, name: &str) -> Result<usize, AppendError> {
        let hash = |topic: &TopicWriter| self.hasher.hash_one(&*topic.name);
        let is_named = |topic: &TopicWriter| *topic.name == *name;
        match self
            .topics
            .entry(self.hasher.hash_one(name), is_named, hash)
        {
            Entry::Occupied(known) => Ok(known.bucket_index()),
            Entry::Vacant(place) => {
                let topic = TopicWriter::new(name, self.version_by_length)?;
                self.shared.traffic.write().push(Arc::clone(&topic.traffic));
                Ok(place.insert(topic).bucket_index())
            }
        }
    }

    /// Adds a queue that was read from disk; one with an impossible name is left alone.
    pub(crate) fn insert(
        &mut self,
        topic: &str,
        queue_id: i32,
        queue: QueueWriter,
        is_dirty: bool,
    ) {
        let (Ok(index), Ok(mut open)) = (queue_index(queue_id), self.open_topic(topic)) else {
            return;
        };
        if is_dirty && queue.mark_dirty() {
            open.touched.dirty.push(Arc::clone(queue.shared()));
        }
        open.insert(index, queue);
    }

    /// Takes over what the table of the same store before a truncation had in memory only: counts
    /// and sealed queues.
    pub(crate) fn adopt(&mut self, before: &Self) -> Result<(), AppendError> {
        for former in &before.topics {
            let mut open = self.open_topic(&former.name)?;
            open.topic.traffic.adopt(&former.traffic);
            for (queue_id, queue) in (0..).zip(&former.queues) {
                if queue.as_ref().is_some_and(QueueWriter::is_sealed) {
                    open.writer(queue_id)?.set_sealed(true);
                }
            }
        }
        Ok(())
    }

    pub(crate) fn home(&self) -> &QueueHome {
        &self.home
    }

    /// Ends the helper that prepares slices: the files are the caller's now.
    pub(crate) fn stop(&mut self) {
        self.ahead.stop();
    }

    /// Queues touched since the last call.
    pub(crate) fn take_dirty(&mut self) -> Vec<Arc<SharedQueue>> {
        for queue in &self.touched.dirty {
            queue.clear_dirty();
        }
        std::mem::take(&mut self.touched.dirty)
    }
}

impl TopicWriter {
    fn new(name: &str, version_by_length: bool) -> Result<Self, AppendError> {
        let name: Arc<str> = Arc::from(name);
        Ok(Self {
            traffic: Arc::new(TopicTraffic::new(Arc::clone(&name))),
            queues: Vec::new(),
            traits: TopicTraits {
                version: version_for(&name, version_by_length)?,
                is_schedule: &*name == SCHEDULE_TOPIC,
            },
            name,
        })
    }
}

/// Whether a queue directory can have this name.
pub(crate) fn is_legal_topic(name: &str) -> bool {
    version_for(name, true).is_ok()
}

/// Refuses names that are too long for a record or that would leave the store's directory.
fn version_for(name: &str, version_by_length: bool) -> Result<Version, AppendError> {
    if name.starts_with(LIGHT_PREFIX) {
        return Err(AppendError::LightQueue);
    }
    let size_max = if name.starts_with(RETRY_PREFIX) {
        LONG_TOPIC_SIZE_MAX
    } else {
        TOPIC_SIZE_MAX_V1
    };
    let escapes = name == "." || name == ".." || name.bytes().any(|byte| matches!(byte, 0 | b'/'));
    if name.is_empty() || name.len() > size_max || escapes {
        return Err(AppendError::IllegalTopic);
    }
    match (name.len() > TOPIC_SIZE_MAX_V1, version_by_length) {
        (false, _) => Ok(Version::V1),
        (true, true) => Ok(Version::V2),
        (true, false) => Err(AppendError::IllegalTopic),
    }
}

fn queue_index(queue_id: i32) -> Result<usize, AppendError> {
    usize::try_from(queue_id)
        .ok()
        .filter(|_| queue_id <= QUEUE_ID_MAX)
        .ok_or(AppendError::IllegalQueueId(queue_id))
}

#[cfg(test)]
mod tests;
