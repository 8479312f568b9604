//! Transactions: half messages, and the records that decide them (storage-and-ha.md 7).
//!
//! A half message waits in a separate topic until its producer commits it or rolls it back. Its
//! decision is one unit of the log: the committed message, if any, and an op record. The table of what
//! is pending is [`PendingTransactions`]. This master adds half messages and decides them here; the
//! dispatcher does everything in the table that is not ordinary.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use regent_commitlog::{NewMessage, RecordView, property_entries};
use regent_remoting::properties::{PROPERTIES_SIZE_MAX, append_property};

use crate::end::EndRequest;
use crate::pending::PendingTransactions;

pub(crate) const HALF_TOPIC: &str = "RMQ_SYS_TRANS_HALF_TOPIC";
pub(crate) const OPERATION_TOPIC: &str = "RMQ_SYS_TRANS_OP_HALF_TOPIC";
/// The queue of each topic of transactions.
pub(crate) const QUEUE_ID: i32 = 0;

/// The bit of a sysFlag that producers of half messages set.
pub(crate) const PREPARED: i32 = 4;
/// The transaction bits of a sysFlag, and their value in a committed message (remoting.md 4.2).
pub(crate) const TRANSACTION_BITS: i32 = 4 | 8;
const COMMITTED: i32 = 8;

const REAL_TOPIC: &[u8] = b"REAL_TOPIC";
const REAL_QUEUE_ID: &[u8] = b"REAL_QID";
const TRANSACTION_ID: &[u8] = b"__transactionId__";
const PRODUCER_GROUP: &[u8] = b"PGROUP";
const UNIQUE_KEY: &[u8] = b"UNIQ_KEY";
const CRC: &[u8] = b"__CRC32#";
pub(crate) const IMMUNITY: &[u8] = b"CHECK_IMMUNITY_TIME_IN_SECONDS";
const CHECK_COUNT: &[u8] = b"TRANSACTION_CHECK_TIMES";
const FIRST_OFFSET: &[u8] = b"TRAN_PREPARED_QUEUE_OFFSET";

/// What the copies for checks have besides, with numbers of 19 digits and two separators each: a half
/// message must fit with it.
const ROOM_FOR_CHECKS: usize = CHECK_COUNT.len() + FIRST_OFFSET.len() + 2 * (19 + 2);

/// Whether a property of a half message is the broker's to set.
pub(crate) fn is_set_by_broker(name: &[u8]) -> bool {
    matches!(
        name,
        REAL_TOPIC | REAL_QUEUE_ID | TRANSACTION_ID | CHECK_COUNT | FIRST_OFFSET
    )
}

/// What a broker has for its transactions.
#[derive(Debug)]
pub(crate) struct Transactions {
    pub(crate) pending: Arc<PendingTransactions>,
    pub(crate) half_topic: Arc<str>,
    pub(crate) operation_topic: Arc<str>,
    has_half_topic: AtomicBool,
    has_operation_topic: AtomicBool,
    /// The age from which a producer is asked that names none; negative while none is taken.
    timeout_ms: AtomicI64,
}

impl Default for Transactions {
    fn default() -> Self {
        Self {
            pending: Arc::default(),
            half_topic: Arc::from(HALF_TOPIC),
            operation_topic: Arc::from(OPERATION_TOPIC),
            has_half_topic: AtomicBool::new(false),
            has_operation_topic: AtomicBool::new(false),
            timeout_ms: AtomicI64::new(-1),
        }
    }
}

impl Transactions {
    /// Take transactions, or leave all of them to the dispatcher.
    pub(crate) fn take(&self, timeout_ms: Option<i64>) {
        self.timeout_ms
            .store(timeout_ms.unwrap_or(-1), Ordering::Release);
    }

    /// Hear that a topic exists, or does not exist any more.
    pub(crate) fn note_topic(&self, name: &str, exists: bool) {
        match name {
            HALF_TOPIC => self.has_half_topic.store(exists, Ordering::Release),
            OPERATION_TOPIC => self.has_operation_topic.store(exists, Ordering::Release),
            _ => {}
        }
    }

    /// The age from which a producer is asked that names none; `None` while the dispatcher has all
    /// transactions, because they are refused or lack their topics.
    pub(crate) fn timeout_ms(&self) -> Option<i64> {
        let has_topics = self.has_half_topic.load(Ordering::Acquire)
            && self.has_operation_topic.load(Ordering::Acquire);
        let timeout_ms = self.timeout_ms.load(Ordering::Acquire);
        (has_topics && timeout_ms >= 0).then_some(timeout_ms)
    }
}

/// Whether the properties of a half message, so long already, leave room for those of its checks.
pub(crate) fn fits(properties: &[u8]) -> bool {
    properties.len() + ROOM_FOR_CHECKS <= PROPERTIES_SIZE_MAX
}

/// Add to the properties of a message what those of its half message have besides.
pub(crate) fn add_half_properties(
    properties: &mut Vec<u8>,
    topic: &str,
    queue_id: i32,
    unique_key: &[u8],
) {
    let mut digits = itoa::Buffer::new();
    let queue_id = digits.format(queue_id).as_bytes();
    append_property(properties, REAL_TOPIC, topic.as_bytes());
    append_property(properties, REAL_QUEUE_ID, queue_id);
    append_property(properties, TRANSACTION_ID, unique_key);
}

/// The age in seconds from which the producer of a half message is asked, as its property names it.
pub(crate) fn immunity_s(value: &[u8]) -> Option<i64> {
    const DIGITS_MAX: usize = 18;
    let is_number = value.len() <= DIGITS_MAX && value.iter().all(u8::is_ascii_digit);
    let number = std::str::from_utf8(value).ok().filter(|_| is_number)?;
    number.parse().ok()
}

/// A stored half message whose end is an ordinary one.
#[derive(Debug)]
pub(crate) struct Half<'r> {
    record: RecordView<'r>,
    pub(crate) topic: &'r str,
    pub(crate) queue_id: i32,
    unique_key: &'r [u8],
    /// Those of the committed message.
    properties: Vec<u8>,
}

impl<'r> Half<'r> {
    /// Read the half message that a request names. `None` leaves the request to the dispatcher: it
    /// refuses it, or its message goes another way, because it is delayed or waits for a time.
    pub(crate) fn read(record: &'r [u8], end: &EndRequest<'_>) -> Option<Self> {
        let record = RecordView::parse(record).ok()?;
        let is_named = record.topic == HALF_TOPIC.as_bytes()
            && record.queue_offset == end.queue_offset
            && record.log_position == end.log_position;
        let (mut topic, mut queue_id, mut group) = (None, None, None);
        let mut unique_key: &[u8] = b"";
        let mut properties = Vec::with_capacity(record.properties.len());
        for (name, value) in property_entries(record.properties) {
            match name {
                REAL_TOPIC => topic = Some(value),
                REAL_QUEUE_ID => queue_id = Some(value),
                PRODUCER_GROUP => group = Some(value),
                UNIQUE_KEY => unique_key = value,
                b"DELAY" | b"TIMER_DELIVER_MS" | b"TIMER_DELAY_SEC" | b"TIMER_DELAY_MS" => {
                    return None;
                }
                // It may come too late.
                IMMUNITY if !end.from_check => return None,
                _ => {}
            }
            if !matches!(name, REAL_TOPIC | REAL_QUEUE_ID | CRC) {
                append_property(&mut properties, name, value);
            }
        }
        let is_of_group = group? == end.producer_group.as_bytes();
        (is_named && is_of_group).then_some(())?;
        Some(Self {
            record,
            topic: std::str::from_utf8(topic?).ok()?,
            queue_id: std::str::from_utf8(queue_id?).ok()?.parse().ok()?,
            unique_key,
            properties,
        })
    }

    /// The message that consumers see.
    pub(crate) fn committed(&self) -> NewMessage<'_> {
        let half = &self.record;
        NewMessage {
            flag: half.flag,
            sys_flag: half.sys_flag & !TRANSACTION_BITS | COMMITTED,
            born_timestamp_ms: half.born_timestamp_ms,
            born_host: half.born_host,
            store_host: half.store_host,
            reconsume_times: half.reconsume_times,
            prepared_transaction_offset: half.log_position.cast_signed(),
            properties: &self.properties,
            ..NewMessage::new(self.topic, self.queue_id, half.body)
        }
    }

    /// What the op record holds that says that the half message is decided.
    pub(crate) fn operation(&self) -> Operation {
        let mut properties = Vec::with_capacity(self.unique_key.len() + 16);
        append_property(&mut properties, b"TAGS", b"d");
        append_property(&mut properties, UNIQUE_KEY, self.unique_key);
        Operation {
            body: format!("{},", self.record.queue_offset),
            properties,
        }
    }
}

/// An op record.
#[derive(Debug)]
pub(crate) struct Operation {
    body: String,
    properties: Vec<u8>,
}

impl Operation {
    pub(crate) fn message(&self, store_host: SocketAddr, now_ms: i64) -> NewMessage<'_> {
        NewMessage {
            born_timestamp_ms: now_ms,
            born_host: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 0),
            store_host,
            properties: &self.properties,
            ..NewMessage::new(OPERATION_TOPIC, QUEUE_ID, self.body.as_bytes())
        }
    }
}
