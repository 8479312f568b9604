//! The commit log: segments that readers share, and the one writer that rolls them.

mod copied;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use parking_lot::{Mutex, MutexGuard, RwLock};

use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{allocate_segment, remove_file, segment_name};
use crate::prepare::{Preparer, SegmentPlan};
use crate::record::{BLANK_SIZE, encode_blank};
use crate::sys::{MapReader, MapWriter};

/// How much of the room behind a unit is fetched while the unit is written. The next one is likely
/// of the same size; of a longer one the processor fetches the rest in time by itself.
const PREFETCHED_BYTES_MAX: usize = 1024;

/// One segment as readers see it.
#[derive(Debug, Clone)]
pub(crate) struct LogSegment {
    pub(crate) base: u64,
    pub(crate) map: MapReader,
}

impl LogSegment {
    /// `size` bytes at `position`, if they lie in this segment and are published.
    pub(crate) fn bytes(&self, position: u64, size: usize) -> Option<&[u8]> {
        let at = usize::try_from(position.checked_sub(self.base)?).ok()?;
        self.map.bytes().get(at..at.checked_add(size)?)
    }

    /// Everything published from `position` on.
    pub(crate) fn bytes_from(&self, position: u64) -> Option<&[u8]> {
        let at = usize::try_from(position.checked_sub(self.base)?).ok()?;
        self.map.bytes().get(at..)
    }
}

/// What readers and the flusher share with the writer.
#[derive(Debug)]
pub(crate) struct SharedLog {
    dir: PathBuf,
    segment_size: u64,
    segments: RwLock<VecDeque<LogSegment>>,
    max_position: AtomicU64,
    flushed_position: AtomicU64,
    last_store_timestamp_ms: AtomicI64,
    /// Readers see no record that ends behind it; `u64::MAX` where nothing holds them back.
    read_limit: AtomicU64,
    /// Where the first record begins that readers were not told of.
    shown_position: Mutex<u64>,
}

impl SharedLog {
    pub(crate) fn new(plan: &SegmentPlan, segments: VecDeque<LogSegment>, end: u64) -> Self {
        Self {
            dir: plan.dir.clone(),
            segment_size: plan.segment_size,
            segments: RwLock::new(segments),
            max_position: AtomicU64::new(end),
            flushed_position: AtomicU64::new(end),
            last_store_timestamp_ms: AtomicI64::new(0),
            read_limit: AtomicU64::new(u64::MAX),
            shown_position: Mutex::new(0),
        }
    }

    /// Takes over what recovery knows: the newest record's time, and that only records before
    /// `flushed` are known to be on the disk.
    pub(crate) fn restore(&self, last_store_timestamp_ms: i64, flushed: u64) {
        self.last_store_timestamp_ms
            .store(last_store_timestamp_ms, Ordering::Release);
        self.flushed_position.store(flushed, Ordering::Release);
    }

    /// The segment that holds `position`.
    pub(crate) fn segment_at(&self, position: u64) -> Option<LogSegment> {
        let segments = self.segments.read();
        let distance = position.checked_sub(segments.front()?.base)?;
        let index = usize::try_from(distance / self.segment_size).ok()?;
        segments.get(index).cloned()
    }

    /// Start of the segment after the one that holds `position`.
    pub(crate) fn next_segment_start(&self, position: u64) -> u64 {
        position - position % self.segment_size + self.segment_size
    }

    pub(crate) fn min_position(&self) -> u64 {
        let segments = self.segments.read();
        segments
            .front()
            .map_or_else(|| self.max_position(), |first| first.base)
    }

    /// Start of the newest segment; the end of the log when there is none.
    pub(crate) fn last_segment_start(&self) -> u64 {
        let segments = self.segments.read();
        let last = segments.back().map(|last| last.base);
        last.unwrap_or_else(|| self.max_position())
    }

    /// The segment after the oldest one.
    pub(crate) fn second_segment(&self) -> Option<LogSegment> {
        self.segments.read().get(1).cloned()
    }

    /// Removes the oldest segment; readers inside keep its map until they leave.
    pub(crate) fn remove_oldest(&self) -> Result<(), StoreError> {
        let Some(base) = self.segments.read().front().map(|oldest| oldest.base) else {
            return Ok(());
        };
        remove_file(&self.segment_path(base))?;
        self.segments.write().pop_front();
        Ok(())
    }

    pub(crate) fn max_position(&self) -> u64 {
        self.max_position.load(Ordering::Acquire)
    }

    pub(crate) fn flushed_position(&self) -> u64 {
        self.flushed_position.load(Ordering::Acquire)
    }

    /// Costs a reader nothing: what lies before it was published before it was confirmed.
    pub(crate) fn read_limit(&self) -> u64 {
        self.read_limit.load(Ordering::Relaxed)
    }

    /// Moves the limit forward, with `None` away; returns whether there was one.
    pub(crate) fn raise_read_limit(&self, position: Option<u64>) -> bool {
        let limit = position.unwrap_or(u64::MAX);
        let raised = |old: u64| (old == u64::MAX || limit > old).then_some(limit);
        let moved = self
            .read_limit
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, raised);
        moved != Ok(u64::MAX)
    }

    pub(crate) fn shown_position(&self) -> MutexGuard<'_, u64> {
        self.shown_position.lock()
    }

    /// Store time of the newest record, never newer than what [`Self::max_position`], read
    /// afterwards, covers.
    pub(crate) fn last_store_timestamp_ms(&self) -> i64 {
        self.last_store_timestamp_ms.load(Ordering::Acquire)
    }

    /// Where the segment at `base` lies.
    pub(crate) fn segment_path(&self, base: u64) -> PathBuf {
        self.dir.join(segment_name(base))
    }

    /// Flushes what is published; one caller at a time.
    ///
    /// Only the written range is synced: the file also has populated pages that need no disk yet.
    pub(crate) fn flush(&self) -> Result<u64, StoreError> {
        let from = self.flushed_position();
        let to = self.max_position();
        let mut position = from;
        while position < to {
            let end = self.next_segment_start(position).min(to);
            if let Some(segment) = self.segment_at(position) {
                let (from, to) = (local(position, segment.base), local(end, segment.base));
                let path = self.segment_path(segment.base);
                let flush = || segment.map.flush(from, to);
                step(Step::SyncRange { from, to }, &path, flush)
                    .map_err(|error| StoreError::io(path, error))?;
            }
            position = end;
        }
        self.flushed_position.store(to, Ordering::Release);
        Ok(to)
    }
}

/// Offset inside a segment; segments are mapped, so it fits.
#[allow(clippy::cast_possible_truncation)]
fn local(position: u64, base: u64) -> usize {
    (position - base) as usize
}

/// The end of the log; guarded by the append lock.
#[derive(Debug)]
pub(crate) struct LogWriter {
    shared: Arc<SharedLog>,
    plan: SegmentPlan,
    preparer: Preparer,
    tail: Option<Tail>,
    /// The segment that the log goes on in, until it is known to have disk blocks everywhere.
    recovered: Option<(u64, MapWriter)>,
    /// Where the next segment begins when there is no tail.
    end: u64,
}

#[derive(Debug)]
struct Tail {
    base: u64,
    map: MapWriter,
    /// Position in the segment at which the helper must hear of the writer again.
    wake_at: usize,
}

impl LogWriter {
    /// Continues at the end of `tail`, or with a new segment at `end`.
    pub(crate) fn new(
        shared: Arc<SharedLog>,
        plan: SegmentPlan,
        tail: Option<(u64, MapWriter)>,
        end: u64,
    ) -> Result<Self, StoreError> {
        let mut writer = Self::idle(shared, plan, end)?;
        writer.recovered = tail;
        match writer.continue_recovered() {
            // Whoever appends first is told, if there is no room then either.
            Ok(true) | Err(StoreError::DiskFull { .. } | StoreError::Io { .. }) => {}
            Ok(false) => writer.preparer.want_next(end),
            Err(error) => return Err(error),
        }
        Ok(writer)
    }

    /// Touches no file: for a log that must not be written.
    pub(crate) fn idle(
        shared: Arc<SharedLog>,
        plan: SegmentPlan,
        end: u64,
    ) -> Result<Self, StoreError> {
        let preparer = Preparer::start(plan.clone())?;
        Ok(Self {
            shared,
            plan,
            preparer,
            tail: None,
            recovered: None,
            end,
        })
    }

    /// Goes on in the segment that the log ends in; returns whether there is one.
    ///
    /// Stock allocates nothing, and a map of a hole on a full disk is written with a signal (D24).
    fn continue_recovered(&mut self) -> Result<bool, StoreError> {
        let Some((base, map)) = &self.recovered else {
            return Ok(false);
        };
        allocate_segment(&self.shared.segment_path(*base), map.reader().size())?;
        let Some((base, map)) = self.recovered.take() else {
            return Ok(false);
        };
        map.reader().advise_written(true);
        self.preparer
            .follow(base, map.reader(), map.position(), map.position());
        self.tail = Some(Tail {
            base,
            map,
            wake_at: 0,
        });
        Ok(true)
    }

    /// Largest record, or whole batch, that a segment can hold.
    pub(crate) fn unit_size_max(&self) -> u64 {
        self.plan.segment_size - BLANK_SIZE as u64
    }

    /// Makes room for one unit of `size` bytes.
    ///
    /// A unit that would leave less than the blank header's 8 bytes goes to the next segment.
    #[inline]
    pub(crate) fn reserve(&mut self, size: usize) -> Result<Unit<'_>, StoreError> {
        let fits = |tail: &Tail| size + BLANK_SIZE <= tail.map.remaining();
        while !self.tail.as_ref().is_some_and(fits) {
            if !self.continue_recovered()? {
                self.roll()?;
            }
        }
        let Some(tail) = &mut self.tail else {
            return Err(StoreError::Closed);
        };
        tail.map.prefetch(size, size.min(PREFETCHED_BYTES_MAX));
        let position = tail.base + tail.map.position() as u64;
        let (shared, plan, preparer) = (&*self.shared, &self.plan, &self.preparer);
        Ok(Unit {
            position,
            size,
            tail,
            shared,
            plan,
            preparer,
        })
    }

    #[cold]
    fn roll(&mut self) -> Result<(), StoreError> {
        let base = self
            .tail
            .as_ref()
            .map_or(self.end, |tail| tail.base + self.plan.segment_size);
        let map = self.preparer.take_next(base)?;
        if let Some(full) = &mut self.tail {
            let remaining = full.map.remaining();
            encode_blank(&mut full.map.tail()[..BLANK_SIZE], remaining);
            full.map.publish(remaining);
            full.map.reader().advise_written(false);
        }
        let populated = map.reader().size().min(self.plan.populate_ahead);
        self.preparer.follow(base, map.reader(), 0, populated);
        self.shared.segments.write().push_back(LogSegment {
            base,
            map: map.reader(),
        });
        self.tail = Some(Tail {
            base,
            map,
            wake_at: self.plan.wake_distance(),
        });
        Ok(())
    }

    pub(crate) fn populated_position(&self) -> u64 {
        self.preparer.populated_position()
    }

    /// Ends the helper and removes a segment that it prepared in vain.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        match self.preparer.stop() {
            Some(path) => remove_file(&path),
            None => Ok(()),
        }
    }
}

/// Room for one record or batch at the end of the log.
#[derive(Debug)]
pub(crate) struct Unit<'a> {
    position: u64,
    size: usize,
    tail: &'a mut Tail,
    shared: &'a SharedLog,
    plan: &'a SegmentPlan,
    preparer: &'a Preparer,
}

impl Unit<'_> {
    /// Where the unit lies in the log.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut self.tail.map.tail()[..self.size]
    }

    /// Makes the written unit part of the log.
    pub(crate) fn commit(self, store_timestamp_ms: i64) {
        self.tail.map.publish(self.size);
        let end = self.position + self.size as u64;
        self.shared.max_position.store(end, Ordering::Release);
        self.shared
            .last_store_timestamp_ms
            .store(store_timestamp_ms, Ordering::Release);
        if self.tail.map.position() >= self.tail.wake_at {
            self.wake_helper();
        }
    }

    #[cold]
    fn wake_helper(self) {
        let position = self.tail.map.position();
        self.tail.wake_at = position + self.plan.wake_distance();
        self.preparer.advance(position);
        if position as u64 >= self.plan.segment_size / 2 {
            self.preparer
                .want_next(self.tail.base + self.plan.segment_size);
        }
    }
}
