//! The thread's side of one client.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use regent_hotpath::Connection;
use regent_remoting::Command;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use crate::client::Client;
use crate::output::{Bytes, Output};

/// With more requests of a client that the owner has not begun to serve, no more of it are read.
const COLD_COUNT_MAX: usize = 64;
/// As above, in bytes.
const COLD_BYTES_MAX: usize = 4 << 20;

pub(crate) struct Peer {
    pub(crate) client: Arc<Client>,
    pub(crate) socket: OwnedFd,
    pub(crate) connection: Connection,
    /// Bytes that were read and not served; with some, no more are read.
    pub(crate) input: Vec<u8>,
    output: Output,
    /// The sizes of requests that the owner has not begun to serve.
    cold_sizes: VecDeque<usize>,
    cold_bytes: usize,
    /// Requests that other members have not answered.
    pub(crate) forwarded_count: usize,
    /// Those of them that are POPs.
    pub(crate) forwarded_pop_count: usize,
    /// A send waits for a file of its queue, and all that follows waits as well.
    pub(crate) is_set_aside: bool,
    /// The owner checks a parked pull.
    pub(crate) is_checking: bool,
    /// Stands among those that take turns.
    pub(crate) has_turn: bool,
    /// Stands among those that wait for the gate.
    pub(crate) is_gated: bool,
    /// Was handed much with its last answers, so that it takes turns with others like it.
    pub(crate) takes_bulk: bool,
    /// The owner waits until the client has caught up.
    pub(crate) is_awaited: bool,
    /// It sends no more.
    pub(crate) has_ended: bool,
    /// It gets no more; what it sent is served nevertheless.
    pub(crate) failure: Option<Errno>,
    /// The owner closes it: what it sends is dropped.
    pub(crate) is_closing: bool,
    /// What it is watched for.
    watched: Option<EventFlags>,
    /// When it was heard or written to last.
    pub(crate) active_ms: i64,
}

impl Peer {
    pub(crate) fn new(
        client: Arc<Client>,
        socket: OwnedFd,
        connection: Connection,
        now_ms: i64,
    ) -> Self {
        Self {
            client,
            socket,
            connection,
            input: Vec::new(),
            output: Output::default(),
            cold_sizes: VecDeque::new(),
            cold_bytes: 0,
            forwarded_count: 0,
            forwarded_pop_count: 0,
            is_set_aside: false,
            is_checking: false,
            has_turn: false,
            is_gated: false,
            takes_bulk: false,
            is_awaited: false,
            has_ended: false,
            failure: None,
            is_closing: false,
            watched: None,
            active_ms: now_ms,
        }
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.failure.is_some()
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Whether the next of its requests may be served. A client that is handed much takes it first: what its
    /// socket has no room for would be copied.
    pub(crate) fn may_serve(&self, is_gate_open: bool) -> bool {
        let is_full = self.takes_bulk && self.has_output();
        let waits = self.is_set_aside || is_full || self.client.note_congestion();
        let has_many = self.cold_sizes.len() >= COLD_COUNT_MAX || self.cold_bytes >= COLD_BYTES_MAX;
        is_gate_open && !waits && !self.is_closing && !has_many
    }

    /// Whether the owner has not begun to serve one of its requests.
    pub(crate) fn has_cold(&self) -> bool {
        !self.cold_sizes.is_empty()
    }

    /// Note a request that is left for the owner.
    pub(crate) fn add_cold(&mut self, request: &Command) {
        let fields = request.ext.iter();
        let fields_size: usize = fields.map(|(name, value)| name.len() + value.len()).sum();
        let size = request.body.len() + fields_size;
        self.cold_sizes.push_back(size);
        self.cold_bytes += size;
    }

    /// Note that the owner has begun to serve so many requests.
    pub(crate) fn take_cold(&mut self, count: usize) {
        let taken = self.cold_sizes.drain(..count.min(self.cold_sizes.len()));
        self.cold_bytes -= taken.sum::<usize>();
    }

    /// Whether there is nothing more to serve.
    pub(crate) fn is_served(&self) -> bool {
        self.has_ended && self.input.is_empty() && !self.is_set_aside && self.forwarded_count == 0
    }

    /// Whether it gets no answers any more, or is about to get none.
    pub(crate) fn has_left(&self) -> bool {
        self.has_ended || self.is_broken() || self.is_closing
    }

    /// Write bytes behind all others.
    pub(crate) fn write(&mut self, bytes: Vec<u8>) {
        if self.is_broken() || bytes.is_empty() {
            return;
        }
        let before = self.output.size();
        let outcome = self.output.write(self.socket.as_fd(), bytes);
        self.client.add_unwritten(self.output.size() - before);
        self.note(outcome);
    }

    /// Write bytes of the owner, whose size is counted already.
    pub(crate) fn write_counted(&mut self, pieces: [Bytes; 2]) {
        if self.is_broken() {
            let size = pieces.iter().map(|piece| (**piece).as_ref().len()).sum();
            self.client.drop_unwritten(size);
            return;
        }
        let is_first = self.output.is_empty();
        for piece in pieces {
            self.output.push(piece);
        }
        if is_first {
            self.flush();
        }
    }

    /// Write as much as the socket takes. Returns whether it took any.
    pub(crate) fn flush(&mut self) -> bool {
        let before = self.output.size();
        let outcome = self.output.flush(self.socket.as_fd());
        let taken = before - self.output.size();
        self.client.drop_unwritten(taken);
        self.note(outcome);
        taken > 0
    }

    fn note(&mut self, outcome: Result<(), Errno>) {
        if let Err(failure) = outcome {
            self.break_off(failure);
        }
    }

    /// Note that the client gets no more.
    pub(crate) fn break_off(&mut self, failure: Errno) {
        if self.is_broken() {
            return;
        }
        self.failure = Some(failure);
        self.client.drop_unwritten(self.output.size());
        self.output.clear();
        self.client.set_gone();
        self.takes_bulk = false;
    }

    /// Have the system say when the client can be read from, or written to.
    pub(crate) fn watch(&mut self, poll: &OwnedFd, reads: bool) {
        let mut wanted = EventFlags::empty();
        wanted.set(EventFlags::IN, reads);
        wanted.set(EventFlags::OUT, self.has_output());
        // A broken connection would be reported for ever.
        let wanted = (!self.is_broken()).then_some(wanted);
        if wanted == self.watched {
            return;
        }
        let data = EventData::new_u64(self.client.id);
        let outcome = match (self.watched, wanted) {
            (None, Some(flags)) => epoll::add(poll, &self.socket, data, flags),
            (Some(_), Some(flags)) => epoll::modify(poll, &self.socket, data, flags),
            (_, None) => epoll::delete(poll, &self.socket),
        };
        self.watched = wanted;
        if let Err(failure) = outcome {
            // The system would report nothing of the socket any more.
            self.has_ended = true;
            self.break_off(failure);
        }
    }
}
