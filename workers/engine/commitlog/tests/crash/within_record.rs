//! A kill between two parts of a record that is being written: no record is found in what is left
//! of it.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use regent_commitlog::NewMessage;
use regent_commitlog::failpoint::watching_records;
use tempfile::TempDir;

use crate::second::open;
use crate::support::{NOW_MS, append, copy_dir, element, read_all, segment_path};
use crate::tempdir;

const PHYSICAL_OFFSET_AT: usize = 28;
const BODY_AT: usize = 88;
const PARTS_OF_A_RECORD: usize = 3;
const TOPIC: &str = "orders";
/// In front of the record in properties, which may not begin with a zero.
const KEYS: &[u8] = b"KEYS\x01";

/// A whole record of another topic, as it would be at a position.
fn hidden_record(position: u64) -> Vec<u8> {
    let dir = tempdir();
    let store = open(dir.path());
    let size = append(&store, "hidden", 0, b"a body").size as usize;
    let mut record = std::fs::read(segment_path(dir.path(), 0)).unwrap()[..size].to_vec();
    record[PHYSICAL_OFFSET_AT..PHYSICAL_OFFSET_AT + 8].copy_from_slice(&position.to_be_bytes());
    record
}

/// Body and properties of a message for a position: a record is hidden in both, at its right place.
fn hostile_parts(position: u64) -> (Vec<u8>, Vec<u8>) {
    let body = hidden_record(position + BODY_AT as u64);
    let lengths_and_topic = 1 + TOPIC.len() + 2;
    let properties_at = position + (BODY_AT + body.len() + lengths_and_topic) as u64;
    let record = hidden_record(properties_at + KEYS.len() as u64);
    (body, [KEYS, &record, b"."].concat())
}

/// What a kill leaves at each place within a record that `work` writes.
fn killed_within_records(dir: &Path, work: impl FnOnce()) -> Vec<TempDir> {
    let images = Rc::new(RefCell::new(Vec::new()));
    let (from, taken) = (dir.to_path_buf(), Rc::clone(&images));
    let hook = move || {
        let image = tempdir();
        copy_dir(&from, image.path());
        taken.borrow_mut().push(image);
    };
    watching_records(hook, work);
    images.take()
}

/// Each image is a store that ends where a record ends, and holds nothing that was hidden.
fn assert_nothing_is_found(images: &[TempDir], ends: &[u64]) {
    for (number, image) in images.iter().enumerate() {
        let store = open(image.path());
        assert_eq!(store.recovery().damage, None, "image {number}");
        let end = store.max_position();
        assert!(ends.contains(&end), "image {number} ends at {end}");
        assert_eq!(store.queue_offsets("hidden", 0), None, "image {number}");
        assert_eq!(read_all(&store, TOPIC, 0)[0].1, b"before");
    }
}

#[test]
fn of_a_message_that_is_being_appended() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, TOPIC, 0, b"before");
    let end = store.max_position();
    let (body, properties) = hostile_parts(end);
    let message = NewMessage {
        properties: &properties,
        ..NewMessage::new(TOPIC, 0, &body)
    };

    let images = killed_within_records(dir.path(), || {
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    });

    assert_eq!(images.len(), PARTS_OF_A_RECORD - 1);
    assert_nothing_is_found(&images, &[end]);
}

#[test]
fn of_a_batch_that_is_being_appended() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, TOPIC, 0, b"before");
    let mut ends = vec![store.max_position()];
    let mut packed = Vec::new();
    let records_size = |packed: &[u8]| {
        let dir = tempdir();
        let store = open(dir.path());
        let shared = NewMessage::new(TOPIC, 0, &[]);
        let appended = &mut Vec::new();
        let mut writer = store.writer().unwrap();
        writer
            .append_batch(&shared, packed, NOW_MS, appended)
            .unwrap();
        drop(writer);
        store.max_position()
    };
    for number in 0..3 {
        let (body, properties) = hostile_parts(ends[number]);
        packed.extend(element(&body, &properties));
        ends.push(ends[0] + records_size(&packed));
    }

    let images = killed_within_records(dir.path(), || {
        let shared = NewMessage::new(TOPIC, 0, &[]);
        let mut writer = store.writer().unwrap();
        writer
            .append_batch(&shared, &packed, NOW_MS, &mut Vec::new())
            .unwrap();
    });

    assert_eq!(images.len(), 3 * (PARTS_OF_A_RECORD - 1));
    assert_nothing_is_found(&images, &ends[..3]);
}

#[test]
fn of_a_record_that_a_replica_copies() {
    let (dir, other_dir) = (tempdir(), tempdir());
    let (master, replica) = (open(dir.path()), open(other_dir.path()));
    append(&master, TOPIC, 0, b"before");
    let end = master.max_position();
    let (body, properties) = hostile_parts(end);
    let message = NewMessage {
        properties: &properties,
        ..NewMessage::new(TOPIC, 0, &body)
    };
    master.writer().unwrap().append(&message, NOW_MS).unwrap();
    let copy_at = |position, size| {
        let slice = master.log_slice(position, size).unwrap();
        let copied = replica.append_copied(slice.position(), slice.bytes());
        assert_eq!(copied.unwrap(), slice.bytes().len());
    };
    copy_at(0, end);

    let images = killed_within_records(other_dir.path(), || copy_at(end, u64::MAX));

    assert_eq!(images.len(), PARTS_OF_A_RECORD - 1);
    assert_nothing_is_found(&images, &[end]);
}
