//! Queues that go with their topic, all of them or those of its former life.

use super::QueueTable;
use crate::error::StoreError;
use crate::files::remove_dir;
use crate::queue::QueueWriter;
use crate::queue_layout::Layout;
use crate::store::Store;

impl Store {
    /// Removes every queue of a topic; its records stay in the log until their segments expire.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only, or the files cannot be removed.
    pub fn delete_queues_of(&self, topic: &str) -> Result<(), StoreError> {
        let mut appender = self.appender.lock();
        self.check_writable()?;
        appender.queues.remove_topic(topic)
    }

    /// Removes those queues of a topic whose every message lies before a log position: the topic
    /// was deleted there, and queues with later messages are of one made again.
    ///
    /// # Errors
    /// As for [`Store::delete_queues_of`].
    pub fn delete_queues_before(&self, topic: &str, log_position: u64) -> Result<(), StoreError> {
        let mut appender = self.appender.lock();
        self.check_writable()?;
        appender.queues.remove_queues_before(topic, log_position)
    }
}

impl QueueTable {
    /// Forgets a topic and removes its files; readers inside keep their maps until they leave.
    pub(crate) fn remove_topic(&mut self, name: &str) -> Result<(), StoreError> {
        let hash = self.hasher.hash_one(name);
        let known = self.topics.find_entry(hash, |topic| *topic.name == *name);
        let Ok(known) = known else {
            return Ok(());
        };
        let (topic, _) = known.remove();
        let queues = topic.queues.iter().flatten();
        queues.for_each(|queue| queue.shared().leave_dir());
        self.shared.topics.write().remove(name);
        for layout in [Layout::Plain, Layout::Batch] {
            let dir = self.homes.dir(layout).join(name);
            self.dirty.retain(|queue| !queue.dir().starts_with(&dir));
            remove_dir(&dir)?;
        }
        Ok(())
    }

    /// Removes the queues of a topic whose every entry stands for a record before `log_position`;
    /// without any other the topic is forgotten. One that has grown since stays whole.
    pub(crate) fn remove_queues_before(
        &mut self,
        name: &str,
        log_position: u64,
    ) -> Result<(), StoreError> {
        let hash = self.hasher.hash_one(name);
        let Some(topic) = self.topics.find_mut(hash, |topic| *topic.name == *name) else {
            return Ok(());
        };
        let is_over = |queue: &QueueWriter| queue.is_before(log_position);
        if topic.queues.iter().flatten().all(is_over) {
            return self.remove_topic(name);
        }
        for (index, slot) in topic.queues.iter_mut().enumerate() {
            let Some(queue) = slot.take_if(|queue| is_over(queue)) else {
                continue;
            };
            if let Some(slots) = self.shared.topics.write().get_mut(name) {
                slots[index] = None;
            }
            queue.shared().leave_dir();
            let dir = queue.shared().dir();
            self.dirty.retain(|dirty| dirty.dir() != dir);
            remove_dir(dir)?;
        }
        Ok(())
    }
}
