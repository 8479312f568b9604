//! Whether a record is valid, judged by its two ends and by checksums of parts of its segment.
//!
//! Behind damage, thousands of places of one body may look like the beginning of a record, if its
//! sender wants it. Each of them may claim all that follows. Judged so, none of them costs more
//! than a few blocks.

use std::ops::Range;

use super::check::{body_length_at, judged};
use super::crc_property::{self, SIZE as CRC_PROPERTY_SIZE, Verdict};
use super::torn::have_empty_sector;
use super::{
    BODY_CRC_AT, BODY_CRC_MASK, HEAD_SIZE_MAX, MAGIC_AT, MAGIC_V1, MAGIC_V2, PHYSICAL_OFFSET_AT,
    PROPERTIES_SIZE_MAX, take_texts,
};
use crate::cursor::Reader;
use crate::range_sums::RangeSums;
use crate::record::CrcProperty;

/// Topic and properties with their lengths: all that comes behind a body.
const TAIL_SIZE_MAX: usize = 2 * (2 + PROPERTIES_SIZE_MAX);

/// Looks at the places of one segment.
#[derive(Debug)]
pub(crate) struct Glance {
    /// Log position of the segment, and where it ends in its file.
    base: u64,
    end: u64,
    /// Behind this position a record may be torn.
    flushed: u64,
    sums: RangeSums,
}

/// What the fields before a record's body say.
struct Outline {
    size: usize,
    magic: u32,
    body: Range<usize>,
    body_crc: u32,
}

impl Glance {
    /// At places of a segment, of a size, from one on.
    pub(crate) fn new((base, end): (u64, u64), from: u64, flushed: u64) -> Self {
        Self {
            base,
            end,
            flushed,
            sums: RangeSums::new(from),
        }
    }

    /// Whether a record begins at a place that is neither torn nor, by its checksums, damaged; `read`
    /// gives any few bytes of the segment.
    pub(crate) fn finds_record<E>(
        &mut self,
        at: u64,
        rule: CrcProperty,
        read: &mut impl FnMut(u64, &mut [u8]) -> Result<(), E>,
    ) -> Result<bool, E> {
        let Some(rest) = self.end.checked_sub(at) else {
            return Ok(false);
        };
        let rest = usize::try_from(rest).unwrap_or(usize::MAX);
        let mut head = [0; HEAD_SIZE_MAX];
        let head = &mut head[..rest.min(HEAD_SIZE_MAX)];
        read(at, head)?;
        let Some(outline) = Outline::read(head, self.base + at).filter(|it| it.size <= rest) else {
            return Ok(false);
        };
        let Outline { size, body, .. } = &outline;
        let mut tail = vec![0; size - body.end];
        read(at + body.end as u64, &mut tail)?;
        let mut input = Reader::new(&tail);
        let texts = take_texts(&mut input, outline.magic).filter(|_| input.is_empty());
        let Some((topic, properties)) = texts else {
            return Ok(false);
        };
        let is_flushed = self.base + at + *size as u64 <= self.flushed;
        if !is_flushed && have_empty_sector(at, *size, topic, properties) {
            return Ok(false);
        }
        let mut crc_of = |part: Range<usize>| {
            let range = at + part.start as u64..at + part.end as u64;
            let crc = self.sums.crc32(range, read)?;
            Ok(crc & BODY_CRC_MASK)
        };
        let property = properties.last_chunk().filter(|_| rule != CrcProperty::Off);
        let verdict = match property {
            Some(property) => {
                let crc = crc_of(0..size - CRC_PROPERTY_SIZE)?;
                crc_property::verdict(property, || crc)
            }
            None => Verdict::Absent,
        };
        match judged(verdict, rule) {
            Some(outcome) => Ok(outcome.is_ok()),
            None => Ok(crc_of(body.clone())? == outline.body_crc),
        }
    }
}

impl Outline {
    /// What the bytes say that a record at a position begins with, if they may be its.
    fn read(head: &[u8], position: u64) -> Option<Self> {
        let field = |at: usize| Reader::new(head.get(at..)?).u32();
        let magic = field(MAGIC_AT).filter(|magic| matches!(*magic, MAGIC_V1 | MAGIC_V2))?;
        let is_here = Reader::new(head.get(PHYSICAL_OFFSET_AT..)?).u64()? == position;
        let length_at = body_length_at(head).filter(|_| is_here)?;
        let body_size = usize::try_from(Reader::new(&head[length_at..]).i32()?).ok()?;
        let (size, body_at) = (field(0)? as usize, length_at + 4);
        let body = body_at..body_at.checked_add(body_size)?;
        let tail_size = size.checked_sub(body.end)?;
        (tail_size <= TAIL_SIZE_MAX).then_some(Self {
            size,
            magic,
            body,
            body_crc: field(BODY_CRC_AT)?,
        })
    }
}

#[cfg(test)]
mod tests;
