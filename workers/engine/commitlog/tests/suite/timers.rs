//! Messages that wait for a time: delivered in time, in order and once, whatever happens meanwhile.

use std::collections::HashSet;
use std::fs;

use regent_commitlog::{
    NewMessage, Passage, Store, StoreConfig, TimerProgress, TimerTarget, property_entries,
};

use crate::support::*;

const TIMERS: &str = "rmq_sys_wheel_timer";
/// The beginning of a slot.
const START_MS: i64 = NOW_MS;
const DAY_MS: i64 = 86_400_000;

fn timer_config(dir: &std::path::Path) -> StoreConfig {
    let mut config = config(dir);
    // Each file has room for four entries.
    config.timer_log_file_size_bytes = 256;
    config
}

fn open_timers(dir: &std::path::Path) -> Store {
    Store::open(timer_config(dir), NOW_MS).unwrap()
}

/// A message of the timer topic that waits in the slot at a time.
fn wait_for(store: &Store, slot_ms: i64, body: &str) -> u64 {
    wait_as(store, slot_ms, body, &[("UNIQ_KEY", body)], START_MS)
}

fn wait_as(store: &Store, slot_ms: i64, body: &str, more: &[(&str, &str)], now_ms: i64) -> u64 {
    wait_in(store, (slot_ms, 3), body, more, now_ms)
}

fn wait_in(
    store: &Store,
    (slot_ms, queue_id): (i64, i32),
    body: &str,
    more: &[(&str, &str)],
    now_ms: i64,
) -> u64 {
    let (slot, queue) = (slot_ms.to_string(), queue_id.to_string());
    let own = [
        ("REAL_TOPIC", "t"),
        ("REAL_QID", &queue),
        ("TIMER_OUT_MS", &slot),
    ];
    let properties: String = own
        .iter()
        .chain(more)
        .map(|(name, value)| format!("{name}\u{1}{value}\u{2}"))
        .collect();
    let message = NewMessage {
        properties: properties.as_bytes(),
        ..NewMessage::new(TIMERS, 0, body.as_bytes())
    };
    let appended = store.writer().unwrap().append(&message, now_ms).unwrap();
    appended.log_position
}

fn wait_of(store: &Store, topic: &str, slot_ms: i64) {
    let properties =
        format!("REAL_TOPIC\u{1}{topic}\u{2}REAL_QID\u{1}3\u{2}TIMER_OUT_MS\u{1}{slot_ms}\u{2}");
    let message = NewMessage {
        properties: properties.as_bytes(),
        ..NewMessage::new(TIMERS, 0, b"m")
    };
    store.writer().unwrap().append(&message, START_MS).unwrap();
}

fn cancel(store: &Store, slot_ms: i64, key: &str) {
    let named = format!("t+{key}");
    let more = [("TIMER_DEL_UNIQKEY", named.as_str()), ("UNIQ_KEY", key)];
    wait_as(store, slot_ms, "0", &more, START_MS);
}

fn anywhere((_, queue_id): &(String, i32)) -> Option<TimerTarget> {
    Some(TimerTarget {
        queue_id: *queue_id,
        void_before: 0,
    })
}

fn lead(store: &Store) {
    store.lead_timers(Some(TimerProgress::default()), HashSet::new(), START_MS);
}

/// Takes all that is there onto the wheel.
fn follow(store: &Store) {
    while store.follow_timers(3).unwrap().1 > 0 {}
}

/// Takes all that is there onto the wheel, and delivers what is due, in batches of two.
fn deliver(store: &Store, now_ms: i64) {
    follow(store);
    while let Some(due) = store.due_timers(now_ms, 2, 1 << 20).unwrap() {
        let delivered = store
            .deliver_timers(&due, anywhere, Passage::holding(), now_ms)
            .unwrap();
        assert!(delivered.failure.is_none(), "{:?}", delivered.failure);
        follow(store);
    }
}

fn delivered(store: &Store) -> Vec<String> {
    bodies_of(store, 3)
}

fn bodies_of(store: &Store, queue_id: i32) -> Vec<String> {
    let messages = read_all(store, "t", queue_id).into_iter();
    messages
        .map(|(_, body)| String::from_utf8(body).unwrap())
        .collect()
}

/// What a broker does that takes over a log: the progress of a record, and the copies behind it.
fn lead_from(store: &Store, progress: TimerProgress, position: u64, now_ms: i64) {
    let copied = store.copied_positions(TIMERS, position).unwrap();
    store.lead_timers(Some(progress), copied.into_iter().collect(), now_ms);
}

#[test]
fn a_message_is_delivered_when_its_slot_is_over_and_not_before() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    append(&store, "other", 0, b"no timer");
    let origin = wait_for(&store, START_MS + 2000, "m");
    lead(&store);

    deliver(&store, START_MS + 2999);
    let early = delivered(&store);
    deliver(&store, START_MS + 3000);

    assert_eq!(early, Vec::<String>::new());
    let (_, records) = read(&store, "t", 3, 0);
    let record = split(&records)[0];
    assert_eq!(record.body, b"m");
    assert_eq!(record.prepared_transaction_offset.cast_unsigned(), origin);
    let names: Vec<_> = property_entries(record.properties)
        .map(|one| one.0)
        .collect();
    for name in [
        "REAL_TOPIC",
        "TIMER_OUT_MS",
        "TIMER_ENQUEUE_MS",
        "TIMER_DEQUEUE_MS",
    ] {
        assert!(names.contains(&name.as_bytes()), "{name}");
    }
}

#[test]
fn messages_come_by_slot_and_within_one_in_the_order_of_the_log() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    for (slot, body) in [(5, "e"), (1, "a"), (1, "b"), (3, "d"), (1, "c")] {
        wait_for(&store, START_MS + slot * 1000, body);
    }
    lead(&store);

    deliver(&store, START_MS + 60_000);

    assert_eq!(delivered(&store), ["a", "b", "c", "d", "e"]);
}

#[test]
fn a_message_whose_slot_has_passed_comes_at_once() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    wait_for(&store, START_MS, "first");
    lead(&store);
    deliver(&store, START_MS + 10_000);

    wait_for(&store, START_MS + 4000, "late");
    deliver(&store, START_MS + 10_000);

    assert_eq!(delivered(&store), ["first", "late"]);
}

#[test]
fn nothing_is_delivered_twice_or_lost_after_a_restart_at_any_batch() {
    for stopped_after in 0..6 {
        for is_clean in [true, false] {
            let dir = tempdir();
            let store = open_timers(dir.path());
            append(&store, "other", 0, b"begins the log");
            for body in ["a", "b", "c", "d", "e"] {
                wait_for(&store, START_MS + 1000, body);
            }
            wait_for(&store, START_MS + 5000, "later");
            lead(&store);
            follow(&store);
            let (progress, _) = store.timer_progress().unwrap();
            let recorded_at = store.max_position();
            for _ in 0..stopped_after {
                if let Some(due) = store.due_timers(START_MS + 2000, 1, 1 << 20).unwrap() {
                    store
                        .deliver_timers(&due, anywhere, Passage::holding(), START_MS + 2000)
                        .unwrap();
                }
            }
            if is_clean {
                store.close().unwrap();
            }
            drop(store);

            let store = open_timers(dir.path());
            lead_from(&store, progress, recorded_at, START_MS + 3000);
            deliver(&store, START_MS + 3000);

            assert_eq!(delivered(&store), ["a", "b", "c", "d", "e"]);
            deliver(&store, START_MS + 6000);
            assert_eq!(delivered(&store)[5..], ["later"]);
        }
    }
}

#[test]
fn a_record_within_a_slot_says_how_far_that_is() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    append(&store, "other", 0, b"begins the log");
    for body in ["a", "b", "c"] {
        wait_for(&store, START_MS + 1000, body);
    }
    lead(&store);
    follow(&store);
    let due = store.due_timers(START_MS + 2000, 2, 1 << 20).unwrap();
    store
        .deliver_timers(&due.unwrap(), anywhere, Passage::holding(), START_MS + 2000)
        .unwrap();
    let (progress, is_whole) = store.timer_progress().unwrap();
    assert!(is_whole);
    let recorded_at = store.max_position();
    drop(store);

    let store = open_timers(dir.path());
    lead_from(&store, progress, recorded_at, START_MS + 2000);
    deliver(&store, START_MS + 2000);

    assert_eq!(delivered(&store), ["a", "b", "c"]);
}

#[test]
fn a_late_message_that_no_record_covers_is_not_lost() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    append(&store, "other", 0, b"begins the log");
    wait_for(&store, START_MS, "first");
    lead(&store);
    deliver(&store, START_MS + 10_000);
    let (progress, _) = store.timer_progress().unwrap();
    let recorded_at = store.max_position();
    wait_for(&store, START_MS + 4000, "late");
    follow(&store);
    drop(store);

    let store = open_timers(dir.path());
    lead_from(&store, progress, recorded_at, START_MS + 10_000);
    deliver(&store, START_MS + 10_000);

    assert_eq!(delivered(&store), ["first", "late"]);
}

#[test]
fn the_wheel_is_made_from_the_log_alone_if_its_files_are_gone() {
    for gone in ["timerwheel", "timerlog", "config"] {
        let dir = tempdir();
        let store = open_timers(dir.path());
        for at in 0..20 {
            wait_for(&store, START_MS + at * 1000, &format!("{at:02}"));
        }
        follow(&store);
        store.flush_timers(START_MS).unwrap();
        store.close().unwrap();
        drop(store);
        let path = dir.path().join(gone);
        if path.is_dir() {
            fs::remove_dir_all(path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }

        let store = open_timers(dir.path());
        lead(&store);
        deliver(&store, START_MS + 60_000);

        let wanted: Vec<_> = (0..20).map(|at| format!("{at:02}")).collect();
        assert_eq!(delivered(&store), wanted, "without {gone}");
    }
}

#[test]
fn a_cut_forgets_the_messages_behind_it() {
    let dir = tempdir();
    let mut store = open_timers(dir.path());
    for at in 0..9 {
        wait_for(&store, START_MS + at % 2 * 1000, &format!("kept {at}"));
    }
    let cut_at = store.max_position();
    for at in 0..9 {
        wait_for(&store, START_MS + at % 2 * 1000, &format!("cut {at}"));
    }
    follow(&store);
    store.flush_timers(START_MS).unwrap();

    store.truncate_to(cut_at).unwrap();
    wait_for(&store, START_MS, "new");
    lead(&store);
    deliver(&store, START_MS + 60_000);

    let bodies = delivered(&store);
    assert_eq!(bodies.len(), 10);
    assert!(
        !bodies.iter().any(|body| body.starts_with("cut")),
        "{bodies:?}"
    );
    assert!(bodies.contains(&"new".to_owned()));
}

#[test]
fn a_cancelled_message_is_not_delivered_and_others_are() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    wait_for(&store, START_MS + 1000, "one");
    wait_for(&store, START_MS + 1000, "two");
    cancel(&store, START_MS + 1000, "one");
    wait_for(&store, START_MS + 2000, "one in another slot");
    follow(&store);
    assert_eq!(store.timers_at(START_MS + 1000), 1);
    assert_eq!(store.timer_status(START_MS).waiting_count, 2);
    lead(&store);

    deliver(&store, START_MS + 60_000);

    assert_eq!(delivered(&store), ["two", "one in another slot"]);
    assert_eq!(store.timer_status(START_MS).waiting_count, 0);
}

#[test]
fn a_message_beyond_the_window_is_written_again_and_comes_in_time() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    let due_ms = START_MS + 5 * DAY_MS;
    append(&store, "other", 0, b"begins the log");
    wait_for(&store, due_ms, "far");
    cancel(&store, due_ms, "none");
    lead(&store);
    for hour in 0..5 * 24 {
        let now_ms = START_MS + hour * 3_600_000;
        append_at(&store, "other", 0, b"time passes", now_ms);
        deliver(&store, now_ms);
    }
    assert_eq!(delivered(&store), Vec::<String>::new());

    deliver(&store, due_ms + 1000);

    let (_, records) = read(&store, "t", 3, 0);
    let record = split(&records)[0];
    let rolls = property_entries(record.properties).find(|(name, _)| *name == b"TIMER_ROLL_TIMES");
    assert_eq!(rolls.unwrap().1, b"2");
    assert_eq!(delivered(&store), ["far"]);
}

#[test]
fn messages_of_one_place_on_the_wheel_wait_for_each_other() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    let turn_ms = 14 * DAY_MS;
    append(&store, "other", 0, b"begins the log");
    wait_for(&store, START_MS, "first");
    follow(&store);
    wait_as(
        &store,
        START_MS + turn_ms,
        "one turn later",
        &[],
        START_MS + turn_ms,
    );
    assert_eq!(
        store.follow_timers(3).unwrap(),
        (0, 0),
        "it has no place yet"
    );
    lead(&store);

    deliver(&store, START_MS + turn_ms + 1000);

    assert_eq!(delivered(&store), ["first", "one turn later"]);
}

/// Delivers all that is due, but nothing to one queue.
fn deliver_except(store: &Store, closed: i32, may_hold: bool, now_ms: i64) -> bool {
    follow(store);
    while let Some(due) = store.due_timers(now_ms, 2, 1 << 20).unwrap() {
        let open = |queue: &(String, i32)| anywhere(queue).filter(|it| it.queue_id != closed);
        let passage = Passage {
            may_hold,
            ..Passage::default()
        };
        let delivered = store.deliver_timers(&due, open, passage, now_ms).unwrap();
        if delivered.is_stuck {
            return false;
        }
    }
    true
}

/// Lets all that is due pass, of which some is gone, at a broker that appends nothing.
fn pass(store: &Store, gone: &[u64], now_ms: i64) -> usize {
    follow(store);
    let mut held_count = 0;
    while let Some(due) = store.due_timers(now_ms, 2, 1 << 20).unwrap() {
        let passage = Passage {
            may_hold: true,
            gone: gone.iter().copied().collect(),
            appends_none: true,
        };
        let passed = store
            .deliver_timers(&due, |_| None, passage, now_ms)
            .unwrap();
        held_count = passed.held_count;
    }
    held_count
}

#[test]
fn messages_that_are_gone_pass_and_the_others_are_held_where_nothing_is_appended() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    append(&store, "other", 0, b"begins the log");
    let first = wait_for(&store, START_MS, "first");
    let second = wait_for(&store, START_MS, "second");
    let end = store.max_position();
    lead(&store);

    assert_eq!(pass(&store, &[second], START_MS + 1000), 1, "one is held");
    assert_eq!(store.timer_progress(), None, "the record stays");
    assert_eq!(pass(&store, &[first], START_MS + 1000), 0);

    assert!(store.timer_progress().is_some());
    assert_eq!(store.max_position(), end, "nothing is appended");
}

#[test]
fn a_message_for_a_later_turn_of_the_wheel_waits_where_nothing_is_appended() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    append(&store, "other", 0, b"begins the log");
    wait_for(&store, START_MS + 3 * DAY_MS, "rolled");
    let end = store.max_position();
    lead(&store);

    assert_eq!(pass(&store, &[], START_MS + 2 * DAY_MS + 1000), 1);
    assert_eq!(store.max_position(), end);

    // As its master, it goes on to the later turn.
    store.stop_timers();
    lead(&store);
    deliver(&store, START_MS + 3 * DAY_MS + 1000);
    assert_eq!(delivered(&store), ["rolled"]);
}

/// Messages of two queues, in two slots.
fn two_queues(store: &Store) {
    append(store, "other", 0, b"begins the log");
    for (slot_ms, queue_id, body) in [
        (0, 3, "a"),
        (0, 4, "b"),
        (0, 3, "c"),
        (1000, 3, "d"),
        (1000, 4, "e"),
    ] {
        wait_in(store, (START_MS + slot_ms, queue_id), body, &[], START_MS);
    }
    lead(store);
}

#[test]
fn messages_pass_those_of_a_queue_that_takes_none_and_the_order_of_a_queue_stays() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    two_queues(&store);

    assert!(deliver_except(&store, 3, true, START_MS + 1000));
    assert_eq!(bodies_of(&store, 4), ["b"]);
    assert_eq!(store.timer_status(START_MS).waiting_count, 4);
    assert!(deliver_except(&store, 3, true, START_MS + 60_000));
    let passed = bodies_of(&store, 4);
    assert_eq!(store.timer_status(START_MS).waiting_count, 3);
    // Nothing due: the next call tries those that are held.
    deliver(&store, START_MS + 60_000);

    assert_eq!(passed, ["b", "e"]);
    assert_eq!(bodies_of(&store, 3), ["a", "c", "d"]);
    assert_eq!(store.timer_status(START_MS).waiting_count, 0);
}

#[test]
fn another_master_delivers_held_messages_and_the_rest_once() {
    for is_settled_again in [false, true] {
        let dir = tempdir();
        let store = open_timers(dir.path());
        two_queues(&store);
        follow(&store);
        let (progress, _) = store.timer_progress().unwrap();
        let recorded_at = store.max_position();
        deliver_except(&store, 3, true, START_MS + 1000);
        assert_eq!(store.timer_progress(), None, "the record stays");
        if is_settled_again {
            deliver(&store, START_MS + 1000);
            assert!(store.timer_progress().is_some());
        }
        drop(store);

        let store = open_timers(dir.path());
        lead_from(&store, progress, recorded_at, START_MS + 1000);
        deliver(&store, START_MS + 60_000);

        assert_eq!(bodies_of(&store, 3), ["a", "c", "d"]);
        assert_eq!(bodies_of(&store, 4), ["b", "e"]);
    }
}

#[test]
fn a_message_that_may_not_be_held_holds_up_what_follows() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    two_queues(&store);

    assert!(!deliver_except(&store, 3, false, START_MS + 60_000));
    let waiting = bodies_of(&store, 4);
    deliver(&store, START_MS + 60_000);

    assert_eq!(waiting, Vec::<String>::new());
    assert_eq!(bodies_of(&store, 3), ["a", "c", "d"]);
    assert_eq!(bodies_of(&store, 4), ["b", "e"]);
}

#[test]
fn held_messages_are_tried_though_others_are_stuck_behind_them() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    two_queues(&store);
    deliver_except(&store, 3, true, START_MS + 1000);

    // The message for queue 3 may not be held, but those before it are tried at each turn.
    assert!(!deliver_except(&store, 3, false, START_MS + 60_000));
    deliver(&store, START_MS + 60_000);

    assert_eq!(bodies_of(&store, 3), ["a", "c", "d"]);
    assert_eq!(bodies_of(&store, 4), ["b", "e"]);
}

#[test]
fn the_longest_precision_works_with_the_longest_window() {
    let dir = tempdir();
    let mut config = timer_config(dir.path());
    config.timer_precision_ms = 60_000;
    config.timer_window_steps = 604_800;
    let store = Store::open(config, NOW_MS).unwrap();
    let due_ms = START_MS + 40 * DAY_MS;
    append(&store, "other", 0, b"begins the log");
    wait_for(&store, due_ms, "far");
    lead(&store);
    for day in 0..40 {
        append_at(&store, "other", 0, b"time passes", START_MS + day * DAY_MS);
        deliver(&store, START_MS + day * DAY_MS);
    }
    let early = delivered(&store);

    deliver(&store, due_ms + 60_000);

    assert_eq!(early, Vec::<String>::new());
    assert_eq!(delivered(&store), ["far"]);
}

#[test]
fn a_message_to_a_topic_that_was_deleted_since_is_discarded() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    wait_for(&store, START_MS, "m");
    lead(&store);
    store.follow_timers(3).unwrap();
    let due = store
        .due_timers(START_MS + 1000, 2, 1 << 20)
        .unwrap()
        .unwrap();
    let target = |_: &(String, i32)| {
        Some(TimerTarget {
            queue_id: 3,
            void_before: 1,
        })
    };

    let done = store
        .deliver_timers(&due, target, Passage::holding(), START_MS + 1000)
        .unwrap();

    assert_eq!(done.discarded.len(), 1);
    assert!(
        store
            .due_timers(START_MS + 1000, 2, 1 << 20)
            .unwrap()
            .is_none()
    );
    assert_eq!(delivered(&store), Vec::<String>::new());
}

#[test]
fn a_batch_of_a_former_term_is_not_delivered() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    wait_for(&store, START_MS, "m");
    lead(&store);
    store.follow_timers(3).unwrap();
    let due = store
        .due_timers(START_MS + 1000, 2, 1 << 20)
        .unwrap()
        .unwrap();

    store.stop_timers();
    store
        .deliver_timers(&due, anywhere, Passage::holding(), START_MS + 1000)
        .unwrap();
    lead(&store);
    store
        .deliver_timers(&due, anywhere, Passage::holding(), START_MS + 1000)
        .unwrap();

    assert_eq!(delivered(&store), Vec::<String>::new());
    deliver(&store, START_MS + 1000);
    assert_eq!(delivered(&store), ["m"]);
}

#[test]
fn files_of_the_timer_log_expire_with_the_records_they_point_to() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    for at in 0..200 {
        wait_for(&store, START_MS + at * 1000, &format!("{at:03}"));
    }
    follow(&store);
    store.flush_timers(START_MS).unwrap();
    let files = || fs::read_dir(dir.path().join("timerlog")).unwrap().count();
    let before = files();
    store.flush().unwrap();

    store.expire(&too_much(), START_MS).unwrap();

    assert!(files() < before / 2, "{} of {before}", files());
    drop(store);
    let store = open_timers(dir.path());
    lead(&store);
    deliver(&store, START_MS + 600_000);
    let bodies = delivered(&store);
    assert_eq!(bodies.last().unwrap(), "199");
    assert!(bodies.len() < 100);
}

#[test]
fn waiting_messages_are_listed_by_the_hour_in_which_they_are_due() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    let hour_ms = START_MS - START_MS.rem_euclid(3_600_000) + 3_600_000;
    for (slot_ms, body) in [(0, "a"), (3_599_000, "b"), (3_600_000, "c")] {
        wait_for(&store, hour_ms + slot_ms, body);
    }
    follow(&store);

    assert_eq!(
        store.timer_status(START_MS).by_hour,
        [(hour_ms, 2), (hour_ms + 3_600_000, 1)]
    );
}

#[test]
fn waiting_messages_are_listed_by_minute_for_an_hour_and_late_ones_apart() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    let minute_ms = START_MS - START_MS.rem_euclid(60_000) + 60_000;
    let slots = [
        ("late", 1000),
        ("now", 5000),
        ("same", 59_000),
        ("last", 3_659_000),
        ("later", 3_660_000),
    ];
    for (body, slot_ms) in slots {
        wait_for(&store, minute_ms + slot_ms, body);
    }
    follow(&store);

    let status = store.timer_status(minute_ms + 5000);

    assert_eq!(
        (status.overdue_count, status.by_minute),
        (1, vec![(minute_ms, 2), (minute_ms + 3_600_000, 1)])
    );
    let due_ms = (minute_ms + 2000, minute_ms + 3_661_000);
    assert_eq!((status.due_ms, status.waiting_count), (Some(due_ms), 5));
}

#[test]
fn waiting_messages_are_counted_by_topic_without_those_that_are_cancelled_or_delivered() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    wait_for(&store, START_MS + 1000, "delivered");
    wait_for(&store, START_MS + 5000, "kept");
    wait_for(&store, START_MS + 5000, "cancelled");
    cancel(&store, START_MS + 5000, "cancelled");
    wait_of(&store, "other", START_MS + 5000);
    wait_of(&store, "other", START_MS + 3 * DAY_MS);
    wait_of(&store, "none", START_MS + 1000);
    lead(&store);
    deliver(&store, START_MS + 2000);

    let counts: Vec<_> = store
        .timers_by_topic()
        .into_iter()
        .map(|it| (it.topic, it.waiting_count, it.rolled_count))
        .collect();

    assert_eq!(counts, [("other".to_owned(), 2, 1), ("t".to_owned(), 1, 0)]);
    assert_eq!(store.timer_status(START_MS).waiting_count, 3);
}

#[test]
fn a_message_that_is_held_is_counted_with_its_topic() {
    let dir = tempdir();
    let store = open_timers(dir.path());
    two_queues(&store);
    assert!(deliver_except(&store, 3, true, START_MS + 9000));

    let held: u64 = store
        .timers_by_topic()
        .iter()
        .map(|it| it.waiting_count)
        .sum();

    assert_eq!(held, store.timer_status(START_MS + 9000).waiting_count);
    assert!(held > 0);
}
