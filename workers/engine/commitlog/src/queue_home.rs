//! Where the files of queues are.

use std::path::{Path, PathBuf};

/// Where the files of queues are, and how large.
#[derive(Debug, Clone)]
pub(crate) struct QueueHome {
    dir: PathBuf,
    file_size: u64,
    first_offset: u64,
}

impl QueueHome {
    pub(crate) fn new(dir: PathBuf, file_size: u64) -> Self {
        Self {
            dir,
            file_size,
            first_offset: 0,
        }
    }

    /// Has a queue begin at another offset than 0.
    pub(crate) fn with_first_offset(self, first_offset: u64) -> Self {
        Self {
            first_offset,
            ..self
        }
    }

    /// Offset of the first message of a new queue.
    pub(crate) fn first_offset(&self) -> u64 {
        self.first_offset
    }

    /// Directory of all topics.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn file_size(&self) -> u64 {
        self.file_size
    }

    /// Where queues lie that are gone, until [`crate::Store::expire`] removes them.
    pub(crate) fn removed(&self) -> PathBuf {
        self.dir.with_file_name("removed")
    }

    /// Where the files of a queue are.
    pub(crate) fn queue_dir(&self, topic: &str, queue_id: i32) -> PathBuf {
        self.dir.join(topic).join(queue_id.to_string())
    }
}
