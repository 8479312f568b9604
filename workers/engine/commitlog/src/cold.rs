//! Reads far behind the end of the log, which must not push the end out of memory (targets.md 3.1).
//!
//! What such reads bring in is kept for the next ones, since many readers come the same way, but
//! only a bounded piece of it: the pages that were read longest ago are given back first.

use std::collections::VecDeque;
use std::fs::File;

use parking_lot::Mutex;
use rustix::fs::{Advice, fadvise};

use crate::files::segment_name;
use crate::log::LogSegment;
use crate::message::QueueRead;
use crate::slices::RecordSlices;
use crate::store::Store;

/// `maxTransferCountOnMessageInDisk` and `maxTransferBytesOnMessageInDisk`.
const COUNT_MAX: usize = 8;
const BYTES_MAX: usize = 64 << 10;
/// What is given back at once.
const PIECE_BYTES: u64 = 1 << 20;
/// So much of the end of the log is in memory in any case: it was just written, or recovered.
const TAIL_BYTES: u64 = 16 << 20;
/// What is asked of the kernel at once: records of one queue are often neighbours.
const WINDOW_BYTES: usize = 64 << 10;

/// Pieces of the log that cold reads brought in, the one read last at the end.
#[derive(Debug, Default)]
pub(crate) struct ColdReads(Mutex<VecDeque<u64>>);

impl ColdReads {
    /// Notes a read in a piece; returns the piece to be given back for it.
    fn note(&self, piece: u64, count_max: usize) -> Option<u64> {
        let mut pieces = self.0.lock();
        if pieces.back() == Some(&piece) {
            return None;
        }
        if let Some(at) = pieces.iter().position(|known| *known == piece) {
            pieces.remove(at);
        }
        pieces.push_back(piece);
        if pieces.len() > count_max {
            pieces.pop_front()
        } else {
            None
        }
    }
}

impl Store {
    /// Where the part of the log begins that is taken to be in memory.
    fn hot_position(&self) -> u64 {
        let end = self.log.max_position();
        end.saturating_sub(self.config.hot_size_bytes)
    }

    /// The read as it is done from `position` on: of the cold part stock hands out less.
    pub(crate) fn limited<'a>(&self, read: &QueueRead<'a>, position: u64) -> QueueRead<'a> {
        if position >= self.hot_position() {
            return *read;
        }
        QueueRead {
            count_max: read.count_max.min(COUNT_MAX),
            bytes_max: read.bytes_max.min(BYTES_MAX),
            ..*read
        }
    }

    /// Gives back pages for those that a read of the cold part brought in.
    pub(crate) fn give_back(&self, read: &RecordSlices<'_>) {
        let hot_position = self.hot_position();
        let count_max = self.config.cold_cache_bytes.div_ceil(PIECE_BYTES).max(1);
        let count_max = usize::try_from(count_max).unwrap_or(usize::MAX);
        for (from, to) in read.ranges().filter(|(from, _)| *from < hot_position) {
            for piece in from / PIECE_BYTES..=(to - 1) / PIECE_BYTES {
                if let Some(old) = self.cold_reads.note(piece, count_max) {
                    let end = ((old + 1) * PIECE_BYTES).min(hot_position);
                    self.forget(old * PIECE_BYTES, end);
                }
            }
        }
    }

    /// Takes a range of the log out of the page cache. Nothing is lost if that fails, only memory.
    fn forget(&self, mut from: u64, to: u64) {
        while from < to {
            let next = self.log.next_segment_start(from);
            if let Some(segment) = self.log.segment_at(from) {
                let path = self.directory.commit_log();
                let path = path.join(segment_name(segment.base));
                let (start, end) = (from - segment.base, to.min(next) - segment.base);
                #[allow(clippy::cast_possible_truncation)] // inside a mapped file
                let unmapped = segment.map.unmap_pages(start as usize, end as usize);
                let size = std::num::NonZeroU64::new(end - start);
                if let (Ok(()), Ok(file)) = (unmapped, File::open(path)) {
                    let _ = fadvise(&file, start, size, Advice::DontNeed);
                }
            }
            from = next;
        }
    }
}

/// Finds out whether looking at a record would wait for the disk.
#[derive(Debug)]
pub(crate) struct Residency {
    /// Positions from here on are in memory.
    tail: u64,
    /// The last range that the kernel said to be there.
    known: (u64, u64),
}

impl Residency {
    pub(crate) fn new(store: &Store) -> Self {
        let tail = store.log.max_position().saturating_sub(TAIL_BYTES);
        Self {
            tail,
            known: (0, 0),
        }
    }

    /// Whether bytes of the log are in memory, or gone, so that nothing waits for them.
    pub(crate) fn is_there(&mut self, store: &Store, position: u64, size: usize) -> bool {
        let end = position.saturating_add(size as u64);
        let (known_from, known_to) = self.known;
        if position >= self.tail || known_from <= position && end <= known_to {
            return true;
        }
        let Some(LogSegment { base, map }) = store.log.segment_at(position) else {
            return true;
        };
        #[allow(clippy::cast_possible_truncation)] // inside a mapped file
        let at = (position - base) as usize;
        let found = map.resident_bytes(at, size.max(WINDOW_BYTES));
        // A kernel that does not tell only costs other requests a wait.
        let size = found.unwrap_or(size) as u64;
        self.known = (position, position + size);
        end <= position + size
    }
}
