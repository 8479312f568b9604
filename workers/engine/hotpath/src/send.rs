//! Send requests: 10 with long names, 310 and 320 with one-letter keys (remoting.md 2.2).

use std::borrow::Cow;

use regent_remoting::{ExtSink, Text};

const SEND_MESSAGE: i32 = 10;
const SEND_MESSAGE_V2: i32 = 310;
const SEND_BATCH_MESSAGE: i32 = 320;

/// Bits of committed messages and inner batches (remoting.md 4.2): none of these messages is hot.
const SYS_FLAG_COLD: i32 = 8 | 64 | 128;

/// A field's place is its one-letter key's place in the alphabet.
const LONG_NAMES: [&str; FIELD_COUNT] = [
    "producerGroup",
    "topic",
    "defaultTopic",
    "defaultTopicQueueNums",
    "queueId",
    "sysFlag",
    "bornTimestamp",
    "flag",
    "properties",
    "reconsumeTimes",
    "unitMode",
    "maxReconsumeTimes",
    "batch",
];
const FIELD_COUNT: usize = 13;
const PRODUCER_GROUP: usize = 0;
const TOPIC: usize = 1;
const DEFAULT_TOPIC: usize = 2;
const DEFAULT_TOPIC_QUEUE_NUMS: usize = 3;
const QUEUE_ID: usize = 4;
const SYS_FLAG: usize = 5;
const BORN_TIMESTAMP: usize = 6;
const FLAG: usize = 7;
const PROPERTIES: usize = 8;
const RECONSUME_TIMES: usize = 9;
const BATCH: usize = 12;

pub(crate) fn is_send(code: i32) -> bool {
    matches!(code, SEND_MESSAGE | SEND_MESSAGE_V2 | SEND_BATCH_MESSAGE)
}

type Fields<'a> = [Option<Text<'a>>; FIELD_COUNT];

/// Collects the fields of a send in both spellings: the header's code, which decides between
/// them, may come after the fields.
#[derive(Debug, Default)]
pub(crate) struct SendFields<'a> {
    short: Fields<'a>,
    long: Fields<'a>,
    is_used: bool,
}

impl<'a> ExtSink<'a> for SendFields<'a> {
    fn clear(&mut self) {
        if self.is_used {
            *self = Self::default();
        }
    }

    #[inline]
    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        self.is_used = true;
        match key.as_plain() {
            Some(key) => self.put_plain(key, value),
            None => self.put_plain(&key.to_bytes(), value),
        }
    }
}

impl<'a> SendFields<'a> {
    #[inline]
    fn put_plain(&mut self, key: &[u8], value: Option<Text<'a>>) {
        if let [letter] = key {
            let place = usize::from(letter.wrapping_sub(b'a'));
            if let Some(field) = self.short.get_mut(place) {
                *field = value;
            }
        } else if let Some(place) = LONG_NAMES.iter().position(|name| name.as_bytes() == key) {
            self.long[place] = value;
        }
    }
}

/// A send whose header is whole.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SendRequest<'a> {
    pub(crate) topic: Cow<'a, str>,
    pub(crate) queue_id: i32,
    pub(crate) sys_flag: i32,
    pub(crate) born_timestamp_ms: i64,
    pub(crate) flag: i32,
    pub(crate) reconsume_times: i32,
    pub(crate) is_batch: bool,
}

/// Bytes of the smallest message in a batch (storage-and-ha.md 2.11).
const BATCHED_SIZE_MIN: usize = 22;

impl SendRequest<'_> {
    /// How many messages a body of a size can hold.
    pub(crate) fn count_max(&self, body_size: usize) -> u64 {
        if self.is_batch {
            (body_size / BATCHED_SIZE_MIN).max(1) as u64
        } else {
            1
        }
    }
}

impl<'a> SendFields<'a> {
    fn spelt(&self, code: i32) -> &Fields<'a> {
        if code == SEND_MESSAGE {
            &self.long
        } else {
            &self.short
        }
    }

    /// The properties of the message.
    pub(crate) fn properties(&self, code: i32) -> Option<Text<'a>> {
        self.spelt(code)[PROPERTIES]
    }

    /// The fields that differ from send to send of one producer: queue, time, properties.
    pub(crate) fn varying(&self, code: i32) -> Option<[Text<'a>; 3]> {
        let fields = self.spelt(code);
        Some([
            fields[QUEUE_ID]?,
            fields[BORN_TIMESTAMP]?,
            fields[PROPERTIES]?,
        ])
    }

    /// Read the request; `None` when a field is missing or malformed, or the message is special,
    /// which is for the dispatcher to answer.
    pub(crate) fn request(&self, code: i32) -> Option<SendRequest<'a>> {
        let fields = self.spelt(code);
        fields[PRODUCER_GROUP]?;
        fields[DEFAULT_TOPIC]?;
        fields[DEFAULT_TOPIC_QUEUE_NUMS]?.to_i32()?;
        let reconsume_times = match fields[RECONSUME_TIMES] {
            Some(text) => text.to_i32()?,
            None => 0,
        };
        let sys_flag = fields[SYS_FLAG]?.to_i32()?;
        (sys_flag & SYS_FLAG_COLD == 0).then_some(())?;
        Some(SendRequest {
            topic: fields[TOPIC]?.to_str(),
            queue_id: fields[QUEUE_ID]?.to_i32()?,
            sys_flag,
            born_timestamp_ms: fields[BORN_TIMESTAMP]?.to_i64()?,
            flag: fields[FLAG]?.to_i32()?,
            reconsume_times,
            is_batch: fields[BATCH]
                .is_some_and(|text| text.to_bytes().eq_ignore_ascii_case(b"true")),
        })
    }
}
