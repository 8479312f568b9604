//! Requests of clients that another member of the broker group answers (ADR 27).
//!
//! Requests without an answer, and those whose answer needs a decision, go to the owner of the thread.

use std::os::fd::OwnedFd;

use ahash::AHashMap;
use regent_hotpath::{Forward, Forwards, SEQUENCER};
use regent_remoting::Command;
use rustix::io::{Errno, read};

use crate::access::HotAccess;
use crate::driver::{Driver, LINKS, elapsed_ms};
use crate::events::{Event, What};
use crate::link::Link;
use crate::serving::SLICE_BYTES;

/// Slices of answers of one member that are read before others have their turn.
const SLICE_COUNT_MAX: usize = 8;

/// A client with more POPs at members has its next ones served by the owner of the thread, which bounds how many wait.
/// A client that reads no answers gets those of all POPs that are under way: each may have 256 KiB or more.
const POP_COUNT_MAX: usize = 64;

/// What members answered to one client.
#[derive(Default)]
struct Answered {
    replies: Vec<u8>,
    /// The requests that the owner is to ask again.
    again: Vec<Command>,
    count: usize,
    pop_count: usize,
    /// What the requests took in memory.
    size: usize,
}

impl Answered {
    fn note(&mut self, request: &Forward) {
        self.count += 1;
        self.pop_count += usize::from(request.is_pop());
        self.size += request.size();
    }

    fn ask_again(&mut self, request: &Forward) {
        self.again.extend(request.request());
    }
}

type Clients = AHashMap<u64, Answered>;

impl<A: HotAccess> Driver<A> {
    /// Forward requests to a member from now on.
    pub(crate) fn use_link(&mut self, member: u64, socket: OwnedFd) {
        self.retire_link(member);
        let id = LINKS + self.next_link;
        self.next_link += 1;
        let frame_size_max = self.access.hot().config().frame_size_max;
        let mut link = Link::new(id, member, socket, frame_size_max);
        link.flush(&self.poll);
        self.links.push(link);
        self.access.hot().set_link(member, true);
    }

    /// Forward no more requests to a member, until there is another connection to it.
    pub(crate) fn retire_link(&mut self, member: u64) {
        self.access.hot().set_link(member, false);
        self.wanted_links.remove(&member);
        let links = self.links.iter_mut();
        for link in links.filter(|link| link.member == member) {
            link.is_retired = true;
        }
        self.close_links();
    }

    /// Have the owner connect to a member.
    pub(crate) fn want_link(&mut self, member: u64) {
        if self.wanted_links.insert(member) {
            self.mail.report(Event {
                client: 0,
                what: What::LacksLink(member),
            });
        }
    }

    /// Take requests of a client for a member. Returns those that the owner is to serve: there is no connection, or
    /// too many POPs are under way.
    pub(crate) fn forward(&mut self, client: u64, forwards: Forwards) -> Vec<Command> {
        let Some(peer) = self.peers.get_mut(&client) else {
            return Vec::new();
        };
        let pops = forwards.requests.iter().filter(|request| request.is_pop());
        let pop_count = peer.forwarded_pop_count + pops.count();
        let mut links = self.links.iter_mut();
        let link = links.find(|link| link.member == forwards.member && link.has_room());
        let Some(link) = link.filter(|_| pop_count <= POP_COUNT_MAX) else {
            let requests = forwards.requests.iter();
            return requests.filter_map(Forward::request).collect();
        };
        peer.forwarded_count += forwards.requests.len();
        peer.forwarded_pop_count = pop_count;
        peer.client
            .hold(forwards.requests.iter().map(Forward::size).sum());
        self.mail.add_forwarded(forwards.requests.len());
        link.send(client, forwards, elapsed_ms());
        Vec::new()
    }

    /// Write what the turns so far have for members.
    pub(crate) fn flush_links(&mut self) {
        for link in &mut self.links {
            link.flush(&self.poll);
        }
        self.close_links();
    }

    /// Read answers of a member.
    pub(crate) fn on_link(&mut self, id: u64) {
        let Some(place) = self.links.iter().position(|link| link.id == id) else {
            return;
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut clients = Clients::default();
        for _ in 0..SLICE_COUNT_MAX {
            let link = &self.links[place];
            match read(link.socket(), &mut buffer[..SLICE_BYTES]) {
                Ok(0) => self.links[place].ended(Ok(())),
                Ok(size) => {
                    self.take_answers(place, &buffer[..size], &mut clients);
                    if size == SLICE_BYTES {
                        continue;
                    }
                }
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(error) => self.links[place].ended(Err(error)),
            }
            break;
        }
        self.buffer = buffer;
        self.hand_over_answers(clients);
        self.close_links();
    }

    fn take_answers(&mut self, place: usize, bytes: &[u8], clients: &mut Clients) {
        let (peers, mail) = (&self.peers, &self.mail);
        let link = &mut self.links[place];
        let member = link.member;
        let (mut passed_on_count, mut is_refused) = (0, false);
        link.receive(bytes, |client, request, answer| {
            let answered = clients.entry(client).or_default();
            answered.note(request);
            let has_left = peers.get(&client).is_none_or(|peer| peer.has_left());
            if has_left && request.has_messages(answer) {
                // Otherwise no consumer gets the messages until their time is over.
                if let Some(asked) = request.request() {
                    let (asked, answer) = (Box::new(asked), Box::new(answer.command()));
                    let what = What::Unclaimed(member, asked, answer);
                    mail.report(Event { client, what });
                }
            } else if request.give_on(answer, &mut answered.replies) {
                passed_on_count += usize::from(member == SEQUENCER);
            } else {
                is_refused |= Forward::is_refused(answer);
                answered.ask_again(request);
            }
        });
        if is_refused && !std::mem::replace(&mut link.is_retired, true) {
            self.note_lost(member, "it does not serve the requests now".to_owned());
        }
        if passed_on_count > 0 {
            self.mail
                .note(|noted| noted.passed_on_count += passed_on_count);
            self.note_quietly();
        }
    }

    fn hand_over_answers(&mut self, clients: Clients) {
        for (client, answered) in clients {
            self.mail.drop_forwarded(answered.count);
            let Some(peer) = self.peers.get_mut(&client) else {
                continue;
            };
            peer.forwarded_count -= answered.count;
            peer.forwarded_pop_count -= answered.pop_count;
            peer.client.drop_held(answered.size);
            peer.active_ms = elapsed_ms();
            if !answered.again.is_empty() {
                answered
                    .again
                    .iter()
                    .for_each(|request| peer.add_cold(request));
                let what = What::Requests(answered.again);
                self.mail.report(Event { client, what });
            }
            peer.write(answered.replies);
            self.caught_up(client);
        }
    }

    /// Close connections that are over. The owner serves what they leave.
    fn close_links(&mut self) {
        while let Some(place) = self.links.iter().position(Link::is_over) {
            let mut link = self.links.swap_remove(place);
            let member = link.member;
            if let Some(reason) = link.failure.take().filter(|_| !link.is_retired) {
                self.note_lost(member, reason);
            }
            let mut clients = Clients::default();
            for (client, request) in link.into_waiting() {
                let answered = clients.entry(client).or_default();
                answered.note(&request);
                answered.ask_again(&request);
            }
            self.hand_over_answers(clients);
        }
    }

    /// Forward nothing to a member until the owner has heard of it.
    fn note_lost(&mut self, member: u64, reason: String) {
        self.access.hot().set_link(member, false);
        self.wanted_links.insert(member);
        let what = What::LinkLost(member, reason);
        self.mail.report(Event { client: 0, what });
    }

    pub(crate) fn next_link_deadline_ms(&mut self) -> Option<i64> {
        let links = self.links.iter_mut();
        links.filter_map(Link::next_deadline_ms).min()
    }

    pub(crate) fn keep_time_of_links(&mut self, now_ms: i64) {
        for link in &mut self.links {
            link.keep_time(now_ms);
        }
        self.close_links();
    }
}
