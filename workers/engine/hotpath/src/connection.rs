//! One client connection.

use std::net::SocketAddr;

use regent_commitlog::{Appended, FlushMode, Store, Writer};
use regent_remoting::{
    Command, Encoding, ExtSink, Frame, FrameError, Framer, Header, Text, decode_header,
};

use crate::broker::{HotPath, HotTopics};
use crate::end::{EndFields, is_end};
use crate::pattern::{Followed, SendPatterns};
use crate::pop::{ACK_MESSAGE, POP_MESSAGE};
use crate::properties::{PropertyBuffer, Verdict};
use crate::pull::{PullFields, Taker, is_pull};
use crate::received::Received;
use crate::send::{SendFields, is_send};
use crate::socket::PullAnswers;
use crate::transactions::{HALF_TOPIC, QUEUE_ID};

mod acks;
mod ends;
mod forwards;
mod pops;
mod pulls;
mod sends;

pub use ends::IN_MEMORY_BYTES;
pub use pulls::WaitingPull;

/// A chunk that is longer than one short message probably holds several sends: their answers, of a
/// quarter of their size, have room without growing again and again.
const PIPELINED_BYTES_MIN: usize = 4 << 10;

/// What the buffers of a connection keep between two calls, as after ordinary messages: connections are
/// without number.
const KEPT_SIZE_MAX: usize = 256 << 10;

/// One connection: reassembles frames, appends hot sends, hands everything else up.
#[derive(Debug)]
pub struct Connection {
    /// No other connection of the broker has this id.
    id: u64,
    peer: SocketAddr,
    framer: Framer,
    patterns: SendPatterns,
    scratch: Scratch,
}

/// Buffers kept from message to message.
#[derive(Debug, Default)]
struct Scratch {
    properties: PropertyBuffer,
    appended: Vec<Appended>,
    message_id: String,
    pull_key: Vec<u8>,
    pull_head: Vec<u8>,
}

impl Scratch {
    /// How many bytes of memory the buffers keep.
    fn capacity(&self) -> usize {
        self.properties.capacity()
            + self.appended.capacity() * size_of::<Appended>()
            + self.message_id.capacity()
            + self.pull_key.capacity()
            + self.pull_head.capacity()
    }
}

/// Collects the fields of each kind of request that the hot path may answer. The header's code says
/// which kind it is, and may come after the fields.
#[derive(Debug, Default)]
struct RequestFields<'a> {
    send: SendFields<'a>,
    pull: PullFields<'a>,
    end: EndFields<'a>,
}

impl<'a> ExtSink<'a> for RequestFields<'a> {
    fn clear(&mut self) {
        self.send.clear();
        self.pull.clear();
        self.end.clear();
    }

    #[inline]
    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        self.send.put(key, value);
        // Most sends have names of one letter.
        if key.as_plain().is_none_or(|name| name.len() > 1) {
            self.pull.put(key, value);
            self.end.put(key, value);
        }
    }
}

impl Connection {
    /// A connection from `peer`.
    #[must_use]
    pub fn new(peer: SocketAddr, hot: &HotPath) -> Self {
        Self::numbered(hot.next_connection(), peer, hot)
    }

    /// A connection of the client that has an id already, for requests that another thread takes of it.
    #[must_use]
    pub fn numbered(id: u64, peer: SocketAddr, hot: &HotPath) -> Self {
        let framer = Framer::new(hot.config.frame_size_max);
        Self {
            id,
            peer,
            framer,
            patterns: SendPatterns::default(),
            scratch: Scratch::default(),
        }
    }

    /// Take a chunk of bytes, and leave all pulls to the dispatcher. On an error, what came before
    /// it is in `received`.
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
        let nobody = Taker {
            bytes_max: 0,
            answer_bytes_max: 0,
            answers: &mut PullAnswers::default(),
            elapsed_ms: 0,
        };
        self.receive_pulls(hot, store, chunk, now_ms, received, nobody)
    }

    /// As [`Self::receive`], and give answers of granted pulls to `taker`.
    ///
    /// # Errors
    /// As for [`Self::receive`].
    pub fn receive_pulls<'s>(
        &mut self,
        hot: &HotPath,
        store: &'s Store,
        chunk: &[u8],
        now_ms: i64,
        received: &mut Received,
        taker: Taker<'_, 's>,
    ) -> Result<(), FrameError> {
        let topics = hot.topics();
        if chunk.len() >= PIPELINED_BYTES_MIN {
            received.replies.reserve(chunk.len() / 4);
        }
        let (peer, scratch) = (self.peer, &mut self.scratch);
        let mut call = Call::new(hot, store, &topics, peer, now_ms, scratch, received, taker);
        call.connection = self.id;
        call.is_setting_aside = hot.is_setting_aside();
        let outcome = call.run(&mut self.framer, &mut self.patterns, chunk);
        received.merge_arrivals();
        wake(hot, store, received);
        if self.scratch.capacity() > KEPT_SIZE_MAX {
            self.scratch = Scratch::default();
        }
        outcome
    }
}

/// Wakes the pulls at the queues that grew, unless readers do not see the messages yet.
fn wake(hot: &HotPath, store: &Store, received: &mut Received) {
    let is_limited = store.is_read_limited();
    for arrival in &received.arrivals {
        if !is_limited || store.is_local(&arrival.topic) {
            received.is_turn_due |= hot.wake(&arrival.topic, arrival.queue_id, arrival.max_offset);
        }
    }
}

/// A send that the dispatcher has decoded and checked.
#[derive(Debug)]
pub struct DecodedSend<'a> {
    /// Request code.
    pub code: i32,
    /// Correlation id chosen by the requester.
    pub opaque: i32,
    /// The bits of the header.
    pub flag: i32,
    /// How its header was written, and its answer is.
    pub encoding: Encoding,
    /// The custom header fields.
    pub ext: Vec<(&'a str, &'a str)>,
    /// The message.
    pub body: &'a [u8],
}

impl<'a> DecodedSend<'a> {
    fn fields(&self) -> SendFields<'a> {
        let mut fields = SendFields::default();
        for &(key, value) in &self.ext {
            fields.put(Text::plain(key), Some(Text::plain(value)));
        }
        fields
    }
}

/// Make the file that the queue of a send lacks, while others append; [`append_send`] it then. This waits for
/// the disk. Where the file cannot be made, the append says why.
pub fn make_queue_file(hot: &HotPath, store: &Store, send: &DecodedSend<'_>) {
    let fields = send.fields();
    let Some(request) = fields.request(send.code) else {
        return;
    };
    let mut properties = PropertyBuffer::default();
    properties.set(fields.properties(send.code));
    if let Verdict::Half { .. } = properties.keep_checked() {
        let _ = store.make_queue_file(HALF_TOPIC, QUEUE_ID, 1);
        return;
    }
    let topics = hot.topics();
    let topic = topics.get(request.topic.as_ref());
    // Where the broker is to choose the queue, it chooses another one for the append.
    if let Some(topic) = topic.filter(|_| request.queue_id >= 0)
        && let Some(queue) = topic.queue(request.queue_id, &hot.next_queue)
    {
        let name = topic.name.clone();
        drop(topics);
        let count = request.count_max(send.body.len());
        let _ = store.make_queue_file(&name, queue.queue_id, count);
    }
}

/// Append and answer one send of `peer` as a connection does, be it an ordinary message or a half message.
/// `false` leaves it: it is another one, or clients cannot simply send to its topic.
pub fn append_send(
    hot: &HotPath,
    store: &Store,
    peer: SocketAddr,
    send: &DecodedSend<'_>,
    now_ms: i64,
    received: &mut Received,
) -> bool {
    let fields = send.fields();
    let Some(request) = fields.request(send.code) else {
        return false;
    };
    let frame = Frame {
        encoding: send.encoding,
        header: &[],
        body: send.body,
    };
    let header = Header {
        code: send.code,
        opaque: send.opaque,
        flag: send.flag,
        ..Header::default()
    };
    let mut scratch = Scratch::default();
    scratch.properties.set(fields.properties(send.code));
    let nobody = Taker {
        bytes_max: 0,
        answer_bytes_max: 0,
        answers: &mut PullAnswers::default(),
        elapsed_ms: 0,
    };
    let (topics, scratch) = (hot.topics(), &mut scratch);
    let mut call = Call::new(hot, store, &topics, peer, now_ms, scratch, received, nobody);
    call.is_checked = true;
    let is_taken = call.on_send(&frame, &header, &request);
    drop(call);
    wake(hot, store, received);
    is_taken
}

/// One call of [`Connection::receive`]: what its frames share.
struct Call<'c, 't, 's> {
    hot: &'c HotPath,
    store: &'s Store,
    topics: &'c HotTopics,
    /// Taken by the first append, so that a call takes the lock once or not at all.
    writer: Option<Writer<'s>>,
    connection: u64,
    peer: SocketAddr,
    now_ms: i64,
    is_writable: bool,
    is_handing_up: bool,
    is_deferring: bool,
    is_setting_aside: bool,
    /// Whether the dispatcher has checked the send.
    is_checked: bool,
    /// Whether the send that was left last waits for a file of its queue.
    lacks_file: bool,
    /// [`HotPath::wake_count`] before the present request looked for messages.
    wake_count: u64,
    scratch: &'c mut Scratch,
    /// Acknowledgements that are answered together.
    acks: Vec<acks::Ack>,
    received: &'c mut Received,
    taker: Taker<'t, 's>,
}

impl<'c, 't, 's> Call<'c, 't, 's> {
    #[expect(clippy::too_many_arguments, reason = "each is of another kind")]
    fn new(
        hot: &'c HotPath,
        store: &'s Store,
        topics: &'c HotTopics,
        peer: SocketAddr,
        now_ms: i64,
        scratch: &'c mut Scratch,
        received: &'c mut Received,
        taker: Taker<'t, 's>,
    ) -> Self {
        Self {
            hot,
            store,
            topics,
            writer: None,
            connection: 0,
            peer,
            now_ms,
            is_writable: hot.is_writable(),
            is_handing_up: hot.is_handing_up(),
            is_deferring: store.flush_mode() == FlushMode::Sync || hot.is_deferring(),
            is_setting_aside: false,
            is_checked: false,
            lacks_file: false,
            wake_count: hot.wake_count(),
            scratch,
            acks: Vec::new(),
            received,
            taker,
        }
    }

    fn run(
        mut self,
        framer: &mut Framer,
        patterns: &mut SendPatterns,
        chunk: &[u8],
    ) -> Result<(), FrameError> {
        let outcome = self.serve(framer, patterns, chunk);
        self.settle();
        outcome
    }

    fn serve(
        &mut self,
        framer: &mut Framer,
        patterns: &mut SendPatterns,
        chunk: &[u8],
    ) -> Result<(), FrameError> {
        let mut frames = framer.receive(chunk);
        while let Some(frame) = frames.next_frame()? {
            if let Err(error) = self.on_frame(&frame, patterns) {
                framer.fail(error);
                return Err(error);
            }
            let has_enough =
                self.taker.bytes_max > 0 && self.received.pulled_bytes >= self.taker.bytes_max;
            if has_enough || self.received.set_aside.is_some() {
                self.received.left = frames.leave().len();
                break;
            }
        }
        Ok(())
    }

    fn on_frame(
        &mut self,
        frame: &Frame<'_>,
        patterns: &mut SendPatterns,
    ) -> Result<(), FrameError> {
        self.wake_count = self.hot.wake_count();
        if frame.encoding == Encoding::Json
            && let Some(followed) = patterns.follow(frame.header, &mut self.scratch.properties)
        {
            let Followed {
                opaque,
                header_flag: flag,
                send,
            } = followed;
            let header = Header {
                opaque,
                flag,
                ..Header::default()
            };
            if !self.on_send(frame, &header, &send) {
                self.hand_up(Command::decode(frame)?);
            }
            return Ok(());
        }
        let mut fields = RequestFields::default();
        let header = decode_header(frame.encoding, frame.header, &mut fields)?;
        let is_answered = if header.is_response() {
            false
        } else if is_send(header.code) {
            let send = fields.send.request(header.code);
            self.scratch
                .properties
                .set(fields.send.properties(header.code));
            let is_answered = send.is_some_and(|send| self.on_send(frame, &header, &send));
            if is_answered && frame.encoding == Encoding::Json {
                patterns.learn(frame.header, &header, &fields.send);
            }
            is_answered
        } else if is_pull(header.code) && !header.is_oneway() {
            let pull = fields.pull.request(header.code);
            pull.is_some_and(|pull| self.on_pull(frame, &header, &pull))
        } else if header.code == ACK_MESSAGE {
            let ack = fields.pull.ack();
            ack.is_some_and(|ack| self.on_ack(frame, &header, &ack))
        } else if header.code == POP_MESSAGE && !header.is_oneway() {
            let pop = fields.pull.pop();
            pop.is_some_and(|pop| self.on_pop(frame, &header, &pop))
        } else if is_end(header.code) {
            let end = fields.end.request();
            end.is_some_and(|end| self.on_end(frame, &header, &end))
        } else {
            false
        };
        if !is_answered {
            self.hand_up(Command::decode(frame)?);
        }
        Ok(())
    }

    fn hand_up(&mut self, command: Command) {
        if std::mem::take(&mut self.lacks_file) {
            self.received.set_aside = Some(command);
        } else {
            self.received.cold.push(command);
        }
    }
}

#[cfg(test)]
mod tests;
