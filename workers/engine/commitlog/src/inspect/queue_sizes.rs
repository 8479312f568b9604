//! The sizes of queue files, which are all of one setting: with another no broker opens the store.

use std::path::{Path, PathBuf};

use ahash::AHashMap;

use super::finding::{FindingKind, Findings};
use crate::error::StoreError;
use crate::files::list_segments;
use crate::message::QUEUE_ID_MAX;
use crate::stored_queue::{QueueFiles, list_queues};
use crate::table::is_legal_topic;

/// Names queue files that the next start refuses; the store must not be in use. The setting follows
/// from the files themselves: it is the size that most of them have.
pub(super) fn check(
    root: &Path,
    is_clean: bool,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let queues_dir = root.join("consumequeue");
    let mut dirs = Vec::new();
    for (topic, queue_id) in list_queues(&queues_dir)? {
        // No store looks at others.
        if is_legal_topic(&topic) && (0..=QUEUE_ID_MAX).contains(&queue_id) {
            dirs.push(queues_dir.join(topic).join(queue_id.to_string()));
        }
    }
    let file_size = usual_size(&dirs, is_clean)?;
    for dir in dirs {
        match QueueFiles::find(dir, file_size, is_clean) {
            Err(StoreError::UnexpectedFile { path, reason }) => {
                findings.add_in_file(FindingKind::OddQueueFile, (path, 0), 0, reason);
            }
            looked => drop(looked?),
        }
    }
    Ok(())
}

/// The size that most files have. The last file of a queue counts only where there is no other.
/// After a crash, which may have cut such files short, the largest of them decides.
fn usual_size(dirs: &[PathBuf], is_clean: bool) -> Result<u64, StoreError> {
    let mut counts: AHashMap<u64, (u64, u64)> = AHashMap::new();
    for dir in dirs {
        let files = list_segments(dir)?;
        for (number, file) in (1..).zip(&files).filter(|(_, file)| file.size > 0) {
            let (whole, last) = counts.entry(file.size).or_default();
            if number < files.len() {
                *whole += 1;
            } else {
                *last += u64::from(is_clean);
            }
        }
    }
    let usual = counts
        .into_iter()
        .max_by_key(|(size, count)| (*count, *size));
    Ok(usual.map_or(0, |(size, _)| size))
}
