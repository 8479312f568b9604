//! Sends that are written like an earlier one of their connection.
//!
//! The headers of a producer differ in four values: opaque, queue, time and properties. Once one
//! header was decoded, headers written the same way are compared with it piece by piece. Only these
//! values are read, at a tenth of what decoding costs.

use std::borrow::Cow;

use regent_remoting::{Encoding, Header, Text, decode_header};

use crate::properties::PropertyBuffer;
use crate::repeated::RepeatedProperties;
use crate::send::{SendFields, SendRequest};

const OPAQUE_KEY: &[u8] = b"\"opaque\":";

/// Ways of writing known at once: a connection sends to several topics.
const PATTERN_COUNT_MAX: usize = 4;

/// What connections without number may keep, each.
const PATTERN_SIZE_MAX: usize = 2048;

/// To make a pattern costs as much as to decode some headers. Where patterns are followed less
/// often, because senders of many topics share a connection, ever fewer are made.
const FOLLOWED_MIN: u32 = 16;
const PATIENCE_MAX: u32 = 1 << 10;

/// Properties to try a pattern with, as they are written.
const OTHER_PROPERTIES: &str = r"UNIQ_KEY\u00017F\u0002another\u0001one";

/// So many digits fit the numbers.
const INT_DIGITS_MAX: usize = 9;
const LONG_DIGITS_MAX: usize = 18;

/// A value that differs from header to header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Opaque,
    QueueId,
    BornTimestamp,
    Properties,
}

/// The values that differ, but for the properties.
#[derive(Debug, Clone, Copy, Default)]
struct Values {
    opaque: i32,
    queue_id: i32,
    born_timestamp_ms: i64,
}

/// A header cut where the values stand that differ.
#[derive(Debug)]
struct SendPattern {
    /// What stands before each value, in the order of the header.
    pieces: [(Box<[u8]>, Place); 4],
    tail: Box<[u8]>,
    code: i32,
    header_flag: i32,
    topic: Box<str>,
    flag: i32,
    sys_flag: i32,
    reconsume_times: i32,
    is_batch: bool,
    followed_count: u32,
    repeated: Option<RepeatedProperties>,
    /// How often the properties were not the repeated ones.
    changed_count: u32,
}

/// A send read by a pattern.
#[derive(Debug)]
pub(crate) struct Followed<'a> {
    pub(crate) opaque: i32,
    pub(crate) header_flag: i32,
    pub(crate) send: SendRequest<'a>,
}

/// The patterns of one connection.
#[derive(Debug, Default)]
pub(crate) struct SendPatterns {
    patterns: Vec<SendPattern>,
    latest: usize,
    /// How many headers that follow none pass before the next pattern is made.
    patience: u32,
    passed_count: u32,
}

impl SendPatterns {
    /// Read a JSON header that is written like an earlier one, and take its properties.
    #[inline]
    pub(crate) fn follow(
        &mut self,
        header: &[u8],
        properties: &mut PropertyBuffer,
    ) -> Option<Followed<'_>> {
        let latest = self.patterns.get_mut(self.latest)?;
        let values = match latest.read(header, properties) {
            Some(values) => values,
            None => self.find(header, properties)?,
        };
        let pattern = &mut self.patterns[self.latest];
        pattern.followed_count = pattern.followed_count.saturating_add(1);
        Some(pattern.followed(&values))
    }

    fn find(&mut self, header: &[u8], properties: &mut PropertyBuffer) -> Option<Values> {
        let mut read = |(place, pattern): (usize, &mut SendPattern)| {
            Some((place, pattern.read(header, properties)?))
        };
        let (place, values) = self.patterns.iter_mut().enumerate().find_map(&mut read)?;
        self.latest = place;
        Some(values)
    }

    /// Make a pattern of a header that followed none, once some of them have passed.
    pub(crate) fn learn(&mut self, header: &[u8], decoded: &Header<'_>, fields: &SendFields<'_>) {
        if self.passed_count < self.patience {
            self.passed_count += 1;
            return;
        }
        self.passed_count = 0;
        let Some(pattern) = SendPattern::new(header, decoded, fields) else {
            return self.lose_patience();
        };
        if self.patterns.len() < PATTERN_COUNT_MAX {
            self.latest = self.patterns.len();
            self.patterns.push(pattern);
            return;
        }
        let counts = self.patterns.iter().map(|pattern| pattern.followed_count);
        let Some((least, count)) = counts.enumerate().min_by_key(|(_, count)| *count) else {
            return;
        };
        if count < FOLLOWED_MIN {
            self.lose_patience();
        } else {
            self.patience = 0;
        }
        // What was followed long ago must not stay for ever.
        for pattern in &mut self.patterns {
            pattern.followed_count /= 2;
        }
        self.latest = least;
        self.patterns[least] = pattern;
    }

    fn lose_patience(&mut self) {
        self.patience = (self.patience * 2 + 1).min(PATIENCE_MAX);
    }
}

impl SendPattern {
    /// Cut a header; `None` if it is not certain where the values that differ stand.
    fn new(header: &[u8], decoded: &Header<'_>, fields: &SendFields<'_>) -> Option<Self> {
        let send = fields.request(decoded.code)?;
        let [queue_id, born_timestamp, properties] = fields.varying(decoded.code)?;
        let key = header
            .windows(OPAQUE_KEY.len())
            .position(|bytes| bytes == OPAQUE_KEY)?;
        let opaque = key + OPAQUE_KEY.len();
        let (_, rest) = digits(&header[opaque..], INT_DIGITS_MAX)?;
        let mut spots = [
            (opaque..header.len() - rest.len(), Place::Opaque),
            (spot(header, queue_id)?, Place::QueueId),
            (spot(header, born_timestamp)?, Place::BornTimestamp),
            (spot(header, properties)?, Place::Properties),
        ];
        spots.sort_unstable_by_key(|(spot, _)| spot.start);
        let mut at = 0;
        let mut cut = |(spot, place): &(std::ops::Range<usize>, Place)| {
            let piece = header.get(at..spot.start)?;
            at = spot.end;
            Some((Box::from(piece), *place))
        };
        let [first, second, third, fourth] = &spots;
        let pieces = [cut(first)?, cut(second)?, cut(third)?, cut(fourth)?];
        let mut pattern = Self {
            pieces,
            tail: Box::from(&header[at..]),
            code: decoded.code,
            header_flag: decoded.flag,
            topic: Box::from(send.topic.as_ref()),
            flag: send.flag,
            sys_flag: send.sys_flag,
            reconsume_times: send.reconsume_times,
            is_batch: send.is_batch,
            followed_count: 0,
            repeated: None,
            changed_count: 0,
        };
        let fits = header.len() - properties.as_written().len() <= PATTERN_SIZE_MAX;
        (fits && pattern.is_sound(header)?).then_some(pattern)
    }

    /// Whether a header with four other values is decoded to what this pattern reads: the bytes of
    /// a key may stand elsewhere in a header, too.
    fn is_sound(&mut self, header: &[u8]) -> Option<bool> {
        let mut properties = PropertyBuffer::default();
        let values = self.read(header, &mut properties)?;
        let mut other = Vec::new();
        for (piece, place) in &self.pieces {
            other.extend_from_slice(piece);
            let value = match place {
                Place::Opaque => (values.opaque ^ 1).to_string(),
                Place::QueueId => (values.queue_id ^ 1).to_string(),
                Place::BornTimestamp => (values.born_timestamp_ms ^ 1).to_string(),
                Place::Properties => OTHER_PROPERTIES.to_owned(),
            };
            other.extend_from_slice(value.as_bytes());
        }
        other.extend_from_slice(&self.tail);
        let mut fields = SendFields::default();
        let decoded = decode_header(Encoding::Json, &other, &mut fields).ok()?;
        let read = self.read(&other, &mut properties)?;
        let is_other = read.opaque != values.opaque
            && read.queue_id != values.queue_id
            && read.born_timestamp_ms != values.born_timestamp_ms;
        let text = fields.properties(decoded.code)?;
        Some(
            is_other
                && text.as_written() == OTHER_PROPERTIES.as_bytes()
                && text.to_bytes() == properties.received()
                && (decoded.code, decoded.flag, decoded.opaque)
                    == (self.code, self.header_flag, read.opaque)
                && fields.request(decoded.code)? == self.followed(&read).send,
        )
    }

    #[inline]
    fn read(&mut self, header: &[u8], properties: &mut PropertyBuffer) -> Option<Values> {
        let mut rest = header;
        let mut values = Values::default();
        for (piece, place) in &self.pieces {
            rest = rest.strip_prefix(&**piece)?;
            match place {
                Place::Opaque => (values.opaque, rest) = int(rest)?,
                Place::QueueId => (values.queue_id, rest) = int(rest)?,
                Place::BornTimestamp => {
                    (values.born_timestamp_ms, rest) = digits(rest, LONG_DIGITS_MAX)?;
                }
                Place::Properties => {
                    let repeated = self.repeated.as_ref();
                    rest = match repeated.and_then(|them| them.read(rest, properties)) {
                        Some(rest) => rest,
                        None => {
                            self.changed_count = self.changed_count.wrapping_add(1);
                            if self.changed_count.is_power_of_two() {
                                self.repeated = RepeatedProperties::new(rest);
                            }
                            properties.read(rest)?
                        }
                    };
                }
            }
        }
        (rest == &*self.tail).then_some(values)
    }

    #[inline]
    fn followed(&self, values: &Values) -> Followed<'_> {
        Followed {
            opaque: values.opaque,
            header_flag: self.header_flag,
            send: SendRequest {
                topic: Cow::Borrowed(&self.topic),
                queue_id: values.queue_id,
                sys_flag: self.sys_flag,
                born_timestamp_ms: values.born_timestamp_ms,
                flag: self.flag,
                reconsume_times: self.reconsume_times,
                is_batch: self.is_batch,
            },
        }
    }
}

/// Where a text borrowed from `header` stands in it.
fn spot(header: &[u8], text: Text<'_>) -> Option<std::ops::Range<usize>> {
    let text = text.as_written();
    let start = (text.as_ptr() as usize).checked_sub(header.as_ptr() as usize)?;
    let end = start + text.len();
    (end <= header.len()).then_some(start..end)
}

#[inline]
fn int(bytes: &[u8]) -> Option<(i32, &[u8])> {
    let (number, rest) = digits(bytes, INT_DIGITS_MAX)?;
    Some((i32::try_from(number).ok()?, rest))
}

/// Read the digits that come first. No sign, no zeros before them: what is written otherwise is
/// for the decoder.
#[inline]
fn digits(bytes: &[u8], count_max: usize) -> Option<(i64, &[u8])> {
    let mut number = 0_i64;
    let mut count = 0;
    while let Some(byte) = bytes.get(count) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        if count == count_max {
            return None;
        }
        number = number * 10 + i64::from(digit);
        count += 1;
    }
    let has_zeros_before = count > 1 && bytes[0] == b'0';
    (count > 0 && !has_zeros_before).then_some((number, &bytes[count..]))
}

#[cfg(test)]
mod tests;
