//! Making touched queues durable, each by itself or all of them at once.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use crate::error::StoreError;
use crate::files::{sync_dir, sync_file_system};
use crate::queue::SharedQueue;

/// More touched queues than this are flushed by one sync of their file system: each file on its
/// own costs a journal commit, which for 10 000 queues adds up to many seconds.
pub(crate) const FLUSHED_SINGLY_COUNT_MAX: usize = 128;

/// Flushes queues, then the directories of files they created.
pub(crate) fn flush_queues(queues: &[Arc<SharedQueue>], dir: &Path) -> Result<(), StoreError> {
    if queues.len() > FLUSHED_SINGLY_COUNT_MAX {
        let ends: Vec<u64> = queues.iter().map(|queue| queue.end_bytes()).collect();
        sync_file_system(dir)?;
        for (queue, end) in queues.iter().zip(ends) {
            queue.assume_flushed(end);
        }
        return Ok(());
    }
    let mut dirs = BTreeSet::new();
    let mut grown = Vec::new();
    for queue in queues {
        queue.flush()?;
        if queue.take_new_file() {
            grown.push(queue);
            // The queue's, its topic's and that of all queues.
            let made = queue.dir().ancestors().take(3);
            dirs.extend(made.map(Path::to_path_buf));
        }
    }
    let synced = dirs.iter().try_for_each(|dir| match sync_dir(dir) {
        // Its topic was deleted meanwhile.
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(()),
        synced => synced,
    });
    if synced.is_err() {
        for queue in grown {
            queue.note_new_file();
        }
    }
    synced
}
