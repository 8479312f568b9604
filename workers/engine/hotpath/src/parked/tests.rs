use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::pull::{Grant, PullFilter, PullKind};

fn granted(group: &str, topic: &str) -> Arc<Granted> {
    let kind = PullKind {
        code: 11,
        group,
        topic,
        filter: PullFilter::Registered { version: 1 },
    };
    let grant = Grant {
        read_queue_count: 8,
        filter: None,
        count_max: 32,
        bytes_max: 1 << 18,
        suggested_broker_id: 0,
        parked_ms: None,
        moves_consumers: true,
        facts_version: 0,
        leading: None,
        pop: None,
    };
    Arc::new(Granted::new(&kind, grant))
}

/// A pull that its opaque names.
fn pull(opaque: i32, connection: u64, queue_id: i32, offset: u64) -> ParkedPull {
    ParkedPull {
        number: 0,
        connection,
        opaque,
        encoding: Encoding::Json,
        header: Box::default(),
        granted: granted("g", "T"),
        queue_id,
        led: None,
        offset,
        count_max: 32,
        deadline_ms: 10_000,
        ends_ms: 10_000,
        is_pop: false,
        adds_delta: true,
        is_over: false,
    }
}

/// Serve every turn: the connection of each, and the opaques of its ready pulls.
fn turns(parked: &mut ParkedPulls) -> Vec<(u64, Vec<i32>)> {
    let mut turns = Vec::new();
    while let Some(connection) = parked.next_turn() {
        let ready = std::iter::from_fn(|| parked.take_ready(connection));
        turns.push((connection, ready.map(|pull| pull.opaque).collect()));
    }
    turns
}

#[test]
fn a_message_wakes_the_pulls_before_it_in_the_order_they_came() {
    let mut parked = ParkedPulls::default();
    for (opaque, connection, queue_id, offset) in [
        (1, 7, 0, 5),
        (2, 8, 0, 4),
        (3, 7, 0, 5),
        (4, 7, 1, 5),
        (5, 7, 0, 6),
    ] {
        parked.park(pull(opaque, connection, queue_id, offset));
    }

    assert!(parked.wake("T", 0, 6));

    assert_eq!(turns(&mut parked), [(7, vec![1, 3]), (8, vec![2])]);
    assert_eq!(parked.count(), 2);
    assert!(!parked.wake("T", 2, 6) && !parked.wake("U", 0, 6));
}

#[test]
fn a_pull_that_waits_again_behind_a_message_is_not_woken_by_it() {
    let mut parked = ParkedPulls::default();
    parked.park(pull(1, 7, 0, 5));
    parked.wake("T", 0, 6);
    let connection = parked.next_turn().expect("a pull is ready");
    let mut first = parked.take_ready(connection).expect("it is");
    first.offset = 6;

    parked.park(first);

    assert_eq!(turns(&mut parked), []);
    parked.wake("T", 0, 7);
    assert_eq!(turns(&mut parked), [(7, vec![1])]);
}

#[test]
fn a_deadline_ends_the_wait_and_the_next_one_is_known() {
    let mut parked = ParkedPulls::default();
    for (opaque, deadline_ms) in [(1, 1_000), (2, 1_050), (3, 1_100)] {
        let one = pull(opaque, 7, 0, 5);
        let ends_ms = deadline_ms;
        parked.park(ParkedPull {
            deadline_ms,
            ends_ms,
            ..one
        });
    }

    assert_eq!(parked.next_deadline_ms(), Some(1_100));
    assert!(!parked.expire(1_099));
    assert!(parked.expire(1_100));

    assert_eq!(parked.next_deadline_ms(), Some(1_200));
    assert_eq!(parked.next_turn(), Some(7));
    let over = [parked.take_ready(7), parked.take_ready(7)];
    let over = over.map(|pull| pull.map(|it| (it.opaque, it.is_over)));
    assert_eq!(over, [Some((1, true)), Some((2, true))]);
    assert_eq!(parked.count(), 1);
}

#[test]
fn a_closed_connection_takes_its_pulls_along() {
    let mut parked = ParkedPulls::default();
    for (opaque, connection) in [(1, 7), (2, 8), (3, 7)] {
        parked.park(pull(opaque, connection, 0, 5));
    }
    parked.wake("T", 0, 6);
    assert_eq!(parked.next_turn(), Some(7));
    parked.park(pull(4, 7, 1, 5));

    parked.drop_connection(7);

    assert_eq!(parked.count(), 1);
    assert!(!parked.wait_for_turn(7));
    assert_eq!(turns(&mut parked), [(8, vec![2])]);
    assert!(!parked.wake("T", 1, 6));
    assert_eq!(parked.next_deadline_ms(), None);
}

#[test]
fn a_release_takes_the_pulls_of_its_group_and_topic() {
    let mut parked = ParkedPulls::default();
    for (opaque, group, topic) in [(1, "g", "T"), (2, "h", "T"), (3, "g", "U"), (4, "h", "U")] {
        let granted = granted(group, topic);
        let one = pull(opaque, 7, opaque, 5);
        parked.park(ParkedPull { granted, ..one });
    }

    assert!(parked.release_group("g", "T"));
    assert!(!parked.release_group("g", "T"));
    assert_eq!(turns(&mut parked), [(7, vec![1])]);
    assert!(parked.release_topic("T"));
    assert_eq!(turns(&mut parked), [(7, vec![2])]);
    assert!(parked.release_all());
    assert_eq!(parked.count(), 2);
    let mut left = turns(&mut parked).remove(0).1;
    left.sort_unstable();
    assert_eq!(left, [3, 4]);
}

#[test]
fn a_connection_with_many_ready_pulls_leaves_turns_to_others() {
    let mut parked = ParkedPulls::default();
    for opaque in 0..100 {
        parked.park(pull(opaque, 7, 0, 5));
    }
    parked.park(pull(100, 8, 0, 5));
    parked.wake("T", 0, 6);

    let mut order = Vec::new();
    while let Some(connection) = parked.next_turn() {
        order.push(connection);
        for _ in 0..40 {
            parked.take_ready(connection);
        }
        parked.wait_for_turn(connection);
    }

    assert_eq!(order, [7, 8, 7, 7]);
}

#[test]
fn a_burst_becomes_ready_some_at_a_time_and_none_is_lost() {
    let mut parked = ParkedPulls::default();
    let count = i32::try_from(3 * READY_AT_ONCE + 1).expect("few");
    for opaque in 0..count {
        parked.park(pull(opaque, 7, opaque % 3, 5));
    }
    for queue_id in 0..3 {
        parked.wake("T", queue_id, 6);
    }

    let mut sizes = Vec::new();
    let mut seen = BTreeSet::new();
    while parked.next_turn().is_some() {
        let ready: Vec<_> = std::iter::from_fn(|| parked.take_ready(7)).collect();
        sizes.push(ready.len());
        seen.extend(ready.into_iter().map(|pull| pull.opaque));
    }

    assert_eq!(sizes, [READY_AT_ONCE, READY_AT_ONCE, READY_AT_ONCE, 1]);
    assert_eq!(seen, (0..count).collect());
}

#[test]
fn a_connection_and_a_broker_have_room_for_so_many() {
    let mut parked = ParkedPulls::default();
    let mut connection = 0;
    while parked.has_room(&pull(0, connection, 0, 5)) {
        for _ in 0..PARKED_OF_CONNECTION_MAX.min(PARKED_COUNT_MAX - parked.count()) {
            assert!(parked.has_room(&pull(0, connection, 0, 5)));
            parked.park(pull(0, connection, 0, 5));
        }
        assert!(!parked.has_room(&pull(0, connection, 0, 5)));
        connection += 1;
    }

    assert_eq!(parked.count(), PARKED_COUNT_MAX);
    parked.drop_connection(0);
    assert!(parked.has_room(&pull(0, connection, 0, 5)));
}

/// Does to a table and to a plain list the same, and compares.
#[test]
fn the_table_holds_what_a_plain_list_would() {
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..200 {
        let mut parked = ParkedPulls::default();
        // Opaque to connection, queue, offset and deadline.
        let mut waiting: BTreeMap<i32, (u64, i32, u64, i64)> = BTreeMap::new();
        for opaque in 0..100 {
            let (connection, queue_id) = (random.u64(0..3), random.i32(0..3));
            let mut expected = BTreeSet::new();
            match random.u32(0..8) {
                0..=3 => {
                    let (offset, deadline_ms) = (random.u64(0..4), random.i64(0..1_000));
                    let one = pull(opaque, connection, queue_id, offset);
                    let ends_ms = deadline_ms;
                    parked.park(ParkedPull {
                        deadline_ms,
                        ends_ms,
                        ..one
                    });
                    waiting.insert(opaque, (connection, queue_id, offset, deadline_ms));
                }
                4 | 5 => {
                    let max_offset = random.u64(0..5);
                    parked.wake("T", queue_id, max_offset);
                    expected = take(&mut waiting, |it| it.1 == queue_id && it.2 < max_offset);
                }
                6 => {
                    let now_ms = random.i64(0..1_200);
                    parked.expire(now_ms);
                    expected = take(&mut waiting, |it| (it.3 / SLOT_MS + 1) * SLOT_MS <= now_ms);
                }
                _ => {
                    parked.drop_connection(connection);
                    take(&mut waiting, |it| it.0 == connection);
                }
            }

            let ready = turns(&mut parked).into_iter().flat_map(|it| it.1);
            assert_eq!(ready.collect::<BTreeSet<_>>(), expected);
            assert_eq!(parked.count(), waiting.len());
            let next = waiting.values().map(|it| (it.3 / SLOT_MS + 1) * SLOT_MS);
            assert_eq!(parked.next_deadline_ms(), next.min());
        }
    }
}

fn take(
    waiting: &mut BTreeMap<i32, (u64, i32, u64, i64)>,
    takes: impl Fn(&(u64, i32, u64, i64)) -> bool,
) -> BTreeSet<i32> {
    let taken: BTreeSet<_> = waiting
        .iter()
        .filter(|(_, it)| takes(it))
        .map(|(opaque, _)| *opaque)
        .collect();
    waiting.retain(|opaque, _| !taken.contains(opaque));
    taken
}

/// One consumer waits at the queue for ever, and others of groups without number come and go.
#[test]
fn groups_whose_consumers_have_left_a_queue_are_forgotten() {
    let mut parked = ParkedPulls::default();
    let waiting = |connection: u64, group: &str| ParkedPull {
        granted: granted(group, "T"),
        is_pop: true,
        ..pull(1, connection, 0, 0)
    };
    parked.park(waiting(1, "stays"));
    for number in 0..100 {
        parked.park(waiting(2, &number.to_string()));
        assert_eq!(parked.pop_count("T", 0, &number.to_string()), 1);
        parked.drop_connection(2);
    }

    let counts = &parked.topics["T"][&0].pop_counts;
    let groups: Vec<_> = counts.keys().map(|group| &**group).collect();
    assert_eq!(groups, ["stays"]);
}
