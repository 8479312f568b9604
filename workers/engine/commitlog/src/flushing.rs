//! Making the log and its queues durable, and writing down how far they are.

use crate::checkpoint::{Checkpoint, CheckpointFile};
use crate::error::StoreError;
use crate::queue_flush::flush_queues;
use crate::record::{Found, locate};
use crate::seal::SealFile;
use crate::store::Store;

/// What a flush changes.
#[derive(Debug)]
pub(crate) struct Flusher {
    pub(crate) checkpoint: Checkpoint,
    pub(crate) file: CheckpointFile,
    /// Of a store that uses segments again.
    pub(crate) seals: Option<SealFile>,
    pub(crate) queues_flushed_at_ms: i64,
    /// Entries of records before it were flushed.
    pub(crate) queues_position: u64,
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
        let mut flusher = self.flusher.lock();
        self.check_open()?;
        self.flush_log(&mut flusher)
    }

    /// Flushes the log, from time to time also the queues, and writes the checkpoint.
    ///
    /// # Errors
    /// As for [`Store::flush`]; but a checkpoint that cannot be written does no harm, and is
    /// written by the next call that can.
    pub fn flush_tick(&self, now_ms: i64) -> Result<(), StoreError> {
        let mut flusher = self.flusher.lock();
        self.check_open()?;
        let waited_ms = now_ms.saturating_sub(flusher.queues_flushed_at_ms);
        let interval_ms = i64::try_from(self.config.queue_flush_interval_ms).unwrap_or(i64::MAX);
        if waited_ms >= interval_ms || waited_ms < 0 {
            // An entry on the disk whose record is not makes recovery read the whole log.
            self.flush_log(&mut flusher)?;
            self.flush_queues(&mut flusher)?;
            flusher.queues_flushed_at_ms = now_ms;
        }
        self.flush_log(&mut flusher)?;
        self.write_checkpoint(&mut flusher)
    }

    /// Flushes everything and writes the checkpoint.
    pub(crate) fn flush_all(&self) -> Result<(), StoreError> {
        self.flush_each(&mut self.flusher.lock())
    }

    pub(crate) fn flush_each(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        self.flush_log(flusher)?;
        self.flush_queues(flusher)?;
        self.write_checkpoint(flusher)
    }

    fn flush_log(&self, flusher: &mut Flusher) -> Result<u64, StoreError> {
        if self.is_read_only() {
            return Ok(self.flushed_position());
        }
        let timestamp_ms = self.log.last_store_timestamp_ms();
        let seals = flusher.seals.as_mut();
        let position = self.flushing(|| self.log.flush(seals))?;
        flusher.checkpoint.log_timestamp_ms = timestamp_ms;
        flusher.checkpoint.flushed_position = position;
        flusher.checkpoint.confirmed_position = position;
        Ok(position)
    }

    fn flush_queues(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        let (touched, timestamp_ms, position) = {
            let mut appender = self.appender.lock();
            (
                appender.queues.take_dirty(),
                self.log.last_store_timestamp_ms(),
                self.log.max_position(),
            )
        };
        let dir = self.directory.consume_queues();
        if let Err(error) = self.flushing(|| flush_queues(&touched, &dir)) {
            // Where the store goes on, they are flushed by the next call.
            self.appender.lock().queues.put_dirty(touched);
            return Err(error);
        }
        flusher.checkpoint.queue_timestamp_ms = timestamp_ms;
        flusher.queues_position = position;
        Ok(())
    }

    fn write_checkpoint(&self, flusher: &mut Flusher) -> Result<(), StoreError> {
        if self.is_read_only() {
            return Ok(());
        }
        flusher.checkpoint.queue_timestamp_ms = self.queue_timestamp_ms(flusher);
        if flusher.file.write(flusher.checkpoint)? {
            self.poisoning(|| flusher.file.sync())?;
        }
        Ok(())
    }

    /// Keeps the checkpoint's word on the index true.
    pub(crate) fn write_index_timestamp(&self, timestamp_ms: i64) -> Result<(), StoreError> {
        let mut flusher = self.flusher.lock();
        if flusher.checkpoint.index_timestamp_ms == timestamp_ms {
            return Ok(());
        }
        flusher.checkpoint.index_timestamp_ms = timestamp_ms;
        self.write_checkpoint(&mut flusher)
    }

    /// Up to which store time queue entries are known to be flushed.
    ///
    /// Recovery begins at a segment whose first record is older than that. Where a clock was set
    /// back, this may hold for one that began after queues were flushed: it must not begin there.
    fn queue_timestamp_ms(&self, flusher: &Flusher) -> i64 {
        let checkpoint = &flusher.checkpoint;
        let mut known_ms = checkpoint.queue_timestamp_ms;
        let flushed_to = flusher.queues_position.max(self.log.min_position());
        let mut base = self.log.next_segment_start(flushed_to);
        while base < checkpoint.flushed_position
            && let Some(segment) = self.log.segment_at(base)
        {
            let first = segment.bytes_from(base).map(|bytes| locate(bytes, base));
            if let Some(Ok(Found::Record(first))) = first {
                known_ms = known_ms.min(first.store_timestamp_ms - 1);
            }
            base = self.log.next_segment_start(base);
        }
        known_ms
    }
}
