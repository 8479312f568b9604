//! Where records go on behind bytes that are none, and whether those are damage.

use super::segments::WINDOW_SIZE;
use super::{Found, LogWalk, Look, Step};
use crate::error::StoreError;
use crate::record::CrcProperty;
use crate::record::{BLANK_SIZE, Glance, MAGIC_AT, MAGIC_V1};

impl LogWalk {
    /// Returns what the bytes where the walk stands are, which were no record when they were read:
    /// damage if a record follows, else the end. `None` if they are a record by now.
    ///
    /// A broker writes its records one after the other, so a record that follows was written after
    /// these bytes. They are damage only if they are still no record when they are read once more
    /// after that record: before, the broker may not have come so far. The first `claimed` bytes
    /// belong to no other record; a record whose header the broker wrote meanwhile claims more.
    pub(super) fn damaged(
        &mut self,
        position: u64,
        claimed: u64,
    ) -> Result<Option<Step<'static>>, StoreError> {
        let (index, at) = (self.index, self.at);
        if self.was_unflushed(position)? {
            // The next start cuts what is there, whatever is gone before it.
            let cut_bytes = self.segments.count_written(index, at)?;
            return Ok(Some(self.end(position, cut_bytes)));
        }
        let Some((next_index, next_at)) = self.find_record_behind(at + claimed)? else {
            let torn_bytes = self.count_torn((index, at))?;
            return Ok(Some(self.end(position, torn_bytes)));
        };
        self.go_to(index, at);
        if !self.segments.open(index)? {
            return Ok(Some(self.expired(position)));
        }
        self.segments.forget();
        let (damage, claimed) = match self.look() {
            Ok(_) => return Ok(None),
            Err(Look::Failed(error)) => return Err(error),
            Err(Look::Damage(damage, claimed)) => (damage, claimed),
        };
        if self.segments.is_stale()? {
            return Ok(Some(self.expired(position)));
        }
        if next_index == index && next_at < at + claimed {
            return self.damaged(position, claimed);
        }
        self.go_to(next_index, next_at);
        self.is_damaged = true;
        let next = self.segments.all()[next_index].base + next_at;
        Ok(Some(Step::Damaged {
            position,
            damage,
            next,
        }))
    }

    /// Whether the bytes where the walk stands were never flushed, and their segment has not expired.
    fn was_unflushed(&mut self, position: u64) -> Result<bool, StoreError> {
        // Of a damaged log nothing is cut.
        if self.is_damaged
            || position < self.expected.flushed()
            || !self.segments.open(self.index)?
        {
            return Ok(false);
        }
        let (index, at) = (self.index, self.at);
        let head = self.segments.read(index, at, BLANK_SIZE as u64)?;
        let has_magic = head.get(4..7) == Some(&MAGIC_V1.to_be_bytes()[..3]);
        let size = head.first_chunk().filter(|_| has_magic);
        let size = size.map_or(0, |size| u64::from(u32::from_be_bytes(*size)));
        let rest = self.segments.read(index, at, size.max(WINDOW_SIZE))?;
        Ok(self.expected.was_unflushed(position, at, rest))
    }

    /// Index of the segment, and place in it, of the first valid record from a place of this one on.
    /// Without one the walk stands behind the last segment.
    fn find_record_behind(&mut self, mut from: u64) -> Result<Option<(usize, u64)>, StoreError> {
        while self.index < self.segments.all().len() {
            if let Some(found) = self.find_record(from)? {
                return Ok(Some((self.index, found)));
            }
            self.go_to(self.index + 1, 0);
            from = 0;
        }
        Ok(None)
    }

    /// Counts the bytes behind the end of the log, at this place, that a crash may have left.
    fn count_torn(&mut self, (index, at): (usize, u64)) -> Result<u64, StoreError> {
        let has_expired = !self.segments.open(index)?;
        if has_expired {
            return Ok(0);
        }
        let head = self.segments.read(index, at, BLANK_SIZE as u64)?;
        if head.iter().all(|byte| *byte == 0) {
            return Ok(0);
        }
        self.segments.count_written(index, at)
    }

    /// The first valid record of the segment that starts at or after `from`.
    fn find_record(&mut self, from: u64) -> Result<Option<u64>, StoreError> {
        // Both record magics share their first three bytes.
        let magic = &MAGIC_V1.to_be_bytes()[..3];
        let index = self.index;
        if !self.segments.open(index)? {
            return Ok(None);
        }
        let segment = &self.segments.all()[index];
        let end = segment.data_end;
        let flushed = self.expected.flushed();
        let mut glance = Glance::new((segment.base, segment.size), from, flushed);
        let mut at = from;
        while at < end {
            let size = WINDOW_SIZE.min(end - at);
            let bytes = self.segments.read(index, at, size)?;
            let found: Vec<u64> = memchr::memmem::find_iter(bytes, magic)
                .filter_map(|found| (at + found as u64).checked_sub(MAGIC_AT as u64))
                .filter(|found| *found >= from)
                .collect();
            for candidate in found {
                self.at = candidate;
                if !self.glance(&mut glance)? {
                    continue;
                }
                match self.look() {
                    Ok(Found::Record { .. }) => return Ok(Some(candidate)),
                    Err(Look::Failed(error)) => return Err(error),
                    Ok(Found::Blank) | Err(Look::Damage(..)) => {}
                }
            }
            // A magic may lie across the border of two windows.
            at += size.saturating_sub(magic.len() as u64).max(1);
        }
        Ok(None)
    }

    /// Whether a look would find a record where the walk stands, unless a broker changes that meanwhile.
    fn glance(&mut self, glance: &mut Glance) -> Result<bool, StoreError> {
        let (index, at, segments) = (self.index, self.at, &self.segments);
        let mut read = |at: u64, part: &mut [u8]| segments.copy(index, at, part);
        match self.crc_property {
            // A wrong CRC property is reported, and a right one vouches for the body.
            CrcProperty::Off => Ok(glance.finds_record(at, CrcProperty::Off, &mut read)?
                || glance.finds_record(at, CrcProperty::Verified, &mut read)?),
            rule => glance.finds_record(at, rule, &mut read),
        }
    }
}
