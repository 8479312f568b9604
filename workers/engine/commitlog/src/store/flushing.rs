//! Making the log and its queues durable, and writing down how far they are.

use crate::checkpoint::{Checkpoint, CheckpointFile};
use crate::error::StoreError;
use crate::follower::Follower;
use crate::log::{Flusher, SharedLog};
use crate::queue_flush::FlushRound;
use crate::record::{Found, locate};
use crate::store::Store;

/// What the checkpoint says, and what it rests on.
///
/// Queues are flushed under its lock, so that no flush of the log, and no caller of one, waits for
/// the flush of queues.
#[derive(Debug)]
pub(crate) struct Checkpointer {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) file: CheckpointFile,
    /// When the last round of flushing queues began.
    pub(crate) round_at_ms: i64,
    /// The round that is under way.
    pub(crate) round: Option<FlushRound>,
    /// Entries of records before it were flushed.
    pub(crate) queues_position: u64,
}

/// What of the log is on the disk.
struct Flushed {
    position: u64,
    /// Store time of a record before the position, or of none.
    timestamp_ms: i64,
}

impl Store {
    /// Flushes the log and returns the position up to which it is on the disk.
    ///
    /// No flush of a read-only store, nor closing it, writes anything.
    ///
    /// # Errors
    /// A failed flush poisons the store: what the disk holds is unknown (D13). Not where the process may
    /// open no more files: nothing is lost then, and the next call may go through.
    pub fn flush(&self) -> Result<u64, StoreError> {
        Ok(self.flush_open_log()?.position)
    }

    /// Flushes both logs, from time to time also the queues, and writes the checkpoint.
    ///
    /// Other threads append and flush the log meanwhile.
    ///
    /// # Errors
    /// As for [`Store::flush`]; but a checkpoint that cannot be written does no harm, and is
    /// written by the next call that can.
    pub fn flush_tick(&self, now_ms: i64) -> Result<(), StoreError> {
        if let Some(local) = self.local() {
            local.flush_tick(now_ms)?;
        }
        let mut checkpointer = self.checkpointer.lock();
        self.check_open()?;
        checkpointer.note(&self.flush_open_log()?);
        // Also where queues cannot be flushed now: the log is acknowledged meanwhile.
        let written = self.write_checkpoint(&mut checkpointer);
        if self.is_read_only() {
            return written;
        }
        let interval_ms = i64::try_from(self.config.queue_flush_interval_ms).unwrap_or(i64::MAX);
        if checkpointer.round.is_none() {
            let waited_ms = now_ms.saturating_sub(checkpointer.round_at_ms);
            if (0..interval_ms).contains(&waited_ms) {
                return written;
            }
            self.begin_round(&mut checkpointer, now_ms);
        }
        // After the log: an entry on the disk whose record is not makes recovery read all of it.
        self.flush_round(&mut checkpointer, |round| {
            round.flush_due(now_ms, interval_ms)
        })?;
        checkpointer.note(&self.flush_open_log()?);
        let written_again = self.write_checkpoint(&mut checkpointer);
        written.and(written_again)
    }

    /// Flushes everything and writes the checkpoint, for the one who has the store alone.
    pub(crate) fn flush_all(&self) -> Result<(), StoreError> {
        let mut checkpointer = self.checkpointer.lock();
        self.flush_each(&mut checkpointer, &mut self.flusher.lock())
    }

    pub(crate) fn flush_each(
        &self,
        checkpointer: &mut Checkpointer,
        flusher: &mut Flusher,
    ) -> Result<(), StoreError> {
        checkpointer.note(&self.flush_log(flusher)?);
        if !self.is_read_only() {
            let began_at_ms = checkpointer.round_at_ms;
            self.begin_round(checkpointer, began_at_ms);
            self.flush_round(checkpointer, |round| round.flush_all().map(|()| true))?;
        }
        self.write_checkpoint(checkpointer)
    }

    /// Flushes the log unless a flush has failed meanwhile: the next one could go through, though
    /// what was to be written is lost.
    fn flush_open_log(&self) -> Result<Flushed, StoreError> {
        let mut flusher = self.flusher.lock();
        self.check_open()?;
        self.flush_log(&mut flusher)
    }

    fn flush_log(&self, flusher: &mut Flusher) -> Result<Flushed, StoreError> {
        let timestamp_ms = self.log.last_store_timestamp_ms();
        let position = if self.is_read_only() {
            self.flushed_position()
        } else {
            self.flushing(|| self.log.flush(flusher))?
        };
        Ok(Flushed {
            position,
            timestamp_ms,
        })
    }

    /// Begins a round with the queues that were touched, and those that the round before it has left.
    fn begin_round(&self, checkpointer: &mut Checkpointer, now_ms: i64) {
        let before = checkpointer.round.take();
        let mut touched = before.map_or_else(Vec::new, FlushRound::into_left);
        let end = {
            let mut appender = self.appender.lock();
            touched.extend(appender.queues.take_dirty());
            (self.log.last_store_timestamp_ms(), self.log.max_position())
        };
        checkpointer.round = Some(FlushRound::new(touched, end, now_ms));
        checkpointer.round_at_ms = now_ms;
    }

    /// Flushes queues of the round; once none is left, the checkpoint vouches for them.
    fn flush_round(
        &self,
        checkpointer: &mut Checkpointer,
        flush: impl FnOnce(&mut FlushRound) -> Result<bool, StoreError>,
    ) -> Result<(), StoreError> {
        let Some(round) = &mut checkpointer.round else {
            return Ok(());
        };
        // Where the store goes on after an error, the next call flushes them.
        if self.flushing(|| flush(round))? {
            checkpointer.checkpoint.queue_timestamp_ms = round.timestamp_ms;
            checkpointer.queues_position = round.position;
            checkpointer.round = None;
        }
        Ok(())
    }

    fn write_checkpoint(&self, checkpointer: &mut Checkpointer) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        checkpointer.checkpoint.queue_timestamp_ms = self.queue_timestamp_ms(checkpointer);
        if checkpointer.file.write(checkpointer.checkpoint)? {
            self.poisoning(|| checkpointer.file.sync())?;
        }
        Ok(())
    }

    /// Writes the checkpoint if what it says of a follower has changed.
    pub(crate) fn write_follower_checkpoint(
        &self,
        follower: &dyn Follower,
    ) -> Result<(), StoreError> {
        let mut checkpointer = self.checkpointer.lock();
        let written = checkpointer.checkpoint;
        follower.checkpoint(&mut checkpointer.checkpoint);
        if checkpointer.checkpoint == written {
            return Ok(());
        }
        self.write_checkpoint(&mut checkpointer)
    }

    /// Up to which store time queue entries are known to be flushed.
    ///
    /// Recovery begins at a segment whose first record is older than that. Where a clock was set
    /// back, this may hold for one that began after queues were flushed: it must not begin there.
    fn queue_timestamp_ms(&self, checkpointer: &Checkpointer) -> i64 {
        let checkpoint = &checkpointer.checkpoint;
        let mut known_ms = checkpoint.queue_timestamp_ms;
        let flushed_to = checkpointer.queues_position.max(self.log.min_position());
        let mut base = self.log.next_segment_start(flushed_to);
        let end = checkpoint.flushed_position.min(self.log.max_position());
        while base < end {
            // One that retention removes meanwhile says nothing of those behind it.
            let segment = self.log.segment_at(base);
            let bytes = segment.as_ref().and_then(|one| one.bytes_from(base));
            if let Some(Ok(Found::Record(first))) = bytes.map(|bytes| locate(bytes, base)) {
                known_ms = known_ms.min(first.store_timestamp_ms.saturating_sub(1));
            }
            base = self.log.next_segment_start(base);
        }
        known_ms
    }
}

impl Checkpointer {
    /// Has the checkpoint cover all that recovery kept, before the mark says what invalid records behind that
    /// mean: of those that a former run flushed that would not be true.
    pub(crate) fn vouch_for_kept(
        &mut self,
        log: &SharedLog,
        flusher: &mut Flusher,
    ) -> Result<(), StoreError> {
        self.note(&Flushed {
            timestamp_ms: log.last_store_timestamp_ms(),
            position: log.flush(flusher)?,
        });
        match self.file.write(self.checkpoint) {
            // A full disk is to be read from nevertheless: the one before stays, and is true.
            Err(StoreError::DiskFull { .. }) => return Ok(()),
            written => written?,
        };
        self.file.sync()
    }

    fn note(&mut self, flushed: &Flushed) {
        self.checkpoint.log_timestamp_ms = flushed.timestamp_ms;
        self.checkpoint.flushed_position = flushed.position;
        self.checkpoint.confirmed_position = flushed.position;
    }
}
