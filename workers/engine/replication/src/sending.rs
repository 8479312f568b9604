//! The way of the log to one replica.
//!
//! The appending thread sends what is new at once. A separate thread sends while much is missing,
//! which may have to come from the disk, and while the socket takes no more. So a replica that is
//! far behind or reads slowly delays no append (Q56). What it does not read stays in the log, so
//! nothing piles up (Q70, Q71). Either the separate thread has the turn, or the appending threads
//! have it: these send one frame after the other.

use std::io::{self, IoSlice};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use regent_commitlog::{Store, spawn_native};
use regent_sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use regent_sync::{Condvar, IS_SCHEDULED, Mutex, thread};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::net::{self, SendAncillaryBuffer, SendFlags, Shutdown};

use crate::access::StoreAccess;
use crate::error::LinkError;
use crate::master::{Heard, MasterLink};
use crate::pace::Pace;

const NOTHING: u64 = u64::MAX;

/// One connected replica and the socket to it.
pub struct Sending<S: StoreAccess> {
    shared: Arc<Shared<S>>,
}

struct Shared<S: StoreAccess> {
    store: Arc<S>,
    socket: OwnedFd,
    /// Largest body of a transfer, and the most that an appending thread sends itself.
    size_max: usize,
    /// Never locked for long: the sender locks it only to learn what is next.
    link: Mutex<MasterLink>,
    outgoing: Mutex<Outgoing>,
    turn: Mutex<Turn>,
    turn_changed: Condvar,
    /// The thread has the turn.
    is_threaded: AtomicBool,
    /// Up to where the log is confirmed; [`NOTHING`] until that is known. Each transfer carries
    /// this position, so none is sent before it is known.
    confirmed: AtomicU64,
    sent_bytes: AtomicU64,
    /// Bytes a second of a backlog; 0 is no limit.
    rate: AtomicU64,
    failure: Mutex<Option<S::Error>>,
}

#[derive(Debug, Default)]
struct Turn {
    is_over: bool,
}

/// The frame that is on its way, of which the socket has taken a part.
#[derive(Debug)]
struct Outgoing {
    head: Vec<u8>,
    head_sent: usize,
    /// Where the log bytes that are left begin, and how many there are.
    position: u64,
    body_left: u64,
    /// The confirmed position that was last sent to the replica.
    told: u64,
}

#[derive(Debug, PartialEq, Eq)]
enum Sent {
    Everything,
    /// A whole frame.
    Frame,
    /// The socket takes no more for now.
    Full,
}

impl<S: StoreAccess> Sending<S> {
    /// Serves the replica at the other end of `socket`, with transfers of up to `size_max` bytes.
    /// `link` is what is known of it. What it says is given to [`Self::receive`]: the socket is only written here.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn begin(
        store: Arc<S>,
        socket: OwnedFd,
        size_max: usize,
        link: MasterLink,
    ) -> Result<Self, S::Error> {
        let shared = Arc::new(Shared {
            store,
            socket,
            size_max,
            link: Mutex::new(link),
            outgoing: Mutex::new(Outgoing {
                head: Vec::new(),
                head_sent: 0,
                position: 0,
                body_left: 0,
                told: NOTHING,
            }),
            turn: Mutex::default(),
            turn_changed: Condvar::new(),
            is_threaded: AtomicBool::new(false),
            confirmed: AtomicU64::new(NOTHING),
            sent_bytes: AtomicU64::new(0),
            rate: AtomicU64::new(0),
            failure: Mutex::new(None),
        });
        let running = Arc::clone(&shared);
        spawn_native("send-log", move || running.run()).map_err(LinkError::from)?;
        Ok(Self { shared })
    }

    /// Takes bytes of the replica and answers a handshake.
    ///
    /// # Errors
    /// As for [`MasterLink::receive`]; or the connection is broken.
    pub fn receive(&self, bytes: &[u8], heard: &mut Vec<Heard>) -> Result<(), S::Error> {
        self.shared.store.with(|store| {
            self.shared.link.lock().receive(bytes, store, heard)?;
            if heard.iter().any(|said| matches!(said, Heard::Handshake(_))) {
                self.shared.greet(store)?;
            }
            Ok(())
        })
    }

    /// Sends what the log has grown by, with the confirmed position, or has the thread do it.
    ///
    /// # Errors
    /// What the replica needs was deleted, the connection is broken, or the store is closed.
    pub fn pump(&self, confirmed: u64) -> Result<(), S::Error> {
        self.shared.confirmed.store(confirmed, Ordering::Relaxed);
        self.shared.pump()
    }

    /// [`Self::pump`] for a thread that appends and does not know up to where the log is confirmed: it sends
    /// nothing until that was said once. A failure ends the connection, and is for [`Self::take_failure`].
    pub fn send_appended(&self) {
        if let Err(error) = self.shared.pump() {
            self.shared.fail(error);
        }
    }

    /// Sends up to where the log is confirmed, if that is news or `is_due` to show life. While
    /// other frames are on their way, the thread does this behind them.
    ///
    /// # Errors
    /// As for [`Self::pump`].
    pub fn send_confirmed(&self, confirmed: u64, is_due: bool) -> Result<(), S::Error> {
        self.shared.send_confirmed(confirmed, is_due)
    }

    /// Limits how fast the replica's backlog is sent, in bytes a second; 0 is no limit. What the log grows by
    /// meanwhile does not count.
    pub fn set_rate(&self, rate: u64) {
        self.shared.rate.store(rate, Ordering::Relaxed);
    }

    /// What is known of the replica.
    pub fn link<T>(&self, look: impl FnOnce(&MasterLink) -> T) -> T {
        look(&self.shared.link.lock())
    }

    /// How many bytes have left.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.shared.sent_bytes.load(Ordering::Relaxed)
    }

    /// Why a thread ended the connection; only the first call returns it.
    #[must_use]
    pub fn take_failure(&self) -> Option<S::Error> {
        self.shared.failure.lock().take()
    }

    /// Ends the connection. The thread ends by itself, after the write that it is at.
    pub fn close(&self) {
        self.shared.close();
    }
}

impl<S: StoreAccess> Drop for Sending<S> {
    fn drop(&mut self) {
        self.close();
    }
}

impl<S: StoreAccess> Shared<S> {
    fn greet(&self, store: &Store) -> Result<(), LinkError> {
        let mut outgoing = self.outgoing.lock();
        if self.is_threaded.load(Ordering::SeqCst) || !outgoing.is_empty() {
            return Err(LinkError::Protocol(
                "a handshake between records of the log",
            ));
        }
        outgoing.begin(MasterLink::greeting(store), 0, 0);
        self.push(&mut outgoing, store)
    }

    fn pump(&self) -> Result<(), S::Error> {
        // What was appended is seen by the thread that gives the turn back, or its giving here.
        fence(Ordering::SeqCst);
        if self.is_threaded.load(Ordering::SeqCst) {
            return Ok(());
        }
        let is_left = self.store.with(|store| {
            match self.pending(store) {
                0 => return Ok(false),
                much if much > self.size_max as u64 => return Ok(true),
                _ => {}
            }
            loop {
                match self.send(store)? {
                    Sent::Everything => return Ok(false),
                    Sent::Frame => {}
                    Sent::Full => return Ok(true),
                }
            }
        })?;
        if is_left {
            self.hand_over();
        }
        Ok(())
    }

    fn send_confirmed(&self, confirmed: u64, is_due: bool) -> Result<(), S::Error> {
        self.confirmed.store(confirmed, Ordering::Relaxed);
        // The thread that gives the turn back sees it, or its giving is seen here.
        fence(Ordering::SeqCst);
        self.send_heartbeat(is_due)
    }

    fn send_heartbeat(&self, is_due: bool) -> Result<(), S::Error> {
        if self.is_threaded.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.store.with(|store| {
            let mut outgoing = self.outgoing.lock();
            let confirmed = self.confirmed.load(Ordering::Relaxed);
            if !outgoing.is_empty() || (outgoing.told == confirmed && !is_due) {
                return Ok(());
            }
            let Some(beat) = self.link.lock().heartbeat(store, confirmed) else {
                return Ok(());
            };
            outgoing.begin(beat, 0, 0);
            outgoing.told = confirmed;
            self.push(&mut outgoing, store)
        })
    }

    /// Sends what was just begun; the thread goes on with what is left of it.
    fn push(&self, outgoing: &mut Outgoing, store: &Store) -> Result<(), LinkError> {
        if self.send_frame(outgoing, store)? == Sent::Full {
            self.hand_over();
        }
        Ok(())
    }

    fn hand_over(&self) {
        let _turn = self.turn.lock();
        self.is_threaded.store(true, Ordering::SeqCst);
        self.turn_changed.notify_one();
    }

    fn close(&self) {
        self.turn.lock().is_over = true;
        // One that the replica has ended already is refused.
        let _ = net::shutdown(&self.socket, Shutdown::Both);
        self.turn_changed.notify_one();
    }

    fn run(&self) {
        match self.send_turns() {
            Ok(()) => self.close(),
            Err(error) => self.fail(error),
        }
    }

    fn fail(&self, error: S::Error) {
        *self.failure.lock() = Some(error);
        self.close();
    }

    fn send_turns(&self) -> Result<(), S::Error> {
        let mut pace = Pace::new(0, 0, Instant::now());
        while self.await_turn() {
            match self.store.with(|store| self.send(store))? {
                Sent::Everything => self.give_back()?,
                Sent::Frame => self.rest(&mut pace)?,
                Sent::Full => await_room(&self.socket)?,
            }
        }
        Ok(())
    }

    /// Waits until the pace of a catch-up allows another frame.
    fn rest(&self, pace: &mut Pace) -> Result<(), S::Error> {
        loop {
            let rate = self.rate.load(Ordering::Relaxed);
            let pending = self
                .store
                .with(|store| Ok(self.link.lock().pending(store)))?;
            let rest = pace.rest(rate, pending, Instant::now());
            if rest.is_zero() || IS_SCHEDULED || self.turn.lock().is_over {
                return Ok(());
            }
            thread::sleep(rest);
        }
    }

    /// Returns whether there is another turn at all.
    fn await_turn(&self) -> bool {
        let mut turn = self.turn.lock();
        while !turn.is_over && !self.is_threaded.load(Ordering::SeqCst) {
            self.turn_changed.wait(&mut turn);
        }
        !turn.is_over
    }

    /// Lets appending threads send again, unless the log has grown meanwhile. This thread sends
    /// what was confirmed behind its last frame.
    fn give_back(&self) -> Result<(), S::Error> {
        self.is_threaded.store(false, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let pending = self.store.with(|store| Ok(self.pending(store)))?;
        if pending > 0 {
            self.is_threaded.store(true, Ordering::SeqCst);
        }
        self.send_heartbeat(false)
    }

    /// How much can be sent: nothing until it is known up to where the log is confirmed.
    fn pending(&self, store: &Store) -> u64 {
        match self.confirmed.load(Ordering::Relaxed) {
            NOTHING => 0,
            _ => self.link.lock().pending(store),
        }
    }

    /// Sends the rest of a frame, or the next one.
    fn send(&self, store: &Store) -> Result<Sent, LinkError> {
        let mut outgoing = self.outgoing.lock();
        if outgoing.is_empty() {
            let confirmed = self.confirmed.load(Ordering::Relaxed);
            if confirmed == NOTHING {
                return Ok(Sent::Everything);
            }
            let mut link = self.link.lock();
            let Some(next) = link.next_transfer(store, self.size_max, confirmed)? else {
                return Ok(Sent::Everything);
            };
            let (position, size) = (next.body.position(), next.body.bytes().len());
            outgoing.begin(next.header, position, size as u64);
            outgoing.told = confirmed;
        }
        self.send_frame(&mut outgoing, store)
    }

    fn send_frame(&self, outgoing: &mut Outgoing, store: &Store) -> Result<Sent, LinkError> {
        let body = match outgoing.body_left {
            0 => None,
            left => Some(store.log_slice(outgoing.position, left).ok_or_else(|| {
                LinkError::OutOfReach {
                    wanted: outgoing.position,
                    oldest: store.min_position(),
                    end: store.max_position(),
                }
            })?),
        };
        let parts = [
            IoSlice::new(&outgoing.head[outgoing.head_sent..]),
            IoSlice::new(body.as_ref().map_or(&[], |body| body.bytes())),
        ];
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let sent = net::sendmsg(
            &self.socket,
            &parts,
            &mut SendAncillaryBuffer::default(),
            flags,
        );
        match sent {
            Ok(size) => {
                outgoing.left(size);
                self.sent_bytes.fetch_add(size as u64, Ordering::Relaxed);
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        Ok(if outgoing.is_empty() {
            Sent::Frame
        } else {
            Sent::Full
        })
    }
}

impl Outgoing {
    fn begin(&mut self, head: Vec<u8>, position: u64, body_size: u64) {
        (self.head, self.head_sent) = (head, 0);
        (self.position, self.body_left) = (position, body_size);
    }

    fn is_empty(&self) -> bool {
        self.head_sent == self.head.len() && self.body_left == 0
    }

    fn left(&mut self, size: usize) {
        let head = size.min(self.head.len() - self.head_sent);
        self.head_sent += head;
        self.position += (size - head) as u64;
        self.body_left -= (size - head) as u64;
    }
}

/// Waits until the socket takes more, or is closed.
fn await_room(socket: &OwnedFd) -> Result<(), LinkError> {
    if IS_SCHEDULED {
        thread::yield_now();
        return Ok(());
    }
    let mut sockets = [PollFd::new(socket, PollFlags::OUT)];
    match poll(&mut sockets, None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(io::Error::from(error).into()),
    }
}
