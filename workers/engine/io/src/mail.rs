//! What goes from the thread to its owner, and back.

use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use ahash::AHashMap;
use parking_lot::{Condvar, Mutex, MutexGuard};
use regent_hotpath::Commit;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{Errno, read, write};

use crate::events::{Batch, Event, PulledByClient, What};
use crate::output::Bytes;

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
    UseLink {
        member: u64,
        socket: OwnedFd,
    },
    RetireLink {
        member: u64,
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

/// What the owner has not taken yet. It grows with the number of queues and requests, not with that of pulls.
#[derive(Default)]
pub(crate) struct Noted {
    /// By group, topic and queue.
    commits: AHashMap<(String, String, i32), (u64, i64)>,
    pulled: Vec<PulledByClient>,
    /// Where in that list: by client, queue id, and where the names of group and topic lie.
    places: AHashMap<(u64, i32, usize, usize), usize>,
    pub(crate) passed_on_count: usize,
    pub(crate) has_appended: bool,
    pub(crate) events: Vec<Event>,
}

/// What the thread and its owner share.
pub(crate) struct Mail {
    orders: Mutex<Vec<Order>>,
    is_thread_rung: AtomicBool,
    pub(crate) thread_bell: Bell,
    noted: Mutex<Noted>,
    is_owner_rung: AtomicBool,
    pub(crate) owner_bell: Bell,
    /// Whether the owner wants to hear of appended messages at once.
    pub(crate) hears_appends: AtomicBool,
    pub(crate) is_gate_open: AtomicBool,
    /// Requests that other members have not answered.
    forwarded: AtomicUsize,
    /// How many have the thread pause. It has the lock while it serves a client, until what came of that is
    /// noted.
    turn: Mutex<usize>,
    resumed: Condvar,
}

impl Mail {
    pub(crate) fn new() -> Result<Self, Errno> {
        Ok(Self {
            orders: Mutex::default(),
            is_thread_rung: AtomicBool::new(false),
            thread_bell: Bell::new()?,
            noted: Mutex::default(),
            is_owner_rung: AtomicBool::new(false),
            owner_bell: Bell::new()?,
            hears_appends: AtomicBool::new(true),
            is_gate_open: AtomicBool::new(true),
            forwarded: AtomicUsize::new(0),
            turn: Mutex::default(),
            resumed: Condvar::new(),
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

    /// Change what the owner takes next.
    pub(crate) fn note<T>(&self, change: impl FnOnce(&mut Noted) -> T) -> T {
        change(&mut self.noted.lock())
    }

    pub(crate) fn report(&self, event: Event) {
        self.note(|noted| noted.events.push(event));
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
        self.note(|noted| Batch {
            has_appended: std::mem::take(&mut noted.has_appended),
            passed_on_count: std::mem::take(&mut noted.passed_on_count),
            events: std::mem::take(&mut noted.events),
            ..noted.take_progress()
        })
    }

    pub(crate) fn add_forwarded(&self, count: usize) {
        self.forwarded.fetch_add(count, Ordering::SeqCst);
    }

    pub(crate) fn drop_forwarded(&self, count: usize) {
        self.forwarded.fetch_sub(count, Ordering::SeqCst);
    }

    pub(crate) fn forwarded_count(&self) -> usize {
        self.forwarded.load(Ordering::SeqCst)
    }

    /// Begin a turn of a client, once all pauses are over.
    pub(crate) fn begin_turn(&self) -> MutexGuard<'_, usize> {
        let mut pause_count = self.turn.lock();
        while *pause_count > 0 {
            self.resumed.wait(&mut pause_count);
        }
        pause_count
    }

    /// Whether a turn waits for the end of a pause.
    #[cfg(test)]
    pub(crate) fn is_turn_waiting(&self) -> bool {
        self.resumed.notify_one()
    }

    /// Wait until the turn of a client is over that is served now.
    pub(crate) fn end_turn(&self) {
        drop(self.turn.lock());
    }

    pub(crate) fn pause(&self) {
        *self.turn.lock() += 1;
    }

    pub(crate) fn resume(&self) {
        *self.turn.lock() -= 1;
        self.resumed.notify_all();
    }

    /// Take what concerns positions of groups, and which clients came, before all other events.
    pub(crate) fn take_progress(&self) -> Batch {
        self.end_turn();
        self.note(|noted| {
            let is_opened = |event: &mut Event| matches!(event.what, What::Opened(_));
            Batch {
                events: noted.events.extract_if(.., is_opened).collect(),
                ..noted.take_progress()
            }
        })
    }
}

impl Noted {
    /// Add what a pull commits: of one queue and group the last counts.
    pub(crate) fn add_commit(&mut self, client: u64, commit: Commit) {
        // A negative offset changes nothing.
        if commit.offset >= 0 {
            let queue = (commit.group, commit.topic, commit.queue_id);
            self.commits.insert(queue, (client, commit.offset));
        }
    }

    /// Add what was answered to pulls, to what was answered to others of the client and the queue.
    pub(crate) fn add_pulled(&mut self, one: PulledByClient) {
        let PulledByClient { client, pulled, .. } = &one;
        let (group, topic) = (pulled.group.as_ptr(), pulled.topic.as_ptr());
        let key = (*client, pulled.queue_id, group.addr(), topic.addr());
        let place = *self.places.entry(key).or_insert(self.pulled.len());
        let Some(before) = self.pulled.get_mut(place) else {
            return self.pulled.push(one);
        };
        before.is_asked |= one.is_asked;
        let (sum, more) = (&mut before.pulled, one.pulled);
        sum.pulls += more.pulls;
        sum.missed += more.missed;
        sum.messages += more.messages;
        sum.bytes += more.bytes;
        sum.next_offset = more.next_offset;
    }

    fn take_progress(&mut self) -> Batch {
        self.places.clear();
        let commits = self.commits.drain();
        let commits = commits.map(|((group, topic, queue_id), (client, offset))| {
            let commit = Commit {
                group,
                topic,
                queue_id,
                offset,
            };
            (client, commit)
        });
        Batch {
            commits: commits.collect(),
            pulled: std::mem::take(&mut self.pulled),
            ..Batch::default()
        }
    }
}
