//! Maps whose pages may be lost: another process cut the file short, or the disk cannot read it.
//!
//! The kernel sends a SIGBUS to a thread that touches such a page, which would end the process.
//! Here the page is replaced by an empty one instead, and the map is marked as lost. The store
//! looks at the mark before it says that anything was done, and names the file (D13).

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Deref;
use std::ptr;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

use memmap2::{MmapOptions, MmapRaw};
use parking_lot::Mutex;

const SLOTS_PER_CHUNK: usize = 1024;
/// Together more than the 65 530 maps that a process may have.
const CHUNK_COUNT: usize = 65;

/// Where one map lies; a free slot is empty.
struct Slot {
    start: AtomicUsize,
    end: AtomicUsize,
    is_lost: AtomicBool,
}

type Chunk = [Slot; SLOTS_PER_CHUNK];

/// Chunks are made as they are needed and stay, so that a signal handler can look at them.
static CHUNKS: [AtomicPtr<Chunk>; CHUNK_COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; CHUNK_COUNT];
static FREE: Mutex<Vec<&'static Slot>> = Mutex::new(Vec::new());
static HAS_LOST: AtomicBool = AtomicBool::new(false);
static PAGE_SIZE: AtomicUsize = AtomicUsize::new(4096);
static INSTALL: Once = Once::new();
static PREVIOUS: Mutex<Option<libc::sigaction>> = Mutex::new(None);

/// A mapped file that is known to the handler.
#[derive(Debug)]
pub(super) struct Map {
    raw: MmapRaw,
    slot: Option<&'static Slot>,
}

impl std::fmt::Debug for Slot {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Slot({})", self.is_lost.load(Ordering::Relaxed))
    }
}

impl Slot {
    /// Whether an address lies in the map, if there is one: of a slot that another map gets meanwhile,
    /// the end may be the other one's, and then the start is by now.
    fn holds(&self, address: usize) -> bool {
        let start = self.start.load(Ordering::Acquire);
        let end = self.end.load(Ordering::Acquire);
        (start..end).contains(&address) && self.start.load(Ordering::Acquire) == start
    }
}

impl Map {
    /// Maps all of `file`, which must not be empty.
    pub(super) fn new(file: &File) -> io::Result<Self> {
        INSTALL.call_once(install);
        let raw = MmapOptions::new().map_raw(file)?;
        let slot = take_slot();
        if let Some(slot) = slot {
            let start = raw.as_ptr() as usize;
            slot.is_lost.store(false, Ordering::Relaxed);
            slot.start.store(start, Ordering::Release);
            slot.end.store(start + raw.len(), Ordering::Release);
        }
        Ok(Self { raw, slot })
    }

    /// Whether a page of it could not be had.
    pub(super) fn is_lost(&self) -> bool {
        self.slot
            .is_some_and(|slot| slot.is_lost.load(Ordering::Acquire))
    }
}

impl Deref for Map {
    type Target = MmapRaw;

    fn deref(&self) -> &MmapRaw {
        &self.raw
    }
}

impl Drop for Map {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            slot.end.store(0, Ordering::Release);
            FREE.lock().push(slot);
        }
    }
}

/// Whether any map of this process has ever lost a page: costs a load.
#[inline]
pub(crate) fn has_lost() -> bool {
    HAS_LOST.load(Ordering::Relaxed)
}

fn take_slot() -> Option<&'static Slot> {
    let mut free = FREE.lock();
    if free.is_empty() {
        let place = CHUNKS
            .iter()
            .find(|chunk| chunk.load(Ordering::Acquire).is_null())?;
        let empty = || Slot {
            start: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            is_lost: AtomicBool::new(false),
        };
        let chunk: &'static Chunk = Box::leak(Box::new(std::array::from_fn(|_| empty())));
        place.store(ptr::from_ref(chunk).cast_mut(), Ordering::Release);
        free.extend(chunk.iter());
    }
    free.pop()
}

fn find(address: usize) -> Option<&'static Slot> {
    CHUNKS.iter().find_map(|chunk| {
        // SAFETY: a chunk is never freed, and only its atomics are looked at.
        let chunk = unsafe { chunk.load(Ordering::Acquire).as_ref() }?;
        chunk.iter().find(|slot| slot.holds(address))
    })
}

fn install() {
    // SAFETY: a question about the system, which takes no pointer.
    let page_size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    if let Ok(page_size) = usize::try_from(page_size) {
        PAGE_SIZE.store(page_size, Ordering::Relaxed);
    }
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
    let mut previous = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: all-zero bytes are a valid value of this plain C structure; both pointers are those of
    // local values of the right type, and the handler keeps to what a handler may do.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        if libc::sigaction(libc::SIGBUS, &raw const action, previous.as_mut_ptr()) == 0 {
            *PREVIOUS.lock() = Some(previous.assume_init());
        }
    }
}

/// Replaces the page that could not be had. It takes no lock and no memory, and leaves `errno` alone.
extern "C" fn on_bus_error(
    _signal: libc::c_int,
    info: *mut libc::siginfo_t,
    _context: *mut libc::c_void,
) {
    // SAFETY: the kernel hands over a valid structure; the errno of this thread is its own. A page
    // inside a live map is replaced, so that no other memory is touched; who reads it meanwhile
    // sees other bytes than before, which is why nothing read since then counts.
    unsafe {
        let errno = *libc::__errno_location();
        let address = (*info).si_addr() as usize;
        if let Some(slot) = find(address) {
            slot.is_lost.store(true, Ordering::Release);
            HAS_LOST.store(true, Ordering::Release);
            let page_size = PAGE_SIZE.load(Ordering::Relaxed);
            let page = (address - address % page_size) as *mut libc::c_void;
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_FIXED | libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let replaced = libc::mmap(page, page_size, access, kind, -1, 0);
            *libc::__errno_location() = errno;
            if replaced != libc::MAP_FAILED {
                return;
            }
        }
        // Not ours: what would have happened without us happens when the access is tried again.
        let mut action: libc::sigaction = std::mem::zeroed();
        if let Some(previous) = PREVIOUS.try_lock().and_then(|previous| *previous) {
            action = previous;
        }
        libc::sigaction(libc::SIGBUS, &raw const action, ptr::null_mut());
    }
}
