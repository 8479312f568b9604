//! Reads far behind the end of the log, which must not push the end out of memory (targets.md 3.1).
//!
//! What such reads bring in is kept for the next ones, since many readers come the same way, but
//! only a bounded piece of it: the pages that were read longest ago are given back first.

use std::collections::VecDeque;
use std::fs::File;

use regent_sync::Mutex;
use rustix::fs::{Advice, fadvise};

use crate::files::segment_name;
use crate::log::LogSegment;
use crate::message::QueueRead;
use crate::store::Store;
use crate::store::slices::RecordSlices;

/// `maxTransferCountOnMessageInDisk` and `maxTransferBytesOnMessageInDisk`.
const COUNT_MAX: usize = 8;
const BYTES_MAX: usize = 64 << 10;
/// What is given back at once.
const PIECE_BYTES: u64 = 1 << 20;
/// So much of the end of the log is in memory in any case: it was just written, or recovered.
const TAIL_BYTES: u64 = 16 << 20;
/// What is asked of the kernel at once: records of one queue are often neighbours.
const WINDOW_BYTES: usize = 256 << 10;

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
        // A kernel that gives no answer only costs other requests a wait.
        let size = found.unwrap_or(size) as u64;
        self.known = (position, position + size);
        end <= position + size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewMessage, StoreConfig};

    const NOW_MS: i64 = 1_758_000_000_000;
    const SEGMENT_SIZE: u64 = 4 << 20;
    const MIB: u64 = 1 << 20;
    /// A kernel that reclaims idle pages may take some at any time.
    const TAKEN_BY_THE_KERNEL_MAX: u64 = MIB / 4;
    const PASSES_MAX: u32 = 5;

    /// A directory beside this program, which lies on a disk: memory for files has no cold pages.
    fn disk_dir() -> tempfile::TempDir {
        let program = std::env::current_exe().expect("this program");
        let beside = program.parent().expect("its directory");
        tempfile::tempdir_in(beside).expect("a directory")
    }

    /// A flushed log of 16 KiB messages of one queue.
    fn filled(dir: &std::path::Path, size: u64, hot_size: u64, cold_cache: u64) -> Store {
        let mut config = StoreConfig::new(dir);
        config.segment_size_bytes = SEGMENT_SIZE;
        config.hot_size_bytes = hot_size;
        config.cold_cache_bytes = cold_cache;
        let store = Store::open(config, NOW_MS).expect("the store opens");
        let body = vec![7; 16 << 10];
        let message = NewMessage::new("t", 0, &body);
        while store.max_position() < size {
            let mut writer = store.writer().expect("the store is open");
            writer.append(&message, NOW_MS).expect("there is room");
        }
        store.flush().expect("the disk is well");
        store
    }

    fn wanted(offset: u64) -> QueueRead<'static> {
        QueueRead {
            offset: offset.cast_signed(),
            count_max: 32,
            bytes_max: 256 << 10,
            filter: None,
        }
    }

    /// Bytes of a range of the log that are in memory, in whole pages.
    fn resident(store: &Store, from: u64, to: u64) -> u64 {
        let is_there = |position: &u64| {
            let segment = store.log.segment_at(*position).expect("a segment");
            let at = usize::try_from(position - segment.base).expect("inside a map");
            segment
                .map
                .resident_bytes(at, 1)
                .expect("an answer of the kernel")
                == 1
        };
        let pages = (from.next_multiple_of(4096)..to).step_by(4096);
        pages.filter(is_there).count() as u64 * 4096
    }

    /// Reads the queue to its end; returns the most records that one read of the cold part gave.
    fn catch_up(store: &Store, hot: u64) -> usize {
        let (mut offset, mut cold_count_max) = (0, 0);
        loop {
            let (outcome, records) = store
                .read_slices("t", 0, &wanted(offset))
                .expect("readable");
            if outcome.count == 0 {
                break;
            }
            if records.ranges().all(|(_, end)| end < hot) {
                cold_count_max = cold_count_max.max(outcome.count);
                assert!(records.size() <= BYTES_MAX);
            }
            offset = outcome.next_offset;
        }
        // Once more from the start, which gives back the piece at the border, too.
        for offset in (0..400).step_by(COUNT_MAX) {
            store
                .read_slices("t", 0, &wanted(offset))
                .expect("readable");
        }
        cold_count_max
    }

    #[test]
    fn catching_up_leaves_the_end_of_the_log_in_memory_and_gives_the_rest_back() {
        let dir = disk_dir();
        let store = filled(dir.path(), 40 * MIB, 8 * MIB, 2 * MIB);
        let (end, hot) = (store.max_position(), store.hot_position());
        assert!(resident(&store, 0, end) >= end - TAKEN_BY_THE_KERNEL_MAX);

        // A page that the kernel holds to reclaim it can't be given back; a later pass gives it back.
        let mut cold = u64::MAX;
        for _ in 0..PASSES_MAX {
            let cold_count_max = catch_up(&store, hot);
            assert!((1..=COUNT_MAX).contains(&cold_count_max));
            cold = resident(&store, 0, hot - PIECE_BYTES);
            if cold <= 3 * MIB {
                break;
            }
        }

        assert!(cold <= 3 * MIB, "{cold} bytes of the cold part are left");
        assert!(resident(&store, hot, end) >= end - hot - TAKEN_BY_THE_KERNEL_MAX);
    }

    #[test]
    fn a_read_that_must_not_wait_finds_only_what_is_in_memory() {
        let dir = disk_dir();
        let store = filled(dir.path(), 24 * MIB, u64::MAX, 256 * MIB);
        let count = |offset| {
            let found = store
                .read_resident("t", 0, &wanted(offset))
                .expect("readable");
            found.map(|(outcome, _)| outcome.count)
        };
        assert_eq!(count(8), Some(15));

        store.forget(0, 2 * MIB);

        assert_eq!(count(8), None);
        let read = store.read_slices("t", 0, &wanted(8)).expect("readable");
        assert_eq!(read.0.count, 15);
        assert_eq!(read.1.iter().len(), 1);
        assert_eq!(count(8), Some(15));
        assert_eq!(count(1_400), Some(15), "the end is taken to be there");
    }

    #[test]
    fn a_read_waits_for_all_that_it_gives_and_reads_small_gaps_along() {
        let dir = disk_dir();
        let store = filled(dir.path(), 2 * MIB, u64::MAX, 256 * MIB);
        store.forget(0, 2 * MIB);
        let at = |offset: u64| {
            let (_, records) = (store.read_slices("t", 0, &wanted(offset))).expect("readable");
            records.ranges().next().expect("a record").0
        };
        // Nothing is read ahead where the log is still written.
        let (first, third) = (at(20), at(22));
        store.forget(0, 2 * MIB);
        let segment = store.log.segment_at(first).expect("a segment");
        let mut records = RecordSlices::new(&store);
        records.push(&segment, first, 16 << 10);
        records.push(&segment, third, 16 << 10);

        records.fetch();

        let end = third + (16 << 10);
        assert_eq!(
            resident(&store, first, end),
            end.next_multiple_of(4096) - first.next_multiple_of(4096)
        );
        assert_eq!(resident(&store, 0, first - 8192), 0);
        store.forget(0, 2 * MIB);
        let (_, records) = (store.read_slices("t", 0, &wanted(60))).expect("readable");
        let (from, to) = records.ranges().next().expect("a record");
        assert_eq!(
            resident(&store, from, to),
            to.next_multiple_of(4096) - from.next_multiple_of(4096)
        );
    }

    #[test]
    fn pieces_read_again_are_kept_and_those_read_longest_ago_go_first() {
        let reads = ColdReads::default();

        let given_back: Vec<_> = [1, 2, 1, 1, 3, 4]
            .into_iter()
            .filter_map(|piece| reads.note(piece, 2))
            .collect();

        assert_eq!(given_back, [2, 1]);
    }
}
