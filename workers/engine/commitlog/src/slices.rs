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
        let end = |slice: &Slice| slice.position + slice.size as u64;
        self.slices
            .iter()
            .map(move |slice| (slice.position, end(slice)))
    }
}

impl fmt::Debug for RecordSlices<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.ranges()).finish()
    }
}
