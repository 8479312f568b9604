//! Topics and queues that are about to be appended to.

use std::sync::Arc;

use super::removal::RemovedQueues;
use super::{SharedQueues, TopicWriter, queue_index};
use crate::error::AppendError;
use crate::message::QueueEntry;
use crate::queue::ahead::QueuesAhead;
use crate::queue::{QueueWriter, SharedQueue};
use crate::queue_home::QueueHome;
use crate::unshown::Unshown;

/// Everything needed to reach or make the queues of one topic.
#[derive(Debug)]
pub(crate) struct OpenTopic<'a> {
    pub(crate) topic: &'a mut TopicWriter,
    pub(super) home: &'a QueueHome,
    pub(super) shared: &'a SharedQueues,
    pub(super) touched: &'a mut Touched,
    pub(super) ahead: &'a mut QueuesAhead,
    pub(super) removed: &'a mut RemovedQueues,
}

/// The queues that appends have changed.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    /// Those that are not flushed.
    pub(super) dirty: Vec<Arc<SharedQueue>>,
    /// Those with entries that readers do not see yet.
    pub(super) unshown: Arc<Unshown>,
}

/// A queue with room for what will be pushed.
#[derive(Debug)]
pub(crate) struct OpenQueue<'a> {
    pub(super) writer: &'a mut QueueWriter,
    pub(super) touched: &'a mut Touched,
}

impl OpenTopic<'_> {
    /// The queue, made on its first use, with room for `count` more entries of new messages.
    ///
    /// # Errors
    /// The id is illegal, the queue is sealed, or there is no room.
    #[inline(always)]
    pub(crate) fn reserve(
        &mut self,
        queue_id: i32,
        count: u64,
    ) -> Result<OpenQueue<'_>, AppendError> {
        if self.writer(queue_id)?.is_sealed() {
            let topic = self.topic.name.to_string();
            return Err(AppendError::QueueSealed { topic, queue_id });
        }
        self.reserve_sealed_too(queue_id, count)
    }

    /// As [`Self::reserve`], for records that a master has in its log: a seal does not concern them.
    #[inline(always)]
    pub(super) fn reserve_sealed_too(
        &mut self,
        queue_id: i32,
        count: u64,
    ) -> Result<OpenQueue<'_>, AppendError> {
        let index = self.open_queue(queue_id)?;
        let Some(Some(writer)) = self.topic.queues.get_mut(index) else {
            return Err(AppendError::IllegalQueueId(queue_id));
        };
        writer.reserve(count, self.ahead)?;
        let touched = &mut *self.touched;
        Ok(OpenQueue { writer, touched })
    }

    /// The end of the queue, made on its first use.
    #[inline(always)]
    pub(crate) fn writer(&mut self, queue_id: i32) -> Result<&mut QueueWriter, AppendError> {
        let index = self.open_queue(queue_id)?;
        let slot = self.topic.queues.get_mut(index).and_then(Option::as_mut);
        slot.ok_or(AppendError::IllegalQueueId(queue_id))
    }

    /// Index of the queue, which is made on its first use.
    #[inline(always)]
    pub(super) fn open_queue(&mut self, queue_id: i32) -> Result<usize, AppendError> {
        let index = queue_index(queue_id)?;
        if !matches!(self.topic.queues.get(index), Some(Some(_))) {
            self.create(queue_id, index)?;
        }
        Ok(index)
    }

    /// Counts appended messages.
    #[inline]
    pub(crate) fn count(&mut self, message_count: u64, bytes: usize) {
        self.topic.traffic.count(message_count, bytes);
    }

    #[cold]
    fn create(&mut self, queue_id: i32, index: usize) -> Result<(), AppendError> {
        let first_offset = self.home.first_offset();
        if first_offset > 0 {
            return Ok(self.restart(index, queue_id, first_offset, 0)?);
        }
        let dir = self.home.queue_dir(&self.topic.name, queue_id);
        self.insert(
            index,
            QueueWriter::new(dir, self.home.file_size(), Vec::new()),
        );
        Ok(())
    }

    pub(super) fn insert(&mut self, index: usize, mut queue: QueueWriter) {
        if let Some(Some(old)) = self.topic.queues.get(index) {
            queue.set_sealed(old.is_sealed());
        }
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

    /// Appends an entry for which room was reserved.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: &QueueEntry) {
        if self.writer.push(entry) {
            self.list_as_dirty();
        }
        if self.touched.unshown.is_noting() {
            self.note_unshown(entry);
        }
    }

    #[cold]
    fn list_as_dirty(&mut self) {
        self.touched.dirty.push(Arc::clone(self.writer.shared()));
    }

    #[inline(never)]
    fn note_unshown(&self, entry: &QueueEntry) {
        let unshown = &self.touched.unshown;
        unshown.note(entry.end(), self.writer.shared());
    }
}
