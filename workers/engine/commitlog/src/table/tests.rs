#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;

use std::path::{Path, PathBuf};

use super::*;
use crate::files::segment_name;
use crate::message::QueueEntry;

fn table(dir: &Path) -> QueueTable {
    QueueTable::new(QueueHome::new(dir.join("queues"), 2_000), true)
}

/// Opens the topic and counts one message; returns how many it has now.
fn open(table: &mut QueueTable, name: &str) -> u64 {
    let mut open = table.open_topic(name).unwrap();
    assert_eq!(&*open.topic.name, name);
    open.count(1, 0);
    open.topic.traffic.get().message_count
}

#[test]
fn a_topic_opened_after_another_was_removed_is_not_mistaken_for_it() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = table(dir.path());
    assert_eq!((open(&mut table, "a"), open(&mut table, "a")), (1, 2));

    table.remove_topic("a").unwrap();

    // One of a table this small takes the place of the removed one, another stays away from it.
    for name in ["b", "c", "d", "a"] {
        assert_eq!((open(&mut table, name), open(&mut table, name)), (1, 2));
    }
    assert_eq!(open(&mut table, "b"), 3);
}

#[test]
fn each_of_many_topics_is_found_while_the_table_grows_and_shrinks() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = table(dir.path());
    let mut expected = AHashMap::new();
    let mut random = fastrand::Rng::with_seed(5);
    for _ in 0..20_000 {
        let name = random.u16(..300).to_string();
        if random.u8(..4) == 0 {
            table.remove_topic(&name).unwrap();
            expected.remove(&name);
        } else {
            let count = expected.entry(name.clone()).or_insert(0);
            for _ in 0..random.u64(1..4) {
                *count += 1;
                assert_eq!(open(&mut table, &name), *count);
            }
        }
    }
    assert_eq!(table.shared().traffic().len(), expected.len());
}

#[test]
fn who_still_knows_a_removed_queue_removes_no_file_of_the_one_that_follows() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = table(dir.path());
    let fill = |table: &mut QueueTable| {
        let mut topic = table.open_topic("a").unwrap();
        let mut queue = topic.reserve(0, 250).unwrap();
        let entry = |number| QueueEntry {
            log_position: number,
            size: 100,
            tags_code: 0,
        };
        (0..250).for_each(|number| queue.push(&entry(number)));
        table.shared().find("a", 0).unwrap()
    };
    let first_file = dir.path().join("queues/a/0").join(segment_name(0));
    let before_file = |queue: &SharedQueue| queue.remove_expired(u64::MAX).unwrap();

    let removed = fill(&mut table);
    table.remove_topic("a").unwrap();
    let removed_again = fill(&mut table);
    assert_eq!(before_file(&removed), 0);
    assert!(first_file.exists());

    table.remove_queues_before("a", u64::MAX).unwrap();
    let restarted = fill(&mut table);
    assert_eq!(before_file(&removed_again), 0);
    assert!(first_file.exists());

    let mut topic = table.open_topic("a").unwrap();
    topic.reserve_at((0, 5), 1_000, || 0).unwrap();
    assert_eq!(before_file(&restarted), 0);
    assert!(first_file.exists());
}

fn push(table: &mut QueueTable, count: u64) -> Arc<SharedQueue> {
    for _ in 0..count {
        let mut topic = table.open_topic("a").unwrap();
        let mut queue = topic.reserve(0, 1).unwrap();
        queue.push(&QueueEntry {
            log_position: 0,
            size: 100,
            tags_code: 0,
        });
    }
    table.shared().find("a", 0).unwrap()
}

fn is_touched(table: &mut QueueTable, queue: &Arc<SharedQueue>) -> bool {
    let touched = table.take_dirty();
    touched.iter().any(|touched| Arc::ptr_eq(touched, queue))
}

/// A directory of a table's that is neither moved nor removed while this lives.
struct Held {
    dir: PathBuf,
    removed: PathBuf,
}

impl Held {
    fn new(root: &Path, name: &str) -> Self {
        let held = Self {
            dir: root.join(name),
            removed: root.join("removed"),
        };
        fs::rename(&held.dir, held.aside()).unwrap();
        for path in [&held.dir, &held.removed] {
            fs::write(path, "no directory").unwrap();
        }
        held
    }

    fn aside(&self) -> PathBuf {
        self.dir.with_extension("aside")
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        for path in [&self.dir, &self.removed] {
            fs::remove_file(path).unwrap();
        }
        fs::rename(self.aside(), &self.dir).unwrap();
    }
}

#[test]
fn queues_that_could_not_be_removed_are_flushed_and_expire_as_before() {
    for is_whole in [true, false] {
        let dir = tempfile::tempdir().unwrap();
        let mut table = table(dir.path());
        let queue = push(&mut table, 150);
        if !is_whole {
            let mut topic = table.open_topic("a").unwrap();
            let mut other = topic.reserve(1, 1).unwrap();
            other.push(&QueueEntry {
                log_position: 500,
                size: 100,
                tags_code: 0,
            });
        }
        let name = if is_whole { "queues/a" } else { "queues/a/0" };

        let held = Held::new(dir.path(), name);
        table.remove_queues_before("a", 400).unwrap_err();
        drop(held);

        assert!(is_touched(&mut table, &queue), "{is_whole}");
        push(&mut table, 1);
        assert!(is_touched(&mut table, &queue), "{is_whole}");
        assert_eq!(queue.remove_expired(u64::MAX).unwrap(), 1, "{is_whole}");
    }
}

#[test]
fn a_queue_is_flushed_though_not_all_fillers_found_room() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = table(dir.path());
    let queue = push(&mut table, 1);
    table.take_dirty();
    let in_the_way = dir.path().join("queues/a/0").join(segment_name(2_000));
    fs::create_dir(&in_the_way).unwrap();

    let mut topic = table.open_topic("a").unwrap();
    topic.reserve_at((0, 150), 1 << 30, || 0).unwrap_err();

    assert_eq!(queue.max_offset(), 100);
    assert!(is_touched(&mut table, &queue));
}

#[test]
fn a_queue_that_could_not_be_made_again_is_made_by_the_next_attempt() {
    let dir = tempfile::tempdir().unwrap();
    let mut table = table(dir.path());
    let before = push(&mut table, 5);
    let restart = |table: &mut QueueTable| {
        let mut topic = table.open_topic("a").unwrap();
        topic.reserve_at((0, 2), 1 << 20, || 0).map(drop)
    };

    let in_the_way = dir.path().join("queues/a/0.new");
    fs::write(&in_the_way, "no directory").unwrap();
    restart(&mut table).unwrap_err();
    fs::remove_file(&in_the_way).unwrap();

    assert_eq!(before.max_offset(), 5);
    restart(&mut table).unwrap();
    let after = push(&mut table, 1);
    assert_eq!((after.min_offset(), after.max_offset()), (0, 3));
}
