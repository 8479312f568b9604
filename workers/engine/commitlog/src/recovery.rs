//! Opening a log: where it ends, and queues that agree with it (storage-and-ha.md 5.3).
//!
//! Every record from a start segment on is validated, checksum and position included (D10), and
//! compared with its queue entry. Cut bytes are cleared, so that they cannot come back. A damaged
//! log is opened for reading only, and nothing of it is cut (D13). A truncation that a crash
//! interrupted is finished first (D10).

use std::collections::VecDeque;
use std::io;
use std::path::Path;

use crate::checkpoint::Checkpoint;
use crate::config::StoreConfig;
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::failpoint::{Step, step};
use crate::files::{
    clear_file, data_end, is_unwritten, list_segments, open_segment, remove_file, sync_dir,
};
use crate::former;
use crate::log::LogSegment;
use crate::log_end::LogEnd;
use crate::queue_rebuild::QueueRebuild;
use crate::record::{Found, RecordView};
use crate::recovery_report::RecoveryReport;
use crate::sys::{ExclusiveMap, MapWriter};
use crate::table::QueueTable;
use crate::truncation::Truncation;
use crate::walk::{Segment, WalkEnd, walk};

/// A recovered log and its queues.
#[derive(Debug)]
pub(crate) struct Recovered {
    pub(crate) segments: VecDeque<LogSegment>,
    pub(crate) tail: Option<(u64, MapWriter)>,
    pub(crate) queues: QueueTable,
    pub(crate) last_store_timestamp_ms: i64,
    pub(crate) report: RecoveryReport,
}

/// Recovers the store in `directory`.
pub(crate) fn recover(
    config: &StoreConfig,
    directory: &StoreDirectory,
) -> Result<Recovered, StoreError> {
    let truncation = Truncation::load(directory)?;
    let mark = directory.mark()?;
    let was_clean = mark.is_none() && truncation.is_none();
    if truncation.is_some_and(|truncation| truncation.leaves_nothing()) {
        // Before they are looked at: of some a crash may have left a part.
        directory.remove_queues()?;
    }
    let (mut rebuild, stored) = QueueRebuild::find_stored(config, directory, was_clean)?;
    if let Some(truncation) = &truncation {
        truncation.cut_files(directory)?;
    }
    let found = Checkpoint::find(&directory.checkpoint())?;
    let checkpoint = found.unwrap_or_default();
    let flushed = checkpoint.known_flushed_position();
    let former = former::cut(directory, mark.as_ref(), flushed)?;
    let expected = match former.and_then(|former| former.sealed) {
        Some(sealed) => LogEnd::former(sealed),
        None if truncation.is_some() && mark.is_none() => LogEnd::unknown(flushed),
        None => LogEnd::of(mark.as_ref(), directory.run(), found.map(|_| flushed)),
    };
    let expected = expected.with_consent(config.cut_damage_at);
    let mut segments = load_segments(directory.commit_log(), config)?;
    rebuild.load(stored)?;
    if let Some(truncation) = &truncation {
        rebuild.cut_behind(truncation.position)?;
        let min_position = segments.first().map_or(0, |oldest| oldest.base);
        rebuild.check_ends(min_position, |position| record_at(&segments, position));
    }
    let dispatched = rebuild.dispatched_position();
    let start = start_index(&segments, was_clean, &checkpoint, dispatched);
    let (start, end) = scan(&segments, start, &expected, &mut rebuild, directory)?;
    check_all_was_read(&segments)?;
    let scanned_from = segments
        .get(start)
        .map_or(end.position, |segment| segment.base);
    let mut cleared_bytes = 0;
    if end.damage.is_none() {
        rebuild.drop_unconfirmed(scanned_from)?;
        lower_checkpoint(directory, &end, flushed)?;
        if expected.closed_at() != Some(end.position) {
            cleared_bytes = clear_behind(&mut segments, &end)?;
        }
        remove_later(directory.commit_log(), &mut segments, &end)?;
    } else {
        segments.truncate(end.index + 1);
    }
    let report = RecoveryReport {
        was_clean,
        truncated_to: truncation.map(|truncation| truncation.position),
        converted_at: former.map(|_| end.position),
        damage: end.damage,
        lost_unflushed: end.lost_unflushed,
        scanned_from,
        end_position: end.position,
        record_count: end.record_count,
        cleared_bytes,
        ..rebuild.report()
    };
    let min_position = segments
        .first()
        .map_or(end.position, |segment| segment.base);
    let queues = rebuild.finish(min_position, was_clean);
    let (segments, tail) = share(segments, &end);
    Ok(Recovered {
        segments,
        tail,
        queues,
        last_store_timestamp_ms: end.last_store_timestamp_ms,
        report,
    })
}

/// Flushed records are only cut with consent, as damage: what comes in their place is not flushed yet.
fn lower_checkpoint(
    directory: &StoreDirectory,
    end: &WalkEnd,
    flushed: u64,
) -> Result<(), StoreError> {
    if flushed <= end.position {
        return Ok(());
    }
    let cut = Truncation {
        position: end.position,
        last_store_timestamp_ms: end.last_store_timestamp_ms,
    };
    cut.cut_checkpoint(directory)
}

fn load_segments(dir: &Path, config: &StoreConfig) -> Result<Vec<Segment>, StoreError> {
    let segment_size = config.segment_size_bytes;
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
            crc_property: config.crc_property,
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
        let Ok(Found::Record(first)) = segment.check(segment.base) else {
            return false;
        };
        let is_covered = if was_clean {
            segment.base <= dispatched_position
        } else {
            first.store_timestamp_ms <= checkpoint.safe_timestamp_ms()
                && segment.base < checkpoint.known_flushed_position()
        };
        first.store_timestamp_ms != 0 && is_covered
    };
    segments.iter().rposition(is_safe).unwrap_or(0)
}

/// The valid record at a position, if the log holds one there.
fn record_at(segments: &[Segment], position: u64) -> Option<RecordView<'_>> {
    let index = segments.partition_point(|segment| segment.base <= position);
    let segment = segments.get(index.checked_sub(1)?)?;
    match segment.holds(position).then(|| segment.check(position))? {
        Ok(Found::Record(record)) => Some(record),
        _ => None,
    }
}

/// Walks from `start`; queues that cannot be completed from there are rebuilt from the oldest.
fn scan(
    segments: &[Segment],
    mut start: usize,
    expected: &LogEnd,
    rebuild: &mut QueueRebuild,
    directory: &StoreDirectory,
) -> Result<(usize, WalkEnd), StoreError> {
    let min_position = segments.first().map_or(0, |oldest| oldest.base);
    // A flushed log without a segment is lost: its queues are left as they are.
    if !segments.is_empty() || expected.flushed() == 0 {
        rebuild.check_starts(min_position);
    }
    loop {
        if rebuild.is_any_broken() {
            start = 0;
            disown_queues(directory)?;
        }
        rebuild.begin_pass((start == 0).then_some(min_position))?;
        let end = walk(segments, start, expected, rebuild)?;
        // Around damage no entry is dropped.
        let dropped_from = match end.damage {
            None => segments.get(start).map_or(0, |segment| segment.base),
            Some(_) => u64::MAX,
        };
        if start == 0 || !rebuild.needs_older_records(dropped_from) {
            return Ok((start, end));
        }
        start = 0;
    }
}

/// Takes back, on the disk, what a clean stop and the checkpoint vouch for: queues are about to be
/// emptied. Until they are flushed again, the next start must not begin behind the records of a
/// queue that is not there.
fn disown_queues(directory: &StoreDirectory) -> Result<(), StoreError> {
    if directory.mark()?.is_none() {
        directory.put_silent_mark()?;
    }
    let found = Checkpoint::load(&directory.checkpoint())?;
    let mut file = directory.open_checkpoint()?;
    file.write(Checkpoint {
        queue_timestamp_ms: 0,
        ..found
    })?;
    file.sync()
}

/// Clears what follows the end in its own segment; returns how much was not zero.
fn clear_behind(segments: &mut [Segment], end: &WalkEnd) -> Result<u64, StoreError> {
    let Some(holding) = segments.get_mut(end.index) else {
        return Ok(0);
    };
    let at = holding.local(end.position);
    if at >= holding.data_end {
        return Ok(0);
    }
    let (from, to) = (at, holding.data_end);
    let file = open_segment(&holding.path)?;
    let range = (from as u64, to as u64);
    let cleared = clear_file(&file, holding.map.bytes_mut(), range);
    let cleared = cleared.map_err(|error| StoreError::io(&holding.path, error))?;
    let flushed = step(Step::SyncRange { from, to }, &holding.path, || {
        holding.map.flush(from, to)
    });
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

/// Nothing may be cut because of bytes that could not be read.
fn check_all_was_read(segments: &[Segment]) -> Result<(), StoreError> {
    let lost = segments
        .iter()
        .find_map(|segment| segment.map.loss().map(|why| (segment, why)));
    match lost {
        Some((segment, why)) => Err(StoreError::io(&segment.path, io::Error::other(why))),
        None => Ok(()),
    }
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
        let position = if is_full {
            size
        } else {
            segment.local(end.position)
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
