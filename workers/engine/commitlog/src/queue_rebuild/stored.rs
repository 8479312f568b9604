//! The queues that a store has: all of them are looked at before any is changed.

use ahash::AHashMap;

use super::QueueRebuild;
use crate::config::StoreConfig;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::queue_layout::Layout;
use crate::stored_queue::{QueueFiles, StoredQueue, list_queues};
use crate::table::QueueHomes;

/// Queues whose files have the sizes that files of this store have, not changed yet.
#[derive(Debug)]
pub(crate) struct StoredQueues {
    queues: Vec<FoundQueue>,
    is_clean: bool,
}

#[derive(Debug)]
struct FoundQueue {
    topic: String,
    index: usize,
    files: QueueFiles,
}

impl QueueRebuild {
    /// Finds every queue of the store. Other sizes of files are those of another setting, with which
    /// nothing may be changed.
    pub(crate) fn find_stored(
        config: &StoreConfig,
        directory: &StoreDirectory,
        is_clean: bool,
    ) -> Result<(Self, StoredQueues), StoreError> {
        let homes = directory.queue_homes(config);
        let mut rebuild = Self::empty(config, homes.clone());
        let mut queues = Vec::new();
        for (topic, queue_id, layout) in list_by_layout(&homes)? {
            if let Some(index) = rebuild.queue_index(&topic, queue_id) {
                let dir = homes.queue_dir(layout, &topic, queue_id);
                let files = QueueFiles::find(dir, layout, homes.file_size(layout), is_clean)?;
                queues.push(FoundQueue {
                    topic,
                    index,
                    files,
                });
            }
        }
        Ok((rebuild, StoredQueues { queues, is_clean }))
    }

    /// Loads what was found.
    pub(crate) fn load(&mut self, stored: StoredQueues) -> Result<(), StoreError> {
        for found in stored.queues {
            let queue = StoredQueue::load(found.files, stored.is_clean)?;
            self.insert(&found.topic, found.index, queue);
        }
        for (_, topic) in self.topics.iter_mut() {
            topic.is_stored = true;
        }
        Ok(())
    }
}

/// Topic, id and layout of every queue with a directory.
pub(crate) fn list_by_layout(homes: &QueueHomes) -> Result<Vec<(String, i32, Layout)>, StoreError> {
    let mut layouts: AHashMap<String, Layout> = AHashMap::new();
    let mut queues = Vec::new();
    for layout in [Layout::Plain, Layout::Batch] {
        for (topic, queue_id) in list_queues(homes.dir(layout))? {
            if *layouts.entry(topic.clone()).or_insert(layout) != layout {
                let reason = "the topic has plain queues as well; remove those that do not fit \
                              its attribute queue.type, stock starts with neither";
                return Err(StoreError::UnexpectedFile {
                    path: homes.queue_dir(layout, &topic, queue_id),
                    reason: reason.into(),
                });
            }
            queues.push((topic, queue_id, layout));
        }
    }
    Ok(queues)
}
