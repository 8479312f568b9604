//! A connection to another member of the broker group, which answers requests of clients (ADR 27).

use std::collections::{BTreeMap, VecDeque};
use std::os::fd::{AsFd, OwnedFd};

use ahash::AHashMap;
use regent_hotpath::{Forward, Forwards, MemberAnswer};
use regent_remoting::limits::HEADER_WRITTEN_MAX;
use regent_remoting::{FrameError, Framer, decode_header};
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;

use crate::output::Output;

/// A member that gives no answer for so long is asked no more.
const ANSWER_MS_MAX: i64 = 3_000;
/// With more unwritten bytes, requests are left to the owner of the thread, which limits them.
const UNWRITTEN_BYTES_MAX: usize = 4 << 20;

pub(crate) struct Link {
    /// What the system calls it.
    pub(crate) id: u64,
    /// The broker id of the member, or that of the sequencer.
    pub(crate) member: u64,
    socket: OwnedFd,
    output: Output,
    framer: Framer,
    /// Requests without an answer, each with its client.
    waiting: AHashMap<i32, (u64, Forward)>,
    /// When their answers have to be there, in order.
    deadlines: VecDeque<(i64, i32)>,
    watched: Option<EventFlags>,
    /// It gets no more requests, and ends with the last answer.
    pub(crate) is_retired: bool,
    pub(crate) failure: Option<String>,
}

impl Link {
    pub(crate) fn new(id: u64, member: u64, socket: OwnedFd, frame_size_max: usize) -> Self {
        Self {
            id,
            member,
            socket,
            output: Output::default(),
            // Headers of answers may be longer than those of requests.
            framer: Framer::with_header_limit(frame_size_max, HEADER_WRITTEN_MAX),
            waiting: AHashMap::new(),
            deadlines: VecDeque::new(),
            watched: None,
            is_retired: false,
            failure: None,
        }
    }

    pub(crate) fn socket(&self) -> &OwnedFd {
        &self.socket
    }

    pub(crate) fn has_room(&self) -> bool {
        !self.is_retired && self.failure.is_none() && self.output.size() <= UNWRITTEN_BYTES_MAX
    }

    /// Whether it is to be closed.
    pub(crate) fn is_over(&self) -> bool {
        self.failure.is_some() || (self.is_retired && self.waiting.is_empty())
    }

    /// Take requests of a client, which [`Self::flush`] writes.
    pub(crate) fn send(&mut self, client: u64, forwards: Forwards, now_ms: i64) {
        self.output.push(Box::new(forwards.frames));
        for request in forwards.requests {
            self.deadlines
                .push_back((now_ms + ANSWER_MS_MAX, request.number));
            self.waiting.insert(request.number, (client, request));
        }
    }

    /// Write as much as the socket takes, and have the system say what comes next.
    pub(crate) fn flush(&mut self, poll: &OwnedFd) {
        if let Err(error) = self.output.flush(self.socket.as_fd()) {
            return self.fail(error.to_string());
        }
        let mut wanted = EventFlags::IN;
        wanted.set(EventFlags::OUT, !self.output.is_empty());
        if self.watched == Some(wanted) {
            return;
        }
        let data = EventData::new_u64(self.id);
        let outcome = match self.watched {
            None => epoll::add(poll, &self.socket, data, wanted),
            Some(_) => epoll::modify(poll, &self.socket, data, wanted),
        };
        self.watched = Some(wanted);
        if let Err(error) = outcome {
            self.fail(error.to_string());
        }
    }

    pub(crate) fn fail(&mut self, reason: String) {
        self.failure.get_or_insert(reason);
    }

    /// Take bytes of the member, and hand over each answer with its request and the client.
    pub(crate) fn receive(
        &mut self,
        bytes: &[u8],
        mut take: impl FnMut(u64, &Forward, &MemberAnswer<'_>),
    ) {
        let mut frames = self.framer.receive(bytes);
        let outcome = loop {
            let frame = match frames.next_frame() {
                Ok(Some(frame)) => frame,
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            };
            let mut ext = BTreeMap::new();
            let header = match decode_header(frame.encoding, frame.header, &mut ext) {
                Ok(header) => header,
                Err(error) => break Err(FrameError::from(error)),
            };
            // A request of the member is not for us.
            let asked = header
                .is_response()
                .then(|| self.waiting.remove(&header.opaque))
                .flatten();
            if let Some((client, request)) = asked {
                let body = frame.body;
                take(client, &request, &MemberAnswer { header, ext, body });
            }
        };
        if let Err(error) = outcome {
            self.fail(error.to_string());
        }
    }

    /// The member closed the connection, or it is broken.
    pub(crate) fn ended(&mut self, outcome: Result<(), Errno>) {
        self.fail(outcome.map_or_else(
            |error| error.to_string(),
            |()| "the member closed the connection".to_owned(),
        ));
    }

    /// When the next answer has to be there.
    pub(crate) fn next_deadline_ms(&mut self) -> Option<i64> {
        while let Some((deadline_ms, number)) = self.deadlines.front() {
            if self.waiting.contains_key(number) {
                return Some(*deadline_ms);
            }
            self.deadlines.pop_front();
        }
        None
    }

    /// Note that an answer is late.
    pub(crate) fn keep_time(&mut self, now_ms: i64) {
        if self.next_deadline_ms().is_some_and(|it| it <= now_ms) {
            self.fail("the member gives no answer in time".to_owned());
        }
    }

    /// The requests that have no answer, with their clients.
    pub(crate) fn into_waiting(self) -> impl Iterator<Item = (u64, Forward)> {
        // In the order in which they came.
        let mut waiting = self.waiting;
        self.deadlines
            .into_iter()
            .filter_map(move |(_, number)| waiting.remove(&number))
    }
}
