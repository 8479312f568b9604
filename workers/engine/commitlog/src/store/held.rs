//! What the log holds whether or not readers see it: what a broker that becomes master goes by (D14).

use std::collections::BTreeMap;

use crate::error::StoreError;
use crate::log::LogSegment;
use crate::message::QueueEntry;
use crate::record::{Found, RecordView, locate};
use crate::store::Store;

impl Store {
    /// [`Store::queue_offsets`] with the entries that readers do not see.
    #[must_use]
    pub fn held_offsets(&self, topic: &str, queue_id: i32) -> Option<(u64, u64)> {
        let store = self.of(topic);
        let Some(queue) = store.queues.find(topic, queue_id) else {
            return store.offsets_of_new_queue();
        };
        Some((queue.min_offset(), queue.max_offset()))
    }

    /// [`Store::queue_entries`] with those that readers do not see.
    #[must_use]
    pub fn held_entries(
        &self,
        topic: &str,
        queue_id: i32,
        offset: u64,
        count: usize,
    ) -> Vec<QueueEntry> {
        let Some(queue) = self.of(topic).queues.find(topic, queue_id) else {
            return Vec::new();
        };
        queue.entries_until(queue.max_offset(), offset, count)
    }

    /// [`Store::read_record`], whether or not readers see the record.
    ///
    /// # Errors
    /// A record lies there and its checksum differs.
    pub fn held_record(&self, log_position: u64) -> Result<Option<Vec<u8>>, StoreError> {
        let store = self.at(log_position);
        store.record_until(store.max_position(), log_position)
    }

    /// How far the queues of a topic were copied to other topics by the records from a position on,
    /// where a record begins. A copy has the log position of its message as its
    /// `prepared_transaction_offset`. Returns for each queue the offset behind the last of its
    /// copied messages, in the order of queue ids.
    ///
    /// # Errors
    /// The log is damaged there.
    pub fn copied_ends(&self, topic: &str, from: u64) -> Result<Vec<(i32, u64)>, StoreError> {
        let mut ends = BTreeMap::new();
        self.each_copy(topic, from, |origin| {
            let known = ends.entry(origin.queue_id).or_insert(0);
            *known = origin.queue_offset.saturating_add(1).max(*known);
        })?;
        Ok(ends.into_iter().collect())
    }

    /// The log positions of the messages of a topic that the records from a position on copy, as in
    /// [`Store::copied_ends`].
    ///
    /// # Errors
    /// The log is damaged there.
    pub fn copied_positions(&self, topic: &str, from: u64) -> Result<Vec<u64>, StoreError> {
        let mut positions = Vec::new();
        self.each_copy(topic, from, |origin| positions.push(origin.log_position))?;
        Ok(positions)
    }

    /// Looks at the messages of a topic that the records from a position on are copies of.
    fn each_copy(
        &self,
        topic: &str,
        from: u64,
        mut look: impl FnMut(&RecordView<'_>),
    ) -> Result<(), StoreError> {
        let (mut position, end) = (from.max(self.min_position()), self.max_position());
        let mut segment: Option<LogSegment> = None;
        while position < end {
            let is_elsewhere = |at: &LogSegment| at.bytes(position, 1).is_none();
            if segment.as_ref().is_none_or(is_elsewhere) {
                segment = self.log.segment_at(position);
            }
            let rest = segment.as_ref().and_then(|at| at.bytes_from(position));
            let Some(rest) = rest else { break };
            match locate(rest, position) {
                Ok(Found::Blank) => position = self.log.next_segment_start(position),
                Ok(Found::Record(record)) => {
                    position += record.bytes.len() as u64;
                    self.look_at_origin(topic, &record, &mut look);
                }
                Err(damage) => {
                    let reason = damage.to_string();
                    return Err(StoreError::Corrupt { position, reason });
                }
            }
        }
        Ok(())
    }

    /// Looks at the message that a record is a copy of, if that is one of a topic.
    fn look_at_origin(
        &self,
        topic: &str,
        copy: &RecordView<'_>,
        look: &mut impl FnMut(&RecordView<'_>),
    ) {
        // Nearly every record ends the search here.
        let position = u64::try_from(copy.prepared_transaction_offset).unwrap_or(0);
        if position == 0 || position >= copy.log_position {
            return;
        }
        let segment = self.log.segment_at(position);
        let rest = segment.as_ref().and_then(|it| it.bytes_from(position));
        if let Some(Ok(Found::Record(origin))) = rest.map(|rest| locate(rest, position))
            && origin.topic == topic.as_bytes()
        {
            look(&origin);
        }
    }
}
