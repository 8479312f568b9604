//! The files of a queue as they are found, and which of them count.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{BLOCK_SIZE, SegmentFile, list_segments, open_segment, remove_file};
use crate::queue::file::SLICE_SIZE_BYTES;
use crate::queue_layout::ENTRY_SIZE;

/// The files of one queue: all of one size, but for a last one that was being made. Not changed yet.
#[derive(Debug)]
pub(crate) struct QueueFiles {
    dir: PathBuf,
    pub(super) file_size: u64,
    files: Vec<SegmentFile>,
}

impl QueueFiles {
    /// Finds the files of a queue, and refuses any that files of this size do not become, whatever
    /// happened: they are those of another setting.
    pub(crate) fn find(dir: PathBuf, file_size: u64, is_clean: bool) -> Result<Self, StoreError> {
        let files = list_segments(&dir)?;
        let begun = files.split_last().filter(|(last, _)| last.size == 0);
        let begun = begun.map_or(&files[..], |(_, others)| others);
        for (index, file) in begun.iter().enumerate() {
            let may_be_torn = index + 1 == begun.len() && file.size < file_size;
            if file.size == file_size || may_be_torn && is_torn(file, is_clean)? {
                continue;
            }
            let size = file.size;
            return Err(StoreError::UnexpectedFile {
                path: file.path.clone(),
                reason: format!(
                    "{size} bytes instead of {file_size}; open the store with the \
                     mappedFileSizeConsumeQueue that it was written with"
                ),
            });
        }
        Ok(Self {
            dir,
            file_size,
            files,
        })
    }

    /// Removes or completes a file that was being made. Gives the directory, and the files in order;
    /// `None` when one is missing between others.
    pub(super) fn complete(mut self) -> Result<(PathBuf, Option<Vec<SegmentFile>>), StoreError> {
        if let Some(last) = self.files.pop_if(|last| last.size == 0) {
            remove_file(&last.path)?;
        }
        let file_size = self.file_size;
        if let Some(last) = self.files.last_mut().filter(|last| last.size < file_size) {
            // What is missing reads as zeros.
            let file = open_segment(&last.path)?;
            let grown = step(Step::Resize, &last.path, || file.set_len(file_size));
            grown.map_err(|error| StoreError::io(&last.path, error))?;
            last.size = file_size;
        }
        let are_whole = are_adjacent(&self.files, file_size);
        Ok((self.dir, are_whole.then_some(self.files)))
    }
}

/// Whether a file that is too short may have been left by a crash while it was made.
///
/// It gets blocks for its first entries, in slices, then its size, and is mapped only then
/// (`create_segment`); stock sets the size at once. A file without entries may also have been
/// written in part, where a file system has no `fallocate`. After a clean stop a file with entries
/// has its size on the disk. A power cut may have taken that size back only where the file system
/// keeps no order between size and entries.
fn is_torn(file: &SegmentFile, is_clean: bool) -> Result<bool, StoreError> {
    if !file.size.is_multiple_of(BLOCK_SIZE as u64) {
        return Ok(false);
    }
    let mut head = [0; ENTRY_SIZE];
    // Tools look at stores that they may only read.
    let read = File::open(&file.path).and_then(|opened| opened.read_exact_at(&mut head, 0));
    read.map_err(|error| StoreError::io(&file.path, error))?;
    let has_entries = head.iter().any(|byte| *byte != 0);
    Ok(!has_entries || !is_clean && file.size.is_multiple_of(SLICE_SIZE_BYTES))
}

/// Whether the files, all of this size, follow one another.
pub(super) fn are_adjacent(files: &[SegmentFile], file_size: u64) -> bool {
    let is_contiguous = files
        .windows(2)
        .all(|pair| pair[1].base == pair[0].base + file_size);
    let is_aligned = files
        .first()
        .is_none_or(|first| first.base % file_size == 0);
    is_contiguous && is_aligned
}
