//! The RocketMQ remoting wire: frames, headers in JSON and ROCKETMQ form (remoting.md 1), and
//! what of messages it fixes: properties and ids (remoting.md 4).
//!
//! Works on bytes only: no sockets, no clock, no threads. Whatever a peer sends is a command or
//! an error; memory grows with what was received, never with what a length field claims.

#![forbid(unsafe_code)]

mod binary;
mod command;
mod error;
mod frame;
mod header;
mod json;
mod language;
pub mod limits;
pub mod message_id;
pub mod properties;
mod property_string;
mod swar;
mod text;
mod writer;

pub use command::{Command, Decoder};
pub use error::{EncodeError, FrameError, HeaderError};
pub use frame::{Frame, Framer, Frames};
pub use header::{Encoding, ExtSink, FLAG_ONEWAY, FLAG_RESPONSE, Header, decode_header};
pub use language::Language;
pub use property_string::PropertyString;
pub use text::Text;
pub use writer::{Fields, FrameWriter, is_json_plain};
