//! Queues during recovery: each record of the log is compared with its queue entry.
//!
//! The log rules, and later records win. That also brings out right a topic that was deleted and
//! created again: the records of its first life give way to those of the second.

use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::message::{QUEUE_ID_MAX, QueueEntry};
use crate::properties::tags_code;
use crate::queue_flush::at_the_same_time;
use crate::queue_home::QueueHome;
use crate::queue_layout::OFFSET_MAX;
use crate::record::{RecordView, occupies_queue};
use crate::recovery_report::RecoveryReport;
use crate::stored_queue::StoredQueue;
use crate::table::{QueueTable, SCHEDULE_TOPIC};
use crate::unserved::refuse_inner_batch;

mod idle;
mod rebuilding;
mod run;
mod stored;
mod topics;

use rebuilding::Rebuilding;
use topics::Topics;

/// All queues while the log is walked.
#[derive(Debug)]
pub(crate) struct QueueRebuild {
    table: QueueTable,
    delay_levels_ms: Vec<i64>,
    topics: Topics,
    /// Whether the current pass sees every record there is.
    is_from_oldest: bool,
    report: RecoveryReport,
}

impl QueueRebuild {
    /// No queue yet; those of the records to come are made in `home`.
    pub(crate) fn empty(config: &StoreConfig, home: QueueHome) -> Self {
        Self {
            table: QueueTable::new(home, config.message_version_by_topic_length),
            delay_levels_ms: config.delay_levels_ms.clone(),
            topics: Topics::default(),
            is_from_oldest: false,
            report: RecoveryReport::default(),
        }
    }

    /// Index of a queue in its topic's table; `None` when no directory can have its name.
    fn queue_index(&mut self, topic: &str, queue_id: i32) -> Option<usize> {
        self.table.open_topic(topic).ok()?;
        usize::try_from(queue_id)
            .ok()
            .filter(|_| queue_id <= QUEUE_ID_MAX)
    }

    fn insert(&mut self, topic: &str, index: usize, queue: StoredQueue) {
        let slots = self.topics.get_or_add(topic);
        if slots.len() <= index {
            slots.resize_with(index + 1, || None);
        }
        slots[index] = Some(Rebuilding::new(queue));
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Rebuilding> {
        self.topics
            .iter_mut()
            .flat_map(|(_, slots)| slots)
            .flatten()
    }

    /// Cuts every queue where the log was cut, and makes that durable.
    pub(crate) fn cut_behind(&mut self, log_position: u64) -> Result<(), StoreError> {
        for slot in self.all() {
            slot.queue.cut_behind(log_position, 0)?;
        }
        // Those that need no cut as well: an earlier attempt may not have been synced.
        let queues: Vec<_> = self.all().map(|slot| &slot.queue).collect();
        at_the_same_time(&queues, |queue| queue.flush_end())
    }

    /// Finds queues whose next offset does not follow from the record of their last entry
    /// (targets.md 6, row 4). Where the record has expired, the entry is all there is.
    pub(crate) fn check_ends<'l>(
        &mut self,
        min_position: u64,
        record_at: impl Fn(u64) -> Option<RecordView<'l>>,
    ) {
        let is_there = |last: &QueueEntry| last.log_position >= min_position;
        for (name, slots) in self.topics.iter_mut() {
            for (queue_id, slot) in (0..).zip(slots) {
                let Some(slot) = slot else { continue };
                if let Some(last) = slot.queue.last_entry().filter(is_there) {
                    let is_own = |record: &RecordView<'_>| {
                        record.topic == name.as_bytes() && record.queue_id == queue_id
                    };
                    let record = record_at(last.log_position).filter(is_own);
                    let next = record.map(|record| record.queue_offset + 1);
                    slot.is_broken |= next != Some(slot.queue.end_offset());
                }
            }
        }
    }

    /// Position of the newest record that any queue points to.
    pub(crate) fn dispatched_position(&self) -> u64 {
        let queues = self.topics.iter().flatten().flatten();
        let last = queues.filter_map(|slot| slot.queue.last_entry());
        last.map(|entry| entry.log_position).max().unwrap_or(0)
    }

    /// Finds queues that begin late although no record has expired: they lost a file.
    pub(crate) fn check_starts(&mut self, min_position: u64) {
        for slot in self.all() {
            slot.is_broken |= min_position == 0 && slot.queue.first_offset() > 0;
        }
    }

    /// Starts a walk over the log. A walk over all of it, which begins at `oldest`, fills the
    /// broken queues again.
    pub(crate) fn begin_pass(&mut self, oldest: Option<u64>) -> Result<(), StoreError> {
        self.report.records_unqueued = 0;
        let mut rebuilt = 0;
        for slot in self.all() {
            slot.confirmed_end = None;
            slot.has_passed_over = false;
            if let Some(oldest) = oldest
                && slot.is_broken
            {
                slot.queue.forget_from(oldest)?;
                slot.is_broken = false;
                rebuilt += 1;
            }
        }
        self.is_from_oldest = oldest.is_some();
        self.report.queues_rebuilt += rebuilt;
        Ok(())
    }

    /// Makes the record's queue agree with it.
    ///
    /// # Errors
    /// [`StoreError::InnerBatch`]; no queue here can hold such a record.
    pub(crate) fn on_record(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        refuse_inner_batch(record)?;
        if !occupies_queue(record.sys_flag) {
            return Ok(());
        }
        let is_placed = match std::str::from_utf8(record.topic) {
            Ok(topic) => self.place(record, topic)?,
            Err(_) => false,
        };
        self.report.records_unqueued += u64::from(!is_placed);
        Ok(())
    }

    /// As [`Self::on_record`]; `false` if the record has no place in its queue.
    fn place(&mut self, record: &RecordView<'_>, topic: &str) -> Result<bool, StoreError> {
        let levels = (topic == SCHEDULE_TOPIC).then_some(&*self.delay_levels_ms);
        let tags_code = tags_code(record.properties, record.store_timestamp_ms, levels);
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        let size = record.bytes.len() as u32;
        let mut entry = QueueEntry {
            log_position: record.log_position,
            size,
            tags_code,
        };
        if levels.is_some()
            && let Some(stored) = self.stored_time(topic, record, &entry)
        {
            entry.tags_code = stored;
        }
        self.reconcile(topic, record.queue_id, record.queue_offset, &entry)
    }

    /// The time of delivery under which a delayed message is in its queue already.
    fn stored_time(&self, topic: &str, record: &RecordView<'_>, entry: &QueueEntry) -> Option<i64> {
        let index = usize::try_from(record.queue_id).ok()?;
        let slot = self.topics.get(topic)?.get(index)?.as_ref()?;
        let (offset, stored_at_ms) = (record.queue_offset, record.store_timestamp_ms);
        slot.queue.stored_time(offset, entry, stored_at_ms)
    }

    /// Makes the queue agree with one record; `false` if it cannot hold it.
    fn reconcile(
        &mut self,
        topic: &str,
        queue_id: i32,
        offset: u64,
        entry: &QueueEntry,
    ) -> Result<bool, StoreError> {
        let is_from_oldest = self.is_from_oldest;
        if offset <= OFFSET_MAX
            && let Some(slot) = self.find(topic, queue_id)
            && slot.may_hold(offset, entry)
        {
            slot.reconcile(offset, entry, is_from_oldest)?;
            return Ok(true);
        }
        Ok(false)
    }

    fn find(&mut self, topic: &str, queue_id: i32) -> Option<&mut Rebuilding> {
        let known = usize::try_from(queue_id).ok().filter(|index| {
            let slots = self.topics.get(topic);
            slots
                .and_then(|slots| slots.get(*index))
                .is_some_and(Option::is_some)
        });
        let index = known.or_else(|| self.queue_index(topic, queue_id))?;
        if known.is_none() {
            let home = self.table.home();
            let queue = StoredQueue::empty(home.queue_dir(topic, queue_id), home.file_size());
            self.insert(topic, index, queue);
        }
        self.topics.get_mut(topic)?.get_mut(index)?.as_mut()
    }

    /// Whether some queue must be filled again.
    pub(crate) fn is_any_broken(&mut self) -> bool {
        self.all().any(|slot| slot.is_broken)
    }

    /// Whether some queue cannot be completed from the records of this pass. Entries that point
    /// behind `dropped_from` and belong to no record will be dropped.
    pub(crate) fn needs_older_records(&mut self, dropped_from: u64) -> bool {
        let mut needed = false;
        for slot in self.all() {
            slot.is_broken |= slot.has_lost_entries(dropped_from);
            // Having passed over a record was right if the queue's own last record came later.
            let is_younger = slot.confirmed_end == Some(slot.queue.end_offset());
            slot.is_broken |= slot.has_passed_over && !is_younger;
            needed |= slot.is_broken;
        }
        needed
    }

    /// Drops entries that point behind `scanned_from` and belong to no record found there.
    pub(crate) fn drop_unconfirmed(&mut self, scanned_from: u64) -> Result<(), StoreError> {
        let mut dropped = 0;
        for slot in self.all() {
            let confirmed_end = slot.confirmed_end.unwrap_or(0);
            dropped += slot.queue.cut_behind(scanned_from, confirmed_end)?;
        }
        self.report.entries_dropped = dropped;
        Ok(())
    }

    pub(crate) fn report(&self) -> RecoveryReport {
        let mut report = self.report;
        for slot in self.topics.iter().flatten().flatten() {
            report.entries_added += slot.entries_added;
            report.offsets_missing += slot.offsets_missing;
        }
        report
    }

    /// The finished table; queues start at the first entry whose record is still there.
    ///
    /// What recovery changed counts as touched. After an unclean stop it is unknown whether entries
    /// of walked records are on the disk, so their queues count as touched, too.
    pub(crate) fn finish(mut self, min_position: u64, was_clean: bool) -> QueueTable {
        for (name, slots) in self.topics.into_named() {
            for (queue_id, slot) in (0..).zip(slots) {
                let Some(slot) = slot else { continue };
                let is_unknown = slot.confirmed_end.is_some() && !was_clean;
                let is_touched = slot.queue.is_changed() || is_unknown;
                let writer = slot.queue.into_writer();
                writer.shared().correct_min_offset(min_position);
                if !is_touched {
                    writer.shared().assume_flushed(writer.shared().end_bytes());
                }
                self.table.insert(&name, queue_id, writer, is_touched);
            }
        }
        self.table
    }
}
