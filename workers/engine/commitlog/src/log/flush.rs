//! Flushing what is published, and sealing what was flushed.

use std::sync::atomic::Ordering;

use super::{LogSegment, SharedLog};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::ZEROS_AT_ONCE;
use crate::record::BLANK_SIZE;
use crate::seal::{Seal, SealFile};

/// A part of what the cache next to a processor holds.
const FETCHED_BYTES_MAX: usize = 256 << 10;

/// What of a segment a flush covers.
struct Part {
    segment: LogSegment,
    from: usize,
    to: usize,
}

impl SharedLog {
    /// Flushes what is published; one caller at a time.
    ///
    /// Only the written range is synced: the file also has populated pages that need no disk yet.
    /// Where segments are used again also the head of what follows, which is empty: stock does not
    /// compare positions, and would take an older record there for the next one.
    pub(crate) fn flush(&self, mut seals: Option<&mut SealFile>) -> Result<u64, StoreError> {
        let from = self.flushed_position();
        let to = self.max_position();
        let parts = self.parts(from, to);
        let count = parts.len();
        for (number, part) in (1..).zip(&parts) {
            let path = self.segment_path(part.segment.base);
            let (from, mut to) = (part.from, part.to);
            // All of the folio in which the flush ends goes to the disk with it.
            let unmapped_to = to.next_multiple_of(ZEROS_AT_ONCE);
            part.segment.map.unmap_written(from, unmapped_to);
            if let Some(seals) = seals.as_deref_mut() {
                to = (to + BLANK_SIZE).min(part.segment.map.size());
                // The parts before are on the disk by then, and their segments may expire: what is
                // sealed lies in one segment.
                if number == count {
                    let meanwhile = || self.fetch_next(part);
                    seals.join(&path, (from, to), || part.seal(), meanwhile)?;
                }
            }
            let flush = || part.segment.map.flush(from, to);
            step(Step::SyncRange { from, to }, &path, flush)
                .map_err(|error| StoreError::io(path, error))?;
        }
        if let Some(seals) = seals.filter(|_| !parts.is_empty()) {
            seals.finish()?;
        }
        self.flushed_position.store(to, Ordering::Release);
        Ok(to)
    }

    /// Fetches what the next flush may cover, as much as this one does.
    ///
    /// While the disk writes there is time for it: who appends next on this processor waits for no
    /// memory then (16 to 12 µs for 64 messages). Not where others append meanwhile: it would be
    /// taken out of the caches of theirs.
    fn fetch_next(&self, part: &Part) {
        if part.segment.base + part.to as u64 == self.max_position() {
            let size = (part.to - part.from).min(FETCHED_BYTES_MAX);
            part.segment.map.fetch(part.to, size);
        }
    }

    fn parts(&self, from: u64, to: u64) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut position = from;
        while position < to {
            let end = self.next_segment_start(position).min(to);
            if let Some(segment) = self.segment_at(position) {
                let (from, to) = (local(position, segment.base), local(end, segment.base));
                parts.push(Part { segment, from, to });
            }
            position = end;
        }
        parts
    }
}

impl Part {
    fn seal(&self) -> Seal {
        let published = self.segment.map.bytes().get(self.from..self.to);
        Seal {
            from: self.segment.base + self.from as u64,
            to: self.segment.base + self.to as u64,
            crc: crc32fast::hash(published.unwrap_or_default()),
        }
    }
}

/// Offset inside a segment; segments are mapped, so it fits.
#[allow(clippy::cast_possible_truncation)]
fn local(position: u64, base: u64) -> usize {
    (position - base) as usize
}
