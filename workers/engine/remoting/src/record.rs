//! Message records as they travel and as they are stored (remoting.md 4.1).
//!
//! | field | size |
//! |---|---|
//! | total size, magic, body CRC, queue id, flag | 4 each |
//! | queue offset, log position | 8 each |
//! | system flag | 4 |
//! | born time, born host | 8, then 4 or 16 and 4 |
//! | store time, store host | 8, then 4 or 16 and 4 |
//! | reconsume times | 4 |
//! | prepared transaction offset | 8 |
//! | body | 4 and n |
//! | topic | 1 (V1) or 2 (V2) and n |
//! | properties | 2 and n |

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use thiserror::Error;

const MAGIC_V1: u32 = 0xDAA3_20A7;
const MAGIC_V2: u32 = 0xDAA3_20AB;
const SYS_FLAG_BORN_HOST_IPV6: i32 = 16;
const SYS_FLAG_STORE_HOST_IPV6: i32 = 32;

/// Why bytes are no record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum RecordError {
    /// A field, or the record itself, ends after the bytes do.
    #[error("record ends early")]
    Truncated,
    /// The magic number is neither V1 nor V2.
    #[error("record has magic {0:#010x}")]
    MagicUnknown(u32),
    /// The fields don't add up to the total size.
    #[error("record of {claimed} bytes has fields of {found}")]
    SizeWrong {
        /// Total size in the record.
        claimed: usize,
        /// Size of its fields.
        found: usize,
    },
    /// A length is negative, or a port beyond its range.
    #[error("record has an impossible field")]
    FieldInvalid,
    /// The topic is not UTF-8.
    #[error("record has a topic that is not UTF-8")]
    TopicNotUtf8,
}

/// One record, borrowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// Size of the whole record.
    pub size: usize,
    /// Queue inside the topic.
    pub queue_id: i32,
    /// The user's flag.
    pub flag: i32,
    /// Number of the message in its queue.
    pub queue_offset: i64,
    /// Byte position of the record in the log.
    pub log_position: i64,
    /// System flag.
    pub sys_flag: i32,
    /// The client's time.
    pub born_timestamp_ms: i64,
    /// The client's address.
    pub born_host: SocketAddr,
    /// Time of the append.
    pub store_timestamp_ms: i64,
    /// The broker's address.
    pub store_host: SocketAddr,
    /// How often the message was sent back.
    pub reconsume_times: i32,
    /// Log position of the half message, or 0.
    pub prepared_transaction_offset: i64,
    /// Body as stored.
    pub body: &'a [u8],
    /// Topic.
    pub topic: &'a str,
    /// Encoded properties.
    pub properties: &'a [u8],
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let (chunk, rest) = self
            .0
            .split_first_chunk::<N>()
            .ok_or(RecordError::Truncated)?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn i32(&mut self) -> Result<i32, RecordError> {
        self.take().map(i32::from_be_bytes)
    }

    fn i64(&mut self) -> Result<i64, RecordError> {
        self.take().map(i64::from_be_bytes)
    }

    fn size(&mut self) -> Result<usize, RecordError> {
        usize::try_from(self.i32()?).map_err(|_| RecordError::FieldInvalid)
    }

    fn short_size(&mut self) -> Result<usize, RecordError> {
        let size = i16::from_be_bytes(self.take()?);
        usize::try_from(size).map_err(|_| RecordError::FieldInvalid)
    }

    fn bytes(&mut self, size: usize) -> Result<&'a [u8], RecordError> {
        let (bytes, rest) = self
            .0
            .split_at_checked(size)
            .ok_or(RecordError::Truncated)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn host(&mut self, is_ipv6: bool) -> Result<SocketAddr, RecordError> {
        let ip: IpAddr = if is_ipv6 {
            Ipv6Addr::from(self.take::<16>()?).into()
        } else {
            Ipv4Addr::from(self.take::<4>()?).into()
        };
        let port = u16::try_from(self.i32()?).map_err(|_| RecordError::FieldInvalid)?;
        Ok(SocketAddr::new(ip, port))
    }
}

/// Decode the record that `bytes` starts with; what follows it is left alone.
///
/// # Errors
/// [`RecordError`] when there is no whole record.
pub fn decode_record(bytes: &[u8]) -> Result<Record<'_>, RecordError> {
    let size = Cursor(bytes).size()?;
    let mut cursor = Cursor(bytes.get(4..size).ok_or(RecordError::Truncated)?);
    let magic = u32::from_be_bytes(cursor.take()?);
    if !matches!(magic, MAGIC_V1 | MAGIC_V2) {
        return Err(RecordError::MagicUnknown(magic));
    }
    let _body_crc = cursor.i32()?;
    let queue_id = cursor.i32()?;
    let flag = cursor.i32()?;
    let queue_offset = cursor.i64()?;
    let log_position = cursor.i64()?;
    let sys_flag = cursor.i32()?;
    let born_timestamp_ms = cursor.i64()?;
    let born_host = cursor.host(sys_flag & SYS_FLAG_BORN_HOST_IPV6 != 0)?;
    let store_timestamp_ms = cursor.i64()?;
    let store_host = cursor.host(sys_flag & SYS_FLAG_STORE_HOST_IPV6 != 0)?;
    let reconsume_times = cursor.i32()?;
    let prepared_transaction_offset = cursor.i64()?;
    let body_size = cursor.size()?;
    let body = cursor.bytes(body_size)?;
    let topic_size = match magic {
        MAGIC_V1 => usize::from(u8::from_be_bytes(cursor.take()?)),
        _ => cursor.short_size()?,
    };
    let topic = cursor.bytes(topic_size)?;
    let topic = std::str::from_utf8(topic).map_err(|_| RecordError::TopicNotUtf8)?;
    let properties_size = cursor.short_size()?;
    let properties = cursor.bytes(properties_size)?;
    if !cursor.0.is_empty() {
        return Err(RecordError::SizeWrong {
            claimed: size,
            found: size - cursor.0.len(),
        });
    }
    Ok(Record {
        size,
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

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = "\
        000000 65daa320a758932aac000000020000000000000000000000290000 \
        00000001e240000000000000019950f72c000a0000050000c350000001 \
        9950f72c050a00000100002a9f00000000000000000000000000000002 \
        68690154000754414753014102";

    fn example() -> Vec<u8> {
        let digits: Vec<_> = EXAMPLE
            .bytes()
            .filter(|byte| !byte.is_ascii_whitespace())
            .collect();
        let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
        digits.chunks_exact(2).map(byte).collect()
    }

    #[test]
    fn the_example_of_the_reference_decodes() {
        let bytes = example();
        assert_eq!(bytes.len(), 101);

        let record = decode_record(&bytes).unwrap();

        assert_eq!((record.topic, record.body), ("T", &b"hi"[..]));
        assert_eq!(record.properties, b"TAGS\x01A\x02");
        assert_eq!(
            (record.queue_id, record.queue_offset, record.log_position),
            (2, 41, 123_456)
        );
        assert_eq!(record.born_host, "10.0.0.5:50000".parse().unwrap());
        assert_eq!(record.store_host, "10.0.0.1:10911".parse().unwrap());
        assert_eq!(record.store_timestamp_ms - record.born_timestamp_ms, 5);
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_an_error_or_a_record() {
        let bytes = example();
        for end in 0..bytes.len() {
            assert!(decode_record(&bytes[..end]).is_err());
        }
        for at in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                let _ = decode_record(&changed);
            }
        }
    }
}
