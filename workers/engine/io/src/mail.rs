//! What goes from the thread to its owner, and back.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};

use crate::events::{Batch, Event, PulledByClient};
use crate::output::Bytes;

/// Of as many readers of the batch at hand it is looked whether one asks again.
const READERS_SEARCHED_MAX: usize = 16;

/// What the owner wants.
pub(crate) enum Order {
    Listen {
        listener: OwnedFd,
        is_fast: bool,
    },
    StopListening,
    Send {
        client: u64,
        pieces: [Bytes; 2],
    },
    /// So many of its requests are being served.
    Taken {
        client: u64,
        count: usize,
    },
    GoOn {
        client: u64,
    },
    Checked {
        client: u64,
    },
    /// Deferred answers of so many bytes were given, or given up.
    Settled {
        client: u64,
        size: usize,
    },
    AwaitRoom {
        client: u64,
    },
    Close {
        client: u64,
    },
    Abort {
        client: u64,
    },
    CloseIdle {
        idle_ms: i64,
    },
    GateOpened,
    TakeTurns,
    Stop,
}

/// A descriptor that is readable once it was rung.
pub(crate) struct Bell(OwnedFd);

impl Bell {
    fn new() -> Result<Self, Errno> {
        Ok(Self(eventfd(
            0,
            EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC,
        )?))
    }

    pub(crate) fn descriptor(&self) -> &OwnedFd {
        &self.0
    }

    fn ring(&self) {
        // It fails only once it was rung 2^64 times since it was heard.
        let _ = write(&self.0, &1_u64.to_ne_bytes());
    }

    pub(crate) fn hear(&self) {
        let _ = read(&self.0, &mut [0_u8; 8]);
    }
}

/// What the thread and its owner share.
pub(crate) struct Mail {
    orders: Mutex<Vec<Order>>,
    is_thread_rung: AtomicBool,
    pub(crate) thread_bell: Bell,
    batch: Mutex<Batch>,
    is_owner_rung: AtomicBool,
    pub(crate) owner_bell: Bell,
    /// Whether the owner wants to hear of appended messages at once.
    pub(crate) hears_appends: AtomicBool,
    pub(crate) is_gate_open: AtomicBool,
    /// The thread has it while it serves a client, until what came of that is noted.
    pub(crate) turn: Mutex<()>,
}

impl Mail {
    pub(crate) fn new() -> Result<Self, Errno> {
        Ok(Self {
            orders: Mutex::default(),
            is_thread_rung: AtomicBool::new(false),
            thread_bell: Bell::new()?,
            batch: Mutex::default(),
            is_owner_rung: AtomicBool::new(false),
            owner_bell: Bell::new()?,
            hears_appends: AtomicBool::new(true),
            is_gate_open: AtomicBool::new(true),
            turn: Mutex::default(),
        })
    }

    pub(crate) fn order(&self, order: Order) {
        self.orders.lock().push(order);
        if !self.is_thread_rung.swap(true, Ordering::SeqCst) {
            self.thread_bell.ring();
        }
    }

    pub(crate) fn take_orders(&self) -> Vec<Order> {
        self.is_thread_rung.store(false, Ordering::SeqCst);
        std::mem::take(&mut self.orders.lock())
    }

    /// Change the batch for the owner.
    pub(crate) fn note<T>(&self, change: impl FnOnce(&mut Batch) -> T) -> T {
        change(&mut self.batch.lock())
    }

    pub(crate) fn report(&self, event: Event) {
        self.note(|batch| batch.events.push(event));
        self.ring_owner();
    }

    pub(crate) fn ring_owner(&self) {
        if !self.is_owner_rung.swap(true, Ordering::SeqCst) {
            self.owner_bell.ring();
        }
    }

    pub(crate) fn take_batch(&self) -> Batch {
        // In this order a ring is heard twice rather than not at all.
        self.owner_bell.hear();
        self.is_owner_rung.store(false, Ordering::SeqCst);
        std::mem::take(&mut self.batch.lock())
    }

    /// Wait until the turn of a client is over that is served now.
    pub(crate) fn end_turn(&self) {
        drop(self.turn.lock());
    }

    /// Take what concerns positions of groups, before all other events.
    pub(crate) fn take_progress(&self) -> Batch {
        self.end_turn();
        self.note(|batch| Batch {
            commits: std::mem::take(&mut batch.commits),
            pulled: std::mem::take(&mut batch.pulled),
            ..Batch::default()
        })
    }
}

impl Batch {
    /// Add what was answered to pulls, to what was answered to others like them.
    pub(crate) fn add_pulled(&mut self, one: PulledByClient) {
        let known = self.pulled.iter_mut().rev().take(READERS_SEARCHED_MAX);
        for before in known {
            let is_same = before.client == one.client
                && before.pulled.queue_id == one.pulled.queue_id
                && before.pulled.group == one.pulled.group
                && before.pulled.topic == one.pulled.topic;
            if is_same {
                let (sum, more) = (&mut before.pulled, &one.pulled);
                before.is_asked |= one.is_asked;
                sum.pulls += more.pulls;
                sum.missed += more.missed;
                sum.messages += more.messages;
                sum.bytes += more.bytes;
                sum.next_offset = more.next_offset;
                return;
            }
        }
        self.pulled.push(one);
    }
}
