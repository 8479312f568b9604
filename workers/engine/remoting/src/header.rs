//! The header of a command, in either encoding, borrowed from its frame.

use crate::error::HeaderError;
use crate::language::Language;
use crate::text::Text;
use crate::{binary, json};

/// Bit 0 of `flag`: this is an answer.
pub const FLAG_RESPONSE: i32 = 1;
/// Bit 1 of `flag`: the sender waits for no answer.
pub const FLAG_ONEWAY: i32 = 2;

/// How a header is written: the top byte of its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// A JSON object (remoting.md 1.2).
    Json,
    /// Stock's binary form (remoting.md 1.3).
    RocketMq,
}

impl Encoding {
    /// Find an encoding by its number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Json),
            1 => Some(Self::RocketMq),
            _ => None,
        }
    }

    /// The number on the wire.
    #[must_use]
    pub fn number(self) -> u8 {
        match self {
            Self::Json => 0,
            Self::RocketMq => 1,
        }
    }
}

/// The fixed part of a header. Ext fields go to the [`ExtSink`] as they are met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// Request or response code.
    pub code: i32,
    /// The sender's language.
    pub language: Language,
    /// The sender's protocol version.
    pub version: i32,
    /// Correlation id chosen by the requester.
    pub opaque: i32,
    /// Bits [`FLAG_RESPONSE`] and [`FLAG_ONEWAY`].
    pub flag: i32,
    /// Text for humans, mostly on errors.
    pub remark: Option<Text<'a>>,
}

impl Default for Header<'_> {
    fn default() -> Self {
        Self {
            code: 0,
            language: Language::JAVA,
            version: 0,
            opaque: 0,
            flag: 0,
            remark: None,
        }
    }
}

impl Header<'_> {
    /// Whether this answers a request of ours.
    #[must_use]
    pub fn is_response(&self) -> bool {
        self.flag & FLAG_RESPONSE != 0
    }

    /// Whether the sender waits for no answer.
    #[must_use]
    pub fn is_oneway(&self) -> bool {
        self.flag & FLAG_ONEWAY != 0
    }
}

/// Takes ext fields in wire order. A repeated key replaces the earlier value, and no value
/// removes it.
pub trait ExtSink<'a> {
    /// Forget all fields: another `extFields` object replaces the first.
    fn clear(&mut self);
    /// Take a field.
    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>);
}

/// Read a header.
///
/// # Errors
/// [`HeaderError`] when it is malformed; the connection can't go on.
pub fn decode_header<'a>(
    encoding: Encoding,
    bytes: &'a [u8],
    ext: &mut impl ExtSink<'a>,
) -> Result<Header<'a>, HeaderError> {
    match encoding {
        Encoding::Json => json::decode_header(bytes, ext),
        Encoding::RocketMq => binary::decode_header(bytes, ext),
    }
}
