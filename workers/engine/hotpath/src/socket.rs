//! The only unsafe code of this crate: a client's socket, written to for the one who owns it.
//!
//! Answers of pulls are records as they lie in the log. The system copies them from there into the
//! socket; through a buffer each byte is copied twice, and its memory made and given back each time.

use std::io::IoSlice;
use std::os::fd::{BorrowedFd, RawFd};

use regent_commitlog::RecordSlices;
use rustix::net::{self, SendAncillaryBuffer, SendFlags};

/// As many pieces as the system takes at once (`IOV_MAX`).
const PIECES_MAX: usize = 1024;

/// Answers of pulls, in order, to be written together.
#[derive(Debug, Default)]
pub struct PullAnswers<'s> {
    heads: Vec<u8>,
    /// Where the head of each ends, and the records behind it.
    bodies: Vec<(usize, Option<RecordSlices<'s>>)>,
    size: usize,
}

impl<'s> PullAnswers<'s> {
    /// Adds a frame without its body, and the records that are its body.
    pub fn push(&mut self, head: &[u8], records: RecordSlices<'s>) {
        self.heads.extend_from_slice(head);
        self.size += head.len() + records.size();
        self.bodies.push((self.heads.len(), Some(records)));
    }

    /// Adds the beginning of a frame; records may follow.
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.heads.extend_from_slice(bytes);
        self.size += bytes.len();
        self.bodies.push((self.heads.len(), None));
    }

    /// Bytes of all of them.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// What lies behind the first `skipped` bytes, piece by piece.
    pub fn rest(&self, mut skipped: usize) -> impl Iterator<Item = &[u8]> {
        self.pieces().filter_map(move |piece| {
            let rest = piece.get(skipped..);
            skipped = skipped.saturating_sub(piece.len());
            rest.filter(|bytes| !bytes.is_empty())
        })
    }

    /// Writes as much of them as a socket takes at once, and returns how many bytes that is. Nothing
    /// else may wait to be written to it.
    ///
    /// Of an error its owner hears when it writes what is left.
    #[must_use]
    pub fn write_to(&self, socket: RawFd) -> usize {
        if self.bodies.is_empty() || socket < 0 {
            return 0;
        }
        let pieces: Vec<_> = self.pieces().take(PIECES_MAX).map(IoSlice::new).collect();
        // SAFETY: its owner, who waits for this call, keeps the socket open. A number that is not open
        // after all is an error of the call below.
        let socket = unsafe { BorrowedFd::borrow_raw(socket) };
        let sent = net::sendmsg(
            socket,
            &pieces,
            &mut SendAncillaryBuffer::default(),
            SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
        );
        sent.unwrap_or(0)
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let mut from = 0;
        self.bodies.iter().flat_map(move |(end, records)| {
            let head = &self.heads[std::mem::replace(&mut from, *end)..*end];
            std::iter::once(head).chain(records.iter().flat_map(RecordSlices::iter))
        })
    }
}
