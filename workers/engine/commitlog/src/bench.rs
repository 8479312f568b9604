//! The denominator of the append benchmark: plain copies into a populated file map.

use std::io;
use std::path::Path;

use crate::files::create_segment;
use crate::sys::{ExclusiveMap, MapWriter};

/// A preallocated file whose pages are all present and writable.
#[derive(Debug)]
pub struct PopulatedFile {
    map: MapWriter,
}

impl PopulatedFile {
    /// Creates the file.
    ///
    /// # Errors
    /// The system refuses.
    pub fn create(path: &Path, size: u64) -> io::Result<Self> {
        let file = create_segment(path, size, size).map_err(io::Error::other)?;
        let map = ExclusiveMap::new(&file)?.into_writer(0);
        let file = Self { map };
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

    /// Copies `piece` one after the other through the whole file; returns the bytes copied.
    pub fn fill_with(&mut self, piece: &[u8]) -> usize {
        let mut copied = 0;
        for target in self.map.tail().chunks_exact_mut(piece.len()) {
            target.copy_from_slice(std::hint::black_box(piece));
            copied += target.len();
        }
        copied
    }
}
