//! Looking at a store's files from outside: nothing is written, mapped, locked or repaired.
//!
//! For tools. Files are read in windows, so that one which changes or shrinks meanwhile is an
//! odd answer or an error, never a signal.

mod queues;
mod survey;
mod walk;

pub use survey::{Finding, FindingKind, QueueSurvey, Survey};
pub use walk::{LogWalk, Step};
