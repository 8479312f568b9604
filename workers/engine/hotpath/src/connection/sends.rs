//! Sends: append the message, and answer. The thread of the connection appends at once, in the order of arrival,
//! and the log is what replicas receive (Q14, Q84).

use regent_commitlog::{
    AppendError, Appended, LOCAL_START, NewMessage, Store, Writer, batch_properties,
};
use regent_remoting::message_id::append_message_id;
use regent_remoting::{Encoding, Frame, Header};

use super::Call;
use crate::broker::{HotTopic, SendQueue};
use crate::pending::Pending;
use crate::properties::{Verdict, special_in_batch};
use crate::reply::{Answered, Asker, Stored};
use crate::send::SendRequest;
use crate::transactions::{HALF_TOPIC, PREPARED, QUEUE_ID, TRANSACTION_BITS, fits};

/// What is to be done with a message.
#[derive(Debug, Clone, Copy)]
struct Plan {
    /// Whether the sender wants to wait for the flush.
    waits: bool,
    /// When the producer of a half message may be asked.
    half_due_ms: Option<i64>,
}

impl Call<'_, '_, '_> {
    /// Append and answer a send, whose properties have been received. `false` leaves it, untouched,
    /// for the dispatcher.
    pub(super) fn on_send(
        &mut self,
        frame: &Frame<'_>,
        header: &Header<'_>,
        send: &SendRequest<'_>,
    ) -> bool {
        // A message without a body is refused there (storage-and-ha.md 2.9).
        if self.is_handing_up || frame.body.is_empty() {
            return false;
        }
        let Some(topic) = self.topics.get(send.topic.as_ref()) else {
            return false;
        };
        let Some(plan) = self.plan(topic, send) else {
            return false;
        };
        let Some(queue) = topic.queue(send.queue_id, &self.hot.next_queue) else {
            return false;
        };
        let queue_id = queue.queue_id;
        let config = &self.hot.config;
        let asker = Asker {
            encoding: frame.encoding,
            opaque: header.opaque,
            region: &config.region,
            trace_on: config.trace_on,
        };
        if !self.is_writable {
            if !header.is_oneway() {
                asker.not_writable(&mut self.received.replies, &self.hot.refusal());
            }
            return true;
        }
        let (stored_name, stored_id) = match plan.half_due_ms {
            Some(_) => (&self.hot.transactions.half_topic, QUEUE_ID),
            None => (&topic.name, queue_id),
        };
        if self.is_setting_aside {
            let count = send.count_max(frame.body.len());
            self.lacks_file = self.lacks_queue_file(stored_name, stored_id, count);
            if self.lacks_file {
                return false;
            }
        }
        let message = NewMessage {
            flag: send.flag,
            sys_flag: send.sys_flag,
            born_timestamp_ms: send.born_timestamp_ms,
            born_host: self.peer,
            store_host: config.store_host,
            reconsume_times: send.reconsume_times,
            ..NewMessage::new(&topic.name, queue_id, frame.body)
        };
        let outcome = match plan.half_due_ms {
            Some(due_ms) => self.append_half(message, due_ms),
            None if send.is_batch => self.append_batch(message),
            None => self.append_one(message),
        };
        let is_oneway = header.is_oneway();
        match outcome {
            Ok(first) => {
                self.answer(&asker, is_oneway, plan.waits, queue, first);
                let next = first + self.scratch.appended.len() as u64;
                self.received.note_arrival(stored_name, stored_id, next);
            }
            Err(error) => self.refuse(&asker, is_oneway, &error),
        }
        true
    }

    fn refuse(&mut self, asker: &Asker<'_>, is_oneway: bool, error: &AppendError) {
        if let AppendError::Store(failure) = error {
            self.received.store_failure = Some(failure.to_string());
        }
        if !is_oneway {
            asker.failed(&mut self.received.replies, error);
        }
    }

    /// Judge a message by its properties. `None` leaves it for the dispatcher.
    fn plan(&mut self, topic: &HotTopic, send: &SendRequest<'_>) -> Option<Plan> {
        let properties = &mut self.scratch.properties;
        let verdict = if self.is_checked {
            properties.keep_checked()
        } else {
            properties.keep()
        };
        match verdict {
            Verdict::Ordinary { waits } if send.sys_flag & PREPARED == 0 => Some(Plan {
                waits,
                half_due_ms: None,
            }),
            Verdict::Half { waits, immunity_s }
                if !send.is_batch && !topic.is_static() && !self.store.is_local(&topic.name) =>
            {
                let timeout_ms = self.hot.transactions.timeout_ms()?;
                let immunity_ms = immunity_s.map_or(timeout_ms, |it| it.saturating_mul(1000));
                Some(Plan {
                    waits,
                    half_due_ms: Some(self.now_ms.saturating_add(immunity_ms)),
                })
            }
            _ => None,
        }
    }

    fn lacks_queue_file(&mut self, topic: &str, queue_id: i32, count: u64) -> bool {
        // A store that takes nothing says so to the append.
        writer(&mut self.writer, self.store, topic)
            .is_ok_and(|writer| writer.lacks_queue_file(topic, queue_id, count))
    }

    /// Append one message, returning its queue offset.
    fn append_one(&mut self, message: NewMessage<'_>) -> Result<u64, AppendError> {
        self.add_properties();
        Ok(self.append(message)?.queue_offset)
    }

    /// Append the half message of a message, returning its queue offset.
    fn append_half(&mut self, message: NewMessage<'_>, due_ms: i64) -> Result<u64, AppendError> {
        self.add_properties();
        let properties = &mut self.scratch.properties;
        properties.add_half(message.topic, message.queue_id);
        let stored = properties.stored();
        if !fits(stored) {
            return Err(AppendError::PropertiesTooLarge(stored.len()));
        }
        let appended = self.append(NewMessage {
            topic: HALF_TOPIC,
            queue_id: QUEUE_ID,
            sys_flag: message.sys_flag & !TRANSACTION_BITS,
            ..message
        })?;
        let transaction_id = String::from_utf8_lossy(self.scratch.properties.unique_key());
        let pending = Pending {
            offset: appended.queue_offset,
            log_position: appended.log_position,
            due_ms,
            transaction_id: transaction_id.into(),
        };
        let table = &self.hot.transactions.pending;
        table.put(appended.queue_offset, pending);
        Ok(appended.queue_offset)
    }

    /// Add the properties that brokers set.
    fn add_properties(&mut self) {
        let properties = &mut self.scratch.properties;
        properties.set_unique_key(|| self.hot.unique_keys.next(self.now_ms));
        properties.add(&self.hot.broker_properties);
    }

    fn append(&mut self, message: NewMessage<'_>) -> Result<Appended, AppendError> {
        let properties = &self.scratch.properties;
        let message = NewMessage {
            properties: properties.stored(),
            tags_code: Some(properties.tags_code()),
            ..message
        };
        let writer = writer(&mut self.writer, self.store, message.topic)?;
        let appended = writer.append(&message, self.now_ms)?;
        self.scratch.appended.clear();
        self.scratch.appended.push(appended);
        Ok(appended)
    }

    /// Append a packed batch, returning the queue offset of its first message. Each message
    /// keeps the properties its producer gave it (storage-and-ha.md 2.10).
    fn append_batch(&mut self, message: NewMessage<'_>) -> Result<u64, AppendError> {
        if let Some(name) = batch_properties(message.body).find_map(special_in_batch) {
            return Err(AppendError::SpecialInBatch(name));
        }
        self.scratch.appended.clear();
        let writer = writer(&mut self.writer, self.store, message.topic)?;
        writer.append_batch(
            &message,
            message.body,
            self.now_ms,
            &mut self.scratch.appended,
        )?;
        Ok(self
            .scratch
            .appended
            .first()
            .map_or(0, |first| first.queue_offset))
    }

    fn answer(
        &mut self,
        asker: &Asker<'_>,
        is_oneway: bool,
        waits: bool,
        SendQueue { queue_id, led }: SendQueue,
        queue_offset: u64,
    ) {
        if is_oneway {
            return;
        }
        let (queue_id, queue_offset) = match led {
            Some(led) => (led.global_id, led.segment.to_logical(queue_offset)),
            None => (queue_id, queue_offset),
        };
        let Some(last) = self.scratch.appended.last() else {
            return;
        };
        let end = last.log_position + u64::from(last.size);
        let out = if self.is_deferring && waits {
            // No replica gets what is in the second log, but this broker has to lead still.
            if end < LOCAL_START {
                self.received.deferred_position = end;
            }
            &mut self.received.deferred
        } else {
            &mut self.received.replies
        };
        let unique_key = self.scratch.properties.unique_key();
        if asker.encoding == Encoding::Json
            && let [appended] = &self.scratch.appended[..]
            && !unique_key.is_empty()
            && let Some(answer) = &self.hot.stored_answer
        {
            let answered = Answered {
                opaque: asker.opaque,
                log_position: appended.log_position,
                queue_id,
                queue_offset,
                unique_key,
            };
            if answer.write(out, &answered) {
                return;
            }
        }
        let id = &mut self.scratch.message_id;
        id.clear();
        for appended in &self.scratch.appended {
            if !id.is_empty() {
                id.push(',');
            }
            append_message_id(id, self.hot.config.store_host, appended.log_position);
        }
        let stored = Stored {
            message_id: id,
            queue_id,
            queue_offset,
            unique_key: std::str::from_utf8(unique_key)
                .ok()
                .filter(|key| !key.is_empty()),
        };
        asker.stored(out, &stored);
    }
}

/// The writer of the log with the messages of a topic. The locks of two logs are never held together.
pub(super) fn writer<'w, 's>(
    writer: &'w mut Option<Writer<'s>>,
    store: &'s Store,
    topic: &str,
) -> Result<&'w mut Writer<'s>, AppendError> {
    let store = store.of(topic);
    writer.take_if(|writer| !writer.is_of(store));
    match writer {
        Some(writer) => Ok(writer),
        none => Ok(none.insert(store.writer()?)),
    }
}
