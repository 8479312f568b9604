//! One queue during recovery, and what a record of the log makes of it.

use crate::error::StoreError;
use crate::message::QueueEntry;
use crate::record::RECORD_SIZE_MIN;
use crate::stored_queue::StoredQueue;

/// One queue while the log is walked.
#[derive(Debug)]
pub(super) struct Rebuilding {
    pub(super) queue: StoredQueue,
    /// Offset after the last record seen; `None` before the first.
    pub(super) confirmed_end: Option<u64>,
    /// A record was passed over because the queue seemed to be younger than it.
    pub(super) has_passed_over: bool,
    /// Records before the walk's start are needed.
    pub(super) is_broken: bool,
    pub(super) entries_added: u64,
    pub(super) offsets_missing: u64,
}

impl Rebuilding {
    pub(super) fn new(queue: StoredQueue) -> Self {
        Self {
            is_broken: queue.is_incomplete(),
            queue,
            confirmed_end: None,
            has_passed_over: false,
            entries_added: 0,
            offsets_missing: 0,
        }
    }

    /// Whether the queue loses entries at its end, and the pass met none of its records: a crash
    /// may have torn them, or they stood for older records and are damaged.
    pub(super) fn has_lost_entries(&self, dropped_from: u64) -> bool {
        let last = self.queue.last_entry();
        let is_stray = last.is_some_and(|last| last.log_position >= dropped_from);
        self.confirmed_end.is_none() && (is_stray || self.queue.is_cut_short())
    }

    /// Whether the log has room for all records between the queue's last one and this one.
    ///
    /// No checksum covers a record's offset. A wrong one must not make the queue fill the disk.
    pub(super) fn may_hold(&self, offset: u64, entry: &QueueEntry) -> bool {
        let missing = offset.saturating_sub(self.queue.end_offset());
        if missing == 0 || self.queue.is_empty() {
            return true;
        }
        let (last, position) = (self.queue.last_entry(), entry.log_position);
        let last = last.map_or(0, |last| last.log_position);
        last > position || missing <= (position - last) / RECORD_SIZE_MIN as u64
    }

    /// Appends the entry of the queue's next offset; `false`, and nothing is changed, if it is for
    /// another one, or [`Self::reconcile`] would do anything but append it.
    #[inline(always)]
    pub(super) fn extend(&mut self, offset: u64, entry: &QueueEntry) -> bool {
        if self.is_broken || !self.queue.push_within(offset, entry) {
            return false;
        }
        self.entries_added += 1;
        self.confirmed_end = Some(offset + 1);
        true
    }

    /// Finds the entry of an offset to be this one; `false`, and nothing is changed, if it is not, or
    /// [`Self::reconcile`] would do anything but find that.
    #[inline]
    pub(super) fn confirm(&mut self, offset: u64, entry: &QueueEntry) -> bool {
        if self.is_broken || !self.queue.has_within(offset, entry) {
            return false;
        }
        self.confirmed_end = Some(offset + 1);
        true
    }

    pub(super) fn reconcile(
        &mut self,
        offset: u64,
        entry: &QueueEntry,
        is_from_oldest: bool,
    ) -> Result<(), StoreError> {
        if self.is_broken {
            return Ok(());
        }
        let queue = &mut self.queue;
        let (first, end) = (queue.first_offset(), queue.end_offset());
        if offset < first || first == end {
            // Older records are missing in the queue, or it is new: offset 0 begins it anyway.
            if offset != 0 && !is_from_oldest {
                self.is_broken = true;
                return Ok(());
            }
            queue.restart_at(offset)?;
        } else if offset < end {
            if queue.holds(offset, entry) {
                self.confirmed_end = Some(offset + 1);
                return Ok(());
            }
            queue.truncate(offset)?;
        } else if offset > end {
            let position = entry.log_position;
            if queue
                .last_entry()
                .is_some_and(|last| last.log_position > position)
            {
                self.has_passed_over = true;
                return Ok(());
            }
            if !is_from_oldest {
                self.is_broken = true;
                return Ok(());
            }
            self.offsets_missing += offset - end;
            queue.fill_to(offset)?;
        }
        queue.push(entry)?;
        self.entries_added += 1;
        self.confirmed_end = Some(offset + 1);
        Ok(())
    }
}
