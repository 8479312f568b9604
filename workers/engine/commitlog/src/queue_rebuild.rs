//! Queues during recovery: each record of the log is compared with its queue entry.
//!
//! The log rules, and later records win. That also brings out right a topic that was deleted and
//! created again: the records of its first life give way to those of the second.

use std::path::PathBuf;

use ahash::AHashMap;

use crate::config::StoreConfig;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::files::sync_file_system;
use crate::message::{QUEUE_ID_MAX, QueueEntry};
use crate::properties::tags_code;
use crate::queue::{ENTRY_SIZE, is_filler};
use crate::queue_flush::FLUSHED_SINGLY_COUNT_MAX;
use crate::record::{RECORD_SIZE_MIN, RecordView, is_inner_batch, occupies_queue};
use crate::recovery::RecoveryReport;
use crate::stored_queue::{StoredQueue, list_queues};
use crate::table::{QueueTable, SCHEDULE_TOPIC};

/// Last offset whose place in the queue's files is a signed 64-bit integer.
const OFFSET_MAX: u64 = i64::MAX as u64 / ENTRY_SIZE as u64 - 1;

/// All queues while the log is walked.
#[derive(Debug)]
pub(crate) struct QueueRebuild {
    table: QueueTable,
    file_size: u64,
    delay_levels_ms: Vec<i64>,
    topics: AHashMap<String, Vec<Option<Rebuilding>>>,
    /// Whether the current pass sees every record there is.
    is_from_oldest: bool,
    report: RecoveryReport,
}

/// One queue while the log is walked.
#[derive(Debug)]
struct Rebuilding {
    queue: StoredQueue,
    /// Offset after the last record seen; `None` before the first.
    confirmed_end: Option<u64>,
    /// A record was passed over because the queue seemed to be younger than it.
    has_passed_over: bool,
    /// Records before the walk's start are needed.
    is_broken: bool,
    entries_added: u64,
    offsets_missing: u64,
}

impl QueueRebuild {
    /// No queue yet; those of the records to come are made in `dir`.
    pub(crate) fn empty(config: &StoreConfig, dir: PathBuf) -> Self {
        let file_size = config.queue_file_size_bytes;
        Self {
            table: QueueTable::new(dir, file_size, config.message_version_by_topic_length),
            file_size,
            delay_levels_ms: config.delay_levels_ms.clone(),
            topics: AHashMap::new(),
            is_from_oldest: false,
            report: RecoveryReport::default(),
        }
    }

    /// Loads every queue of the store.
    pub(crate) fn load(
        config: &StoreConfig,
        directory: &StoreDirectory,
        is_clean: bool,
    ) -> Result<Self, StoreError> {
        let dir = directory.consume_queues();
        let mut rebuild = Self::empty(config, dir.clone());
        let file_size = rebuild.file_size;
        for (topic, queue_id) in list_queues(&dir)? {
            if let Some(index) = rebuild.queue_index(&topic, queue_id) {
                let path = dir.join(&topic).join(queue_id.to_string());
                let queue = StoredQueue::load(path, file_size, is_clean)?;
                rebuild.insert(&topic, index, queue);
            }
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
        let slots = self.topics.entry(topic.to_owned()).or_default();
        if slots.len() <= index {
            slots.resize_with(index + 1, || None);
        }
        slots[index] = Some(Rebuilding::new(queue));
    }

    fn all(&mut self) -> impl Iterator<Item = &mut Rebuilding> {
        self.topics.values_mut().flatten().flatten()
    }

    /// Cuts every queue where the log was cut, and makes that durable.
    pub(crate) fn cut_behind(&mut self, log_position: u64) -> Result<(), StoreError> {
        let queue_count = self.all().count();
        for slot in self.all() {
            slot.queue.cut_behind(log_position, 0)?;
            // Those that need no cut as well: an earlier attempt may not have been synced.
            if queue_count <= FLUSHED_SINGLY_COUNT_MAX {
                slot.queue.flush_end()?;
            }
        }
        if queue_count > FLUSHED_SINGLY_COUNT_MAX {
            sync_file_system(self.table.dir())?;
        }
        Ok(())
    }

    /// Finds queues whose next offset does not follow from the record of their last entry
    /// (targets.md 6, row 4). Where the record has expired, the entry is all there is.
    pub(crate) fn check_ends<'l>(
        &mut self,
        min_position: u64,
        record_at: impl Fn(u64) -> Option<RecordView<'l>>,
    ) {
        for slot in self.all() {
            let last = slot.queue.last_entry();
            let is_there =
                |last: &QueueEntry| !is_filler(last) && last.log_position >= min_position;
            if let Some(last) = last.filter(is_there) {
                let next = record_at(last.log_position).map(|record| record.queue_offset + 1);
                slot.is_broken |= next != Some(slot.queue.end_offset());
            }
        }
    }

    /// Position of the newest record that any queue points to.
    pub(crate) fn dispatched_position(&self) -> u64 {
        let queues = self.topics.values().flatten().flatten();
        let last = queues.filter_map(|slot| slot.queue.last_entry());
        last.map(|entry| entry.log_position).max().unwrap_or(0)
    }

    /// Finds queues that begin late although no record has expired: they lost a file.
    pub(crate) fn check_starts(&mut self, min_position: u64) {
        for slot in self.all() {
            slot.is_broken |= min_position == 0 && slot.queue.first_offset() > 0;
        }
    }

    /// Starts a walk over the log; one over all of it fills the broken queues anew.
    pub(crate) fn begin_pass(&mut self, is_from_oldest: bool) -> Result<(), StoreError> {
        self.report.records_unqueued = 0;
        let mut rebuilt = 0;
        for slot in self.all() {
            slot.confirmed_end = None;
            slot.has_passed_over = false;
            if is_from_oldest && slot.is_broken {
                slot.queue.restart_at(0)?;
                slot.is_broken = false;
                rebuilt += 1;
            }
        }
        self.is_from_oldest = is_from_oldest;
        self.report.queues_rebuilt += rebuilt;
        Ok(())
    }

    /// Makes the record's queue agree with it.
    pub(crate) fn on_record(&mut self, record: &RecordView<'_>) -> Result<(), StoreError> {
        if !occupies_queue(record.sys_flag) || is_inner_batch(record.sys_flag) {
            return Ok(());
        }
        let Ok(topic) = std::str::from_utf8(record.topic) else {
            self.report.records_unqueued += 1;
            return Ok(());
        };
        let levels = (topic == SCHEDULE_TOPIC).then_some(&*self.delay_levels_ms);
        let tags_code = tags_code(record.properties, record.store_timestamp_ms, levels);
        #[allow(clippy::cast_possible_truncation)] // a record's size is a 32-bit field
        let size = record.bytes.len() as u32;
        let entry = QueueEntry {
            log_position: record.log_position,
            size,
            tags_code,
        };
        let is_from_oldest = self.is_from_oldest;
        if record.queue_offset <= OFFSET_MAX
            && let Some(slot) = self.find(topic, record.queue_id)
            && slot.may_hold(record.queue_offset, &entry)
        {
            return slot.reconcile(record.queue_offset, &entry, is_from_oldest);
        }
        self.report.records_unqueued += 1;
        Ok(())
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
            let path = self.table.queue_dir(topic, queue_id);
            self.insert(topic, index, StoredQueue::empty(path, self.file_size));
        }
        self.topics.get_mut(topic)?.get_mut(index)?.as_mut()
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
        for slot in self.topics.values().flatten().flatten() {
            report.entries_added += slot.entries_added;
            report.offsets_missing += slot.offsets_missing;
        }
        report
    }

    /// The finished table; queues start at the first entry whose record is still there.
    ///
    /// After an unclean stop nobody knows whether entries of walked records are on the disk, so
    /// their queues count as touched.
    pub(crate) fn finish(mut self, min_position: u64, was_clean: bool) -> QueueTable {
        for (topic, slots) in self.topics {
            for (queue_id, slot) in (0..).zip(slots) {
                let Some(slot) = slot else { continue };
                let is_touched = slot.confirmed_end.is_some() && !was_clean;
                let writer = slot.queue.into_writer();
                writer.shared().correct_min_offset(min_position);
                if !is_touched {
                    writer.shared().assume_flushed(writer.end_offset());
                }
                self.table.insert(&topic, queue_id, writer, is_touched);
            }
        }
        self.table
    }
}

impl Rebuilding {
    fn new(queue: StoredQueue) -> Self {
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
    fn has_lost_entries(&self, dropped_from: u64) -> bool {
        let last = self.queue.last_entry();
        let is_stray = last.is_some_and(|last| last.log_position >= dropped_from);
        self.confirmed_end.is_none() && (is_stray || self.queue.is_cut_short())
    }

    /// Whether the log has room for all records between the queue's last one and this one.
    ///
    /// No checksum covers a record's offset. A wrong one must not make the queue fill the disk.
    fn may_hold(&self, offset: u64, entry: &QueueEntry) -> bool {
        let Some(last) = self.queue.last_entry() else {
            return true;
        };
        let missing = offset.saturating_sub(self.queue.end_offset());
        let room = entry.log_position.saturating_sub(last.log_position);
        missing == 0
            || last.log_position > entry.log_position
            || missing <= room / RECORD_SIZE_MIN as u64
    }

    fn reconcile(
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
            if queue.entry(offset) == Some(*entry) {
                self.confirmed_end = Some(offset + 1);
                return Ok(());
            }
            queue.truncate(offset)?;
        } else if offset > end {
            if queue
                .last_entry()
                .is_some_and(|last| last.log_position > entry.log_position)
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
