//! A replica's thread: takes what the master sends as it comes, and answers for it at once.
//!
//! No other thread waits for it, and it waits only for the socket and the store. It wakes others,
//! which then learn from numbers what it did.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use regent_commitlog::spawn_native;
use regent_sync::atomic::{AtomicBool, AtomicU64, Ordering};
use regent_sync::thread::{self, JoinHandle};
use regent_sync::{IS_SCHEDULED, Mutex};
use rustix::io::Errno;
use rustix::net::sockopt::{self, Timeout};
use rustix::net::{self, RecvFlags, SendFlags, Shutdown};

use crate::access::StoreAccess;
use crate::error::LinkError;
use crate::replica::{ReplicaLink, Reports};

/// What is taken from the socket at once: it stays in the processor's cache until it is appended.
const RECEIVE_SIZE: usize = 256 << 10;
/// After how much a report leaves even when more has already arrived.
const UNREPORTED_MAX: usize = 4 << 20;
/// So much is waited for when it is known to be on its way, up to [`RECEIVE_SIZE`]: to append it at
/// once costs less than as it comes.
const LONG_SIZE_MIN: usize = 64 << 10;
/// A slow line is taken from, and reported to, as often nevertheless.
const WAIT_MAX: Duration = Duration::from_millis(250);
const NOTHING: u64 = u64::MAX;

/// A replica's connection once the log is on its way.
pub struct Following<S: StoreAccess> {
    shared: Arc<Shared<S>>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared<S: StoreAccess> {
    store: Arc<S>,
    socket: OwnedFd,
    /// An event counter, on which the reader of the numbers waits.
    wake: File,
    is_woken: AtomicBool,
    /// Whether what is appended is reported at once; others do once it is on the disk.
    reports_appended: bool,
    outbox: Mutex<Outbox>,
    received_bytes: AtomicU64,
    confirmed: AtomicU64,
    is_over: AtomicBool,
    failure: Mutex<Option<S::Error>>,
}

/// What goes to the master.
#[derive(Debug)]
struct Outbox {
    reports: Reports,
    /// The rest of a report that the socket had no room for.
    rest: Vec<u8>,
}

impl<S: StoreAccess> Following<S> {
    /// Asks for what follows the log's end over `socket`, and takes it from then on. `wake`, an
    /// event counter, is raised when there is news, once until [`Self::look`] was called.
    ///
    /// # Errors
    /// No thread can be started, the connection is broken, or the store is closed.
    pub fn begin(
        store: Arc<S>,
        mut link: ReplicaLink,
        socket: OwnedFd,
        wake: OwnedFd,
        reports_appended: bool,
    ) -> Result<Self, S::Error> {
        set_up(&socket)?;
        let (reports, end) = store.with(|store| Ok((link.begin(store), store.max_position())))?;
        let shared = Arc::new(Shared {
            store,
            socket,
            wake: File::from(wake),
            is_woken: AtomicBool::new(false),
            reports_appended,
            outbox: Mutex::new(Outbox {
                reports,
                rest: Vec::new(),
            }),
            received_bytes: AtomicU64::new(0),
            confirmed: AtomicU64::new(NOTHING),
            is_over: AtomicBool::new(false),
            failure: Mutex::new(None),
        });
        shared.report(end, false)?;
        let running = Arc::clone(&shared);
        let thread = spawn_native("follow", move || running.run(link)).map_err(LinkError::from)?;
        Ok(Self {
            shared,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// What the master has confirmed, as it last said. A later change raises `wake` again.
    #[must_use]
    pub fn look(&self) -> Option<u64> {
        self.shared.is_woken.store(false, Ordering::SeqCst);
        let confirmed = self.shared.confirmed.load(Ordering::SeqCst);
        (confirmed != NOTHING).then_some(confirmed)
    }

    /// How many bytes have come.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.shared.received_bytes.load(Ordering::Relaxed)
    }

    /// Whether the connection is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.shared.is_over.load(Ordering::Acquire)
    }

    /// Why the connection is over; only the first call returns it.
    #[must_use]
    pub fn take_failure(&self) -> Option<S::Error> {
        self.shared.failure.lock().take()
    }

    /// Reports to the master up to where the log is held, if that is news or `is_due` to show life.
    /// Does not wait; returns whether there was a report.
    ///
    /// # Errors
    /// The connection is broken.
    pub fn report(&self, held: u64, is_due: bool) -> Result<bool, S::Error> {
        Ok(self.shared.report(held, is_due)?)
    }

    /// Ends the connection and waits for the thread: nothing is appended afterwards.
    pub fn stop(&self) {
        self.shared.is_over.store(true, Ordering::Release);
        // One that the master has ended already is refused.
        let _ = net::shutdown(&self.shared.socket, Shutdown::Both);
        if let Some(thread) = self.thread.lock().take() {
            let _ = thread.join();
        }
    }
}

impl<S: StoreAccess> Drop for Following<S> {
    fn drop(&mut self) {
        self.stop();
    }
}

impl<S: StoreAccess> Shared<S> {
    fn run(&self, mut link: ReplicaLink) {
        let _over = OverOnExit(self);
        if let Err(error) = self.take_all(&mut link) {
            *self.failure.lock() = Some(error);
        }
    }

    fn take_all(&self, link: &mut ReplicaLink) -> Result<(), S::Error> {
        let mut buffer = vec![0; RECEIVE_SIZE];
        let head_size = link.head_size();
        let mut unreported = 0;
        let mut is_behind = false;
        while !self.is_over.load(Ordering::Acquire) {
            let awaited = link.body_left();
            let is_long = awaited >= LONG_SIZE_MIN;
            let wanted = match awaited {
                _ if is_long => awaited.min(RECEIVE_SIZE),
                // What follows much is likely much, to be taken from its beginning.
                0 if is_behind => head_size,
                rest if is_behind => rest,
                _ => RECEIVE_SIZE,
            };
            let received = if is_long {
                self.take_long(link, wanted)?
            } else {
                self.take_short(link, &mut buffer[..wanted], unreported == 0)?
            };
            self.received_bytes
                .fetch_add(received as u64, Ordering::Relaxed);
            unreported += received;
            // Where more has likely arrived, this part gets no separate report.
            let is_more = received == wanted;
            is_behind = is_more
                && if wanted == head_size {
                    link.body_left() >= LONG_SIZE_MIN
                } else {
                    is_long || is_behind || wanted == RECEIVE_SIZE
                };
            if unreported > 0 && (!is_more || unreported >= UNREPORTED_MAX) {
                self.appended(link)?;
                unreported = 0;
            }
        }
        Ok(())
    }

    /// Takes much of a long part of the log at once; returns how much came in time.
    fn take_long(&self, link: &mut ReplicaLink, wanted: usize) -> Result<usize, S::Error> {
        let room = link.room(wanted);
        let received = receive(&self.socket, room, RecvFlags::WAITALL)?;
        self.store.with(|store| link.fill(received, store))?;
        Ok(received)
    }

    /// Takes what has come; returns how much.
    fn take_short(
        &self,
        link: &mut ReplicaLink,
        buffer: &mut [u8],
        may_wait: bool,
    ) -> Result<usize, S::Error> {
        let flags = if may_wait {
            RecvFlags::empty()
        } else {
            RecvFlags::DONTWAIT
        };
        let received = receive(&self.socket, buffer, flags)?;
        self.store
            .with(|store| link.receive(&buffer[..received], store).map(drop))?;
        Ok(received)
    }

    fn appended(&self, link: &ReplicaLink) -> Result<(), S::Error> {
        let end = self.store.with(|store| Ok(store.max_position()))?;
        if self.reports_appended {
            self.report(end, false)?;
        }
        let confirmed = link.confirmed().map_or(NOTHING, |told| told.min(end));
        self.confirmed.store(confirmed, Ordering::SeqCst);
        self.notify();
        Ok(())
    }

    fn report(&self, held: u64, is_due: bool) -> Result<bool, LinkError> {
        let mut outbox = self.outbox.lock();
        if !outbox.rest.is_empty() && !self.send_rest(&mut outbox.rest)? {
            // A master that reads no reports gets the next one later.
            return Ok(false);
        }
        let Some(report) = outbox.reports.next(held, is_due) else {
            return Ok(false);
        };
        outbox.rest.extend_from_slice(&report);
        self.send_rest(&mut outbox.rest)?;
        Ok(true)
    }

    /// Returns whether all of it left.
    fn send_rest(&self, rest: &mut Vec<u8>) -> Result<bool, LinkError> {
        let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        match net::send(&self.socket, rest, flags) {
            Ok(size) => drop(rest.drain(..size)),
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
        Ok(rest.is_empty())
    }

    fn notify(&self) {
        if !self.is_woken.swap(true, Ordering::SeqCst) {
            // It fails if the reader is gone, or has not read for very long.
            let _ = (&self.wake).write_all(&1_u64.to_ne_bytes());
        }
    }
}

/// Sets that the connection is over, and wakes the reader, when the thread ends.
struct OverOnExit<'a, S: StoreAccess>(&'a Shared<S>);

impl<S: StoreAccess> Drop for OverOnExit<'_, S> {
    fn drop(&mut self) {
        self.0.is_over.store(true, Ordering::Release);
        self.0.notify();
    }
}

fn set_up(socket: &OwnedFd) -> Result<(), LinkError> {
    rustix::io::ioctl_fionbio(socket, false).map_err(io::Error::from)?;
    sockopt::set_socket_timeout(socket, Timeout::Recv, Some(WAIT_MAX)).map_err(io::Error::from)?;
    Ok(())
}

/// Takes what has come, 0 bytes when there is nothing yet and it is not to wait, or long enough.
fn receive(socket: impl AsFd, buffer: &mut [u8], mut flags: RecvFlags) -> Result<usize, LinkError> {
    if IS_SCHEDULED {
        thread::yield_now();
        flags |= RecvFlags::DONTWAIT;
    }
    match net::recv(&socket, &mut *buffer, flags) {
        Ok((0, _)) => Err(LinkError::HungUp),
        Ok((size, _)) => Ok(size),
        Err(Errno::INTR | Errno::AGAIN) => Ok(0),
        Err(error) => Err(io::Error::from(error).into()),
    }
}
