//! The timer log: an entry for each message of the timer topic, in the order of the log, which links to
//! the entry before it in its slot. Mapped files of one size.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::{
    create_dir, create_segment, list_segments, open_segment, remove_file, segment_name, sync_dir,
};
use crate::sys::ExclusiveMap;
use crate::timer_layout::{TIMER_ENTRY_SIZE, TIMER_ROOM, TimerEntry, encode_filler};

#[derive(Debug)]
pub(crate) struct TimerLog {
    dir: PathBuf,
    file_size: u64,
    files: VecDeque<(u64, ExclusiveMap)>,
    /// Where the next entry goes, if its file has room.
    end: u64,
    flushed: u64,
}

impl TimerLog {
    /// Opens the files that lie there, up to `end` at most; files of another size are no files of this log.
    pub(crate) fn open(dir: &Path, file_size: u64, end: u64) -> Result<Self, StoreError> {
        create_dir(dir)?;
        let mut files = VecDeque::new();
        for file in list_segments(dir)? {
            let next = files.back().map(|(base, _)| base + file_size);
            let follows = next.is_none_or(|next| next == file.base);
            if follows && file.size == file_size && file.base < end && file.base % file_size == 0 {
                let map = open_segment(&file.path).and_then(|opened| {
                    ExclusiveMap::new(&opened).map_err(|error| StoreError::io(&file.path, error))
                })?;
                files.push_back((file.base, map));
            } else {
                remove_file(&file.path)?;
            }
        }
        sync_dir(dir)?;
        let ends = files.back().map(|(base, _)| base + file_size);
        let end = ends.map_or(0, |last| end.min(last));
        Ok(Self {
            dir: dir.to_path_buf(),
            file_size,
            files,
            end,
            flushed: end,
        })
    }

    pub(crate) fn begin(&self) -> u64 {
        self.files.front().map_or(self.end, |(base, _)| *base)
    }

    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// The entry at a position, if one lies there.
    pub(crate) fn entry(&self, position: i64) -> Option<TimerEntry> {
        let position = u64::try_from(position).ok().filter(|at| *at < self.end)?;
        let distance = position.checked_sub(self.begin())?;
        let index = usize::try_from(distance / self.file_size).ok()?;
        let at = usize::try_from(distance % self.file_size).ok()?;
        let (_, map) = self.files.get(index)?;
        TimerEntry::decode(map.bytes().get(at..at + TIMER_ENTRY_SIZE)?)
    }

    /// Where the entry behind a position lies: in the next file, if the one has no room.
    pub(crate) fn place_from(&self, position: u64) -> u64 {
        let rest = self.file_size - position % self.file_size;
        if rest < TIMER_ROOM as u64 {
            position + rest
        } else {
            position
        }
    }

    /// Adds an entry, and returns its position.
    pub(crate) fn append(&mut self, entry: &TimerEntry) -> Result<i64, StoreError> {
        let place = self.place_from(self.end);
        if self
            .files
            .back()
            .is_none_or(|(base, _)| place >= base + self.file_size)
        {
            self.add_file(place)?;
        }
        let Some((base, map)) = self.files.back_mut() else {
            return Err(StoreError::Closed);
        };
        #[allow(clippy::cast_possible_truncation)] // inside a mapped file
        let at = (place - *base) as usize;
        entry.encode(&mut map.bytes_mut()[at..at + TIMER_ENTRY_SIZE]);
        self.end = place + TIMER_ENTRY_SIZE as u64;
        i64::try_from(place).map_err(|_| StoreError::Closed)
    }

    /// Makes the file at a position, and ends the one before.
    fn add_file(&mut self, base: u64) -> Result<(), StoreError> {
        let path = self.dir.join(segment_name(base));
        let file = create_segment(&path, self.file_size, self.file_size)?;
        let map = ExclusiveMap::new(&file).map_err(|error| StoreError::io(&path, error))?;
        if let Some((last, full)) = self.files.back_mut()
            && self.end < *last + self.file_size
        {
            #[allow(clippy::cast_possible_truncation)] // inside a mapped file
            let at = (self.end - *last) as usize;
            encode_filler(&mut full.bytes_mut()[at..]);
        }
        self.files.push_back((base, map));
        Ok(())
    }

    /// Ends the log at a position. What lies behind it is overwritten, and the checkpoint says so first.
    pub(crate) fn cut(&mut self, end: u64) -> Result<(), StoreError> {
        while let Some((base, _)) = self.files.back().filter(|(base, _)| *base >= end) {
            remove_file(&self.dir.join(segment_name(*base)))?;
            self.files.pop_back();
        }
        self.end = end.min(self.end);
        self.flushed = self.flushed.min(self.end);
        sync_dir(&self.dir)
    }

    /// Removes the oldest files whose entries are all of records before a log position, never the last.
    pub(crate) fn expire(&mut self, min_position: u64) -> Result<(), StoreError> {
        let entry_size = TIMER_ENTRY_SIZE as u64;
        let last_at = (self.file_size - TIMER_ROOM as u64) / entry_size * entry_size;
        while self.files.len() > 1 {
            let base = self.begin();
            let newest = i64::try_from(base + last_at).ok();
            let newest = newest.and_then(|at| self.entry(at));
            let is_old = |entry: TimerEntry| {
                u64::try_from(entry.log_position).is_ok_and(|position| position < min_position)
            };
            if !newest.is_some_and(is_old) {
                break;
            }
            remove_file(&self.dir.join(segment_name(base)))?;
            self.files.pop_front();
        }
        Ok(())
    }

    /// The files with entries that are not on the disk yet.
    pub(crate) fn unflushed(&self) -> Vec<PathBuf> {
        let files = self.files.iter().map(|(base, _)| *base);
        let is_touched = |base: &u64| base + self.file_size > self.flushed;
        let path = |base| self.dir.join(segment_name(base));
        files.filter(is_touched).map(path).collect()
    }

    /// Notes that the entries before a position are on the disk.
    pub(crate) fn set_flushed(&mut self, end: u64) {
        self.flushed = end;
    }

    /// Whether all that was written went to the files.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        let lost = self.files.iter().find_map(|(base, map)| {
            let why = map.loss()?;
            Some((self.dir.join(segment_name(*base)), why))
        });
        lost.map_or(Ok(()), |(path, why)| {
            Err(StoreError::io(path, io::Error::other(why)))
        })
    }
}
