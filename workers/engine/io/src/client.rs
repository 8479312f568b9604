//! What the thread and its owner both know of one client.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// A client with more unwritten bytes is not served until it has read most of them.
pub const WRITE_BUFFER_HIGH_BYTES: usize = 1 << 20;
const WRITE_BUFFER_LOW_BYTES: usize = WRITE_BUFFER_HIGH_BYTES / 4;

/// Answers of a connection that wait for the disk or for replicas: with more its requests are not read.
pub const HELD_BYTES_MAX: usize = 4 << 20;

/// One connected client.
#[derive(Debug)]
pub struct Client {
    /// No other client of the broker has this id, which is also `Connection::id`.
    pub id: u64,
    /// Its address.
    pub peer: SocketAddr,
    /// Whether it came by the port of old clients, where no pulls are served.
    pub is_fast: bool,
    /// Bytes for it that the system has not taken yet.
    unwritten: AtomicUsize,
    /// Answers for it that wait for the disk or for replicas.
    held: AtomicUsize,
    is_congested: AtomicBool,
    is_gone: AtomicBool,
}

impl Client {
    pub(crate) fn new(id: u64, peer: SocketAddr, is_fast: bool) -> Self {
        Self {
            id,
            peer,
            is_fast,
            unwritten: AtomicUsize::new(0),
            held: AtomicUsize::new(0),
            is_congested: AtomicBool::new(false),
            is_gone: AtomicBool::new(false),
        }
    }

    /// Whether it has left, while its last requests are still served.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.is_gone.load(Ordering::SeqCst)
    }

    pub(crate) fn set_gone(&self) {
        self.is_gone.store(true, Ordering::SeqCst);
    }

    /// Bytes that the client has not been sent yet.
    #[must_use]
    pub fn unwritten_bytes(&self) -> usize {
        self.unwritten.load(Ordering::SeqCst)
    }

    pub(crate) fn add_unwritten(&self, size: usize) {
        self.unwritten.fetch_add(size, Ordering::SeqCst);
    }

    pub(crate) fn drop_unwritten(&self, size: usize) {
        self.unwritten.fetch_sub(size, Ordering::SeqCst);
    }

    /// Note that answers of so many bytes wait for the disk or for replicas.
    pub fn hold(&self, size: usize) {
        self.held.fetch_add(size, Ordering::SeqCst);
    }

    pub(crate) fn drop_held(&self, size: usize) {
        self.held.fetch_sub(size, Ordering::SeqCst);
    }

    /// Whether the client waits to read its answers, or too many of them wait for replicas. Of a client that
    /// left, which reads no more answers, no request waits for that.
    #[must_use]
    pub fn is_congested(&self) -> bool {
        let is_so = self.has_too_much() || self.is_congested.load(Ordering::SeqCst);
        is_so && !self.is_gone()
    }

    fn has_too_much(&self) -> bool {
        let is_held = self.held.load(Ordering::SeqCst) > HELD_BYTES_MAX;
        is_held || self.unwritten_bytes() > WRITE_BUFFER_HIGH_BYTES
    }

    /// As [`Self::is_congested`], which lasts until [`Self::catch_up`] then.
    pub(crate) fn note_congestion(&self) -> bool {
        if self.has_too_much() {
            self.is_congested.store(true, Ordering::SeqCst);
        }
        self.is_congested()
    }

    /// End a congestion if the client has caught up. Returns whether one is over now.
    pub(crate) fn catch_up(&self) -> bool {
        let has_room = self.unwritten_bytes() <= WRITE_BUFFER_LOW_BYTES
            && self.held.load(Ordering::SeqCst) <= HELD_BYTES_MAX;
        has_room && self.is_congested.swap(false, Ordering::SeqCst)
    }
}
