//! Queues that go with their topic, all of them or those of its former life.
//!
//! A topic may have thousands of files, and appends wait while queues are looked up. So its directory
//! is only moved away then, in one step; retention removes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{QueueTable, TopicWriter};
use crate::error::StoreError;
use crate::files::{create_dir, exchange, remove_dir, rename};
use crate::queue::QueueWriter;

/// Directories of queues that are gone.
#[derive(Debug)]
pub(super) struct RemovedQueues {
    dir: PathBuf,
    count: usize,
}

impl RemovedQueues {
    pub(super) fn new(dir: PathBuf) -> Self {
        Self { dir, count: 0 }
    }

    /// Takes a directory and all in it; one that cannot be moved, as to another disk, is removed at
    /// once, and one that is gone already is fine.
    pub(super) fn take(&mut self, queues: &Path) -> Result<(), StoreError> {
        let name = self.dir.join(self.count.to_string());
        if create_dir(&self.dir)
            .and_then(|()| rename(queues, &name))
            .is_err()
        {
            return remove_dir(queues);
        }
        self.count += 1;
        Ok(())
    }

    /// Gives a queue that was made beside another one, and is on the disk, the directory of that.
    pub(super) fn put_in_place(&mut self, new: &Path, queues: &Path) -> Result<(), StoreError> {
        if exchange(new, queues).is_ok() {
            // What was there may stay: no code reads it, and the next queue to be made at `new`
            // removes it.
            let _ = self.take(new);
        } else {
            // Nothing was there, or the file system exchanges no directories.
            self.take(queues)?;
            rename(new, queues)?;
        }
        Ok(())
    }
}

impl QueueTable {
    /// Removes a topic's files and forgets it; readers inside keep their maps until they leave.
    ///
    /// What cannot be removed stays known, and is flushed. If the topic were forgotten, a second
    /// deletion would find nothing left, and yet the topic would come back with the next start.
    pub(crate) fn remove_topic(&mut self, name: &str) -> Result<(), StoreError> {
        let hash = self.hasher.hash_one(name);
        let is_it = |topic: &TopicWriter| *topic.name == *name;
        let Some(topic) = self.topics.find(hash, is_it) else {
            return Ok(());
        };
        let dir = self.home.dir().join(name);
        self.removed.take(&dir)?;
        self.touched
            .dirty
            .retain(|queue| !queue.dir().starts_with(&dir));
        let queues = topic.queues.iter().flatten();
        queues.for_each(|queue| queue.shared().leave_dir());
        if let Ok(known) = self.topics.find_entry(hash, is_it) {
            let (TopicWriter { traffic, .. }, _) = known.remove();
            let mut listed = self.shared.traffic.write();
            listed.retain(|it| !Arc::ptr_eq(it, &traffic));
        }
        self.shared.topics.write().remove(name);
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
            let Some(queue) = slot.as_ref().filter(|queue| is_over(queue)) else {
                continue;
            };
            let queue = queue.shared();
            self.removed.take(queue.dir())?;
            queue.leave_dir();
            self.touched
                .dirty
                .retain(|dirty| dirty.dir() != queue.dir());
            if let Some(slots) = self.shared.topics.write().get_mut(name) {
                slots[index] = None;
            }
            *slot = None;
        }
        Ok(())
    }
}
