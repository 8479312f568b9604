//! Taking pages out of a map, which every processor that runs this program must forget then.
//!
//! On x86 Linux has up to 33 pages forgotten one by one, 0.2 µs each, and all pages of the program
//! at once, in less than 1 µs, where those of one step lie further apart. A page elsewhere that goes
//! along has them lie further apart: for the 20 pages of 64 messages that spares 3 to 4 µs of 8,
//! and as much on each other processor.

use std::io;
use std::ops::Range;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use memmap2::{MmapRaw, UncheckedAdvice};

use super::residency::page_size;

/// Fewer pages cost less than the one elsewhere does, more are not forgotten one by one.
const WITH_ELSEWHERE: Range<usize> = 10..34;

/// Stands for this process where a descriptor of one is asked for.
const THIS_PROCESS: libc::c_int = -10_001;

/// Linux before 6.16 does not do it in one step; a filter of system calls may know nothing of it.
static IS_REFUSED: AtomicBool = AtomicBool::new(!cfg!(target_arch = "x86_64"));

/// Takes the pages of a range, as far as the map reaches, out of a map that is shared with its file.
pub(super) fn unmap(map: &MmapRaw, from: usize, to: usize) -> io::Result<()> {
    let page = page_size()?;
    let to = to.min(map.len());
    let from = to.min(from - from % page);
    if WITH_ELSEWHERE.contains(&(to - from).div_ceil(page)) && !IS_REFUSED.load(Ordering::Relaxed) {
        if unmap_with_elsewhere(map, from, to, page) {
            return Ok(());
        }
        IS_REFUSED.store(true, Ordering::Relaxed);
    }
    // SAFETY: the map is shared with its file, so that no content is lost: whoever reads such
    // a page, now or later, gets the same bytes from the page cache or the disk.
    unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, from, to - from) }
}

/// Whether the system took the pages out, together with one elsewhere.
fn unmap_with_elsewhere(map: &MmapRaw, from: usize, to: usize, page: usize) -> bool {
    let Some(elsewhere) = page_elsewhere(page) else {
        return false;
    };
    let size = (to - from).next_multiple_of(page);
    // SAFETY: the page elsewhere is mapped for good, and nobody ever writes it: looking at it makes
    // it present, as one of zeros. The range ends in the last page of a live map which, as above,
    // loses no content.
    let done = unsafe {
        ptr::read_volatile(elsewhere);
        let start = map.as_mut_ptr().add(from);
        // Pages of a file are forgotten as soon as they are out: what goes along goes first.
        let ranges =
            [(elsewhere.cast_mut(), page), (start, size)].map(|(first, size)| libc::iovec {
                iov_base: first.cast(),
                iov_len: size,
            });
        let (call, advice) = (libc::SYS_process_madvise, libc::MADV_DONTNEED);
        libc::syscall(call, THIS_PROCESS, ranges.as_ptr(), ranges.len(), advice, 0)
    };
    usize::try_from(done) == Ok(page + size)
}

/// A page that holds nothing; none where the system gives none.
fn page_elsewhere(page: usize) -> Option<*const u8> {
    static PLACE: OnceLock<Option<usize>> = OnceLock::new();
    let place = PLACE.get_or_init(|| {
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new map of no file, at a place of the system's choice, changes no other memory.
        let place = unsafe { libc::mmap(ptr::null_mut(), page, libc::PROT_READ, kind, -1, 0) };
        (place != libc::MAP_FAILED).then_some(place as usize)
    });
    place.map(|place| place as *const u8)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use std::fs::File;
    use std::os::unix::fs::FileExt;

    use memmap2::MmapOptions;

    use super::*;

    const PAGE_COUNT: usize = 64;
    /// Of a page's entry in `pagemap`.
    const IS_PRESENT: u64 = 1 << 63;

    /// Numbers of the pages that are present in a map.
    fn present(map: &MmapRaw, page: usize) -> Vec<usize> {
        let mut entries = [0; PAGE_COUNT * 8];
        let first = map.as_ptr() as usize / page * 8;
        let pagemap = File::open("/proc/self/pagemap").unwrap();
        pagemap.read_exact_at(&mut entries, first as u64).unwrap();
        let entries = entries.chunks(8).enumerate();
        let word = |entry: &[u8]| u64::from_ne_bytes(entry.try_into().unwrap());
        let present = entries.filter(|(_, entry)| word(entry) & IS_PRESENT != 0);
        present.map(|(number, _)| number).collect()
    }

    fn changed_map(page: usize) -> (File, MmapRaw) {
        let file = tempfile::tempfile().unwrap();
        file.set_len((PAGE_COUNT * page) as u64).unwrap();
        let map = MmapOptions::new().map_raw(&file).unwrap();
        for number in 0..PAGE_COUNT {
            // SAFETY: within the map, which nobody else knows.
            unsafe { map.as_mut_ptr().add(number * page).write(7) };
        }
        (file, map)
    }

    #[test]
    fn pages_of_a_range_are_taken_out_and_keep_their_content() {
        let page = page_size().unwrap();
        for count in [0, 1, 9, 10, 20, 33, 34, PAGE_COUNT - 4] {
            for (lead, short) in [(0, 0), (1, 1), (page - 1, page - 1)] {
                let (file, map) = changed_map(page);
                let to = (2 + count) * page - if count > 1 { short } else { 0 };
                let from = 2 * page + if count > 1 { lead } else { 0 };
                let end = PAGE_COUNT * page;

                unmap(&map, from, to).unwrap();
                unmap(&map, end + 1, end + page).unwrap();

                let expected = (0..PAGE_COUNT).filter(|at| !(2..2 + count).contains(at));
                assert_eq!(present(&map, page), expected.collect::<Vec<_>>(), "{count}");
                for number in 0..PAGE_COUNT {
                    let mut found = [0];
                    file.read_exact_at(&mut found, (number * page) as u64)
                        .unwrap();
                    assert_eq!(found, [7], "page {number}");
                }
            }
        }
    }
}
