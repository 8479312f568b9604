//! The mark of an unclean stop (FORMAT.md 1).

use std::fs;
use std::io;
use std::path::Path;

use crate::config::FlushMode;
use crate::error::StoreError;
use crate::system_run::is_same_run;

/// Stands in place of a run of the system once a flush has failed.
const UNFLUSHED: &str = "unflushed";
const ASYNC: &str = "asynchronous";
const SYNC: &str = "synchronous";
/// Line that names the run of the system, and the one that says when messages are acknowledged.
const RUN_LINE: usize = 1;
const MODE_LINE: usize = 2;

/// The text of a mark, which any program may have written.
#[derive(Debug)]
pub(crate) struct Mark(String);

/// How the user of a marked store stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The process was killed: the page cache has all that it wrote.
    Killed,
    /// The page cache is gone, as after a power cut.
    PowerCut(FlushMode),
    /// The mark does not say how: another program wrote it, or a flush failed.
    Unknown,
}

impl Mark {
    /// Reads the mark; `None` after a clean stop. A mark that can't be read is an error. A store
    /// that took it for absent, or for a silent one, would trust what no disk may have.
    pub(crate) fn find(path: &Path) -> Result<Option<Self>, StoreError> {
        match fs::read(path) {
            Ok(bytes) => Ok(Some(Self(String::from_utf8_lossy(&bytes).into_owned()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io(path, error)),
        }
    }

    /// The mark of this process in a run of the system, if anything names that.
    pub(crate) fn text(run: Option<&str>, flush_mode: FlushMode) -> String {
        let mode = match flush_mode {
            FlushMode::Async => ASYNC,
            FlushMode::Sync => SYNC,
        };
        let silent = Self::silent_text();
        run.map_or(silent.clone(), |run| format!("{silent}\n{run}\n{mode}\n"))
    }

    /// A mark of this process that says nothing but its number, as that of stock does.
    pub(crate) fn silent_text() -> String {
        std::process::id().to_string()
    }

    /// The mark of this process once a flush has failed.
    pub(crate) fn text_of_failed_flush() -> String {
        format!("{}\n{UNFLUSHED}\n", Self::silent_text())
    }

    #[cfg(test)]
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Whether a flush failed since the store was opened last.
    pub(crate) fn has_failed_flush(&self) -> bool {
        self.line(RUN_LINE) == Some(UNFLUSHED)
    }

    /// How the store was left, for one who opens it in the run `now`. Where nothing names that run, it may
    /// be the same one.
    pub(crate) fn stop(&self, now: Option<&str>) -> Stop {
        let noted = self.run().zip(self.flush_mode());
        match noted.zip(now) {
            Some(((run, _), now)) if is_same_run(run, now) => Stop::Killed,
            Some(((_, flush_mode), _)) => Stop::PowerCut(flush_mode),
            None => Stop::Unknown,
        }
    }

    /// Where a former version may have written records at most, see [`former`](crate::former).
    pub(crate) fn former_write_limit(&self) -> Option<u64> {
        let line = self.line(MODE_LINE)?;
        (line.len() == 20).then(|| line.parse().ok())?
    }

    fn run(&self) -> Option<&str> {
        self.line(RUN_LINE).filter(|run| *run != UNFLUSHED)
    }

    /// A former version wrote a number where messages waited for the disk.
    fn flush_mode(&self) -> Option<FlushMode> {
        match self.line(MODE_LINE)? {
            ASYNC => Some(FlushMode::Async),
            SYNC => Some(FlushMode::Sync),
            _ => self.former_write_limit().map(|_| FlushMode::Sync),
        }
    }

    fn line(&self, number: usize) -> Option<&str> {
        self.0.lines().nth(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_says_how_its_store_was_left() {
        use FlushMode::{Async, Sync};
        use Stop::{Killed, PowerCut, Unknown};
        for (text, stop) in [
            ("1\nboot 7\nasynchronous\n", Killed),
            ("1\nboot 7\nsynchronous\n", Killed),
            ("1\nother 7\nasynchronous\n", PowerCut(Async)),
            ("1\nother 7\nsynchronous\n", PowerCut(Sync)),
            ("1\nboot 8\nasynchronous\n", PowerCut(Async)),
            ("1\nboot 8\nsynchronous\n", PowerCut(Sync)),
            // Of former versions, which named no file system.
            ("1\nboot\nasynchronous\n", Killed),
            ("1\nboot\n00000000000000004096\n", Killed),
            ("1\nother\n00000000000000004096\n", PowerCut(Sync)),
            ("1\nboot 7\n4096\n", Unknown),
            ("1\nunflushed\n", Unknown),
            ("1\nunflushed\nasynchronous\n", Unknown),
            ("1\nboot 7\n", Unknown),
            ("1", Unknown),
            ("", Unknown),
        ] {
            let mark = Mark(text.to_owned());
            assert_eq!(mark.stop(Some("boot 7")), stop, "{text:?}");
            assert_eq!(mark.stop(None), Unknown, "{text:?}");
        }
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        for flush_mode in [FlushMode::Async, FlushMode::Sync] {
            let mark = Mark(Mark::text(Some("boot 7"), flush_mode));
            assert_eq!(mark.stop(Some("boot 8")), Stop::PowerCut(flush_mode));
            let silent = Mark(Mark::text(None, flush_mode));
            assert_eq!(silent.stop(Some("boot 7")), Stop::Unknown);
        }
        assert!(Mark(Mark::text_of_failed_flush()).has_failed_flush());
    }
}
