//! The only unsafe code of the store: shared file maps and the lock of a lock file.
//!
//! A map is split at its *published* position. Bytes below it never change again and may be read
//! from any thread; bytes above it belong to the one [`MapWriter`]. Publishing is a release store
//! and reading starts with an acquire load, so a reader sees whole records only. A truncation does
//! change such bytes, through separate maps. It borrows the store exclusively, so that no thread
//! holds a slice of an older map. It drops its maps before the store is used again. Fillers before
//! the first entry of a queue are written over through the file, while locks keep away threads that
//! look at them ([`crate::store::front`]).
//!
//! Every map here is of a file inside a store directory whose lock file this process holds; that
//! no other process truncates or writes these files is the assumption all maps rest on. Where it
//! fails, or the disk does, [`trap`] keeps the process alive and the map says so.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::os::fd::AsRawFd;
use std::sync::Arc;

use memmap2::{Advice, UncheckedAdvice};
use regent_sync::atomic::{AtomicUsize, Ordering};

pub(crate) mod fetch;
pub(crate) mod lock;
pub(crate) mod residency;
pub(crate) mod trap;

use residency::{page_size, resident_pages};
use trap::Map;

const LOST: &str =
    "a part of the file cannot be read or written any more: it was cut short, or the disk is bad";

/// A multiple of every page size that Linux has.
pub(crate) const PAGE_SIZE_MAX: usize = 64 << 10;

#[derive(Debug)]
struct SharedMap {
    raw: Map,
    published: AtomicUsize,
}

/// A whole file, mapped and owned by one caller: what recovery reads and repairs.
#[derive(Debug)]
pub(crate) struct ExclusiveMap {
    raw: Map,
}

/// The end of a map that is still being written; exactly one exists for a map.
#[derive(Debug)]
pub(crate) struct MapWriter {
    shared: Arc<SharedMap>,
    /// Room is given up to here, which is never beyond the map.
    limit: usize,
}

/// The next bytes of a map, which its writer fills before any thread may read them.
///
/// It holds no slice of them: from the moment of publishing on other threads may read them.
#[derive(Debug)]
pub(crate) struct Room<'a> {
    first: *mut u8,
    size: usize,
    published: &'a AtomicUsize,
    end: usize,
    writer: PhantomData<&'a mut MapWriter>,
}

/// The published part of a map.
#[derive(Debug, Clone)]
pub(crate) struct MapReader {
    shared: Arc<SharedMap>,
}

impl ExclusiveMap {
    /// Maps all of `file`, which must not be empty.
    pub(crate) fn new(file: &File) -> io::Result<Self> {
        Ok(Self {
            raw: Map::new(file)?,
        })
    }

    /// Why what was read or written through this map does not count; see [`trap`].
    pub(crate) fn loss(&self) -> Option<&'static str> {
        self.raw.is_lost().then_some(LOST)
    }

    /// Reads ahead nothing: entries of queue files are touched far apart (D24).
    pub(crate) fn advise_random(&self) -> io::Result<()> {
        self.raw.advise(Advice::Random)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the pointer and length are those of a live mapping, and the only way to write
        // it is `bytes_mut`, which borrows this value exclusively.
        unsafe { std::slice::from_raw_parts(self.raw.as_ptr(), self.raw.len()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the pointer and length are those of a live writable mapping, and `&mut self`
        // excludes every other slice of it.
        unsafe { std::slice::from_raw_parts_mut(self.raw.as_mut_ptr(), self.raw.len()) }
    }

    /// Writes changed pages of a range to the disk.
    pub(crate) fn flush(&self, from: usize, to: usize) -> io::Result<()> {
        self.raw.flush_range(from, to - from)?;
        self.loss().map_or(Ok(()), |why| Err(io::Error::other(why)))
    }

    /// Gives the map up to one writer that continues at `position`.
    pub(crate) fn into_writer(self, position: usize) -> MapWriter {
        assert!(position <= self.raw.len(), "position beyond the map");
        let published = AtomicUsize::new(position);
        let raw = self.raw;
        let limit = raw.len();
        let shared = Arc::new(SharedMap { raw, published });
        MapWriter { shared, limit }
    }
}

impl MapWriter {
    /// Where the next bytes go: only this writer moves it.
    #[inline]
    pub(crate) fn position(&self) -> usize {
        self.shared.published.load(Ordering::Relaxed)
    }

    /// Size of the file.
    #[inline(always)]
    pub(crate) fn size(&self) -> usize {
        self.shared.raw.len()
    }

    #[inline]
    pub(crate) fn remaining(&self) -> usize {
        self.shared.raw.len() - self.position()
    }

    /// The unpublished bytes, writable.
    pub(crate) fn tail(&mut self) -> &mut [u8] {
        let position = self.position();
        let length = self.shared.raw.len() - position;
        // SAFETY: `position` never exceeds the length of the mapping. No reader gets bytes from
        // `position` on: readers stay below it. This is the only writer of the map, and `&mut self`
        // excludes a second slice.
        unsafe {
            std::slice::from_raw_parts_mut(self.shared.raw.as_mut_ptr().add(position), length)
        }
    }

    /// Where [`Self::room`] ends: at first, with the map.
    pub(crate) fn set_limit(&mut self, limit: usize) {
        self.limit = limit.min(self.size());
    }

    /// Whether there are `size` bytes before the limit.
    #[inline(always)]
    pub(crate) fn has_room(&self, size: usize) -> bool {
        let room = self.limit.checked_sub(self.position());
        room.is_some_and(|room| size <= room)
    }

    /// The next `size` bytes, if there are as many before the limit.
    #[inline(always)]
    pub(crate) fn room(&mut self, size: usize) -> Option<Room<'_>> {
        self.room_before(self.limit, size)
    }

    /// As [`Self::room`], whatever the limit is.
    #[inline(always)]
    pub(crate) fn room_in_map(&mut self, size: usize) -> Option<Room<'_>> {
        self.room_before(self.size(), size)
    }

    #[inline(always)]
    fn room_before(&mut self, limit: usize, size: usize) -> Option<Room<'_>> {
        let SharedMap { raw, published } = &*self.shared;
        debug_assert!(limit <= raw.len(), "a limit behind the map");
        let position = published.load(Ordering::Relaxed);
        if size > limit.checked_sub(position)? {
            return None;
        }
        Some(Room {
            first: raw.as_mut_ptr().wrapping_add(position),
            size,
            published,
            end: position + size,
            writer: PhantomData,
        })
    }

    /// Makes the next `length` bytes readable; they never change again.
    #[inline(always)]
    pub(crate) fn publish(&mut self, length: usize) {
        let position = self.position();
        let remaining = self.shared.raw.len() - position;
        assert!(length <= remaining, "published beyond the map");
        self.shared
            .published
            .store(position + length, Ordering::Release);
    }

    pub(crate) fn reader(&self) -> MapReader {
        let shared = Arc::clone(&self.shared);
        MapReader { shared }
    }
}

impl Room<'_> {
    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: as for `MapWriter::tail`, of which these are the first bytes: no limit is behind
        // the map, and the writer is borrowed as long as this lives.
        unsafe { std::slice::from_raw_parts_mut(self.first, self.size) }
    }

    /// Where it begins in the map.
    #[inline(always)]
    pub(crate) fn start(&self) -> usize {
        self.end - self.size
    }

    /// Where it ends in the map.
    #[inline(always)]
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Makes the bytes readable; they never change again.
    #[inline(always)]
    pub(crate) fn publish(self) {
        self.published.store(self.end, Ordering::Release);
    }
}

impl MapReader {
    /// Why what was read or written through this map does not count; see [`trap`].
    pub(crate) fn loss(&self) -> Option<&'static str> {
        self.shared.raw.is_lost().then_some(LOST)
    }

    /// Size of the file.
    pub(crate) fn size(&self) -> usize {
        self.shared.raw.len()
    }

    /// Everything published so far.
    pub(crate) fn bytes(&self) -> &[u8] {
        let published = self.shared.published.load(Ordering::Acquire);
        // SAFETY: `published` is within the mapping, bytes below it are initialised and never
        // written again, and the acquire load orders them before this read.
        unsafe { std::slice::from_raw_parts(self.shared.raw.as_ptr(), published) }
    }

    /// Writes changed pages of a range to the disk.
    pub(crate) fn flush(&self, from: usize, to: usize) -> io::Result<()> {
        self.shared.raw.flush_range(from, to - from)?;
        self.loss().map_or(Ok(()), |why| Err(io::Error::other(why)))
    }

    /// Reads ahead nothing while the map is being written, and as usual afterwards.
    ///
    /// A read-ahead brings large folios into the page cache. One byte written into a folio has all
    /// of it written to the disk (targets.md 1.2: 29 bytes for each byte with synchronous flushes,
    /// against 1.2), and populating them owns a core for longer. A kernel that does not listen
    /// only costs speed.
    pub(crate) fn advise_written(&self, is_written: bool) {
        let advice = if is_written {
            Advice::Random
        } else {
            Advice::Normal
        };
        let _ = self.shared.raw.advise(advice);
    }

    /// How many bytes from `at` on are in memory without a gap, up to `length` of them.
    pub(crate) fn resident_bytes(&self, at: usize, length: usize) -> io::Result<usize> {
        assert!(at <= self.size(), "a position beyond the map");
        let length = length.min(self.size() - at);
        let (lead, pages) = resident_pages(&self.shared.raw, at, length)?;
        let count = pages.iter().take_while(|is_resident| **is_resident).count();
        Ok((count * page_size()?).saturating_sub(lead).min(length))
    }

    /// Takes the pages of a range, as far as the map reaches, out of this map; the next look at one
    /// brings it back. Mapped pages stay in memory whatever advice the kernel gets about their
    /// file.
    pub(crate) fn unmap_pages(&self, from: usize, to: usize) -> io::Result<()> {
        let to = to.min(self.size());
        let from = to.min(from - from % page_size()?);
        let advice = UncheckedAdvice::DontNeed;
        // SAFETY: the map is shared with its file, so that no content is lost: a thread that reads
        // such a page, now or later, gets the same bytes from the page cache or the disk.
        unsafe { (self.shared.raw).unchecked_advise_range(advice, from, to - from) }
    }

    /// Starts to write changed pages of a range of the map's file to the disk, and does not wait for it.
    ///
    /// To clean a mapped page interrupts all processors that run this program, for their TLBs. Pages that leave the
    /// map together interrupt them once. An error of the write is reported by the next flush of the range.
    pub(crate) fn start_write_back(&self, file: &File, from: usize, to: usize) -> io::Result<()> {
        // Where it fails it only costs speed.
        let _ = self.unmap_pages(from, to);
        write_back(file, from, to, libc::SYNC_FILE_RANGE_WRITE)
    }

    /// Has the disk begin to read a range, all of it at once, and does not wait for it.
    pub(crate) fn begin_to_read(&self, from: usize, to: usize) {
        let to = to.min(self.size());
        let _ = (self.shared.raw).advise_range(Advice::WillNeed, from, to - from);
    }

    /// Waits until a range is in memory, so that who looks at it next does not.
    ///
    /// What the disk refuses is for that one to notice. A kernel that can't do it (before 5.14) only
    /// has them wait.
    pub(crate) fn await_read(&self, from: usize, to: usize) {
        let to = to.min(self.size());
        let _ = (self.shared.raw).advise_range(Advice::PopulateRead, from, to - from);
    }

    /// Makes the pages of a range present and writable without changing their content.
    pub(crate) fn populate(&self, from: usize, to: usize) -> io::Result<()> {
        self.shared
            .raw
            .advise_range(Advice::PopulateWrite, from, to - from)
    }
}

/// Waits for the pages of a range that are on their way to the disk, which may still hold them in its cache.
///
/// A page that was changed on its way, or was passed over because it was under way, is none of
/// them.
pub(crate) fn await_write_back(file: &File, from: usize, to: usize) -> io::Result<()> {
    write_back(file, from, to, libc::SYNC_FILE_RANGE_WAIT_BEFORE)
}

/// Writes all changed pages of a range of a file to the disk, which may still hold them in its cache.
pub(crate) fn finish_write_back(file: &File, from: usize, to: usize) -> io::Result<()> {
    let and_wait = libc::SYNC_FILE_RANGE_WAIT_BEFORE | libc::SYNC_FILE_RANGE_WAIT_AFTER;
    write_back(file, from, to, libc::SYNC_FILE_RANGE_WRITE | and_wait)
}

fn write_back(file: &File, from: usize, to: usize, flags: libc::c_uint) -> io::Result<()> {
    let offset = |at: usize| libc::off64_t::try_from(at).map_err(io::Error::other);
    let (from, size) = (offset(from)?, offset(to - from)?);
    // SAFETY: the descriptor is open for the life of `file`, and no memory is handed over.
    match unsafe { libc::sync_file_range(file.as_raw_fd(), from, size, flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
