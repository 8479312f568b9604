//! Queue entries that are missing because a broker has not written them yet.
//!
//! A broker writes a record, or all records of a batch, before their entries, and entries in the
//! order of the log. So an entry is missing only if it is still not there once that of a later
//! record was seen.

use std::mem;

use crate::message::QueueEntry;

/// More than the largest batch has.
const COUNT_MAX: usize = 1 << 18;

/// Where a record belongs, and the entry that it should have there.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) topic: String,
    pub(super) queue_id: i32,
    pub(super) offset: u64,
    pub(super) expected: QueueEntry,
}

/// Places without an entry, in the order of the log.
#[derive(Debug)]
pub(super) struct Waiting {
    places: Vec<Place>,
    /// Entries of records before this had been written: the log was flushed up to here before the
    /// survey began.
    written_to: u64,
}

impl Waiting {
    pub(super) fn new(written_to: u64) -> Self {
        Self {
            places: Vec::new(),
            written_to,
        }
    }

    /// Whether the entry of the record at this position may still be written.
    pub(super) fn may_come(&self, log_position: u64) -> bool {
        log_position >= self.written_to
    }

    pub(super) fn push(&mut self, place: Place) {
        self.places.push(place);
    }

    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= COUNT_MAX
    }

    /// Notes that the record at this position has its entry; returns whether any wait for that.
    pub(super) fn has_come_to(&mut self, log_position: u64) -> bool {
        self.written_to = self.written_to.max(log_position);
        self.first_position() < log_position
    }

    /// Those that wait.
    pub(super) fn take(&mut self) -> Vec<Place> {
        mem::take(&mut self.places)
    }

    /// Position of the first record that waits, which is behind any log if none does.
    pub(super) fn first_position(&self) -> u64 {
        let first = self.places.first();
        first.map_or(u64::MAX, |first| first.expected.log_position)
    }
}
