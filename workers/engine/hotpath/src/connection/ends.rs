//! Ends of transactions: store the decision as one unit, and answer.

use regent_commitlog::NewMessage;
use regent_remoting::{Frame, Header};

use super::Call;
use super::sends::writer;
use crate::broker::HotTopic;
use crate::end::EndRequest;
use crate::reply::done;
use crate::transactions::{Half, OPERATION_TOPIC};

/// A half message so near the end of the log is read at once; it is most likely in memory.
pub const IN_MEMORY_BYTES: u64 = 64 << 20;

impl Call<'_, '_, '_> {
    /// Decide a transaction and answer. `false` leaves the request, untouched, for the dispatcher:
    /// something about it is not ordinary, or to be refused.
    pub(super) fn on_end(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        end: &EndRequest<'_>,
    ) -> bool {
        let transactions = &self.hot.transactions;
        let is_served =
            self.is_writable && !self.is_handing_up && transactions.timeout_ms().is_some();
        let behind = self.store.max_position().saturating_sub(end.log_position);
        if !is_served || behind >= IN_MEMORY_BYTES {
            return false;
        }
        let (offset, position) = (end.queue_offset, end.log_position);
        if !transactions.pending.is_own(offset, position) {
            return false;
        }
        let Ok(Some(record)) = self.store.held_record(end.log_position) else {
            return false;
        };
        let Some(half) = Half::read(&record, end) else {
            return false;
        };
        let topics = self.topics;
        let topic = topics.get(half.topic);
        let topic = topic.filter(|it| it.takes_commit(half.queue_id, end.queue_offset));
        match topic {
            Some(topic) => self.decide(frame, header, end, &half, topic),
            None => false,
        }
    }

    fn decide(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        end: &EndRequest<'_>,
        half: &Half<'_>,
        topic: &HotTopic,
    ) -> bool {
        let transactions = &self.hot.transactions;
        let operation = half.operation();
        let operation = operation.message(self.hot.config.store_host, self.now_ms);
        let unit = [half.committed(), operation];
        let unit = if end.commits { &unit[..] } else { &unit[1..] };
        let Some(stored_to) = self.append_decision(end, unit) else {
            return false;
        };
        if let &[committed, _] = &self.scratch.appended[..] {
            let next = committed.queue_offset + 1;
            self.received.note_arrival(&topic.name, half.queue_id, next);
        }
        transactions.pending.decide(end.queue_offset);
        if !header.is_oneway() {
            let out = if self.is_deferring {
                self.received.deferred_position = stored_to;
                &mut self.received.deferred
            } else {
                &mut self.received.replies
            };
            done(out, frame.encoding, header.opaque);
        }
        true
    }

    /// Append the records of a decision, and return where they end. `None` if nothing was written: a queue
    /// lacks a file, or takes nothing. The dispatcher makes the file, or says why.
    fn append_decision(&mut self, end: &EndRequest<'_>, unit: &[NewMessage<'_>]) -> Option<u64> {
        let transactions = &self.hot.transactions;
        let writer = writer(&mut self.writer, self.store, OPERATION_TOPIC).ok()?;
        let lacks_file = |one: &NewMessage<'_>| writer.lacks_queue_file(one.topic, one.queue_id, 1);
        if self.is_setting_aside && unit.iter().any(lacks_file) {
            return None;
        }
        self.scratch.appended = writer.append_unit(unit, self.now_ms).ok()?;
        let operation = self.scratch.appended.last()?;
        let pending = &transactions.pending;
        pending.note_operation(operation.queue_offset, end.queue_offset);
        let next = operation.queue_offset + 1;
        let name = &transactions.operation_topic;
        self.received
            .note_arrival(name, unit.last()?.queue_id, next);
        Some(operation.log_position + u64::from(operation.size))
    }
}
