//! Queues that disagree with the log after a stop: the log rules.

use std::fs;

use regent_commitlog::{NewMessage, Store};

use crate::support::*;

#[test]
fn queues_are_rebuilt_when_their_files_are_gone() {
    for is_clean in [false, true] {
        for removed in [
            "",
            "a",
            "a/1",
            "a/1/00000000000000000000",
            "a/1/00000000000000000200",
        ] {
            let dir = tempdir();
            let store = open(dir.path());
            fill(&store, 120);
            if is_clean {
                store.close().unwrap();
            }
            drop(store);
            let path = dir.path().join("consumequeue").join(removed);
            if path.is_dir() {
                fs::remove_dir_all(&path).unwrap();
            } else {
                fs::remove_file(&path).unwrap();
            }

            let recovered = open(dir.path());

            assert!(recovered.recovery().entries_added > 0, "{removed:?}");
            assert_eq!(recovered.recovery().offsets_missing, 0);
            assert_holds(&recovered, 120);
        }
    }
}

#[test]
fn queues_are_rebuilt_from_wrong_entries() {
    let mut random = fastrand::Rng::with_seed(11);
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 40);
    for _ in 0..60 {
        let crashed = crash(dir.path());
        for _ in 0..random.usize(1..4) {
            let base = random.u64(0..2) * QUEUE_FILE_SIZE;
            let file = crashed.path().join(format!("consumequeue/a/0/{base:020}"));
            let bytes: Vec<u8> = std::iter::repeat_with(|| random.u8(..)).take(30).collect();
            overwrite(&file, random.u64(0..QUEUE_FILE_SIZE - 30), &bytes);
        }

        assert_holds(&open(crashed.path()), 40);
    }
}

#[test]
fn an_entry_that_points_to_another_record_is_put_right() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 40);
    drop(store);
    let file = dir.path().join("consumequeue/a/0/00000000000000000200");
    let bytes = fs::read(&file).unwrap();
    let (second, third) = bytes[20..60].split_at(20);
    overwrite(&file, 20, &[third, second].concat());

    assert_holds(&open(dir.path()), 40);
}

#[test]
fn stale_entries_behind_the_end_of_a_queue_are_dropped() {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 15);
    drop(store);
    // Entry 5 of queue a/0 as an earlier life of the file may have left it.
    let file = dir.path().join("consumequeue/a/0/00000000000000000000");
    let entry = [
        &9_000_i64.to_be_bytes()[..],
        &100_i32.to_be_bytes(),
        &[0; 8],
    ]
    .concat();
    overwrite(&file, 5 * 20, &entry);
    overwrite(&file, 7 * 20, &entry);

    let recovered = open(dir.path());

    assert!(recovered.recovery().entries_dropped > 0);
    assert_holds(&recovered, 15);
    assert!(
        fs::read(&file).unwrap()[6 * 20..]
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn a_deleted_topic_that_was_created_again_keeps_its_second_life() {
    for (first_life, second_life) in [(3, 1), (1, 3), (60, 2), (2, 60), (12, 12)] {
        for is_clean in [false, true] {
            let dir = tempdir();
            let store = open(dir.path());
            for _ in 0..first_life {
                append(&store, "t", 0, &[1; 500]);
            }
            store.delete_queues_of("t").unwrap();
            for _ in 0..second_life {
                append(&store, "t", 0, b"second life");
            }
            if is_clean {
                store.close().unwrap();
            }
            drop(store);

            let recovered = open(dir.path());

            let bodies = read_all(&recovered, "t", 0);
            assert_eq!(bodies.len(), second_life, "after {first_life}");
            assert!(bodies.iter().all(|(_, body)| body == b"second life"));
        }
    }
}

#[test]
fn delivery_times_are_computed_again_when_a_queue_is_rebuilt() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut message = NewMessage::new("SCHEDULE_TOPIC_XXXX", 0, b"later");
    message.properties = b"DELAY\x012\x02";
    for _ in 0..3 {
        store.writer().unwrap().append(&message, NOW_MS).unwrap();
    }
    drop(store);
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();

    let mut config = config(dir.path());
    config.delay_levels_ms = vec![1, 77];
    let recovered = Store::open(config, NOW_MS).unwrap();

    let entries = recovered.queue_entries("SCHEDULE_TOPIC_XXXX", 0, 0, 9);
    let times: Vec<i64> = entries.iter().map(|entry| entry.tags_code).collect();
    assert_eq!(times, [NOW_MS + 77; 3]);
}

#[test]
fn prepared_records_stay_out_of_rebuilt_queues() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"before");
    let prepared = NewMessage {
        sys_flag: 0x4,
        ..NewMessage::new("t", 0, b"half")
    };
    store.writer().unwrap().append(&prepared, NOW_MS).unwrap();
    append(&store, "t", 0, b"after");
    drop(store);
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();

    let recovered = open(dir.path());

    let bodies: Vec<_> = read_all(&recovered, "t", 0)
        .into_iter()
        .map(|pair| pair.1)
        .collect();
    assert_eq!(bodies, [b"before".to_vec(), b"after".to_vec()]);
}

#[test]
fn a_log_whose_oldest_segments_expired_gives_rebuilt_queues_a_late_start() {
    let dir = tempdir();
    let store = open(dir.path());
    for number in 0..60_u64 {
        append(
            &store,
            "t",
            0,
            &[&number.to_be_bytes()[..], &[0; 900]].concat(),
        );
    }
    drop(store);
    fs::remove_file(segment_path(dir.path(), 0)).unwrap();
    fs::remove_dir_all(dir.path().join("consumequeue")).unwrap();

    let recovered = open(dir.path());

    let (first, end) = recovered.queue_offsets("t", 0).unwrap();
    assert!(
        first > 0 && first % 10 != 0,
        "starts inside a queue file, at {first}"
    );
    assert_eq!(end, 60);
    let messages = read_all(&recovered, "t", 0);
    assert_eq!(messages.len(), usize::try_from(60 - first).unwrap());
    assert!(
        messages
            .iter()
            .all(|(offset, body)| body[..8] == offset.to_be_bytes())
    );
    assert_eq!(append(&recovered, "t", 0, b"next").queue_offset, 60);
}

#[test]
fn a_queue_whose_last_entries_are_damaged_before_the_validated_part_is_rebuilt() {
    let last = 19 * 20;
    // They point into the validated part, behind the log, and nowhere; others follow the fourth.
    for is_clean in [false, true] {
        for damage in 0..4 {
            let dir = tempdir();
            let store = open(dir.path());
            fill(&store, 60);
            // They make the three queues so old that recovery does not come to their records.
            for number in 0..200 {
                append_at(&store, "c", 0, &[1; 400], NOW_MS + number * 1_000);
            }
            store.flush_tick(NOW_MS + 300_000).unwrap();
            let inside = (store.max_position() - 500).to_be_bytes();
            if is_clean {
                store.close().unwrap();
            }
            drop(store);
            let (at, bytes): (u64, &[u8]) = match damage {
                0 => (last, &inside),
                1 => (last + 2, &[1]),
                2 => (last, &[0x80]),
                _ => (last - 60, &[0x80]),
            };
            let (base, at) = (at - at % QUEUE_FILE_SIZE, at % QUEUE_FILE_SIZE);
            let file = dir.path().join(format!("consumequeue/b/0/{base:020}"));
            overwrite(&file, at, bytes);

            let recovered = open(dir.path());

            assert_eq!(
                recovered.recovery().queues_rebuilt,
                1,
                "{damage} {is_clean}"
            );
            assert_holds(&recovered, 60);
        }
    }
}

/// A store whose queue `b/0` is older than what recovery validates, yet ends with an entry that points there.
fn with_a_stray_entry(is_clean: bool) -> tempfile::TempDir {
    let dir = tempdir();
    let store = open(dir.path());
    fill(&store, 60);
    for number in 0..200 {
        append_at(&store, "c", 0, &[1; 400], NOW_MS + number * 1_000);
    }
    store.flush_tick(NOW_MS + 300_000).unwrap();
    if is_clean {
        store.close().unwrap();
    }
    let stray = (store.max_position() - 500).to_be_bytes();
    drop(store);
    let entry = [&stray[..], &100_i32.to_be_bytes(), &[0; 8]].concat();
    let file = dir.path().join("consumequeue/b/0/00000000000000000400");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    if !file.exists() {
        fs::write(&file, [0; 200]).unwrap();
    }
    overwrite(&file, 0, &entry);
    dir
}

#[test]
fn a_queue_that_a_power_cut_takes_away_while_it_is_rebuilt_is_rebuilt_again() {
    for is_clean in [false, true] {
        let dir = with_a_stray_entry(is_clean);
        let recovered = open(dir.path());
        assert_eq!(recovered.recovery().queues_rebuilt, 1);
        drop(recovered);
        // Neither its directory nor what it holds was synced.
        fs::remove_dir_all(dir.path().join("consumequeue/b/0")).unwrap();

        let again = open(dir.path());

        assert_holds(&again, 60);
    }
}

#[test]
fn a_queue_that_is_rebuilt_goes_on_behind_messages_that_have_expired() {
    for is_clean in [false, true] {
        let dir = with_a_stray_entry(is_clean);
        for base in [0, SEGMENT_SIZE] {
            fs::remove_file(segment_path(dir.path(), base)).unwrap();
        }

        let recovered = open(dir.path());

        assert_eq!(recovered.recovery().queues_rebuilt, 1);
        assert_eq!(recovered.queue_offsets("b", 0), Some((20, 20)));
        assert_eq!(append(&recovered, "b", 0, b"next").queue_offset, 20);
    }
}

#[test]
fn a_queue_file_for_entries_that_never_came_causes_no_rebuild() {
    for is_clean in [true, false] {
        let dir = tempdir();
        let store = open(dir.path());
        for _ in 0..5 {
            append(&store, "t", 0, b"x");
        }
        while store.max_position() < 3 * SEGMENT_SIZE + SEGMENT_SIZE / 4 {
            append_at(&store, "other", 0, &[b'x'; 900], NOW_MS + 60_000);
        }
        store.flush_tick(NOW_MS + 100_000).unwrap();
        let in_the_way = segment_path(dir.path(), 4 * SEGMENT_SIZE);
        fs::create_dir(&in_the_way).unwrap();
        let packed = element(&[b'y'; 1_000], b"").repeat(12);
        let shared = NewMessage::new("t", 0, b"");
        let mut writer = store.writer().unwrap();
        let refused = writer.append_batch(&shared, &packed, NOW_MS, &mut Vec::new());
        assert!(refused.is_err());
        drop(writer);
        fs::remove_dir(&in_the_way).unwrap();
        let behind = dir.path().join("consumequeue/t/0/00000000000000000200");
        assert!(behind.exists());
        if is_clean {
            store.close().unwrap();
        }
        drop(store);

        let recovered = open(dir.path());

        assert_eq!(recovered.recovery().queues_rebuilt, 0, "{is_clean}");
        assert!(!behind.exists());
        assert_eq!(read_all(&recovered, "t", 0).len(), 5);
    }
}
