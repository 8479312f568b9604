//! Finding messages by key (storage-and-ha.md 4.3). Nothing is returned that the log does not confirm.
//!
//! A search goes in turns. A chain may have millions of links, each on a separate page that the
//! disk has to bring. A thread that wants to change the index, or the store, waits for one turn
//! only.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;

use crate::index::{Index, IndexFile, IndexStatus, Wanted};
use crate::record::{Found, RecordView, locate};
use crate::store::Store;

/// `maxMsgsNumBatch`: most messages that one search returns.
const FOUND_COUNT_MAX: usize = 64;
/// Most records that one search looks at. A sender of many keys with one hash could otherwise make
/// a search read all the log.
const EXAMINED_COUNT_MAX: usize = 4096;
/// Most steps of one turn. They take a few milliseconds when the disk has to bring a page for each.
/// In memory they are still so many that taking the locks again costs little beside them.
const STEP_COUNT_MAX: usize = 64;
/// How much of the log's tail one turn reads.
const TAIL_PIECE_BYTES: u64 = 128 << 10;
/// The longest tail that a search reads. The index is farther behind only while it is rebuilt.
const TAIL_BYTES_MAX: u64 = 256 << 20;

/// A search by key on its way: [`Store::advance`] takes it further, turn by turn.
///
/// It holds nothing of the store. What is added to the index meanwhile is not looked for, and what
/// is removed from it is not found.
#[derive(Debug)]
pub struct KeySearch<'a> {
    topic: &'a str,
    wanted: Wanted<'a>,
    hash: i32,
    /// First and last store time, in milliseconds.
    range: (i64, i64),
    count_max: usize,
    found: Vec<u64>,
    examined_count: usize,
    followed_count: u64,
    tail: Tail,
    place: Place,
}

/// The end of the log that the index does not hold yet.
#[derive(Debug, Default)]
struct Tail {
    is_wanted: bool,
    /// Where it begins: what the index holds from here on is found in the log.
    begin: Option<u64>,
    /// It was too long to be read: so many bytes.
    left_out: u64,
    /// The newest records found in it, oldest first.
    found: VecDeque<u64>,
}

/// Where a search goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing was looked at.
    Start,
    /// At a record of the log's tail, which ends at the second position.
    InTail(u64, u64),
    /// With the newest record found in the tail.
    Found,
    /// With the newest file that is older than this stamp.
    Before(u64),
    /// At an entry of the file with this stamp; 0 is behind the last of the chain.
    At(u64, u32),
    /// Nothing is left to look at.
    End,
}

impl<'a> KeySearch<'a> {
    /// Looks for messages with a unique key or one of their `KEYS`, newest first.
    ///
    /// At most `count_max` of them and at most 64, stored between the two times, compared in whole
    /// seconds. What is not indexed yet is not found: see [`Store::index_status`] and
    /// [`KeySearch::with_tail`].
    #[must_use]
    pub fn by_key(
        topic: &'a str,
        key: &'a str,
        count_max: usize,
        begin_ms: i64,
        end_ms: i64,
    ) -> Self {
        Self::new(topic, Wanted::Key(key), count_max, (begin_ms, end_ms))
    }

    /// As [`KeySearch::by_key`], but by the unique key alone.
    #[must_use]
    pub fn by_unique_key(
        topic: &'a str,
        key: &'a str,
        count_max: usize,
        begin_ms: i64,
        end_ms: i64,
    ) -> Self {
        Self::new(topic, Wanted::UniqueKey(key), count_max, (begin_ms, end_ms))
    }

    /// As [`KeySearch::by_key`], but by `TAGS`.
    #[must_use]
    pub fn by_tags(
        topic: &'a str,
        tags: &'a str,
        count_max: usize,
        begin_ms: i64,
        end_ms: i64,
    ) -> Self {
        Self::new(topic, Wanted::Tags(tags), count_max, (begin_ms, end_ms))
    }

    fn new(topic: &'a str, wanted: Wanted<'a>, count_max: usize, range: (i64, i64)) -> Self {
        Self {
            topic,
            wanted,
            hash: wanted.hash(topic),
            range,
            count_max: count_max.min(FOUND_COUNT_MAX),
            found: Vec::new(),
            examined_count: 0,
            followed_count: 0,
            tail: Tail::default(),
            place: Place::Start,
        }
    }

    /// Looks first through the end of the log that the index does not hold yet.
    ///
    /// Not through more than 256 MiB: see [`KeySearch::left_out_bytes`].
    #[must_use]
    pub fn with_tail(mut self) -> Self {
        self.tail.is_wanted = true;
        self
    }

    /// How many bytes at the log's end were not looked through, because they are too many.
    #[must_use]
    pub fn left_out_bytes(&self) -> u64 {
        self.tail.left_out
    }

    /// How many bytes of the log's tail are still to be read.
    #[must_use]
    pub fn tail_bytes_left(&self) -> u64 {
        match self.place {
            Place::InTail(next, end) => end.saturating_sub(next),
            _ => 0,
        }
    }

    /// Whether everything is found that this search may find.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.place == Place::End
            || self.found.len() >= self.count_max
            || self.examined_count >= EXAMINED_COUNT_MAX
    }

    /// How many entries of the index it has looked at.
    #[must_use]
    pub fn followed_count(&self) -> u64 {
        self.followed_count
    }

    /// Log positions found so far, newest first.
    #[must_use]
    pub fn into_found(self) -> Vec<u64> {
        self.found
    }
}

impl Store {
    /// How far the key index is.
    #[must_use]
    pub fn index_status(&self) -> IndexStatus {
        self.index.status()
    }

    /// Takes a search to its end, however long it takes; returns [`KeySearch::into_found`].
    #[must_use]
    pub fn search(&self, mut search: KeySearch<'_>) -> Vec<u64> {
        while !search.is_over() {
            self.advance(&mut search);
        }
        search.into_found()
    }

    /// Takes a search one short turn further: some entries of the index, and one record at most.
    /// Returns the position of a record that it found.
    ///
    /// A caller that repeats it until [`KeySearch::is_over`] releases this store in between, if
    /// others need it exclusively: after that another record may lie at the position.
    pub fn advance(&self, search: &mut KeySearch<'_>) -> Option<u64> {
        self.of(search.topic).advance_here(search)
    }

    fn advance_here(&self, search: &mut KeySearch<'_>) -> Option<u64> {
        if search.is_over() {
            return None;
        }
        match search.place {
            Place::Start => search.place = self.tail_of(search),
            Place::InTail(next, end) => search.place = self.read_tail(search, next, end),
            Place::Found => {
                let Some(position) = search.tail.found.pop_back() else {
                    search.place = Place::Before(u64::MAX);
                    return None;
                };
                // The log may have been cut since.
                return self.confirm(search, position);
            }
            Place::Before(_) | Place::At(..) => return self.advance_in_index(search),
            Place::End => {}
        }
        None
    }

    fn advance_in_index(&self, search: &mut KeySearch<'_>) -> Option<u64> {
        let position = self.index.next_candidate(search)?;
        search.examined_count += 1;
        if search.tail.begin.is_some_and(|begin| position >= begin) {
            // Indexed since the tail was read.
            return None;
        }
        // Two keys of one record may have one hash; its entries are neighbours then.
        let is_known = search.found.last() == Some(&position);
        if is_known {
            return None;
        }
        self.confirm(search, position)
    }

    fn confirm(&self, search: &mut KeySearch<'_>, position: u64) -> Option<u64> {
        if !self.has_key(position, search.topic, search.wanted) {
            return None;
        }
        search.found.push(position);
        Some(position)
    }

    /// Finds what the index does not hold, if that is wanted and not too long.
    fn tail_of(&self, search: &mut KeySearch<'_>) -> Place {
        let begin = self.index.position.load(Ordering::Acquire);
        let begin = begin.max(self.min_position());
        let end = self.confirmed_position();
        if !search.tail.is_wanted || !self.config.index_enabled || begin >= end {
            return Place::Before(u64::MAX);
        }
        if end - begin > TAIL_BYTES_MAX {
            search.tail.left_out = end - begin;
            return Place::Before(u64::MAX);
        }
        search.tail.begin = Some(begin);
        Place::InTail(begin, end)
    }

    /// Reads a piece of the tail, and keeps the newest records that are looked for.
    ///
    /// Damage ends it: behind that the index grows no further either (D13).
    fn read_tail(&self, search: &mut KeySearch<'_>, begin: u64, end: u64) -> Place {
        let segment = self.log.segment_at(begin);
        let rest = segment.as_ref().and_then(|it| it.bytes_from(begin));
        let Some(mut rest) = rest else {
            let min_position = self.min_position();
            return if begin < min_position && min_position < end {
                Place::InTail(min_position, end)
            } else {
                Place::Found
            };
        };
        let (mut next, stop) = (begin, end.min(begin + TAIL_PIECE_BYTES));
        while next < stop {
            match locate(rest, next) {
                Ok(Found::Record(record)) => {
                    let size = record.bytes.len();
                    if next + size as u64 > end {
                        return Place::Found;
                    }
                    search.keep_if_wanted(&record);
                    rest = &rest[size..];
                    next += size as u64;
                }
                Ok(Found::Blank) => {
                    let behind = self.log.next_segment_start(next);
                    if behind <= next {
                        return Place::Found;
                    }
                    next = behind;
                    break;
                }
                Err(_) => return Place::Found,
            }
        }
        if next < end {
            Place::InTail(next, end)
        } else {
            Place::Found
        }
    }

    fn has_key(&self, position: u64, topic: &str, wanted: Wanted<'_>) -> bool {
        let segment = self.log.segment_at(position);
        let rest = segment
            .as_ref()
            .and_then(|segment| segment.bytes_from(position));
        let end = self.confirmed_position();
        match rest
            .filter(|_| position < end)
            .map(|rest| locate(rest, position))
        {
            Some(Ok(Found::Record(record))) => {
                position + record.bytes.len() as u64 <= end && wanted.is_key_of(topic, &record)
            }
            _ => false,
        }
    }
}

impl Index {
    /// Goes on to the next entry with a search's hash and time; `None` also when the turn is over.
    fn next_candidate(&self, search: &mut KeySearch<'_>) -> Option<u64> {
        let files = self.files.read();
        for _ in 0..STEP_COUNT_MAX {
            match search.place {
                Place::Before(stamp) => search.place = search.enter(&files, stamp),
                Place::At(stamp, number) => {
                    // Between two turns the file may have expired, or been cut off or set aside.
                    let at = files.binary_search_by_key(&stamp, |file| file.stamp).ok();
                    let position = search.follow(at.map(|at| &files[at]), stamp, number);
                    if position.is_some() {
                        return position;
                    }
                }
                _ => return None,
            }
        }
        None
    }
}

impl KeySearch<'_> {
    fn keep_if_wanted(&mut self, record: &RecordView<'_>) {
        let (begin_ms, end_ms) = self.range;
        if !(begin_ms..=end_ms).contains(&record.store_timestamp_ms)
            || !self.wanted.is_key_of(self.topic, record)
        {
            return;
        }
        if self.tail.found.len() >= self.count_max {
            self.tail.found.pop_front();
        }
        self.tail.found.push_back(record.log_position);
    }

    /// Goes to the newest file before a stamp that may hold something of these times.
    fn enter(&self, files: &[IndexFile], stamp: u64) -> Place {
        let (begin_ms, end_ms) = self.range;
        let older = files.partition_point(|file| file.stamp < stamp);
        for file in files[..older].iter().rev() {
            if file.is_in_range(begin_ms, end_ms) {
                return Place::At(file.stamp, file.newest_link(self.hash));
            }
            if file.header.begin_timestamp_ms < begin_ms {
                break;
            }
        }
        Place::End
    }

    /// Looks at one entry of a file, if both are still there, and goes on to the next.
    fn follow(&mut self, file: Option<&IndexFile>, stamp: u64, number: u32) -> Option<u64> {
        let Some(file) = file.filter(|_| number != 0) else {
            let is_last = file.is_some_and(|file| file.header.begin_timestamp_ms < self.range.0);
            self.place = if is_last {
                Place::End
            } else {
                Place::Before(stamp)
            };
            return None;
        };
        self.followed_count += 1;
        let (position, next) = file.link(number, self.hash, self.range);
        self.place = Place::At(stamp, next);
        position
    }
}
