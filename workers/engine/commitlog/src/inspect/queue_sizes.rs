//! The sizes of queue files, which are all of one setting: with another no broker opens the store.

use std::path::{Path, PathBuf};

use ahash::AHashMap;

use super::finding::{FindingKind, Findings};
use crate::error::StoreError;
use crate::files::list_segments;
use crate::message::QUEUE_ID_MAX;
use crate::queue_layout::Layout;
use crate::queue_rebuild::list_by_layout;
use crate::stored_queue::QueueFiles;
use crate::table::{QueueHomes, is_legal_topic};

/// Names queue files that the next start of a store that is not in use refuses. What the setting is
/// they tell themselves: it is the size that most of them have.
pub(super) fn check(
    root: &Path,
    is_clean: bool,
    findings: &mut Findings,
) -> Result<(), StoreError> {
    let mut homes = QueueHomes {
        plain: (root.join("consumequeue"), 0),
        batch: (root.join("batchconsumequeue"), 0),
    };
    let Some(mut queues) = told(list_by_layout(&homes), findings)? else {
        return Ok(());
    };
    // Others no store looks at.
    queues.retain(|(topic, queue_id, _)| {
        is_legal_topic(topic) && (0..=QUEUE_ID_MAX).contains(queue_id)
    });
    let dirs = |wanted: Layout| {
        let queues = queues.iter().filter(move |queue| queue.2 == wanted);
        queues.map(|(topic, queue_id, layout)| homes.queue_dir(*layout, topic, *queue_id))
    };
    let plain_size = usual_size(dirs(Layout::Plain), is_clean)?;
    let batch_size = usual_size(dirs(Layout::Batch), is_clean)?;
    (homes.plain.1, homes.batch.1) = (plain_size, batch_size);
    for (topic, queue_id, layout) in &queues {
        let dir = homes.queue_dir(*layout, topic, *queue_id);
        told(
            QueueFiles::find(dir, *layout, homes.file_size(*layout), is_clean),
            findings,
        )?;
    }
    Ok(())
}

/// Notes a file that is refused; `None` then.
fn told<T>(
    looked: Result<T, StoreError>,
    findings: &mut Findings,
) -> Result<Option<T>, StoreError> {
    match looked {
        Err(StoreError::UnexpectedFile { path, reason }) => {
            findings.add_in_file(FindingKind::OddQueueFile, (path, 0), 0, reason);
            Ok(None)
        }
        looked => looked.map(Some),
    }
}

/// The size that most files have. The last one of a queue counts only where there is no other, and after
/// a crash, which may have cut it short, the largest of these tells.
fn usual_size(dirs: impl Iterator<Item = PathBuf>, is_clean: bool) -> Result<u64, StoreError> {
    let mut counts: AHashMap<u64, (u64, u64)> = AHashMap::new();
    for dir in dirs {
        let files = list_segments(&dir)?;
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
