//! A walk over the log's segments, record by record.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::log_end::LogEnd;
use crate::record::CrcProperty;
use crate::record::is_torn;
use crate::record::{
    BLANK_SIZE, MAGIC_BLANK, MAGIC_V1, RecordDamage, RecordView, check_record, claimed_size,
};

mod damage;
mod segments;

use segments::{Segment, Segments};

/// What a walk meets.
#[derive(Debug)]
pub enum Step<'a> {
    /// A valid record, its checksum included.
    Record(RecordView<'a>),
    /// A record whose body has the right checksum, but whose last property looks like a checksum of
    /// the whole record and is wrong. A store without the CRC property serves the record, since the
    /// sender may have made that property up.
    WrongCrc(RecordView<'a>),
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
    /// A segment whose file is gone since the walk began: it has expired.
    Expired {
        /// Where the walk was to go on.
        position: u64,
        /// Where it goes on.
        next: u64,
    },
    /// The end of the log.
    End {
        /// The position after the last record.
        position: u64,
        /// Bytes behind it that are not zero: a record torn by a crash. None where no record begins.
        torn_bytes: u64,
    },
}

/// Walks over the records of a commit log directory, which a broker may be writing.
///
/// Such a walk ends where it sees the end of the log, even if the broker goes on behind it: a walk
/// that went after a broker would come to its end only when that does.
#[derive(Debug)]
pub struct LogWalk {
    segments: Segments,
    index: usize,
    /// Where the next record begins in its segment.
    at: u64,
    /// Bytes of the segments before this one.
    walked: u64,
    is_over: bool,
    /// Whether it has met damage.
    is_damaged: bool,
    /// What the next start knows of the log's end.
    expected: LogEnd,
    crc_property: CrcProperty,
}

impl LogWalk {
    /// Stands before the oldest record of the log in `dir`.
    ///
    /// # Errors
    /// The directory cannot be read.
    pub fn new(dir: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            segments: Segments::list(dir)?,
            index: 0,
            at: 0,
            walked: 0,
            is_over: false,
            is_damaged: false,
            expected: LogEnd::unknown(u64::MAX),
            crc_property: CrcProperty::Off,
        })
    }

    /// Looks how much is written of each segment, for who wants to know what a whole walk reads.
    pub(crate) fn measured(mut self) -> Result<Self, StoreError> {
        self.segments.measure()?;
        Ok(self)
    }

    /// Takes a record for damaged if a store with this setting finds its CRC property wrong. A
    /// store without the property never does, and the walk gives [`Step::WrongCrc`].
    pub(crate) fn judging_by(mut self, crc_property: CrcProperty) -> Self {
        self.crc_property = crc_property;
        self
    }

    /// Judges invalid and torn records as the next start does.
    pub(crate) fn ending_as(mut self, expected: LogEnd) -> Self {
        self.expected = expected;
        self
    }

    /// Where each segment begins, and its file.
    pub(super) fn segment_paths(&self) -> Vec<(u64, PathBuf)> {
        let segments = self.segments.all().iter();
        segments
            .map(|segment| (segment.base, segment.path.clone()))
            .collect()
    }

    /// Where the log begins.
    #[must_use]
    pub fn min_position(&self) -> u64 {
        self.segments.all().first().map_or(0, |first| first.base)
    }

    /// Bytes that a whole walk reads at most.
    #[must_use]
    pub fn total_bytes(&self) -> u64 {
        self.segments
            .all()
            .iter()
            .map(|segment| segment.data_end)
            .sum()
    }

    /// Bytes walked over.
    #[must_use]
    pub fn done_bytes(&self) -> u64 {
        self.walked + self.at
    }

    /// Goes to a position, which must be the start of a record or of a segment.
    ///
    /// # Errors
    /// Nothing begins there.
    pub fn seek(&mut self, position: u64) -> Result<(), StoreError> {
        let holds =
            |segment: &Segment| (segment.base..segment.base + segment.size).contains(&position);
        let Some(index) = self.segments.all().iter().position(holds) else {
            return Err(no_record(position, "no segment holds this position"));
        };
        self.go_to(index, position - self.segments.all()[index].base);
        self.is_over = false;
        match self.look() {
            Ok(_) => Ok(()),
            Err(_) if self.at == 0 => Ok(()),
            Err(Look::Damage(damage, _)) => Err(no_record(position, &damage.to_string())),
            Err(Look::Failed(error)) => Err(error),
        }
    }

    fn go_to(&mut self, index: usize, at: u64) {
        if index != self.index {
            let before = self.segments.all().iter().take(index);
            self.walked = before.map(|segment| segment.data_end).sum();
        }
        (self.index, self.at) = (index, at);
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
            if !self.segments.open(self.index)? {
                return Ok(Some(self.expired(position)));
            }
            match self.look() {
                Ok(Found::Record { size, crc_fits }) => {
                    let at = self.at;
                    self.at += size;
                    return match RecordView::parse(self.segments.seen(at, size)) {
                        Ok(view) if crc_fits => Ok(Some(Step::Record(view))),
                        Ok(view) => Ok(Some(Step::WrongCrc(view))),
                        Err(_) => Err(no_record(position, "the segment changes while it is read")),
                    };
                }
                Ok(Found::Blank) => {
                    if let Some(missing) = self.next_segment() {
                        return Ok(Some(missing));
                    }
                }
                Err(Look::Damage(..)) if self.segments.is_stale()? => {
                    return Ok(Some(self.expired(position)));
                }
                Err(Look::Damage(_, claimed)) => {
                    if let Some(step) = self.damaged(position, claimed)? {
                        return Ok(Some(step));
                    }
                }
                Err(Look::Failed(error)) => return Err(error),
            }
        }
    }

    fn last_position(&self) -> u64 {
        self.segments.all().last().map_or(0, Segment::end)
    }

    fn end(&mut self, position: u64, torn_bytes: u64) -> Step<'static> {
        self.is_over = true;
        Step::End {
            position,
            torn_bytes,
        }
    }

    /// Passes the segment whose file is gone.
    fn expired(&mut self, position: u64) -> Step<'static> {
        self.go_to(self.index + 1, 0);
        let next = self.segments.get(self.index);
        let next = next.map_or_else(|| self.last_position(), |segment| segment.base);
        Step::Expired { position, next }
    }

    /// Goes to the start of the next segment; returns a step if segments are missing before it.
    fn next_segment(&mut self) -> Option<Step<'static>> {
        let position = self.segments.get(self.index)?.end();
        self.go_to(self.index + 1, 0);
        let next = self.segments.get(self.index)?.base;
        (next != position).then_some(Step::Missing { position, next })
    }

    /// What lies where the walk stands.
    fn look(&mut self) -> Result<Found, Look> {
        let (index, at) = (self.index, self.at);
        let Some(segment) = self.segments.get(index) else {
            return Err(Look::Damage(RecordDamage::Short, 1));
        };
        let (rest, position) = (segment.size.saturating_sub(at), segment.base + at);
        let head = self.segments.read(index, at, BLANK_SIZE as u64)?;
        let Some((size, magic)) = head.first_chunk::<4>().zip(head.get(4..8)) else {
            return Err(Look::Damage(RecordDamage::Short, 1));
        };
        let size = u64::from(u32::from_be_bytes(*size));
        if magic == MAGIC_BLANK.to_be_bytes() {
            return if size == rest {
                Ok(Found::Blank)
            } else {
                Err(Look::Damage(RecordDamage::Length, 1))
            };
        }
        if magic[..3] != MAGIC_V1.to_be_bytes()[..3] {
            return Err(Look::Damage(RecordDamage::Magic, 1));
        }
        if size > rest {
            return Err(Look::Damage(RecordDamage::Short, 1));
        }
        let (flushed, rule) = (self.expected.flushed(), self.crc_property);
        let bytes = self.segments.read(index, at, size)?;
        let claimed = |damage| Look::Damage(damage, claimed_size(bytes, position) as u64);
        let (record, crc_fits) = judge(bytes, position, rule).map_err(claimed)?;
        if is_torn(&record, at, flushed) {
            return Err(Look::Damage(RecordDamage::Torn, size));
        }
        Ok(Found::Record { size, crc_fits })
    }
}

/// Validates the record at `position`, and says whether its CRC property fits, if it has one.
fn judge(
    bytes: &[u8],
    position: u64,
    rule: CrcProperty,
) -> Result<(RecordView<'_>, bool), RecordDamage> {
    if rule != CrcProperty::Off {
        return check_record(bytes, position, rule).map(|record| (record, true));
    }
    match check_record(bytes, position, CrcProperty::Verified) {
        Err(RecordDamage::RecordCrc) => {
            check_record(bytes, position, CrcProperty::Off).map(|record| (record, false))
        }
        found => found.map(|record| (record, true)),
    }
}

enum Found {
    /// A valid record of this size, in the window.
    Record {
        size: u64,
        crc_fits: bool,
    },
    Blank,
}

enum Look {
    /// With how many bytes from there on are no other record's.
    Damage(RecordDamage, u64),
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
