//! What can happen in a state, and what must never.

use crate::state::{
    BROKER_COUNT, Broker, Brokers, Change, EPOCH_MAX, Entry, MESSAGE_MAX, Role, State, bit,
};

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
}

impl Rules {
    pub(crate) const ALL: Self = Self {
        counts_union: true,
        counts_unreachable: true,
        offset_from_log: true,
        verifies_unclean: true,
    };
}

/// One thing that happened, for the story of a fault.
pub(crate) type Step = (String, State);

/// How often brokers crash in one run.
pub(crate) const CRASH_MAX: u8 = 1;

/// Every state that can follow.
pub(crate) fn successors(state: &State, rules: Rules) -> Vec<Step> {
    let mut steps = Vec::new();
    for broker in 0..BROKER_COUNT {
        let mut add = |name: &str, next: Option<State>| {
            if let Some(mut next) = next {
                confirm(&mut next, rules);
                steps.push((format!("{name} {broker}"), next));
            }
        };
        add("append at", append(state, broker));
        add("learn at", learn(state, broker, rules));
        add("elect", elect(state, broker, rules));
        add("commit the change of", commit(state, broker));
        add("lose the request or answer of", lose(state, broker));
        add("deliver the answer to", deliver(state, broker));
        add("poll at", poll(state, broker));
        add("kill", crash(state, broker, 0));
        add("cut the power of", crash(state, broker, 1));
        add("cut the power, long unsynced, of", crash(state, broker, 2));
        add("start", start(state, broker));
        for other in (0..BROKER_COUNT).filter(|other| *other != broker) {
            add(
                &format!("{other} begins to follow"),
                follow(state, broker, other, rules),
            );
            add(&format!("{other} copies from"), copy(state, broker, other));
            // Where every member counts, one out of reach only makes its master wait.
            if !rules.counts_unreachable {
                let name = format!("{other} loses its connection to");
                add(&name, disconnect(state, broker, other));
            }
            add(
                &format!("ask to change {other} in the set of"),
                ask(state, broker, other),
            );
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

fn append(state: &State, at: usize) -> Option<State> {
    let master = &state.brokers[at];
    if master.role != Role::Master || state.message_count == MESSAGE_MAX {
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
    let must_wait = is_master && broker.is_unclean && rules.verifies_unclean;
    if broker.role == Role::Down || is_known || must_wait {
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
            broker.set_epoch = state.set_epoch;
            if rules.offset_from_log {
                broker.next_offset = broker.end();
            }
        }
    })
}

/// The controller takes another master: any living member of the set, whatever the old one does.
fn elect(state: &State, at: usize, rules: Rules) -> Option<State> {
    let candidate = &state.brokers[at];
    let is_electable = !candidate.is_unclean || !rules.verifies_unclean;
    if state.epoch == EPOCH_MAX
        || candidate.role == Role::Down
        || state.set & bit(at) == 0
        || !is_electable
    {
        return None;
    }
    changed(state, |next| {
        next.master = u8::try_from(at).ok();
        next.epoch += 1;
        next.set = bit(at);
        next.set_epoch += 1;
    })
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
    if master.role != Role::Master || master.change != Change::None {
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
        next.brokers[at].change = Change::Asked(asked, master.set_epoch);
        next.brokers[at].proposed |= asked;
    })
}

/// The controller's transaction: a request of another epoch or about another set changes nothing.
fn commit(state: &State, at: usize) -> Option<State> {
    let broker = &state.brokers[at];
    let Change::Asked(asked, set_epoch) = broker.change else {
        return None;
    };
    let is_current = state.master == u8::try_from(at).ok()
        && broker.epoch == state.epoch
        && set_epoch == state.set_epoch;
    changed(state, |next| {
        next.brokers[at].change = Change::None;
        if is_current {
            next.set = asked;
            next.set_epoch += 1;
            next.brokers[at].change = Change::Answered(asked, next.set_epoch);
        }
    })
}

/// The network, or a controller that dies between its commit and its answer.
fn lose(state: &State, at: usize) -> Option<State> {
    (state.brokers[at].change != Change::None).then_some(())?;
    changed(state, |next| next.brokers[at].change = Change::None)
}

fn deliver(state: &State, at: usize) -> Option<State> {
    let Change::Answered(set, set_epoch) = state.brokers[at].change else {
        return None;
    };
    changed(state, |next| {
        next.brokers[at].change = Change::None;
        install(&mut next.brokers[at], set, set_epoch);
    })
}

fn poll(state: &State, at: usize) -> Option<State> {
    let master = &state.brokers[at];
    let is_current = master.role == Role::Master && master.epoch == state.epoch;
    (is_current && master.set_epoch < state.set_epoch).then_some(())?;
    changed(state, |next| {
        install(&mut next.brokers[at], state.set, state.set_epoch)
    })
}

fn install(master: &mut Broker, set: Brokers, set_epoch: u8) {
    if set_epoch > master.set_epoch {
        master.set = set;
        master.set_epoch = set_epoch;
        master.proposed = 0;
    }
}

/// A process or machine stops; a machine loses its last `lost` entries.
fn crash(state: &State, at: usize, lost: u8) -> Option<State> {
    let broker = &state.brokers[at];
    if broker.role == Role::Down || state.crash_count == CRASH_MAX || lost > broker.end() {
        return None;
    }
    changed(state, |next| {
        next.crash_count += 1;
        let broker = &mut next.brokers[at];
        broker.retire(Role::Down);
        broker.epoch = 0;
        broker.is_unclean |= lost > 0;
        broker.log.truncate(broker.end() - lost);
        broker.next_offset = broker.end();
        for other in &mut next.brokers {
            other.held[at] = None;
            other.is_following &= !(other.role == Role::Replica
                && other.epoch == state.brokers[at].epoch
                && state.brokers[at].role == Role::Master);
        }
    })
}

fn start(state: &State, at: usize) -> Option<State> {
    (state.brokers[at].role == Role::Down).then_some(())?;
    changed(state, |next| next.brokers[at].role = Role::Fenced)
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
        state.brokers[at].confirmed = confirmed;
    }
}
