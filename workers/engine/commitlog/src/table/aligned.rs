//! Queues that must continue at an offset which another log has decided.

use std::sync::Arc;

use super::{OpenQueue, OpenTopic, queue_index};
use crate::error::{AppendError, StoreError};
use crate::message::QueueEntry;
use crate::stored_queue::StoredQueue;

impl OpenTopic<'_> {
    /// As [`Self::reserve`] for one entry whose offset is already decided, because its record is
    /// copied from `log_position` of another log. The queue is made to continue there, as recovery
    /// would do it: later records win, and what is missing is filled.
    pub(crate) fn reserve_at(
        &mut self,
        (queue_id, offset): (i32, u64),
        log_position: u64,
        min_position: u64,
    ) -> Result<OpenQueue<'_>, AppendError> {
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
}
