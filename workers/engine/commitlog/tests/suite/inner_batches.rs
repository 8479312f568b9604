//! Inner batches as they are appended and read.

use std::path::Path;

use regent_commitlog::{AppendError, Appended, Boundary, NewMessage, QueueRead, RecordView, Store};

use crate::support::batches::{
    ENTRY_SIZE, EVERYTHING, append_inner, append_plain, packed, queue_files,
};
use crate::support::{NOW_MS, open, split, tempdir};

#[test]
fn an_inner_batch_is_one_record_that_takes_up_an_offset_for_each_message() {
    let dir = tempdir();
    let store = open(dir.path());

    let first = append_inner(&store, 0, &[b"a", b"b", b"c"], NOW_MS);
    let plain = append_plain(&store, 0, b"d");
    let last = append_inner(&store, 0, &[b"e", b"f"], NOW_MS);

    assert_eq!(
        [first, plain, last].map(|appended| appended.queue_offset),
        [0, 3, 4]
    );
    assert_eq!(store.queue_offsets("batches", 0), Some((0, 6)));
    assert_eq!(store.counters().total.message_count, 6);
    let record = store.read_record(last.log_position).unwrap().unwrap();
    let view = RecordView::parse(&record).unwrap();
    assert_eq!(view.sys_flag, 0x80 | 0x40);
    assert_eq!(view.body, packed(&[b"e", b"f"]));
    assert_eq!(
        view.properties,
        b"UNIQ_KEY\x01U\x02TAGS\x01red\x02INNER_NUM\x012\x02INNER_BASE\x014\x02"
    );
    let files = queue_files(dir.path());
    let name = Path::new("batchconsumequeue/batches/0/00000000000000000000");
    assert_eq!(files.keys().collect::<Vec<_>>(), [name]);
    let entry = &files[name][2 * ENTRY_SIZE..3 * ENTRY_SIZE];
    assert_eq!(entry[..8], last.log_position.to_be_bytes());
    assert_eq!(entry[8..12], last.size.to_be_bytes());
    assert_eq!(entry[20..28], NOW_MS.to_be_bytes());
    assert_eq!(entry[28..36], 4_u64.to_be_bytes());
    assert_eq!(entry[36..], [0, 2, 0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
}

#[test]
fn a_read_gives_the_whole_inner_batch_that_holds_its_offset() {
    let dir = tempdir();
    let store = open(dir.path());
    append_inner(&store, 0, &[b"a", b"b", b"c"], NOW_MS);
    append_inner(&store, 0, &[b"d", b"e"], NOW_MS);
    append_plain(&store, 0, b"f");

    let read = |offset, count_max| {
        let mut bytes = Vec::new();
        let read = QueueRead {
            offset,
            count_max,
            ..EVERYTHING
        };
        let outcome = store.read_queue("batches", 0, &read, &mut bytes).unwrap();
        let offsets: Vec<_> = split(&bytes).iter().map(|view| view.queue_offset).collect();
        (outcome.count, outcome.next_offset, offsets)
    };

    assert_eq!(read(0, 1), (3, 3, vec![0]));
    assert_eq!(read(2, 4), (3, 3, vec![0]));
    assert_eq!(read(2, 5), (5, 5, vec![0, 3]));
    assert_eq!(read(4, 32), (3, 6, vec![3, 5]));
    assert_eq!(store.queue_entries("batches", 0, 4, 32).len(), 2);
    assert_eq!(
        store.store_timestamp_at("batches", 0, 4).unwrap(),
        Some(NOW_MS)
    );
}

#[test]
fn a_time_leads_to_the_first_offset_of_an_inner_batch() {
    let dir = tempdir();
    let store = open(dir.path());
    for (count, time) in [(3, 10), (2, 20), (2, 20), (4, 30)] {
        append_inner(&store, 0, &vec![&b"x"[..]; count], NOW_MS + time);
    }

    let found = |time, boundary| {
        let found = store.offset_by_time("batches", 0, NOW_MS + time, boundary);
        found.unwrap()
    };

    let lower = [5, 10, 15, 20, 25, 30, 35].map(|time| found(time, Boundary::Lower));
    assert_eq!(lower, [0, 0, 3, 3, 7, 7, 7]);
    let upper = [5, 10, 15, 20, 25, 30, 35].map(|time| found(time, Boundary::Upper));
    assert_eq!(upper, [0, 0, 0, 5, 5, 7, 7]);
}

#[test]
fn inner_batches_are_refused_where_they_have_no_place() {
    let dir = tempdir();
    let store = open(dir.path());
    append_plain(&store, 0, b"plain");
    append_inner_to(&store, "other", &packed(&[b"x"])).unwrap();
    let end = store.max_position();

    let mut flagged = NewMessage::new("other", 0, b"");
    flagged.sys_flag = 0x80;
    let mut numbered = NewMessage::new("other", 0, b"");
    numbered.properties = b"INNER_NUM\x013\x02";
    let results = [
        append_inner_to(&store, "batches", &packed(&[b"x"])),
        append_inner_to(&store, "other", b""),
        append_inner_to(&store, "other", b"garbage"),
        append_inner_to(&store, "other", &packed(&vec![&b""[..]; 32_768])),
        append_message(&store, &flagged),
        append_message(&store, &numbered),
    ];

    assert!(matches!(results[0], Err(AppendError::NoBatchTopic)));
    for result in results {
        assert_eq!(result.unwrap_err().code(), "illegal_message");
    }
    assert_eq!(store.max_position(), end);
}

fn append_message(store: &Store, message: &NewMessage<'_>) -> Result<Appended, AppendError> {
    store.writer().unwrap().append(message, NOW_MS)
}

fn append_inner_to(store: &Store, topic: &str, packed: &[u8]) -> Result<Appended, AppendError> {
    let message = NewMessage::new(topic, 0, b"");
    let mut writer = store.writer().unwrap();
    writer.append_inner_batch(&message, packed, NOW_MS)
}
