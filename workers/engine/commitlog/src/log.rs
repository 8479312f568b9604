//! The commit log: segments that readers share, and the one writer that rolls them.

mod ahead;
mod copied;
mod flush;
mod tail;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regent_sync::RwLock;
use regent_sync::atomic::{AtomicI64, AtomicU64, Ordering};

use crate::error::StoreError;
use crate::files::{allocate_segment, remove_file, segment_name};
use crate::prepare::{Prepared, Preparer, SegmentPlan};
use crate::record::{BLANK_SIZE, encode_blank};
use crate::sys::{MapReader, MapWriter, Room};

use ahead::AheadFile;
pub(crate) use flush::Flusher;
use tail::Tail;

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

    /// See [`MapReader::begin_to_read`]; both positions lie in this segment.
    pub(crate) fn begin_to_read(&self, from: u64, to: u64) {
        #[allow(clippy::cast_possible_truncation)] // inside a mapped file
        (self.map).begin_to_read((from - self.base) as usize, (to - self.base) as usize);
    }

    /// See [`MapReader::await_read`]; both positions lie in this segment.
    pub(crate) fn await_read(&self, from: u64, to: u64) {
        #[allow(clippy::cast_possible_truncation)] // inside a mapped file
        (self.map).await_read((from - self.base) as usize, (to - self.base) as usize);
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
        }
    }

    /// Takes over what recovery knows: the newest record's time, and that only records before
    /// `flushed` are known to be on the disk.
    pub(crate) fn restore(&self, last_store_timestamp_ms: i64, flushed: u64) {
        self.last_store_timestamp_ms
            .store(last_store_timestamp_ms, Ordering::Release);
        self.flushed_position.store(flushed, Ordering::Release);
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The first answer that a segment gives.
    pub(crate) fn each_segment<T>(&self, ask: impl FnMut(&LogSegment) -> Option<T>) -> Option<T> {
        self.segments.read().iter().find_map(ask)
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

    /// Store time of the newest record, never newer than what [`Self::max_position`], read
    /// afterwards, covers.
    pub(crate) fn last_store_timestamp_ms(&self) -> i64 {
        self.last_store_timestamp_ms.load(Ordering::Acquire)
    }

    /// Removes the oldest segment; readers inside keep its map until they leave.
    pub(crate) fn remove_oldest(&self) -> Result<(), StoreError> {
        let Some(oldest) = self.segments.write().pop_front() else {
            return Ok(());
        };
        remove_file(&self.segment_path(oldest.base))
            .inspect_err(|_| self.segments.write().push_front(oldest))
    }

    /// Puts a segment before all others.
    pub(crate) fn put_first(&self, segment: LogSegment) {
        self.segments.write().push_front(segment);
    }

    /// Where the segment at `base` lies.
    pub(crate) fn segment_path(&self, base: u64) -> PathBuf {
        self.dir.join(segment_name(base))
    }
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
    ahead: Option<AheadFile>,
    /// The next units were last written ahead: pages need not be present for them.
    writes_ahead: bool,
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
            // The first append gets the error, if there is no room then either.
            Ok(true) | Err(StoreError::DiskFull { .. } | StoreError::Io { .. }) => {}
            Ok(false) => writer.preparer.want_next(end, writer.plan.populate_ahead),
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
            ahead: None,
            writes_ahead: false,
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
        let prepared = Prepared {
            populated: map.position(),
            map,
            has_written_blocks: false,
        };
        self.preparer.follow(base, &prepared);
        self.tail = Some(Tail::new(base, prepared, 0));
        Ok(true)
    }

    /// Largest record, or whole batch, that a segment can hold.
    pub(crate) fn unit_size_max(&self) -> u64 {
        self.plan.segment_size - BLANK_SIZE as u64
    }

    /// Makes room for one unit of `size` bytes.
    ///
    /// A unit that would leave less than the blank header's 8 bytes goes to the next segment.
    #[inline(always)]
    pub(crate) fn reserve(&mut self, size: usize) -> Result<Unit<'_>, StoreError> {
        if !self.has_room(size) {
            self.make_room(size)?;
        }
        self.room(size).ok_or(StoreError::Closed)
    }

    /// Whether there is room for `size` bytes already.
    #[inline(always)]
    pub(crate) fn has_room(&self, size: usize) -> bool {
        self.tail.as_ref().is_some_and(|tail| tail.has_room(size))
    }

    /// As [`Self::reserve`], if there is room already.
    #[inline(always)]
    pub(crate) fn room(&mut self, size: usize) -> Option<Unit<'_>> {
        let tail = self.tail.as_mut()?;
        Some(Unit {
            room: tail.map.room(size)?,
            base: tail.base,
            wake_at: &mut tail.wake_at,
            shared: &self.shared,
            plan: &self.plan,
            preparer: &self.preparer,
        })
    }

    #[cold]
    fn make_room(&mut self, size: usize) -> Result<(), StoreError> {
        while !self.has_room(size) {
            if !self.continue_recovered()? {
                self.roll()?;
            }
        }
        Ok(())
    }

    #[cold]
    fn roll(&mut self) -> Result<(), StoreError> {
        let base = self
            .tail
            .as_ref()
            .map_or(self.end, |tail| tail.base + self.plan.segment_size);
        let populated = if self.writes_ahead {
            0
        } else {
            self.plan.populate_ahead
        };
        let prepared = self.preparer.take_next(base, populated)?;
        if let Some(full) = &mut self.tail {
            let remaining = full.map.remaining();
            encode_blank(&mut full.map.tail()[..BLANK_SIZE], remaining);
            full.map.publish(remaining);
            full.map.reader().advise_written(false);
        }
        self.preparer.follow(base, &prepared);
        self.shared.segments.write().push_back(LogSegment {
            base,
            map: prepared.map.reader(),
        });
        let wake_at = self.plan.wake_distance().min(prepared.populated);
        self.tail = Some(Tail::new(base, prepared, wake_at));
        // An open file keeps its room on the disk, though its segment expires.
        self.ahead = None;
        Ok(())
    }

    /// Ends the helper, and removes a segment that it prepared in vain.
    pub(crate) fn stop(&mut self) -> Result<(), StoreError> {
        match self.preparer.stop() {
            Some((base, _)) => remove_file(&self.shared.segment_path(base)),
            None => Ok(()),
        }
    }

    pub(crate) fn populated_position(&self) -> u64 {
        self.preparer.populated_position()
    }
}

/// Room for one record or batch at the end of the log.
#[derive(Debug)]
pub(crate) struct Unit<'a> {
    room: Room<'a>,
    /// Position of its segment.
    base: u64,
    wake_at: &'a mut usize,
    shared: &'a SharedLog,
    plan: &'a SegmentPlan,
    preparer: &'a Preparer,
}

impl Unit<'_> {
    /// Where the unit lies in the log.
    #[inline(always)]
    pub(crate) fn position(&self) -> u64 {
        self.base + self.room.start() as u64
    }

    #[inline(always)]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        self.room.bytes()
    }

    /// Makes the written unit part of the log.
    #[inline(always)]
    pub(crate) fn commit(self, store_timestamp_ms: i64) {
        let end = self.room.end();
        self.room.publish();
        let shared = self.shared;
        let max_position = self.base + end as u64;
        shared.max_position.store(max_position, Ordering::Release);
        shared
            .last_store_timestamp_ms
            .store(store_timestamp_ms, Ordering::Release);
        if end >= *self.wake_at {
            *self.wake_at = self.plan.wake_after(end);
            wake_helper(self.base, end, self.plan, self.preparer);
        }
    }
}

/// Notifies the helper of how far the segment at `base` is written.
#[cold]
#[inline(never)]
fn wake_helper(base: u64, end: usize, plan: &SegmentPlan, preparer: &Preparer) {
    preparer.advance(end);
    if end as u64 >= plan.segment_size / 2 {
        preparer.want_next(base + plan.segment_size, plan.populate_ahead);
    }
}
