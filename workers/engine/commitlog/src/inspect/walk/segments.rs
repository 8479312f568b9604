//! The segments of a log that is walked over: one at a time is open, and read in windows.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::{data_end, list_segments, open_if_there};

/// What is read at once; a longer record makes its window longer.
pub(super) const WINDOW_SIZE: u64 = 4 << 20;

#[derive(Debug)]
pub(super) struct Segment {
    pub(super) base: u64,
    pub(super) size: u64,
    /// Bytes from here on are a hole; its size until it is opened or measured.
    pub(super) data_end: u64,
    pub(super) path: PathBuf,
}

impl Segment {
    pub(super) fn end(&self) -> u64 {
        self.base + self.size
    }
}

/// A log may have more segments than a process may have descriptors, so that only the one that
/// was read last is open.
#[derive(Debug)]
pub(super) struct Segments {
    all: Vec<Segment>,
    open: Option<(usize, File)>,
    window: Window,
}

impl Segments {
    pub(super) fn list(dir: &Path) -> Result<Self, StoreError> {
        let all = list_segments(dir)?.into_iter().map(|found| Segment {
            base: found.base,
            size: found.size,
            data_end: found.size,
            path: found.path,
        });
        Ok(Self {
            all: all.collect(),
            open: None,
            window: Window::default(),
        })
    }

    /// Looks how much of each segment is written.
    pub(super) fn measure(&mut self) -> Result<(), StoreError> {
        for index in 0..self.all.len() {
            self.open(index)?;
        }
        Ok(())
    }

    pub(super) fn all(&self) -> &[Segment] {
        &self.all
    }

    pub(super) fn get(&self, index: usize) -> Option<&Segment> {
        self.all.get(index)
    }

    /// Opens a segment in place of the one that is open; `false` if its file is gone by now.
    pub(super) fn open(&mut self, index: usize) -> Result<bool, StoreError> {
        if self.open.as_ref().is_some_and(|(open, _)| *open == index) {
            return Ok(true);
        }
        // Two at a time would be one too many for who has the last descriptor.
        self.open = None;
        let segment = &mut self.all[index];
        let Some(file) = open_if_there(&segment.path)? else {
            return Ok(false);
        };
        segment.data_end = data_end(&file, 0, segment.size)
            .map_err(|error| StoreError::io(&segment.path, error))?;
        self.open = Some((index, file));
        Ok(true)
    }

    /// Whether the open file no longer is the segment of its name: an expired one is removed.
    pub(super) fn is_stale(&self) -> Result<bool, StoreError> {
        let Some((index, file)) = &self.open else {
            return Ok(false);
        };
        let path = &self.all[*index].path;
        let named = |error| StoreError::io(path, error);
        match fs::metadata(path) {
            Ok(there) => Ok(there.ino() != file.metadata().map_err(named)?.ino()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
            Err(error) => Err(named(error)),
        }
    }

    /// Forgets what was read: a broker may have written there since.
    pub(super) fn forget(&mut self) {
        self.window.bytes.clear();
    }

    /// `size` bytes of a segment at `at`, fewer at the end of the file.
    pub(super) fn read(&mut self, index: usize, at: u64, size: u64) -> Result<&[u8], StoreError> {
        if !self.window.holds(index, at, size) {
            let is_there = self.open(index)?;
            let segment = &self.all[index];
            let window_size = size.max(WINDOW_SIZE).min(segment.size.saturating_sub(at));
            let file = self.open.as_ref().filter(|_| is_there);
            let filled = match file {
                Some((_, file)) => self.window.fill(file, (index, at), window_size),
                None => Err(io::ErrorKind::NotFound.into()),
            };
            filled.map_err(|error| StoreError::io(&segment.path, error))?;
        }
        Ok(self.window.slice(at, size))
    }

    /// Fills `part` with bytes of the open segment at `at`, zeros behind the end of the file, and leaves the
    /// window where it is.
    pub(super) fn copy(&self, index: usize, at: u64, part: &mut [u8]) -> Result<(), StoreError> {
        if self.window.holds(index, at, part.len() as u64) {
            part.copy_from_slice(self.window.slice(at, part.len() as u64));
            return Ok(());
        }
        let path = &self.all[index].path;
        let file = self.open.as_ref().filter(|(open, _)| *open == index);
        let filled = match file {
            Some((_, file)) => fill(file, at, part),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        let filled = filled.map_err(|error| StoreError::io(path, error))?;
        part[filled..].fill(0);
        Ok(())
    }

    /// What was read last, which is in the window.
    pub(super) fn seen(&self, at: u64, size: u64) -> &[u8] {
        self.window.slice(at, size)
    }

    /// Counts the bytes of a segment from `at` on that are not zero.
    pub(super) fn count_written(&mut self, index: usize, mut at: u64) -> Result<u64, StoreError> {
        let end = self.all[index].data_end;
        let mut count = 0;
        while at < end {
            let size = WINDOW_SIZE.min(end - at);
            let bytes = self.read(index, at, size)?;
            count += bytes.iter().filter(|byte| **byte != 0).count() as u64;
            at += size;
        }
        Ok(count)
    }
}

/// The bytes of a segment that were read last.
#[derive(Debug, Default)]
struct Window {
    index: usize,
    from: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn holds(&self, index: usize, at: u64, size: u64) -> bool {
        let end = self.from + self.bytes.len() as u64;
        self.index == index && at >= self.from && at + size <= end
    }

    #[allow(clippy::cast_possible_truncation)] // inside the window
    fn slice(&self, at: u64, size: u64) -> &[u8] {
        let start = (at - self.from) as usize;
        let end = start.saturating_add(size as usize).min(self.bytes.len());
        self.bytes.get(start..end).unwrap_or_default()
    }

    fn fill(&mut self, file: &File, (index, at): (usize, u64), size: u64) -> io::Result<()> {
        (self.index, self.from) = (index, at);
        self.bytes
            .resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
        match fill(file, at, &mut self.bytes) {
            Ok(filled) => {
                self.bytes.truncate(filled);
                Ok(())
            }
            Err(error) => {
                self.bytes.clear();
                Err(error)
            }
        }
    }
}

/// Reads bytes of a file, as many as it has; returns how many.
fn fill(file: &File, at: u64, bytes: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < bytes.len() {
        match file.read_at(&mut bytes[filled..], at + filled as u64) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
