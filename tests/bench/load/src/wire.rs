//! The requests of a run, their answers, and the records in the answer to a pull.

use regent_remoting::{
    Encoding, ExtSink, Fields, Frame, FrameWriter, Language, Text, decode_header,
};

use crate::Failure;

const SEND_MESSAGE_V2: i32 = 310;
const PULL_MESSAGE: i32 = 11;
const POP_MESSAGE: i32 = 200_050;
const ACK_MESSAGE: i32 = 200_051;
const VERSION: i32 = 513;

/// The answer to a pull that found messages, and to a send that was stored.
pub(crate) const SUCCESS: i32 = 0;
/// No message at the offset yet.
pub(crate) const PULL_NOT_FOUND: i32 = 19;
/// The offset is outside the queue.
pub(crate) const PULL_OFFSET_MOVED: i32 = 21;

/// The sizes of a body that [`Send`] can number.
pub(crate) const BODY_SIZE_MIN: usize = 8;
const FILLER: u8 = b'x';

/// Opaques start here, so that all have ten digits.
const OPAQUE_FIRST: u32 = 1_000_000_000;
const KEY_PREFIX: &str = "7F0000010A2B18B4AAC2";
const KEY_DIGITS: usize = 12;

/// Encodes sends to one queue: a frame of a Java producer, in which each message gets its own
/// opaque, key and first eight bytes of the body.
pub(crate) struct Send {
    frame: Vec<u8>,
    opaque_at: usize,
    key_at: usize,
    body_at: usize,
}

impl Send {
    pub(crate) fn new(
        topic: &str,
        queue_id: usize,
        queue_count: usize,
        body_size: usize,
    ) -> Result<Self, Failure> {
        let opaque = OPAQUE_FIRST.to_string();
        let queue_id = queue_id.to_string();
        let queue_count = queue_count.to_string();
        let born_ms = std::time::SystemTime::UNIX_EPOCH
            .elapsed()?
            .as_millis()
            .to_string();
        let properties = format!(
            "UNIQ_KEY\u{1}{KEY_PREFIX}{:0KEY_DIGITS$}\u{2}WAIT\u{1}true\u{2}TAGS\u{1}TagA\u{2}",
            0
        );
        let mut frame = Vec::new();
        let mut writer = begin(&mut frame, SEND_MESSAGE_V2, OPAQUE_FIRST.cast_signed());
        for (key, value) in [
            ("a", "bench_producer"),
            ("b", topic),
            ("c", "TBW102"),
            ("d", &queue_count),
            ("e", &queue_id),
            ("f", "0"),
            ("g", &born_ms),
            ("h", "0"),
            ("i", &properties),
            ("j", "0"),
            ("k", "false"),
            ("m", "false"),
        ] {
            writer.ext(key, value);
        }
        writer.finish(&vec![FILLER; body_size])?;
        Ok(Self {
            opaque_at: position(&frame, opaque.as_bytes())?,
            key_at: position(&frame, KEY_PREFIX.as_bytes())? + KEY_PREFIX.len(),
            body_at: frame.len() - body_size,
            frame,
        })
    }

    /// Append the send of one message to the output of a connection.
    pub(crate) fn append(&self, out: &mut Vec<u8>, number: u32) {
        let at = out.len();
        out.extend_from_slice(&self.frame);
        let frame = &mut out[at..];
        write_decimal(
            &mut frame[self.opaque_at..self.opaque_at + 10],
            OPAQUE_FIRST + number,
        );
        write_decimal(&mut frame[self.key_at..self.key_at + KEY_DIGITS], number);
        frame[self.body_at..self.body_at + BODY_SIZE_MIN]
            .copy_from_slice(&u64::from(number).to_be_bytes());
    }
}

/// Returns whether a body is the one that [`Send::append`] gave a message.
pub(crate) fn is_body_of(body: &[u8], number: u32, body_size: usize) -> bool {
    body.len() == body_size
        && body[..BODY_SIZE_MIN] == u64::from(number).to_be_bytes()
        && body[BODY_SIZE_MIN..].iter().all(|byte| *byte == FILLER)
}

/// What one pull asks for.
pub(crate) struct Pull<'a> {
    pub(crate) topic: &'a str,
    pub(crate) queue_id: usize,
    pub(crate) offset: u64,
    pub(crate) count_max: usize,
    /// How long the broker may hold the pull; zero for an answer at once.
    pub(crate) hold_ms: u64,
}

impl Pull<'_> {
    /// Append the pull to the output of a connection.
    pub(crate) fn append(&self, out: &mut Vec<u8>, number: u32) -> Result<(), Failure> {
        let mut writer = begin(out, PULL_MESSAGE, (OPAQUE_FIRST + number).cast_signed());
        writer.ext_plain("consumerGroup", "bench_consumer");
        writer.ext_plain("topic", self.topic);
        writer.ext_number("queueId", self.queue_id);
        writer.ext_number("queueOffset", self.offset);
        writer.ext_number("maxMsgNums", self.count_max);
        // Bit 4: the subscription rides along; bit 2: the broker may hold the pull.
        writer.ext_plain("sysFlag", if self.hold_ms > 0 { "6" } else { "4" });
        writer.ext_plain("commitOffset", "0");
        writer.ext_number("suspendTimeoutMillis", self.hold_ms);
        writer.ext_plain("subscription", "*");
        writer.ext_plain("subVersion", "0");
        Ok(writer.finish(&[])?)
    }
}

/// What one POP asks for: messages of any queue, from the first one on.
pub(crate) struct Pop<'a> {
    pub(crate) topic: &'a str,
    pub(crate) group: &'a str,
    pub(crate) count_max: usize,
}

impl Pop<'_> {
    /// Append the POP to the output of a connection.
    pub(crate) fn append(&self, out: &mut Vec<u8>, number: u32) -> Result<(), Failure> {
        let born_ms = std::time::SystemTime::UNIX_EPOCH.elapsed()?.as_millis();
        let mut writer = begin(out, POP_MESSAGE, (OPAQUE_FIRST + number).cast_signed());
        writer.ext_plain("consumerGroup", self.group);
        writer.ext_plain("topic", self.topic);
        writer.ext_plain("queueId", "-1");
        writer.ext_number("maxMsgNums", self.count_max);
        writer.ext_plain("invisibleTime", "60000");
        writer.ext_plain("pollTime", "1000");
        writer.ext_number("bornTime", u64::try_from(born_ms)?);
        writer.ext_plain("initMode", "0");
        writer.ext_plain("expType", "TAG");
        writer.ext_plain("exp", "*");
        writer.ext_plain("order", "false");
        Ok(writer.finish(&[])?)
    }
}

/// The acknowledgement of one message.
pub(crate) struct Ack<'a> {
    pub(crate) topic: &'a str,
    pub(crate) group: &'a str,
    pub(crate) queue_id: u32,
    pub(crate) offset: u64,
    pub(crate) handle: &'a str,
}

impl Ack<'_> {
    /// Append the acknowledgement to the output of a connection.
    pub(crate) fn append(&self, out: &mut Vec<u8>, number: u32) -> Result<(), Failure> {
        let mut writer = begin(out, ACK_MESSAGE, (OPAQUE_FIRST + number).cast_signed());
        writer.ext_plain("consumerGroup", self.group);
        writer.ext_plain("topic", self.topic);
        writer.ext_number("queueId", self.queue_id);
        writer.ext_plain("extraInfo", self.handle);
        writer.ext_number("offset", self.offset);
        Ok(writer.finish(&[])?)
    }
}

/// The number of the request that an answer belongs to, as given to `append`.
pub(crate) fn number_of(opaque: i32) -> Result<u32, Failure> {
    opaque
        .cast_unsigned()
        .checked_sub(OPAQUE_FIRST)
        .ok_or_else(|| format!("an answer to no request: opaque {opaque}").into())
}

fn begin(out: &mut Vec<u8>, code: i32, opaque: i32) -> FrameWriter<'_> {
    let fields = Fields {
        code,
        language: Language::JAVA,
        version: VERSION,
        opaque,
        flag: 0,
        remark: None,
    };
    FrameWriter::begin(out, Encoding::Json, &fields)
}

fn position(bytes: &[u8], wanted: &[u8]) -> Result<usize, Failure> {
    bytes
        .windows(wanted.len())
        .position(|window| window == wanted)
        .ok_or_else(|| "the frame of a send lacks a field".into())
}

fn write_decimal(digits: &mut [u8], mut number: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
    }
}

/// The header fields of an answer that a run looks at; a field that is missing is `None`.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) code: i32,
    /// Number of the request, as given to `append`.
    pub(crate) number: u32,
    pub(crate) remark: Option<String>,
    pub(crate) queue_offset: Option<u64>,
    pub(crate) next_offset: Option<u64>,
    pub(crate) max_offset: Option<u64>,
}

impl<'a> ExtSink<'a> for Answer {
    fn clear(&mut self) {
        (self.queue_offset, self.next_offset, self.max_offset) = (None, None, None);
    }

    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        let field = match key.as_plain() {
            Some(b"queueOffset") => &mut self.queue_offset,
            Some(b"nextBeginOffset") => &mut self.next_offset,
            Some(b"maxOffset") => &mut self.max_offset,
            _ => return,
        };
        let number = value.and_then(Text::to_i64);
        *field = number.and_then(|number| u64::try_from(number).ok());
    }
}

impl Answer {
    pub(crate) fn decode(frame: &Frame<'_>) -> Result<Self, Failure> {
        let mut answer = Self::default();
        let header = decode_header(frame.encoding, frame.header, &mut answer)?;
        answer.code = header.code;
        answer.number = number_of(header.opaque)?;
        if header.code != SUCCESS {
            answer.remark = header.remark.map(|remark| remark.to_str().into_owned());
        }
        Ok(answer)
    }
}

/// One message in the answer to a pull.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Record<'a> {
    pub(crate) queue_id: u32,
    pub(crate) queue_offset: u64,
    pub(crate) body: &'a [u8],
}

/// Take the first record off the body of a pull's answer, and check the CRC of its body.
pub(crate) fn next_record<'a>(bytes: &mut &'a [u8]) -> Result<Record<'a>, Failure> {
    let (record, rest) = read_record(bytes).ok_or("a record ends early")?;
    *bytes = rest;
    record
}

type Cut<'a> = (Result<Record<'a>, Failure>, &'a [u8]);

fn read_record(bytes: &[u8]) -> Option<Cut<'_>> {
    let size = usize::try_from(u32_at(bytes, 0)?).ok()?;
    let (record, rest) = bytes.split_at_checked(size)?;
    // An IPv6 address is 12 bytes longer; a bit of the system flag says so of each host.
    let sys_flag = u32_at(record, 36)?;
    let longer = 12 * ((sys_flag >> 4 & 1) + (sys_flag >> 5 & 1));
    let body_at = 88 + usize::try_from(longer).ok()?;
    let body_size = usize::try_from(u32_at(record, body_at - 4)?).ok()?;
    let body = record.get(body_at..)?.get(..body_size)?;
    let queue_offset = u64::from_be_bytes(*record.get(20..)?.first_chunk()?);
    if crc32fast::hash(body) & 0x7FFF_FFFF != u32_at(record, 8)? {
        let failure = format!("the body at queue offset {queue_offset} has another CRC");
        return Some((Err(failure.into()), rest));
    }
    let queue_id = u32_at(record, 12)?;
    Some((
        Ok(Record {
            queue_id,
            queue_offset,
            body,
        }),
        rest,
    ))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use regent_remoting::Decoder;

    use super::*;

    /// The example of remoting.md 4.1: 101 bytes, queue 2, offset 41, body `hi`.
    const RECORD: &str = "00000065daa320a758932aac0000000200000000000000000000002900000000\
        0001e240000000000000019950f72c000a0000050000c3500000019950f72c050a00000100002a9f000000000000\
        0000000000000000000268690154000754414753014102";

    fn example() -> Vec<u8> {
        (0..RECORD.len() / 2)
            .map(|at| u8::from_str_radix(&RECORD[2 * at..2 * at + 2], 16).unwrap())
            .collect()
    }

    #[test]
    fn a_send_carries_its_number_in_opaque_key_and_body() {
        let mut out = Vec::new();

        Send::new("T", 3, 8, 20).unwrap().append(&mut out, 1234);

        let mut commands = Vec::new();
        Decoder::new(1 << 20).receive(&out, &mut commands).unwrap();
        assert_eq!(commands[0].opaque, 1_000_001_234);
        assert_eq!(commands[0].ext["e"], "3");
        assert!(commands[0].ext["i"].contains("7F0000010A2B18B4AAC2000000001234"));
        assert!(is_body_of(&commands[0].body, 1234, 20));
        assert!(!is_body_of(&commands[0].body, 1235, 20));
    }

    #[test]
    fn records_are_cut_and_their_bodies_checked() {
        let mut bytes = example();
        bytes.extend(example());
        let mut rest = bytes.as_slice();

        let record = next_record(&mut rest).unwrap();

        let expected = Record {
            queue_id: 2,
            queue_offset: 41,
            body: b"hi",
        };
        assert_eq!(record, expected);
        assert_eq!(rest.len(), 101);
    }

    #[test]
    fn a_flipped_bit_of_a_body_and_a_short_record_are_errors() {
        let mut flipped = example();
        flipped[88] ^= 1;
        let mut short = &example()[..100];

        let error = next_record(&mut flipped.as_slice()).unwrap_err();

        assert!(error.to_string().contains("offset 41 has another CRC"));
        assert!(next_record(&mut short).is_err());
    }
}
