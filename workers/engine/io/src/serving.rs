//! A turn of one client: its bytes go to the hot path, the answers to its socket, the rest to the owner.

use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use regent_commitlog::Store;
use regent_hotpath::{HotPath, PullAnswers, Received, Taker};
use regent_remoting::{Command, Decoder, FrameError};
use rustix::io::{Errno, read};

use crate::access::{HotAccess, Unusable};
use crate::driver::{Driver, elapsed_ms};
use crate::events::{Deferred, Event, PulledByClient, What};
use crate::peer::Peer;

/// The bytes of a client that one turn serves. Then its answers are sent, so that it can go on, and others
/// have their turn.
pub(crate) const SLICE_BYTES: usize = 32 << 10;

/// With so many bytes of answers to pulls, the rest of a slice waits for the next turn.
const PULL_BYTES_A_TURN: usize = 256 << 10;

/// A client with a larger answer takes turns with other such clients from then on.
pub(crate) const BULK_BYTES: usize = 64 << 10;

/// Longer answers that cannot go to the socket are for the owner, which writes each before it makes the next.
const SHORT_ANSWER_BYTES_MAX: usize = 64 << 10;

/// What a turn comes to.
struct Turn {
    received: Received,
    outcome: Result<(), FrameError>,
    /// The store lost data that the socket may have the beginning of.
    lost: Option<Unusable>,
}

impl<A: HotAccess> Driver<A> {
    /// Serve the next bytes of a client.
    pub(crate) fn serve_next(&mut self, id: u64) {
        let mail = Arc::clone(&self.mail);
        let turn = mail.begin_turn();
        // Who closes the gate waits for the end of this turn.
        let is_gate_open = mail.is_gate_open.load(Ordering::SeqCst);
        let peer = self.peers.get_mut(&id);
        if let Some(peer) = peer.filter(|peer| peer.may_serve(is_gate_open)) {
            let mut buffer = std::mem::take(&mut self.buffer);
            if peer.input.is_empty() {
                match read(&peer.socket, &mut buffer[..SLICE_BYTES]) {
                    Ok(0) => peer.has_ended = true,
                    Ok(size) => self.serve(id, &buffer[..size]),
                    Err(Errno::AGAIN | Errno::INTR) => {}
                    Err(failure) => {
                        peer.has_ended = true;
                        peer.break_off(failure);
                    }
                }
            } else {
                let input = std::mem::take(&mut peer.input);
                self.serve(id, &input);
            }
            self.buffer = buffer;
        }
        drop(turn);
        self.go_on(id);
    }

    /// Pass bytes to the hot path in a turn, and keep what it leaves.
    fn serve(&mut self, id: u64, bytes: &[u8]) {
        let access = Arc::clone(&self.access);
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        peer.active_ms = elapsed_ms();
        // The owner refuses pulls on the fast port, and keeps the order of pulls behind other requests.
        let takes_pulls = !peer.client.is_fast && !peer.has_cold() && !peer.is_broken();
        let bytes_max = if takes_pulls { PULL_BYTES_A_TURN } else { 0 };
        let turn = run(
            &*access,
            peer,
            bytes_max,
            |connection, hot, store, received, taker| {
                connection.receive_pulls(hot, store, bytes, wall_ms(), received, taker)
            },
        );
        let Some((turn, peer)) = self.or_lost(id, turn) else {
            return;
        };
        let rest = bytes
            .get(bytes.len() - turn.received.left..)
            .unwrap_or_default();
        peer.input.extend_from_slice(rest);
        let failure = turn.outcome.as_ref().err().map(ToString::to_string);
        self.take_in(id, turn, true);
        if let Some(reason) = failure {
            let what = What::BrokeProtocol(reason);
            self.mail.report(Event { client: id, what });
            if let Some(peer) = self.peers.get_mut(&id) {
                peer.is_closing = true;
                peer.input.clear();
            }
        }
    }

    /// Answer parked pulls of a client, as many as one turn answers.
    pub(crate) fn answer_parked(&mut self, id: u64) {
        let (access, mail) = (Arc::clone(&self.access), Arc::clone(&self.mail));
        let _turn = mail.begin_turn();
        let Some(peer) = self.peers.get_mut(&id) else {
            // It left while its pull was parked.
            access.hot().drop_parked(id);
            return;
        };
        // A client that does not read gets its answers once it has caught up.
        if peer.is_broken() || peer.is_closing || peer.is_checking || peer.client.note_congestion()
        {
            return;
        }
        let turn = run(
            &*access,
            peer,
            PULL_BYTES_A_TURN,
            |connection, hot, store, received, taker| {
                connection.answer_parked(hot, store, received, taker, wall_ms());
                Ok(())
            },
        );
        let Some((mut turn, peer)) = self.or_lost(id, turn) else {
            return;
        };
        peer.active_ms = elapsed_ms();
        if let Some(pull) = turn.received.unchecked.take() {
            peer.is_checking = true;
            let what = What::Unchecked(Box::new(pull));
            self.mail.report(Event { client: id, what });
        }
        self.take_in(id, turn, false);
        self.go_on(id);
    }

    /// End a client whose store does no work any more: it may have received the beginning of an answer.
    fn or_lost(&mut self, id: u64, turn: Result<Turn, Unusable>) -> Option<(Turn, &mut Peer)> {
        let turn = turn.and_then(|turn| match &turn.lost {
            Some(lost) => Err(lost.clone()),
            None => Ok(turn),
        });
        match turn {
            Ok(turn) => self.peers.get_mut(&id).map(|peer| (turn, peer)),
            Err(Unusable(reason)) => {
                let what = What::StoreFailed(reason);
                self.mail.report(Event { client: id, what });
                self.close(id);
                None
            }
        }
    }

    /// Handle what a turn came to. What others may ask for is noted before the client is answered.
    fn take_in(&mut self, id: u64, turn: Turn, is_asked: bool) {
        let Turn { mut received, .. } = turn;
        self.note_progress(id, &mut received, is_asked);
        if let Some(member) = received.lacks_link.take() {
            self.want_link(member);
        }
        for forwards in std::mem::take(&mut received.forwards) {
            received.cold.extend(self.forward(id, forwards));
        }
        let Some(peer) = self.peers.get_mut(&id) else {
            return;
        };
        let mut events = Vec::new();
        let proposal = received.proposal.take();
        self.has_deferred |= !received.deferred.is_empty();
        if !received.deferred.is_empty() || proposal.is_some() {
            peer.client.hold(received.deferred.len());
            events.push(What::Deferred(Deferred {
                frames: std::mem::take(&mut received.deferred),
                position: received.deferred_position,
                deliveries: std::mem::take(&mut received.deferred_deliveries),
                proposal,
            }));
        }
        if let Some(reason) = received.store_failure.take() {
            events.push(What::StoreFailed(reason));
        }
        let requests = std::mem::take(&mut received.cold);
        let requests: Vec<_> = requests
            .into_iter()
            .filter(|it| !it.is_response())
            .collect();
        if !requests.is_empty() {
            requests.iter().for_each(|request| peer.add_cold(request));
            events.push(What::Requests(requests));
        }
        if let Some(send) = received.set_aside.take() {
            peer.is_set_aside = true;
            peer.add_cold(&send);
            events.push(What::SetAside(with_requests_ahead(send, &peer.input)));
        }
        if !events.is_empty() {
            self.mail.note(|noted| {
                let events = events.into_iter().map(|what| Event { client: id, what });
                noted.events.extend(events);
            });
            self.mail.ring_owner();
        }
        peer.write(std::mem::take(&mut received.replies));
    }

    /// Note commits, figures and appends.
    fn note_progress(&mut self, id: u64, received: &mut Received, is_asked: bool) {
        let (commits, pulled) = (&mut received.commits, &mut received.pulled);
        let has_appended = !received.arrivals.is_empty();
        if !has_appended && commits.is_empty() && pulled.is_empty() {
            return;
        }
        self.mail.note(|noted| {
            noted.has_appended |= has_appended;
            for commit in commits.drain(..) {
                noted.add_commit(id, commit);
            }
            for pulled in pulled.drain(..) {
                noted.add_pulled(PulledByClient {
                    client: id,
                    is_asked,
                    pulled,
                });
            }
        });
        if has_appended && self.mail.hears_appends.load(Ordering::Relaxed) {
            self.mail.ring_owner();
        } else {
            self.note_quietly();
        }
    }
}

/// Have the hot path work for a client, and write the answers of pulls.
fn run<A: HotAccess>(
    access: &A,
    peer: &mut Peer,
    bytes_max: usize,
    work: impl for<'s> FnOnce(
        &mut regent_hotpath::Connection,
        &HotPath,
        &'s Store,
        &mut Received,
        Taker<'_, 's>,
    ) -> Result<(), FrameError>,
) -> Result<Turn, Unusable> {
    let hot = access.hot();
    access.with(|store| {
        let mut received = Received::default();
        let mut answers = PullAnswers::default();
        let is_free = !peer.has_output();
        let taker = Taker {
            bytes_max,
            answer_bytes_max: if is_free {
                usize::MAX
            } else {
                SHORT_ANSWER_BYTES_MAX
            },
            answers: &mut answers,
            elapsed_ms: elapsed_ms(),
        };
        let began_at = Instant::now();
        let outcome = work(&mut peer.connection, hot, store, &mut received, taker);
        let lost = hand_over(store, peer, &answers, is_free);
        hot.note_turn(&received, began_at.elapsed());
        Turn {
            received,
            outcome,
            lost,
        }
    })
}

/// Have the socket take answers, and keep a copy of what it does not take.
fn hand_over(
    store: &Store,
    peer: &mut Peer,
    answers: &PullAnswers<'_>,
    is_free: bool,
) -> Option<Unusable> {
    if answers.size() == 0 {
        return None;
    }
    peer.takes_bulk = answers.size() >= BULK_BYTES;
    // What a lost part of a file holds is an error for the system, and zeros once one of us looked.
    let failure = store.check_maps().err();
    if failure.is_none() && !peer.is_broken() {
        let sent = if is_free {
            answers.write_to(peer.socket.as_raw_fd())
        } else {
            0
        };
        let rest: Vec<u8> = answers.rest(sent).flatten().copied().collect();
        peer.write(rest);
    }
    let failure = failure.or_else(|| store.check_maps().err());
    failure.map(|failure| Unusable(failure.to_string()))
}

/// A send, and the requests behind it in the same bytes.
fn with_requests_ahead(send: Command, bytes: &[u8]) -> Vec<Command> {
    let mut requests = vec![send];
    let mut decoder = Decoder::new(bytes.len().max(1));
    // The connection meets an error when it comes there.
    let _ = decoder.receive(bytes, &mut requests);
    requests
}

fn wall_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
