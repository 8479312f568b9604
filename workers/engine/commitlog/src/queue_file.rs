//! Files of a queue, given disk blocks in slices.

use std::path::Path;

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    create_dir, create_segment, open_segment, preallocate, remove_file, segment_name,
};
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
    let path = dir.join(segment_name(base));
    let allocated = slice_end(end, file_size);
    let file = create_segment(&path, file_size, allocated)?;
    match ExclusiveMap::new(&file).and_then(|map| map.advise_random().map(|()| map)) {
        Ok(map) => Ok((map, allocated)),
        Err(error) => {
            // It would be in the way of the next attempt.
            remove_file(&path)?;
            Err(StoreError::io(&path, error))
        }
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
