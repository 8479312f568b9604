//! Which pages of a file are in memory.

use std::fs::File;
use std::io;

use memmap2::{MmapOptions, MmapRaw};

pub(super) fn page_size() -> io::Result<usize> {
    // SAFETY: a question about the system, which takes no pointer.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    usize::try_from(size).map_err(|_| io::Error::last_os_error())
}

/// For the pages that hold a range of a map, whether each is in memory; and how far into the first
/// of them the range begins.
pub(super) fn resident_pages(
    map: &MmapRaw,
    at: usize,
    length: usize,
) -> io::Result<(usize, Vec<bool>)> {
    assert!(at + length <= map.len(), "a range beyond the map");
    let page = page_size()?;
    let lead = at % page;
    let mut pages = vec![0_u8; (lead + length).div_ceil(page)];
    // SAFETY: the start is a page of a live mapping, the length ends inside its last page, and the
    // answer is one byte for each page.
    let answer = unsafe {
        let start = map.as_ptr().add(at - lead);
        libc::mincore(start.cast_mut().cast(), lead + length, pages.as_mut_ptr())
    };
    if answer != 0 {
        return Err(io::Error::last_os_error());
    }
    let pages = pages.into_iter().map(|page| page & 1 == 1);
    Ok((lead, pages.collect()))
}

/// Whether any page of a file is in memory.
pub(crate) fn is_in_memory(file: &File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let map = MmapOptions::new().map_raw_read_only(file)?;
    let (_, pages) = resident_pages(&map, 0, map.len())?;
    Ok(pages.contains(&true))
}
