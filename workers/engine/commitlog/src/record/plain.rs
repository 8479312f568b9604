//! Ordinary records, read without all the rest of what a record may be.
//!
//! Nearly all of a log are plain messages of V1 with IPv4 hosts, and recovery takes as long as one
//! of them does. What it needs of such a record stays in registers; [`RecordView`] has four times
//! as much, and to move that through memory took longer than the checksum. Whatever does not look
//! like one is left to [`check`](super::check), which also says what is wrong with it.

use super::{
    BODY_AT, BODY_CRC_AT, BODY_LENGTH_AT, BORN_HOST_AT, BORN_HOST_IPV6, MAGIC_AT, MAGIC_V1,
    PHYSICAL_OFFSET_AT, QUEUE_ID_AT, QUEUE_OFFSET_AT, STORE_HOST_IPV6, SYS_FLAG_AT, body_crc,
    is_ordinary,
};

/// Of a record with IPv4 hosts.
const STORE_TIMESTAMP_AT: usize = BORN_HOST_AT + 8;
/// In V1; of the properties in either version.
const TOPIC_LENGTH_SIZE: usize = 1;
const PROPERTIES_LENGTH_SIZE: usize = 2;

/// An ordinary record, whole by its lengths; its checksum is not verified.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainRecord<'a> {
    pub(crate) size: usize,
    pub(crate) log_position: u64,
    pub(crate) queue_id: i32,
    pub(crate) queue_offset: u64,
    pub(crate) store_timestamp_ms: i64,
    pub(crate) topic: &'a [u8],
    pub(crate) properties: &'a [u8],
    body: &'a [u8],
    body_crc: u32,
}

impl<'a> PlainRecord<'a> {
    /// The ordinary record at `position`; `rest` are the bytes from there to the segment's end.
    #[inline(always)]
    pub(crate) fn read(rest: &'a [u8], position: u64) -> Option<Self> {
        let head = rest.first_chunk::<BODY_AT>()?;
        let is_plain = u32_at(head, MAGIC_AT) == MAGIC_V1
            && u64_at(head, PHYSICAL_OFFSET_AT) == position
            && has_plain_flag(u32_at(head, SYS_FLAG_AT).cast_signed());
        if !is_plain {
            return None;
        }
        let size = u32_at(head, 0) as usize;
        // One that is negative is longer than any segment.
        let body_size = u32_at(head, BODY_LENGTH_AT) as usize;
        let (body, behind) = rest.get(BODY_AT..size)?.split_at_checked(body_size)?;
        let (topic_size, behind) = behind.split_first_chunk::<TOPIC_LENGTH_SIZE>()?;
        let topic_size = usize::try_from(i8::from_be_bytes(*topic_size)).ok()?;
        let (topic, behind) = behind.split_at_checked(topic_size)?;
        let (properties_size, properties) = behind.split_first_chunk::<PROPERTIES_LENGTH_SIZE>()?;
        let properties_size = usize::try_from(i16::from_be_bytes(*properties_size)).ok()?;
        (properties.len() == properties_size).then_some(Self {
            size,
            log_position: position,
            queue_id: u32_at(head, QUEUE_ID_AT).cast_signed(),
            queue_offset: u64_at(head, QUEUE_OFFSET_AT),
            store_timestamp_ms: u64_at(head, STORE_TIMESTAMP_AT).cast_signed(),
            topic,
            properties,
            body,
            body_crc: u32_at(head, BODY_CRC_AT),
        })
    }

    /// Whether the body has the stored checksum.
    #[inline(always)]
    pub(crate) fn is_intact(&self) -> bool {
        body_crc(self.body) == self.body_crc
    }
}

/// Whether a record is one message outside transactions, with IPv4 hosts.
#[inline(always)]
fn has_plain_flag(sys_flag: i32) -> bool {
    is_ordinary(sys_flag) && sys_flag & (BORN_HOST_IPV6 | STORE_HOST_IPV6) == 0
}

/// Field of a head; the place is a constant inside it, so that nothing is checked.
#[inline(always)]
fn u32_at(head: &[u8; BODY_AT], at: usize) -> u32 {
    u32::from_be_bytes(std::array::from_fn(|index| head[at + index]))
}

#[inline(always)]
fn u64_at(head: &[u8; BODY_AT], at: usize) -> u64 {
    u64::from_be_bytes(std::array::from_fn(|index| head[at + index]))
}

#[cfg(test)]
mod tests;
