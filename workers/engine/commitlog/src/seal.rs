//! The seal: word on the disk of how far the log was flushed, flush by flush (FORMAT.md 5.1).
//!
//! In a segment that is used again a sector that was never written holds an older record's bytes
//! instead of zeros, and no checksum covers header, topic and properties. So after the system went
//! down no record counts that lies behind what is sealed. A seal names the flushed range and its
//! checksum, so that it may reach the disk before the range does, and travels with its flush.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::cursor::{Reader, Writer};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{BLOCK_SIZE, open_segment, sync_parent};
use crate::sys::{await_write_back, finish_write_back, start_write_back};

const SLOT_COUNT: usize = 2;
const SEAL_SIZE: usize = 24;
const OWN_CRC_AT: usize = SEAL_SIZE - 4;

/// The last range that was flushed; all before it was flushed earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seal {
    pub(crate) from: u64,
    pub(crate) to: u64,
    /// Of the range.
    pub(crate) crc: u32,
}

impl Seal {
    fn encode(self) -> [u8; SEAL_SIZE] {
        let mut bytes = [0; SEAL_SIZE];
        let mut out = Writer::new(&mut bytes);
        out.put_u64(self.from);
        out.put_u64(self.to);
        out.put_u32(self.crc);
        let own_crc = crc32fast::hash(&bytes[..OWN_CRC_AT]);
        bytes[OWN_CRC_AT..].copy_from_slice(&own_crc.to_be_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let own_crc = crc32fast::hash(bytes.get(..OWN_CRC_AT)?);
        let mut input = Reader::new(bytes);
        let seal = Self {
            from: input.u64()?,
            to: input.u64()?,
            crc: input.u32()?,
        };
        (input.u32()? == own_crc).then_some(seal)
    }
}

/// The newest position that a seal vouches for, which is one whose range still has its checksum.
///
/// The seal of a flush that was under way may be one whose range is not there: the one before it
/// was on the disk by then.
pub(crate) fn sealed_position(
    path: &Path,
    min_position: u64,
    crc_of: impl Fn(u64, u64) -> Option<u32>,
) -> Result<Option<u64>, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io(path, error)),
    };
    let seals = bytes.chunks(BLOCK_SIZE).filter_map(Seal::decode);
    // What has expired since had been flushed.
    let is_empty = |seal: &Seal| seal.from == seal.to || seal.to <= min_position;
    let right = seals.filter(|seal| is_empty(seal) || crc_of(seal.from, seal.to) == Some(seal.crc));
    Ok(right.map(|seal| seal.to).max())
}

/// The file of the seals, one in each of two blocks, written in turn.
#[derive(Debug)]
pub(crate) struct SealFile {
    path: PathBuf,
    file: File,
    slot: usize,
    /// The segment that was flushed last, by its path.
    segment: Option<(PathBuf, File)>,
}

impl SealFile {
    /// Seals the log up to `position`, where nothing behind it was flushed.
    pub(crate) fn create(path: PathBuf, position: u64) -> Result<Self, StoreError> {
        let named = |error| StoreError::io(&path, error);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let file = step(Step::Create, &path, || options.open(&path)).map_err(named)?;
        let seal = Seal {
            from: position,
            to: position,
            crc: 0,
        };
        let mut slots = vec![0; SLOT_COUNT * BLOCK_SIZE];
        for slot in slots.chunks_mut(BLOCK_SIZE) {
            slot[..SEAL_SIZE].copy_from_slice(&seal.encode());
        }
        step(Step::Write, &path, || file.write_all_at(&slots, 0)).map_err(named)?;
        step(Step::SyncFile, &path, || file.sync_all()).map_err(named)?;
        sync_parent(&path)?;
        Ok(Self {
            path,
            file,
            slot: 0,
            segment: None,
        })
    }

    /// Has a range of a segment begin its way to the disk, and its seal reach the disk's cache, and
    /// does something else meanwhile. The flush of the range then takes both to the disk: file systems
    /// on which a store has seals write in place.
    pub(crate) fn join(
        &mut self,
        path: &Path,
        (from, to): (usize, usize),
        seal: impl FnOnce() -> Seal,
        meanwhile: impl FnOnce(),
    ) -> Result<(), StoreError> {
        let segment = match &mut self.segment {
            Some((known, file)) if known == path => file,
            other => &mut other.insert((path.to_path_buf(), open_segment(path)?)).1,
        };
        // Not before it is open: the other slot has the seal that counts.
        self.slot = (self.slot + 1) % SLOT_COUNT;
        let (seal_from, seal_to) = range_of(self.slot);
        // What takes longest goes first: the checksum is computed while it is under way.
        step(Step::StartWriteBack { from, to }, path, || {
            start_write_back(segment, from, to)
        })
        .map_err(|error| StoreError::io(path, error))?;
        step(Step::Write, &self.path, || {
            self.file.write_all_at(&seal().encode(), seal_from as u64)?;
            start_write_back(&self.file, seal_from, seal_to)
        })
        .map_err(|error| StoreError::io(&self.path, error))?;
        meanwhile();
        // The seal is there a moment after the range: who wakes up for that need not sleep again.
        await_write_back(segment, from, to).map_err(|error| StoreError::io(path, error))?;
        finish_write_back(&self.file, seal_from, seal_to)
            .map_err(|error| StoreError::io(&self.path, error))
    }

    /// Notes that the flush which took the seal along is over.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        let (from, to) = range_of(self.slot);
        step(Step::SyncRange { from, to }, &self.path, || Ok(()))
            .map_err(|error| StoreError::io(&self.path, error))
    }
}

fn range_of(slot: usize) -> (usize, usize) {
    let from = slot * BLOCK_SIZE;
    (from, from + BLOCK_SIZE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_what_it_was_and_one_wrong_bit_makes_it_none() {
        let seal = Seal {
            from: 1,
            to: 1 << 40,
            crc: 0x8765_4321,
        };
        let bytes = seal.encode();

        assert_eq!(Seal::decode(&bytes), Some(seal));
        for bit in 0..8 * SEAL_SIZE {
            let mut wrong = bytes;
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Seal::decode(&wrong), None, "bit {bit}");
        }
    }
}
