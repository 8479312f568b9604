//! The write limit: a position that no record of the log lies behind (FORMAT.md 5.1).
//!
//! What a segment that is used again was before goes on behind what is cleared of it, and a body of that
//! time can hold what is a valid record at its new place. So the mark of an unclean stop says how far
//! the writer may have come, before it goes on there. It is for the same run of the system only, whose
//! page cache has both the mark and the log, and so need not reach the disk.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::error::StoreError;
use crate::failpoint::{Step, step};

/// The place of the limit in the mark, which is written over in one piece.
#[derive(Debug)]
pub(crate) struct WriteLimit {
    pub(crate) path: PathBuf,
    pub(crate) mark: File,
    /// Where its line begins.
    pub(crate) at: u64,
}

impl WriteLimit {
    /// Its line in the mark, which is always of one length.
    pub(crate) fn line(position: u64) -> String {
        format!("{position:020}\n")
    }

    /// Moves it forward; only then may something be written up to there.
    pub(crate) fn raise(&self, position: u64) -> Result<(), StoreError> {
        let line = Self::line(position);
        step(Step::Write, &self.path, || {
            self.mark.write_all_at(line.as_bytes(), self.at)
        })
        .map_err(|error| StoreError::io(&self.path, error))
    }
}

/// Up to where records are searched behind a place that none begins at. A log that goes on behind a
/// limit tells that it is wrong.
pub(crate) fn search_end(limit: Option<u64>, position: u64) -> u64 {
    let limit = limit.filter(|limit| position <= *limit);
    limit.unwrap_or(u64::MAX)
}
