//! What stock writes and this store can't serve: batch queues, light queues and inner batches.
//!
//! A record of such a kind takes up other queue offsets than one of a plain queue. A store that holds
//! one is refused before anything in it is changed, and so is the record where a replica copies it.

use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::files::list;
use crate::record::{RecordView, is_inner_batch};

/// Names of light queues begin with it. Their records belong to other topics.
pub(crate) const LIGHT_PREFIX: &str = "%LMQ%";

/// Refuses a store directory with queues that only stock serves (storage-and-ha.md 3.5, 3.7).
///
/// # Errors
/// [`StoreError::UnservedQueues`], which names the directory.
pub(crate) fn refuse_queues(root: &Path) -> Result<(), StoreError> {
    let refused = |path, kind| Err(StoreError::UnservedQueues { path, kind });
    let batch_queues = root.join("batchconsumequeue");
    if holds_files(&batch_queues)? {
        return refused(batch_queues, "batch");
    }
    let is_light = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        name.to_string_lossy().starts_with(LIGHT_PREFIX)
    };
    for path in list(&root.join("consumequeue"))?
        .into_iter()
        .filter(is_light)
    {
        if holds_files(&path)? {
            return refused(path, "light");
        }
    }
    Ok(())
}

/// Whether a file lies anywhere below a path.
fn holds_files(path: &Path) -> Result<bool, StoreError> {
    if !path.is_dir() {
        return Ok(path.exists());
    }
    for inner in list(path)? {
        if holds_files(&inner)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Refuses a record that holds several messages (storage-and-ha.md 2.11).
///
/// # Errors
/// [`StoreError::InnerBatch`].
pub(crate) fn refuse_inner_batch(record: &RecordView<'_>) -> Result<(), StoreError> {
    if !is_inner_batch(record.sys_flag) {
        return Ok(());
    }
    Err(StoreError::InnerBatch {
        position: record.log_position,
        topic: String::from_utf8_lossy(record.topic).into_owned(),
    })
}
