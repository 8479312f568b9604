//! The files of a queue opened: where their entries end, and what follows them.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Advice, fadvise};

use super::finding::are_adjacent;
use crate::error::StoreError;
use crate::files::{SegmentFile, clear, data_end, list_segments, open_segment};
use crate::message::QueueEntry;
use crate::queue_layout::{ENTRY_BYTES, ENTRY_SIZE, decode_entry};
use crate::sys::ExclusiveMap;

/// So much of a file is read at once while its entries are counted.
const WINDOW_BYTES: u64 = 128 << 10;

/// The last entry of a queue that points before `min_position`, where the log begins, or is a filler,
/// and its offset; `None` if there is none, or the files are not those of a queue. Nothing is changed.
pub(crate) fn last_expired(
    dir: &Path,
    file_size: u64,
    min_position: u64,
) -> Result<Option<(u64, QueueEntry)>, StoreError> {
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
        let (map, end, _) = open_file(file, false, true)?;
        #[allow(clippy::cast_possible_truncation)] // within one mapped file
        let entries = map.bytes()[..end as usize].chunks_exact(ENTRY_SIZE);
        let first = file.base / ENTRY_BYTES;
        let last = entries.enumerate().rev().find_map(|(index, bytes)| {
            let entry = decode_entry(bytes)?;
            (entry.log_position < min_position).then_some((first + index as u64, entry))
        });
        if last.is_some() {
            return Ok(last);
        }
    }
    Ok(None)
}

/// Whether a file holds nothing but zeros.
pub(super) fn is_blank(file: &SegmentFile) -> Result<bool, StoreError> {
    let named = |error| StoreError::io(&file.path, error);
    let handle = open_segment(&file.path)?;
    let end = data_end(&handle, 0, file.size).map_err(named)?;
    let mut at = 0;
    while at < end {
        #[allow(clippy::cast_possible_truncation)] // at most a window
        let mut window = vec![0; (end - at).min(WINDOW_BYTES) as usize];
        handle.read_exact_at(&mut window, at).map_err(named)?;
        if window.iter().any(|byte| *byte != 0) {
            return Ok(false);
        }
        at += window.len() as u64;
    }
    Ok(true)
}

/// Maps a file and finds the byte at which its entries end, and whether anything followed them.
pub(super) fn open_file(
    file: &SegmentFile,
    is_full: bool,
    is_clean: bool,
) -> Result<(ExclusiveMap, u64, bool), StoreError> {
    let named = |error| StoreError::io(&file.path, error);
    let handle = open_segment(&file.path)?;
    let (end, is_followed) = if is_full {
        (file.size, false)
    } else {
        entries_end(&handle, file.size).map_err(named)?
    };
    let mut map = ExclusiveMap::new(&handle).map_err(named)?;
    map.advise_random().map_err(named)?;
    if is_full || is_clean {
        return Ok((map, end, is_followed));
    }
    let stale = data_end(&handle, end, file.size).map_err(named)?;
    #[allow(clippy::cast_possible_truncation)] // within one mapped file
    let cleared = clear(&mut map.bytes_mut()[end as usize..stale as usize]);
    Ok((map, end, cleared > 0))
}

/// The byte where the entries of a file end, and whether bytes follow that are neither an entry nor
/// the zeros behind the last one. Only a crash leaves such bytes, and recovery then clears them.
///
/// The entries are read through the file, a window at a time: a map that is advised random reads
/// each page by a separate fault. Read-ahead would take fewer faults, but brings in what lies
/// behind the entries of many thousand queues. It also brings in large folios, and a later entry
/// has each of them written whole (targets.md 1.2).
fn entries_end(file: &File, size: u64) -> io::Result<(u64, bool)> {
    // A system that does not listen only reads more.
    let _ = fadvise(file, 0, None, Advice::Random);
    #[allow(clippy::cast_possible_truncation)] // at most a window
    let whole_entries = |bytes: u64| bytes.min(WINDOW_BYTES) as usize / ENTRY_SIZE * ENTRY_SIZE;
    let data_end = data_end(file, 0, size)?;
    // One more may end in a hole, with zeros, which is looked at only if all before are entries.
    let (to, to_last) = (
        data_end - data_end % ENTRY_BYTES,
        data_end.next_multiple_of(ENTRY_BYTES).min(size),
    );
    let mut window = vec![0; whole_entries(to_last)];
    let mut at = 0;
    for limit in [to, to_last] {
        while at + ENTRY_BYTES <= limit {
            let window = &mut window[..whole_entries(limit - at)];
            file.read_exact_at(window, at)?;
            for entry in window.chunks_exact(ENTRY_SIZE) {
                if decode_entry(entry).is_none() {
                    return Ok((at, entry.iter().any(|byte| *byte != 0)));
                }
                at += ENTRY_BYTES;
            }
        }
    }
    Ok((at, false))
}
