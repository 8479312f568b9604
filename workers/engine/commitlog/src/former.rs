//! Stores of former versions, which wrote expired segments again in `SYNC_FLUSH`.
//!
//! Behind the end of such a log may lie the bytes that its last segment held before. A body among
//! them can hold bytes that are a valid record at their new place. So before such a log is walked,
//! what lies behind its end is cut: then zeros mean *never written*, as in every other log. The
//! former version noted where the log ends:
//!
//! - For a kill, in the mark of an unclean stop: its third line is a position in 20 digits that no
//!   record lies behind.
//! - For a power cut, in the seals in `commitlog/spare/seal`, one in each of two blocks of 4096
//!   bytes. A seal holds begin and end of a flushed range (8 + 8 bytes), the CRC-32 of the range,
//!   and that of these 20 bytes. The newest seal whose range has its checksum counts.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::cursor::Reader;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::files::{BLOCK_SIZE, list_segments, open_segment, remove_dir, sync_dir};
use crate::mark::{Mark, Stop};
use crate::sys::ExclusiveMap;
use crate::truncation::Truncation;

/// Where the segments were that were to be written again, and the seals.
pub(crate) const SPARE_DIR: &str = "spare";

/// What was found of a former version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Former {
    /// How far the seals say that the log was flushed, where they say how it ends.
    pub(crate) sealed: Option<u64>,
}

/// Cuts the log of a store that a former version left open where it says; `None` if no version did.
///
/// It may be done again after a crash at any step: what it goes by is removed by [`remove`] alone.
pub(crate) fn cut(
    directory: &StoreDirectory,
    mark: Option<&Mark>,
    flushed: u64,
) -> Result<Option<Former>, StoreError> {
    let log_dir = directory.commit_log();
    if !spare_dir(log_dir).is_dir() {
        return Ok(None);
    }
    let mut found = Former { sealed: None };
    let Some(mark) = mark else {
        // A store that was closed had zeros behind its end.
        return Ok(Some(found));
    };
    let stop = mark.stop(directory.run());
    let end = if stop == Stop::Killed {
        // One that the log goes beyond is wrong.
        mark.former_write_limit().filter(|limit| *limit >= flushed)
    } else if stop == Stop::Unknown && !mark.has_failed_flush() {
        None
    } else {
        let sealed = sealed_position(log_dir)?;
        found.sealed = sealed.map(|sealed| sealed.max(flushed));
        found.sealed
    };
    if let Some(position) = end {
        Truncation::cut_log_at(directory, position)?;
    }
    Ok(Some(found))
}

/// Removes what a former version kept, once recovery has gone by it.
pub(crate) fn remove(log_dir: &Path) -> Result<(), StoreError> {
    let dir = spare_dir(log_dir);
    if !dir.is_dir() {
        return Ok(());
    }
    remove_dir(&dir)?;
    sync_dir(log_dir)
}

fn spare_dir(log_dir: &Path) -> PathBuf {
    log_dir.join(SPARE_DIR)
}

/// A range that was flushed, and its checksum.
struct Seal {
    from: u64,
    to: u64,
    crc: u32,
}

impl Seal {
    fn decode(bytes: &[u8]) -> Option<Self> {
        let own_crc = crc32fast::hash(bytes.get(..20)?);
        let mut input = Reader::new(bytes);
        let seal = Self {
            from: input.u64()?,
            to: input.u64()?,
            crc: input.u32()?,
        };
        (input.u32()? == own_crc).then_some(seal)
    }

    /// Whether the log still has what was flushed; what has expired since had been.
    fn is_right(&self, log_dir: &Path) -> Result<bool, StoreError> {
        let segments = list_segments(log_dir)?;
        let min_position = segments.first().map_or(0, |oldest| oldest.base);
        if self.from == self.to || self.to <= min_position {
            return Ok(true);
        }
        let holds =
            |base: u64, size: u64| base <= self.from && self.to <= base.saturating_add(size);
        let Some(segment) = segments.iter().find(|it| holds(it.base, it.size)) else {
            return Ok(false);
        };
        let map = ExclusiveMap::new(&open_segment(&segment.path)?)
            .map_err(|error| StoreError::io(&segment.path, error))?;
        let local = |position: u64| usize::try_from(position - segment.base).unwrap_or(usize::MAX);
        let range = map.bytes().get(local(self.from)..local(self.to));
        let is_right = range.map(crc32fast::hash) == Some(self.crc);
        match map.loss() {
            Some(why) => Err(StoreError::io(&segment.path, io::Error::other(why))),
            None => Ok(is_right),
        }
    }
}

/// The newest position that a right seal ends at.
fn sealed_position(log_dir: &Path) -> Result<Option<u64>, StoreError> {
    let path = spare_dir(log_dir).join("seal");
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io(path, error)),
    };
    let mut newest = None;
    for seal in bytes.chunks(BLOCK_SIZE).filter_map(Seal::decode) {
        if seal.is_right(log_dir)? {
            newest = newest.max(Some(seal.to));
        }
    }
    Ok(newest)
}
