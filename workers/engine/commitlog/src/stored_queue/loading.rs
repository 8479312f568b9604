//! The files of a queue opened: where their entries end, and what follows them.

use std::path::Path;

use super::finding::are_adjacent;
use crate::error::StoreError;
use crate::files::{SegmentFile, clear, data_end, list_segments, open_segment};
use crate::queue_layout::{Layout, Placed};
use crate::sys::ExclusiveMap;

/// The last entry of a queue that points before `min_position`, where the log begins, or is a filler;
/// `None` if there is none, or the files are not those of a queue. Nothing is changed.
pub(crate) fn last_expired(
    dir: &Path,
    layout: Layout,
    file_size: u64,
    min_position: u64,
) -> Result<Option<Placed>, StoreError> {
    let mut files = list_segments(dir)?;
    // A crash may have torn the last one while it was created.
    files.pop_if(|last| last.size == 0);
    let is_whole = |file: &SegmentFile| file.size == file_size;
    let are_whole = files
        .split_last()
        .is_none_or(|(last, full)| last.size <= file_size && full.iter().all(is_whole));
    if !are_whole || !are_adjacent(&files, file_size) {
        return Ok(None);
    }
    for file in files.iter().rev() {
        let (map, end, _) = open_file(file, layout, false, true)?;
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let entries = map.bytes()[..end as usize].chunks_exact(layout.entry_size());
        let first = file.base / layout.entry_bytes();
        let numbered = entries.enumerate().rev();
        let mut placed =
            numbered.filter_map(|(index, bytes)| layout.decode(bytes, first + index as u64));
        let last = placed.find(|placed| placed.entry.log_position < min_position);
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// Whether entries end before bytes that are neither an entry nor the zeros behind the last one,
/// which only a crash leaves, and recovery then clears.
fn ends_in_damage(bytes: &[u8], end: usize, entry_size: usize) -> bool {
    let next = bytes.get(end..).and_then(|rest| rest.get(..entry_size));
    next.is_some_and(|next| next.iter().any(|byte| *byte != 0))
}

/// Maps a file and finds the byte at which its entries end, and whether anything followed them.
pub(super) fn open_file(
    file: &SegmentFile,
    layout: Layout,
    is_full: bool,
    is_clean: bool,
) -> Result<(ExclusiveMap, u64, bool), StoreError> {
    let named = |error| StoreError::io(&file.path, error);
    let handle = open_segment(&file.path)?;
    let mut map = ExclusiveMap::new(&handle).map_err(named)?;
    map.advise_random().map_err(named)?;
    if is_full {
        return Ok((map, file.size, false));
    }
    let entries = map.bytes().chunks_exact(layout.entry_size());
    let end = entries
        .take_while(|entry| layout.decode(entry, 0).is_some())
        .count()
        * layout.entry_size();
    if is_clean {
        let is_followed = ends_in_damage(map.bytes(), end, layout.entry_size());
        return Ok((map, end as u64, is_followed));
    }
    let stale = data_end(&handle, end as u64, file.size).map_err(named)?;
    #[allow(clippy::cast_possible_truncation)] // within one mapped file
    let cleared = clear(&mut map.bytes_mut()[end..stale as usize]);
    Ok((map, end as u64, cleared > 0))
}
