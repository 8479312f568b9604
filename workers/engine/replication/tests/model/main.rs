//! Every state that three brokers, three epochs and up to four messages can be in (targets.md 5.4).
//!
//! The model is searched to exhaustion: with all rules nothing acknowledged is ever lost and no
//! queue offset used twice; without any one of them the search finds the fault that earlier systems
//! had. Which broker is which does not matter, so states are compared up to renaming. One broker
//! stops once, with or without losing what was not on its disk, or with its store put back from an
//! older copy; requests, answers and decisions are late or lost at every point.
//!
//! `REGENT_MODEL_MESSAGES` says how many messages clients send in the search with all rules.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "it says how much was searched")]

mod rules;
mod state;

use std::collections::VecDeque;
use std::hash::{Hash, Hasher};

use ahash::{AHashSet, RandomState};
use rules::{Event, Rules, fault, successors};
use state::{MESSAGE_MAX, State};

/// How a search ended.
struct Search {
    state_count: usize,
    /// The shortest way to a fault, and what it is.
    found: Option<(Vec<String>, &'static str)>,
}

fn search(rules: Rules) -> Search {
    let first = State::first().canonical();
    let mut seen = Seen::new();
    let mut origins: Vec<(u32, Option<Event>)> = vec![(0, None)];
    let mut frontier = VecDeque::from([(first, 0)]);
    seen.insert(&first);
    while let Some((state, number)) = frontier.pop_front() {
        for (event, next) in successors(&state, rules) {
            let wrong = fault(&next);
            let next = next.canonical();
            if !seen.insert(&next) {
                continue;
            }
            let known = u32::try_from(origins.len()).unwrap();
            origins.push((number, Some(event)));
            if let Some(wrong) = wrong {
                return Search {
                    state_count: origins.len(),
                    found: Some((story(&origins, known), wrong)),
                };
            }
            frontier.push_back((next, known));
        }
    }
    Search {
        state_count: origins.len(),
        found: None,
    }
}

/// States by 128 bits of hash: two of some 10^7 have the same once in 10^24 searches.
struct Seen {
    hashers: [RandomState; 2],
    hashes: AHashSet<u128>,
}

impl Seen {
    fn new() -> Self {
        Self {
            hashers: [1, 2].map(|seed| RandomState::with_seeds(seed, 3, 5, 7)),
            hashes: AHashSet::new(),
        }
    }

    /// Whether the state is new.
    fn insert(&mut self, state: &State) -> bool {
        let mut fields = Fields::default();
        state.hash(&mut fields);
        let fields = &fields.bytes[..fields.count];
        let [low, high] = [0, 1].map(|at| u128::from(self.hashers[at].hash_one(fields)));
        self.hashes.insert(high << 64 | low)
    }
}

/// A state's fields, side by side: to hash each by itself takes several times as long.
struct Fields {
    bytes: [u8; 256],
    count: usize,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            bytes: [0; 256],
            count: 0,
        }
    }
}

impl Hasher for Fields {
    fn write(&mut self, field: &[u8]) {
        self.bytes[self.count..][..field.len()].copy_from_slice(field);
        self.count += field.len();
    }

    fn write_u8(&mut self, field: u8) {
        self.bytes[self.count] = field;
        self.count += 1;
    }

    /// Which variant of an enumeration it is.
    fn write_isize(&mut self, variant: isize) {
        self.write_u8(u8::try_from(variant).expect("a few variants"));
    }

    fn finish(&self) -> u64 {
        unreachable!("the bytes are hashed, not this")
    }
}

fn story(origins: &[(u32, Option<Event>)], mut at: u32) -> Vec<String> {
    let mut steps = Vec::new();
    while let (before, Some(event)) = &origins[at as usize] {
        steps.push(event.to_string());
        at = *before;
    }
    steps.reverse();
    steps
}

#[test]
fn with_all_rules_nothing_acknowledged_is_lost_and_no_offset_used_twice() {
    let mut rules = Rules::ALL;
    if let Ok(text) = std::env::var("REGENT_MODEL_MESSAGES") {
        rules.message_max = text.parse().unwrap();
    }
    assert!(
        rules.message_max <= MESSAGE_MAX,
        "a log has no room for so many"
    );

    let searched = search(rules);

    println!(
        "{} messages: {} states",
        rules.message_max, searched.state_count
    );
    assert_eq!(searched.found, None);
    assert!(searched.state_count > 100_000);
}

#[track_caller]
fn assert_found(rules: Rules, invariant: &str) {
    let searched = search(rules);
    let (steps, wrong) = searched.found.expect("a fault is found");
    println!(
        "{wrong}, after {} states:\n  {}",
        searched.state_count,
        steps.join("\n  ")
    );
    assert!(wrong.starts_with(invariant));
}

#[test]
fn without_the_union_of_old_and_new_set_an_acknowledged_message_is_lost() {
    let rules = Rules {
        counts_union: false,
        ..Rules::ALL
    };
    assert_found(rules, "I1");
}

#[test]
fn without_members_out_of_reach_an_isolated_master_acknowledges_what_is_lost() {
    let rules = Rules {
        counts_unreachable: false,
        ..Rules::ALL
    };
    assert_found(rules, "I1");
}

#[test]
fn with_offsets_kept_over_a_truncation_two_messages_share_one_or_leave_a_gap() {
    let rules = Rules {
        offset_from_log: false,
        ..Rules::ALL
    };
    assert_found(rules, "I4");
}

#[test]
fn with_a_member_elected_that_lost_its_tail_an_acknowledged_message_is_lost() {
    let rules = Rules {
        verifies_unclean: false,
        ..Rules::ALL
    };
    assert_found(rules, "I1");
}

#[test]
fn without_evidence_a_member_from_an_older_copy_loses_an_acknowledged_message() {
    // Case A1.
    let rules = Rules {
        elects_by_evidence: false,
        ..Rules::ALL
    };
    assert_found(rules, "I1");
}
