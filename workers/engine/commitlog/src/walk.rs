//! A walk over the records of a log, and the damage it meets (D13).
//!
//! Invalid bytes are the end of the log only if no valid record follows them anywhere. Otherwise
//! they are damage: it is noted, and the walk goes on with the next valid record.

use std::convert::Infallible;
use std::path::PathBuf;

use crate::error::StoreError;
use crate::log_damage::LogDamage;
use crate::log_end::LogEnd;
use crate::queue_rebuild::QueueRebuild;
use crate::record::{
    CrcProperty, Found, Glance, MAGIC_AT, MAGIC_V1, PlainRecord, RecordDamage, check, claimed_size,
    is_plain_torn, is_torn,
};
use crate::sys::ExclusiveMap;

/// One segment during recovery.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) base: u64,
    pub(crate) path: PathBuf,
    pub(crate) map: ExclusiveMap,
    /// Bytes from here on are a hole in the file.
    pub(crate) data_end: usize,
    pub(crate) crc_property: CrcProperty,
}

impl Segment {
    /// What lies at `position`, which is in this segment.
    pub(crate) fn check(&self, position: u64) -> Result<Found<'_>, RecordDamage> {
        let rest = &self.map.bytes()[self.local(position)..];
        check(rest, position, self.crc_property)
    }

    /// As [`Self::check`], but behind the flushed part a record may also be torn.
    fn check_written(&self, position: u64, flushed: u64) -> Result<Found<'_>, RecordDamage> {
        match self.check(position)? {
            Found::Record(record) if is_torn(&record, self.local(position) as u64, flushed) => {
                Err(RecordDamage::Torn)
            }
            found => Ok(found),
        }
    }

    pub(crate) fn holds(&self, position: u64) -> bool {
        (self.base..self.end()).contains(&position)
    }

    #[allow(clippy::cast_possible_truncation)] // inside a mapped segment
    pub(crate) fn local(&self, position: u64) -> usize {
        (position - self.base) as usize
    }

    pub(crate) fn end(&self) -> u64 {
        self.base + self.map.bytes().len() as u64
    }
}

/// Where a walk over the log stopped.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WalkEnd {
    pub(crate) position: u64,
    /// Index of the segment that holds `position`; the segment count when all are full.
    pub(crate) index: usize,
    pub(crate) damage: Option<LogDamage>,
    /// What was not flushed and is gone, where records follow that are cut with it.
    pub(crate) lost_unflushed: Option<LogDamage>,
    pub(crate) record_count: u64,
    pub(crate) last_store_timestamp_ms: i64,
}

/// Makes the queues agree with every valid record from segment `start` on.
pub(crate) fn walk(
    segments: &[Segment],
    start: usize,
    expected: &LogEnd,
    queues: &mut QueueRebuild,
) -> Result<WalkEnd, StoreError> {
    let mut end = WalkEnd {
        position: segments.get(start).map_or(0, |segment| segment.base),
        index: start,
        damage: None,
        lost_unflushed: None,
        record_count: 0,
        last_store_timestamp_ms: 0,
    };
    // Behind the last segment there are no bytes at all.
    let mut kind = RecordDamage::Short;
    let flushed = expected.flushed();
    while let Some(segment) = segments.get(end.index) {
        pass_run(segment, flushed, queues, &mut end);
        match segment.check_written(end.position, flushed) {
            Ok(Found::Record(record)) => {
                queues.on_record(&record)?;
                end.position += record.bytes.len() as u64;
                end.record_count += 1;
                end.last_store_timestamp_ms = record.store_timestamp_ms;
            }
            Ok(Found::Blank) => {
                end.index += 1;
                end.position = segment.end();
            }
            Err(found) => {
                kind = found;
                let is_damaged = end.damage.is_some();
                if expected.allows(end.position, is_damaged) {
                    break;
                }
                let Some((index, next)) = find_record_behind(segments, &end, flushed) else {
                    break;
                };
                let found = LogDamage {
                    position: end.position,
                    kind,
                    next_valid_position: Some(next),
                };
                // Of a damaged log nothing is cut.
                if !is_damaged && was_unflushed(segment, end.position, expected) {
                    end.lost_unflushed = Some(found);
                    break;
                }
                end.damage.get_or_insert(found);
                (end.index, end.position) = (index, next);
            }
        }
    }
    if end.position < flushed && !expected.allows(end.position, end.damage.is_some()) {
        end.damage.get_or_insert(LogDamage {
            position: end.position,
            kind,
            next_valid_position: None,
        });
    }
    Ok(end)
}

fn was_unflushed(segment: &Segment, position: u64, expected: &LogEnd) -> bool {
    let at = segment.local(position);
    let rest = segment.map.bytes().get(at..).unwrap_or_default();
    expected.was_unflushed(position, at as u64, rest)
}

/// Passes over ordinary records that are the next ones of their queues. What ends the run is no
/// such record, or is looked at again.
fn pass_run(segment: &Segment, flushed: u64, queues: &mut QueueRebuild, end: &mut WalkEnd) {
    if segment.crc_property != CrcProperty::Off {
        return;
    }
    let bytes = segment.map.bytes();
    while let at = segment.local(end.position)
        && let Some(record) = PlainRecord::read(bytes.get(at..).unwrap_or_default(), end.position)
        && let Some(place) = queues.run_place(&record)
        && record.is_intact()
        && !is_plain_torn(&record, at, flushed)
        && place.take()
    {
        end.position += record.size as u64;
        end.record_count += 1;
        end.last_store_timestamp_ms = record.store_timestamp_ms;
    }
}

/// The first valid record behind the place where a walk stopped, and the index of its segment.
fn find_record_behind(segments: &[Segment], end: &WalkEnd, flushed: u64) -> Option<(usize, u64)> {
    let mut behind = segments.iter().enumerate().skip(end.index);
    let (_, holding) = behind.next()?;
    let at = holding.local(end.position);
    let rest = holding.map.bytes().get(at..).unwrap_or_default();
    let from = at + claimed_size(rest, end.position);
    let here = find_record(holding, from, flushed).map(|position| (end.index, position));
    here.or_else(|| {
        behind.find_map(|(index, segment)| Some((index, find_record(segment, 0, flushed)?)))
    })
}

/// The first valid record of a segment that starts at or after `from`.
fn find_record(segment: &Segment, from: usize, flushed: u64) -> Option<u64> {
    let bytes = segment.map.bytes();
    let haystack = bytes.get(from..segment.data_end)?;
    // Both record magics share their first three bytes.
    let magic = &MAGIC_V1.to_be_bytes()[..3];
    let mut glance = Glance::new((segment.base, bytes.len() as u64), from as u64, flushed);
    let mut read = |at: u64, part: &mut [u8]| -> Result<(), Infallible> {
        let at = segment.local(segment.base + at);
        part.copy_from_slice(&bytes[at..at + part.len()]);
        Ok(())
    };
    memchr::memmem::find_iter(haystack, magic)
        .filter_map(|found| {
            (from + found)
                .checked_sub(MAGIC_AT)
                .filter(|at| *at >= from)
        })
        .filter(|at| glance.finds_record(*at as u64, segment.crc_property, &mut read) == Ok(true))
        .map(|at| segment.base + at as u64)
        .find(|position| {
            let found = segment.check_written(*position, flushed);
            matches!(found, Ok(Found::Record(_)))
        })
}
