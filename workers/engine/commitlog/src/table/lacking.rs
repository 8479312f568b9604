//! Files of queues that are made while others append.
//!
//! To make a file takes the disk as long as a thousand appends. So a caller that must not wait asks
//! first, and has another thread make the file. That thread holds the append lock only to put the
//! file in its place.

use super::{QueueTable, is_legal_topic, queue_index};
use crate::cursor::are_few_equal;
use crate::error::{AppendError, StoreError};
use crate::queue::QueueWriter;
use crate::queue::file::{LackingFile, MadeFile};

impl QueueTable {
    #[inline]
    pub(crate) fn lacks_file(&mut self, topic: &str, queue_id: i32, count: u64) -> bool {
        match self.writer_of(topic, queue_id) {
            Some(writer) => writer.lacks_file(count),
            None => is_legal_topic(topic) && queue_index(queue_id).is_ok(),
        }
    }

    /// The file that a queue lacks, which is made on its first use.
    pub(crate) fn lacking_file(
        &mut self,
        topic: &str,
        queue_id: i32,
        count: u64,
    ) -> Result<Option<LackingFile>, AppendError> {
        self.open_topic(topic)?.open_queue(queue_id)?;
        let writer = self.writer_of(topic, queue_id);
        Ok(writer.and_then(|writer| writer.lacking_file(count)))
    }

    pub(crate) fn take_file(
        &mut self,
        topic: &str,
        queue_id: i32,
        made: MadeFile,
    ) -> Result<(), StoreError> {
        if let Some(writer) = self.writer_of(topic, queue_id) {
            return writer.take_file(made);
        }
        made.drop_file();
        Ok(())
    }

    fn writer_of(&mut self, topic: &str, queue_id: i32) -> Option<&mut QueueWriter> {
        let last = self.topics.get_bucket(self.last);
        if !last.is_some_and(|last| are_few_equal(last.name.as_bytes(), topic.as_bytes())) {
            self.last = self.known_bucket(topic)?;
        }
        let topic = self.topics.get_bucket_mut(self.last)?;
        let index = usize::try_from(queue_id).ok()?;
        topic.queues.get_mut(index)?.as_mut()
    }
}
