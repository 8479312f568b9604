//! What a peer can get wrong, and what we can.

use thiserror::Error;

/// A frame that no reader can make sense of; the connection must be closed (remoting.md 1.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum FrameError {
    #[error("frame length {0} is negative or shorter than its own header length")]
    LengthInvalid(i32),
    #[error("frame of {size} bytes exceeds the limit of {limit}")]
    Oversize { size: u64, limit: usize },
    #[error("header of {size} bytes exceeds the limit of {limit}")]
    HeaderOversize { size: usize, limit: usize },
    #[error("header of {header} bytes does not fit a frame of {frame}")]
    HeaderBeyondFrame { header: usize, frame: usize },
    #[error("serialize type {0} is neither JSON nor ROCKETMQ")]
    EncodingUnknown(u8),
    #[error(transparent)]
    Header(#[from] HeaderError),
}

/// A header that can't be read; also closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum HeaderError {
    #[error("header is not UTF-8")]
    NotUtf8,
    #[error("header ends early")]
    Truncated,
    #[error("header has bytes after its end at {0}")]
    Trailing(usize),
    #[error("header is not valid JSON at byte {0}")]
    JsonInvalid(usize),
    #[error("header nests deeper than {limit}", limit = crate::limits::JSON_DEPTH_MAX)]
    TooDeep,
    #[error("header field has the wrong type at byte {0}")]
    TypeWrong(usize),
    #[error("header has a negative length at byte {0}")]
    LengthNegative(usize),
    #[error("header has more than {limit} ext fields", limit = crate::limits::EXT_COUNT_MAX)]
    ExtTooMany,
}

/// A command of ours that the wire can't carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EncodeError {
    #[error("an ext key of {0} bytes is longer than the ROCKETMQ header can carry")]
    KeyTooLong(usize),
    #[error("header of {0} bytes is longer than the limit")]
    HeaderTooLong(usize),
    #[error("frame of {0} bytes is longer than the length field can carry")]
    FrameTooLong(usize),
}
