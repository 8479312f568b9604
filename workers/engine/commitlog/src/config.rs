//! What a store is opened with.

use std::path::PathBuf;

use crate::error::StoreError;
use crate::index_layout::Shape;
use crate::queue_layout::{ENTRY_BYTES, OFFSET_MAX};
use crate::record::CrcProperty;
use crate::timer_layout::{TIMER_ROOM, TimerSteps};

/// Smallest segment: room for a few records and the blank header.
const SEGMENT_SIZE_MIN: u64 = 4096;
/// Segments are mapped whole and record sizes are signed 32-bit integers.
const BODY_SIZE_LIMIT: usize = 1 << 30;
/// Stock computes the size of an index file in 32 bits.
const INDEX_FILE_SIZE_MAX: u64 = i32::MAX as u64;

/// A wheel has twice as many slots, so that the window and what is late both have room.
const TIMER_WINDOW_STEPS_MAX: i64 = 7 * 86_400;

/// A message waits at most this long before it is written again: the timer log has 32 bits for the
/// time.
const TIMER_WINDOW_MS_MAX: i64 = i32::MAX as i64;

/// The levels of stock's `messageDelayLevel`: 1s 5s 10s 30s 1m … 10m 20m 30m 1h 2h.
pub const DELAY_LEVELS_MS: [i64; 18] = [
    1_000, 5_000, 10_000, 30_000, 60_000, 120_000, 180_000, 240_000, 300_000, 360_000, 420_000,
    480_000, 540_000, 600_000, 1_200_000, 1_800_000, 3_600_000, 7_200_000,
];

/// When appended records become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlushMode {
    /// Acknowledged from memory, flushed on a timer.
    Async,
    /// Acknowledged once flushed; the caller groups commits by calling [`crate::Store::flush`].
    Sync,
}

/// Settings of one store; every default is stock's (storage-and-ha.md 10.1).
#[derive(Debug, Clone)]
pub struct StoreConfig {
    /// `storePathRootDir`.
    pub root: PathBuf,
    /// `storePathCommitLog`; `<root>/commitlog` when absent.
    pub commit_log_dir: Option<PathBuf>,
    /// `mappedFileSizeCommitLog`.
    pub segment_size_bytes: u64,
    /// `mappedFileSizeConsumeQueue`, rounded up to a multiple of 20.
    pub queue_file_size_bytes: u64,
    /// `flushDiskType`.
    pub flush_mode: FlushMode,
    /// How often the caller means to call [`crate::Store::flush`] in async mode.
    pub flush_interval_ms: u64,
    /// How often [`crate::Store::flush_tick`] flushes every touched queue.
    pub queue_flush_interval_ms: u64,
    /// `maxMessageSize`; a whole record may be 64 KiB longer.
    pub message_body_size_max: usize,
    /// Delay of level 1, 2, … in milliseconds.
    pub delay_levels_ms: Vec<i64>,
    /// `autoMessageVersionOnTopicLen`: V2 records for topics over 127 characters.
    pub message_version_by_topic_length: bool,
    /// `enabledAppendPropCRC` and `forceVerifyPropCRC`.
    pub crc_property: CrcProperty,
    /// `messageIndexEnable`: whether [`crate::Store::advance_followers`] builds the key index. What is built
    /// already is searched, cut and expired either way.
    pub index_enabled: bool,
    /// `maxHashSlotNum`.
    pub index_slot_count: u32,
    /// `maxIndexNum`; entry 0 is never used, so a file holds one less.
    pub index_entry_count: u32,
    /// How far ahead of the writer the helper thread populates pages.
    pub populate_ahead_bytes: u64,
    /// How much of the log behind its end is taken to be in memory (`accessMessageInMemoryMaxRatio`
    /// of the machine's). Reads farther behind are cold: smaller, and their pages are given back.
    pub hot_size_bytes: u64,
    /// Offset of the first message of a queue that has had none: not 0 in a log whose queues continue those of
    /// a log that is gone.
    pub first_queue_offset: u64,
    /// How many bytes of the log cold reads leave in memory, all of them together.
    pub cold_cache_bytes: u64,
    /// `timerPrecisionMs`: messages are delivered at multiples of it.
    pub timer_precision_ms: i64,
    /// `timerRollWindowSlot`: how many times the precision a message waits before it is written
    /// again, at most 24 days.
    pub timer_window_steps: i64,
    /// `mappedFileSizeTimerLog`.
    pub timer_log_file_size_bytes: u64,
    /// Position at which an operator allows a damaged log to be cut, although valid records
    /// follow. Without it a store so damaged is read-only (D13).
    pub cut_damage_at: Option<u64>,
}

impl StoreConfig {
    /// How many slots and entries an index file has.
    pub(crate) fn index_shape(&self) -> Shape {
        Shape {
            slot_count: self.index_slot_count,
            entry_count: self.index_entry_count,
        }
    }

    pub(crate) fn timer_steps(&self) -> TimerSteps {
        TimerSteps {
            step_ms: self.timer_precision_ms,
            window_steps: self
                .timer_window_steps
                .min(TIMER_WINDOW_MS_MAX / self.timer_precision_ms),
        }
    }

    /// The stock defaults for a store in `root`.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            commit_log_dir: None,
            segment_size_bytes: 1 << 30,
            queue_file_size_bytes: 6_000_000,
            flush_mode: FlushMode::Async,
            flush_interval_ms: 500,
            queue_flush_interval_ms: 10_000,
            message_body_size_max: 4 << 20,
            delay_levels_ms: DELAY_LEVELS_MS.to_vec(),
            message_version_by_topic_length: true,
            crc_property: CrcProperty::Off,
            index_enabled: true,
            index_slot_count: 5_000_000,
            index_entry_count: 20_000_000,
            populate_ahead_bytes: 32 << 20,
            hot_size_bytes: u64::MAX,
            first_queue_offset: 0,
            cold_cache_bytes: 256 << 20,
            timer_precision_ms: 1000,
            timer_window_steps: 2 * 86_400,
            timer_log_file_size_bytes: 100 << 20,
            cut_damage_at: None,
        }
    }

    /// Where the files of the log are.
    pub(crate) fn log_dir(&self) -> PathBuf {
        let elsewhere = self.commit_log_dir.clone();
        elsewhere.unwrap_or_else(|| self.root.join("commitlog"))
    }

    /// The settings as a store uses them, or what is wrong with one.
    pub(crate) fn validated(mut self) -> Result<Self, StoreError> {
        let invalid = |text: &str| Err(StoreError::Setting(text.into()));
        if self.segment_size_bytes < SEGMENT_SIZE_MIN {
            return invalid("segment_size_bytes must be at least 4096");
        }
        if self.message_body_size_max > BODY_SIZE_LIMIT {
            return invalid("message_body_size_max must be at most 1 GiB");
        }
        let has_index_counts = self.index_slot_count > 0 && self.index_entry_count > 1;
        if !has_index_counts || self.index_shape().file_size() > INDEX_FILE_SIZE_MAX {
            return invalid(
                "index_slot_count and index_entry_count must give a file of up to 2 GiB",
            );
        }
        if !(1..=TIMER_WINDOW_MS_MAX / 2).contains(&self.timer_precision_ms) {
            return invalid("timer_precision_ms must be from 1 ms to 12 days");
        }
        if !(2..=TIMER_WINDOW_STEPS_MAX).contains(&self.timer_window_steps) {
            return invalid("timer_window_steps must be from 2 to 604800");
        }
        if self.timer_log_file_size_bytes < TIMER_ROOM as u64 {
            return invalid("timer_log_file_size_bytes must hold an entry");
        }
        if self.first_queue_offset > OFFSET_MAX {
            return invalid("first_queue_offset is too large");
        }
        // A file holds whole entries only.
        let rounded = self
            .queue_file_size_bytes
            .checked_next_multiple_of(ENTRY_BYTES)
            .filter(|rounded| i64::try_from(*rounded).is_ok());
        match rounded {
            Some(0) => return invalid("queue_file_size_bytes must not be 0"),
            Some(rounded) => self.queue_file_size_bytes = rounded,
            None => return invalid("queue_file_size_bytes is too large"),
        }
        Ok(self)
    }
}
