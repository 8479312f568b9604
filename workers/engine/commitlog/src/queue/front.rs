//! Entries before the first one of a queue.

use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{QueueSegment, SharedQueue};
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{open_segment, segment_name};
use crate::queue::file::LackingFile;
use crate::queue_layout::{ENTRY_BYTES, ENTRY_SIZE, FILLER, encode_entry};

impl SharedQueue {
    /// Writes entries from the offset `first` on, which end where those of the queue begin: over
    /// fillers, or into new files before its first one. Returns the files that hold them, which are
    /// not synced yet. New files are made in the directory `beside`, the newest first, so that none
    /// is missing between others.
    ///
    /// The first readable offset stays: no reader looks at what is written. Nothing is done for a queue that is
    /// gone.
    pub(crate) fn extend_front(
        self: &Arc<Self>,
        first: u64,
        entries: &[u8],
        beside: &Path,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let has_left_dir = self.has_left_dir.lock();
        let mut paths = Vec::new();
        if *has_left_dir {
            return Ok(paths);
        }
        let from = first * ENTRY_BYTES;
        let mut to = from + entries.len() as u64;
        while to > from {
            let base = (to - 1) - (to - 1) % self.file_size;
            let begin = from.max(base);
            #[allow(clippy::cast_possible_truncation)] // within the entries
            let piece = &entries[(begin - from) as usize..(to - from) as usize];
            let path = self.dir.join(segment_name(base));
            if self
                .each_segment(|file| (file.base == base).then_some(()))
                .is_some()
            {
                let file = open_segment(&path)?;
                step(Step::Write, &path, || {
                    file.write_all_at(piece, begin - base)
                })
                .map_err(|error| StoreError::io(&path, error))?;
            } else {
                self.make_first(base, begin - base, piece, beside)?;
            }
            paths.push(path);
            to = begin;
        }
        Ok(paths)
    }

    /// Makes the file before all others, with fillers before `at` and then entries.
    fn make_first(
        self: &Arc<Self>,
        base: u64,
        at: u64,
        entries: &[u8],
        beside: &Path,
    ) -> Result<(), StoreError> {
        let lacking = LackingFile {
            queue: Arc::clone(self),
            base,
            file_size: self.file_size,
            end: self.file_size,
        };
        let mut made = lacking.make_in(beside)?;
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let (fillers, rest) = made.bytes_mut().split_at_mut(at as usize);
        for filler in fillers.chunks_exact_mut(ENTRY_SIZE) {
            filler.copy_from_slice(&encode_entry(&FILLER));
        }
        rest.copy_from_slice(entries);
        if let Err(error) = made.sync() {
            made.drop_file();
            return Err(error);
        }
        let (map, _) = made.put()?;
        let size = map.bytes().len();
        let map = map.into_writer(size).reader();
        self.segments.write().insert(0, QueueSegment { base, map });
        Ok(())
    }
}
