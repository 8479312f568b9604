//! Older segments that come after the newer ones, the newest of them first (Q48, Q52).
//!
//! A new member of a group takes the end of its master's log at once. What lies before that it is given
//! segment by segment, and each goes to the front. It is visible once it is whole: its bytes are checked and
//! on the disk, then its entries are put into the queues before the first ones there, and synced. Only then it
//! gets its name among the segments, in one step. Until that step its entries point before the log, as
//! those of expired records do: readers and recovery pass them over, and another attempt writes the same ones.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use super::Store;
use super::copy::{corrupt, refused};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    create_dir, create_segment, remove_dir, rename, segment_name, sync_dir, sync_parent,
};
use crate::log::LogSegment;
use crate::message::QueueEntry;
use crate::queue::SharedQueue;
use crate::queue_flush::{at_the_same_time, dirs_of, unless_gone};
use crate::queue_layout::{ENTRY_SIZE, FILLER, encode_entry};
use crate::record::{Found, RECORD_SIZE_MIN, RecordView, occupies_queue};
use crate::sys::ExclusiveMap;
use crate::table::SCHEDULE_TOPIC;
use crate::unserved::refuse_inner_batch;

/// A segment on its way to the front of a log.
#[derive(Debug)]
pub struct FrontSegment {
    base: u64,
    size: u64,
    path: PathBuf,
    file: File,
}

/// The entries of one queue in a segment, in the order of the log.
type Entries = Vec<(u64, QueueEntry)>;

/// A queue whose first offset is lower once the segment is there.
#[derive(Debug)]
struct Grown {
    queue: Arc<SharedQueue>,
    first: u64,
}

impl FrontSegment {
    /// Position of its first byte.
    #[must_use]
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Writes a part, `at` bytes behind its beginning; parts may come in any order.
    ///
    /// # Errors
    /// The part reaches behind the segment, or the system refuses.
    pub fn write(&self, at: u64, bytes: &[u8]) -> Result<(), StoreError> {
        let end = at.checked_add(bytes.len() as u64);
        if end.is_none_or(|end| end > self.size) {
            return Err(corrupt(self.base, "it reaches into the next segment"));
        }
        step(Step::Write, &self.path, || {
            self.file.write_all_at(bytes, at)
        })
        .map_err(|error| StoreError::io(&self.path, error))
    }

    fn sync(&self) -> Result<(), StoreError> {
        step(Step::SyncFile, &self.path, || self.file.sync_all())
            .map_err(|error| StoreError::io(&self.path, error))
    }
}

impl Store {
    /// Begins with the segment that ends where the log begins. What was begun before is dropped.
    ///
    /// # Errors
    /// The log does not begin there, or there is no room for the segment.
    pub fn begin_front(&self, base: u64) -> Result<FrontSegment, StoreError> {
        self.check_writable()?;
        self.check_is_next(base)?;
        let dir = self.directory.front();
        remove_dir(&dir)?;
        create_dir(&dir)?;
        let size = self.config.segment_size_bytes;
        let path = dir.join(segment_name(base));
        let file = create_segment(&path, size, size)?;
        Ok(FrontSegment {
            base,
            size,
            path,
            file,
        })
    }

    /// Puts a segment before all others. Appends and reads go on meanwhile.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] for bytes that are no records of this place up to its end, and
    /// [`StoreError::InnerBatch`]: the segment does not become part of the log. So it is after
    /// any other error but one of a sync, which poisons the store.
    pub fn insert_front(&self, segment: &FrontSegment) -> Result<(), StoreError> {
        // Nothing expires meanwhile.
        let _alone = self.expiry.lock();
        self.check_writable()?;
        self.check_is_next(segment.base)?;
        self.poisoning(|| segment.sync())?;
        let named = |error| StoreError::io(&segment.path, error);
        let map = ExclusiveMap::new(&segment.file).map_err(named)?;
        let mut grown = Vec::new();
        let mut written = Vec::new();
        for ((topic, queue_id), entries) in self.entries_of(segment.base, map.bytes())? {
            let put = self.put_in_front(&topic, queue_id, &entries)?;
            grown.extend(put.map(|(one, files)| {
                written.extend(files);
                one
            }));
        }
        if let Some(why) = map.loss() {
            return Err(named(std::io::Error::other(why)));
        }
        self.poisoning(|| sync_queues(&grown, &written))?;
        let place = self.log.segment_path(segment.base);
        rename(&segment.path, &place)?;
        self.poisoning(|| sync_parent(&place))?;
        let size = map.bytes().len();
        let map = map.into_writer(size).reader();
        self.log.put_first(LogSegment {
            base: segment.base,
            map,
        });
        for one in grown {
            one.queue.lower_min_offset(one.first);
        }
        Ok(())
    }

    /// Derives key index and timers again from the beginning of the log, once the last segment is
    /// in front. What was begun since is dropped.
    ///
    /// # Errors
    /// The store is closed, poisoned or read-only, or files cannot be removed: call again.
    pub fn restart_followers(&self) -> Result<(), StoreError> {
        let mut followers = self.followers.lock();
        self.check_writable()?;
        remove_dir(&self.directory.front())?;
        followers.restart(&self.log)?;
        self.timers.lock().restart(&self.config)
    }

    fn check_is_next(&self, base: u64) -> Result<(), StoreError> {
        let begin = self.min_position();
        if self.max_position() > 0
            && base.checked_add(self.config.segment_size_bytes) == Some(begin)
        {
            return Ok(());
        }
        Err(StoreError::Corrupt {
            position: base,
            reason: format!("no segment that begins here can precede a log that begins at {begin}"),
        })
    }

    /// The queue entries of a segment, all of which is checked as a replica checks what it copies.
    fn entries_of(
        &self,
        base: u64,
        bytes: &[u8],
    ) -> Result<BTreeMap<(String, i32), Entries>, StoreError> {
        let mut found: BTreeMap<(String, i32), Entries> = BTreeMap::new();
        let mut done = 0;
        while done < bytes.len() {
            let at = base + done as u64;
            let Some((unit, size)) = self.check_unit(at, &bytes[done..])? else {
                return Err(corrupt(at, "the segment ends within it"));
            };
            done += size;
            if let Found::Record(record) = unit {
                self.note_entry(&record, &mut found)?;
            }
        }
        Ok(found)
    }

    fn note_entry(
        &self,
        record: &RecordView<'_>,
        found: &mut BTreeMap<(String, i32), Entries>,
    ) -> Result<(), StoreError> {
        refuse_inner_batch(record)?;
        if !occupies_queue(record.sys_flag) {
            return Ok(());
        }
        let topic = std::str::from_utf8(record.topic)
            .map_err(|_| corrupt(record.log_position, "its topic is not text"))?;
        let entry = self.entry_of(record, topic == SCHEDULE_TOPIC);
        let queue = (topic.to_owned(), record.queue_id);
        found
            .entry(queue)
            .or_default()
            .push((record.queue_offset, entry));
        Ok(())
    }

    /// Puts those entries before the first ones of their queue that belong there, and gives the files that were
    /// written; `None` if there are none.
    fn put_in_front(
        &self,
        topic: &str,
        queue_id: i32,
        entries: &[(u64, QueueEntry)],
    ) -> Result<Option<(Grown, Vec<PathBuf>)>, StoreError> {
        let Some((newest, entry)) = entries.last() else {
            return Ok(None);
        };
        let position = entry.log_position;
        let mut appender = self.appender.lock();
        self.check_writable()?;
        let mut open = (appender.queues.open_topic(topic)).map_err(|it| refused(position, it))?;
        let queue = open
            .queue_from((queue_id, newest + 1), position, self.min_position())
            .map_err(|error| refused(position, error))?;
        let behind = queue.min_offset();
        let newer = (behind < queue.end_offset())
            .then(|| queue.entry(behind))
            .flatten();
        let older = preceding(entries, behind, newer.map(|entry| entry.log_position))?;
        let Some((first, _)) = older.last().copied() else {
            return Ok(None);
        };
        let bytes = bytes_of(&older, first, behind);
        let beside = (self.directory.queue_home(&self.config))
            .removed()
            .join("made");
        // A thread that looks at fillers before the first entry of a queue has the append lock, or
        // the expiry lock.
        let files = queue.extend_front(first, &bytes, &beside)?;
        Ok(Some((Grown { queue, first }, files)))
    }
}

/// Which entries belong before the offset `behind` of their queue, the newest first. `position` is where the log has
/// the record of that offset.
///
/// A record whose offset a later record has, too, is of a former life of its topic. So is every
/// record before it.
fn preceding(
    entries: &[(u64, QueueEntry)],
    mut behind: u64,
    mut position: Option<u64>,
) -> Result<Vec<(u64, QueueEntry)>, StoreError> {
    let mut found = Vec::new();
    for (offset, entry) in entries.iter().rev() {
        if *offset >= behind {
            break;
        }
        let missing = behind - 1 - offset;
        let room =
            position.map(|at| at.saturating_sub(entry.log_position) / RECORD_SIZE_MIN as u64);
        if room.is_some_and(|room| missing > room) {
            let reason = format!("queue offset {offset} cannot precede {behind}");
            return Err(corrupt(entry.log_position, &reason));
        }
        found.push((*offset, *entry));
        (behind, position) = (*offset, Some(entry.log_position));
    }
    Ok(found)
}

/// The entries from `first` to `behind` as a queue file has them, with fillers for offsets without a record.
fn bytes_of(entries: &[(u64, QueueEntry)], first: u64, behind: u64) -> Vec<u8> {
    #[allow(clippy::cast_possible_truncation)] // entries of one segment
    let mut bytes = encode_entry(&FILLER).repeat((behind - first) as usize);
    for (offset, entry) in entries {
        #[allow(clippy::cast_possible_truncation)]
        let at = (offset - first) as usize * ENTRY_SIZE;
        bytes[at..at + ENTRY_SIZE].copy_from_slice(&encode_entry(entry));
    }
    bytes
}

/// Makes entries durable, and then the names of the files that were made for them.
fn sync_queues(grown: &[Grown], written: &[PathBuf]) -> Result<(), StoreError> {
    at_the_same_time(written, |path| {
        let synced = step(Step::SyncFile, path, || File::open(path)?.sync_all());
        unless_gone(synced.map_err(|error| StoreError::io(path, error)))
    })?;
    let dirs = grown.iter().flat_map(|one| dirs_of(&one.queue));
    let dirs: Vec<_> = dirs.collect::<BTreeSet<_>>().into_iter().collect();
    at_the_same_time(&dirs, |dir| unless_gone(sync_dir(dir)))
}
