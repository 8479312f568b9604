//! The owner's side.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;

use parking_lot::Mutex;
use regent_commitlog::spawn_native;

use crate::access::HotAccess;
use crate::client::Client;
use crate::driver::Driver;
use crate::events::Batch;
use crate::mail::{Mail, Order};
use crate::output::Bytes;

/// The clients of one broker, served by a thread.
pub struct Clients {
    mail: Arc<Mail>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Clients {
    /// Start the thread. A panic of it ends the process.
    ///
    /// # Errors
    /// The system gives no descriptor, or no thread.
    pub fn start(access: Arc<impl HotAccess>) -> io::Result<Self> {
        let mail = Arc::new(Mail::new()?);
        let driver = Driver::new(access, Arc::clone(&mail))?;
        let thread = spawn_native("clients", move || driver.run())?;
        Ok(Self {
            mail,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// The descriptor that is readable while there is something to [`take`](Self::take).
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.mail.owner_bell.descriptor().as_fd()
    }

    /// Take all that happened, in order.
    #[must_use]
    pub fn take(&self) -> Batch {
        self.mail.take_batch()
    }

    /// Take what concerns positions of groups, up to what clients were answered until now. Of the events it has
    /// those that say which clients came.
    #[must_use]
    pub fn take_progress(&self) -> Batch {
        self.mail.take_progress()
    }

    /// Accept clients of a listening socket that does not wait.
    pub fn listen(&self, listener: OwnedFd, is_fast: bool) {
        self.mail.order(Order::Listen { listener, is_fast });
    }

    /// Accept no more clients.
    pub fn stop_listening(&self) {
        self.mail.order(Order::StopListening);
    }

    /// Write two pieces to a client, behind all other bytes and together.
    pub fn send(&self, client: &Client, pieces: [Bytes; 2]) {
        client.add_unwritten(pieces.iter().map(|piece| (**piece).as_ref().len()).sum());
        let client = client.id;
        self.mail.order(Order::Send { client, pieces });
    }

    /// Hear that so many requests of a client are being served, or were dropped.
    pub fn taken(&self, client: u64, count: usize) {
        self.mail.order(Order::Taken { client, count });
    }

    /// Serve what follows a send that was set aside.
    pub fn go_on(&self, client: u64) {
        self.mail.order(Order::GoOn { client });
    }

    /// Answer further parked pulls of a client: one of them was checked.
    pub fn checked(&self, client: u64) {
        self.mail.order(Order::Checked { client });
    }

    /// Hear that deferred answers of so many bytes were given, or given up.
    pub fn settled(&self, client: u64, size: usize) {
        self.mail.order(Order::Settled { client, size });
    }

    /// Say once a client that is congested has caught up.
    pub fn await_room(&self, client: u64) {
        self.mail.order(Order::AwaitRoom { client });
    }

    /// Close a client once it has all bytes.
    pub fn close(&self, client: u64) {
        self.mail.order(Order::Close { client });
    }

    /// Close a client at once.
    pub fn abort(&self, client: u64) {
        self.mail.order(Order::Abort { client });
    }

    /// Close the clients that were silent for longer, and to which nothing was written.
    pub fn close_idle(&self, idle_ms: i64) {
        self.mail.order(Order::CloseIdle { idle_ms });
    }

    /// Serve requests, or none from now on. Parked pulls are answered in any case.
    pub fn open_gate(&self, is_open: bool) {
        self.mail.is_gate_open.store(is_open, Ordering::SeqCst);
        if is_open {
            self.mail.order(Order::GateOpened);
        } else {
            self.mail.end_turn();
        }
    }

    /// Serve no client from now on, until [`resume`](Self::resume), which follows soon.
    pub fn pause(&self) {
        self.mail.pause();
    }

    /// Go on after as many calls as of [`pause`](Self::pause).
    pub fn resume(&self) {
        self.mail.resume();
    }

    /// Say whether the owner wants to hear of appended messages at once.
    pub fn hear_appends(&self, hears: bool) {
        self.mail.hears_appends.store(hears, Ordering::Relaxed);
    }

    /// Forward requests to a member of the broker group over a socket that is connected and does not wait.
    pub fn use_link(&self, member: u64, socket: OwnedFd) {
        self.mail.order(Order::UseLink { member, socket });
    }

    /// Forward no more requests to a member. Its connection ends with the last answer.
    pub fn retire_link(&self, member: u64) {
        self.mail.order(Order::RetireLink { member });
    }

    /// How many requests other members have not answered.
    #[must_use]
    pub fn forwarded_count(&self) -> usize {
        self.mail.forwarded_count()
    }

    /// Look after parked pulls: some became ready, or another deadline is the next.
    pub fn take_turns(&self) {
        self.mail.order(Order::TakeTurns);
    }

    /// Close all clients and end the thread. The events until then can still be taken.
    pub fn stop(&self) {
        self.mail.order(Order::Stop);
        if let Some(thread) = self.thread.lock().take() {
            // A panic of it has ended the process.
            let _ = thread.join();
        }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        self.mail.order(Order::Stop);
    }
}
