//! Opening, closing and refusing: the lock, settings, full disks, odd files.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use regent_commitlog::inspect::Survey;
use regent_commitlog::{NewMessage, Retention, Store, StoreConfig, StoreError, system_run};

use crate::support::*;

fn checkpoint(dir: &std::path::Path) -> [i64; 5] {
    let bytes = fs::read(dir.join("checkpoint")).unwrap();
    assert_eq!(bytes.len(), 4096);
    std::array::from_fn(|at| i64::from_be_bytes(bytes[at * 8..at * 8 + 8].try_into().unwrap()))
}

#[test]
fn a_second_store_in_the_same_directory_is_refused() {
    let dir = tempdir();
    let store = open(dir.path());

    let refused = try_open(dir.path()).unwrap_err();

    assert!(matches!(refused, StoreError::Locked { .. }));
    assert_eq!(refused.code(), "locked");
    // The refused attempt did not take the first one's lock away.
    assert!(matches!(
        try_open(dir.path()),
        Err(StoreError::Locked { .. })
    ));
    assert_eq!(fs::read(dir.path().join("lock")).unwrap(), b"lock");
    drop(store);
    open(dir.path());
}

#[test]
fn the_abort_mark_stays_until_the_store_is_closed() {
    let dir = tempdir();
    let abort = dir.path().join("abort");
    let store = open(dir.path());
    let mark = fs::read_to_string(&abort).unwrap();
    let lines: Vec<&str> = mark.lines().collect();
    let process = std::process::id().to_string();
    let run = system_run(&[dir.path(), &dir.path().join("commitlog")]).unwrap();
    assert_eq!(lines, [&process, &run, "asynchronous"]);
    append(&store, "t", 0, b"x");
    drop(store);
    assert!(abort.exists());

    let store = open(dir.path());
    assert!(!store.recovery().was_clean);
    store.close().unwrap();

    assert!(!abort.exists());
    drop(store);
    assert!(open(dir.path()).recovery().was_clean);
}

#[test]
fn a_mark_that_cannot_be_read_is_no_clean_stop_and_refuses_to_be_opened() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    store.close().unwrap();
    drop(store);
    let abort = dir.path().join("abort");
    // The system refuses to follow the one, and to read the other.
    let make: [fn(&Path) -> std::io::Result<()>; 2] =
        [|path| symlink(path, path), |path| fs::create_dir(path)];
    for make in make {
        make(&abort).unwrap();

        let refused = try_open(dir.path()).unwrap_err();

        assert_eq!(refused.code(), "io");
        assert!(refused.to_string().contains("abort"), "{refused}");
        assert!(Survey::new(&config(dir.path())).is_err());
        fs::remove_file(&abort)
            .or_else(|_| fs::remove_dir(&abort))
            .unwrap();
    }
    // Whatever is in it, it is there.
    for content in [&b""[..], b"\xff\xfe\n\xff\nasynchronous\n", b"\n\n\n\n"] {
        fs::write(&abort, content).unwrap();
        let store = open(dir.path());
        assert!(!store.recovery().was_clean);
        store.close().unwrap();
    }
    fs::write(&abort, b"\xff\nunflushed\n").unwrap();
    assert!(open(dir.path()).recovery().had_failed_flush);
}

#[test]
fn a_closed_store_refuses_work_and_can_be_closed_again() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    store.close().unwrap();

    assert!(matches!(store.writer(), Err(StoreError::Closed)));
    assert!(matches!(store.flush(), Err(StoreError::Closed)));
    assert!(matches!(store.flush_tick(NOW_MS), Err(StoreError::Closed)));
    store.close().unwrap();
}

#[test]
fn a_flush_reports_how_far_it_came_and_the_checkpoint_says_so() {
    let dir = tempdir();
    let store = open(dir.path());
    append_at(&store, "t", 0, b"x", NOW_MS + 1);
    assert_eq!(store.flushed_position(), 0);

    let flushed = store.flush().unwrap();
    store.flush_tick(NOW_MS).unwrap();

    assert_eq!((flushed, store.flushed_position()), (93, 93));
    assert_eq!(checkpoint(dir.path()), [NOW_MS + 1, 0, 0, 93, 93]);
    store.flush_tick(NOW_MS + 10_000).unwrap();
    assert_eq!(checkpoint(dir.path()), [NOW_MS + 1, NOW_MS + 1, 0, 93, 93]);
}

#[test]
fn a_flush_crosses_segments() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..50 {
        append(&store, "t", 0, &[1; 1000]);
    }

    assert_eq!(store.flush().unwrap(), store.max_position());
    assert!(store.max_position() > 3 * SEGMENT_SIZE);
}

#[test]
fn a_segment_that_cannot_be_allocated_is_an_error_and_leaves_nothing() {
    let dir = tempdir();
    let mut config = StoreConfig::new(dir.path());
    // Larger than any file system here: allocating fails, as on a full disk.
    config.segment_size_bytes = 1 << 60;
    let store = Store::open(config, NOW_MS).unwrap();

    for _ in 0..2 {
        let message = NewMessage::new("t", 0, b"x");
        let refused = store
            .writer()
            .unwrap()
            .append(&message, NOW_MS)
            .unwrap_err();
        assert_eq!(refused.code(), "disk_full", "{refused}");
    }

    assert_eq!(store.max_position(), 0);
    assert_eq!(store.queue_offsets("t", 0), Some((0, 0)));
    assert_eq!(
        fs::read_dir(dir.path().join("commitlog")).unwrap().count(),
        0
    );
}

#[test]
fn a_queue_file_that_cannot_be_made_is_an_error_and_nothing_is_appended() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"before");
    // A file where the queue's directory has to be.
    fs::write(dir.path().join("consumequeue/t/1"), b"").unwrap();

    let message = NewMessage::new("t", 1, b"x");
    let refused = store
        .writer()
        .unwrap()
        .append(&message, NOW_MS)
        .unwrap_err();

    assert_eq!(refused.code(), "io");
    assert_eq!(store.max_position(), 98);
    assert_eq!(append(&store, "t", 0, b"after").queue_offset, 1);
}

#[test]
fn settings_out_of_range_are_refused() {
    let dir = tempdir();
    let broken: [fn(&mut StoreConfig); 7] = [
        |config| config.segment_size_bytes = 100,
        |config| config.queue_file_size_bytes = 0,
        |config| config.queue_file_size_bytes = u64::MAX,
        |config| config.message_body_size_max = usize::MAX,
        |config| config.index_slot_count = 0,
        |config| config.index_entry_count = 1,
        |config| config.index_entry_count = 107_000_000,
    ];
    for change in broken {
        let mut config = config(dir.path());
        change(&mut config);
        let refused = Store::open(config, NOW_MS).unwrap_err();
        assert_eq!(refused.code(), "invalid_setting");
    }
}

#[test]
fn the_queue_file_size_is_rounded_up_to_whole_entries() {
    let dir = tempdir();
    let mut config = config(dir.path());
    config.queue_file_size_bytes = 201;
    let store = Store::open(config, NOW_MS).unwrap();
    append(&store, "t", 0, b"x");

    let file = dir.path().join("consumequeue/t/0/00000000000000000000");

    assert_eq!(fs::metadata(file).unwrap().len(), 220);
}

#[test]
fn a_log_file_of_another_size_is_refused() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    store.close().unwrap();
    drop(store);

    for segment_size in [SEGMENT_SIZE / 2, SEGMENT_SIZE * 2] {
        let mut config = config(dir.path());
        config.segment_size_bytes = segment_size;
        let refused = Store::open(config, NOW_MS).unwrap_err();
        assert!(
            matches!(refused, StoreError::UnexpectedFile { .. }),
            "{refused}"
        );
    }
    assert_eq!(read_all(&open(dir.path()), "t", 0).len(), 1);
}

#[test]
fn a_segment_that_was_being_allocated_when_the_process_died_is_removed() {
    for size in [0, 100, 4096] {
        let dir = tempdir();
        let store = open(dir.path());
        append(&store, "t", 0, b"x");
        drop(store);
        let partial = segment_path(dir.path(), SEGMENT_SIZE);
        fs::write(&partial, vec![0; size]).unwrap();

        let store = open(dir.path());

        assert!(!partial.exists(), "{size} bytes");
        assert_eq!(read_all(&store, "t", 0).len(), 1);
    }
}

#[test]
fn a_clean_stop_leaves_no_segment_without_records() {
    let dir = tempdir();
    let store = open(dir.path());
    for _ in 0..12 {
        append(&store, "t", 0, &[1; 1000]);
    }
    store.close().unwrap();

    let segments = fs::read_dir(dir.path().join("commitlog")).unwrap().count();

    assert_eq!(segments, 1);
}

#[test]
fn deleting_a_topic_removes_its_queues_and_restarts_its_offsets() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    append(&store, "t", 5, b"x");
    append(&store, "kept", 0, b"x");

    store.delete_queues_of("t").unwrap();
    store.delete_queues_of("unknown").unwrap();
    store.delete_queues_of("../commitlog").unwrap();

    assert_eq!(store.queue_offsets("t", 5), None);
    assert!(!dir.path().join("consumequeue/t").exists());
    assert_eq!(append(&store, "t", 0, b"again").queue_offset, 0);
    let topics: Vec<_> = store
        .queues()
        .into_iter()
        .map(|queue| queue.topic)
        .collect();
    assert_eq!(topics, ["kept", "t"]);
    store.close().unwrap();
}

#[test]
fn files_of_deleted_topics_are_removed_by_the_next_look_at_what_has_expired() {
    let dir = tempdir();
    let delete = |store: &Store| {
        append(store, "t", 0, b"x");
        store.delete_queues_of("t").unwrap();
        assert!(!dir.path().join("consumequeue/t").exists());
    };
    let store = open(dir.path());
    append(&store, "kept", 0, b"x");
    delete(&store);
    delete(&store);
    assert_eq!(removed_count(dir.path()), 2);
    // A process that is killed here.
    drop(store);

    let store = open(dir.path());
    // The name that it would have there is taken: it is removed at once.
    delete(&store);
    assert_eq!(removed_count(dir.path()), 2);
    store.expire(&Retention::default(), NOW_MS).unwrap();
    assert_eq!(removed_count(dir.path()), 0);
    delete(&store);
    assert_eq!(removed_count(dir.path()), 1);
    assert_eq!(store.queue_offsets("kept", 0), Some((0, 1)));
    store.close().unwrap();
}

#[test]
fn deleting_what_lies_before_a_position_leaves_the_queues_that_have_grown_since() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    append(&store, "t", 5, b"x");
    append(&store, "gone", 0, b"x");
    let deleted_at = store.max_position();
    append(&store, "t", 0, b"x");

    store.delete_queues_before("t", deleted_at).unwrap();
    store.delete_queues_before("gone", deleted_at).unwrap();
    store.delete_queues_before("unknown", deleted_at).unwrap();

    assert_eq!(store.queue_offsets("t", 0), Some((0, 2)));
    assert_eq!(store.queue_offsets("t", 5), None);
    assert_eq!(store.queue_offsets("gone", 0), None);
    assert!(!dir.path().join("consumequeue/t/5").exists());
    assert!(!dir.path().join("consumequeue/gone").exists());
    assert_eq!(append(&store, "t", 5, b"again").queue_offset, 0);
    store.flush_tick(i64::MAX).unwrap();
    store.close().unwrap();
}

#[test]
fn a_store_at_the_path_of_a_file_is_an_error_of_the_system() {
    let dir = tempdir();
    fs::write(dir.path().join("file"), b"").unwrap();

    let refused = Store::open(StoreConfig::new(dir.path().join("file")), NOW_MS).unwrap_err();

    let StoreError::Io { source, .. } = refused else {
        panic!("{refused}")
    };
    assert!(matches!(
        source.kind(),
        ErrorKind::AlreadyExists | ErrorKind::NotADirectory
    ));
}

#[test]
fn many_touched_queues_are_flushed_over_the_interval() {
    let dir = tempdir();
    let store = open(dir.path());
    for queue_id in 0..300 {
        append(&store, "t", queue_id, b"x");
    }

    for waited_ms in [10_000, 15_000] {
        store.flush_tick(NOW_MS + waited_ms).unwrap();
        assert_eq!(checkpoint(dir.path())[1], 0);
    }
    store.flush_tick(NOW_MS + 20_000).unwrap();

    assert_eq!(checkpoint(dir.path())[1], NOW_MS);
    drop(store);
    let store = open(dir.path());
    assert_eq!(store.queues().len(), 300);
    store.close().unwrap();
}

#[test]
fn a_panic_under_the_append_lock_poisons_the_store() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"before");

    let panicked = std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            let _writer = store.writer().unwrap();
            panic!("a panic that this test wants");
        });
        thread.join()
    });

    assert!(panicked.is_err());
    assert!(matches!(store.writer(), Err(StoreError::Poisoned { .. })));
    assert!(matches!(store.close(), Err(StoreError::Poisoned { .. })));
    assert_eq!(read_all(&store, "t", 0).len(), 1);
    drop(store);
    assert_eq!(read_all(&open(dir.path()), "t", 0).len(), 1);
}
