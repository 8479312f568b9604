//! What an append writes, and what it refuses.

use std::fs;
use std::sync::Arc;
use std::time::Duration;

use regent_commitlog::{AppendError, NewMessage, RecordView};

use crate::support::*;

/// Size of a V1 record between IPv4 hosts with topic `t` and no properties, less its body.
const OVERHEAD: usize = 92;

#[test]
fn queue_offsets_count_from_zero_in_each_queue() {
    let dir = tempdir();
    let store = open(dir.path());

    let offsets: Vec<_> = [0, 1, 0, 0, 1]
        .into_iter()
        .map(|queue_id| append(&store, "t", queue_id, b"x").queue_offset)
        .collect();

    assert_eq!(offsets, [0, 0, 1, 2, 1]);
    assert_eq!(store.queue_offsets("t", 0), Some((0, 3)));
    assert_eq!(store.queue_offsets("t", 1), Some((0, 2)));
    assert_eq!(store.max_position(), 5 * (OVERHEAD as u64 + 1));
}

#[test]
fn the_log_holds_stock_records_and_the_queue_stock_entries() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut message = NewMessage::new("t", 3, b"body");
    message.properties = b"TAGS\x01TagA\x02";
    message.born_host = "[::1]:77".parse().unwrap();

    store
        .writer()
        .unwrap()
        .append(&NewMessage::new("t", 3, b"first"), NOW_MS)
        .unwrap();
    let appended = store
        .writer()
        .unwrap()
        .append(&message, NOW_MS + 1)
        .unwrap();

    let log = fs::read(segment_path(dir.path(), 0)).unwrap();
    assert_eq!(log.len() as u64, SEGMENT_SIZE);
    let record = RecordView::parse(&log[97..]).unwrap();
    assert_eq!(record.log_position, 97);
    assert_eq!((record.queue_id, record.queue_offset), (3, 1));
    assert_eq!(record.store_timestamp_ms, NOW_MS + 1);
    assert_eq!(record.sys_flag, 0x10);
    let queue = fs::read(dir.path().join("consumequeue/t/3/00000000000000000000")).unwrap();
    assert_eq!(queue.len() as u64, QUEUE_FILE_SIZE);
    assert_eq!(queue[20..28], 97_i64.to_be_bytes());
    assert_eq!(queue[28..32], appended.size.to_be_bytes());
    assert_eq!(queue[32..40], 2_598_919_i64.to_be_bytes());
    assert_eq!(queue[40..], [0; 160]);
}

#[test]
fn a_record_that_would_leave_less_than_eight_bytes_goes_to_the_next_segment() {
    for (left, rolls) in [(0, true), (1, true), (7, true), (8, false), (9, false)] {
        let dir = tempdir();
        let store = open(dir.path());
        let segment_size = usize::try_from(SEGMENT_SIZE).unwrap();
        let first = append(&store, "t", 0, &[1; 1000]);
        let rest = segment_size - first.size as usize;

        let second = append(&store, "t", 0, &vec![2; rest - OVERHEAD - left]);

        let log = fs::read(segment_path(dir.path(), 0)).unwrap();
        if rolls {
            assert_eq!(second.log_position, SEGMENT_SIZE, "{left} bytes left");
            let blank = &log[first.size as usize..][..8];
            assert_eq!(blank[..4], u32::try_from(rest).unwrap().to_be_bytes());
            assert_eq!(blank[4..], [0xCB, 0xD4, 0x31, 0x94]);
        } else {
            assert_eq!(
                second.log_position,
                u64::from(first.size),
                "{left} bytes left"
            );
            // The next record cannot fit; its blank is the minimum that stays.
            let third = append(&store, "t", 0, b"");
            assert_eq!(third.log_position, SEGMENT_SIZE);
        }
        assert_eq!(read_all(&store, "t", 0).len(), if rolls { 2 } else { 3 });
    }
}

#[test]
fn a_batch_is_stored_as_ordinary_records_with_consecutive_offsets() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"before");
    let packed = [element(b"one", b"TAGS\x01A\x02"), element(b"two", b"")].concat();
    let mut appended = Vec::new();

    let shared = NewMessage::new("t", 0, b"");
    store
        .writer()
        .unwrap()
        .append_batch(&shared, &packed, NOW_MS, &mut appended)
        .unwrap();

    assert_eq!(
        appended
            .iter()
            .map(|one| one.queue_offset)
            .collect::<Vec<_>>(),
        [1, 2]
    );
    assert_eq!(
        appended[1].log_position,
        appended[0].log_position + u64::from(appended[0].size)
    );
    let (_, records) = read(&store, "t", 0, 1);
    let views = split(&records);
    assert_eq!(
        (views[0].body, views[0].properties),
        (&b"one"[..], &b"TAGS\x01A\x02"[..])
    );
    assert_eq!((views[1].body, views[1].flag), (&b"two"[..], 7));
}

#[test]
fn a_batch_that_does_not_fit_moves_to_the_next_segment_as_a_whole() {
    let dir = tempdir();
    let store = open(dir.path());
    append(
        &store,
        "t",
        0,
        &vec![0; usize::try_from(SEGMENT_SIZE).unwrap() - 400],
    );
    let packed = [element(&[1; 50], b""), element(&[2; 200], b"")].concat();
    let mut appended = Vec::new();

    let shared = NewMessage::new("t", 0, b"");
    store
        .writer()
        .unwrap()
        .append_batch(&shared, &packed, NOW_MS, &mut appended)
        .unwrap();

    assert_eq!(appended[0].log_position, SEGMENT_SIZE);
    assert_eq!(read_all(&store, "t", 0).len(), 3);
}

#[test]
fn a_malformed_batch_writes_nothing() {
    let dir = tempdir();
    let store = open(dir.path());
    let good = element(b"good", b"");
    let mut negative_body = good.clone();
    negative_body[16..20].copy_from_slice(&(-1_i32).to_be_bytes());
    let cases = [
        Vec::new(),
        good[..good.len() - 1].to_vec(),
        [&good[..], &[0, 0]].concat(),
        [&good[..], &[0; 22]].concat(),
        [&good[..], &negative_body[..]].concat(),
        i32::MAX.to_be_bytes().to_vec(),
    ];

    for packed in cases {
        let shared = NewMessage::new("t", 0, b"");
        let mut appended = Vec::new();
        let refused = store
            .writer()
            .unwrap()
            .append_batch(&shared, &packed, NOW_MS, &mut appended);

        assert!(
            matches!(refused, Err(AppendError::MalformedBatch(_))),
            "{packed:?}"
        );
        assert!(appended.is_empty());
    }
    assert_eq!(store.max_position(), 0);
}

#[test]
fn prepared_and_rollback_records_have_no_place_in_a_queue() {
    let dir = tempdir();
    let store = open(dir.path());
    for sys_flag in [0x4, 0xC] {
        let message = NewMessage {
            sys_flag,
            ..NewMessage::new("t", 0, b"half")
        };
        let appended = store.writer().unwrap().append(&message, NOW_MS).unwrap();
        assert_eq!(appended.queue_offset, 0);
    }
    assert_eq!(store.queue_offsets("t", 0), None);

    let commit = NewMessage {
        sys_flag: 0x8,
        ..NewMessage::new("t", 0, b"whole")
    };
    store.writer().unwrap().append(&commit, NOW_MS).unwrap();

    assert_eq!(store.queue_offsets("t", 0), Some((0, 1)));
}

#[test]
fn a_delayed_record_is_queued_under_its_delivery_time() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut message = NewMessage::new("SCHEDULE_TOPIC_XXXX", 2, b"later");
    message.properties = b"DELAY\x013\x02";

    store.writer().unwrap().append(&message, NOW_MS).unwrap();

    let entries = store.queue_entries("SCHEDULE_TOPIC_XXXX", 2, 0, 10);
    assert_eq!(entries[0].tags_code, NOW_MS + 10_000);
}

#[test]
fn names_that_would_leave_the_directory_are_refused() {
    let dir = tempdir();
    let store = open(dir.path());
    let long = "x".repeat(128);

    for topic in ["", ".", "..", "a/b", "../../etc", "/", "a\0b", &long] {
        let refused = store
            .writer()
            .unwrap()
            .append(&NewMessage::new(topic, 0, b"x"), NOW_MS)
            .unwrap_err();
        assert!(matches!(refused, AppendError::IllegalTopic), "{topic:?}");
        assert_eq!(refused.code(), "illegal_message");
    }
    for queue_id in [-1, i32::MIN, 65_536, i32::MAX] {
        let message = NewMessage::new("t", queue_id, b"x");
        let refused = store
            .writer()
            .unwrap()
            .append(&message, NOW_MS)
            .unwrap_err();
        assert!(
            matches!(refused, AppendError::IllegalQueueId(_)),
            "{queue_id}"
        );
    }

    assert_eq!(store.max_position(), 0);
    assert_eq!(
        fs::read_dir(dir.path().join("consumequeue"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn long_retry_topics_are_written_as_version_two_if_allowed() {
    let dir = tempdir();
    let store = open(dir.path());
    let topic = format!("%RETRY%{}", "g".repeat(248));
    append(&store, &topic, 0, b"x");

    let record = store.read_record(0).unwrap().unwrap();

    assert_eq!(record[4..8], [0xDA, 0xA3, 0x20, 0xAB]);
    let longer = format!("{topic}g");
    let refused = store
        .writer()
        .unwrap()
        .append(&NewMessage::new(&longer, 0, b"x"), NOW_MS);
    assert!(matches!(refused, Err(AppendError::IllegalTopic)));

    let other = tempdir();
    let mut config = config(other.path());
    config.message_version_by_topic_length = false;
    let store = regent_commitlog::Store::open(config, NOW_MS).unwrap();
    let refused = store
        .writer()
        .unwrap()
        .append(&NewMessage::new(&topic, 0, b"x"), NOW_MS);
    assert!(matches!(refused, Err(AppendError::IllegalTopic)));
}

#[test]
fn messages_over_a_limit_are_refused() {
    let dir = tempdir();
    let mut config = config(dir.path());
    config.message_body_size_max = 2_000;
    let store = regent_commitlog::Store::open(config, NOW_MS).unwrap();
    let (body, properties) = ([0; 2_001], vec![b'p'; 32_768]);
    let too_long = NewMessage::new("t", 0, &body);
    let mut too_many = NewMessage::new("t", 0, b"x");
    too_many.properties = &properties;
    let mut over_segment = NewMessage::new("t", 0, b"x");
    over_segment.properties = &properties[..17_000];

    let mut writer = store.writer().unwrap();
    let refusals = [
        writer.append(&too_long, NOW_MS).unwrap_err().code(),
        writer.append(&too_many, NOW_MS).unwrap_err().code(),
        writer.append(&over_segment, NOW_MS).unwrap_err().code(),
    ];
    drop(writer);

    assert_eq!(
        refusals,
        ["illegal_message", "properties_too_large", "illegal_message"]
    );
    assert_eq!(store.max_position(), 0);
}

#[test]
fn properties_that_could_look_unwritten_after_a_crash_are_refused_by_every_way_in() {
    let dir = tempdir();
    let store = open(dir.path());
    let within = |count| [b"a\x01".as_slice(), &vec![0; count], b"b"].concat();
    let refused = [b"\0a\x01b".to_vec(), b"a\x01b\0".to_vec(), within(512)];
    let (least, longest) = (within(1), within(511));

    let mut writer = store.writer().unwrap();
    for properties in &refused {
        let message = NewMessage {
            properties,
            ..NewMessage::new("t", 0, b"x")
        };
        let one = NewMessage::new("t", 0, b"");
        let packed = element(b"x", properties);
        let outcomes = [
            writer.append(&message, NOW_MS).map(|_| ()),
            writer.append_batch(&one, &packed, NOW_MS, &mut Vec::new()),
        ];
        for outcome in outcomes {
            assert!(matches!(outcome, Err(AppendError::BlankProperties)));
        }
    }
    assert_eq!(store.max_position(), 0);
    for properties in [&least, &longest] {
        let message = NewMessage {
            properties,
            ..NewMessage::new("t", 0, b"x")
        };
        writer.append(&message, NOW_MS).unwrap();
    }
}

#[test]
fn counters_wait_for_no_append() {
    let dir = tempdir();
    let store = Arc::new(open(dir.path()));
    append(&store, "orders", 0, b"12345");
    let writer = store.writer().unwrap();

    let other = Arc::clone(&store);
    let counters = sample::within(Duration::from_secs(60), "counters", move || {
        other.counters()
    });

    drop(writer);
    assert_eq!(counters.total.message_count, 1);
}

#[test]
fn counters_give_messages_and_bytes_by_topic() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "b", 0, b"12345");
    append(&store, "a", 0, b"12345");
    append(&store, "a", 1, b"12345");

    let counters = store.counters();

    let size = OVERHEAD as u64 + 5;
    let topics: Vec<_> = counters
        .topics
        .iter()
        .map(|(topic, traffic)| (topic.as_str(), traffic.message_count, traffic.bytes))
        .collect();
    assert_eq!(topics, [("a", 2, 2 * size), ("b", 1, size)]);
    assert_eq!(
        (counters.total.message_count, counters.total.bytes),
        (3, 3 * size)
    );
}
