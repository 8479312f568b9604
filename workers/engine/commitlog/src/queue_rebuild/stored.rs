//! The queues that a store has: all of them are looked at before any is changed.

use super::QueueRebuild;
use crate::config::StoreConfig;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::stored_queue::{QueueFiles, StoredQueue, list_queues};

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
        let home = directory.queue_home(config);
        let mut rebuild = Self::empty(config, home.clone());
        let mut queues = Vec::new();
        for (topic, queue_id) in list_queues(home.dir())? {
            if let Some(index) = rebuild.queue_index(&topic, queue_id) {
                let dir = home.queue_dir(&topic, queue_id);
                let files = QueueFiles::find(dir, home.file_size(), is_clean)?;
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
        Ok(())
    }
}
