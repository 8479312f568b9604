//! A walk over the log's segments, record by record.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::config::CrcProperty;
use crate::error::StoreError;
use crate::files::{SegmentFile, data_end, list_segments};
use crate::record::{
    BLANK_SIZE, MAGIC_AT, MAGIC_BLANK, MAGIC_V1, RecordDamage, RecordView, check_record,
};
use crate::walk::is_torn;

/// What is read at once; a longer record makes its window longer.
const WINDOW_SIZE: u64 = 4 << 20;

/// What a walk meets.
#[derive(Debug)]
pub enum Step<'a> {
    /// A valid record, its checksum included.
    Record(RecordView<'a>),
    /// Bytes that are no record, although one follows at `next`.
    Damaged {
        /// Where they begin.
        position: u64,
        /// What is wrong with them.
        damage: RecordDamage,
        /// Where records go on.
        next: u64,
    },
    /// Segments are missing between two others.
    Missing {
        /// Where the first of them should begin.
        position: u64,
        /// Where records go on.
        next: u64,
    },
    /// The end of the log.
    End {
        /// The position after the last record.
        position: u64,
        /// Bytes behind it that are not zero: a record torn by a crash. None where no record
        /// begins, since a segment that is used again still holds there what it was before.
        torn_bytes: u64,
    },
}

#[derive(Debug)]
struct Segment {
    base: u64,
    size: u64,
    /// Bytes from here on are a hole.
    data_end: u64,
    path: PathBuf,
    file: File,
}

/// Walks over the records of a commit log directory.
#[derive(Debug)]
pub struct LogWalk {
    segments: Vec<Segment>,
    index: usize,
    /// Where the next record begins in its segment.
    at: u64,
    window: Window,
    is_over: bool,
    /// Behind this position a record may be torn.
    flushed: u64,
}

impl LogWalk {
    /// Stands before the oldest record of the log in `dir`.
    ///
    /// # Errors
    /// The directory or a segment cannot be read.
    pub fn new(dir: &Path) -> Result<Self, StoreError> {
        let segments = list_segments(dir)?;
        let segments: Result<_, _> = segments.into_iter().map(Segment::open).collect();
        Ok(Self {
            segments: segments?,
            index: 0,
            at: 0,
            window: Window::default(),
            is_over: false,
            flushed: u64::MAX,
        })
    }

    /// Takes records behind this position for torn that recovery takes for torn.
    pub(crate) fn flushed_to(mut self, position: u64) -> Self {
        self.flushed = position;
        self
    }

    /// Where each segment begins, and its file.
    pub(super) fn segment_paths(&self) -> Vec<(u64, PathBuf)> {
        let segments = self.segments.iter();
        segments
            .map(|segment| (segment.base, segment.path.clone()))
            .collect()
    }

    /// Where the log begins.
    #[must_use]
    pub fn min_position(&self) -> u64 {
        self.segments.first().map_or(0, |first| first.base)
    }

    /// Bytes that a whole walk reads at most.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.data_end).sum()
    }

    /// Bytes walked over.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        let walked = self.segments.iter().take(self.index);
        walked.map(|segment| segment.data_end).sum::<u64>() + self.at
    }

    /// Goes to a position, which must be the start of a record or of a segment.
    ///
    /// # Errors
    /// Nothing begins there.
    pub fn seek(&mut self, position: u64) -> Result<(), StoreError> {
        let holds =
            |segment: &Segment| (segment.base..segment.base + segment.size).contains(&position);
        let Some(index) = self.segments.iter().position(holds) else {
            return Err(no_record(position, "no segment holds this position"));
        };
        (self.index, self.at, self.is_over) = (index, position - self.segments[index].base, false);
        match self.look() {
            Ok(_) => Ok(()),
            Err(_) if self.at == 0 => Ok(()),
            Err(Look::Damage(damage)) => Err(no_record(position, &damage.to_string())),
            Err(Look::Failed(error)) => Err(error),
        }
    }

    /// Takes the next step; `None` behind the end.
    ///
    /// # Errors
    /// A segment cannot be read.
    pub fn step(&mut self) -> Result<Option<Step<'_>>, StoreError> {
        if self.is_over {
            return Ok(None);
        }
        loop {
            let Some(segment) = self.segments.get(self.index) else {
                return Ok(Some(self.end(self.last_position(), 0)));
            };
            let position = segment.base + self.at;
            match self.look() {
                Ok(Found::Record(size)) => {
                    let at = self.at;
                    self.at += size;
                    let view = self.window.record(at, size);
                    return match view {
                        Ok(view) => Ok(Some(Step::Record(view))),
                        Err(_) => Err(no_record(position, "the segment changes while it is read")),
                    };
                }
                Ok(Found::Blank) => {
                    if let Some(missing) = self.next_segment() {
                        return Ok(Some(missing));
                    }
                }
                Err(Look::Damage(damage)) => return self.damaged(position, damage).map(Some),
                Err(Look::Failed(error)) => return Err(error),
            }
        }
    }

    fn last_position(&self) -> u64 {
        self.segments
            .last()
            .map_or(0, |segment| segment.base + segment.size)
    }

    fn end(&mut self, position: u64, torn_bytes: u64) -> Step<'static> {
        self.is_over = true;
        Step::End {
            position,
            torn_bytes,
        }
    }

    /// Goes to the start of the next segment, and tells of those missing before it.
    fn next_segment(&mut self) -> Option<Step<'static>> {
        let segment = &self.segments[self.index];
        let position = segment.base + segment.size;
        (self.index, self.at) = (self.index + 1, 0);
        let next = self.segments.get(self.index)?.base;
        (next != position).then_some(Step::Missing { position, next })
    }

    /// What lies where the walk stands.
    fn look(&mut self) -> Result<Found, Look> {
        let segment = &self.segments[self.index];
        let rest = segment.size.saturating_sub(self.at);
        let head = self.window.read(segment, self.at, BLANK_SIZE as u64)?;
        let Some((size, magic)) = head.first_chunk::<4>().zip(head.get(4..8)) else {
            return Err(Look::Damage(RecordDamage::Short));
        };
        let size = u64::from(u32::from_be_bytes(*size));
        if magic == MAGIC_BLANK.to_be_bytes() {
            return if size == rest {
                Ok(Found::Blank)
            } else {
                Err(Look::Damage(RecordDamage::Length))
            };
        }
        if magic[..3] != MAGIC_V1.to_be_bytes()[..3] {
            return Err(Look::Damage(RecordDamage::Magic));
        }
        if size > rest {
            return Err(Look::Damage(RecordDamage::Short));
        }
        let record = self.window.read(segment, self.at, size)?;
        let position = segment.base + self.at;
        let record = check_record(record, position, CrcProperty::Verified);
        match record.map_err(Look::Damage)? {
            torn if is_torn(&torn, self.at, self.flushed) => Err(Look::Damage(RecordDamage::Torn)),
            _ => Ok(Found::Record(size)),
        }
    }

    /// Finds where records go on behind a damaged place.
    fn damaged(
        &mut self,
        position: u64,
        damage: RecordDamage,
    ) -> Result<Step<'static>, StoreError> {
        let (index, at) = (self.index, self.at);
        let mut from = at + 1;
        while self.index < self.segments.len() {
            if let Some(found) = self.find_record(from)? {
                self.at = found;
                let next = self.segments[self.index].base + found;
                return Ok(Step::Damaged {
                    position,
                    damage,
                    next,
                });
            }
            self.index += 1;
            from = 0;
        }
        let segment = &self.segments[index];
        let head = self.window.read(segment, at, BLANK_SIZE as u64)?;
        let torn_bytes = if head.iter().all(|byte| *byte == 0) {
            0
        } else {
            self.window.count_written(segment, at)?
        };
        Ok(self.end(position, torn_bytes))
    }

    /// The first valid record of the segment that starts at or after `from`.
    fn find_record(&mut self, from: u64) -> Result<Option<u64>, StoreError> {
        // Both record magics share their first three bytes.
        let magic = &MAGIC_V1.to_be_bytes()[..3];
        let mut at = from;
        while at < self.segments[self.index].data_end {
            let segment = &self.segments[self.index];
            let size = WINDOW_SIZE.min(segment.data_end - at);
            let bytes = self.window.read(segment, at, size)?;
            let found: Vec<u64> = memchr::memmem::find_iter(bytes, magic)
                .filter_map(|found| (at + found as u64).checked_sub(MAGIC_AT as u64))
                .filter(|found| *found >= from)
                .collect();
            for candidate in found {
                self.at = candidate;
                match self.look() {
                    Ok(Found::Record(_)) => return Ok(Some(candidate)),
                    Err(Look::Failed(error)) => return Err(error),
                    Ok(Found::Blank) | Err(Look::Damage(_)) => {}
                }
            }
            // A magic may lie across the border of two windows.
            at += size.saturating_sub(magic.len() as u64).max(1);
        }
        Ok(None)
    }
}

enum Found {
    /// A valid record of this size, in the window.
    Record(u64),
    Blank,
}

enum Look {
    Damage(RecordDamage),
    Failed(StoreError),
}

impl From<StoreError> for Look {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

fn no_record(position: u64, reason: &str) -> StoreError {
    StoreError::Corrupt {
        position,
        reason: reason.into(),
    }
}

impl Segment {
    fn open(found: SegmentFile) -> Result<Self, StoreError> {
        let named = |error| StoreError::io(&found.path, error);
        let file = File::open(&found.path).map_err(named)?;
        let data_end = data_end(&file, 0, found.size).map_err(named)?;
        Ok(Self {
            base: found.base,
            size: found.size,
            data_end,
            path: found.path,
            file,
        })
    }
}

/// The bytes of a segment that were read last.
#[derive(Debug, Default)]
struct Window {
    base: u64,
    from: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// `size` bytes at `at`, fewer at the end of the file.
    fn read(&mut self, segment: &Segment, at: u64, size: u64) -> Result<&[u8], StoreError> {
        let end = self.from + self.bytes.len() as u64;
        let is_here = self.base == segment.base && at >= self.from && at + size <= end;
        if !is_here {
            self.fill(segment, at, size.max(WINDOW_SIZE))
                .map_err(|error| StoreError::io(&segment.path, error))?;
        }
        Ok(self.slice(at, size))
    }

    #[allow(clippy::cast_possible_truncation)] // inside the window
    fn slice(&self, at: u64, size: u64) -> &[u8] {
        let start = (at - self.from) as usize;
        let end = start.saturating_add(size as usize).min(self.bytes.len());
        self.bytes.get(start..end).unwrap_or_default()
    }

    /// The record that was looked at last.
    fn record(&self, at: u64, size: u64) -> Result<RecordView<'_>, RecordDamage> {
        RecordView::parse(self.slice(at, size))
    }

    fn fill(&mut self, segment: &Segment, at: u64, size: u64) -> io::Result<()> {
        let size = size.min(segment.size.saturating_sub(at));
        (self.base, self.from) = (segment.base, at);
        self.bytes
            .resize(usize::try_from(size).unwrap_or(usize::MAX), 0);
        let mut filled = 0;
        while filled < self.bytes.len() {
            match segment
                .file
                .read_at(&mut self.bytes[filled..], at + filled as u64)
            {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.bytes.clear();
                    return Err(error);
                }
            }
        }
        self.bytes.truncate(filled);
        Ok(())
    }

    /// Counts the bytes from `at` on that are not zero.
    fn count_written(&mut self, segment: &Segment, mut at: u64) -> Result<u64, StoreError> {
        let mut count = 0;
        while at < segment.data_end {
            let size = WINDOW_SIZE.min(segment.data_end - at);
            let bytes = self.read(segment, at, size)?;
            count += bytes.iter().filter(|byte| **byte != 0).count() as u64;
            at += size;
        }
        Ok(count)
    }
}
