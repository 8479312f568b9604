//! Light queues (`%LMQ%`): queues of records that belong to other topics.

use std::fs;
use std::path::Path;

use regent_commitlog::{Appended, NewMessage, Store, StoreConfig};

use crate::support::{NOW_MS, crash, overwrite, read_all, split, tempdir};

const NAMES: [&str; 3] = ["%LMQ%a", "%LMQ%b", "%LMQ%c"];

fn config(dir: &Path, multi_dispatch_enabled: bool) -> StoreConfig {
    let mut config = crate::support::config(dir);
    config.multi_dispatch_enabled = multi_dispatch_enabled;
    config
}

fn open(dir: &Path, multi_dispatch_enabled: bool) -> Store {
    Store::open(config(dir, multi_dispatch_enabled), NOW_MS).unwrap()
}

fn append(store: &Store, topic: &str, names: &str, offsets: &str, body: &[u8]) -> Appended {
    let properties =
        format!("INNER_MULTI_DISPATCH\u{1}{names}\u{2}INNER_MULTI_QUEUE_OFFSET\u{1}{offsets}\u{2}");
    let mut message = NewMessage::new(topic, 3, body);
    message.properties = properties.as_bytes();
    store.writer().unwrap().append(&message, NOW_MS).unwrap()
}

/// As stock writes them: message n is in one light queue, and each third one also in the last.
fn fill(store: &Store, count: u64) {
    for number in 0..count {
        let body = vec![u8::try_from(number).unwrap(); 200];
        let name = NAMES[usize::try_from(number % 2).unwrap()];
        if number % 3 == 0 {
            let names = format!("{name},%LMQ%c");
            let offsets = format!("{},{}", number / 2, number / 3);
            append(store, "parent", &names, &offsets, &body);
        } else {
            append(store, "parent", name, &(number / 2).to_string(), &body);
        }
    }
}

/// The numbers of the messages of a light queue, in its order.
fn numbers(store: &Store, name: &str) -> Vec<u64> {
    let Some((first, end)) = store.queue_offsets(name, 0) else {
        return Vec::new();
    };
    let mut numbers = Vec::new();
    for offset in first..end {
        let (outcome, records) = crate::support::read(store, name, 0, offset.cast_signed());
        let views = split(&records);
        assert_eq!(outcome.next_offset, offset + views.len() as u64);
        assert_eq!(views[0].topic, b"parent");
        assert_eq!(views[0].queue_offset, u64::from(views[0].body[0]));
        numbers.push(u64::from(views[0].body[0]));
    }
    numbers
}

fn assert_light(store: &Store, count: u64) {
    let those = |wanted: &dyn Fn(u64) -> bool| (0..count).filter(|at| wanted(*at)).collect();
    let expected: [Vec<u64>; 3] = [
        those(&|at| at % 2 == 0),
        those(&|at| at % 2 == 1),
        those(&|at| at % 3 == 0),
    ];
    assert_eq!(NAMES.map(|name| numbers(store, name)), expected);
}

#[test]
fn recovery_makes_light_queues_only_if_it_is_told_to() {
    let dir = tempdir();
    let store = open(dir.path(), false);
    fill(&store, 30);
    let copy = crash(dir.path());

    let without = open(copy.path(), false);
    assert_eq!(without.queues().len(), 1);
    drop(without);

    let with = open(copy.path(), true);
    assert_light(&with, 30);
    assert_eq!(read_all(&with, "parent", 3).len(), 30);
    assert_eq!(with.recovery().records_unqueued, 0);
}

#[test]
fn light_queues_that_exist_are_kept_and_repaired_whatever_the_setting() {
    let dir = tempdir();
    let store = open(dir.path(), false);
    fill(&store, 100);
    drop(store);
    open(dir.path(), true).close().unwrap();
    let files = crate::support::contents(dir.path());
    for is_harmed in [false, true] {
        let copy = crash(dir.path());
        fs::write(copy.path().join("abort"), "1").unwrap();
        if is_harmed {
            let queue = copy.path().join("consumequeue/%LMQ%a/0");
            overwrite(&queue.join("00000000000000000200"), 20, &[0; 60]);
            let lost = copy
                .path()
                .join("consumequeue/%LMQ%b/0/00000000000000000000");
            fs::remove_file(lost).unwrap();
        }

        let recovered = open(copy.path(), false);

        assert_light(&recovered, 100);
        assert_eq!(recovered.recovery().entries_dropped, 0);
        recovered.close().unwrap();
        assert_eq!(crate::support::contents(copy.path()), files);
    }
}

#[test]
fn a_truncation_cuts_light_queues_too() {
    let dir = tempdir();
    let store = open(dir.path(), false);
    fill(&store, 20);
    let cut = store.max_position();
    for number in 20..40 {
        append(&store, "parent", "%LMQ%a", &(number - 10).to_string(), b"x");
    }
    drop(store);
    let mut store = open(dir.path(), true);
    assert_eq!(store.queue_offsets("%LMQ%a", 0), Some((0, 30)));

    store.truncate_to(cut).unwrap();

    assert_light(&store, 20);
    assert_eq!(store.recovery().queues_rebuilt, 0);
}

#[test]
fn what_is_no_light_queue_of_a_record_gets_no_entry() {
    let dir = tempdir();
    let store = open(dir.path(), false);
    for topic in ["%RETRY%group", "rmq_sys_x", "SCHEDULE_TOPIC_XXXX"] {
        append(&store, topic, "%LMQ%a", "0", b"x");
    }
    append(&store, "parent", "plain,%LMQ%x/y,%LMQ%..", "0,0,0", b"x");
    append(&store, "parent", "%LMQ%a,%LMQ%b", "0", b"x");
    append(&store, "parent", "%LMQ%a", "-1", b"x");
    append(&store, "parent", "plain,%LMQ%b", ",0", b"x");
    drop(store);

    let recovered = open(dir.path(), true);

    let names: Vec<_> = recovered
        .queues()
        .into_iter()
        .map(|one| one.topic)
        .collect();
    let own = ["%RETRY%group", "SCHEDULE_TOPIC_XXXX", "parent", "rmq_sys_x"];
    assert_eq!(names[..2], ["%LMQ%..", "%LMQ%b"]);
    assert_eq!(names[2..], own);
}

#[test]
fn a_record_that_does_not_name_the_light_queue_is_not_served_from_it() {
    let dir = tempdir();
    let store = open(dir.path(), false);
    let stray = append(&store, "parent", "%LMQ%b", "0", &[0; 200]);
    fill(&store, 4);
    drop(store);
    open(dir.path(), true).close().unwrap();
    let file = dir
        .path()
        .join("consumequeue/%LMQ%a/0/00000000000000000000");
    overwrite(&file, 0, &stray.log_position.to_be_bytes());
    overwrite(&file, 8, &stray.size.to_be_bytes());
    fs::remove_file(dir.path().join("abort")).ok();

    let store = open(dir.path(), true);

    // Recovery saw the entry: it is that of the record again.
    assert_eq!(numbers_raw(&store), [0, 2]);
    overwrite(&file, 0, &stray.log_position.to_be_bytes());
    overwrite(&file, 8, &stray.size.to_be_bytes());
    let mut records = Vec::new();
    let read = regent_commitlog::QueueRead {
        offset: 0,
        count_max: 1,
        bytes_max: 1 << 20,
        filter: None,
    };
    let error = store.read_queue("%LMQ%a", 0, &read, &mut records);
    assert_eq!(error.unwrap_err().code(), "corrupt");
}

fn numbers_raw(store: &Store) -> Vec<u8> {
    let (_, records) = crate::support::read(store, "%LMQ%a", 0, 0);
    split(&records).iter().map(|view| view.body[0]).collect()
}
