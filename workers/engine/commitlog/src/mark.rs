//! The mark of an unclean stop as who opens a store finds it (FORMAT.md 1).

use std::fs;
use std::io;
use std::path::Path;

use crate::error::StoreError;
use crate::spares::boot_id;

/// What it says instead of a run of the system once a flush has failed.
pub(crate) const UNFLUSHED: &str = "unflushed";
/// What it says in the line behind the run where messages are acknowledged before they are flushed.
pub(crate) const ASYNC: &str = "asynchronous";
/// Line that names the run of the system, and the one that says the write limit.
const RUN_LINE: usize = 1;
const LIMIT_LINE: usize = 2;

/// The text of a mark, which anybody may have written.
#[derive(Debug)]
pub(crate) struct Mark(String);

impl Mark {
    /// Reads the mark; `None` after a clean stop. One that can't be read is an error: whoever took it for
    /// absent, or for one that says nothing, would trust what no disk may have.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, StoreError> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(Self(String::from_utf8_lossy(&bytes).into_owned()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(path, error)),
        }
    }

    /// Which run of the system it is of, if its writer told: stock, which may have written over the mark,
    /// does not. No run at all where a flush failed.
    pub(crate) fn run(&self) -> Option<&str> {
        self.0.lines().nth(RUN_LINE)
    }

    /// Whether a flush failed since the store was opened last.
    pub(crate) fn has_failed_flush(&self) -> bool {
        self.run() == Some(UNFLUSHED)
    }

    /// The run of the system, if messages were acknowledged before they were flushed in it.
    pub(crate) fn asynchronous_run(&self) -> Option<&str> {
        let mut lines = self.0.lines().skip(RUN_LINE);
        let run = lines.next().filter(|run| *run != UNFLUSHED)?;
        (lines.next() == Some(ASYNC)).then_some(run)
    }

    /// Whether the system went down since the run that it names, in which messages were acknowledged before
    /// they were flushed: so what was not flushed may be gone in parts.
    pub(crate) fn has_lost_unflushed(&self) -> bool {
        // Where nothing names this run of the system, it may be the same one.
        let run = self.asynchronous_run();
        run.is_some_and(|run| boot_id().is_some_and(|now| now != run))
    }

    /// The write limit, if it is of this run of the system.
    pub(crate) fn write_limit(&self) -> Option<u64> {
        let limit = self.0.lines().nth(LIMIT_LINE)?.parse().ok();
        limit.filter(|_| boot_id().as_deref() == self.run())
    }
}
