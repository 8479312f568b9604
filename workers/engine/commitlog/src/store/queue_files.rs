//! Files of queues that are made while others append, and that go with their topic.

use super::Store;
use super::writer::Writer;
use crate::error::{AppendError, StoreError};
use crate::files::{list, remove_dir};

impl Writer<'_> {
    /// Whether to append `count` messages to a queue would make a file of the queue first.
    #[inline]
    pub fn lacks_queue_file(&mut self, topic: &str, queue_id: i32, count: u64) -> bool {
        self.queues().lacks_file(topic, queue_id, count)
    }
}

impl Store {
    /// Makes the file that `count` messages for a queue need, while others append. It does nothing where
    /// there is such a file. An append does not need it: it makes what is not there.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only, the queue cannot be, or there is no room for the file.
    pub fn make_queue_file(
        &self,
        topic: &str,
        queue_id: i32,
        count: u64,
    ) -> Result<(), AppendError> {
        let store = self.of(topic);
        let lacking = store
            .writer()?
            .queues()
            .lacking_file(topic, queue_id, count)?;
        let Some(lacking) = lacking else {
            return Ok(());
        };
        // With the queues that are gone: what a crash leaves there is removed.
        let beside = store
            .directory
            .queue_home(&store.config)
            .removed()
            .join("made");
        let made = lacking.make_in(&beside)?;
        match store.writer() {
            Ok(mut writer) => Ok(writer.queues().take_file(topic, queue_id, made)?),
            Err(error) => {
                made.drop_file();
                Err(error.into())
            }
        }
    }
}

impl Store {
    /// Removes every queue of a topic; its records stay in the log until their segments expire, and
    /// its files on the disk until the next [`Store::expire`].
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

    /// Removes the files of queues that are gone.
    pub(crate) fn expire_removed_queues(&self) -> Result<(), StoreError> {
        let dir = self.directory.queue_home(&self.config).removed();
        list(&dir)?.iter().try_for_each(|queues| remove_dir(queues))
    }
}
