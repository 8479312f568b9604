//! Queues during recovery: each record of the log is compared with its queue entry.
//!
//! The log rules, and later records win. That also brings out right a topic that was deleted and
//! created again: the records of its first life give way to those of the second.

use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::files::remove_dir;
use crate::message::{QUEUE_ID_MAX, QueueEntry};
use crate::properties::tags_code;
use crate::queue_flush::at_the_same_time;
use crate::queue_layout::{Layout, OFFSET_MAX, Placed};
use crate::queue_places::{LIGHT_QUEUE_ID, light_places, message_count, offset_after};
use crate::record::{RecordView, is_inner_batch, occupies_queue};
use crate::recovery::RecoveryReport;
use crate::stored_queue::StoredQueue;
use crate::table::{QueueHomes, QueueTable, SCHEDULE_TOPIC};

mod idle;
mod rebuilding;
mod run;
mod stored;
mod topics;

use rebuilding::{Rebuilding, Topic};
pub(crate) use stored::list_by_layout;
use topics::Topics;

/// All queues while the log is walked.
#[derive(Debug)]
pub(crate) struct QueueRebuild {
    table: QueueTable,
    delay_levels_ms: Vec<i64>,
    makes_light_queues: bool,
    topics: Topics,
    /// Whether the current pass sees every record there is.
    is_from_oldest: bool,
    /// Whether a topic turned out to have batch queues after some of its records had passed.
    has_new_layout: bool,
    report: RecoveryReport,
}

impl QueueRebuild {
    /// No queue yet; those of the records to come are made in `homes`.
    pub(crate) fn empty(config: &StoreConfig, homes: QueueHomes) -> Self {
        Self {
            table: QueueTable::new(homes, config.message_version_by_topic_length),
            delay_levels_ms: config.delay_levels_ms.clone(),
            makes_light_queues: config.multi_dispatch_enabled,
            topics: Topics::default(),
            is_from_oldest: false,
            has_new_layout: false,
            report: RecoveryReport::default(),
        }
    }

    /// As [`Self::empty`]; the queues get the layouts of those in `stored`, and light queues that
    /// are there are made anew in any case.
    pub(crate) fn beside(
        config: &StoreConfig,
        homes: QueueHomes,
        stored: &QueueHomes,
    ) -> Result<Self, StoreError> {
        let mut rebuild = Self::empty(config, homes);
        for (topic, _, layout) in list_by_layout(stored)? {
            rebuild.topics.get_or_add(&topic, layout).is_stored = true;
        }
        Ok(rebuild)
    }

    /// Index of a queue in its topic's table; `None` when no directory can have its name.
    fn queue_index(&mut self, topic: &str, queue_id: i32) -> Option<usize> {
        self.table.open_topic(topic).ok()?;
        usize::try_from(queue_id)
            .ok()
            .filter(|_| queue_id <= QUEUE_ID_MAX)
    }

    fn insert(&mut self, topic: &str, index: usize, queue: StoredQueue) {
        let slots = &mut self.topics.get_or_add(topic, queue.layout()).slots;
        if slots.len() <= index {
            slots.resize_with(index + 1, || None);
        }
        slots[index] = Some(Rebuilding::new(queue));
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Rebuilding> {
        let slots = self
            .topics
            .iter_mut()
            .flat_map(|(_, topic)| &mut topic.slots);
        slots.flatten()
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
        for (name, topic) in self.topics.iter_mut() {
            for (queue_id, slot) in (0..).zip(&mut topic.slots) {
                let Some(slot) = slot else { continue };
                if let Some(last) = slot.queue.last_entry().filter(is_there) {
                    let record = record_at(last.log_position);
                    let next = record.and_then(|record| offset_after(&record, name, queue_id));
                    slot.is_broken |= next != Some(slot.queue.end_offset());
                }
            }
        }
    }

    /// Position of the newest record that any queue points to.
    pub(crate) fn dispatched_position(&self) -> u64 {
        let queues = self.topics.iter().flat_map(Topic::queues);
        let last = queues.filter_map(|slot| slot.queue.last_entry());
        last.map(|entry| entry.log_position).max().unwrap_or(0)
    }

    /// Finds queues that begin late although no record has expired: they lost a file.
    pub(crate) fn check_starts(&mut self, min_position: u64) {
        for slot in self.all() {
            slot.is_broken |= min_position == 0 && slot.queue.first_offset() > 0;
        }
    }

    /// Starts a walk over the log; one over all of it, `oldest` being where that begins, fills the
    /// broken queues anew.
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

    /// Makes the record's queues agree with it.
    pub(crate) fn on_record(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        if !occupies_queue(record.sys_flag) {
            return Ok(());
        }
        let topic = std::str::from_utf8(record.topic).ok();
        let is_placed = match topic.zip(message_count(record)) {
            Some((topic, count)) => self.place(record, topic, count)?,
            None => false,
        };
        self.report.records_unqueued += u64::from(!is_placed);
        Ok(())
    }

    /// As [`Self::on_record`]; `false` if the record has no place in its own queue.
    fn place(
        &mut self,
        record: &RecordView<'_>,
        topic: &str,
        count: u16,
    ) -> Result<bool, StoreError> {
        let levels = (topic == SCHEDULE_TOPIC).then_some(&*self.delay_levels_ms);
        let tags_code = tags_code(record.properties, record.store_timestamp_ms, levels);
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        let size = record.bytes.len() as u32;
        let mut placed = Placed {
            entry: QueueEntry {
                log_position: record.log_position,
                size,
                tags_code,
            },
            offset: record.queue_offset,
            count,
            store_timestamp_ms: record.store_timestamp_ms,
        };
        if levels.is_some()
            && let Some(stored) = self.stored_time(topic, record.queue_id, &placed)
        {
            placed.entry.tags_code = stored;
        }
        if is_inner_batch(record.sys_flag) && !self.admits_inner_batches(topic)? {
            return Ok(false);
        }
        let is_placed = self.reconcile(topic, record.queue_id, &placed)?;
        let has_light_places = |topic: &Topic| topic.layout == Layout::Plain;
        if self.topics.get(topic).is_some_and(has_light_places) {
            for (name, offset) in light_places(record) {
                if self.makes_light_queues || self.topics.get(name).is_some() {
                    self.reconcile(name, LIGHT_QUEUE_ID, &Placed { offset, ..placed })?;
                }
            }
        }
        Ok(is_placed)
    }

    /// The time of delivery under which a delayed message is in its queue already.
    fn stored_time(&self, topic: &str, queue_id: i32, placed: &Placed) -> Option<i64> {
        let index = usize::try_from(queue_id).ok()?;
        let slot = self.topics.get(topic)?.slots.get(index)?.as_ref()?;
        slot.queue.stored_time(placed)
    }

    /// Makes the queue agree with one record; `false` if it cannot hold it.
    fn reconcile(
        &mut self,
        topic: &str,
        queue_id: i32,
        placed: &Placed,
    ) -> Result<bool, StoreError> {
        let is_from_oldest = self.is_from_oldest;
        if placed.offset <= OFFSET_MAX
            && let Some(slot) = self.find(topic, queue_id)
            && slot.may_hold(placed)
        {
            slot.reconcile(placed, is_from_oldest)?;
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the topic has batch queues. One whose queues were made from its records gets them with
    /// its first inner batch, and its queues anew in another pass.
    fn admits_inner_batches(&mut self, name: &str) -> Result<bool, StoreError> {
        let topic = self.topics.get_or_add(name, Layout::Batch);
        if topic.layout == Layout::Batch || topic.is_stored {
            return Ok(topic.layout == Layout::Batch);
        }
        let homes = self.table.homes();
        topic.layout = Layout::Batch;
        if topic.queues().next().is_none() {
            return Ok(true);
        }
        self.has_new_layout = true;
        let file_size = homes.file_size(Layout::Batch);
        for (queue_id, slot) in (0..).zip(&mut topic.slots) {
            let Some(slot) = slot else { continue };
            let path = homes.queue_dir(Layout::Batch, name, queue_id);
            *slot = Rebuilding::new(StoredQueue::empty(path, Layout::Batch, file_size));
            slot.is_broken = true;
        }
        remove_dir(&homes.dir(Layout::Plain).join(name))?;
        Ok(true)
    }

    /// Whether queues were emptied since the last call because they turned out to be batch queues.
    pub(crate) fn take_new_layout(&mut self) -> bool {
        std::mem::take(&mut self.has_new_layout)
    }

    fn find(&mut self, topic: &str, queue_id: i32) -> Option<&mut Rebuilding> {
        let known = usize::try_from(queue_id).ok().filter(|index| {
            let slots = self.topics.get(topic).map(|topic| &topic.slots);
            slots
                .and_then(|slots| slots.get(*index))
                .is_some_and(Option::is_some)
        });
        let index = known.or_else(|| self.queue_index(topic, queue_id))?;
        if known.is_none() {
            let found = self.topics.get(topic);
            let layout = found.map_or(Layout::Plain, |topic| topic.layout);
            let homes = self.table.homes();
            let path = homes.queue_dir(layout, topic, queue_id);
            let file_size = homes.file_size(layout);
            self.insert(topic, index, StoredQueue::empty(path, layout, file_size));
        }
        let slots = &mut self.topics.get_mut(topic)?.slots;
        slots.get_mut(index)?.as_mut()
    }

    /// Whether some queue must be filled anew.
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
        for slot in self.topics.iter().flat_map(Topic::queues) {
            report.entries_added += slot.entries_added;
            report.offsets_missing += slot.offsets_missing;
        }
        report
    }

    /// The finished table; queues start at the first entry whose record is still there.
    ///
    /// What recovery changed counts as touched. After an unclean stop nobody knows whether entries of
    /// walked records are on the disk, so their queues do as well.
    pub(crate) fn finish(mut self, min_position: u64, was_clean: bool) -> QueueTable {
        for (name, topic) in self.topics.into_named() {
            for (queue_id, slot) in (0..).zip(topic.slots) {
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
