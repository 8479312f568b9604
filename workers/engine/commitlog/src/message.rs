//! Values that go into a store and come out of it.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use regent_filter::Expression;

/// Highest queue id a store accepts; tables are indexed by it.
pub const QUEUE_ID_MAX: i32 = 65_535;

/// One message to append. The store fills in offsets, store time and checksum.
#[derive(Debug, Clone, Copy)]
pub struct NewMessage<'a> {
    /// Topic, as stored.
    pub topic: &'a str,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// The user's flag.
    pub flag: i32,
    /// System flag; the two IPv6 bits are set from the hosts.
    pub sys_flag: i32,
    /// The client's time.
    pub born_timestamp_ms: i64,
    /// The client's address.
    pub born_host: SocketAddr,
    /// The broker's advertised address.
    pub store_host: SocketAddr,
    /// How often the message was sent back.
    pub reconsume_times: i32,
    /// Log position of the half message of a committed transaction, else 0.
    pub prepared_transaction_offset: i64,
    /// Body as stored.
    pub body: &'a [u8],
    /// Encoded properties (storage-and-ha.md 2.6).
    pub properties: &'a [u8],
    /// What the queue entry says of the tags, from a caller that has read the properties: the hash
    /// of the last `TAGS` ([`java_hash`](crate::java_hash)), or 0 without tags. With `None` the
    /// store looks itself. Entries of the schedule topic hold a time instead, whatever this field
    /// says.
    pub tags_code: Option<i64>,
}

impl<'a> NewMessage<'a> {
    /// A message with a topic, a queue and a body; everything else is zero.
    #[must_use]
    pub fn new(topic: &'a str, queue_id: i32, body: &'a [u8]) -> Self {
        let nowhere = SocketAddr::new(IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
        Self {
            topic,
            queue_id,
            flag: 0,
            sys_flag: 0,
            born_timestamp_ms: 0,
            born_host: nowhere,
            store_host: nowhere,
            reconsume_times: 0,
            prepared_transaction_offset: 0,
            body,
            properties: &[],
            tags_code: None,
        }
    }
}

/// Where an appended message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Byte position of the record in the log.
    pub log_position: u64,
    /// Size of the record.
    pub size: u32,
    /// Number of the message in its queue; 0 for prepared and rollback records.
    pub queue_offset: u64,
    /// Store time written into the record.
    pub store_timestamp_ms: i64,
}

/// One consume queue entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueueEntry {
    /// Byte position of the record in the log.
    pub log_position: u64,
    /// Size of the record.
    pub size: u32,
    /// Hash of the tag, or the delivery time in the schedule topic.
    pub tags_code: i64,
}

impl QueueEntry {
    /// Log position behind the record.
    pub(crate) fn end(&self) -> u64 {
        self.log_position.saturating_add(u64::from(self.size))
    }
}

/// What to read of a queue.
#[derive(Debug, Clone, Copy)]
pub struct QueueRead<'a> {
    /// First queue offset wanted.
    pub offset: i64,
    /// Most messages returned; the first record is returned whatever
    /// it holds.
    pub count_max: usize,
    /// Most bytes returned; the first message is returned whatever its size.
    pub bytes_max: usize,
    /// What passes; `None` passes everything.
    pub filter: Option<Filter<'a>>,
}

/// Which messages a read gives.
#[derive(Debug, Clone, Copy)]
pub enum Filter<'a> {
    /// Those whose tag has one of these hashes: only their queue entries are looked at.
    Tags(&'a [i32]),
    /// Those whose properties match.
    Properties(&'a Expression),
}

/// Outcome of a queue read (storage-and-ha.md 5.8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadStatus {
    /// Messages were returned.
    Found,
    /// Entries were examined and none passed the filter.
    NoMatchedMessage,
    /// The records of the examined entries are gone from the log.
    MessageWasRemoving,
    /// No entries are readable at the offset.
    OffsetFoundNull,
    /// The offset is beyond the end of the queue.
    OffsetOverflowBadly,
    /// The offset is the end of the queue.
    OffsetOverflowOne,
    /// The offset is before the start of the queue.
    OffsetTooSmall,
    /// The queue does not exist.
    NoMatchedLogicQueue,
    /// The queue never held a message.
    NoMessageInQueue,
}

impl ReadStatus {
    /// Stock's name of the status.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Found => "FOUND",
            Self::NoMatchedMessage => "NO_MATCHED_MESSAGE",
            Self::MessageWasRemoving => "MESSAGE_WAS_REMOVING",
            Self::OffsetFoundNull => "OFFSET_FOUND_NULL",
            Self::OffsetOverflowBadly => "OFFSET_OVERFLOW_BADLY",
            Self::OffsetOverflowOne => "OFFSET_OVERFLOW_ONE",
            Self::OffsetTooSmall => "OFFSET_TOO_SMALL",
            Self::NoMatchedLogicQueue => "NO_MATCHED_LOGIC_QUEUE",
            Self::NoMessageInQueue => "NO_MESSAGE_IN_QUEUE",
        }
    }
}

/// What a queue read found; the records themselves were appended to the caller's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadOutcome {
    /// Stock's status.
    pub status: ReadStatus,
    /// Where the reader should continue.
    pub next_offset: u64,
    /// First readable offset of the queue.
    pub min_offset: u64,
    /// Offset of the next message to be appended.
    pub max_offset: u64,
    /// Messages returned.
    pub count: usize,
}

/// Which message a search by time prefers (storage-and-ha.md 5.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Boundary {
    /// The first message at or after the time.
    Lower,
    /// The last message at or before the time.
    Upper,
}

/// One queue and its readable range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueueRange {
    /// Topic.
    pub topic: String,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// First readable offset.
    pub min_offset: u64,
    /// Offset of the next message to be appended.
    pub max_offset: u64,
}

/// Messages and record bytes appended since the store was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Messages.
    pub message_count: u64,
    /// Bytes of their records.
    pub bytes: u64,
}

/// Traffic in total and by topic.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counters {
    /// Sum over all topics.
    pub total: Traffic,
    /// Topics appended to since the store was opened.
    pub topics: Vec<(String, Traffic)>,
}
