//! Queues with entries that readers do not see yet, in the order of the log.
//!
//! Each append notes its queue while readers are held back (D7). So a confirmation names the queues
//! that became longer without a walk through the log.

use std::collections::VecDeque;
use std::sync::Arc;

use regent_sync::atomic::{AtomicBool, Ordering};

use crate::locks::{Ranked, rank};
use crate::queue::SharedQueue;

/// So many notes are kept; beyond them the next confirmations name all queues.
const NOTE_COUNT_MAX: usize = 64 << 10;

/// Entries of one queue that follow each other in the log.
#[derive(Debug)]
struct Note {
    queue: Arc<SharedQueue>,
    /// Where the first record ends that readers do not see.
    first_end: u64,
    /// Where the last record ends.
    last_end: u64,
}

#[derive(Debug)]
struct Notes {
    kept: VecDeque<Note>,
    /// The notes hold every record that ends behind this position.
    complete_from: u64,
    /// Every record that ends before this position was shown to readers.
    shown: u64,
}

/// The notes of one store.
#[derive(Debug)]
pub(crate) struct Unshown {
    is_noting: AtomicBool,
    notes: Ranked<{ rank::SHOWN }, Notes>,
}

impl Default for Unshown {
    fn default() -> Self {
        let notes = Notes {
            kept: VecDeque::new(),
            complete_from: u64::MAX,
            shown: 0,
        };
        Self {
            is_noting: AtomicBool::new(false),
            notes: Ranked::new(notes),
        }
    }
}

impl Unshown {
    /// Whether appends must call [`Self::note`].
    #[inline(always)]
    pub(crate) fn is_noting(&self) -> bool {
        self.is_noting.load(Ordering::Relaxed)
    }

    /// Begins to note what is appended to a log that ends at `log_end`; the append lock is held.
    pub(crate) fn begin(&self, log_end: u64) {
        let mut notes = self.notes.lock();
        notes.complete_from = log_end;
        self.is_noting.store(true, Ordering::Relaxed);
    }

    /// Ends that, since appends are seen at once.
    pub(crate) fn end(&self) {
        let mut notes = self.notes.lock();
        self.is_noting.store(false, Ordering::Relaxed);
        *notes = Notes {
            kept: VecDeque::new(),
            complete_from: u64::MAX,
            shown: 0,
        };
    }

    /// Notes an entry whose record ends at `end`, the last one of the log.
    pub(crate) fn note(&self, end: u64, queue: &Arc<SharedQueue>) {
        let mut notes = self.notes.lock();
        if let Some(last) = notes.kept.back_mut()
            && Arc::ptr_eq(&last.queue, queue)
        {
            last.last_end = end;
            return;
        }
        if notes.kept.len() == NOTE_COUNT_MAX {
            notes.kept = VecDeque::new();
            notes.complete_from = end;
            return;
        }
        notes.kept.push_back(Note {
            queue: Arc::clone(queue),
            first_end: end,
            last_end: end,
        });
    }

    /// Takes the notes up to `position`, which readers see from now on: each queue once. `None`: some
    /// records on the way there were not noted.
    pub(crate) fn take(&self, position: u64) -> Option<Vec<Arc<SharedQueue>>> {
        let mut notes = self.notes.lock();
        let is_complete = notes.shown >= notes.complete_from || position <= notes.shown;
        notes.shown = notes.shown.max(position);
        let mut taken = Vec::new();
        while let Some(first) = notes.kept.front_mut()
            && first.first_end <= position
        {
            taken.push(Arc::clone(&first.queue));
            if first.last_end > position {
                first.first_end = position + 1;
                break;
            }
            notes.kept.pop_front();
        }
        taken.sort_unstable_by_key(Arc::as_ptr);
        taken.dedup_by(|one, other| Arc::ptr_eq(one, other));
        is_complete.then_some(taken)
    }
}
