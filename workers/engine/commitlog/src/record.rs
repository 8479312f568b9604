//! Commit log records: layout, encoding and validation (storage-and-ha.md 2.2 to 2.8).
//!
//! ```text
//!  0 totalSize i32 | 4 magic i32 | 8 bodyCRC i32 | 12 queueId i32 | 16 flag i32
//! 20 queueOffset i64 | 28 physicalOffset i64 | 36 sysFlag i32 | 40 bornTimestamp i64
//! 48 bornHost B | storeTimestamp i64 | storeHost S | reconsumeTimes i32
//!    preparedTransactionOffset i64 | bodyLength i32, body
//!    topicLength i8 (V1) or i16 (V2), topic | propertiesLength i16, properties
//! ```
//! B and S are 8 for IPv4 and 20 for IPv6: address bytes and an i32 port. All big-endian.

use std::net::{IpAddr, SocketAddr};
use std::sync::LazyLock;

use crc32fast::Hasher;

use crate::cursor::Reader;
use crate::properties::PROPERTY_SEPARATOR;

mod check;
mod crc_property;
mod encode;
mod glance;
mod plain;
mod torn;

pub(crate) use check::{
    Found, check, check_record, claimed_size, has_body_crc, has_header, has_place, locate,
    record_size, store_timestamp,
};
pub use crc_property::CrcProperty;
pub(crate) use crc_property::without_crc_property;
pub(crate) use encode::{copy_in_order, encode, encode_blank, encoded_size, has_short_hosts};
pub(crate) use glance::Glance;
pub(crate) use plain::PlainRecord;
pub(crate) use torn::{has_empty_sector, is_plain_torn, is_torn, may_look_torn};

pub(crate) const MAGIC_V1: u32 = 0xDAA3_20A7;
pub(crate) const MAGIC_V2: u32 = 0xDAA3_20AB;
pub(crate) const MAGIC_BLANK: u32 = 0xCBD4_3194;

/// The blank record's header, and the room always kept for it.
pub(crate) const BLANK_SIZE: usize = 8;

pub(crate) const MAGIC_AT: usize = 4;
const BODY_CRC_AT: usize = MAGIC_AT + 4;
const QUEUE_ID_AT: usize = BODY_CRC_AT + 4;
const FLAG_AT: usize = QUEUE_ID_AT + 4;
const QUEUE_OFFSET_AT: usize = FLAG_AT + 4;
const PHYSICAL_OFFSET_AT: usize = QUEUE_OFFSET_AT + 8;
const SYS_FLAG_AT: usize = PHYSICAL_OFFSET_AT + 8;
const BORN_TIMESTAMP_AT: usize = SYS_FLAG_AT + 4;
const BORN_HOST_AT: usize = BORN_TIMESTAMP_AT + 8;
/// Smallest record: V1, IPv4 hosts, everything empty.
pub(crate) const RECORD_SIZE_MIN: usize = BORN_HOST_AT + 8 + 8 + 8 + 4 + 8 + 4 + 1 + 2;

/// Of a record with IPv4 hosts.
const BODY_LENGTH_AT: usize = BORN_HOST_AT + 8 + 8 + 8 + 4 + 8;
/// Of such a record too.
const BODY_AT: usize = BODY_LENGTH_AT + 4;
/// How much longer an IPv6 host is.
const IPV6_EXTRA: usize = 12;
/// What comes before the body takes no more.
pub(crate) const HEAD_SIZE_MAX: usize = BODY_AT + 2 * IPV6_EXTRA;

const BORN_HOST_IPV6: i32 = 0x10;
const STORE_HOST_IPV6: i32 = 0x20;
pub(crate) const TRANSACTION_TYPE: i32 = 0x0C;
const TRANSACTION_COMMIT: i32 = 0x08;
const TRANSACTION_ROLLBACK: i32 = 0x0C;
const INNER_BATCH: i32 = 0x80;
/// With the flag that has clients take the body apart.
const INNER_BATCH_FLAGS: i32 = INNER_BATCH | 0x40;

/// A checksum of a body is stored without its top bit.
const BODY_CRC_MASK: u32 = 0x7FFF_FFFF;

/// Longest properties: their length is a signed 16-bit integer.
pub(crate) const PROPERTIES_SIZE_MAX: usize = 32_767;
/// Longest topic of a V1 record: its length is a signed byte.
pub(crate) const TOPIC_SIZE_MAX_V1: usize = 127;

/// How the topic length is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    V1,
    V2,
}

/// What the store decides about a record, under the append lock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placement {
    pub(crate) queue_offset: u64,
    pub(crate) log_position: u64,
    pub(crate) store_timestamp_ms: i64,
}

/// What follows a message's own properties in its record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tail {
    Nothing,
    /// The CRC property, after the separator that the properties lack.
    Crc {
        is_separated: bool,
    },
}

impl Tail {
    /// The CRC property behind properties that may lack their last separator.
    pub(crate) fn crc_behind(properties: &[u8]) -> Self {
        let is_separated = properties
            .last()
            .is_some_and(|last| *last != PROPERTY_SEPARATOR);
        Self::Crc { is_separated }
    }

    pub(crate) fn size(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Crc { is_separated } => crc_property::SIZE + usize::from(is_separated),
        }
    }
}

/// Whether records with this flag have a place in a queue: types none and commit only.
pub(crate) fn occupies_queue(sys_flag: i32) -> bool {
    matches!(sys_flag & TRANSACTION_TYPE, 0 | TRANSACTION_COMMIT)
}

/// Whether records with this flag are in the key index: all but those of a rollback.
pub(crate) fn has_index_entries(sys_flag: i32) -> bool {
    sys_flag & TRANSACTION_TYPE != TRANSACTION_ROLLBACK
}

/// Whether records with this flag are those of plain messages outside transactions.
#[inline]
pub(crate) fn is_ordinary(sys_flag: i32) -> bool {
    sys_flag & (TRANSACTION_TYPE | INNER_BATCH) == 0
}

/// Whether a stored record is an inner batch: stock writes both flags, and clients go by both. One alone
/// is a wrong bit.
pub(crate) fn is_inner_batch(sys_flag: i32) -> bool {
    sys_flag & INNER_BATCH_FLAGS == INNER_BATCH_FLAGS
}

/// Whether a message that is to be stored is said to be an inner batch (storage-and-ha.md 2.11).
pub(crate) fn asks_for_inner_batch(sys_flag: i32) -> bool {
    sys_flag & INNER_BATCH != 0
}

/// The checksum stored for a body.
#[inline]
pub(crate) fn body_crc(body: &[u8]) -> u32 {
    // What the processor can do is found out once, not for each body.
    static NEW: LazyLock<Hasher> = LazyLock::new(Hasher::new);
    let mut hasher = NEW.clone();
    hasher.update(body);
    hasher.finalize() & BODY_CRC_MASK
}

/// Why bytes are not a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RecordDamage {
    /// Too few bytes for the smallest record or for the claimed size.
    #[error("the record is cut short")]
    Short,
    /// Neither of the two record magics, nor the blank one.
    #[error("unknown magic")]
    Magic,
    /// The lengths inside do not add up to the size.
    #[error("the lengths do not add up to the size")]
    Length,
    /// The stored physical offset is not where the record lies (D10).
    #[error("the record belongs to another position")]
    Position,
    /// The body's checksum differs.
    #[error("the checksum of the body differs")]
    BodyCrc,
    /// The checksum of the whole record, kept as its last property, differs.
    #[error("the checksum of the record differs")]
    RecordCrc,
    /// The record has no such property, and every record should.
    #[error("the checksum of the record is missing")]
    NoRecordCrc,
    /// A sector of topic or properties, which no checksum covers, holds nothing.
    #[error("a part of the record was never written")]
    Torn,
}

/// A well-formed record, borrowed from its bytes.
#[derive(Debug, Clone, Copy)]
pub struct RecordView<'a> {
    /// The whole record.
    pub bytes: &'a [u8],
    /// Stored checksum of the body.
    pub body_crc: u32,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// The user's flag.
    pub flag: i32,
    /// Number of the message in its queue.
    pub queue_offset: u64,
    /// Byte position in the log.
    pub log_position: u64,
    /// System flag.
    pub sys_flag: i32,
    /// The client's time.
    pub born_timestamp_ms: i64,
    /// The client's address.
    pub born_host: SocketAddr,
    /// The broker's time.
    pub store_timestamp_ms: i64,
    /// The broker's address.
    pub store_host: SocketAddr,
    /// How often the message was sent back.
    pub reconsume_times: i32,
    /// Log position of the half message of a committed transaction, else 0.
    pub prepared_transaction_offset: i64,
    /// Body as stored.
    pub body: &'a [u8],
    /// Topic in UTF-8.
    pub topic: &'a [u8],
    /// Encoded properties.
    pub properties: &'a [u8],
}

impl<'a> RecordView<'a> {
    /// Reads the record at the start of `bytes`, which may go on behind it.
    ///
    /// # Errors
    /// The damage found; the checksum is not verified, see [`RecordView::is_intact`].
    pub fn parse(bytes: &'a [u8]) -> Result<Self, RecordDamage> {
        let mut input = Reader::new(bytes);
        let size = input.u32().ok_or(RecordDamage::Short)? as usize;
        let magic = input.u32().ok_or(RecordDamage::Short)?;
        if magic != MAGIC_V1 && magic != MAGIC_V2 {
            return Err(RecordDamage::Magic);
        }
        if size < RECORD_SIZE_MIN {
            return Err(RecordDamage::Length);
        }
        let bytes = bytes.get(..size).ok_or(RecordDamage::Short)?;
        let input = Reader::new(&bytes[BODY_CRC_AT..]);
        Self::fields(bytes, magic, input).ok_or(RecordDamage::Length)
    }

    fn fields(bytes: &'a [u8], magic: u32, mut input: Reader<'a>) -> Option<Self> {
        let body_crc = input.u32()?;
        let queue_id = input.i32()?;
        let flag = input.i32()?;
        let queue_offset = input.u64()?;
        let log_position = input.u64()?;
        let sys_flag = input.i32()?;
        let born_timestamp_ms = input.i64()?;
        let born_host = take_host(&mut input, sys_flag & BORN_HOST_IPV6 != 0)?;
        let store_timestamp_ms = input.i64()?;
        let store_host = take_host(&mut input, sys_flag & STORE_HOST_IPV6 != 0)?;
        let reconsume_times = input.i32()?;
        let prepared_transaction_offset = input.i64()?;
        let body_size = usize::try_from(input.i32()?).ok()?;
        let body = input.take(body_size)?;
        let (topic, properties) = take_texts(&mut input, magic)?;
        input.is_empty().then_some(Self {
            bytes,
            body_crc,
            queue_id,
            flag,
            queue_offset,
            log_position,
            sys_flag,
            born_timestamp_ms,
            born_host,
            store_timestamp_ms,
            store_host,
            reconsume_times,
            prepared_transaction_offset,
            body,
            topic,
            properties,
        })
    }

    /// Whether the body has the stored checksum.
    #[must_use]
    pub fn is_intact(&self) -> bool {
        body_crc(self.body) == self.body_crc
    }
}

/// Topic and properties, which come behind the body.
fn take_texts<'a>(input: &mut Reader<'a>, magic: u32) -> Option<(&'a [u8], &'a [u8])> {
    let topic = take_topic(input, magic)?;
    let properties_size = usize::try_from(input.i16()?).ok()?;
    Some((topic, input.take(properties_size)?))
}

fn take_topic<'a>(input: &mut Reader<'a>, magic: u32) -> Option<&'a [u8]> {
    let size = match magic {
        MAGIC_V1 => usize::try_from(input.i8()?).ok()?,
        _ => usize::try_from(input.i16()?).ok()?,
    };
    input.take(size)
}

fn take_host(input: &mut Reader<'_>, is_ipv6: bool) -> Option<SocketAddr> {
    let address = if is_ipv6 {
        IpAddr::from(input.array::<16>()?)
    } else {
        IpAddr::from(input.array::<4>()?)
    };
    // Four bytes hold the port; stock never checks the upper two.
    let port = input.array::<4>()?;
    Some(SocketAddr::new(
        address,
        u16::from_be_bytes([port[2], port[3]]),
    ))
}

#[cfg(test)]
mod tests;
