//! Looking at a store's files from outside: nothing is written, mapped, locked or repaired.
//!
//! For tools. Files are read in windows, so that one which changes or shrinks meanwhile is an
//! odd answer or an error, never a signal.

mod control;
mod dump;
mod finding;
mod index;
mod index_file;
mod layout;
mod queue_sizes;
mod queues;
mod survey;
mod walk;

pub use control::CheckpointSurvey;
pub use dump::{IndexedKey, read_index, walk_log};
pub use finding::{Finding, FindingKind};
pub use index::IndexSurvey;
pub use queues::QueueSurvey;
pub use survey::Survey;
pub use walk::{LogWalk, Step};
