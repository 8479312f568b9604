//! Bytes that wait to be written to a socket.

use std::collections::VecDeque;
use std::io::IoSlice;
use std::os::fd::BorrowedFd;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, send, sendmsg};

/// Bytes of any owner, which are not copied.
pub type Bytes = Box<dyn AsRef<[u8]> + Send>;

/// Pieces written at once.
const PIECE_COUNT_MAX: usize = 64;

const FLAGS: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);

/// The unwritten bytes of one socket, in order.
#[derive(Default)]
pub(crate) struct Output {
    pieces: VecDeque<Bytes>,
    /// What of the first piece is written.
    written: usize,
    size: usize,
}

impl Output {
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.size == 0
    }

    pub(crate) fn push(&mut self, bytes: Bytes) {
        let size = (*bytes).as_ref().len();
        if size > 0 {
            self.size += size;
            self.pieces.push_back(bytes);
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Write bytes behind all others; what the socket does not take now is kept.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn write(&mut self, socket: BorrowedFd<'_>, bytes: Vec<u8>) -> Result<(), Errno> {
        let sent = if self.is_empty() && !bytes.is_empty() {
            taken(send(socket, &bytes, FLAGS))?
        } else {
            0
        };
        if sent == 0 {
            self.push(Box::new(bytes));
        } else if let Some(rest) = bytes.get(sent..).filter(|rest| !rest.is_empty()) {
            self.push(Box::new(rest.to_vec()));
        }
        Ok(())
    }

    /// Write as much as the socket takes.
    ///
    /// # Errors
    /// The connection is broken.
    pub(crate) fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<(), Errno> {
        while !self.is_empty() {
            let slices = self.pieces.iter().take(PIECE_COUNT_MAX).enumerate();
            let slices = slices.map(|(at, piece)| {
                let bytes = (**piece).as_ref();
                IoSlice::new(&bytes[if at == 0 { self.written } else { 0 }..])
            });
            let slices: Vec<_> = slices.collect();
            let mut nothing = SendAncillaryBuffer::default();
            let sent = taken(sendmsg(socket, &slices, &mut nothing, FLAGS))?;
            if sent == 0 {
                break;
            }
            self.drop_written(sent);
        }
        Ok(())
    }

    fn drop_written(&mut self, sent: usize) {
        self.size -= sent;
        self.written += sent;
        while let Some(first) = self.pieces.front()
            && self.written >= (**first).as_ref().len()
        {
            self.written -= (**first).as_ref().len();
            self.pieces.pop_front();
        }
    }
}

/// How much a socket took; nothing while it is full.
fn taken(outcome: Result<usize, Errno>) -> Result<usize, Errno> {
    match outcome {
        Err(Errno::AGAIN | Errno::INTR | Errno::NOBUFS) => Ok(0),
        other => other,
    }
}
