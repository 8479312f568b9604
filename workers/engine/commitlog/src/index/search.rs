//! Finding messages by key (storage-and-ha.md 4.3). Nothing is returned that the log does not confirm.

use super::Index;
use super::keys::Wanted;
use crate::record::{Found, locate};
use crate::store::Store;

/// `maxMsgsNumBatch`: most messages that one search returns.
const FOUND_COUNT_MAX: usize = 64;
/// Most records that one search looks at. Whoever sends many keys with one hash could otherwise
/// make a search read all the log.
const EXAMINED_COUNT_MAX: usize = 4096;

impl Store {
    /// Log positions of messages with a unique key or one of their `KEYS`, newest first.
    ///
    /// At most `count_max` of them and at most 64, stored between the two times, as far as whole
    /// seconds tell. What is not indexed yet is not found: see [`Store::index_status`].
    #[must_use]
    pub fn find_by_key(
        &self,
        topic: &str,
        key: &str,
        count_max: usize,
        begin_ms: i64,
        end_ms: i64,
    ) -> Vec<u64> {
        self.find(topic, Wanted::Key(key), count_max, (begin_ms, end_ms))
    }

    /// As [`Store::find_by_key`], but by the unique key alone.
    #[must_use]
    pub fn find_by_unique_key(
        &self,
        topic: &str,
        key: &str,
        count_max: usize,
        begin_ms: i64,
        end_ms: i64,
    ) -> Vec<u64> {
        self.find(topic, Wanted::UniqueKey(key), count_max, (begin_ms, end_ms))
    }

    /// As [`Store::find_by_key`], but by `TAGS`.
    #[must_use]
    pub fn find_by_tags(
        &self,
        topic: &str,
        tags: &str,
        count_max: usize,
        begin_ms: i64,
        end_ms: i64,
    ) -> Vec<u64> {
        self.find(topic, Wanted::Tags(tags), count_max, (begin_ms, end_ms))
    }

    fn find(
        &self,
        topic: &str,
        wanted: Wanted<'_>,
        count_max: usize,
        range: (i64, i64),
    ) -> Vec<u64> {
        let count_max = count_max.min(FOUND_COUNT_MAX);
        let mut found: Vec<u64> = Vec::new();
        let mut examined_count = 0;
        self.index
            .candidates(wanted.hash(topic), range, |position| {
                examined_count += 1;
                // Two keys of one record may have one hash; its entries are neighbours then.
                if found.last() != Some(&position) && self.has_key(position, topic, wanted) {
                    found.push(position);
                }
                found.len() < count_max && examined_count < EXAMINED_COUNT_MAX
            });
        found.truncate(count_max);
        found
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
    /// Hands out positions with a key's hash, newest first, while `wants_more` says so.
    fn candidates(&self, hash: i32, range: (i64, i64), mut wants_more: impl FnMut(u64) -> bool) {
        let files = self.files.read();
        let mut is_over = false;
        for file in files.iter().rev() {
            if file.is_in_range(range.0, range.1) {
                file.select(hash, range, |position| {
                    is_over = !wants_more(position);
                    !is_over
                });
            }
            if is_over || file.header.begin_timestamp_ms < range.0 {
                return;
            }
        }
    }
}
