//! The deliveries of one term: which messages are due, in which order, and how far that is.
//!
//! Slots are delivered one after the other, each in the order of the log. A message that is taken when its
//! slot was already delivered, or is being delivered, is late: it follows between two slots. A message that
//! its queue does not take is held, and tried again between two slots.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use super::held::{Held, RealQueue};
use crate::timer_layout::{TimerEntry, TimerProgress, TimerSteps};

/// A message that is due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Waiting {
    pub(crate) entry: TimerEntry,
    /// Offset in the queue of the timer topic; of late messages only.
    queue_offset: u64,
}

impl Waiting {
    pub(crate) fn log_position(&self) -> u64 {
        u64::try_from(self.entry.log_position).unwrap_or(u64::MAX)
    }
}

/// Where the messages of a batch come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    Slot,
    Late,
    Held,
}

/// What became of a batch.
#[derive(Debug)]
pub(crate) struct Passed {
    /// So many messages from its beginning are done with, or held now.
    pub(crate) count: usize,
    /// Those that are held now.
    pub(crate) aside: Vec<(RealQueue, Waiting)>,
    /// Whether the next one waits for its queue.
    pub(crate) is_stuck: bool,
}

/// The slot that is being delivered.
#[derive(Debug)]
struct OpenSlot {
    entries: VecDeque<Waiting>,
    /// Topic and unique key of messages that are cancelled.
    cancelled: Arc<HashSet<Vec<u8>>>,
}

/// What a broker that delivers keeps in memory.
#[derive(Debug)]
pub(crate) struct Delivery {
    /// Which call began it: batches of an earlier one are not delivered.
    pub(crate) term: u64,
    /// Messages that copies in the log name, and the progress perhaps does not cover.
    delivered: HashSet<u64>,
    /// Messages before this queue offset whose slots have passed are delivered.
    covered_before: u64,
    /// Nothing is delivered before the wheel has the messages before this queue offset.
    pub(crate) begins_at: u64,
    /// When the slots of all messages in `delivered` have passed.
    settled_ms: i64,
    late: VecDeque<Waiting>,
    slot: Option<OpenSlot>,
    pub(crate) held: Held,
    /// Whether the next message of the slot, or the next late one, waits for its queue and cannot be held.
    is_stuck: bool,
}

impl Delivery {
    /// Begins at a progress. Nothing is delivered before the wheel has the messages before `begins_at`, and
    /// all of `delivered` has passed at `settled_ms`.
    pub(crate) fn new(
        term: u64,
        delivered: HashSet<u64>,
        progress: &TimerProgress,
        (begins_at, settled_ms): (u64, i64),
    ) -> Self {
        Self {
            term,
            delivered,
            covered_before: progress.queue_offset,
            begins_at,
            settled_ms,
            late: VecDeque::new(),
            slot: None,
            held: Held::default(),
            is_stuck: false,
        }
    }

    /// Takes a message that is late, unless it is delivered.
    pub(crate) fn note(
        &mut self,
        entry: &TimerEntry,
        queue_offset: u64,
        progress: &TimerProgress,
        steps: TimerSteps,
    ) {
        if queue_offset < self.covered_before {
            return;
        }
        let open_ms = if self.slot.is_some() {
            steps.step_ms
        } else {
            0
        };
        if steps.floor(entry.due_ms()) < progress.read_ms.saturating_add(open_ms) {
            let waiting = Waiting {
                entry: *entry,
                queue_offset,
            };
            if !self.delivered.remove(&waiting.log_position()) {
                self.late.push_back(waiting);
            }
        }
    }

    /// Offset of the first message that is late, if one is.
    pub(crate) fn first_late_offset(&self) -> Option<u64> {
        self.late.front().map(|late| late.queue_offset)
    }

    /// Forgets what was delivered before this term, once all of that is behind the progress.
    pub(crate) fn settle(&mut self, progress: &TimerProgress) {
        if progress.read_ms > self.settled_ms && !self.has_next() {
            self.delivered = HashSet::new();
        }
    }

    /// Whether the progress covers all deliveries.
    pub(crate) fn is_settled(&self) -> bool {
        self.delivered.is_empty()
    }

    /// Whether messages are ready to be delivered.
    pub(crate) fn has_next(&self) -> bool {
        self.source().is_some()
    }

    fn source(&self) -> Option<Source> {
        let is_between = self.slot.is_none() && self.late.is_empty();
        if (is_between || self.is_stuck) && self.held.has_next() {
            Some(Source::Held)
        } else if self.slot.is_some() {
            Some(Source::Slot)
        } else {
            (!self.late.is_empty()).then_some(Source::Late)
        }
    }

    /// Begins the slot at the progress; returns whether it has a message to deliver.
    pub(crate) fn open_slot(
        &mut self,
        entries: Vec<TimerEntry>,
        progress: &TimerProgress,
        cancelled_key: impl Fn(&TimerEntry) -> Option<Vec<u8>>,
    ) -> bool {
        let is_cancel = |entry: &&TimerEntry| entry.cancels() && !entry.is_rolled();
        let cancelled = entries.iter().filter(is_cancel);
        let cancelled = Arc::new(cancelled.filter_map(cancelled_key).collect());
        let waiting = |entry: TimerEntry| Waiting {
            entry,
            queue_offset: 0,
        };
        let mut entries: VecDeque<Waiting> = entries.into_iter().map(waiting).collect();
        entries.retain(|one| {
            let position = one.log_position();
            position >= progress.slot_position && !self.delivered.remove(&position)
        });
        let has_entries = !entries.is_empty();
        self.slot = has_entries.then_some(OpenSlot { entries, cancelled });
        has_entries
    }

    /// The next messages, and the keys of those that are cancelled.
    pub(crate) fn next(&self, count_max: usize) -> Option<Batch> {
        let source = self.source()?;
        let mut cancelled = Arc::default();
        let messages = match (source, &self.slot) {
            (Source::Held, _) => self.held.next(count_max),
            (Source::Slot, Some(slot)) => {
                cancelled = Arc::clone(&slot.cancelled);
                slot.entries.iter().take(count_max).copied().collect()
            }
            _ => self.late.iter().take(count_max).copied().collect(),
        };
        Some(Batch {
            source,
            messages,
            cancelled,
        })
    }

    /// Notes what became of the next messages.
    pub(crate) fn delivered(
        &mut self,
        source: Source,
        passed: Passed,
        progress: &mut TimerProgress,
        step_ms: i64,
    ) {
        match source {
            Source::Held => return self.held.delivered(passed.count, !passed.is_stuck),
            Source::Late => drop(self.late.drain(..passed.count.min(self.late.len()))),
            Source::Slot => self.advance_in_slot(passed.count, progress, step_ms),
        }
        for (queue, waiting) in passed.aside {
            self.held.add(queue, waiting);
        }
        self.is_stuck = passed.is_stuck;
        if self.is_stuck || self.slot.is_none() {
            self.held.begin_round();
        }
    }

    fn advance_in_slot(&mut self, count: usize, progress: &mut TimerProgress, step_ms: i64) {
        let Some(slot) = &mut self.slot else {
            return;
        };
        let mut done = slot.entries.drain(..count.min(slot.entries.len()));
        if let Some(last) = done.next_back() {
            progress.slot_position = last.log_position().saturating_add(1);
        }
        drop(done);
        if slot.entries.is_empty() {
            self.slot = None;
            advance(progress, step_ms);
        }
    }
}

/// The messages that are delivered next.
#[derive(Debug)]
pub(crate) struct Batch {
    pub(crate) source: Source,
    pub(crate) messages: Vec<Waiting>,
    /// Topic and unique key of messages that are cancelled.
    pub(crate) cancelled: Arc<HashSet<Vec<u8>>>,
}

/// Goes on to the next slot.
pub(crate) fn advance(progress: &mut TimerProgress, step_ms: i64) {
    progress.read_ms = progress.read_ms.saturating_add(step_ms);
    progress.slot_position = 0;
}
