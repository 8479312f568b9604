//! A command that owns its parts, for a caller that keeps it longer than its frame.

use std::collections::BTreeMap;

use crate::error::FrameError;
use crate::frame::{Frame, Framer};
use crate::header::{Encoding, ExtSink, FLAG_ONEWAY, FLAG_RESPONSE, Header, decode_header};
use crate::language::Language;
use crate::text::Text;

/// A decoded command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
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
    pub remark: Option<String>,
    /// The custom header fields.
    pub ext: BTreeMap<String, String>,
    /// The body; empty when there is none.
    pub body: Vec<u8>,
    /// How the header was written.
    pub encoding: Encoding,
}

impl<'a> ExtSink<'a> for BTreeMap<String, String> {
    fn clear(&mut self) {
        Self::clear(self);
    }

    fn put(&mut self, key: Text<'a>, value: Option<Text<'a>>) {
        let key = key.to_str().into_owned();
        match value {
            Some(value) => drop(self.insert(key, value.to_str().into_owned())),
            None => drop(self.remove(&key)),
        }
    }
}

impl Command {
    /// Decode a whole frame.
    ///
    /// # Errors
    /// [`FrameError::Header`] when its header is malformed.
    pub fn decode(frame: &Frame<'_>) -> Result<Self, FrameError> {
        let mut ext = BTreeMap::new();
        let header = decode_header(frame.encoding, frame.header, &mut ext)?;
        Ok(Self::from_parts(&header, ext, frame))
    }

    /// Assemble a command from a header that was decoded already.
    #[must_use]
    pub fn from_parts(
        header: &Header<'_>,
        ext: BTreeMap<String, String>,
        frame: &Frame<'_>,
    ) -> Self {
        Self {
            code: header.code,
            language: header.language,
            version: header.version,
            opaque: header.opaque,
            flag: header.flag,
            remark: header.remark.map(|remark| remark.to_str().into_owned()),
            ext,
            body: frame.body.to_vec(),
            encoding: frame.encoding,
        }
    }

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

/// Turns a byte stream into commands.
#[derive(Debug)]
pub struct Decoder {
    framer: Framer,
}

impl Decoder {
    /// A decoder that takes frames up to a size.
    #[must_use]
    pub fn new(frame_size_max: usize) -> Self {
        Self {
            framer: Framer::new(frame_size_max),
        }
    }

    /// A decoder that takes frames and headers up to sizes, as [`Framer::with_header_limit`].
    #[must_use]
    pub fn with_header_limit(frame_size_max: usize, header_size_max: usize) -> Self {
        Self {
            framer: Framer::with_header_limit(frame_size_max, header_size_max),
        }
    }

    /// Decode every frame that `chunk` completes, appending to `commands`. On an error the
    /// commands before it are there.
    ///
    /// # Errors
    /// [`FrameError`] when the stream is broken; every later call repeats it.
    pub fn receive(&mut self, chunk: &[u8], commands: &mut Vec<Command>) -> Result<(), FrameError> {
        let mut frames = self.framer.receive(chunk);
        let failure = loop {
            match frames.next_frame() {
                Ok(Some(frame)) => match Command::decode(&frame) {
                    Ok(command) => commands.push(command),
                    Err(error) => break error,
                },
                Ok(None) => return Ok(()),
                Err(error) => return Err(error),
            }
        };
        self.framer.fail(failure);
        Err(failure)
    }
}
