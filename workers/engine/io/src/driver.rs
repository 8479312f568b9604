//! The loop of the thread.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use ahash::{AHashMap, AHashSet};
use regent_hotpath::Connection;
use rustix::buffer::spare_capacity;
use rustix::event::Timespec;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{SocketAddrAny, SocketFlags, acceptfrom_with, sockopt};
use rustix::time::{ClockId, clock_gettime};

use crate::access::HotAccess;
use crate::client::Client;
use crate::events::{Event, What};
use crate::link::Link;
use crate::mail::{Mail, Order};
use crate::peer::Peer;
use crate::serving::{BULK_BYTES, SLICE_BYTES};

const BELL: u64 = 0;
/// Listeners have ids above those of all connections.
const LISTENERS: u64 = u64::MAX - 16;
/// Connections to other members have ids between.
pub(crate) const LINKS: u64 = u64::MAX / 2;
const EVENT_COUNT: usize = 256;
const ACCEPT_COUNT_MAX: usize = 64;
/// When the process has no descriptor left, clients wait so long for another try.
const ACCEPT_PAUSE_MS: i64 = 200;
/// What the owner need not hear of at once waits so long for others like it.
const QUIET_MS: i64 = 20;
/// Parked pulls are answered for so long before other requests are served.
const PARKED_TURN: Duration = Duration::from_micros(500);

pub(crate) struct Driver<A> {
    pub(crate) access: Arc<A>,
    pub(crate) mail: Arc<Mail>,
    pub(crate) poll: OwnedFd,
    listeners: Vec<(OwnedFd, bool)>,
    /// When clients are accepted again.
    accepts_ms: Option<i64>,
    pub(crate) peers: AHashMap<u64, Peer>,
    /// Clients with requests that were read, or that they sent before they left.
    turns: VecDeque<u64>,
    bulk_turns: VecDeque<u64>,
    /// Clients that wait for the gate.
    pub(crate) gated: Vec<u64>,
    pub(crate) buffer: Vec<u8>,
    has_parked_turns: bool,
    /// Answers wait for replicas that lack what was appended.
    pub(crate) has_deferred: bool,
    /// Connections to other members of the broker group.
    pub(crate) links: Vec<Link>,
    pub(crate) next_link: u64,
    /// The members that the owner was asked to connect to.
    pub(crate) wanted_links: AHashSet<u64>,
    /// When the owner hears of what need not be heard at once.
    quiet_until_ms: Option<i64>,
    is_over: bool,
}

impl<A: HotAccess> Driver<A> {
    pub(crate) fn new(access: Arc<A>, mail: Arc<Mail>) -> Result<Self, Errno> {
        let poll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let bell = mail.thread_bell.descriptor();
        epoll::add(&poll, bell, EventData::new_u64(BELL), EventFlags::IN)?;
        Ok(Self {
            access,
            mail,
            poll,
            listeners: Vec::new(),
            accepts_ms: None,
            peers: AHashMap::new(),
            turns: VecDeque::new(),
            bulk_turns: VecDeque::new(),
            gated: Vec::new(),
            buffer: vec![0; SLICE_BYTES],
            has_parked_turns: false,
            has_deferred: false,
            links: Vec::new(),
            next_link: 0,
            wanted_links: AHashSet::new(),
            quiet_until_ms: None,
            is_over: false,
        })
    }

    pub(crate) fn run(mut self) {
        let mut events: Vec<epoll::Event> = Vec::with_capacity(EVENT_COUNT);
        while !self.is_over {
            events.clear();
            let timeout = self.timeout();
            match epoll::wait(&self.poll, spare_capacity(&mut events), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                // Nothing could be served any more.
                Err(error) => panic!("the clients cannot be watched: {error}"),
            }
            let began_at = Instant::now();
            for event in &events {
                self.on_event(event.data.u64(), event.flags);
            }
            self.take_turns(began_at);
            if std::mem::take(&mut self.has_deferred) {
                self.access.send_appended();
            }
            self.flush_links();
            self.keep_time();
        }
        let ids: Vec<_> = self.peers.keys().copied().collect();
        for id in ids {
            self.close(id);
        }
        self.mail.ring_owner();
    }

    /// How long to wait for events at most.
    fn timeout(&mut self) -> Option<Timespec> {
        if self.has_parked_turns || !self.turns.is_empty() || !self.bulk_turns.is_empty() {
            return Some(Timespec::default());
        }
        let deadline_ms = self.access.hot().next_deadline_ms();
        let answer_ms = self.next_link_deadline_ms();
        let times = [deadline_ms, answer_ms, self.quiet_until_ms, self.accepts_ms];
        let next_ms = times.into_iter().flatten().min()?;
        let wait_ms = u64::try_from(next_ms - elapsed_ms()).unwrap_or(0);
        // Not before it, which would be once more for nothing.
        Duration::from_millis(wait_ms + 1).try_into().ok()
    }

    fn on_event(&mut self, id: u64, flags: EventFlags) {
        if id == BELL {
            self.mail.thread_bell.hear();
            for order in self.mail.take_orders() {
                self.carry_out(order);
            }
            return;
        }
        if let Some(at) = id.checked_sub(LISTENERS) {
            self.accept(usize::try_from(at).unwrap_or(usize::MAX));
            return;
        }
        if id >= LINKS {
            self.on_link(id);
            return;
        }
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        if flags.contains(EventFlags::OUT) {
            if peer.flush() {
                peer.active_ms = elapsed_ms();
            }
            self.caught_up(id);
        }
        if flags.intersects(EventFlags::ERR | EventFlags::HUP) {
            self.on_hang_up(id);
        } else if flags.contains(EventFlags::IN) {
            if self.peers.get(&id).is_some_and(|peer| peer.takes_bulk) {
                self.give_turn(id);
            } else {
                self.serve_next(id);
            }
        }
    }

    /// The client can neither read nor write any more; what it sent is still served.
    fn on_hang_up(&mut self, id: u64) {
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let failure = sockopt::socket_error(&peer.socket);
        let failure = failure.ok().and_then(Result::err).unwrap_or(Errno::PIPE);
        peer.break_off(failure);
        self.go_on(id);
    }

    fn take_turns(&mut self, began_at: Instant) {
        for _ in 0..self.turns.len() {
            if let Some(id) = self.turns.pop_front() {
                self.take_turn(id);
            }
        }
        self.take_parked_turns();
        // Those that are handed much share as much time as all others took.
        let bulk_began_at = Instant::now();
        let others = bulk_began_at - began_at;
        for _ in 0..self.bulk_turns.len() {
            if let Some(id) = self.bulk_turns.pop_front() {
                self.take_turn(id);
                // A pull of it may have to look again.
                self.has_parked_turns = true;
            }
            if bulk_began_at.elapsed() >= others {
                break;
            }
        }
    }

    fn take_turn(&mut self, id: u64) {
        if let Some(peer) = self.peers.get_mut(&id) {
            peer.has_turn = false;
            self.serve_next(id);
        }
    }

    /// Answer parked pulls that are ready.
    fn take_parked_turns(&mut self) {
        let access = Arc::clone(&self.access);
        let began_at = Instant::now();
        self.has_parked_turns = false;
        while let Some(id) = access.hot().next_turn() {
            self.answer_parked(id);
            if began_at.elapsed() >= PARKED_TURN {
                self.has_parked_turns = true;
                break;
            }
        }
    }

    /// Have a client served in turn.
    pub(crate) fn give_turn(&mut self, id: u64) {
        if let Some(peer) = self.peers.get_mut(&id)
            && !std::mem::replace(&mut peer.has_turn, true)
        {
            if peer.takes_bulk {
                self.bulk_turns.push_back(id);
            } else {
                self.turns.push_back(id);
            }
        }
    }

    /// Have a client served again that waited, and watch it.
    pub(crate) fn go_on(&mut self, id: u64) {
        let is_gate_open = self.mail.is_gate_open.load(Ordering::SeqCst);
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let may_serve = peer.may_serve(is_gate_open);
        let has_rest = !peer.input.is_empty();
        let reads = may_serve && !has_rest && !peer.has_ended && !peer.has_turn;
        peer.watch(&self.poll, reads);
        // The system does not report that a broken connection has more to read.
        let is_due = has_rest || (peer.is_broken() && !peer.has_ended);
        if may_serve && is_due {
            self.give_turn(id);
        } else if !is_gate_open && !std::mem::replace(&mut peer.is_gated, true) {
            self.gated.push(id);
        }
        self.close_if_over(id);
    }

    /// Close a client all of whose requests are served, and which has all answers.
    fn close_if_over(&mut self, id: u64) {
        let Some(peer) = self.peers.get(&id) else {
            return;
        };
        let is_over = if peer.is_broken() {
            peer.is_closing || peer.is_served()
        } else {
            let is_served = peer.is_served() && !peer.has_cold();
            (peer.is_closing || is_served) && !peer.has_output()
        };
        if is_over {
            self.close(id);
        }
    }

    pub(crate) fn close(&mut self, id: u64) {
        let Some(peer) = self.peers.remove(&id) else {
            return;
        };
        peer.client.set_gone();
        self.access.hot().drop_parked(id);
        let failure = peer.failure.map(|failure| failure.to_string());
        let client = id;
        let what = What::Closed(failure);
        // The socket is closed before its owner hears of it.
        drop(peer);
        self.mail.report(Event { client, what });
    }

    /// Serve a client again, and its parked pulls, once it has read most of its answers.
    pub(crate) fn caught_up(&mut self, id: u64) {
        if let Some(peer) = self.peers.get_mut(&id) {
            if peer.client.catch_up() {
                self.access.hot().wait_for_turn(id);
            }
            if peer.is_awaited && !peer.client.note_congestion() {
                peer.is_awaited = false;
                let what = What::HasRoom;
                self.mail.report(Event { client: id, what });
            }
        }
        self.go_on(id);
    }

    fn carry_out(&mut self, order: Order) {
        match order {
            Order::Listen { listener, is_fast } => self.listen(listener, is_fast),
            Order::StopListening => {
                self.ignore_listeners();
                self.listeners.clear();
            }
            Order::TakeTurns => {}
            Order::GateOpened => {
                for id in std::mem::take(&mut self.gated) {
                    self.with_peer(id, |peer| peer.is_gated = false);
                }
            }
            Order::CloseIdle { idle_ms } => {
                let since_ms = elapsed_ms() - idle_ms;
                let idle = self.peers.iter().filter(|(_, it)| it.active_ms < since_ms);
                let ids: Vec<_> = idle.map(|(id, _)| *id).collect();
                for id in ids {
                    self.close(id);
                }
            }
            Order::Stop => self.is_over = true,
            Order::Send { client, pieces } => {
                if let Some(peer) = self.peers.get_mut(&client) {
                    peer.active_ms = elapsed_ms();
                    let size = (*pieces[1]).as_ref().len();
                    if size > 0 {
                        peer.takes_bulk = size >= BULK_BYTES;
                    }
                    peer.write_counted(pieces);
                    self.caught_up(client);
                }
            }
            Order::Taken { client, count } => {
                self.with_peer(client, |peer| peer.take_cold(count));
            }
            Order::GoOn { client } => self.with_peer(client, |peer| peer.is_set_aside = false),
            Order::Checked { client } => {
                self.with_peer(client, |peer| peer.is_checking = false);
                self.access.hot().wait_for_turn(client);
            }
            Order::Settled { client, size } => {
                if let Some(peer) = self.peers.get(&client) {
                    peer.client.drop_held(size);
                    self.caught_up(client);
                }
            }
            Order::AwaitRoom { client } => {
                self.with_peer(client, |peer| peer.is_awaited = true);
                self.caught_up(client);
            }
            Order::Close { client } => self.with_peer(client, |peer| {
                peer.is_closing = true;
                peer.input.clear();
            }),
            Order::Abort { client } => self.close(client),
            Order::UseLink { member, socket } => self.use_link(member, socket),
            Order::RetireLink { member } => self.retire_link(member),
        }
    }

    fn with_peer(&mut self, id: u64, change: impl FnOnce(&mut Peer)) {
        if let Some(peer) = self.peers.get_mut(&id) {
            change(peer);
            self.go_on(id);
        }
    }

    fn listen(&mut self, listener: OwnedFd, is_fast: bool) {
        self.listeners.push((listener, is_fast));
        self.watch_listeners();
    }

    fn watch_listeners(&mut self) {
        self.accepts_ms = None;
        for (at, (listener, _)) in (0..).zip(&self.listeners) {
            let data = EventData::new_u64(LISTENERS + at);
            // One that is watched already is refused.
            let _ = epoll::add(&self.poll, listener, data, EventFlags::IN);
        }
    }

    fn ignore_listeners(&mut self) {
        self.accepts_ms = None;
        for (listener, _) in &self.listeners {
            let _ = epoll::delete(&self.poll, listener);
        }
    }

    fn accept(&mut self, at: usize) {
        for _ in 0..ACCEPT_COUNT_MAX {
            let Some((listener, is_fast)) = self.listeners.get(at) else {
                return;
            };
            let is_fast = *is_fast;
            match acceptfrom_with(listener, SocketFlags::NONBLOCK | SocketFlags::CLOEXEC) {
                Ok((socket, peer)) => self.open(socket, peer, is_fast),
                Err(Errno::AGAIN) => return,
                Err(Errno::INTR | Errno::CONNABORTED) => {}
                Err(_) => {
                    // Above all, the process has no descriptor left.
                    self.ignore_listeners();
                    self.accepts_ms = Some(elapsed_ms() + ACCEPT_PAUSE_MS);
                    return;
                }
            }
        }
    }

    fn open(&mut self, socket: OwnedFd, peer: Option<SocketAddrAny>, is_fast: bool) {
        let _ = sockopt::set_tcp_nodelay(socket.as_fd(), true);
        let peer = peer.and_then(|peer| SocketAddr::try_from(peer).ok());
        // A client that has left by now has no address.
        let peer = peer.unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
        let connection = Connection::new(peer, self.access.hot());
        let client = Arc::new(Client::new(connection.id(), peer, is_fast));
        let id = client.id;
        let opened = What::Opened(Arc::clone(&client));
        let peer = Peer::new(client, socket, connection, elapsed_ms());
        self.peers.insert(id, peer);
        self.mail.report(Event {
            client: id,
            what: opened,
        });
        self.go_on(id);
    }

    /// Note that the owner is to hear of something soon.
    pub(crate) fn note_quietly(&mut self) {
        if self.quiet_until_ms.is_none() {
            self.quiet_until_ms = Some(elapsed_ms() + QUIET_MS);
        }
    }

    fn keep_time(&mut self) {
        let now_ms = elapsed_ms();
        if self
            .access
            .hot()
            .next_deadline_ms()
            .is_some_and(|it| it <= now_ms)
        {
            self.has_parked_turns |= self.access.hot().expire_pulls(now_ms);
        }
        if self.quiet_until_ms.is_some_and(|it| it <= now_ms) {
            self.quiet_until_ms = None;
            self.mail.ring_owner();
        }
        if self.accepts_ms.is_some_and(|it| it <= now_ms) {
            self.watch_listeners();
        }
        self.keep_time_of_links(now_ms);
    }
}

/// The time by a clock that is never set, and that also runs while the machine sleeps.
pub(crate) fn elapsed_ms() -> i64 {
    let now = clock_gettime(ClockId::Boottime);
    now.tv_sec * 1000 + now.tv_nsec / 1_000_000
}

#[cfg(test)]
mod tests;
