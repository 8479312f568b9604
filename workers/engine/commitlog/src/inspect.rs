//! Looking at a store's files from outside: nothing is written, mapped, locked or repaired.
//!
//! For tools. Files are read in windows, so that one which changes or shrinks meanwhile is an
//! odd answer or an error, never a signal.

mod queue_survey;
mod queues;
mod survey;
mod walk;

pub use queue_survey::QueueSurvey;
pub use survey::{Finding, FindingKind, Survey};
pub use walk::{LogWalk, Step};
