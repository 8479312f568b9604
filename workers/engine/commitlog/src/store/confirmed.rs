//! The confirmed position: where reading ends when not every replica has all of the log (D7).
//!
//! Stock holds back the dispatch of records behind it (storage-and-ha.md 9.5). Here an append writes
//! its queue entry at once, and readers do not see the entries of such records: a queue ends for
//! them where its first one stands.

use crate::message::QueueRange;
use crate::queue::SharedQueue;
use crate::queue_layout::partition_point;
use crate::store::Store;

impl Store {
    /// Position up to which readers see the log: its end, unless
    /// [`Store::set_confirmed_position`] set a limit before that.
    #[must_use]
    pub fn confirmed_position(&self) -> u64 {
        self.log.read_limit().min(self.log.max_position())
    }

    /// Whether [`Store::set_confirmed_position`] holds readers back.
    #[must_use]
    pub fn is_read_limited(&self) -> bool {
        self.log.read_limit() != u64::MAX
    }

    /// Shows readers the records that end at or before `position`; with `None`, all records.
    /// Returns the queues that became longer for readers since the last call, perhaps with others.
    ///
    /// The first limit may be anywhere; from then on it only rises, and a lower one changes
    /// nothing, until `None` lifts it. [`Store::truncate_to`] alone lowers it. It may lie behind the
    /// end of the log: what is appended up to there is seen at once. It is not kept on the disk.
    pub fn set_confirmed_position(&self, position: Option<u64>) -> Vec<QueueRange> {
        if position.is_some() && !self.unshown.is_noting() {
            // No append is under way, so that each later one is noted.
            let _appender = self.appender.lock();
            self.unshown.begin(self.log.max_position());
        }
        let was_limited = self.log.raise_read_limit(position);
        let noted = self.unshown.take(self.confirmed_position());
        if position.is_none() {
            self.unshown.end();
        }
        match noted {
            // All was shown by the appends themselves.
            _ if !was_limited => Vec::new(),
            Some(queues) => queues.iter().filter_map(|it| self.range_of(it)).collect(),
            None => self.queues(),
        }
    }

    /// First offset of a queue that readers do not see.
    pub(crate) fn readable_end(&self, queue: &SharedQueue) -> u64 {
        match self.log.read_limit() {
            u64::MAX => queue.max_offset(),
            limit => queue.end_within(limit),
        }
    }

    /// What readers see of a queue; `None` when the queue is gone.
    fn range_of(&self, queue: &SharedQueue) -> Option<QueueRange> {
        let (topic, queue_id) = queue.place()?;
        let (min_offset, max_offset) = self.queue_offsets(topic, queue_id)?;
        Some(QueueRange {
            topic: topic.to_owned(),
            queue_id,
            min_offset,
            max_offset,
        })
    }
}

impl SharedQueue {
    /// Offset of the first entry whose record ends behind `limit`.
    ///
    /// That is near the end as a rule, so it is looked for from there, in growing steps.
    pub(crate) fn end_within(&self, limit: u64) -> u64 {
        let min = self.min_offset();
        // A filler lies where the record before it does.
        let is_beyond = |offset| {
            let record = self.last_record_entry(min, offset + 1);
            record.is_some_and(|(_, entry)| entry.end() > limit)
        };
        let (mut low, mut high, mut step) = (min, self.max_offset(), 1);
        while low < high {
            let probe = high.saturating_sub(step).max(min);
            if !is_beyond(probe) {
                low = probe + 1;
                break;
            }
            (high, step) = (probe, step * 2);
        }
        partition_point(low, high, |offset| !is_beyond(offset))
    }
}
