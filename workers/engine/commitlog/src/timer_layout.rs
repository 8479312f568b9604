//! The files of timers: the slots of the wheel, the entries of the timer log, the checkpoint
//! (storage-and-ha.md 6.4 to 6.6).
//!
//! ```text
//! slot        0 time i64, in steps | 8 first i64 | 16 last i64 | 24 count i32 | 28 magic i32
//! entry       0 size i32 | 4 previous i64 | 12 magic i32 | 16 writeTime i64 | 24 delay i32
//!            28 log position i64 | 36 record size i32 | 40 hash of the topic i32 | 44 zero i64
//! filler      0 rest of the file i32 | 4 zero i64 | 12 magic
//! checkpoint  0 lastReadTimeMs | 8 lastTimerLogFlushPos | 16 lastTimerQueueOffset
//!            24 masterTimerQueueOffset | 32 stateVersion | 40 timestamp | 48 counter
//! ```

use crate::cursor::{Reader, Writer};
use crate::properties::{find_property, java_hash};
use crate::record::{MAGIC_BLANK, RecordView};

/// The topic that holds messages until they are due, all in queue 0.
pub(crate) const TIMER_TOPIC: &str = "rmq_sys_wheel_timer";

/// Slots of a wheel, whatever its step: twice stock's window of seven days of seconds.
pub(crate) const SLOT_COUNT: u64 = 2 * 7 * 86_400;
pub(crate) const SLOT_SIZE: usize = 32;
pub(crate) const TIMER_ENTRY_SIZE: usize = 52;
const FILLER_SIZE: usize = 16;
/// The room without which an entry goes to the next file.
pub(crate) const TIMER_ROOM: usize = TIMER_ENTRY_SIZE + FILLER_SIZE;
/// Of the checkpoint that brokers give each other.
pub(crate) const TIMER_CHECKPOINT_SIZE: usize = 56;
/// Of the file, which has zeros behind it.
pub(crate) const TIMER_CHECKPOINT_FILE_SIZE: usize = 4096;

/// The position that stands for no entry.
pub(crate) const NOWHERE: i64 = -1;

const MAGIC_DEFAULT: i32 = 1;
const MAGIC_ROLL: i32 = 2;
const MAGIC_CANCEL: i32 = 4;
const MAGIC_BITS: i32 = 0xF;

/// The `stateVersion` of a checkpoint of ours, which stock never writes: the log knows more.
const OURS: i64 = -1;

/// The messages that are due at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    /// In steps of the wheel since the epoch.
    pub(crate) time: i64,
    pub(crate) first: i64,
    pub(crate) last: i64,
    /// Messages less those that are cancelled.
    pub(crate) count: i32,
}

impl Slot {
    pub(crate) fn empty(time: i64) -> Self {
        Self {
            time,
            first: NOWHERE,
            last: NOWHERE,
            count: 0,
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        Some(Self {
            time: input.i64()?,
            first: input.i64()?,
            last: input.i64()?,
            count: input.i32()?,
        })
    }

    pub(crate) fn encode(&self, bytes: &mut [u8]) {
        let mut out = Writer::new(bytes);
        out.put_i64(self.time);
        out.put_i64(self.first);
        out.put_i64(self.last);
        out.put_i32(self.count);
        out.put_i32(0);
    }
}

/// One entry of the timer log: a message of the timer topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimerEntry {
    /// Where the slot's entry before this one is, or [`NOWHERE`].
    pub(crate) previous: i64,
    magic: i32,
    write_ms: i64,
    delay_ms: i32,
    pub(crate) log_position: i64,
    pub(crate) record_size: i32,
    pub(crate) topic_hash: i32,
}

impl TimerEntry {
    /// The time of its slot.
    pub(crate) fn due_ms(&self) -> i64 {
        self.write_ms.saturating_add(i64::from(self.delay_ms))
    }

    /// Whether its message goes on to a later slot.
    pub(crate) fn is_rolled(&self) -> bool {
        self.magic & MAGIC_ROLL != 0
    }

    /// Whether its message cancels another one.
    pub(crate) fn cancels(&self) -> bool {
        self.magic & MAGIC_CANCEL != 0
    }

    /// What it adds to the count of its slot.
    pub(crate) fn weight(&self) -> i32 {
        if self.cancels() { -1 } else { 1 }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        let size = input.i32()?;
        let entry = Self {
            previous: input.i64()?,
            magic: input.i32()?,
            write_ms: input.i64()?,
            delay_ms: input.i32()?,
            log_position: input.i64()?,
            record_size: input.i32()?,
            topic_hash: input.i32()?,
        };
        let is_magic = entry.magic != 0 && entry.magic & !MAGIC_BITS == 0;
        let is_entry = is_magic && usize::try_from(size) == Ok(TIMER_ENTRY_SIZE);
        is_entry.then_some(entry)
    }

    pub(crate) fn encode(&self, bytes: &mut [u8]) {
        let mut out = Writer::new(bytes);
        #[allow(clippy::cast_possible_wrap, clippy::cast_possible_truncation)] // a small constant
        out.put_i32(TIMER_ENTRY_SIZE as i32);
        out.put_i64(self.previous);
        out.put_i32(self.magic);
        out.put_i64(self.write_ms);
        out.put_i32(self.delay_ms);
        out.put_i64(self.log_position);
        out.put_i32(self.record_size);
        out.put_i32(self.topic_hash);
        out.put_i64(0);
    }
}

/// Ends a file of the timer log that has no room for another entry.
pub(crate) fn encode_filler(rest: &mut [u8]) {
    let size = u32::try_from(rest.len()).unwrap_or_default();
    if rest.len() >= FILLER_SIZE {
        let mut out = Writer::new(rest);
        out.put_u32(size);
        out.put_i64(0);
        out.put_u32(MAGIC_BLANK);
    }
}

/// How far ahead a wheel holds messages, and in what steps (`timerPrecisionMs`,
/// `timerRollWindowSlot`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimerSteps {
    pub(crate) step_ms: i64,
    pub(crate) window_steps: i64,
}

impl TimerSteps {
    /// The start of the step that holds a time.
    pub(crate) fn floor(self, time_ms: i64) -> i64 {
        time_ms - time_ms.rem_euclid(self.step_ms)
    }

    /// The entry of a message of the timer topic; `None` for one that names no time.
    ///
    /// A message beyond the window is placed within it, by its store time and not by the clock: so the
    /// place is the same on each broker that holds the log, whenever it reads it.
    pub(crate) fn place(self, record: &RecordView<'_>) -> Option<TimerEntry> {
        let out = find_property(record.properties, b"TIMER_OUT_MS")?;
        let out_ms: i64 = std::str::from_utf8(out).ok()?.parse().ok()?;
        let write_ms = self.floor(record.store_timestamp_ms);
        let (ahead_ms, window_ms) = (
            self.floor(out_ms).checked_sub(write_ms)?,
            self.window_steps * self.step_ms,
        );
        let mut magic = MAGIC_DEFAULT;
        let delay_ms = if ahead_ms < window_ms {
            ahead_ms
        } else {
            magic |= MAGIC_ROLL;
            if ahead_ms - window_ms < self.window_steps / 3 * self.step_ms {
                self.window_steps / 2 * self.step_ms
            } else {
                window_ms
            }
        };
        if find_property(record.properties, CANCELLED_KEY).is_some() {
            magic |= MAGIC_CANCEL;
        }
        let topic = find_property(record.properties, b"REAL_TOPIC").unwrap_or_default();
        Some(TimerEntry {
            previous: NOWHERE,
            magic,
            write_ms,
            delay_ms: i32::try_from(delay_ms).ok()?,
            log_position: i64::try_from(record.log_position).ok()?,
            record_size: i32::try_from(record.bytes.len()).ok()?,
            topic_hash: java_hash(topic),
        })
    }
}

/// Topic and unique key, joined by `+`, of the message that this one cancels.
pub(crate) const CANCELLED_KEY: &[u8] = b"TIMER_DEL_UNIQKEY";

/// How far timers are. The messages of all slots before `read_ms` that have an offset before
/// `queue_offset` are delivered. So are those of the slot at `read_ms` before a log position.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TimerProgress {
    /// Time of the slot that is delivered next.
    pub read_ms: i64,
    /// Messages of that slot before this log position are delivered.
    pub slot_position: u64,
    /// Offset in the queue of the timer topic.
    pub queue_offset: u64,
}

/// The content of `config/timercheck`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TimerCheckpoint {
    pub(crate) read_ms: i64,
    /// End of the part of the timer log that is on the disk.
    pub(crate) log_end: u64,
    /// Offset behind the last message in the timer log.
    pub(crate) queue_offset: u64,
    pub(crate) master_offset: u64,
    /// Whether stock wrote it, so that no record of the log says how far timers are.
    pub(crate) is_of_stock: bool,
    pub(crate) written_ms: i64,
    pub(crate) counter: i64,
}

impl TimerCheckpoint {
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut input = Reader::new(bytes);
        Some(Self {
            read_ms: input.i64()?,
            log_end: u64::try_from(input.i64()?).ok()?,
            queue_offset: u64::try_from(input.i64()?).ok()?,
            master_offset: u64::try_from(input.i64()?).ok()?,
            is_of_stock: input.i64()? != OURS,
            written_ms: input.i64()?,
            counter: input.i64()?,
        })
    }

    pub(crate) fn encode(&self) -> [u8; TIMER_CHECKPOINT_SIZE] {
        let mut bytes = [0; TIMER_CHECKPOINT_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put_i64(self.read_ms);
        out.put_u64(self.log_end);
        out.put_u64(self.queue_offset);
        out.put_u64(self.master_offset);
        out.put_i64(if self.is_of_stock { 0 } else { OURS });
        out.put_i64(self.written_ms);
        out.put_i64(self.counter);
        bytes
    }
}
