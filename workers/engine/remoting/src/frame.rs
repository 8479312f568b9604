//! Cutting a byte stream into frames (remoting.md 1.1).
//!
//! ```text
//! offset  size       content
//! 0       4          length L of what follows
//! 4       4          top byte: encoding; the rest: header length H
//! 8       H          header
//! 8 + H   L - 4 - H  body
//! ```

use crate::error::FrameError;
use crate::header::Encoding;
use crate::limits::{FRAME_PREFIX_SIZE, HEADER_SIZE_MAX, REASSEMBLY_KEPT_MAX};

const LENGTH_SIZE: usize = 4;

/// One whole frame, borrowed from the bytes it came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// How the header was written.
    pub encoding: Encoding,
    /// The bytes of the header.
    pub header: &'a [u8],
    /// The body; empty when there is none.
    pub body: &'a [u8],
}

/// How large the parts of a frame may be.
#[derive(Debug, Clone, Copy)]
struct SizeLimits {
    frame: usize,
    header: usize,
}

/// The record type of a TLS handshake, and the major version of every TLS (RFC 8446, 5.1).
const TLS_GREETING: [u8; 2] = [0x16, 0x03];
/// What HTTP requests begin with, and the preface of HTTP/2.
const HTTP_METHODS: [&[u8; 4]; 10] = [
    b"GET ", b"POST", b"PUT ", b"HEAD", b"DELE", b"OPTI", b"PATC", b"CONN", b"TRAC", b"PRI ",
];

/// Says of a length that is above every limit what the peer really speaks, if that is known.
///
/// As lengths these bytes are 350 MB and more, so that no frame that is allowed looks like them.
#[cold]
fn oversize(length: [u8; 4], size: usize, limit: usize) -> FrameError {
    if length.starts_with(&TLS_GREETING) {
        FrameError::Tls
    } else if HTTP_METHODS.contains(&&length) {
        FrameError::Http
    } else {
        FrameError::Oversize {
            size: size as u64,
            limit,
        }
    }
}

/// The size of the frame that `bytes` starts with, length field included; `None` while it is
/// not known. The prefix is checked as soon as its bytes are here.
fn frame_size(bytes: &[u8], limits: SizeLimits) -> Result<Option<usize>, FrameError> {
    let Some(&length_bytes) = bytes.first_chunk::<4>() else {
        return Ok(None);
    };
    let length = i32::from_be_bytes(length_bytes);
    let size = match usize::try_from(length) {
        Ok(rest) if rest >= FRAME_PREFIX_SIZE - LENGTH_SIZE => rest + LENGTH_SIZE,
        _ => return Err(FrameError::LengthInvalid(length)),
    };
    if size > limits.frame {
        return Err(oversize(length_bytes, size, limits.frame));
    }
    if let Some(&[_, _, _, _, encoding, h2, h1, h0]) = bytes.first_chunk::<8>() {
        if Encoding::from_number(encoding).is_none() {
            return Err(FrameError::EncodingUnknown(encoding));
        }
        let header = u32::from_be_bytes([0, h2, h1, h0]) as usize;
        if header > size - FRAME_PREFIX_SIZE {
            return Err(FrameError::HeaderBeyondFrame {
                header,
                frame: size,
            });
        }
        if header > limits.header {
            return Err(FrameError::HeaderOversize {
                size: header,
                limit: limits.header,
            });
        }
    }
    Ok(Some(size))
}

/// Take apart a whole frame whose prefix [`frame_size`] has accepted.
fn split(bytes: &[u8]) -> Result<Frame<'_>, FrameError> {
    let (prefix, rest) = bytes.split_at(FRAME_PREFIX_SIZE);
    let encoding =
        Encoding::from_number(prefix[4]).ok_or(FrameError::EncodingUnknown(prefix[4]))?;
    let header = u32::from_be_bytes([0, prefix[5], prefix[6], prefix[7]]) as usize;
    let (header, body) = rest.split_at(header);
    Ok(Frame {
        encoding,
        header,
        body,
    })
}

/// Reassembles frames from chunks. An error is final: a stream that lost its frame boundaries
/// never finds them again.
#[derive(Debug)]
pub struct Framer {
    limits: SizeLimits,
    partial: Vec<u8>,
    failed: Option<FrameError>,
}

impl Framer {
    /// A framer that takes frames up to a size, with headers up to [`HEADER_SIZE_MAX`].
    #[must_use]
    pub fn new(frame_size_max: usize) -> Self {
        Self::with_header_limit(frame_size_max, HEADER_SIZE_MAX)
    }

    /// A framer that takes frames and headers up to sizes: for answers of our own kind, whose
    /// headers are larger than those of requests.
    #[must_use]
    pub fn with_header_limit(frame_size_max: usize, header_size_max: usize) -> Self {
        Self {
            limits: SizeLimits {
                frame: frame_size_max,
                header: header_size_max,
            },
            partial: Vec::new(),
            failed: None,
        }
    }

    /// Take a chunk. Frames inside it are borrowed from it; only a frame cut by the chunk's end
    /// is copied, and memory grows with what was received, never with what a length claims.
    pub fn receive<'a>(&'a mut self, chunk: &'a [u8]) -> Frames<'a> {
        Frames {
            framer: self,
            rest: chunk,
            partial_used: false,
        }
    }

    /// Remember a failure found in a frame's content, so that later calls repeat it.
    pub fn fail(&mut self, error: FrameError) {
        self.failed = Some(error);
        self.partial = Vec::new();
    }

    fn keep_nothing(&mut self) {
        self.partial.clear();
        self.partial.shrink_to(REASSEMBLY_KEPT_MAX);
    }

    /// The bytes waiting for the rest of their frame.
    #[must_use]
    pub fn partial_size(&self) -> usize {
        self.partial.len()
    }
}

/// The frames of one chunk. What is left at the end is kept by the [`Framer`].
#[derive(Debug)]
pub struct Frames<'a> {
    framer: &'a mut Framer,
    rest: &'a [u8],
    partial_used: bool,
}

impl Frames<'_> {
    /// Take the next frame, or `None` when the chunk is used up.
    ///
    /// # Errors
    /// [`FrameError`] when the stream is broken, now and ever after.
    pub fn next_frame(&mut self) -> Result<Option<Frame<'_>>, FrameError> {
        if let Some(error) = self.framer.failed {
            return Err(error);
        }
        if self.partial_used {
            self.partial_used = false;
            self.framer.keep_nothing();
        }
        let whole = if self.framer.partial.is_empty() {
            self.cut()
        } else {
            self.complete()
        };
        match whole {
            Ok(Some(frame)) => split(if self.partial_used {
                &self.framer.partial
            } else {
                frame
            })
            .map(Some),
            Ok(None) => Ok(None),
            Err(error) => {
                self.framer.fail(error);
                Err(error)
            }
        }
    }
}

impl<'a> Frames<'a> {
    /// Leave the rest of the chunk for a later call; return it.
    #[must_use]
    pub fn leave(self) -> &'a [u8] {
        if self.partial_used {
            self.framer.keep_nothing();
        }
        self.rest
    }

    /// Cut a whole frame off the chunk, or keep the chunk's end.
    fn cut(&mut self) -> Result<Option<&'a [u8]>, FrameError> {
        if let Some(size) = frame_size(self.rest, self.framer.limits)?
            && let Some((frame, rest)) = self.rest.split_at_checked(size)
        {
            self.rest = rest;
            return Ok(Some(frame));
        }
        self.framer.partial.extend_from_slice(self.rest);
        self.rest = &[];
        Ok(None)
    }

    /// Complete the kept frame from the chunk: first its prefix, then all of it.
    fn complete(&mut self) -> Result<Option<&'a [u8]>, FrameError> {
        self.fill(FRAME_PREFIX_SIZE);
        let Some(size) = frame_size(&self.framer.partial, self.framer.limits)? else {
            return Ok(None);
        };
        self.fill(size);
        self.partial_used = self.framer.partial.len() == size;
        Ok(self.partial_used.then_some(&[]))
    }

    fn fill(&mut self, size: usize) {
        let missing = size
            .saturating_sub(self.framer.partial.len())
            .min(self.rest.len());
        let (taken, rest) = self.rest.split_at(missing);
        self.framer.partial.extend_from_slice(taken);
        self.rest = rest;
    }
}
