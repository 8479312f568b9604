//! A store: opening, flushing, closing, and what all its parts share.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use parking_lot::Mutex;

use crate::checkpoint::{Checkpoint, CheckpointFile};
use crate::config::{FlushMode, StoreConfig};
use crate::directory::StoreDirectory;
use crate::error::StoreError;
use crate::files::{sync_dir, sync_file_system};
use crate::log::{LogWriter, SharedLog};
use crate::message::{Counters, QueueRange, Traffic};
use crate::prepare::SegmentPlan;
use crate::queue::{ENTRY_SIZE, SharedQueue};
use crate::recovery::{RecoveryReport, recover};
use crate::table::{QueueTable, SharedQueues};

const OPEN: u8 = 0;
const POISONED: u8 = 1;
const CLOSED: u8 = 2;

/// Smallest segment: room for a few records and the blank header.
const SEGMENT_SIZE_MIN: u64 = 4096;
/// Segments are mapped whole and record sizes are signed 32-bit integers.
const BODY_SIZE_LIMIT: usize = 1 << 30;

/// More touched queues than this are flushed by one sync of their file system: each file on its
/// own costs a journal commit, which for 10 000 queues adds up to many seconds.
const FLUSHED_SINGLY_COUNT_MAX: usize = 128;

/// One store directory, open and locked.
///
/// Reads, flushes and appends may come from any thread. Dropping a store without
/// [`Store::close`] leaves the mark of an unclean stop.
#[derive(Debug)]
pub struct Store {
    pub(crate) config: StoreConfig,
    pub(crate) log: Arc<SharedLog>,
    pub(crate) queues: Arc<SharedQueues>,
    pub(crate) appender: Mutex<Appender>,
    flusher: Mutex<Flusher>,
    state: AtomicU8,
    recovery: RecoveryReport,
    directory: StoreDirectory,
}

/// What an append changes.
#[derive(Debug)]
pub(crate) struct Appender {
    pub(crate) log: LogWriter,
    pub(crate) queues: QueueTable,
}

/// What a flush changes.
#[derive(Debug)]
struct Flusher {
    checkpoint: Checkpoint,
    file: CheckpointFile,
    queues_flushed_at_ms: i64,
}

impl Store {
    /// Opens the store in `config.root`, creating or recovering it.
    ///
    /// # Errors
    /// The directory is in use, damaged, or the system refuses; see [`StoreError`].
    pub fn open(config: StoreConfig, now_ms: i64) -> Result<Self, StoreError> {
        let config = validated(config)?;
        let directory = StoreDirectory::open(&config)?;
        let recovered = recover(&config, &directory)?;
        let end = recovered.report.end_position;
        let plan = SegmentPlan {
            dir: directory.commit_log().to_path_buf(),
            segment_size: config.segment_size_bytes,
            populate_ahead: usize::try_from(config.populate_ahead_bytes).unwrap_or(usize::MAX),
        };
        let log = Arc::new(SharedLog::new(&plan, recovered.segments, end));
        let RecoveryReport {
            was_clean,
            scanned_from,
            ..
        } = recovered.report;
        let safe_end = if was_clean { end } else { scanned_from };
        log.restore(recovered.last_store_timestamp_ms, safe_end);
        directory.put_abort_mark()?;
        let writer = LogWriter::new(Arc::clone(&log), plan, recovered.tail, end)?;
        let queues = Arc::clone(recovered.queues.shared());
        let flusher = Flusher {
            checkpoint: Checkpoint::load(&directory.checkpoint())?,
            file: directory.open_checkpoint()?,
            queues_flushed_at_ms: now_ms,
        };
        Ok(Self {
            config,
            log,
            queues,
            appender: Mutex::new(Appender {
                log: writer,
                queues: recovered.queues,
            }),
            flusher: Mutex::new(flusher),
            state: AtomicU8::new(OPEN),
            recovery: recovered.report,
            directory,
        })
    }

    /// What opening the store found and repaired.
    #[must_use]
    pub fn recovery(&self) -> &RecoveryReport {
        &self.recovery
    }

    /// The configured flush mode; the caller drives the flushes.
    #[must_use]
    pub fn flush_mode(&self) -> FlushMode {
        self.config.flush_mode
    }

    /// Position up to which the log is on the disk.
    #[must_use]
    pub fn flushed_position(&self) -> u64 {
        self.log.flushed_position()
    }

    /// End of the log.
    #[must_use]
    pub fn max_position(&self) -> u64 {
        self.log.max_position()
    }

    /// Start of the oldest segment; the end of the log when there is none.
    #[must_use]
    pub fn min_position(&self) -> u64 {
        self.log.min_position()
    }

    /// Position up to which pages are present ahead of the writer.
    #[must_use]
    pub fn populated_position(&self) -> u64 {
        self.appender.lock().log.populated_position()
    }

    /// Every queue with its readable range, by topic and id.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueRange> {
        let range = |(topic, queue_id, queue): (Arc<str>, i32, Arc<SharedQueue>)| QueueRange {
            topic: topic.to_string(),
            queue_id,
            min_offset: queue.min_offset(),
            max_offset: queue.max_offset(),
        };
        self.queues.list().into_iter().map(range).collect()
    }

    /// Messages and bytes appended since the store was opened.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let topics = self.appender.lock().queues.traffic();
        let mut total = Traffic::default();
        for (_, traffic) in &topics {
            total.message_count += traffic.message_count;
            total.bytes += traffic.bytes;
        }
        Counters { total, topics }
    }

    /// Removes every queue of a topic; its records stay in the log until their segments expire.
    ///
    /// # Errors
    /// The store is closed or poisoned, or the files cannot be removed.
    pub fn delete_queues_of(&self, topic: &str) -> Result<(), StoreError> {
        let mut appender = self.appender.lock();
        self.check_open()?;
        appender.queues.remove_topic(topic)
    }

    /// Flushes the log and returns the position up to which it is on the disk.
    ///
    /// # Errors
    /// A failed flush poisons the store: what the disk holds is unknown (D13).
    pub fn flush(&self) -> Result<u64, StoreError> {
        let mut flusher = self.flusher.lock();
        self.check_open()?;
        self.flush_log(&mut flusher)
    }

    /// Flushes the log, from time to time also the queues, and writes the checkpoint.
    ///
    /// # Errors
    /// As for [`Store::flush`].
    pub fn flush_tick(&self, now_ms: i64) -> Result<(), StoreError> {
        let mut flusher = self.flusher.lock();
        self.check_open()?;
        let waited_ms = now_ms.saturating_sub(flusher.queues_flushed_at_ms);
        let interval_ms = i64::try_from(self.config.queue_flush_interval_ms).unwrap_or(i64::MAX);
        if waited_ms >= interval_ms || waited_ms < 0 {
            self.flush_queues(&mut flusher)?;
            flusher.queues_flushed_at_ms = now_ms;
        }
        self.flush_log(&mut flusher)?;
        self.write_checkpoint(&mut flusher)
    }

    /// Flushes everything, writes the checkpoint and removes the mark of an unclean stop.
    /// Closing twice is fine.
    ///
    /// # Errors
    /// What failed; the mark then stays, and so it does on a poisoned store.
    pub fn close(&self) -> Result<(), StoreError> {
        let mut flusher = self.flusher.lock();
        match self.check_open() {
            Ok(()) => {}
            Err(StoreError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        }
        {
            let mut appender = self.appender.lock();
            self.state.store(CLOSED, Ordering::Release);
            appender.log.stop()?;
        }
        self.flush_log(&mut flusher)?;
        self.flush_queues(&mut flusher)?;
        self.write_checkpoint(&mut flusher)?;
        self.directory.remove_abort_mark()
    }

    fn flush_log(&self, flusher: &mut Flusher) -> Result<u64, StoreError> {
        let timestamp_ms = self.log.last_store_timestamp_ms();
        let position = self.poisoning(|| self.log.flush())?;
        flusher.checkpoint.log_timestamp_ms = timestamp_ms;
        flusher.checkpoint.flushed_position = position;
        flusher.checkpoint.confirmed_position = position;
        Ok(position)
    }

    fn flush_queues(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        let (touched, timestamp_ms) = {
            let mut appender = self.appender.lock();
            (
                appender.queues.take_dirty(),
                self.log.last_store_timestamp_ms(),
            )
        };
        let dir = self.directory.consume_queues();
        self.poisoning(|| flush_all(&touched, &dir))?;
        flusher.checkpoint.queue_timestamp_ms = timestamp_ms;
        Ok(())
    }

    fn write_checkpoint(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        let checkpoint = flusher.checkpoint;
        self.poisoning(|| flusher.file.write(checkpoint))
    }

    fn poisoning<T>(&self, work: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        work().inspect_err(|_| self.poison())
    }

    /// Refuses all further work.
    pub(crate) fn poison(&self) {
        self.state.store(POISONED, Ordering::Release);
    }

    pub(crate) fn check_open(&self) -> Result<(), StoreError> {
        match self.state.load(Ordering::Acquire) {
            OPEN => Ok(()),
            CLOSED => Err(StoreError::Closed),
            _ => Err(StoreError::Poisoned),
        }
    }
}

/// Flushes queues, then the directories of files they created.
fn flush_all(queues: &[Arc<SharedQueue>], dir: &Path) -> Result<(), StoreError> {
    if queues.len() > FLUSHED_SINGLY_COUNT_MAX {
        let ends: Vec<u64> = queues.iter().map(|queue| queue.max_offset()).collect();
        sync_file_system(dir)?;
        for (queue, end) in queues.iter().zip(ends) {
            queue.assume_flushed(end);
        }
        return Ok(());
    }
    let mut dirs = BTreeSet::new();
    for queue in queues {
        queue.flush()?;
        if queue.take_new_file() {
            dirs.extend(queue.dir().ancestors().take(3).map(Path::to_path_buf));
        }
    }
    for dir in dirs {
        match sync_dir(&dir) {
            // Its topic was deleted meanwhile.
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::NotFound => {}
            synced => synced?,
        }
    }
    Ok(())
}

fn validated(mut config: StoreConfig) -> Result<StoreConfig, StoreError> {
    let invalid = |text: &str| Err(StoreError::Setting(text.into()));
    if config.segment_size_bytes < SEGMENT_SIZE_MIN {
        return invalid("segment_size_bytes must be at least 4096");
    }
    if config.queue_file_size_bytes == 0 {
        return invalid("queue_file_size_bytes must not be 0");
    }
    if config.message_body_size_max > BODY_SIZE_LIMIT {
        return invalid("message_body_size_max must be at most 1 GiB");
    }
    let rounded = config
        .queue_file_size_bytes
        .checked_next_multiple_of(ENTRY_SIZE as u64);
    let Some(rounded) = rounded.filter(|size| i64::try_from(*size).is_ok()) else {
        return invalid("queue_file_size_bytes is too large");
    };
    config.queue_file_size_bytes = rounded;
    Ok(config)
}
