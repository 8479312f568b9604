//! Every state that a share queue can be in, with owners that pause, logs that are cut and answers that are
//! lost (queue-ownership.md 7).
//!
//! The states are made by the product's own [`regent_share::Lane`]. With all rules no invariant breaks;
//! without any one of them the search finds how it breaks.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::print_stdout, reason = "it says how much was searched")]

mod lane_log;
mod primary;
mod shared;

use std::collections::VecDeque;
use std::hash::Hash;

use ahash::{AHashSet, RandomState};

/// The rules, each of which can be left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rules {
    /// A record of a former owner is refused (queue-ownership.md 4.6).
    fences: bool,
    /// A client hears of its completion once the record is confirmed (Q13).
    awaits_confirmation: bool,
    /// An accept counts while no other consumer has the message (queue-ownership.md 4.5).
    accepts_late: bool,
}

const ALL: Rules = Rules {
    fences: true,
    awaits_confirmation: true,
    accepts_late: true,
};

/// What can happen in a state.
pub(crate) trait Model: Clone + Hash + Sized {
    /// Each step with the state after it; the fault if the step breaks an invariant.
    fn steps(&self, rules: Rules) -> Vec<(String, Result<Self, &'static str>)>;
}

struct Search {
    state_count: usize,
    found: Option<(Vec<String>, &'static str)>,
}

fn search<M: Model>(first: M, rules: Rules) -> Search {
    let hashers = [1, 2].map(|seed| RandomState::with_seeds(seed, 3, 5, 7));
    let number = |state: &M| {
        let [low, high] = [0, 1].map(|at: usize| u128::from(hashers[at].hash_one(state)));
        high << 64 | low
    };
    let mut seen = AHashSet::from([number(&first)]);
    let mut origins: Vec<(usize, String)> = vec![(0, String::new())];
    let mut frontier = VecDeque::from([(first, 0)]);
    while let Some((state, from)) = frontier.pop_front() {
        for (event, next) in state.steps(rules) {
            let wrong = match next {
                Ok(next) if !seen.insert(number(&next)) => continue,
                Ok(next) => {
                    frontier.push_back((next, origins.len()));
                    None
                }
                Err(wrong) => Some(wrong),
            };
            origins.push((from, event));
            if let Some(wrong) = wrong {
                return Search {
                    state_count: seen.len(),
                    found: Some((story(&origins), wrong)),
                };
            }
        }
    }
    Search {
        state_count: seen.len(),
        found: None,
    }
}

fn story(origins: &[(usize, String)]) -> Vec<String> {
    let (mut steps, mut at) = (Vec::new(), origins.len() - 1);
    while at != 0 {
        let (before, event) = &origins[at];
        steps.push(event.clone());
        at = *before;
    }
    steps.reverse();
    steps
}

#[track_caller]
fn assert_whole(searched: &Search, state_count_min: usize) {
    println!("{} states", searched.state_count);
    assert_eq!(searched.found, None);
    assert!(
        searched.state_count > state_count_min,
        "{}",
        searched.state_count
    );
}

#[track_caller]
fn assert_found(searched: Search, invariant: &str) {
    let (steps, wrong) = searched.found.expect("a fault is found");
    println!(
        "{wrong}, after {} states:\n  {}",
        searched.state_count,
        steps.join("\n  ")
    );
    assert!(wrong.starts_with(invariant), "{wrong}");
}

/// Q9, Q13: no finished message is delivered by any later master.
#[test]
fn with_all_rules_no_invariant_of_the_primary_mode_breaks() {
    assert_whole(&search(primary::State::first(), ALL), 10_000);
}

/// Q63, Q64: owners of another kind hand messages out here, over the same interface.
#[test]
fn with_all_rules_no_invariant_of_the_shared_mode_breaks() {
    assert_whole(&search(shared::State::first(), ALL), 10_000);
}

#[test]
fn without_fencing_a_former_owner_hands_messages_out() {
    let rules = Rules {
        fences: false,
        ..ALL
    };
    assert_found(search(shared::State::first(), rules), "OI-1");
}

#[test]
fn without_the_wait_for_confirmation_a_finished_message_is_delivered() {
    let rules = Rules {
        awaits_confirmation: false,
        ..ALL
    };
    assert_found(search(primary::State::first(), rules), "OI-5");
    assert_found(search(shared::State::first(), rules), "OI-5");
}

#[test]
fn without_the_late_accept_a_message_that_was_finished_in_time_is_delivered_again() {
    let rules = Rules {
        accepts_late: false,
        ..ALL
    };
    assert_found(search(primary::State::first(), rules), "Q9");
    assert_found(search(shared::State::first(), rules), "Q9");
}
