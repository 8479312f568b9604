//! Index files (FORMAT.md 7).

use super::bytes::{integer, java_hash};

const HEADER_SIZE: usize = 40;
const SLOT_SIZE: usize = 4;
const ENTRY_SIZE: usize = 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexEntry {
    pub hash: i64,
    pub position: u64,
    pub seconds: i64,
    pub previous: i64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexFile {
    pub begin_time: i64,
    pub end_time: i64,
    pub begin_position: i64,
    pub end_position: i64,
    pub slot_count: i64,
    pub next: i64,
    pub slots: Vec<i64>,
    /// From number 1 on.
    pub entries: Vec<IndexEntry>,
}

impl IndexFile {
    /// A file of so many slots and entries; nothing if its size or its header is impossible.
    pub fn decode(bytes: &[u8], slot_max: usize, entry_max: usize) -> Option<Self> {
        if bytes.len() != HEADER_SIZE + SLOT_SIZE * slot_max + ENTRY_SIZE * entry_max {
            return None;
        }
        let next = integer(bytes, 36, 4)?;
        let last = usize::try_from(next).ok()?;
        if last == 0 || last > entry_max {
            return None;
        }
        let slot = |number: usize| integer(bytes, HEADER_SIZE + SLOT_SIZE * number, 4);
        let entry = |number: usize| {
            let at = HEADER_SIZE + SLOT_SIZE * slot_max + ENTRY_SIZE * number;
            Some(IndexEntry {
                hash: integer(bytes, at, 4)?,
                position: integer(bytes, at + 4, 8)?.cast_unsigned(),
                seconds: integer(bytes, at + 12, 4)?,
                previous: integer(bytes, at + 16, 4)?,
            })
        };
        Some(Self {
            begin_time: integer(bytes, 0, 8)?,
            end_time: integer(bytes, 8, 8)?,
            begin_position: integer(bytes, 16, 8)?,
            end_position: integer(bytes, 24, 8)?,
            slot_count: integer(bytes, 32, 4)?,
            next,
            slots: (0..slot_max).map(slot).collect::<Option<_>>()?,
            entries: (1..last).map(entry).collect::<Option<_>>()?,
        })
    }

    pub fn is_full(&self, entry_max: usize) -> bool {
        self.entries.len() + 1 == entry_max
    }

    /// Positions of the entries with a key, the newest first.
    pub fn find(&self, key: &[u8]) -> Vec<u64> {
        let hash = key_hash(key);
        let slot = usize::try_from(hash).expect("no sign") % self.slots.len();
        let mut found = Vec::new();
        let mut number = self.slots[slot];
        while let Some(entry) = usize::try_from(number - 1)
            .ok()
            .and_then(|at| self.entries.get(at))
        {
            if entry.hash == hash {
                found.push(entry.position);
            }
            if entry.previous >= number {
                break;
            }
            number = entry.previous;
        }
        found
    }
}

pub fn key_hash(key: &[u8]) -> i64 {
    i64::from(java_hash(key).checked_abs().unwrap_or(0))
}
