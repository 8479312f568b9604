//! Opening a log: where it ends, and queues that agree with it (storage-and-ha.md 5.3).
//!
//! Every record from a start segment on is validated, checksum and position included (D10), and
//! compared with its queue entry. The log ends at the first invalid record, unless valid records
//! follow or the end was known to be on the disk: then the log is damaged, which is an error and
//! never read as its end (D13). Cut bytes are cleared, so that they cannot come back.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::checkpoint::Checkpoint;
use crate::config::StoreConfig;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::files::{
    clear, data_end, is_unwritten, list_segments, open_segment, remove_file, sync_dir,
};
use crate::log::LogSegment;
use crate::queue_rebuild::QueueRebuild;
use crate::record::{Found, MAGIC_AT, MAGIC_V1, RecordDamage, check};
use crate::sys::{ExclusiveMap, MapWriter};
use crate::table::QueueTable;

/// What recovery found and did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Whether the last user closed the store.
    pub was_clean: bool,
    /// Position from which records were validated.
    pub scanned_from: u64,
    /// End of the log.
    pub end_position: u64,
    /// Records validated in the last pass.
    pub record_count: u64,
    /// Bytes behind the end that were not zero and were cleared, in pages.
    pub cleared_bytes: u64,
    /// Queue entries that were missing and were written.
    pub entries_added: u64,
    /// Queue entries without a record that were dropped.
    pub entries_dropped: u64,
    /// Queues rebuilt from the start of the log.
    pub queues_rebuilt: u64,
    /// Offsets for which the log holds no record although later ones exist.
    pub offsets_missing: u64,
    /// Records whose topic or queue id cannot name a queue directory.
    pub records_unqueued: u64,
}

/// A recovered log and its queues.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) segments: VecDeque<LogSegment>,
    pub(crate) tail: Option<(u64, MapWriter)>,
    pub(crate) queues: QueueTable,
    pub(crate) last_store_timestamp_ms: i64,
    pub(crate) report: RecoveryReport,
}

#[derive(Debug)]
struct Segment {
    base: u64,
    path: PathBuf,
    map: ExclusiveMap,
    /// Bytes from here on are a hole in the file.
    data_end: usize,
}

/// Where a walk over the log stopped.
#[derive(Debug, Clone, Copy)]
struct WalkEnd {
    position: u64,
    /// Index of the segment that holds `position`; the segment count when all are full.
    index: usize,
    damage: Option<RecordDamage>,
    record_count: u64,
    last_store_timestamp_ms: i64,
}

/// Recovers the store in `directory`.
pub(crate) fn recover(
    config: &StoreConfig,
    directory: &StoreDirectory,
) -> Result<Recovered, StoreError> {
    let was_clean = !directory.has_abort_mark();
    let checkpoint = Checkpoint::load(&directory.checkpoint())?;
    let mut segments = load_segments(directory.commit_log(), config.segment_size_bytes)?;
    let mut rebuild = QueueRebuild::load(config, directory, was_clean)?;
    let start = start_index(
        &segments,
        was_clean,
        &checkpoint,
        rebuild.dispatched_position(),
    );
    let (start, end) = scan(&segments, start, &mut rebuild)?;
    let is_known_end = was_clean && end.position == checkpoint.known_flushed_position();
    if !is_known_end {
        refuse_damage(config, &segments, &end, &checkpoint)?;
    }
    let scanned_from = segments
        .get(start)
        .map_or(end.position, |segment| segment.base);
    rebuild.drop_unconfirmed(scanned_from)?;
    let mut report = RecoveryReport {
        was_clean,
        scanned_from,
        end_position: end.position,
        record_count: end.record_count,
        ..rebuild.report()
    };
    if !is_known_end {
        report.cleared_bytes = clear_behind(&mut segments, &end)?;
    }
    remove_later(directory.commit_log(), &mut segments, &end)?;
    let min_position = segments
        .first()
        .map_or(end.position, |segment| segment.base);
    let queues = rebuild.finish(min_position, was_clean);
    let (segments, tail) = share(segments, &end);
    let last_store_timestamp_ms = end.last_store_timestamp_ms;
    Ok(Recovered {
        segments,
        tail,
        queues,
        last_store_timestamp_ms,
        report,
    })
}

fn load_segments(dir: &Path, segment_size: u64) -> Result<Vec<Segment>, StoreError> {
    let mut files = list_segments(dir)?;
    if let Some(last) = files.last().filter(|last| last.size < segment_size)
        && is_unwritten(&last.path)?
    {
        // Not fully allocated when the process died, so never mapped.
        remove_file(&last.path)?;
        files.pop();
    }
    let mut segments: Vec<Segment> = Vec::with_capacity(files.len());
    for file in files {
        let unexpected = |reason| StoreError::UnexpectedFile {
            path: file.path.clone(),
            reason,
        };
        if file.size != segment_size {
            return Err(unexpected(format!(
                "{} bytes instead of {segment_size}",
                file.size
            )));
        }
        if file.base % segment_size != 0 {
            return Err(unexpected("not a multiple of the segment size".into()));
        }
        if let Some(previous) = segments.last()
            && previous.base + segment_size != file.base
        {
            let reason = "a segment is missing".into();
            return Err(StoreError::Corrupt {
                position: previous.base + segment_size,
                reason,
            });
        }
        let named = |error| StoreError::io(&file.path, error);
        let handle = open_segment(&file.path)?;
        let data_end = data_end(&handle, 0, segment_size).map_err(named)?;
        let map = ExclusiveMap::new(&handle).map_err(named)?;
        #[allow(clippy::cast_possible_truncation)] // the file was mapped
        let data_end = data_end as usize;
        segments.push(Segment {
            base: file.base,
            path: file.path,
            map,
            data_end,
        });
    }
    Ok(segments)
}

/// The newest segment before which nothing can be unknown, else the oldest.
fn start_index(
    segments: &[Segment],
    was_clean: bool,
    checkpoint: &Checkpoint,
    dispatched_position: u64,
) -> usize {
    let is_safe = |segment: &Segment| {
        let Ok(Found::Record(first)) = check(segment.map.bytes(), segment.base) else {
            return false;
        };
        let is_covered = if was_clean {
            segment.base <= dispatched_position
        } else {
            first.store_timestamp_ms <= checkpoint.safe_timestamp_ms()
                && segment.base <= checkpoint.known_flushed_position()
        };
        first.store_timestamp_ms != 0 && is_covered
    };
    segments.iter().rposition(is_safe).unwrap_or(0)
}

/// Walks from `start`; queues that cannot be completed from there are rebuilt from the oldest.
fn scan(
    segments: &[Segment],
    mut start: usize,
    rebuild: &mut QueueRebuild,
) -> Result<(usize, WalkEnd), StoreError> {
    rebuild.check_starts(segments.first().map_or(0, |oldest| oldest.base));
    if rebuild.needs_older_records() {
        start = 0;
    }
    loop {
        rebuild.begin_pass(start == 0)?;
        let end = walk(segments, start, rebuild)?;
        if start == 0 || !rebuild.needs_older_records() {
            return Ok((start, end));
        }
        start = 0;
    }
}

fn walk(
    segments: &[Segment],
    start: usize,
    rebuild: &mut QueueRebuild,
) -> Result<WalkEnd, StoreError> {
    let mut end = WalkEnd {
        position: segments.get(start).map_or(0, |segment| segment.base),
        index: start,
        damage: None,
        record_count: 0,
        last_store_timestamp_ms: 0,
    };
    for segment in &segments[start.min(segments.len())..] {
        let bytes = segment.map.bytes();
        let mut at = 0;
        loop {
            let position = segment.base + at as u64;
            end.position = position;
            match check(&bytes[at..], position) {
                Ok(Found::Record(record)) => {
                    rebuild.on_record(&record)?;
                    at += record.bytes.len();
                    end.record_count += 1;
                    end.last_store_timestamp_ms = record.store_timestamp_ms;
                }
                Ok(Found::Blank) => break,
                Err(damage) => {
                    end.damage = Some(damage);
                    return Ok(end);
                }
            }
        }
        end.index += 1;
        end.position = segment.base + bytes.len() as u64;
    }
    Ok(end)
}

/// An end that is not one: records follow, or it was flushed further than that.
fn refuse_damage(
    config: &StoreConfig,
    segments: &[Segment],
    end: &WalkEnd,
    checkpoint: &Checkpoint,
) -> Result<(), StoreError> {
    let position = end.position;
    if config.cut_damage_at == Some(position) {
        return Ok(());
    }
    let reason = if let Some(next) = find_record_behind(segments, end) {
        let damage = end
            .damage
            .map_or_else(String::new, |damage| damage.to_string());
        format!("{damage}, yet a valid record follows at {next}")
    } else if position < checkpoint.known_flushed_position() {
        let flushed = checkpoint.known_flushed_position();
        format!("no valid record, yet the log was flushed to {flushed}")
    } else {
        return Ok(());
    };
    Err(StoreError::Corrupt { position, reason })
}

/// The first valid record behind the place where a walk stopped.
fn find_record_behind(segments: &[Segment], end: &WalkEnd) -> Option<u64> {
    let mut behind = segments.get(end.index..)?.iter();
    let holding = behind.next()?;
    #[allow(clippy::cast_possible_truncation)] // inside a mapped segment
    let from = (end.position - holding.base) as usize + 1;
    find_record(holding, from).or_else(|| behind.find_map(|segment| find_record(segment, 0)))
}

/// The first valid record of a segment that starts at or after `from`.
fn find_record(segment: &Segment, from: usize) -> Option<u64> {
    let bytes = segment.map.bytes();
    let haystack = bytes.get(from..segment.data_end)?;
    // Both record magics share their first three bytes.
    let magic = &MAGIC_V1.to_be_bytes()[..3];
    memchr::memmem::find_iter(haystack, magic)
        .filter_map(|found| {
            (from + found)
                .checked_sub(MAGIC_AT)
                .filter(|at| *at >= from)
        })
        .map(|at| (at, segment.base + at as u64))
        .find(|(at, position)| matches!(check(&bytes[*at..], *position), Ok(Found::Record(_))))
        .map(|(_, position)| position)
}

/// Clears what follows the end in its own segment; returns how much was not zero.
fn clear_behind(segments: &mut [Segment], end: &WalkEnd) -> Result<u64, StoreError> {
    let Some(holding) = segments.get_mut(end.index) else {
        return Ok(0);
    };
    #[allow(clippy::cast_possible_truncation)] // inside a mapped segment
    let at = (end.position - holding.base) as usize;
    if at >= holding.data_end {
        return Ok(0);
    }
    let cleared = clear(&mut holding.map.bytes_mut()[at..holding.data_end]);
    let flushed = holding.map.flush(at, holding.data_end);
    flushed.map_err(|error| StoreError::io(&holding.path, error))?;
    Ok(cleared)
}

/// Removes segments behind the one that holds the end, the last one first.
fn remove_later(dir: &Path, segments: &mut Vec<Segment>, end: &WalkEnd) -> Result<(), StoreError> {
    if segments.len() <= end.index + 1 {
        return Ok(());
    }
    for segment in segments.drain(end.index + 1..).rev() {
        remove_file(&segment.path)?;
    }
    sync_dir(dir)
}

/// Turns exclusive maps into what readers and the writer use.
fn share(
    segments: Vec<Segment>,
    end: &WalkEnd,
) -> (VecDeque<LogSegment>, Option<(u64, MapWriter)>) {
    let mut shared = VecDeque::with_capacity(segments.len());
    let mut tail = None;
    for segment in segments {
        let size = segment.map.bytes().len();
        let is_full = segment.base + size as u64 <= end.position;
        #[allow(clippy::cast_possible_truncation)] // inside a mapped segment
        let position = if is_full {
            size
        } else {
            (end.position - segment.base) as usize
        };
        let writer = segment.map.into_writer(position);
        shared.push_back(LogSegment {
            base: segment.base,
            map: writer.reader(),
        });
        if !is_full {
            tail = Some((segment.base, writer));
        }
    }
    (shared, tail)
}
