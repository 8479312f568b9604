//! Connections to one broker, served by one thread.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use regent_remoting::{Frame, Framer};
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, Event, EventData, EventFlags};

use crate::Failure;

const READ_SIZE: usize = 256 * 1024;
const FRAME_SIZE_MAX: usize = 16 << 20;
const EVENTS_MAX: usize = 256;

/// One connection, what still has to be written to it, and the frame that is not yet whole.
struct Peer {
    stream: TcpStream,
    out: Vec<u8>,
    framer: Framer,
    is_full: bool,
}

/// All connections of a run.
pub(crate) struct Peers {
    poll: OwnedFd,
    peers: Vec<Peer>,
    events: Vec<Event>,
    chunk: Vec<u8>,
    timeout: Duration,
}

impl Peers {
    /// Connect so many times. After the timeout without a word, the broker is taken for dead.
    pub(crate) fn connect(address: &str, count: usize, timeout: Duration) -> Result<Self, Failure> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut peers = Vec::with_capacity(count);
        for index in 0..count {
            let stream = TcpStream::connect(address)
                .map_err(|error| format!("cannot connect to {address}: {error}"))?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            epoll::add(
                &poll,
                &stream,
                EventData::new_u64(index as u64),
                EventFlags::IN,
            )?;
            peers.push(Peer {
                stream,
                out: Vec::new(),
                framer: Framer::new(FRAME_SIZE_MAX),
                is_full: false,
            });
        }
        Ok(Self {
            poll,
            peers,
            events: Vec::with_capacity(EVENTS_MAX),
            chunk: vec![0; READ_SIZE],
            timeout,
        })
    }

    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    pub(crate) fn count(&self) -> usize {
        self.peers.len()
    }

    /// The frames that the next [`Peers::flush`] of a connection writes.
    pub(crate) fn out(&mut self, index: usize) -> &mut Vec<u8> {
        &mut self.peers[index].out
    }

    /// Write what the socket takes; the rest follows as soon as it takes more.
    pub(crate) fn flush(&mut self, index: usize) -> Result<(), Failure> {
        let peer = &mut self.peers[index];
        let mut written = 0;
        while written < peer.out.len() {
            match peer.stream.write(&peer.out[written..]) {
                Ok(size) => written += size,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        peer.out.drain(..written);
        if peer.is_full == peer.out.is_empty() {
            peer.is_full = !peer.is_full;
            let mut flags = EventFlags::IN;
            flags.set(EventFlags::OUT, peer.is_full);
            let data = EventData::new_u64(index as u64);
            epoll::modify(&self.poll, peer.stream.as_fd(), data, flags)?;
        }
        Ok(())
    }

    /// Take answers as [`Peers::turn`] does; none within the timeout is an error.
    pub(crate) fn answers(
        &mut self,
        on_frame: impl FnMut(&Frame<'_>, &mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.turn(self.timeout, on_frame)? {
            return Ok(());
        }
        Err(self.silence())
    }

    /// The error of a broker that says nothing.
    pub(crate) fn silence(&self) -> Failure {
        format!("no answer within {} s", self.timeout.as_secs_f64()).into()
    }

    /// Wait for answers at most so long, hand each to `on_frame` together with the output of its
    /// connection, and write that output. Returns whether any connection was ready.
    pub(crate) fn turn(
        &mut self,
        timeout: Duration,
        mut on_frame: impl FnMut(&Frame<'_>, &mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let timeout = Timespec {
            tv_sec: i64::try_from(timeout.as_secs())?,
            tv_nsec: timeout.subsec_nanos().into(),
        };
        self.events.clear();
        epoll::wait(&self.poll, spare_capacity(&mut self.events), Some(&timeout))?;
        for at in 0..self.events.len() {
            let index = usize::try_from(self.events[at].data.u64())?;
            self.peers[index].receive(&mut self.chunk, &mut on_frame)?;
            self.flush(index)?;
        }
        Ok(!self.events.is_empty())
    }
}

impl Peer {
    fn receive(
        &mut self,
        chunk: &mut [u8],
        on_frame: &mut impl FnMut(&Frame<'_>, &mut Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let size = match self.stream.read(chunk) {
            Ok(0) => return Err("the broker closed a connection".into()),
            Ok(size) => size,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(format!("a connection broke: {error}").into()),
        };
        let mut frames = self.framer.receive(&chunk[..size]);
        while let Some(frame) = frames.next_frame()? {
            on_frame(&frame, &mut self.out)?;
        }
        Ok(())
    }
}
