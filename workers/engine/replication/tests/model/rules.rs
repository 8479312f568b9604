//! What can happen in a state, and what must never.

use std::fmt;

use crate::state::{BROKER_COUNT, Broker, Brokers, EPOCH_MAX, Entry, Request, Role, State, bit};

/// The rules whose absence was a fault of an earlier system (targets.md 6).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// Row 1 (#5663), D8: while a change is asked for, old and new members count.
    pub(crate) counts_union: bool,
    /// Row 2 (#7017, #6662), D9: members that cannot be reached count all the same.
    pub(crate) counts_unreachable: bool,
    /// Row 4 (#7689): the next offset follows from the log that was cut.
    pub(crate) offset_from_log: bool,
    /// KIP-966, D11: who lost what was not on its disk is no master before it has followed one.
    pub(crate) verifies_unclean: bool,
    /// Case A1, D27: whose log ends before what a master reported as confirmed is no master.
    pub(crate) elects_by_evidence: bool,
    /// How many messages clients send: not a rule, but the size of the search. Two are enough to
    /// find the fault of each missing rule.
    pub(crate) message_max: u8,
}

impl Rules {
    pub(crate) const ALL: Self = Self {
        counts_union: true,
        counts_unreachable: true,
        offset_from_log: true,
        verifies_unclean: true,
        elects_by_evidence: true,
        message_max: 2,
    };
}

/// One thing that happened, for the story of a fault.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Event {
    what: &'static str,
    broker: usize,
    other: Option<usize>,
}

impl fmt::Display for Event {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            broker,
            other,
        } = self;
        match other {
            None => write!(out, "{what} {broker}"),
            Some(other) => write!(out, "{other} {what} {broker}"),
        }
    }
}

/// How often brokers crash in one run.
pub(crate) const CRASH_MAX: u8 = 1;

/// Every state that can follow.
pub(crate) fn successors(state: &State, rules: Rules) -> Vec<(Event, State)> {
    let mut steps = Vec::new();
    for broker in 0..BROKER_COUNT {
        let mut add = |what, other, next: Option<State>| {
            if let Some(mut next) = next {
                confirm(&mut next, rules);
                forget(&mut next, rules);
                let event = Event {
                    what,
                    broker,
                    other,
                };
                steps.push((event, next));
            }
        };
        add("append at", None, append(state, broker, rules));
        add("learn at", None, learn(state, broker, rules));
        add("elect", None, elect(state, broker, rules));
        add("commit the request of", None, commit(state, broker, true));
        let unanswered = commit(state, broker, false);
        add("commit, and lose the answer to", None, unanswered);
        add("poll at", None, poll(state, broker));
        add("restart", None, restart(state, broker, 0));
        add("cut the power of", None, restart(state, broker, 1));
        let unsynced = restart(state, broker, 2);
        add("cut the power, long unsynced, of", None, unsynced);
        let older = put_back(state, broker);
        add("put back an older copy of the store of", None, older);
        for other in (0..BROKER_COUNT).filter(|other| *other != broker) {
            let following = follow(state, broker, other, rules);
            add("begins to follow", Some(other), following);
            add("copies from", Some(other), copy(state, broker, other));
            // Where every member counts, one out of reach only makes its master wait.
            if !rules.counts_unreachable {
                let apart = disconnect(state, broker, other);
                add("loses its connection to", Some(other), apart);
            }
            let asked = ask(state, broker, other);
            add("is to join or leave the set of", Some(other), asked);
        }
    }
    steps
}

/// What is wrong with a state.
pub(crate) fn fault(state: &State) -> Option<&'static str> {
    for broker in &state.brokers {
        let offsets = broker.log.entries().iter().map(|entry| entry.offset);
        if !offsets.eq(0..broker.end()) {
            return Some("I4: queue offsets are not each assigned once, without a gap");
        }
    }
    let master = &state.brokers[usize::from(state.master?)];
    let serves = master.role == Role::Master && master.epoch == state.epoch;
    (serves && !master.has_all(state.acknowledged))
        .then_some("I1: the master lacks an acknowledged message")
}

fn changed(state: &State, change: impl FnOnce(&mut State)) -> Option<State> {
    let mut next = *state;
    change(&mut next);
    Some(next)
}

fn append(state: &State, at: usize, rules: Rules) -> Option<State> {
    let master = &state.brokers[at];
    if master.role != Role::Master || state.message_count == rules.message_max {
        return None;
    }
    changed(state, |next| {
        let entry = Entry {
            epoch: master.epoch,
            message: state.message_count,
            offset: master.next_offset,
        };
        next.message_count += 1;
        next.brokers[at].log.push(entry);
        next.brokers[at].next_offset += 1;
    })
}

/// A broker hears of the controller's newest decision, by a push or by asking.
fn learn(state: &State, at: usize, rules: Rules) -> Option<State> {
    let broker = &state.brokers[at];
    let is_master = state.master == u8::try_from(at).ok();
    let is_known = broker.epoch == state.epoch && broker.role != Role::Fenced;
    // Who was master before it stopped goes on as such, unless it lost something (S71, D11).
    let must_wait = is_master && !may_lead(state, at, rules);
    if is_known || must_wait {
        return None;
    }
    changed(state, |next| {
        let broker = &mut next.brokers[at];
        broker.retire(if is_master {
            Role::Master
        } else {
            Role::Replica
        });
        broker.epoch = state.epoch;
        if is_master {
            broker.term_start = broker.end();
            broker.set = state.set;
            broker.is_set_current = true;
            if rules.offset_from_log {
                broker.next_offset = broker.end();
            }
        }
    })
}

/// The controller takes another master: any living member of the set, whatever the old one does.
fn elect(state: &State, at: usize, rules: Rules) -> Option<State> {
    if state.epoch == EPOCH_MAX || state.set & bit(at) == 0 || !may_lead(state, at, rules) {
        return None;
    }
    changed(state, |next| {
        next.master = u8::try_from(at).ok();
        next.epoch += 1;
        next.set = bit(at);
        outdate(next);
    })
}

/// Whether a log lacks nothing that was acknowledged, as far as the rules can find out.
fn may_lead(state: &State, at: usize, rules: Rules) -> bool {
    let broker = &state.brokers[at];
    let is_verified = !broker.is_unclean || !rules.verifies_unclean;
    let is_whole = broker.end() >= state.evidence || !rules.elects_by_evidence;
    is_verified && is_whole
}

/// A replica compares its log with its master's and cuts what the master lacks.
fn follow(state: &State, master_at: usize, at: usize, rules: Rules) -> Option<State> {
    let (master, replica) = (&state.brokers[master_at], &state.brokers[at]);
    let is_apart = master.held[at].is_none();
    if !belongs(master, replica) || !is_apart {
        return None;
    }
    changed(state, |next| {
        let pairs = replica.log.entries().iter().zip(master.log.entries());
        let common = pairs
            .take_while(|(own, other)| (own.epoch, own.message) == (other.epoch, other.message));
        let common = u8::try_from(common.count()).unwrap_or(u8::MAX);
        let replica = &mut next.brokers[at];
        replica.log.truncate(common);
        replica.is_following = true;
        replica.greeted_end = master.end();
        verify(replica);
        if rules.offset_from_log {
            replica.next_offset = replica.end();
        }
        let end = replica.end();
        next.brokers[master_at].held[at] = Some(end);
    })
}

fn belongs(master: &Broker, replica: &Broker) -> bool {
    master.role == Role::Master && replica.role == Role::Replica && master.epoch == replica.epoch
}

fn copy(state: &State, master_at: usize, at: usize) -> Option<State> {
    let (master, replica) = (&state.brokers[master_at], &state.brokers[at]);
    let entry = *master.log.entries().get(usize::from(replica.end()))?;
    if !belongs(master, replica) || !replica.is_following || master.held[at].is_none() {
        return None;
    }
    changed(state, |next| {
        let replica = &mut next.brokers[at];
        replica.log.push(entry);
        replica.next_offset = replica.next_offset.max(entry.offset + 1);
        verify(replica);
        let end = replica.end();
        next.brokers[master_at].held[at] = Some(end);
    })
}

/// A replica that lost its tail is whole again once it holds what its master held when they met.
/// It says so itself: a request of the master that is still on its way speaks of its former life.
fn verify(replica: &mut Broker) {
    replica.is_unclean &= replica.end() < replica.greeted_end;
}

fn disconnect(state: &State, master_at: usize, at: usize) -> Option<State> {
    state.brokers[master_at].held[at]?;
    changed(state, |next| {
        next.brokers[master_at].held[at] = None;
        next.brokers[at].is_following = false;
    })
}

/// A master asks for a set with one broker more or less.
fn ask(state: &State, at: usize, other: usize) -> Option<State> {
    let master = &state.brokers[at];
    if master.role != Role::Master || master.request.is_some() {
        return None;
    }
    let is_member = master.set & bit(other) != 0;
    let may_join =
        master.held[other].is_some_and(|held| held >= master.confirmed.max(master.term_start));
    if !is_member && !may_join {
        return None;
    }
    changed(state, |next| {
        let asked = master.set ^ bit(other);
        next.brokers[at].request = Some(Request {
            set: asked,
            is_current: master.is_set_current,
        });
        next.brokers[at].proposed |= asked;
    })
}

/// The controller's transaction: a request of another epoch or about another set changes nothing.
/// Its answer is lost with the network, or with a controller that dies right after the commit.
fn commit(state: &State, at: usize, is_answered: bool) -> Option<State> {
    let broker = &state.brokers[at];
    let request = broker.request?;
    let is_master = state.master == u8::try_from(at).ok() && broker.epoch == state.epoch;
    changed(state, |next| {
        next.brokers[at].request = None;
        if is_master && request.is_current {
            next.set = request.set;
            outdate(next);
            if is_answered {
                install(&mut next.brokers[at], request.set);
            }
        }
    })
}

/// The controller's set has changed: what brokers know of it is old.
fn outdate(state: &mut State) {
    for broker in &mut state.brokers {
        broker.is_set_current = false;
        if let Some(request) = &mut broker.request {
            request.is_current = false;
        }
    }
}

fn poll(state: &State, at: usize) -> Option<State> {
    let master = &state.brokers[at];
    let is_current = master.role == Role::Master && master.epoch == state.epoch;
    (is_current && !master.is_set_current).then_some(())?;
    changed(state, |next| install(&mut next.brokers[at], state.set))
}

/// A newer set ends a proposal: a request that is still on its way is about an older one.
fn install(master: &mut Broker, set: Brokers) {
    master.set = set;
    master.is_set_current = true;
    master.proposed = 0;
}

/// A process or machine stops and starts; a machine loses its last `lost` entries.
fn restart(state: &State, at: usize, lost: u8) -> Option<State> {
    let broker = &state.brokers[at];
    if state.crash_count == CRASH_MAX || lost > broker.end() {
        return None;
    }
    changed(state, |next| {
        next.crash_count += 1;
        let broker = &mut next.brokers[at];
        let was_master = broker.role == Role::Master;
        let epoch = broker.epoch;
        broker.retire(Role::Fenced);
        broker.epoch = 0;
        broker.is_unclean |= lost > 0;
        broker.log.truncate(broker.end() - lost);
        broker.next_offset = broker.end();
        for other in &mut next.brokers {
            other.held[at] = None;
            other.is_following &= !(was_master && other.epoch == epoch);
        }
    })
}

/// A broker's store, its files about itself too, is replaced by a copy without the last entry while
/// it is down. That is done by hand: by then the master has had its next heartbeat, and all that
/// was acknowledged is in the controller's evidence.
fn put_back(state: &State, at: usize) -> Option<State> {
    let is_reported = u32::from(state.evidence) >= state.acknowledged.count_ones();
    if !is_reported {
        return None;
    }
    let was_unclean = state.brokers[at].is_unclean;
    let mut next = restart(state, at, 1)?;
    next.brokers[at].is_unclean = was_unclean;
    Some(next)
}

/// Sets aside what can make no difference any more, so that fewer states are different.
fn forget(state: &mut State, rules: Rules) {
    for broker in &mut state.brokers {
        if rules.offset_from_log {
            broker.next_offset = broker.end();
        }
        if !broker.is_unclean {
            broker.greeted_end = 0;
        }
        if broker.confirmed >= broker.term_start {
            broker.term_start = 0;
        }
    }
}

/// Masters acknowledge what every member that counts holds, as soon as it does.
fn confirm(state: &mut State, rules: Rules) {
    for at in 0..BROKER_COUNT {
        let master = &state.brokers[at];
        if master.role != Role::Master {
            continue;
        }
        let mut counted = master.set;
        if rules.counts_union {
            counted |= master.proposed;
        }
        let mut lowest = master.end();
        for other in (0..BROKER_COUNT).filter(|other| *other != at && counted & bit(*other) != 0) {
            match master.held[other] {
                Some(held) => lowest = lowest.min(held),
                None if rules.counts_unreachable => lowest = 0,
                None => {}
            }
        }
        let confirmed = lowest.max(master.confirmed);
        let messages = master.log.entries()[..usize::from(confirmed)].iter();
        state.acknowledged |= messages.fold(0, |all, entry| all | 1 << entry.message);
        if state.master == u8::try_from(at).ok() && state.brokers[at].epoch == state.epoch {
            state.evidence = state.evidence.max(confirmed);
        }
        state.brokers[at].confirmed = confirmed;
    }
}
