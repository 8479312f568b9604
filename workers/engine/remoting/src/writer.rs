//! Writing commands into an output buffer, in either encoding.

use crate::error::EncodeError;
use crate::header::Encoding;
use crate::language::Language;
use crate::limits::{FRAME_PREFIX_SIZE, HEADER_WRITTEN_MAX};
use crate::swar::find_unsafe;

/// What every header carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fields<'a> {
    /// Request or response code.
    pub code: i32,
    /// The sender's language.
    pub language: Language,
    /// The sender's protocol version.
    pub version: i32,
    /// Correlation id chosen by the requester.
    pub opaque: i32,
    /// Bits [`crate::FLAG_RESPONSE`] and [`crate::FLAG_ONEWAY`].
    pub flag: i32,
    /// Text for humans, mostly on errors.
    pub remark: Option<&'a str>,
}

/// Writes one frame at the end of a buffer: the fixed fields, ext fields one by one, then the
/// body. A frame that can't be written leaves the buffer as it was.
#[derive(Debug)]
pub struct FrameWriter<'o> {
    out: &'o mut Vec<u8>,
    encoding: Encoding,
    start: usize,
    /// Where the size of the ext entries stands (ROCKETMQ), or whether `extFields` is open (JSON).
    ext_at: usize,
    failed: Option<EncodeError>,
}

impl<'o> FrameWriter<'o> {
    /// Begin a frame. ROCKETMQ headers keep the low 16 bits of `code` and `version`, as Java does
    /// (remoting.md 1.3).
    pub fn begin(out: &'o mut Vec<u8>, encoding: Encoding, fields: &Fields<'_>) -> Self {
        let start = out.len();
        out.extend_from_slice(&[0; FRAME_PREFIX_SIZE]);
        let ext_at = match encoding {
            Encoding::Json => {
                begin_json(out, fields);
                0
            }
            Encoding::RocketMq => begin_binary(out, fields),
        };
        Self {
            out,
            encoding,
            start,
            ext_at,
            failed: None,
        }
    }

    /// Add an ext field.
    pub fn ext(&mut self, key: &str, value: &str) {
        match self.encoding {
            Encoding::Json => {
                self.json_separator();
                append_json_string(self.out, key);
                self.out.push(b':');
                append_json_string(self.out, value);
            }
            Encoding::RocketMq => self.binary_entry(key, value.as_bytes()),
        }
    }

    /// Add an ext field whose key needs no escape in JSON.
    pub fn ext_text(&mut self, key: &str, value: &str) {
        match self.encoding {
            Encoding::Json if !is_json_plain(value.as_bytes()) => self.ext(key, value),
            Encoding::Json => self.json_plain(key, value.as_bytes()),
            Encoding::RocketMq => self.binary_entry(key, value.as_bytes()),
        }
    }

    /// Add an ext field of which neither key nor value needs an escape in JSON.
    pub fn ext_plain(&mut self, key: &str, value: &str) {
        match self.encoding {
            Encoding::Json => self.json_plain(key, value.as_bytes()),
            Encoding::RocketMq => self.binary_entry(key, value.as_bytes()),
        }
    }

    /// Add an ext field whose value is a whole number and whose key needs no escape.
    pub fn ext_number(&mut self, key: &str, value: impl itoa::Integer) {
        let mut digits = itoa::Buffer::new();
        let digits = digits.format(value);
        match self.encoding {
            Encoding::Json => self.json_plain(key, digits.as_bytes()),
            Encoding::RocketMq => self.binary_entry(key, digits.as_bytes()),
        }
    }

    /// Close the frame with its body.
    ///
    /// # Errors
    /// [`EncodeError`] when a length doesn't fit its field; nothing of the frame is left.
    pub fn finish(self, body: &[u8]) -> Result<(), EncodeError> {
        let out = self.finish_before(body.len())?;
        out.extend_from_slice(body);
        Ok(())
    }

    /// Close the frame before its body, which the caller sends behind it.
    ///
    /// # Errors
    /// As for [`FrameWriter::finish`].
    pub fn finish_before(mut self, body_size: usize) -> Result<&'o mut Vec<u8>, EncodeError> {
        match self.encoding {
            Encoding::Json if self.ext_at > 0 => self.out.extend_from_slice(b"}}"),
            Encoding::Json => self.out.push(b'}'),
            Encoding::RocketMq => {
                let size = self.out.len() - self.ext_at - 4;
                let size = u32::try_from(size).unwrap_or(u32::MAX);
                self.patch(self.ext_at, size);
            }
        }
        let header = self.out.len() - self.start - FRAME_PREFIX_SIZE;
        let length = (FRAME_PREFIX_SIZE - 4 + header).saturating_add(body_size);
        if header > HEADER_WRITTEN_MAX {
            self.failed = Some(EncodeError::HeaderTooLong(header));
        } else if i32::try_from(length).is_err() {
            self.failed = Some(EncodeError::FrameTooLong(length));
        }
        if let Some(error) = self.failed {
            self.out.truncate(self.start);
            return Err(error);
        }
        let length = u32::try_from(length).unwrap_or(u32::MAX);
        let header = u32::try_from(header).unwrap_or(u32::MAX);
        self.patch(self.start, length);
        self.patch(
            self.start + 4,
            u32::from(self.encoding.number()) << 24 | header,
        );
        Ok(self.out)
    }

    fn patch(&mut self, at: usize, value: u32) {
        self.out[at..at + 4].copy_from_slice(&value.to_be_bytes());
    }

    fn json_separator(&mut self) {
        let opening: &[u8] = if self.ext_at == 0 {
            b",\"extFields\":{"
        } else {
            b","
        };
        self.ext_at = 1;
        self.out.extend_from_slice(opening);
    }

    fn json_plain(&mut self, key: &str, value: &[u8]) {
        debug_assert!(find_unsafe(key.as_bytes()).is_none());
        debug_assert!(find_unsafe(value).is_none());
        self.json_separator();
        self.out.push(b'"');
        self.out.extend_from_slice(key.as_bytes());
        self.out.extend_from_slice(b"\":\"");
        self.out.extend_from_slice(value);
        self.out.push(b'"');
    }

    fn binary_entry(&mut self, key: &str, value: &[u8]) {
        let Ok(key_size) = i16::try_from(key.len()) else {
            self.failed = Some(EncodeError::KeyTooLong(key.len()));
            return;
        };
        self.out.extend_from_slice(&key_size.to_be_bytes());
        self.out.extend_from_slice(key.as_bytes());
        append_size(self.out, value.len());
        self.out.extend_from_slice(value);
    }
}

/// Whether a text, in UTF-8, stands in a JSON string as it is, without escapes.
#[inline]
#[must_use]
pub fn is_json_plain(text: &[u8]) -> bool {
    find_unsafe(text).is_none()
}

/// Append a four-byte size. One beyond its range also breaks [`HEADER_WRITTEN_MAX`], which
/// [`FrameWriter::finish`] checks.
fn append_size(out: &mut Vec<u8>, size: usize) {
    let size = i32::try_from(size).unwrap_or(i32::MAX);
    out.extend_from_slice(&size.to_be_bytes());
}

/// Keep the low 16 bits.
fn low_half(value: i32) -> [u8; 2] {
    let [_, _, high, low] = value.to_be_bytes();
    [high, low]
}

fn begin_binary(out: &mut Vec<u8>, fields: &Fields<'_>) -> usize {
    out.extend_from_slice(&low_half(fields.code));
    out.push(fields.language.number());
    out.extend_from_slice(&low_half(fields.version));
    out.extend_from_slice(&fields.opaque.to_be_bytes());
    out.extend_from_slice(&fields.flag.to_be_bytes());
    let remark = fields.remark.unwrap_or_default();
    append_size(out, remark.len());
    out.extend_from_slice(remark.as_bytes());
    append_size(out, 0);
    out.len() - 4
}

fn begin_json(out: &mut Vec<u8>, fields: &Fields<'_>) {
    let mut digits = itoa::Buffer::new();
    out.extend_from_slice(b"{\"code\":");
    out.extend_from_slice(digits.format(fields.code).as_bytes());
    out.extend_from_slice(b",\"flag\":");
    out.extend_from_slice(digits.format(fields.flag).as_bytes());
    out.extend_from_slice(b",\"language\":\"");
    out.extend_from_slice(fields.language.name().as_bytes());
    out.extend_from_slice(b"\",\"opaque\":");
    out.extend_from_slice(digits.format(fields.opaque).as_bytes());
    if let Some(remark) = fields.remark {
        out.extend_from_slice(b",\"remark\":");
        append_json_string(out, remark);
    }
    out.extend_from_slice(b",\"serializeTypeCurrentRPC\":\"JSON\",\"version\":");
    out.extend_from_slice(digits.format(fields.version).as_bytes());
}

fn append_json_string(out: &mut Vec<u8>, text: &str) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    let mut rest = text.as_bytes();
    while let Some(at) = find_unsafe(rest) {
        out.extend_from_slice(&rest[..at]);
        match rest[at] {
            same @ (b'"' | b'\\') => out.extend_from_slice(&[b'\\', same]),
            byte => {
                out.extend_from_slice(b"\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
            }
        }
        rest = &rest[at + 1..];
    }
    out.extend_from_slice(rest);
    out.push(b'"');
}
