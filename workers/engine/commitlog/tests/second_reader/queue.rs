//! Consume queues (FORMAT.md 3).

use super::bytes::integer;
use super::files::Numbered;

pub const ENTRY_SIZE: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    pub position: u64,
    pub size: i32,
    pub tags_code: i64,
}

pub const FILLER: Entry = Entry {
    position: 0,
    size: 0x7FFF_FFFF,
    tags_code: 0,
};

impl Entry {
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (position, size) = (integer(bytes, 0, 8)?, integer(bytes, 8, 4)?);
        let is_valid = position >= 0 && size > 0;
        is_valid.then_some(Self {
            position: position.cast_unsigned(),
            size: i32::try_from(size).ok()?,
            tags_code: integer(bytes, 12, 8)?,
        })
    }
}

/// A run of entries; the first has the number `first`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Queue {
    pub first: u64,
    pub entries: Vec<Entry>,
    /// Whether files are missing.
    pub has_gap: bool,
    /// Whether bytes other than zeros lie behind the end.
    pub has_rest: bool,
}

impl Queue {
    pub fn decode(files: &Numbered, file_size: u64) -> Self {
        let Some((base, _)) = files.first_key_value() else {
            return Self::default();
        };
        let mut queue = Self {
            first: base / ENTRY_SIZE as u64,
            ..Self::default()
        };
        let mut expected = *base;
        let mut bytes = Vec::new();
        for (base, content) in files {
            queue.has_gap |= *base != expected;
            if queue.has_gap {
                break;
            }
            expected += file_size;
            bytes.extend_from_slice(content);
        }
        queue.entries = bytes.chunks(ENTRY_SIZE).map_while(Entry::decode).collect();
        let behind = &bytes[queue.entries.len() * ENTRY_SIZE..];
        queue.has_rest = behind.iter().any(|byte| *byte != 0);
        queue
    }

    pub fn end(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    pub fn at(&self, offset: u64) -> Option<Entry> {
        let index = usize::try_from(offset.checked_sub(self.first)?).ok()?;
        self.entries.get(index).copied()
    }

    /// Puts an entry in its place, behind fillers where it leaves room.
    pub fn put(&mut self, offset: u64, entry: Entry) {
        if self.entries.is_empty() {
            self.first = offset;
        }
        while self.end() <= offset {
            self.entries.push(FILLER);
        }
        let index = usize::try_from(offset - self.first).expect("a place in memory");
        self.entries[index] = entry;
    }

    /// Takes entries from the end that are not kept, and says whether there were any.
    pub fn cut(&mut self, mut is_kept: impl FnMut(&Entry) -> bool) -> bool {
        let length = self.entries.len();
        while self.entries.last().is_some_and(|entry| !is_kept(entry)) {
            self.entries.pop();
        }
        self.entries.len() < length
    }

    /// The first offset whose record is in a log that begins at `begin`.
    pub fn readable(&self, begin: u64) -> u64 {
        let is_there = |entry: &Entry| *entry != FILLER && entry.position >= begin;
        let index = self
            .entries
            .iter()
            .position(is_there)
            .unwrap_or(self.entries.len());
        self.first + index as u64
    }
}
