//! The denominators of benchmarks: plain copies into, and reads from, file maps.

use std::io;
use std::path::Path;

use crate::files::{create_segment, open_segment};
use crate::sys::{ExclusiveMap, MapWriter};

/// A preallocated file whose pages are all present and writable.
#[derive(Debug)]
pub struct PopulatedFile {
    map: MapWriter,
    at: usize,
}

impl PopulatedFile {
    /// Creates the file.
    ///
    /// # Errors
    /// The system refuses.
    pub fn create(path: &Path, size: u64) -> io::Result<Self> {
        let file = create_segment(path, size, size).map_err(io::Error::other)?;
        let map = ExclusiveMap::new(&file)?.into_writer(0);
        let file = Self { map, at: 0 };
        file.populate()?;
        Ok(file)
    }

    /// Makes pages writable again that write-back has protected.
    ///
    /// # Errors
    /// The system refuses.
    pub fn populate(&self) -> io::Result<()> {
        let reader = self.map.reader();
        reader.populate(0, reader.size())
    }

    /// Copies `piece` again and again over the next `bytes`, from the start again behind the end.
    pub fn fill_next(&mut self, piece: &[u8], bytes: usize) {
        if self.at + bytes > self.map.remaining() {
            self.at = 0;
        }
        let next = &mut self.map.tail()[self.at..][..bytes];
        for target in next.chunks_exact_mut(piece.len()) {
            target.copy_from_slice(std::hint::black_box(piece));
        }
        self.at += bytes;
    }
}

/// Gives the bytes of a mapped file to `work`.
///
/// # Errors
/// The system refuses.
pub fn with_map(path: &Path, work: impl FnOnce(&[u8])) -> io::Result<()> {
    let file = open_segment(path).map_err(io::Error::other)?;
    work(ExclusiveMap::new(&file)?.bytes());
    Ok(())
}
