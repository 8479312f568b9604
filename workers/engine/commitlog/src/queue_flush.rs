//! Making touched queues durable, file by file: so the store learns of every error, also of one that another
//! process on the file system has seen.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::panic::resume_unwind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};

use crate::error::StoreError;
use crate::files::sync_dir;
use crate::native::spawn_native_in;
use crate::queue::SharedQueue;

/// Each call flushes so many queues of a round at least.
const FLUSHED_AT_ONCE_MIN: usize = 128;

/// The threads that help with many files. The file system commits its journal once for fsyncs that run at
/// the same time: four threads take an eighth of the time of one.
const HELPER_COUNT: usize = 3;
/// So many files are worth a thread.
const FILES_PER_THREAD: usize = 32;

/// The queues that were touched before one log position. They go to the disk in parts, spread over the flush
/// interval.
#[derive(Debug)]
pub(crate) struct FlushRound {
    /// Not flushed yet.
    left: Vec<Arc<SharedQueue>>,
    count: usize,
    began_at_ms: i64,
    /// Store time of the last record before the position.
    pub(crate) timestamp_ms: i64,
    /// Entries of records before it are durable once the round is over.
    pub(crate) position: u64,
}

impl FlushRound {
    pub(crate) fn new(
        touched: Vec<Arc<SharedQueue>>,
        (timestamp_ms, position): (i64, u64),
        began_at_ms: i64,
    ) -> Self {
        Self {
            count: touched.len(),
            left: touched,
            began_at_ms,
            timestamp_ms,
            position,
        }
    }

    /// The queues that are not flushed yet.
    pub(crate) fn into_left(self) -> Vec<Arc<SharedQueue>> {
        self.left
    }

    /// Flushes those whose turn has come at a time; returns whether none is left.
    pub(crate) fn flush_due(&mut self, now_ms: i64, interval_ms: i64) -> Result<bool, StoreError> {
        let elapsed_ms = now_ms.saturating_sub(self.began_at_ms);
        let elapsed_ms = elapsed_ms.clamp(0, interval_ms).unsigned_abs();
        let share = self.count as u128 * u128::from(elapsed_ms);
        let due = share.div_ceil(u128::from(interval_ms.unsigned_abs().max(1)));
        let due = usize::try_from(due).unwrap_or(self.count);
        let flushed = self.count - self.left.len();
        let part = due.saturating_sub(flushed).max(FLUSHED_AT_ONCE_MIN);
        self.flush(part)?;
        Ok(self.left.is_empty())
    }

    /// Flushes all of the rest.
    pub(crate) fn flush_all(&mut self) -> Result<(), StoreError> {
        self.flush(self.left.len())
    }

    /// Flushes so many queues, or none: after an error they are still left.
    fn flush(&mut self, count: usize) -> Result<(), StoreError> {
        let kept = self.left.len().saturating_sub(count);
        flush_queues(&self.left[kept..])?;
        self.left.truncate(kept);
        Ok(())
    }
}

/// Flushes queues, then the directories of files they created.
pub(crate) fn flush_queues(queues: &[Arc<SharedQueue>]) -> Result<(), StoreError> {
    at_the_same_time(queues, |queue| queue.flush())?;
    let has_grown = |queue: &&Arc<SharedQueue>| queue.take_new_file();
    let grown: Vec<_> = queues.iter().filter(has_grown).collect();
    let dirs: BTreeSet<PathBuf> = grown.iter().flat_map(|queue| dirs_of(queue)).collect();
    let dirs: Vec<_> = dirs.into_iter().collect();
    let synced = at_the_same_time(&dirs, |dir| unless_gone(sync_dir(dir)));
    if synced.is_err() {
        for queue in grown {
            queue.note_new_file();
        }
    }
    synced
}

/// The outcome of a sync of a queue's file or directory, which may be gone: its topic was deleted meanwhile.
pub(crate) fn unless_gone(synced: Result<(), StoreError>) -> Result<(), StoreError> {
    match synced {
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(()),
        synced => synced,
    }
}

/// The directories that may have been made with a queue's files: those of the queue, its topic and all queues.
pub(crate) fn dirs_of(queue: &SharedQueue) -> impl Iterator<Item = PathBuf> {
    queue.dir().ancestors().take(3).map(Path::to_path_buf)
}

/// Waits for the disk for each of many things, for some of them at the same time; returns the first error
/// of one of the threads.
pub(crate) fn at_the_same_time<T: Sync>(
    things: &[T],
    wait: impl Fn(&T) -> Result<(), StoreError> + Sync,
) -> Result<(), StoreError> {
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(thing) = things.get(next.fetch_add(1, Ordering::Relaxed)) {
            wait(thing)?;
        }
        Ok(())
    };
    let helper_count = HELPER_COUNT.min(things.len() / FILES_PER_THREAD);
    thread::scope(|scope| {
        // Without a thread the others do its work.
        let begin = |_| spawn_native_in(scope, "queue-flush", work).ok();
        let helpers: Vec<_> = (0..helper_count).map_while(begin).collect();
        let end =
            |helper: ScopedJoinHandle<'_, _>| helper.join().unwrap_or_else(|it| resume_unwind(it));
        let own = work();
        let others = helpers.into_iter().map(end);
        others.fold(own, Result::and)
    })
}
