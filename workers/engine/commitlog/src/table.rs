//! Every queue by topic and id: the writers' side under the append lock, the readers' side shared.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ahash::{AHashMap, RandomState};
use hashbrown::HashMap;
use hashbrown::hash_map::EntryRef;
use parking_lot::RwLock;

use crate::error::{AppendError, StoreError};
use crate::files::remove_dir;
use crate::message::{QUEUE_ID_MAX, QueueEntry, QueueRange, Traffic};
use crate::queue::{QueueWriter, SharedQueue};
use crate::record::{TOPIC_SIZE_MAX_V1, Version};
use crate::stored_queue::StoredQueue;

/// Its entries hold delivery times instead of tag hashes (storage-and-ha.md 3.2).
pub(crate) const SCHEDULE_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";
const RETRY_PREFIX: &str = "%RETRY%";
const RETRY_TOPIC_SIZE_MAX: usize = 255;

/// Queues of one topic, indexed by queue id.
type Slots<Q> = Vec<Option<Q>>;

/// What readers see of all queues.
#[derive(Debug, Default)]
pub(crate) struct SharedQueues {
    topics: RwLock<AHashMap<Arc<str>, Slots<Arc<SharedQueue>>>>,
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
    pub(crate) version: Version,
    pub(crate) is_schedule: bool,
    pub(crate) traffic: Traffic,
}

/// All queues under the append lock.
#[derive(Debug)]
pub(crate) struct QueueTable {
    dir: PathBuf,
    file_size: u64,
    version_by_length: bool,
    topics: HashMap<Arc<str>, TopicWriter, RandomState>,
    shared: Arc<SharedQueues>,
    dirty: Vec<Arc<SharedQueue>>,
}

/// Everything needed to reach or make the queues of one topic.
#[derive(Debug)]
pub(crate) struct OpenTopic<'a> {
    pub(crate) topic: &'a mut TopicWriter,
    dir: &'a Path,
    file_size: u64,
    shared: &'a SharedQueues,
    dirty: &'a mut Vec<Arc<SharedQueue>>,
}

impl QueueTable {
    pub(crate) fn new(dir: PathBuf, file_size: u64, version_by_length: bool) -> Self {
        Self {
            dir,
            file_size,
            version_by_length,
            topics: HashMap::default(),
            shared: Arc::default(),
            dirty: Vec::new(),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<SharedQueues> {
        &self.shared
    }

    /// The topic of a message, made on its first use.
    #[inline]
    pub(crate) fn open_topic(&mut self, name: &str) -> Result<OpenTopic<'_>, AppendError> {
        let topic = match self.topics.entry_ref(name) {
            EntryRef::Occupied(known) => known.into_mut(),
            EntryRef::Vacant(place) => {
                place.insert(TopicWriter::new(name, self.version_by_length)?)
            }
        };
        Ok(OpenTopic {
            topic,
            dir: &self.dir,
            file_size: self.file_size,
            shared: &self.shared,
            dirty: &mut self.dirty,
        })
    }

    /// Adds a queue that was read from disk; one with an impossible name is left alone.
    pub(crate) fn insert(
        &mut self,
        topic: &str,
        queue_id: i32,
        mut queue: QueueWriter,
        is_dirty: bool,
    ) {
        let (Ok(index), Ok(mut open)) = (queue_index(queue_id), self.open_topic(topic)) else {
            return;
        };
        if is_dirty && queue.mark_dirty() {
            open.dirty.push(Arc::clone(queue.shared()));
        }
        open.insert(index, queue);
    }

    /// Goes on counting where the table of the same store before a truncation stopped.
    pub(crate) fn adopt_traffic(&mut self, before: &Self) {
        for (name, counted) in &before.topics {
            if let Ok(open) = self.open_topic(name) {
                open.topic.traffic = counted.traffic;
            }
        }
    }

    /// Where the directories of the topics are.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where the files of a queue are.
    pub(crate) fn queue_dir(&self, topic: &str, queue_id: i32) -> PathBuf {
        self.dir.join(topic).join(queue_id.to_string())
    }

    pub(crate) fn traffic(&self) -> Vec<(String, Traffic)> {
        let moved = self
            .topics
            .values()
            .filter(|topic| topic.traffic.message_count > 0);
        let mut traffic: Vec<_> = moved
            .map(|topic| (topic.name.to_string(), topic.traffic))
            .collect();
        traffic.sort_unstable_by(|left, right| left.0.cmp(&right.0));
        traffic
    }

    /// Forgets a topic and removes its files; readers inside keep their maps until they leave.
    pub(crate) fn remove_topic(&mut self, name: &str) -> Result<(), StoreError> {
        if self.topics.remove(name).is_none() {
            return Ok(());
        }
        self.shared.topics.write().remove(name);
        let dir = self.dir.join(name);
        self.dirty.retain(|queue| !queue.dir().starts_with(&dir));
        remove_dir(&dir)
    }

    /// Queues touched since the last call.
    pub(crate) fn take_dirty(&mut self) -> Vec<Arc<SharedQueue>> {
        for queue in &self.dirty {
            queue.clear_dirty();
        }
        std::mem::take(&mut self.dirty)
    }
}

impl OpenTopic<'_> {
    /// Index of the queue, made on its first use, with room for `count` more entries.
    #[inline]
    pub(crate) fn reserve(&mut self, queue_id: i32, count: u64) -> Result<usize, AppendError> {
        let index = queue_index(queue_id)?;
        if self.topic.queues.get(index).is_none_or(Option::is_none) {
            let dir = self.dir.join(&*self.topic.name).join(queue_id.to_string());
            self.insert(index, QueueWriter::new(dir, self.file_size, Vec::new()));
        }
        if let Some(Some(queue)) = self.topic.queues.get_mut(index) {
            queue.reserve(count)?;
        }
        Ok(index)
    }

    /// As [`Self::reserve`] for one entry whose offset is already decided, because its record is
    /// copied from `log_position` of another log. The queue is made to continue there, as recovery
    /// would do it: later records win, and what is missing is filled.
    pub(crate) fn reserve_at(
        &mut self,
        (queue_id, offset): (i32, u64),
        log_position: u64,
        min_position: u64,
    ) -> Result<usize, AppendError> {
        let index = queue_index(queue_id)?;
        let known = self.topic.queues.get_mut(index).and_then(Option::as_mut);
        match known {
            Some(queue) if queue.end_offset() == offset => {}
            None if offset == 0 => {}
            Some(queue) if queue.end_offset() > 0 && queue.end_offset() < offset => {
                if queue.fill_to(offset, log_position)? {
                    self.dirty.push(Arc::clone(queue.shared()));
                }
            }
            _ => self.restart(index, queue_id, offset, min_position)?,
        }
        self.reserve(queue_id, 1)
    }

    /// Makes the queue anew, with its entries before `offset` and that as its next offset.
    fn restart(
        &mut self,
        index: usize,
        queue_id: i32,
        offset: u64,
        min_position: u64,
    ) -> Result<(), StoreError> {
        let dir = self.dir.join(&*self.topic.name).join(queue_id.to_string());
        let old = self.topic.queues.get_mut(index).and_then(Option::take);
        let shared = old.as_ref().map(|old| Arc::clone(old.shared()));
        let first = shared.as_ref().map_or(0, |shared| shared.first_offset());
        let kept: Vec<QueueEntry> = shared.as_ref().map_or_else(Vec::new, |shared| {
            (first..offset).map_while(|at| shared.entry(at)).collect()
        });
        self.dirty.retain(|queue| queue.dir() != dir);
        let mut stored = StoredQueue::empty(dir, self.file_size);
        stored.restart_at(if kept.is_empty() { offset } else { first })?;
        for entry in &kept {
            stored.push(entry)?;
        }
        stored.fill_to(offset)?;
        let mut queue = stored.into_writer();
        queue.shared().correct_min_offset(min_position);
        if queue.mark_dirty() {
            self.dirty.push(Arc::clone(queue.shared()));
        }
        self.insert(index, queue);
        Ok(())
    }

    /// Next offset of the queue at an index that [`Self::reserve`] returned.
    #[inline]
    pub(crate) fn end_offset(&self, index: usize) -> u64 {
        let queue = self.topic.queues.get(index).and_then(Option::as_ref);
        queue.map_or(0, QueueWriter::end_offset)
    }

    /// Appends an entry to the queue at an index that [`Self::reserve`] returned.
    #[inline]
    pub(crate) fn push(&mut self, index: usize, entry: &QueueEntry) {
        if let Some(Some(queue)) = self.topic.queues.get_mut(index)
            && queue.push(entry)
        {
            self.dirty.push(Arc::clone(queue.shared()));
        }
    }

    fn insert(&mut self, index: usize, queue: QueueWriter) {
        let mut topics = self.shared.topics.write();
        let slots = topics.entry(Arc::clone(&self.topic.name)).or_default();
        if slots.len() <= index {
            slots.resize_with(index + 1, || None);
        }
        slots[index] = Some(Arc::clone(queue.shared()));
        if self.topic.queues.len() <= index {
            self.topic.queues.resize_with(index + 1, || None);
        }
        self.topic.queues[index] = Some(queue);
    }
}

impl TopicWriter {
    fn new(name: &str, version_by_length: bool) -> Result<Self, AppendError> {
        Ok(Self {
            name: Arc::from(name),
            queues: Vec::new(),
            version: version_for(name, version_by_length)?,
            is_schedule: name == SCHEDULE_TOPIC,
            traffic: Traffic::default(),
        })
    }
}

/// Whether a queue directory can have this name.
pub(crate) fn is_legal_topic(name: &str) -> bool {
    version_for(name, true).is_ok()
}

/// Refuses names that are too long for a record or that would leave the store's directory.
fn version_for(name: &str, version_by_length: bool) -> Result<Version, AppendError> {
    let size_max = if name.starts_with(RETRY_PREFIX) {
        RETRY_TOPIC_SIZE_MAX
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
