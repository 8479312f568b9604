//! Requests that another member of the broker group answers (ADR 27).
//!
//! A replica passes acknowledgements of SHARED topics on to the sequencer, and any member forwards POPs to the owner
//! (queue-ownership.md 4.7, 4.10). Only answers that need no decision here are given on. With any
//! other answer, or without one, the dispatcher asks again. Both requests have the same outcome if
//! they are repeated, with one exception: messages of a lost answer come again once they are no
//! longer hidden.

use std::collections::BTreeMap;

use regent_remoting::{
    Command, EncodeError, Encoding, FLAG_RESPONSE, Fields, Frame, FrameWriter, Header, Language,
};

use crate::pop::{ACK_MESSAGE, AckRequest};
use crate::pulled::Answering;
use crate::reply::{NOT_LEADER_FOR_QUEUE, SERVICE_NOT_AVAILABLE, SUCCESS, VERSION, done};

/// Marks a POP that was forwarded: its receiver does not forward it again (queue-ownership.md 4.7).
pub(crate) const FORWARDED: &str = "shareFwd";
/// Marks a request that was passed on: its receiver serves it as master, or says that it is not the master.
pub(crate) const PASSED_ON: &str = "regentPassedOn";
/// Marks a step of an operation, which is for the broker that it names.
pub(crate) const FENCE: &str = "regentFence";

/// Stands for the sequencer in place of its broker id.
pub const SEQUENCER: u64 = 0;

/// The message is finished already, or the handle is void.
pub(crate) const NO_MESSAGE: i32 = 208;

/// The receiver of a request that was passed on is not the master, and has changed nothing.
const NOT_TAKEN: i32 = 7002;

/// What a request takes in memory besides its header, about.
const ENTRY_BYTES: usize = 256;

/// The fields that a member writes into a POP.
const OWN: [(&str, &str); OWN_COUNT] = [("pollTime", "0"), ("bornTime", "0"), (FORWARDED, "1")];
pub(crate) const OWN_COUNT: usize = 3;

/// Requests for one member.
#[derive(Debug)]
pub struct Forwards {
    /// The broker id of the member, or [`SEQUENCER`].
    pub member: u64,
    /// The frames to send.
    pub frames: Vec<u8>,
    /// The requests, in the same order.
    pub requests: Vec<Forward>,
}

impl Forwards {
    pub(crate) fn new(member: u64) -> Self {
        Self {
            member,
            frames: Vec::new(),
            requests: Vec::new(),
        }
    }
}

/// A request of a client that a member is to answer.
#[derive(Debug)]
pub struct Forward {
    /// The correlation id of the request to the member.
    pub number: i32,
    pub(crate) is_pop: bool,
    pub(crate) answering: Answering,
    /// The header as the client sent it.
    pub(crate) header: Box<[u8]>,
}

/// The answer of a member.
#[derive(Debug)]
pub struct MemberAnswer<'a> {
    /// Its header.
    pub header: Header<'a>,
    /// Its fields.
    pub ext: BTreeMap<String, String>,
    /// Its body.
    pub body: &'a [u8],
}

impl MemberAnswer<'_> {
    /// The answer as a command.
    #[must_use]
    pub fn command(&self) -> Command {
        let frame = Frame {
            encoding: Encoding::Json,
            header: &[],
            body: self.body,
        };
        Command::from_parts(&self.header, self.ext.clone(), &frame)
    }
}

impl Forward {
    /// About so many bytes of memory are kept for it.
    #[must_use]
    pub fn size(&self) -> usize {
        self.header.len() + ENTRY_BYTES
    }

    /// Whether it is a POP, not an acknowledgement.
    #[must_use]
    pub fn is_pop(&self) -> bool {
        self.is_pop
    }

    /// The request as the client sent it, for the dispatcher.
    #[must_use]
    pub fn request(&self) -> Option<Command> {
        let frame = Frame {
            encoding: self.answering.encoding,
            header: &self.header,
            body: &[],
        };
        // The header was read before.
        Command::decode(&frame).ok()
    }

    /// Whether an answer hands out messages: its consumer has them, or they have to be given back.
    #[must_use]
    pub fn has_messages(&self, answer: &MemberAnswer<'_>) -> bool {
        self.is_pop && answer.header.code == SUCCESS && !answer.body.is_empty()
    }

    /// Whether an answer says that the member is not the one which serves such requests now.
    #[must_use]
    pub fn is_refused(answer: &MemberAnswer<'_>) -> bool {
        matches!(
            answer.header.code,
            SERVICE_NOT_AVAILABLE | NOT_LEADER_FOR_QUEUE | NOT_TAKEN
        )
    }

    /// Write the answer of the member for the client. `false` if the dispatcher is to ask again.
    pub fn give_on(&self, answer: &MemberAnswer<'_>, out: &mut Vec<u8>) -> bool {
        let Answering { opaque, encoding } = self.answering;
        if self.is_pop {
            return self.has_messages(answer) && write_found(out, self.answering, answer).is_ok();
        }
        match answer.header.code {
            SUCCESS => done(out, encoding, opaque),
            NO_MESSAGE => {
                let remark = answer.header.remark.map(|remark| remark.to_str());
                let remark = remark.unwrap_or_default();
                self.answering.refuse(out, NO_MESSAGE, &remark);
            }
            _ => return false,
        }
        true
    }
}

fn write_found(
    out: &mut Vec<u8>,
    answering: Answering,
    answer: &MemberAnswer<'_>,
) -> Result<(), EncodeError> {
    let remark = answer.header.remark.map(|remark| remark.to_str());
    let fields = Fields {
        code: SUCCESS,
        language: Language::JAVA,
        version: VERSION,
        opaque: answering.opaque,
        flag: FLAG_RESPONSE,
        remark: remark.as_deref(),
    };
    let mut writer = FrameWriter::begin(out, answering.encoding, &fields);
    for (key, value) in &answer.ext {
        writer.ext(key, value);
    }
    writer.finish(answer.body)
}

/// Write an acknowledgement for the sequencer.
pub(crate) fn write_ack(
    out: &mut Vec<u8>,
    number: i32,
    request: &AckRequest<'_>,
) -> Result<(), EncodeError> {
    let mut writer = FrameWriter::begin(out, Encoding::Json, &asking(ACK_MESSAGE, number));
    writer.ext_text("consumerGroup", &request.group);
    writer.ext_text("topic", &request.topic);
    writer.ext_number("queueId", request.queue_id);
    writer.ext_text("extraInfo", &request.handle);
    writer.ext_number("offset", request.offset);
    writer.ext_plain(PASSED_ON, "true");
    writer.finish(&[])
}

/// Write a POP for an owner, which does not wait for messages: the dispatcher does.
pub(crate) fn write_pop(
    out: &mut Vec<u8>,
    number: i32,
    request: &Command,
) -> Result<(), EncodeError> {
    let mut writer = FrameWriter::begin(out, Encoding::Json, &asking(request.code, number));
    let given = request.ext.iter().map(|(key, value)| (&**key, &**value));
    for (key, value) in given.filter(|(key, _)| OWN.iter().all(|(name, _)| name != key)) {
        writer.ext(key, value);
    }
    OWN.iter().for_each(|(key, value)| writer.ext(key, value));
    writer.finish(&[])
}

fn asking(code: i32, number: i32) -> Fields<'static> {
    Fields {
        code,
        language: Language::JAVA,
        version: VERSION,
        opaque: number,
        flag: 0,
        remark: None,
    }
}
