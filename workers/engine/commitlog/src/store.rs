//! A store: opening, flushing, closing, and what all its parts share. Its locks, and the order in which a
//! thread takes them, are in the table of [`rank`].

use std::fmt::Display;
use std::sync::{Arc, OnceLock};

use regent_sync::atomic::{AtomicU8, AtomicU64, Ordering};

use crate::checkpoint::Checkpoint;
use crate::config::{FlushMode, StoreConfig};
use crate::directory::StoreDirectory;
use crate::epoch_file::EpochFile;
use crate::error::StoreError;
use crate::files::{remove_dir, segment_name};
use crate::follower::Followers;
use crate::former;
use crate::index::{Index, IndexBuilder, Trust};
use crate::locks::{Ranked, rank};
use crate::log::{Flusher, LogWriter, SharedLog};
use crate::memory;
use crate::message::{Counters, QueueRange, Traffic};
use crate::prepare::SegmentPlan;
use crate::queue::SharedQueue;
use crate::recovery::recover;
use crate::recovery_report::RecoveryReport;
use crate::table::{QueueTable, SharedQueues};
use crate::timers::Timers;
use crate::truncation::Truncation;
use crate::unshown::Unshown;

pub(crate) mod cold;
mod confirmed;
pub(crate) mod copy;
mod epochs;
mod flushing;
mod followers;
pub(crate) mod front;
mod held;
pub(crate) mod local;
mod loss;
mod queue_files;
mod read;
pub(crate) mod retention;
mod scan;
pub(crate) mod search;
pub(crate) mod slices;
mod timer_counts;
pub(crate) mod timers;
mod truncation;
mod write_back;
pub(crate) mod writer;

use cold::ColdReads;
use epochs::Epochs;
use flushing::Checkpointer;
use local::{LocalLog, LocalTopics};
use write_back::WriteBack;

const OPEN: u8 = 0;
const POISONED: u8 = 1;
const CLOSED: u8 = 2;

/// One store directory, open and locked.
///
/// Reads, flushes and appends may come from any thread. Dropping a store without
/// [`Store::close`] leaves the mark of an unclean stop.
#[derive(Debug)]
pub struct Store {
    pub(crate) config: StoreConfig,
    pub(crate) log: Arc<SharedLog>,
    pub(crate) queues: Arc<SharedQueues>,
    pub(crate) unshown: Arc<Unshown>,
    pub(crate) appender: Ranked<{ rank::APPENDER }, Appender>,
    pub(crate) followers: Ranked<{ rank::FOLLOWERS }, Followers>,
    pub(crate) timers: Ranked<{ rank::TIMERS }, Timers>,
    timer_term: AtomicU64,
    pub(crate) index: Arc<Index>,
    pub(crate) epochs: Epochs,
    pub(crate) cold_reads: ColdReads,
    /// Held by the one who deletes old files.
    pub(crate) expiry: Ranked<{ rank::EXPIRY }, ()>,
    pub(crate) directory: Arc<StoreDirectory>,
    pub(crate) opened_at_ms: i64,
    pub(crate) write_back: Ranked<{ rank::WRITE_BACK }, WriteBack>,
    pub(crate) checkpointer: Ranked<{ rank::CHECKPOINTER }, Checkpointer>,
    pub(crate) flusher: Ranked<{ rank::FLUSHER }, Flusher>,
    state: AtomicU8,
    failure: OnceLock<String>,
    recovery: RecoveryReport,
    /// The log of the topics that are not replicated, while this broker is their master.
    local: Option<LocalLog>,
    /// Of a second log: the topics whose messages it has.
    local_topics: Option<Arc<LocalTopics>>,
}

/// What an append changes.
#[derive(Debug)]
pub(crate) struct Appender {
    pub(crate) log: LogWriter,
    pub(crate) queues: QueueTable,
}

impl Store {
    /// Opens the store in `config.root`, creating or recovering it.
    ///
    /// A store whose log is damaged opens for reading only: [`RecoveryReport::damage`] says where,
    /// and appends are refused with [`StoreError::ReadOnly`] (D13).
    ///
    /// # Errors
    /// The directory is in use, a file in it is not a store's, or the system refuses; see
    /// [`StoreError`].
    pub fn open(config: StoreConfig, now_ms: i64) -> Result<Self, StoreError> {
        let config = config.validated()?;
        let directory = Arc::new(StoreDirectory::open(&config)?);
        let mark = directory.mark()?;
        let had_failed_flush = mark.is_some_and(|mark| mark.has_failed_flush());
        if had_failed_flush {
            memory::forget(&directory)?;
        }
        let opened = Self::recover(config, Arc::clone(&directory), now_ms);
        let mut store = opened.inspect_err(|error| {
            if error.is_of_system() {
                directory.note_failed_flush();
            }
        })?;
        store.recovery.had_failed_flush = had_failed_flush;
        Ok(store)
    }

    /// Recovers what the directory holds, finishing a truncation that is under way.
    pub(crate) fn recover(
        mut config: StoreConfig,
        directory: Arc<StoreDirectory>,
        now_ms: i64,
    ) -> Result<Self, StoreError> {
        let recovered = recover(&config, &directory)?;
        let epochs = EpochFile::load(directory.epochs())?;
        let mut report = recovered.report;
        report.are_epochs_from_backup = epochs.is_from_backup();
        let end = report.end_position;
        let is_read_only = report.damage.is_some();
        let is_sync = config.flush_mode == FlushMode::Sync;
        let plan = SegmentPlan {
            dir: directory.commit_log().to_path_buf(),
            segment_size: config.segment_size_bytes,
            populate_ahead: usize::try_from(config.populate_ahead_bytes).unwrap_or(usize::MAX),
            writes_blocks: is_sync,
        };
        let log = Arc::new(SharedLog::new(&plan, recovered.segments, end));
        let safe_end = if report.was_clean || is_read_only {
            end
        } else {
            report.scanned_from
        };
        log.restore(recovered.last_store_timestamp_ms, safe_end);
        let mut checkpointer = Checkpointer {
            checkpoint: Checkpoint::load(&directory.checkpoint())?,
            file: directory.open_checkpoint()?,
            round_at_ms: now_ms,
            round: None,
            queues_position: report.scanned_from,
        };
        let trust = Trust::after(&report, &checkpointer.checkpoint);
        let mut flusher = Flusher::default();
        let writer = if is_read_only {
            directory.note_damage()?;
            LogWriter::idle(Arc::clone(&log), plan, end)?
        } else {
            checkpointer.vouch_for_kept(&log, &mut flusher)?;
            former::remove(directory.commit_log())?;
            // A segment of which it is not known what of it is there.
            remove_dir(&directory.front())?;
            directory.put_abort_mark(config.flush_mode)?;
            LogWriter::new(Arc::clone(&log), plan, recovered.tail, end)?
        };
        let index = Arc::new(Index::load(&config, directory.index(), trust)?);
        let builder = IndexBuilder::new(Arc::clone(&index), config.index_enabled);
        let mut followers = Followers::new(vec![Box::new(builder)]);
        if !is_read_only {
            followers.cut(&log)?;
        }
        let timers = if is_read_only {
            Timers::idle(&config)
        } else {
            Timers::load(&config, &log)?
        };
        if report.truncated_to.is_some() {
            Truncation::finish(&directory)?;
        }
        let queues = Arc::clone(recovered.queues.shared());
        let unshown = Arc::clone(recovered.queues.unshown());
        // The consent was to the damage of this opening, not to that of one after a truncation.
        config.cut_damage_at = None;
        Ok(Self {
            config,
            log,
            queues,
            unshown,
            followers: Ranked::new(followers),
            timers: Ranked::new(timers),
            timer_term: AtomicU64::new(0),
            index,
            appender: Ranked::new(Appender {
                log: writer,
                queues: recovered.queues,
            }),
            epochs: Epochs::new(epochs),
            cold_reads: ColdReads::default(),
            expiry: Ranked::new(()),
            directory,
            opened_at_ms: now_ms,
            write_back: Ranked::default(),
            checkpointer: Ranked::new(checkpointer),
            flusher: Ranked::new(flusher),
            state: AtomicU8::new(OPEN),
            failure: OnceLock::new(),
            recovery: report,
            local: None,
            local_topics: None,
        })
    }

    /// What opening the store found and repaired.
    #[must_use]
    pub fn recovery(&self) -> &RecoveryReport {
        &self.recovery
    }

    /// Why appends are refused, if the log is damaged: what, in which file, and what to do.
    #[must_use]
    pub fn read_only_reason(&self) -> Option<StoreError> {
        let damage = Box::new(self.recovery.damage?);
        let base = damage.position - damage.position % self.config.segment_size_bytes;
        let path = self.directory.commit_log().join(segment_name(base));
        Some(StoreError::ReadOnly { path, damage })
    }

    /// Why all work is refused until the store is reopened, if it is.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        let failure = self.failure.get().map(String::as_str);
        failure.or_else(|| self.local()?.failure())
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
            max_offset: self.readable_end(&queue),
        };
        let mut queues: Vec<_> = self.queues.list().into_iter().map(range).collect();
        if let Some(local) = self.local() {
            queues.extend(local.queues());
            queues.sort_by(|left, right| {
                (&left.topic, left.queue_id).cmp(&(&right.topic, right.queue_id))
            });
        }
        queues
    }

    /// Messages and bytes appended since the store was opened.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut topics = self.queues.traffic();
        if let Some(local) = self.local() {
            topics.extend(local.queues.traffic());
        }
        let mut total = Traffic::default();
        for (_, traffic) in &topics {
            total.message_count += traffic.message_count;
            total.bytes += traffic.bytes;
        }
        Counters { total, topics }
    }

    /// Flushes everything, writes the checkpoint and removes the mark of an unclean stop.
    /// Closing twice is fine.
    ///
    /// # Errors
    /// What failed; the mark then stays, and so it does on a poisoned store.
    pub fn close(&self) -> Result<(), StoreError> {
        let local = self.local().map_or(Ok(()), Self::close);
        self.close_first().and(local)
    }

    fn close_first(&self) -> Result<(), StoreError> {
        let mut followers = self.followers.lock();
        let mut checkpointer = self.checkpointer.lock();
        let mut flusher = self.flusher.lock();
        match self.check_open() {
            Ok(()) => {}
            Err(StoreError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        }
        self.poisoning(|| followers.flush())?;
        self.poisoning(|| {
            let mut appender = self.appender.lock();
            self.state.store(CLOSED, Ordering::Release);
            appender.stop()
        })?;
        if self.is_read_only() {
            return Ok(());
        }
        self.flush_each(&mut checkpointer, &mut flusher)?;
        match self.flush_timers_after(|| Ok(()), 0) {
            // What the former checkpoint does not vouch for is derived again.
            Err(error) if !error.is_of_system() || self.failure().is_some() => return Err(error),
            _ => {}
        }
        self.directory.remove_abort_mark()
    }

    pub(crate) fn next_timer_term(&self) -> u64 {
        self.timer_term.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Does work after whose failure it is unknown what the disk has (D13).
    pub(crate) fn poisoning<T>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work().map_err(|error| {
            let error = error.whatever_room();
            self.poison(&error);
            self.directory.note_failed_flush();
            error
        })
    }

    /// As [`Self::poisoning`], for work that can be done again as a whole after it found no room in the
    /// table of open files: then the disk has all it was said to have.
    pub(crate) fn flushing<T>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match work() {
            Err(error) if error.is_for_want_of_files() => Err(error),
            done => self.poisoning(|| done),
        }
    }

    /// Refuses all further work.
    pub(crate) fn poison(&self, reason: impl Display) {
        self.failure.get_or_init(|| reason.to_string());
        self.state.store(POISONED, Ordering::Release);
    }

    pub(crate) fn check_open(&self) -> Result<(), StoreError> {
        match self.state.load(Ordering::Acquire) {
            OPEN => self.check_maps(),
            CLOSED => Err(StoreError::Closed),
            _ => Err(StoreError::Poisoned {
                reason: self.failure().unwrap_or_default().to_owned(),
            }),
        }
    }

    /// As [`Self::check_open`], and the log is whole.
    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        self.check_open()?;
        self.read_only_reason().map_or(Ok(()), Err)
    }

    pub(crate) fn is_read_only(&self) -> bool {
        self.recovery.damage.is_some()
    }
}
