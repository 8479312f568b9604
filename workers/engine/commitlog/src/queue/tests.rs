#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use super::*;
use crate::message::{NewMessage, QueueEntry};
use crate::queue::ahead::QueuesAhead;
use crate::queue_layout::FILLER;
use crate::stored_queue::{QueueFiles, StoredQueue};
use crate::{Store, StoreConfig};

/// Only a failing test takes so long.
const PATIENCE: Duration = Duration::from_secs(20);

fn entry_at(log_position: u64) -> QueueEntry {
    QueueEntry {
        log_position,
        size: 100,
        tags_code: 0,
    }
}

#[test]
fn files_made_for_entries_to_come_do_not_move_the_end_of_what_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let mut queue = QueueWriter::new(dir.path().join("queue"), 5 * ENTRY_BYTES, Vec::new());
    let mut ahead = QueuesAhead::default();
    queue.reserve(12, &mut ahead).unwrap();

    let shared = Arc::clone(queue.shared());
    let flushed = || shared.flushed_bytes.load(Ordering::Relaxed);
    for offset in 0..12 {
        shared.flush().unwrap();
        assert_eq!(shared.end_offset(), offset);
        assert_eq!(flushed(), offset * ENTRY_BYTES);
        queue.push(&entry_at(0));
    }
    queue.reserve(4, &mut ahead).unwrap();
    assert_eq!(shared.end_offset(), 12);
}

#[test]
fn the_file_with_the_last_entry_stays_though_another_was_made_behind_it() {
    let dir = tempfile::tempdir().unwrap();
    let (path, file_size) = (dir.path().join("queue"), 5 * ENTRY_BYTES);
    let mut queue = QueueWriter::new(path.clone(), file_size, Vec::new());
    let mut ahead = QueuesAhead::default();
    for number in 0..10 {
        queue.reserve(1, &mut ahead).unwrap();
        queue.push(&entry_at(100 * number));
    }
    // As for a message that then found no room in the log.
    queue.reserve(1, &mut ahead).unwrap();

    let shared = queue.shared();
    shared.correct_min_offset(u64::MAX);
    assert_eq!(shared.remove_expired(u64::MAX).unwrap(), 1);

    assert_eq!((shared.min_offset(), shared.max_offset()), (10, 10));
    let found = QueueFiles::find(path, file_size, true).unwrap();
    let reopened = StoredQueue::load(found, true).unwrap();
    assert_eq!(reopened.end_offset(), 10);
}

#[test]
fn fillers_hide_no_entry_wherever_they_stand() {
    const COUNT: u64 = 9;
    const FILE_COUNT: u64 = 3;
    let dir = tempfile::tempdir().unwrap();
    let position_of = |number| 100 * (number + 1);
    for fillers in 0_u64..1 << COUNT {
        let is_record = |number: &u64| fillers & (1 << number) == 0;
        let path = dir.path().join(fillers.to_string());
        let file_size = FILE_COUNT * ENTRY_BYTES;
        let mut queue = QueueWriter::new(path, file_size, Vec::new());
        queue.reserve(COUNT, &mut QueuesAhead::default()).unwrap();
        for number in 0..COUNT {
            let entry = entry_at(position_of(number));
            queue.push(if is_record(&number) { &entry } else { &FILLER });
        }

        let shared = queue.shared();
        for min_position in (0..=position_of(COUNT)).step_by(100) {
            let first = (0..COUNT)
                .filter(is_record)
                .find(|number| position_of(*number) >= min_position)
                .unwrap_or(COUNT);

            shared.correct_min_offset(min_position);
            shared.remove_expired(min_position).unwrap();

            let case = format!("{fillers:b} from {min_position}");
            assert_eq!(shared.min_offset(), first, "{case}");
            let first_file = first.min(COUNT - 1) / FILE_COUNT;
            assert_eq!(shared.first_offset(), first_file * FILE_COUNT, "{case}");
        }
    }
}

#[test]
fn of_the_file_of_an_idle_queue_a_few_pages_are_in_memory() {
    const PAGE_SIZE: usize = 4096;
    // Not below the folder for temporary files, which may lie in memory.
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    for appended_count in 1..4 {
        let mut config = StoreConfig::new(dir.path());
        config.segment_size_bytes = 1 << 20;
        let store = Store::open(config, 1).unwrap();
        let message = NewMessage::new("t", 0, b"x");
        store.writer().unwrap().append(&message, 1).unwrap();

        let queue = store.queues.find("t", 0).unwrap();
        let (segment, _) = queue.segment_at(0).unwrap();
        let is_there = |at: &usize| segment.map.resident_bytes(*at, 1).unwrap() == 1;
        let size = segment.map.size();
        let count = (0..size).step_by(PAGE_SIZE).filter(is_there).count();

        assert_eq!((size, queue.max_offset()), (6_000_000, appended_count));
        assert!((1..=4).contains(&count), "{count} pages");
        store.close().unwrap();
        drop((store, segment));
        let file = std::fs::File::open(queue.dir().join(segment_name(0))).unwrap();
        drop(queue);
        file.sync_all().unwrap();
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    }
}

#[test]
fn a_look_at_what_has_expired_reads_one_page_of_a_queue_that_has_lost_nothing() {
    const COUNT: u64 = 100_000;
    // Not below the folder for temporary files, which may lie in memory.
    let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    let (path, file_size) = (dir.path().join("queue"), COUNT * ENTRY_BYTES);
    let mut stored = StoredQueue::empty(path.clone(), file_size);
    for offset in 0..COUNT {
        stored.push(&entry_at(1_000 + offset)).unwrap();
    }
    drop(stored);
    let found = QueueFiles::find(path.clone(), file_size, true).unwrap();
    let queue = StoredQueue::load(found, true).unwrap().into_writer();
    let file = std::fs::File::open(path.join(segment_name(0))).unwrap();
    file.sync_all().unwrap();
    rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
    let (segment, _) = queue.shared().segment_at(0).unwrap();
    let count = || {
        let is_there = |at: &usize| segment.map.resident_bytes(*at, 1).unwrap() == 1;
        (0..segment.map.size())
            .step_by(4096)
            .filter(is_there)
            .count()
    };
    assert_eq!(count(), 0);

    queue.shared().correct_min_offset(1_000);

    assert_eq!((queue.shared().min_offset(), count()), (0, 1));
}

#[test]
fn a_queue_that_begins_late_is_flushed_without_a_look_at_what_it_never_had() {
    let dir = tempfile::tempdir().unwrap();
    let mut stored = StoredQueue::empty(dir.path().join("queue"), 5 * ENTRY_BYTES);
    // No checksum covers the offset of a queue's first record.
    stored.restart_at(1 << 50).unwrap();
    stored.fill_to((1 << 50) + 1).unwrap();
    let queue = Arc::clone(stored.into_writer().shared());

    let (tell, told) = mpsc::channel();
    let flushed = Arc::clone(&queue);
    thread::spawn(move || tell.send(flushed.flush()));

    told.recv_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(
        queue.flushed_bytes.load(Ordering::Relaxed),
        queue.end_bytes()
    );
}
