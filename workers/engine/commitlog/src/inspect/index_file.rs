//! One file of the key index, read through a window: its header, entries, chains and slots.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::finding::{FindingKind, Findings};
use crate::error::StoreError;
use crate::files::open_if_there;
use crate::index::file_path;
use crate::index_layout::{ENTRY_SIZE, Entry, FIRST_NUMBER, HEADER_SIZE, Header, SLOT_SIZE, Shape};

/// Entries, or slots, read at once.
const WINDOW_COUNT: usize = 16_384;
/// Where an entry holds the number of the one before it in its chain.
const PREVIOUS_AT: u64 = 16;

/// How often the newest file is looked at before it counts as damaged, and how long after each other: a
/// broker that has just made it, or writes its header, is soon done with that.
const LOOK_COUNT: usize = 10;
const LOOK_INTERVAL: Duration = Duration::from_millis(20);

/// Where something is wrong with a file, and what.
pub(super) type Refusal = ((PathBuf, u64), String);

#[derive(Debug)]
pub(super) struct IndexedFile {
    pub(super) path: PathBuf,
    pub(super) header: Header,
    /// Its begin is not the first record's, so that no seconds can be right.
    pub(super) has_wrong_times: bool,
    shape: Shape,
    /// A store may have more files than a process may have descriptors: closed while not read.
    file: Option<File>,
    window_from: u32,
    window: Vec<u8>,
}

impl IndexedFile {
    /// Opens a file that follows one with the given header, or says why no store would use it. The
    /// newest one may be being written.
    pub(super) fn open(
        dir: &Path,
        stamp: u64,
        shape: Shape,
        previous: Option<&Header>,
        is_newest: bool,
    ) -> Result<Result<Self, Refusal>, StoreError> {
        let mut look_count = 1;
        loop {
            let opened = Self::look(dir, stamp, shape, previous)?;
            if opened.is_ok() || !is_newest || look_count == LOOK_COUNT {
                return Ok(opened);
            }
            thread::sleep(LOOK_INTERVAL);
            look_count += 1;
        }
    }

    fn look(
        dir: &Path,
        stamp: u64,
        shape: Shape,
        previous: Option<&Header>,
    ) -> Result<Result<Self, Refusal>, StoreError> {
        let path = file_path(dir, stamp);
        let named = |error| StoreError::io(&path, error);
        let file = File::open(&path).map_err(named)?;
        let size = file.metadata().map_err(named)?.len();
        let refuse = |byte, reason: &str| Ok(Err(((path.clone(), byte), reason.to_owned())));
        if size != shape.file_size() {
            let reason = format!("{size} bytes instead of {}", shape.file_size());
            return refuse(0, &reason);
        }
        let mut head = [0; HEADER_SIZE];
        file.read_exact_at(&mut head, 0).map_err(named)?;
        let Some(header) = Header::decode(&head) else {
            return refuse(0, "its header holds a negative number");
        };
        if !header.is_plausible(shape) {
            return refuse(0, "a number or a position in its header is impossible");
        }
        if previous.is_some_and(|previous| previous.end_position > header.begin_position) {
            return refuse(16, "it begins before the file before it ends");
        }
        let mut opened = Self {
            path: path.clone(),
            header,
            has_wrong_times: false,
            shape,
            file: Some(file),
            window_from: 0,
            window: Vec::new(),
        };
        let last = header.next_number - 1;
        let mut points_to = |number, position| -> Result<bool, StoreError> {
            let entry = opened.entry(number)?;
            Ok(last == 0 || entry.is_some_and(|entry| entry.log_position == position))
        };
        if !points_to(FIRST_NUMBER, header.begin_position)? {
            return refuse(16, "its first entry is not the entry that its header names");
        }
        if !points_to(last, header.end_position)? {
            return refuse(24, "its last entry is not the entry that its header names");
        }
        Ok(Ok(opened))
    }

    /// Closes the file until it is read again.
    pub(super) fn close(&mut self) {
        self.file = None;
        (self.window_from, self.window) = (0, Vec::new());
    }

    /// Opens the file again; `false` if it is gone by now.
    pub(super) fn reopen(&mut self) -> Result<bool, StoreError> {
        if self.file.is_none() {
            self.file = open_if_there(&self.path)?;
        }
        Ok(self.file.is_some())
    }

    /// The entry with a number; `None` if it points to a negative position.
    pub(super) fn entry(&mut self, number: u32) -> Result<Option<Entry>, StoreError> {
        Ok(self.bytes(number)?.and_then(Entry::decode))
    }

    /// Where a field of an entry lies.
    pub(super) fn place(&self, number: u32, field_at: u64) -> (PathBuf, u64) {
        let byte = self.shape.entry_at(number) as u64 + field_at;
        (self.path.clone(), byte)
    }

    /// Compares the link of an entry with what the entries before it make of its chain.
    pub(super) fn check_chain(
        &mut self,
        number: u32,
        chains: &mut Vec<u32>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        chains.resize(self.shape.slot_count as usize, 0);
        let fields = self
            .bytes(number)?
            .map(|bytes| (int(bytes, 0), int(bytes, 16)));
        let Some((hash, previous)) = fields else {
            return Ok(());
        };
        let slot = (hash.unsigned_abs() % self.shape.slot_count) as usize;
        let before = std::mem::replace(&mut chains[slot], number);
        if i64::from(previous) != i64::from(before) {
            let place = self.place(number, PREVIOUS_AT);
            let text = format!("entry {number} is followed by entry {previous}, not {before}");
            findings.add_in_file(FindingKind::BrokenIndexChain, place, 0, text);
        }
        Ok(())
    }

    /// Compares every slot with the newest entry of its chain.
    pub(super) fn check_slots(
        &mut self,
        chains: &mut Vec<u32>,
        findings: &mut Findings,
    ) -> Result<(), StoreError> {
        chains.resize(self.shape.slot_count as usize, 0);
        let mut at = HEADER_SIZE as u64;
        let mut bytes = vec![0; WINDOW_COUNT * SLOT_SIZE];
        for expected in chains.chunks(WINDOW_COUNT) {
            let read = &mut bytes[..expected.len() * SLOT_SIZE];
            self.read(read, at)?;
            for (slot, newest) in read.chunks(SLOT_SIZE).zip(expected) {
                // As in searches: an impossible number is none.
                let stored = u32::try_from(int(slot, 0)).unwrap_or(0);
                let stored = Some(stored).filter(|stored| *stored < self.header.next_number);
                let stored = stored.unwrap_or(0);
                if stored != *newest {
                    let text = format!("a chain begins with entry {stored}, not {newest}");
                    let place = (self.path.clone(), at);
                    findings.add_in_file(FindingKind::BrokenIndexChain, place, 0, text);
                }
                at += SLOT_SIZE as u64;
            }
        }
        Ok(())
    }

    /// The bytes of an entry; `None` for one that the file has no room for.
    fn bytes(&mut self, number: u32) -> Result<Option<&[u8]>, StoreError> {
        let count = u32::try_from(self.window.len() / ENTRY_SIZE).unwrap_or(0);
        if !(self.window_from..self.window_from + count).contains(&number) {
            let left = self.shape.entry_count.saturating_sub(number) as usize;
            let mut window = std::mem::take(&mut self.window);
            window.resize(left.min(WINDOW_COUNT) * ENTRY_SIZE, 0);
            self.read(&mut window, self.shape.entry_at(number) as u64)?;
            (self.window_from, self.window) = (number, window);
        }
        let at = (number - self.window_from) as usize * ENTRY_SIZE;
        Ok(self.window.get(at..at + ENTRY_SIZE))
    }

    fn read(&mut self, bytes: &mut [u8], at: u64) -> Result<(), StoreError> {
        self.reopen()?;
        let read = match &self.file {
            Some(file) => file.read_exact_at(bytes, at),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        read.map_err(|error| StoreError::io(&self.path, error))
    }
}

fn int(bytes: &[u8], at: usize) -> i32 {
    let bytes = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    bytes.map_or(0, |bytes| i32::from_be_bytes(*bytes))
}
