//! Files that are cut short under a running store: an error that names the file, never a signal.
//!
//! A bad sector has the same effect on who touches it.

use std::fs::OpenOptions;
use std::path::Path;

use regent_commitlog::{NewMessage, StoreError};

use crate::support::*;

fn cut(path: &Path, size: u64) {
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(size).unwrap();
}

fn first_segment(dir: &Path) -> std::path::PathBuf {
    dir.join("commitlog/00000000000000000000")
}

fn reason(error: &StoreError) -> String {
    assert_eq!(error.code(), "poisoned");
    error.to_string()
}

#[test]
fn an_append_to_a_segment_that_was_cut_short_fails_and_nothing_is_taken_any_more() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "orders", 0, &[b'x'; 3_000]);
    store.flush().unwrap();
    cut(&first_segment(dir.path()), 4_096);

    let message = NewMessage::new("orders", 0, &[b'y'; 3_000]);
    let failed = store.writer().unwrap().append(&message, NOW_MS);
    let refused = store.writer().map(drop);

    let text = failed.unwrap_err().to_string();
    assert!(text.contains("commitlog/00000000000000000000"), "{text}");
    assert!(text.contains("cut short, or the disk is bad"), "{text}");
    assert!(reason(&refused.unwrap_err()).contains("cut short"));
    assert!(store.flush().is_err());
    assert!(store.close().is_err());
}

#[test]
fn a_read_where_a_segment_was_cut_short_is_reported_by_the_check_behind_it() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..4 {
        append(&store, "orders", 0, &[b'x'; 3_000]);
    }
    store.flush().unwrap();
    let (before, _) = read(&store, "orders", 0, 0);
    assert_eq!(before.count, 4);
    store.check_maps().unwrap();
    cut(&first_segment(dir.path()), 4_096);

    let record = store.read_record(9_000);
    let checked = store.check_maps();

    assert!(record.is_err() || record.unwrap().is_none());
    assert!(reason(&checked.unwrap_err()).contains("commitlog"));
}

#[test]
fn a_queue_file_that_was_cut_short_stops_the_store_too() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "orders", 0, b"x");
    store.flush_tick(NOW_MS).unwrap();
    cut(
        &dir.path()
            .join("consumequeue/orders/0/00000000000000000000"),
        0,
    );

    let message = NewMessage::new("orders", 0, b"y");
    let failed = store.writer().unwrap().append(&message, NOW_MS);

    assert!(
        failed
            .unwrap_err()
            .to_string()
            .contains("consumequeue/orders/0")
    );
}

#[test]
fn another_store_of_the_process_goes_on() {
    let (lost, well) = (tempdir(), tempdir());
    let (broken, other) = (open(lost.path()), open(well.path()));
    append(&broken, "orders", 0, b"x");
    append(&other, "orders", 0, b"x");
    cut(&first_segment(lost.path()), 0);
    let message = NewMessage::new("orders", 0, b"y");
    assert!(broken.writer().unwrap().append(&message, NOW_MS).is_err());

    append(&other, "orders", 0, b"y");

    other.flush().unwrap();
    assert_eq!(read(&other, "orders", 0, 0).0.count, 2);
    other.close().unwrap();
}
