//! Records where they lie in the log, ready for one vectored write.

use std::fmt;
use std::marker::PhantomData;

use crate::log::LogSegment;
use crate::store::Store;

/// The records that a read found, as ranges of the mapped segments.
///
/// Records that follow one another in the log are one slice. Deleting a segment leaves its bytes to
/// the slices in it; a truncation, which changes bytes, cannot begin while they borrow the store.
pub struct RecordSlices<'a> {
    slices: Vec<Slice>,
    size: usize,
    store: PhantomData<&'a Store>,
}

/// As much the kernel reads ahead of itself.
const GAP_BYTES_MAX: u64 = 128 << 10;

struct Slice {
    segment: LogSegment,
    position: u64,
    size: usize,
}

impl<'a> RecordSlices<'a> {
    pub(crate) fn new(_store: &'a Store) -> Self {
        Self {
            slices: Vec::new(),
            size: 0,
            store: PhantomData,
        }
    }

    /// Adds the `size` bytes at a position of a segment.
    pub(crate) fn push(&mut self, segment: &LogSegment, position: u64, size: usize) {
        self.size += size;
        if let Some(last) = self.slices.last_mut()
            && last.position + last.size as u64 == position
            && last.segment.base == segment.base
        {
            last.size += size;
            return;
        }
        self.slices.push(Slice {
            segment: segment.clone(),
            position,
            size,
        });
    }

    /// Waits for the disk until all of it is in memory.
    ///
    /// What lies between records that are neighbours is read along: it costs less than to leave it
    /// out, and belongs to queues whose readers often come the same way.
    pub(crate) fn fetch(&self) {
        let mut from = 0;
        while let Some(first) = self.slices.get(from) {
            let is_near = |pair: &&[Slice]| {
                let (before, next) = (&pair[0], &pair[1]);
                next.segment.base == before.segment.base
                    && (before.end()..=before.end() + GAP_BYTES_MAX).contains(&next.position)
            };
            let count = self.slices[from..].windows(2).take_while(is_near).count();
            let last = &self.slices[from + count];
            first.segment.begin_to_read(first.position, last.end());
            from += count + 1;
        }
        for slice in &self.slices {
            slice.segment.await_read(slice.position, slice.end());
        }
    }

    /// Bytes of all records.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// The slices in the order of their records.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        self.slices.iter().map(|slice| {
            let bytes = slice.segment.bytes(slice.position, slice.size);
            bytes.unwrap_or_default()
        })
    }

    /// Where the slices begin and end in the log.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64)> {
        (self.slices.iter()).map(|slice| (slice.position, slice.end()))
    }
}

impl Slice {
    fn end(&self) -> u64 {
        self.position + self.size as u64
    }
}

impl fmt::Debug for RecordSlices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ranges()).finish()
    }
}
