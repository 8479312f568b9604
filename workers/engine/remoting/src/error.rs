//! What a peer can get wrong, and what we can.

use thiserror::Error;

/// A frame that no reader can make sense of; the connection must be closed (remoting.md 1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    /// The peer speaks TLS: these are the first bytes of its greeting.
    #[error(
        "the peer speaks TLS, and this port does not: switch TLS off in the client (Java: \
         tls.enable=false, useTLS=false)"
    )]
    Tls,
    /// The peer speaks HTTP: these are the first bytes of a request.
    #[error(
        "the peer sent an HTTP request, and this port speaks the RocketMQ remoting protocol: use \
         the address of the API or the console for HTTP"
    )]
    Http,
    /// The length field is negative, or too small for the header length after it.
    #[error("frame length {0} is negative or shorter than its own header length")]
    LengthInvalid(i32),
    /// The length field claims more than the limit.
    #[error("frame of {size} bytes exceeds the limit of {limit}")]
    Oversize {
        /// Size claimed, length field included.
        size: u64,
        /// Size allowed.
        limit: usize,
    },
    /// The header is longer than any legal one.
    #[error("header of {size} bytes exceeds the limit of {limit}")]
    HeaderOversize {
        /// Size claimed.
        size: usize,
        /// Size allowed.
        limit: usize,
    },
    /// The header does not fit its frame.
    #[error("header of {header} bytes does not fit a frame of {frame}")]
    HeaderBeyondFrame {
        /// Size of the header.
        header: usize,
        /// Size of the frame.
        frame: usize,
    },
    /// The serialize type is none we know.
    #[error("serialize type {0} is neither JSON nor ROCKETMQ")]
    EncodingUnknown(u8),
    /// The header is malformed.
    #[error(transparent)]
    Header(#[from] HeaderError),
}

/// A header that can't be read; also closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderError {
    /// Some text is not UTF-8.
    #[error("header is not UTF-8")]
    NotUtf8,
    /// A length or a value runs past the end.
    #[error("header ends early")]
    Truncated,
    /// Something follows where the header should end.
    #[error("header has bytes after its end at {0}")]
    Trailing(usize),
    /// The JSON grammar is broken.
    #[error("header is not valid JSON at byte {0}")]
    JsonInvalid(usize),
    /// Values nest too deep.
    #[error("header nests deeper than {limit}", limit = crate::limits::JSON_DEPTH_MAX)]
    TooDeep,
    /// A field we know holds a value it cannot have.
    #[error("header field has the wrong type at byte {0}")]
    TypeWrong(usize),
    /// A length is negative.
    #[error("header has a negative length at byte {0}")]
    LengthNegative(usize),
    /// Too many ext fields.
    #[error("header has more than {limit} ext fields", limit = crate::limits::EXT_COUNT_MAX)]
    ExtTooMany,
}

/// A command of ours that the wire can't carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// ROCKETMQ headers count a key in 16 bits.
    #[error("an ext key of {0} bytes is longer than the ROCKETMQ header can carry")]
    KeyTooLong(usize),
    /// The header is longer than a reader would take.
    #[error("header of {0} bytes is longer than the limit")]
    HeaderTooLong(usize),
    /// The frame is longer than its length field can say.
    #[error("frame of {0} bytes is longer than the length field can carry")]
    FrameTooLong(usize),
}
