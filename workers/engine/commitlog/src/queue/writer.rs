//! The end of a queue, where entries are added under the append lock.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use regent_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use regent_sync::{Mutex, RwLock};

use super::{QueueSegment, SharedQueue};
use crate::error::StoreError;
use crate::message::QueueEntry;
use crate::queue::ahead::{QueuesAhead, Slice};
use crate::queue::file::{
    LackingFile, MadeFile, SLICE_SIZE_BYTES, create_file, extend_file, slice_end,
};
use crate::queue_layout::{ENTRY_BYTES, ENTRY_SIZE, encode_entry};
use crate::sys::{ExclusiveMap, MapWriter};

/// Most that a queue is given ahead at once.
const SLICE_SIZE_MAX_BYTES: u64 = 256 << 10;

/// The end of a queue; guarded by the append lock.
#[derive(Debug)]
pub(crate) struct QueueWriter {
    shared: Arc<SharedQueue>,
    /// The file that takes the next entry.
    file: Option<QueueTail>,
    /// Those behind it, once what was reserved reaches into them.
    files_behind: Vec<QueueTail>,
    /// Whether the queue refuses messages of clients; copies of a master's records still come.
    is_sealed: bool,
}

/// A file that still has room. The limit of its map is where entries are no longer written without a
/// look at the rest: half the first slice, or all there is.
#[derive(Debug)]
pub(crate) struct QueueTail {
    base: u64,
    map: MapWriter,
    /// Up to where it has disk blocks.
    allocated: u64,
    /// The next slice, once it was asked for.
    asked: Option<Arc<AtomicU64>>,
}

impl QueueTail {
    pub(crate) fn new(base: u64, mut map: MapWriter, allocated: u64) -> Self {
        map.set_limit(0);
        Self {
            base,
            map,
            allocated,
            asked: None,
        }
    }

    /// Gives the file disk blocks up to `end`.
    fn allocate(&mut self, dir: &Path, file_size: u64, end: u64) -> Result<(), StoreError> {
        if end <= self.allocated {
            return Ok(());
        }
        if let Some(asked) = self.asked.take() {
            self.allocated = self.allocated.max(asked.load(Ordering::Acquire));
        }
        self.allocated = extend_file(dir, self.base, file_size, self.allocated, end)?;
        Ok(())
    }

    /// Asks for the next slice once the first one is half full, which few queues ever come to. The
    /// more a queue has filled, the more it gets at once.
    fn ask_ahead(&mut self, queue: &Arc<SharedQueue>, end: u64, ahead: &mut QueuesAhead) {
        let mut limit = self.allocated;
        if end <= SLICE_SIZE_BYTES / 2 {
            limit = limit.min(SLICE_SIZE_BYTES / 2);
        } else if self.asked.is_none() && self.allocated < queue.file_size {
            let size = self.allocated.clamp(SLICE_SIZE_BYTES, SLICE_SIZE_MAX_BYTES);
            let allocated = Arc::new(AtomicU64::new(self.allocated));
            ahead.want(Slice {
                queue: Arc::clone(queue),
                base: self.base,
                map: self.map.reader(),
                from: self.allocated,
                to: slice_end(self.allocated + size, queue.file_size),
                allocated: Arc::clone(&allocated),
            });
            self.asked = Some(allocated);
        }
        self.map
            .set_limit(usize::try_from(limit).unwrap_or(usize::MAX));
    }
}

impl QueueWriter {
    /// A queue with these files, of which only the last may have room.
    pub(crate) fn new(dir: PathBuf, file_size: u64, files: Vec<QueueTail>) -> Self {
        let segments = files.iter().map(|file| {
            let map = file.map.reader();
            QueueSegment {
                base: file.base,
                map,
            }
        });
        let shared = SharedQueue {
            dir,
            file_size,
            segments: RwLock::new(segments.collect()),
            min_offset: AtomicU64::new(0),
            max_offset: AtomicU64::new(0),
            flushed_bytes: AtomicU64::new(0),
            is_dirty: AtomicBool::new(false),
            has_new_file: AtomicBool::new(true),
            has_left_dir: Mutex::new(false),
        };
        let end_offset = shared.end_offset();
        shared.max_offset.store(end_offset, Ordering::Relaxed);
        let file = files.into_iter().find(|file| file.map.remaining() > 0);
        Self {
            shared: Arc::new(shared),
            file,
            files_behind: Vec::new(),
            is_sealed: false,
        }
    }

    pub(crate) fn is_sealed(&self) -> bool {
        self.is_sealed
    }

    pub(crate) fn set_sealed(&mut self, is_sealed: bool) {
        self.is_sealed = is_sealed;
    }

    pub(crate) fn shared(&self) -> &Arc<SharedQueue> {
        &self.shared
    }

    /// Offset of the next entry: only this writer moves it.
    #[inline]
    pub(crate) fn end_offset(&self) -> u64 {
        self.shared.max_offset.load(Ordering::Relaxed)
    }

    /// Position of the record that the last entry of one stands for.
    pub(crate) fn last_position(&self) -> Option<u64> {
        let (first, end) = (self.shared.first_offset(), self.shared.end_offset());
        let (_, last) = self.shared.last_record_entry(first, end)?;
        Some(last.log_position)
    }

    /// Whether every entry stands for a record before `log_position`.
    pub(crate) fn is_before(&self, log_position: u64) -> bool {
        self.last_position()
            .is_none_or(|position| position < log_position)
    }

    /// Whether so many entries can be pushed to a queue that is not sealed.
    #[inline(always)]
    pub(crate) fn has_room(&self, count: usize) -> bool {
        !self.is_sealed && self.has_room_for(count.saturating_mul(ENTRY_SIZE))
    }

    /// Whether so many bytes of entries can be pushed.
    #[inline(always)]
    fn has_room_for(&self, size: usize) -> bool {
        self.file
            .as_ref()
            .is_some_and(|file| file.map.has_room(size))
    }

    /// Makes room for `count` entries, so that pushing them cannot fail.
    #[inline(always)]
    pub(crate) fn reserve(
        &mut self,
        count: u64,
        ahead: &mut QueuesAhead,
    ) -> Result<(), StoreError> {
        let size =
            usize::try_from(count).map_or(usize::MAX, |count| count.saturating_mul(ENTRY_SIZE));
        if self.has_room_for(size) {
            return Ok(());
        }
        self.grow(count)?;
        if let Some(file) = &mut self.file {
            let end = file.map.position() as u64 + count * ENTRY_BYTES;
            file.ask_ahead(&self.shared, end, ahead);
        }
        Ok(())
    }

    #[cold]
    fn grow(&mut self, count: u64) -> Result<(), StoreError> {
        let shared = Arc::clone(&self.shared);
        let SharedQueue { dir, file_size, .. } = &*shared;
        let from = self.shared.end_bytes();
        let to = from + count * ENTRY_BYTES;
        let mut base = from - from % file_size;
        while base < to {
            let end = to.min(base + file_size) - base;
            let mut files = self.file.iter_mut().chain(&mut self.files_behind);
            if let Some(file) = files.find(|file| file.base == base) {
                file.allocate(dir, *file_size, end)?;
            } else {
                let created = create_file(dir, base, *file_size, end)?;
                self.add_file(base, created);
            }
            base += file_size;
        }
        Ok(())
    }

    fn add_file(&mut self, base: u64, (map, allocated): (ExclusiveMap, u64)) {
        let map = map.into_writer(0);
        self.shared.note_new_file();
        self.shared.segments.write().push(QueueSegment {
            base,
            map: map.reader(),
        });
        let file = QueueTail::new(base, map, allocated);
        match &self.file {
            Some(_) => self.files_behind.push(file),
            None => self.file = Some(file),
        }
    }

    /// Whether a file must be made before `count` entries can be pushed.
    #[inline]
    pub(crate) fn lacks_file(&self, count: u64) -> bool {
        let size = count.saturating_mul(ENTRY_BYTES);
        let has_no_room = |file: &QueueTail| (file.map.remaining() as u64) < size;
        self.files_behind.is_empty() && self.file.as_ref().is_none_or(has_no_room)
    }

    /// The file that must be made first of all then.
    pub(crate) fn lacking_file(&self, count: u64) -> Option<LackingFile> {
        if !self.lacks_file(count) {
            return None;
        }
        let file_size = self.shared.file_size;
        let from = self.shared.end_bytes();
        let base = match &self.file {
            Some(file) => file.base + file_size,
            None => from - from % file_size,
        };
        let to = from.saturating_add(count.saturating_mul(ENTRY_BYTES));
        Some(LackingFile {
            queue: Arc::clone(&self.shared),
            base,
            file_size,
            end: to.min(base + file_size) - base,
        })
    }

    /// Takes a file that was made for this queue, if it is still what the queue lacks; else it is removed.
    pub(crate) fn take_file(&mut self, made: MadeFile) -> Result<(), StoreError> {
        let is_lacking = |made: &MadeFile| {
            Arc::ptr_eq(&self.shared, &made.queue)
                && self
                    .lacking_file(u64::MAX)
                    .is_some_and(|lacking| lacking.base == made.base)
        };
        if !is_lacking(&made) {
            made.drop_file();
            return Ok(());
        }
        let base = made.base;
        let put = made.put()?;
        self.add_file(base, put);
        Ok(())
    }

    /// Appends an entry for which room was reserved; returns whether the queue became dirty.
    #[inline(always)]
    pub(crate) fn push(&mut self, entry: &QueueEntry) -> bool {
        let map = self.file.as_mut().map(|file| &mut file.map);
        let Some((map_size, mut room)) =
            map.and_then(|map| Some((map.size(), map.room_in_map(ENTRY_SIZE)?)))
        else {
            panic!("no room was made");
        };
        room.bytes().copy_from_slice(&encode_entry(entry));
        let is_full = room.end() == map_size;
        room.publish();
        if is_full {
            self.leave_full_file();
        }
        let end_offset = self.end_offset() + 1;
        self.shared.max_offset.store(end_offset, Ordering::Release);
        self.mark_dirty()
    }

    #[cold]
    fn leave_full_file(&mut self) {
        self.file = (!self.files_behind.is_empty()).then(|| self.files_behind.remove(0));
    }

    /// Notes that the queue was touched; returns whether it was not yet.
    #[inline]
    pub(crate) fn mark_dirty(&self) -> bool {
        self.shared.mark_dirty()
    }
}
