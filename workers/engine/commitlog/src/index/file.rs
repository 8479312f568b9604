//! One index file: entries chained from hash slots (storage-and-ha.md 4.2, 4.3).

use std::fs::File;
use std::path::{Path, PathBuf};

use regent_sync::atomic::{AtomicBool, Ordering};

use crate::cursor::{Reader, Writer};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{create_segment, open_segment, preallocate, remove_file};
use crate::index_layout::{ENTRY_SIZE, Entry, FIRST_NUMBER, HEADER_SIZE, Header, Shape};
use crate::sys::ExclusiveMap;

/// Disk blocks are given to entries in slices, or an idle store would hold 400 MB for its index.
const SLICE_SIZE_BYTES: u64 = 4 << 20;

/// One key of one record, to be put into a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexedKey {
    pub(crate) hash: i32,
    pub(crate) log_position: u64,
    pub(crate) store_timestamp_ms: i64,
}

/// An index file, mapped; its writer holds it exclusively.
#[derive(Debug)]
pub(crate) struct IndexFile {
    /// Its name as a number.
    pub(crate) stamp: u64,
    path: PathBuf,
    shape: Shape,
    pub(crate) header: Header,
    file: File,
    map: ExclusiveMap,
    /// Bytes before this have disk blocks.
    allocated: u64,
    /// Whether all of it is on the disk.
    is_durable: AtomicBool,
    /// Whether something in it is impossible, so that it must be built again.
    is_damaged: AtomicBool,
}

impl IndexFile {
    /// Creates an empty file that continues the one with the given header.
    ///
    /// Header and slots get disk blocks now, since the first key may need any of them, entries as
    /// they come (D24). Pages are not populated: a key touches two of 100 000.
    pub(crate) fn create(
        dir: &Path,
        stamp: u64,
        shape: Shape,
        previous: Option<&Header>,
    ) -> Result<Self, StoreError> {
        let path = file_path(dir, stamp);
        let size = shape.file_size();
        let allocated = size.min(shape.entry_at(FIRST_NUMBER) as u64 + SLICE_SIZE_BYTES);
        let file = create_segment(&path, size, allocated)?;
        let header = Header::after(previous);
        let mapped = Self::map(stamp, path.clone(), shape, file, header);
        let mut created = match mapped {
            Ok(created) => created,
            Err(error) => {
                remove_file(&path)?;
                return Err(error);
            }
        };
        created.allocated = allocated;
        created.write_header();
        Ok(created)
    }

    /// Opens a file whose content is on the disk; `None` when it is not an index file of this
    /// shape or contradicts itself.
    pub(crate) fn open(dir: &Path, stamp: u64, shape: Shape) -> Result<Option<Self>, StoreError> {
        let path = file_path(dir, stamp);
        let file = open_segment(&path)?;
        let metadata = file
            .metadata()
            .map_err(|error| StoreError::io(&path, error))?;
        if metadata.len() != shape.file_size() {
            return Ok(None);
        }
        let mut opened = Self::map(stamp, path, shape, file, Header::default())?;
        opened.is_durable = AtomicBool::new(true);
        let Some(header) = Header::decode(opened.map.bytes()) else {
            return Ok(None);
        };
        opened.header = header;
        Ok(opened.is_plausible().then_some(opened))
    }

    fn map(
        stamp: u64,
        path: PathBuf,
        shape: Shape,
        file: File,
        header: Header,
    ) -> Result<Self, StoreError> {
        let map = ExclusiveMap::new(&file);
        let map = map.and_then(|map| map.advise_random().map(|()| map));
        let map = map.map_err(|error| StoreError::io(&path, error))?;
        Ok(Self {
            stamp,
            path,
            shape,
            header,
            file,
            map,
            allocated: 0,
            is_durable: AtomicBool::new(false),
            is_damaged: AtomicBool::new(false),
        })
    }

    /// Whether header, first and last entry agree.
    fn is_plausible(&self) -> bool {
        let Header {
            begin_position,
            end_position,
            next_number,
            ..
        } = self.header;
        let last = next_number - 1;
        let starts_at = |number, position| {
            self.entry(number)
                .is_some_and(|entry| entry.log_position == position)
        };
        self.header.is_plausible(self.shape)
            && (last == 0
                || starts_at(FIRST_NUMBER, begin_position) && starts_at(last, end_position))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn is_full(&self) -> bool {
        self.header.is_full(self.shape)
    }

    pub(crate) fn is_durable(&self) -> bool {
        self.is_durable.load(Ordering::Acquire)
    }

    pub(crate) fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Acquire)
    }

    pub(crate) fn mark_damaged(&self) {
        self.is_damaged.store(true, Ordering::Release);
    }

    /// Adds a key; the file is not full.
    pub(crate) fn put(&mut self, key: &IndexedKey) -> Result<(), StoreError> {
        assert!(!self.is_full(), "put into a full index file");
        let number = self.header.next_number;
        let at = self.shape.entry_at(number);
        self.reserve(at + ENTRY_SIZE)?;
        let slot_at = self.shape.slot_at(key.hash);
        let previous = self.newest_number(slot_at);
        let elapsed_s = self.header.elapsed_s(key.store_timestamp_ms);
        let bytes = self.map.bytes_mut();
        let mut out = Writer::new(&mut bytes[at..at + ENTRY_SIZE]);
        out.put_i32(key.hash);
        out.put_u64(key.log_position);
        out.put_i32(elapsed_s);
        out.put_u32(previous);
        Writer::new(&mut bytes[slot_at..]).put_u32(number);
        let header = &mut self.header;
        if number == FIRST_NUMBER {
            header.begin_position = key.log_position;
            header.begin_timestamp_ms = key.store_timestamp_ms;
        }
        header.used_slot_count += u32::from(previous == 0);
        header.next_number += 1;
        header.end_position = key.log_position;
        header.end_timestamp_ms = key.store_timestamp_ms;
        self.write_header();
        Ok(())
    }

    fn write_header(&mut self) {
        *self.is_durable.get_mut() = false;
        self.header.encode(&mut self.map.bytes_mut()[..HEADER_SIZE]);
    }

    /// Makes sure that everything before `to` has disk blocks.
    ///
    /// A file that was opened may have holes in front of that too: stock allocates none.
    fn reserve(&mut self, to: usize) -> Result<(), StoreError> {
        let to = to as u64;
        if to > self.allocated {
            let end = self.shape.file_size().min(to + SLICE_SIZE_BYTES);
            let reserved = step(Step::Resize, &self.path, || {
                preallocate(&self.file, self.allocated, end)
            });
            reserved.map_err(|error| StoreError::io(&self.path, error))?;
            self.allocated = end;
        }
        Ok(())
    }

    /// Number of the newest entry of a slot's chain; 0 when it has none, or an impossible one.
    fn newest_number(&self, slot_at: usize) -> u32 {
        let stored = self
            .map
            .bytes()
            .get(slot_at..)
            .and_then(|bytes| Reader::new(bytes).u32());
        stored
            .filter(|number| *number < self.header.next_number)
            .unwrap_or(0)
    }

    fn entry(&self, number: u32) -> Option<Entry> {
        Entry::decode(self.map.bytes().get(self.shape.entry_at(number)..)?)
    }

    /// Hashes of the newest entries that belong to the record at `position`, newest first.
    pub(crate) fn newest_of(&self, position: u64) -> impl Iterator<Item = i32> {
        (FIRST_NUMBER..self.header.next_number)
            .rev()
            .map_while(|number| self.entry(number))
            .take_while(move |entry| entry.log_position == position)
            .map(|entry| entry.key_hash)
    }

    /// Whether a query for these times looks into this file; inclusive, in stock's three cases.
    pub(crate) fn is_in_range(&self, begin_ms: i64, end_ms: i64) -> bool {
        let own = self.header.begin_timestamp_ms..=self.header.end_timestamp_ms;
        (begin_ms < *own.start() && end_ms > *own.end())
            || own.contains(&begin_ms)
            || own.contains(&end_ms)
    }

    /// Number of the newest entry in the chain of a hash, which others may share; 0: it has none.
    pub(crate) fn newest_link(&self, key_hash: i32) -> u32 {
        self.newest_number(self.shape.slot_at(key_hash))
    }

    /// Looks at one entry of a hash's chain: gives its log position if hash and time are the wanted
    /// ones, and the number of the next entry, 0 at the end (storage-and-ha.md 4.3).
    ///
    /// Times are exact to a second, but for the first entry of a file that continues another: its
    /// seconds count from there. A chain that does not go down, or leaves the file's part of the
    /// log, is damage, and ends there. A number that the file does not have is of another file,
    /// which had this one's name: nothing is wrong then, and nothing is known.
    pub(crate) fn link(
        &self,
        number: u32,
        key_hash: i32,
        (begin_ms, end_ms): (i64, i64),
    ) -> (Option<u64>, u32) {
        if number >= self.header.next_number {
            return (None, 0);
        }
        let own = self.header.begin_position..=self.header.end_position;
        let entry = self.entry(number).filter(|entry| {
            let goes_down = i64::from(entry.previous) < i64::from(number);
            goes_down && entry.elapsed_s >= 0 && own.contains(&entry.log_position)
        });
        let Some(entry) = entry else {
            self.mark_damaged();
            return (None, 0);
        };
        let elapsed_ms = i64::from(entry.elapsed_s) * 1000;
        let time_ms = self.header.begin_timestamp_ms.saturating_add(elapsed_ms);
        if time_ms < begin_ms {
            return (None, 0);
        }
        let is_match = entry.key_hash == key_hash && time_ms <= end_ms;
        let next = u32::try_from(entry.previous).unwrap_or(0);
        (is_match.then_some(entry.log_position), next)
    }

    /// Writes everything to the disk. After a failure it is unknown what is there.
    pub(crate) fn flush(&self) -> Result<(), StoreError> {
        if self.is_durable() {
            return Ok(());
        }
        let (from, to) = (0, self.map.bytes().len());
        let range = Step::SyncRange { from, to };
        let flushed = step(range, &self.path, || self.map.flush(from, to));
        flushed.map_err(|error| {
            self.mark_damaged();
            StoreError::io(&self.path, error)
        })?;
        self.is_durable.store(true, Ordering::Release);
        Ok(())
    }
}

/// Where a file lies: its name has 17 digits.
pub(crate) fn file_path(dir: &Path, stamp: u64) -> PathBuf {
    dir.join(format!("{stamp:017}"))
}

#[cfg(test)]
mod tests;
