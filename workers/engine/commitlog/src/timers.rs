//! Timers: which messages of the timer topic are due when (storage-and-ha.md 6.4 to 6.7).
//!
//! Wheel, timer log and checkpoint are derived from the queue of the timer topic, message by message. The
//! log is the truth: what the checkpoint does not vouch for is derived again, and so is the whole wheel at
//! each opening. Nothing of it is made before the first message.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::config::StoreConfig;
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{create_dir, open_if_there, remove_dir, remove_file, replace_file, sync_dir};
use crate::log::SharedLog;
use crate::record::{Found, RecordView, locate};
use crate::timer_layout::{
    NOWHERE, Slot, TIMER_CHECKPOINT_FILE_SIZE, TIMER_ENTRY_SIZE, TIMER_TOPIC, TimerCheckpoint,
    TimerEntry, TimerProgress, TimerSteps,
};

mod delivery;
mod held;
mod log;
mod wheel;

use delivery::advance;
pub(crate) use delivery::{Delivery, Passed, Source, Waiting};
pub use held::RealQueue;
use log::TimerLog;
pub(crate) use wheel::PART_COUNT;
use wheel::Wheel;

/// After so many slots without an entry the next one with one is looked for on the whole wheel.
const EMPTY_STEPS_MAX: u32 = 3_600;

/// How timers stand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TimerStatus {
    /// How far the deliveries are.
    pub progress: TimerProgress,
    /// Messages that wait, less those that are cancelled.
    pub waiting_count: u64,
    /// Offset of the next message of the timer topic that the wheel takes.
    pub next_offset: u64,
    /// The waiting messages by the hour in which they are due: its start in milliseconds, and their number.
    pub by_hour: Vec<(i64, u64)>,
    /// The same by minute, for the present minute and those of one hour after it.
    pub by_minute: Vec<(i64, u64)>,
    /// Waiting messages whose slot is over.
    pub overdue_count: u64,
    /// When the first and the last slot with a waiting message are over, in milliseconds.
    pub due_ms: Option<(i64, i64)>,
}

/// Messages for a time of one topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicTimers {
    /// Name of the topic.
    pub topic: String,
    /// Messages that wait, less those that are cancelled.
    pub waiting_count: u64,
    /// Those of them that wait for a later slot than the wheel has: they are written again before.
    pub rolled_count: u64,
}

/// Timers of one store.
#[derive(Debug)]
pub(crate) struct Timers {
    wheel_path: PathBuf,
    log_dir: PathBuf,
    checkpoint_path: PathBuf,
    log_file_size: u64,
    pub(crate) steps: TimerSteps,
    /// Made with the first message.
    files: Option<TimerFiles>,
    /// Offset of the next message to take.
    pub(crate) next_offset: u64,
    /// Whether that message waits for a place on the wheel.
    is_held_up: bool,
    pub(crate) progress: TimerProgress,
    pub(crate) delivery: Option<Delivery>,
    /// Whether messages were delivered since the last flush.
    pub(crate) has_delivered: bool,
    /// The content of the file.
    checkpoint: Option<TimerCheckpoint>,
}

#[derive(Debug)]
struct TimerFiles {
    wheel: Wheel,
    log: TimerLog,
}

impl Timers {
    /// Of a store that is only read: nothing is looked at.
    pub(crate) fn idle(config: &StoreConfig) -> Self {
        Self {
            wheel_path: config.root.join("timerwheel"),
            log_dir: config.root.join("timerlog"),
            checkpoint_path: config.root.join("config").join("timercheck"),
            log_file_size: config.timer_log_file_size_bytes,
            steps: config.timer_steps(),
            files: None,
            next_offset: 0,
            is_held_up: false,
            progress: TimerProgress::default(),
            delivery: None,
            has_delivered: false,
            checkpoint: None,
        }
    }

    /// Loads what the checkpoint vouches for, as far as the log of messages holds it.
    pub(crate) fn load(config: &StoreConfig, log: &SharedLog) -> Result<Self, StoreError> {
        let mut timers = Self::idle(config);
        timers.checkpoint = read_checkpoint(&timers.checkpoint_path)?;
        let Some(checkpoint) = timers.checkpoint else {
            return Ok(timers);
        };
        timers.next_offset = checkpoint.queue_offset;
        timers.progress.read_ms = checkpoint.read_ms;
        timers.progress.queue_offset = checkpoint.queue_offset;
        // Stock logs no message that is due when it is taken, and perhaps makes no file.
        if checkpoint.log_end > 0 || timers.log_dir.is_dir() {
            timers.files = Some(timers.open_files(checkpoint.log_end)?);
            timers.replay(log, checkpoint.log_end)?;
        }
        Ok(timers)
    }

    /// Forgets all messages, so that those of the queue are taken from the first one on; the progress stays.
    pub(crate) fn restart(&mut self, config: &StoreConfig) -> Result<(), StoreError> {
        // Without it the other files say nothing.
        remove_file(&self.checkpoint_path)?;
        self.files = None;
        remove_dir(&self.log_dir)?;
        remove_file(&self.wheel_path)?;
        *self = Self {
            progress: self.progress,
            ..Self::idle(config)
        };
        Ok(())
    }

    /// Whether only this checkpoint knows how far timers are, as stock wrote it.
    pub(crate) fn is_of_stock(&self) -> bool {
        self.checkpoint.is_some_and(|it| it.is_of_stock)
    }

    fn open_files(&self, end: u64) -> Result<TimerFiles, StoreError> {
        Ok(TimerFiles {
            wheel: Wheel::create(&self.wheel_path)?,
            log: TimerLog::open(&self.log_dir, self.log_file_size, end)?,
        })
    }

    /// Makes the wheel from the timer log, which ends before the first entry of a record that is not in
    /// the log of messages.
    fn replay(&mut self, log: &SharedLog, vouched_end: u64) -> Result<(), StoreError> {
        let Some(files) = &mut self.files else {
            return Ok(());
        };
        let mut at = files.log.begin();
        let mut last = None;
        loop {
            at = files.log.place_from(at);
            let Ok(position) = i64::try_from(at) else {
                break;
            };
            let Some(entry) = files.log.entry(position) else {
                break;
            };
            let record_at = u64::try_from(entry.log_position).unwrap_or(u64::MAX);
            if record_at >= log.max_position()
                || last.is_some_and(|(before, _)| before >= record_at)
            {
                break;
            }
            files.put_in_slot(self.steps, &entry, position);
            at += TIMER_ENTRY_SIZE as u64;
            last = Some((record_at, at));
        }
        let end = last.map_or(files.log.begin(), |(_, end)| end);
        if end < files.log.end() {
            files.log.cut(end)?;
        }
        if end < vouched_end {
            // From the last message whose entry is there; without one, from the first message on.
            let newest = last.and_then(|(position, _)| queue_offset_at(log, position));
            self.next_offset = newest.map_or(0, |offset| offset + 1);
        }
        self.write_checkpoint()
    }

    /// Takes the next message of the timer topic; returns whether there was room for it on the wheel.
    pub(crate) fn take(&mut self, record: &RecordView<'_>) -> Result<bool, StoreError> {
        debug_assert_eq!(record.queue_offset, self.next_offset, "out of order");
        let Some(mut entry) = self.steps.place(record) else {
            self.next_offset += 1;
            return Ok(true);
        };
        if self.files.is_none() {
            self.files = Some(self.open_files(0)?);
        }
        let Some(files) = &mut self.files else {
            return Ok(false);
        };
        let time = entry.due_ms().div_euclid(self.steps.step_ms);
        let held = files.wheel.held(time);
        let is_undelivered = |slot: &Slot| {
            slot.last != NOWHERE && slot.time * self.steps.step_ms >= self.progress.read_ms
        };
        self.is_held_up = held.time < time && is_undelivered(&held);
        if self.is_held_up {
            return Ok(false);
        }
        if held.time == time {
            entry.previous = held.last;
        }
        let position = files.log.append(&entry)?;
        files.put_in_slot(self.steps, &entry, position);
        if let Some(delivery) = &mut self.delivery {
            delivery.note(&entry, self.next_offset, &self.progress, self.steps);
        }
        self.next_offset += 1;
        Ok(true)
    }

    /// The entries of the slot at a time, in the order of the log.
    pub(crate) fn entries_at(&self, time_ms: i64) -> Vec<TimerEntry> {
        let Some(files) = &self.files else {
            return Vec::new();
        };
        let time = time_ms.div_euclid(self.steps.step_ms);
        let (mut entries, _) = files.entries_back_from(files.wheel.slot(time).last, usize::MAX);
        entries.reverse();
        entries
    }

    /// The last entries of the slots of a part of the wheel that were not delivered yet, in no order.
    pub(crate) fn waiting_ends(&self, part: u64) -> Vec<i64> {
        let slots = self.files.iter().flat_map(|it| it.wheel.slots(part));
        let is_waiting = |slot: &Slot| slot.time * self.steps.step_ms >= self.progress.read_ms;
        slots.filter(is_waiting).map(|slot| slot.last).collect()
    }

    /// Entries of a slot from the one at a position backward, `count_max` at most, and the position of the
    /// one before them, or [`NOWHERE`].
    pub(crate) fn entries_back_from(&self, at: i64, count_max: usize) -> (Vec<TimerEntry>, i64) {
        match &self.files {
            Some(files) => files.entries_back_from(at, count_max),
            None => (Vec::new(), NOWHERE),
        }
    }

    /// Messages in the slot of a time, less those that are cancelled.
    pub(crate) fn count_at(&self, time_ms: i64) -> u64 {
        let time = time_ms.div_euclid(self.steps.step_ms);
        let count = |files: &TimerFiles| u64::try_from(files.wheel.slot(time).count).unwrap_or(0);
        self.files.as_ref().map_or(0, count)
    }

    /// The slots of a part of the wheel that were not delivered yet: time in milliseconds, and messages less
    /// those that are cancelled, in no order.
    pub(crate) fn waiting_slots(&self, part: u64) -> impl Iterator<Item = (i64, u64)> {
        let slots = self.files.iter().flat_map(move |it| it.wheel.slots(part));
        slots
            .map(move |slot| {
                let count = u64::try_from(slot.count).unwrap_or(0);
                (slot.time * self.steps.step_ms, count)
            })
            .filter(move |(time_ms, _)| *time_ms >= self.progress.read_ms)
    }

    /// Makes the next messages that are due ready, those that are late, held or a slot's; returns whether
    /// there are any. Without them, those that are held are tried at the next call.
    pub(crate) fn open_due(
        &mut self,
        now_ms: i64,
        cancelled_key: impl Fn(&TimerEntry) -> Option<Vec<u8>>,
    ) -> bool {
        let mut empty_count = 0;
        loop {
            let progress = self.progress;
            let Some(delivery) = &mut self.delivery else {
                return false;
            };
            let has_all = self.next_offset >= delivery.begins_at;
            if !has_all && !self.is_held_up {
                return false;
            }
            if has_all {
                delivery.settle(&progress);
            }
            if delivery.has_next() {
                return true;
            }
            if progress.read_ms.saturating_add(self.steps.step_ms) > now_ms {
                delivery.held.begin_round();
                return false;
            }
            let entries = self.entries_at(progress.read_ms);
            let Some(delivery) = &mut self.delivery else {
                return false;
            };
            if delivery.open_slot(entries, &progress, &cancelled_key) {
                return true;
            }
            advance(&mut self.progress, self.steps.step_ms);
            empty_count += 1;
            if empty_count == EMPTY_STEPS_MAX {
                self.skip_to_first(now_ms);
                empty_count = 0;
            }
        }
    }

    /// Goes on with the first slot that has an entry, or with the present.
    fn skip_to_first(&mut self, now_ms: i64) {
        let waiting = (0..PART_COUNT).flat_map(|part| self.waiting_slots(part));
        let first = waiting.map(|(time_ms, _)| time_ms).min();
        let now_ms = self.steps.floor(now_ms).max(self.progress.read_ms);
        self.progress.read_ms = first.map_or(now_ms, |first| first.min(now_ms));
    }

    /// Messages that were due, and that their queues did not take.
    pub(crate) fn held_count(&self) -> usize {
        self.delivery.as_ref().map_or(0, |it| it.held.count())
    }

    /// The messages that their queues did not take.
    fn held(&self) -> impl Iterator<Item = &TimerEntry> {
        let held = self.delivery.iter().flat_map(|it| it.held.messages());
        held.map(|waiting| &waiting.entry)
    }

    /// The messages that their queues did not take, and whose slots have passed: others are counted with
    /// their slot.
    pub(crate) fn held_back(&self) -> impl Iterator<Item = &TimerEntry> {
        self.held()
            .filter(|entry| entry.due_ms() < self.progress.read_ms)
    }

    /// Whether the progress covers all deliveries.
    pub(crate) fn is_settled(&self) -> bool {
        self.delivery.as_ref().is_none_or(Delivery::is_settled)
    }

    /// The progress that a record of the log may say: no late message lies before its offset.
    pub(crate) fn shown_progress(&self) -> TimerProgress {
        let late = self.delivery.as_ref().and_then(Delivery::first_late_offset);
        TimerProgress {
            queue_offset: if self.delivery.is_some() {
                late.unwrap_or(self.next_offset)
            } else {
                self.progress.queue_offset
            },
            ..self.progress
        }
    }

    /// Forgets files that only records before a log position need.
    pub(crate) fn expire(&mut self, min_position: u64) -> Result<(), StoreError> {
        match &mut self.files {
            Some(files) => files.log.expire(min_position),
            None => Ok(()),
        }
    }

    /// What a flush has to write, if anything has changed since the last one.
    ///
    /// # Errors
    /// A part of a file could not be written or read.
    pub(crate) fn begin_flush(&mut self, now_ms: i64) -> Result<Option<TimerFlush>, StoreError> {
        let Some(files) = &self.files else {
            return Ok(None);
        };
        files.wheel.check()?;
        files.log.check()?;
        let before = self.checkpoint.unwrap_or_default();
        let is_unchanged = before.log_end == files.log.end()
            && before.queue_offset == self.next_offset
            && !before.is_of_stock;
        // The read time alone advances all the time.
        if is_unchanged && !self.has_delivered {
            return Ok(None);
        }
        let checkpoint = TimerCheckpoint {
            read_ms: self
                .held()
                .fold(self.progress.read_ms, |first, one| first.min(one.due_ms())),
            log_end: files.log.end(),
            queue_offset: self.next_offset,
            master_offset: self.next_offset,
            is_of_stock: false,
            ..before
        };
        self.has_delivered = false;
        Ok(Some(TimerFlush {
            // The wheel last: it links to entries.
            files: [files.log.unflushed(), vec![self.wheel_path.clone()]].concat(),
            dir: self.log_dir.clone(),
            path: self.checkpoint_path.clone(),
            checkpoint: TimerCheckpoint {
                written_ms: now_ms.max(before.written_ms),
                counter: before.counter.saturating_add(1),
                ..checkpoint
            },
        }))
    }

    /// Notes that a flush is done.
    pub(crate) fn end_flush(&mut self, flush: &TimerFlush) {
        self.checkpoint = Some(flush.checkpoint);
        if let Some(files) = &mut self.files {
            files.log.set_flushed(flush.checkpoint.log_end);
        }
    }

    /// Writes how far the timer log is, with the other content as it was.
    fn write_checkpoint(&mut self) -> Result<(), StoreError> {
        let (Some(checkpoint), Some(files)) = (&mut self.checkpoint, &self.files) else {
            return Ok(());
        };
        checkpoint.log_end = files.log.end();
        checkpoint.queue_offset = self.next_offset;
        checkpoint.master_offset = self.next_offset;
        write_checkpoint(&self.checkpoint_path, checkpoint)
    }

    /// The integers of the checkpoint file, as replicas of stock ask for it.
    pub(crate) fn checkpoint_bytes(&self) -> Option<Vec<u8>> {
        self.checkpoint.map(|it| it.encode().to_vec())
    }
}

/// One flush of the files of timers, while messages are taken and delivered. The log of messages is flushed
/// before.
#[derive(Debug)]
pub(crate) struct TimerFlush {
    files: Vec<PathBuf>,
    dir: PathBuf,
    path: PathBuf,
    checkpoint: TimerCheckpoint,
}

impl TimerFlush {
    /// Syncs what the checkpoint vouches for.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        for path in &self.files {
            // One that is gone has expired.
            if let Some(file) = open_if_there(path)? {
                step(Step::SyncFile, path, || file.sync_data())
                    .map_err(|error| StoreError::io(path, error))?;
            }
        }
        sync_dir(&self.dir)
    }

    /// Writes the checkpoint; without room for it the former one stays, which is true as well.
    pub(crate) fn write(&self) -> Result<(), StoreError> {
        write_checkpoint(&self.path, &self.checkpoint)
    }
}

fn write_checkpoint(path: &Path, checkpoint: &TimerCheckpoint) -> Result<(), StoreError> {
    if let Some(dir) = path.parent() {
        create_dir(dir)?;
    }
    let mut content = checkpoint.encode().to_vec();
    content.resize(TIMER_CHECKPOINT_FILE_SIZE, 0);
    replace_file(path, &content)
}

impl TimerFiles {
    fn entries_back_from(&self, mut at: i64, count_max: usize) -> (Vec<TimerEntry>, i64) {
        let mut entries = Vec::new();
        while at != NOWHERE && entries.len() < count_max {
            let Some(entry) = self.log.entry(at) else {
                return (entries, NOWHERE);
            };
            // Only an entry that a disk damaged links to a later one.
            at = if entry.previous < at {
                entry.previous
            } else {
                NOWHERE
            };
            entries.push(entry);
        }
        (entries, at)
    }

    /// Adds an entry to its slot. A slot of a later time in its place stays.
    fn put_in_slot(&mut self, steps: TimerSteps, entry: &TimerEntry, position: i64) {
        let time = entry.due_ms().div_euclid(steps.step_ms);
        let held = self.wheel.held(time);
        if held.time > time {
            return;
        }
        let slot = if held.time == time {
            held
        } else {
            Slot::empty(time)
        };
        self.wheel.put(&Slot {
            time,
            first: if slot.first == NOWHERE {
                position
            } else {
                slot.first
            },
            last: position,
            count: slot.count.saturating_add(entry.weight()),
        });
    }
}

fn read_checkpoint(path: &Path) -> Result<Option<TimerCheckpoint>, StoreError> {
    match fs::read(path) {
        Ok(bytes) => Ok(TimerCheckpoint::decode(&bytes)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(StoreError::io(path, error)),
    }
}

/// The queue offset of the timer topic's record at a log position, if one lies there.
fn queue_offset_at(log: &SharedLog, position: u64) -> Option<u64> {
    let segment = log.segment_at(position)?;
    match locate(segment.bytes_from(position)?, position).ok()? {
        Found::Record(record) if record.topic == TIMER_TOPIC.as_bytes() => {
            Some(record.queue_offset)
        }
        _ => None,
    }
}
