//! Topics and queues that are about to be appended to.

use std::sync::Arc;

use super::removal::RemovedQueues;
use super::{QueueHomes, SharedQueues, TopicWriter, queue_index};
use crate::error::AppendError;
use crate::message::QueueEntry;
use crate::queue::{QueueWriter, SharedQueue};
use crate::queue_ahead::QueuesAhead;
use crate::queue_layout::{Layout, Placed};

/// Everything needed to reach or make the queues of one topic.
#[derive(Debug)]
pub(crate) struct OpenTopic<'a> {
    pub(crate) topic: &'a mut TopicWriter,
    pub(super) homes: &'a QueueHomes,
    pub(super) shared: &'a SharedQueues,
    pub(super) dirty: &'a mut Vec<Arc<SharedQueue>>,
    pub(super) ahead: &'a mut QueuesAhead,
    pub(super) removed: &'a mut RemovedQueues,
}

/// A queue with room for what will be pushed.
#[derive(Debug)]
pub(crate) struct OpenQueue<'a> {
    pub(super) writer: &'a mut QueueWriter,
    pub(super) dirty: &'a mut Vec<Arc<SharedQueue>>,
}

impl OpenTopic<'_> {
    /// The queue, made on its first use, with room for `count` more entries.
    #[inline(always)]
    pub(crate) fn reserve(
        &mut self,
        queue_id: i32,
        count: u64,
    ) -> Result<OpenQueue<'_>, AppendError> {
        let index = self.open_queue(queue_id)?;
        let Some(Some(writer)) = self.topic.queues.get_mut(index) else {
            return Err(AppendError::IllegalQueueId(queue_id));
        };
        writer.reserve(count, self.ahead)?;
        let dirty = &mut *self.dirty;
        Ok(OpenQueue { writer, dirty })
    }

    /// Index of the queue, which is made on its first use.
    #[inline(always)]
    pub(super) fn open_queue(&mut self, queue_id: i32) -> Result<usize, AppendError> {
        let index = queue_index(queue_id)?;
        if !matches!(self.topic.queues.get(index), Some(Some(_))) {
            self.create(queue_id, index);
        }
        Ok(index)
    }

    /// Counts appended messages.
    #[inline]
    pub(crate) fn count(&mut self, message_count: u64, bytes: usize) {
        self.topic.traffic.count(message_count, bytes);
    }

    #[inline]
    pub(crate) fn has_batch_queues(&self) -> bool {
        self.topic.traits.has_batch_queues()
    }

    /// Makes queues of a topic that has none yet batch queues; returns whether the topic has such.
    pub(crate) fn admits_inner_batches(&mut self) -> bool {
        if self.topic.queues.iter().all(Option::is_none) {
            self.topic.traits.layout = Layout::Batch;
        }
        self.has_batch_queues()
    }

    #[cold]
    fn create(&mut self, queue_id: i32, index: usize) {
        let layout = self.topic.traits.layout;
        let dir = self.homes.queue_dir(layout, &self.topic.name, queue_id);
        let file_size = self.homes.file_size(layout);
        self.insert(index, QueueWriter::new(dir, layout, file_size, Vec::new()));
    }

    pub(super) fn insert(&mut self, index: usize, queue: QueueWriter) {
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

impl OpenQueue<'_> {
    /// Offset of the next entry.
    #[inline]
    pub(crate) fn end_offset(&self) -> u64 {
        self.writer.end_offset()
    }

    /// Whether so many entries can be pushed to a plain queue.
    #[inline(always)]
    pub(crate) fn has_room(&self, count: usize) -> bool {
        self.writer.has_room(count)
    }

    /// As [`Self::push`], for a plain queue.
    #[inline(always)]
    pub(crate) fn push_plain(&mut self, entry: &QueueEntry) {
        if self.writer.push(entry) {
            self.list_as_dirty();
        }
    }

    /// Appends an entry for which room was reserved.
    #[inline(always)]
    pub(crate) fn push(&mut self, placed: &Placed) {
        let is_newly_dirty = match self.writer.layout() {
            Layout::Plain => self.writer.push(&placed.entry),
            // A copy, so that the common case keeps nothing in memory for this one.
            Layout::Batch => self.writer.push_batch(&{ *placed }),
        };
        if is_newly_dirty {
            self.list_as_dirty();
        }
    }

    #[cold]
    fn list_as_dirty(&mut self) {
        self.dirty.push(Arc::clone(self.writer.shared()));
    }
}
