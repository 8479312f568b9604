//! Files of a queue, given disk blocks in slices.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    create_dir, create_segment, open_segment, preallocate, remove_file, rename, segment_name,
};
use crate::queue::SharedQueue;
use crate::sys::ExclusiveMap;

/// Disk blocks are given to a queue file in slices, or 10 000 idle queues would hold 60 GB.
pub(crate) const SLICE_SIZE_BYTES: u64 = 64 << 10;

/// Creates the file at `base`, with disk blocks up to `end`; returns how far they reach.
pub(crate) fn create_file(
    dir: &Path,
    base: u64,
    file_size: u64,
    end: u64,
) -> Result<(ExclusiveMap, u64), StoreError> {
    create_dir(dir)?;
    create_mapped(&dir.join(segment_name(base)), file_size, end)
}

fn create_mapped(path: &Path, file_size: u64, end: u64) -> Result<(ExclusiveMap, u64), StoreError> {
    let allocated = slice_end(end, file_size);
    let file = create_segment(path, file_size, allocated)?;
    match ExclusiveMap::new(&file).and_then(|map| map.advise_random().map(|()| map)) {
        Ok(map) => Ok((map, allocated)),
        Err(error) => {
            // It would be in the way of the next attempt.
            remove_file(path)?;
            Err(StoreError::io(path, error))
        }
    }
}

/// A file that a queue lacks for its next entries.
#[derive(Debug)]
pub(crate) struct LackingFile {
    pub(crate) queue: Arc<SharedQueue>,
    pub(crate) base: u64,
    pub(crate) file_size: u64,
    /// Where the entries to come end in the file.
    pub(crate) end: u64,
}

/// Such a file, made beside its place: who has the append lock decides whether it takes the place.
#[derive(Debug)]
pub(crate) struct MadeFile {
    pub(crate) queue: Arc<SharedQueue>,
    pub(crate) base: u64,
    path: PathBuf,
    map: ExclusiveMap,
    allocated: u64,
}

impl LackingFile {
    /// Makes the file in another directory of the same file system, and the directory of its queue.
    pub(crate) fn make_in(self, dir: &Path) -> Result<MadeFile, StoreError> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        create_dir(self.queue.dir())?;
        create_dir(dir)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = dir.join(format!("{}-{number}", std::process::id()));
        // A process with the same id may have left one.
        remove_file(&path)?;
        let (map, allocated) = create_mapped(&path, self.file_size, self.end)?;
        Ok(MadeFile {
            queue: self.queue,
            base: self.base,
            path,
            map,
            allocated,
        })
    }
}

impl MadeFile {
    /// The content, which no reader sees before the file has its place.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        self.map.bytes_mut()
    }

    /// Makes size and content durable: files between others must be whole wherever they are found.
    pub(crate) fn sync(&self) -> Result<(), StoreError> {
        let synced = step(Step::SyncFile, &self.path, || {
            std::fs::File::open(&self.path)?.sync_all()
        });
        synced.map_err(|error| StoreError::io(&self.path, error))
    }

    /// Gives the file its place in the directory of its queue, which may be gone meanwhile; returns its map
    /// and how far its disk blocks reach.
    pub(crate) fn put(self) -> Result<(ExclusiveMap, u64), StoreError> {
        let place = self.queue.dir().join(segment_name(self.base));
        match rename(&self.path, &place) {
            Ok(()) => Ok((self.map, self.allocated)),
            Err(error) => {
                self.drop_file();
                Err(error)
            }
        }
    }

    /// Removes a file that has no place. What cannot be removed goes with the queues that are gone.
    pub(crate) fn drop_file(&self) {
        let _ = remove_file(&self.path);
    }
}

/// Gives the file at `base` disk blocks from `allocated` to `end`; returns how far they reach.
pub(crate) fn extend_file(
    dir: &Path,
    base: u64,
    file_size: u64,
    allocated: u64,
    end: u64,
) -> Result<u64, StoreError> {
    if end <= allocated {
        return Ok(allocated);
    }
    let path = dir.join(segment_name(base));
    let to = slice_end(end, file_size);
    let opened = open_segment(&path)?;
    step(Step::Resize, &path, || preallocate(&opened, allocated, to))
        .map_err(|error| StoreError::io(&path, error))?;
    Ok(to)
}

pub(crate) fn slice_end(end: u64, file_size: u64) -> u64 {
    end.next_multiple_of(SLICE_SIZE_BYTES).min(file_size)
}
