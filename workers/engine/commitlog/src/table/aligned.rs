//! Queues that must continue at an offset which another log has decided.

use std::sync::Arc;

use super::{OpenQueue, OpenTopic, queue_index};
use crate::error::{AppendError, StoreError};
use crate::files::create_dir;
use crate::message::QueueEntry;
use crate::queue::SharedQueue;
use crate::queue::ahead::QueuesAhead;
use crate::queue_layout::{FILLER, OFFSET_MAX};
use crate::record::RECORD_SIZE_MIN;
use crate::stored_queue::StoredQueue;

impl OpenTopic<'_> {
    /// As [`Self::reserve_sealed_too`] for one entry whose offset is already decided, because its record is
    /// copied from `log_position` of another log. The queue is made to continue there, as recovery
    /// would do it: later records win, and what is missing is filled.
    pub(crate) fn reserve_at(
        &mut self,
        (queue_id, offset): (i32, u64),
        log_position: u64,
        min_position: impl FnOnce() -> u64,
    ) -> Result<OpenQueue<'_>, AppendError> {
        let index = queue_index(queue_id)?;
        let known = self.topic.queues.get_mut(index).and_then(Option::as_mut);
        match known {
            Some(queue) if queue.end_offset() == offset => {}
            None if offset == 0 => {}
            Some(writer) if writer.end_offset() > 0 && writer.end_offset() < offset => {
                let touched = &mut *self.touched;
                fill(
                    OpenQueue { writer, touched },
                    offset,
                    log_position,
                    self.ahead,
                )?;
            }
            _ if offset > OFFSET_MAX => return Err(impossible(offset, log_position).into()),
            _ => self.restart(index, queue_id, offset, min_position())?,
        }
        self.reserve_sealed_too(queue_id, 1)
    }

    /// The queue; one without entries is made to begin at an offset, where the log has a record at
    /// `log_position` or goes on behind it.
    pub(crate) fn queue_from(
        &mut self,
        (queue_id, offset): (i32, u64),
        log_position: u64,
        min_position: u64,
    ) -> Result<Arc<SharedQueue>, AppendError> {
        let index = queue_index(queue_id)?;
        let known = self.topic.queues.get(index).and_then(Option::as_ref);
        if known.is_none_or(|queue| queue.end_offset() == 0) {
            if offset > OFFSET_MAX {
                return Err(impossible(offset, log_position).into());
            }
            self.restart(index, queue_id, offset, min_position)?;
        }
        Ok(Arc::clone(self.writer(queue_id)?.shared()))
    }

    /// Makes the queue again, with its entries before `offset`, and with `offset` as the next one.
    /// The new queue is made beside the old one, and takes its place on the disk in one step. Until
    /// then, whatever fails, the old one is as it was, and a crash leaves one of them whole.
    pub(super) fn restart(
        &mut self,
        index: usize,
        queue_id: i32,
        offset: u64,
        min_position: u64,
    ) -> Result<(), StoreError> {
        let dir = self.home.queue_dir(&self.topic.name, queue_id);
        let old = self.topic.queues.get(index).and_then(Option::as_ref);
        let kept: Vec<(u64, QueueEntry)> = old.map_or_else(Vec::new, |old| {
            let shared = old.shared();
            (shared.first_offset()..shared.end_offset().min(offset))
                .map_while(|offset| Some((offset, shared.entry(offset)?)))
                .collect()
        });
        let new = dir.with_extension("new");
        let mut stored = StoredQueue::empty(new.clone(), self.home.file_size());
        stored.restart_at(kept.first().map_or(offset, |(first, _)| *first))?;
        for (_, entry) in &kept {
            stored.push(entry)?;
        }
        stored.fill_to(offset)?;
        stored.begin_file()?;
        create_dir(&new)?;
        stored.flush()?;
        let mut put = || self.removed.put_in_place(&new, &dir);
        match old {
            Some(old) => old.shared().leave_dir_by(put)?,
            None => put()?,
        }
        let queue = stored.moved_to(dir.clone()).into_writer();
        queue.shared().correct_min_offset(min_position);
        self.touched.dirty.retain(|queue| queue.dir() != dir);
        if queue.mark_dirty() {
            self.touched.dirty.push(Arc::clone(queue.shared()));
        }
        self.insert(index, queue);
        Ok(())
    }
}

/// Appends fillers up to `offset`, the next record's, which lies at `log_position`.
///
/// No checksum covers a record's offset. A wrong one must not make the queue fill the disk, so the
/// log has to have had room for the records that are missing.
fn fill(
    mut queue: OpenQueue<'_>,
    offset: u64,
    log_position: u64,
    ahead: &mut QueuesAhead,
) -> Result<(), StoreError> {
    let since = queue.writer.last_position().unwrap_or(0);
    let missing = offset - queue.end_offset();
    if missing > log_position.saturating_sub(since) / RECORD_SIZE_MIN as u64 {
        return Err(impossible(offset, log_position));
    }
    for _ in 0..missing {
        queue.writer.reserve(1, ahead)?;
        queue.push(&FILLER);
    }
    Ok(())
}

fn impossible(offset: u64, log_position: u64) -> StoreError {
    StoreError::Corrupt {
        position: log_position,
        reason: format!("queue offset {offset} cannot be the next one there"),
    }
}
