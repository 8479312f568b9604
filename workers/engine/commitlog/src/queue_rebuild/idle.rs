//! Queues without a record left in the log: only their old files show where they go on.

use super::QueueRebuild;
use crate::error::StoreError;
use crate::queue_home::QueueHome;
use crate::stored_queue::{last_expired, list_queues};

impl QueueRebuild {
    /// Lets the queues in `stored` that no record of the walk belonged to keep their next offsets:
    /// groups have committed theirs, and no offset is to be given twice. The log begins at
    /// `min_position`.
    ///
    /// This comes after the walk, since a queue that has the entry from before gets other files.
    pub(crate) fn keep_ends(
        &mut self,
        stored: &QueueHome,
        min_position: u64,
    ) -> Result<(), StoreError> {
        for (topic, queue_id) in list_queues(stored.dir())? {
            if self.has_records(&topic, queue_id) {
                continue;
            }
            let dir = stored.queue_dir(&topic, queue_id);
            let last = last_expired(&dir, stored.file_size(), min_position)?;
            if let Some((offset, entry)) = last {
                self.reconcile(&topic, queue_id, offset, &entry)?;
            }
        }
        Ok(())
    }

    fn has_records(&self, topic: &str, queue_id: i32) -> bool {
        let slots = self.topics.get(topic);
        let slot = slots
            .zip(usize::try_from(queue_id).ok())
            .and_then(|(slots, index)| slots.get(index)?.as_ref());
        slot.is_some_and(|slot| slot.confirmed_end.is_some())
    }
}
