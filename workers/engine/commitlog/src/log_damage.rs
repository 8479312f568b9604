//! Where the records of a log are damaged (D13).

use std::fmt;

use crate::record::RecordDamage;

/// The first damage in a log; it makes the store read-only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogDamage {
    /// Position of the first damaged record.
    pub position: u64,
    /// What is wrong there.
    pub kind: RecordDamage,
    /// Where valid records go on; `None` when they do not, yet the log was flushed further.
    pub next_valid_position: Option<u64>,
}

impl fmt::Display for LogDamage {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "damaged at log position {}", self.position)?;
        match self.next_valid_position {
            Some(next) => write!(out, " ({}; valid records go on at {next})", self.kind),
            None => write!(out, " ({}; the log was flushed further)", self.kind),
        }
    }
}
