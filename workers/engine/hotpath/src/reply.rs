//! Answers of sends (remoting.md 2.2, 5).

use std::net::SocketAddr;

use regent_commitlog::{AppendError, StoreError};
use regent_remoting::message_id::{append_message_id, position_hex};
use regent_remoting::{Encoding, FLAG_RESPONSE, Fields, FrameWriter, Language, is_json_plain};

/// The protocol version answers carry: stock 5.5.0. It must not be below 232, or clients refuse
/// SQL filters (remoting.md 1.4).
pub(crate) const VERSION: i32 = 513;

const FRAME_PREFIX_SIZE: usize = 8;

pub(crate) const SUCCESS: i32 = 0;
pub(crate) const SYSTEM_ERROR: i32 = 1;
pub(crate) const SYSTEM_BUSY: i32 = 2;
const MESSAGE_ILLEGAL: i32 = 13;
pub(crate) const SERVICE_NOT_AVAILABLE: i32 = 14;
const INVALID_PARAMETER: i32 = 29;
pub(crate) const NOT_LEADER_FOR_QUEUE: i32 = 501;

/// The code that says why nothing was stored.
pub(crate) fn failure_code(error: &AppendError) -> i32 {
    match error {
        AppendError::IllegalTopic | AppendError::IllegalQueueId(_) => INVALID_PARAMETER,
        AppendError::MessageTooLarge { .. }
        | AppendError::PropertiesTooLarge(_)
        | AppendError::BlankProperties
        | AppendError::OtherLog
        | AppendError::MalformedBatch(_)
        | AppendError::SpecialInBatch(_) => MESSAGE_ILLEGAL,
        AppendError::QueueSealed { .. } => NOT_LEADER_FOR_QUEUE,
        AppendError::Store(
            StoreError::DiskFull { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::Closed
            | StoreError::Poisoned { .. }
            | StoreError::Io { .. },
        ) => SERVICE_NOT_AVAILABLE,
        _ => SYSTEM_ERROR,
    }
}

/// Write whether clients shall trace.
pub(crate) fn trace_text(trace_on: bool) -> &'static str {
    if trace_on { "true" } else { "false" }
}

/// Who asked, and how to answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asker<'a> {
    pub(crate) encoding: Encoding,
    pub(crate) opaque: i32,
    pub(crate) region: &'a str,
    pub(crate) trace_on: bool,
}

/// What the answer to the sender of a stored message says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stored<'a> {
    pub(crate) message_id: &'a str,
    pub(crate) queue_id: i32,
    pub(crate) queue_offset: u64,
    pub(crate) unique_key: Option<&'a str>,
}

impl Asker<'_> {
    fn begin<'o>(&self, out: &'o mut Vec<u8>, code: i32, remark: Option<&str>) -> FrameWriter<'o> {
        let mut writer = begin_answer(out, self.encoding, self.opaque, code, remark);
        writer.ext_text("MSG_REGION", self.region);
        writer.ext_plain("TRACE_ON", trace_text(self.trace_on));
        writer
    }

    /// Answer that the message is stored.
    pub(crate) fn stored(&self, out: &mut Vec<u8>, stored: &Stored<'_>) {
        let mut writer = self.begin(out, SUCCESS, None);
        writer.ext_plain("msgId", stored.message_id);
        writer.ext_number("queueId", stored.queue_id);
        writer.ext_number("queueOffset", stored.queue_offset);
        if let Some(key) = stored.unique_key {
            writer.ext_text("transactionId", key);
        }
        self.finish(writer);
    }

    /// Answer that sends are not taken now.
    pub(crate) fn not_writable(&self, out: &mut Vec<u8>, reason: &str) {
        self.refuse(out, SERVICE_NOT_AVAILABLE, reason);
    }

    /// Answer why the message was not stored.
    pub(crate) fn failed(&self, out: &mut Vec<u8>, error: &AppendError) {
        self.refuse(out, failure_code(error), &error.to_string());
    }

    fn refuse(&self, out: &mut Vec<u8>, code: i32, remark: &str) {
        self.finish(self.begin(out, code, Some(remark)));
    }

    /// Close an answer. It always fits: even the ids of the largest batch stay below the header
    /// limit, because each entry of it is nearly as long as its id.
    fn finish(&self, writer: FrameWriter<'_>) {
        let _ = writer.finish(&[]);
    }
}

/// Answer that a request is carried out, with no fields.
pub(crate) fn done(out: &mut Vec<u8>, encoding: Encoding, opaque: i32) {
    // It always fits: the header has no text from outside.
    let _ = begin_answer(out, encoding, opaque, SUCCESS, None).finish(&[]);
}

fn begin_answer<'o>(
    out: &'o mut Vec<u8>,
    encoding: Encoding,
    opaque: i32,
    code: i32,
    remark: Option<&str>,
) -> FrameWriter<'o> {
    let fields = Fields {
        code,
        language: Language::JAVA,
        version: VERSION,
        opaque,
        flag: FLAG_RESPONSE,
        remark,
    };
    FrameWriter::begin(out, encoding, &fields)
}

/// The JSON answer to a stored single message, made ahead: an answer of [`Asker::stored`], cut
/// where the values stand that differ from message to message.
#[derive(Debug)]
pub(crate) struct StoredAnswer([Vec<u8>; 6]);

/// The values that differ.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answered<'a> {
    pub(crate) opaque: i32,
    pub(crate) log_position: u64,
    pub(crate) queue_id: i32,
    pub(crate) queue_offset: u64,
    /// In UTF-8.
    pub(crate) unique_key: &'a [u8],
}

impl Answered<'_> {
    const PATTERN: Self = Answered {
        opaque: i32::MAX,
        log_position: 0x0123_4567_89AB_CDEF,
        queue_id: i32::MAX - 1,
        queue_offset: u64::MAX - 1,
        unique_key: b"the unique key",
    };
    const CHECK: Self = Answered {
        opaque: -1,
        log_position: 0,
        queue_id: 2,
        queue_offset: 3,
        unique_key: b"k",
    };

    /// Write the answer field by field.
    fn write(&self, out: &mut Vec<u8>, region: &str, trace_on: bool, store_host: SocketAddr) {
        let mut message_id = String::new();
        append_message_id(&mut message_id, store_host, self.log_position);
        let asker = Asker {
            encoding: Encoding::Json,
            opaque: self.opaque,
            region,
            trace_on,
        };
        let stored = Stored {
            message_id: &message_id,
            queue_id: self.queue_id,
            queue_offset: self.queue_offset,
            unique_key: std::str::from_utf8(self.unique_key).ok(),
        };
        asker.stored(out, &stored);
    }
}

impl StoredAnswer {
    /// Make the answers of a broker; `None` when its region's name looks like one of the values.
    pub(crate) fn new(region: &str, trace_on: bool, store_host: SocketAddr) -> Option<Self> {
        let pattern = Answered::PATTERN;
        let mut answer = Vec::new();
        pattern.write(&mut answer, region, trace_on, store_host);
        let mut rest = std::str::from_utf8(answer.get(FRAME_PREFIX_SIZE..)?).ok()?;
        let mut pieces: [Vec<u8>; 6] = Default::default();
        let position = position_hex(pattern.log_position);
        let values = [
            pattern.opaque.to_string(),
            std::str::from_utf8(&position).ok()?.to_owned(),
            pattern.queue_id.to_string(),
            pattern.queue_offset.to_string(),
            "the unique key".to_owned(),
        ];
        for (piece, value) in pieces.iter_mut().zip(&values) {
            let (before, after) = rest.split_once(value.as_str())?;
            *piece = before.into();
            rest = after;
        }
        pieces[5] = rest.into();
        let made = Self(pieces);
        let (mut expected, mut written) = (Vec::new(), Vec::new());
        Answered::CHECK.write(&mut expected, region, trace_on, store_host);
        made.write(&mut written, &Answered::CHECK);
        (written == expected).then_some(made)
    }

    /// Write an answer; `false` leaves it to [`Asker::stored`], whose escapes its key needs.
    pub(crate) fn write(&self, out: &mut Vec<u8>, answered: &Answered<'_>) -> bool {
        if !is_json_plain(answered.unique_key) {
            return false;
        }
        let [head, to_id, to_queue, to_offset, to_key, tail] = &self.0;
        let start = out.len();
        let mut digits = itoa::Buffer::new();
        out.extend_from_slice(&[0; FRAME_PREFIX_SIZE]);
        out.extend_from_slice(head);
        out.extend_from_slice(digits.format(answered.opaque).as_bytes());
        out.extend_from_slice(to_id);
        out.extend_from_slice(&position_hex(answered.log_position));
        out.extend_from_slice(to_queue);
        out.extend_from_slice(digits.format(answered.queue_id).as_bytes());
        out.extend_from_slice(to_offset);
        out.extend_from_slice(digits.format(answered.queue_offset).as_bytes());
        out.extend_from_slice(to_key);
        out.extend_from_slice(answered.unique_key);
        out.extend_from_slice(tail);
        // A header of a few hundred bytes and a key of at most 32 KiB fit their fields.
        let size = u32::try_from(out.len() - start - 4).unwrap_or(u32::MAX);
        out[start..start + 4].copy_from_slice(&size.to_be_bytes());
        out[start + 4..start + 8].copy_from_slice(&(size - 4).to_be_bytes());
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: &str = "10.0.0.1:10911";

    #[test]
    fn an_answer_made_ahead_is_the_answer_written_field_by_field() {
        let made = StoredAnswer::new("DefaultRegion", true, HOST.parse().unwrap()).unwrap();
        for opaque in [0, 7, -7, i32::MIN, i32::MAX] {
            for number in [0, 1, 9_999_999_999, u64::from(u32::MAX)] {
                for unique_key in
                    ["7F0000010A2B18B4AAC2000000010000", "schlüssel"].map(str::as_bytes)
                {
                    let answered = Answered {
                        opaque,
                        log_position: number << 7,
                        queue_id: opaque >> 3,
                        queue_offset: number,
                        unique_key,
                    };
                    let (mut expected, mut written) = (b"x".to_vec(), b"x".to_vec());
                    answered.write(&mut expected, "DefaultRegion", true, HOST.parse().unwrap());

                    assert!(made.write(&mut written, &answered));

                    assert_eq!(written, expected);
                }
            }
        }
    }

    #[test]
    fn a_key_that_needs_escapes_is_left_alone() {
        let made = StoredAnswer::new("DefaultRegion", true, HOST.parse().unwrap()).unwrap();
        let answered = Answered {
            unique_key: b"a\"b",
            ..Answered::CHECK
        };
        let mut written = Vec::new();

        assert!(!made.write(&mut written, &answered));

        assert!(written.is_empty());
    }

    #[test]
    fn a_region_that_looks_like_a_value_makes_none() {
        let region = "0123456789ABCDEF";

        assert!(StoredAnswer::new(region, true, HOST.parse().unwrap()).is_none());
    }
}
