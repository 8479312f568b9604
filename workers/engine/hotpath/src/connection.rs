//! One client connection.

use std::net::SocketAddr;
use std::sync::Arc;

use regent_commitlog::{AppendError, Appended, FlushMode, NewMessage, Store, Writer};
use regent_remoting::message_id::append_message_id;
use regent_remoting::{Command, Encoding, Frame, FrameError, Framer, Header, decode_header};

use crate::broker::{HotPath, HotTopics};
use crate::properties::{PropertyBuffer, Verdict};
use crate::reply::{Answered, Asker, Stored};
use crate::send::{SendFields, SendRequest, is_send};

/// Few queues are told apart as they come, many by sorting at the end.
const ARRIVALS_SEARCHED_MAX: usize = 16;

/// A queue that grew.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrival {
    /// The topic.
    pub topic: Arc<str>,
    /// The queue inside the topic.
    pub queue_id: i32,
    /// The offset of the queue's next message.
    pub max_offset: u64,
}

/// What came of the bytes received.
#[derive(Debug, Default)]
pub struct Received {
    /// To write at once.
    pub replies: Vec<u8>,
    /// To write once the store's flushed position, or what replicas hold, has reached
    /// `deferred_position`.
    pub deferred: Vec<u8>,
    /// The end of the last message that `deferred` answers for.
    pub deferred_position: u64,
    /// Requests that the hot path leaves alone, and answers, in order.
    pub cold: Vec<Command>,
    /// The queues that grew, each once.
    pub arrivals: Vec<Arrival>,
    /// Why the store did not take a message that it should have taken.
    pub store_failure: Option<String>,
}

impl Received {
    fn note_arrival(&mut self, topic: &Arc<str>, queue_id: i32, max_offset: u64) {
        let known = self.arrivals.iter_mut().rev().take(ARRIVALS_SEARCHED_MAX);
        for arrival in known {
            if arrival.queue_id == queue_id && Arc::ptr_eq(&arrival.topic, topic) {
                arrival.max_offset = max_offset;
                return;
            }
        }
        self.arrivals.push(Arrival {
            topic: Arc::clone(topic),
            queue_id,
            max_offset,
        });
    }

    /// Keep each queue once, with its highest offset.
    fn merge_arrivals(&mut self) {
        if self.arrivals.len() <= ARRIVALS_SEARCHED_MAX {
            return;
        }
        self.arrivals.sort_unstable_by(|one, other| other.cmp(one));
        self.arrivals
            .dedup_by(|later, kept| later.queue_id == kept.queue_id && later.topic == kept.topic);
    }
}

/// One connection: reassembles frames, appends hot sends, hands everything else up.
#[derive(Debug)]
pub struct Connection {
    peer: SocketAddr,
    framer: Framer,
    scratch: Scratch,
}

/// Buffers kept from message to message.
#[derive(Debug, Default)]
struct Scratch {
    properties: PropertyBuffer,
    appended: Vec<Appended>,
    message_id: String,
}

impl Connection {
    /// A connection from `peer`.
    #[must_use]
    pub fn new(peer: SocketAddr, hot: &HotPath) -> Self {
        let framer = Framer::new(hot.config.frame_size_max);
        Self {
            peer,
            framer,
            scratch: Scratch::default(),
        }
    }

    /// Take a chunk of bytes. On an error, what came before it is in `received`.
    ///
    /// # Errors
    /// [`FrameError`] when the stream is broken, now and ever after: close the connection.
    pub fn receive(
        &mut self,
        hot: &HotPath,
        store: &Store,
        chunk: &[u8],
        now_ms: i64,
        received: &mut Received,
    ) -> Result<(), FrameError> {
        let topics = hot.topics();
        let call = Call {
            hot,
            store,
            topics: &topics,
            writer: None,
            peer: self.peer,
            now_ms,
            is_writable: hot.is_writable(),
            is_deferring: store.flush_mode() == FlushMode::Sync || hot.is_deferring(),
            scratch: &mut self.scratch,
            received,
        };
        let outcome = call.run(&mut self.framer, chunk);
        received.merge_arrivals();
        outcome
    }
}

/// One call of [`Connection::receive`]: what its frames share.
struct Call<'c> {
    hot: &'c HotPath,
    store: &'c Store,
    topics: &'c HotTopics,
    /// Taken by the first append, so that a call takes the lock once or not at all.
    writer: Option<Writer<'c>>,
    peer: SocketAddr,
    now_ms: i64,
    is_writable: bool,
    is_deferring: bool,
    scratch: &'c mut Scratch,
    received: &'c mut Received,
}

impl Call<'_> {
    fn run(mut self, framer: &mut Framer, chunk: &[u8]) -> Result<(), FrameError> {
        let mut frames = framer.receive(chunk);
        while let Some(frame) = frames.next_frame()? {
            if let Err(error) = self.on_frame(&frame) {
                framer.fail(error);
                return Err(error);
            }
        }
        Ok(())
    }

    fn on_frame(&mut self, frame: &Frame<'_>) -> Result<(), FrameError> {
        let mut fields = SendFields::default();
        let header = decode_header(frame.encoding, frame.header, &mut fields)?;
        let request = match is_send(header.code) && !header.is_response() {
            true => fields.request(header.code),
            false => None,
        };
        if !request.is_some_and(|request| self.on_send(frame, &header, &request)) {
            self.received.cold.push(Command::decode(frame)?);
        }
        Ok(())
    }

    /// Append and answer a send. `false` leaves it, untouched, for the dispatcher.
    fn on_send(&mut self, frame: &Frame<'_>, header: &Header<'_>, send: &SendRequest<'_>) -> bool {
        let Some(topic) = self.topics.get(send.topic.as_ref()) else {
            return false;
        };
        let Verdict::Ordinary { waits } = self.scratch.properties.take(send.properties) else {
            return false;
        };
        let Some(queue_id) = topic.queue_id(send.queue_id, &self.hot.next_queue) else {
            return false;
        };
        let config = &self.hot.config;
        let asker = Asker {
            encoding: frame.encoding,
            opaque: header.opaque,
            region: &config.region,
        };
        if !self.is_writable {
            if !header.is_oneway() {
                asker.not_writable(&mut self.received.replies, &self.hot.refusal());
            }
            return true;
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
        let outcome = if send.is_batch {
            self.append_batch(message)
        } else {
            self.append_one(message)
        };
        match outcome {
            Ok(first) => {
                self.answer(&asker, header.is_oneway(), waits, queue_id, first);
                let next = first + self.scratch.appended.len() as u64;
                self.received.note_arrival(&topic.name, queue_id, next);
            }
            Err(error) => {
                if let AppendError::Store(failure) = &error {
                    self.received.store_failure = Some(failure.to_string());
                }
                if !header.is_oneway() {
                    asker.failed(&mut self.received.replies, &error);
                }
            }
        }
        true
    }

    /// Append one message, returning its queue offset.
    fn append_one(&mut self, message: NewMessage<'_>) -> Result<u64, AppendError> {
        let properties = &mut self.scratch.properties;
        properties.set_unique_key(|| self.hot.unique_keys.next(self.now_ms));
        properties.add(&self.hot.broker_properties);
        let message = NewMessage {
            properties: properties.stored(),
            ..message
        };
        let writer = writer(&mut self.writer, self.store)?;
        let appended = writer.append(&message, self.now_ms)?;
        self.scratch.appended.clear();
        self.scratch.appended.push(appended);
        Ok(appended.queue_offset)
    }

    /// Append a packed batch, returning the queue offset of its first message. Each message
    /// keeps the properties its producer gave it (storage-and-ha.md 2.10).
    fn append_batch(&mut self, message: NewMessage<'_>) -> Result<u64, AppendError> {
        self.scratch.appended.clear();
        let writer = writer(&mut self.writer, self.store)?;
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
        queue_id: i32,
        queue_offset: u64,
    ) {
        if is_oneway {
            return;
        }
        let Some(last) = self.scratch.appended.last() else {
            return;
        };
        let end = last.log_position + u64::from(last.size);
        let out = if self.is_deferring && waits {
            self.received.deferred_position = end;
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

fn writer<'w, 's>(
    writer: &'w mut Option<Writer<'s>>,
    store: &'s Store,
) -> Result<&'w mut Writer<'s>, AppendError> {
    match writer {
        Some(writer) => Ok(writer),
        none => Ok(none.insert(store.writer()?)),
    }
}
