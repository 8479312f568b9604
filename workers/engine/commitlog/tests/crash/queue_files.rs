//! The file that a queue lacks is made while others append, whatever becomes of the queue meanwhile.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use regent_commitlog::Store;
use regent_commitlog::failpoint::{Event, Hook, Step, Watch, watch};

use crate::second::open;
use crate::support::{append, crash, read_all};
use crate::tempdir;

const PATIENCE: Duration = Duration::from_secs(20);

fn is_of_made_file(event: &Event<'_>) -> bool {
    let is_there = event
        .path
        .parent()
        .is_some_and(|dir| dir.ends_with("removed/made"));
    is_there && matches!(event.step, Step::Create | Step::Resize | Step::Rename(_))
}

/// Has another thread do something when a file has been made beside its place.
fn meanwhile(dir: &Path, act: impl Fn() + Send + Sync + 'static) -> Watch {
    let act = Arc::new(act);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        if is_of_made_file(event) && event.step == Step::Resize && event.is_done {
            let (act, (done, over)) = (Arc::clone(&act), mpsc::channel());
            thread::spawn(move || {
                act();
                // The store of the test is closed when the last holder drops it.
                drop(act);
                done.send(())
            });
            over.recv_timeout(PATIENCE).map_err(io::Error::other)?;
        }
        Ok(())
    });
    watch(dir, hook)
}

fn lacks_file(store: &Store, topic: &str, queue_id: i32) -> bool {
    let mut writer = store.writer().unwrap();
    writer.lacks_queue_file(topic, queue_id, 1)
}

fn left_over(dir: &Path) -> usize {
    fs::read_dir(dir.join("removed/made")).map_or(0, Iterator::count)
}

#[test]
fn others_append_while_a_file_is_made_and_the_append_then_makes_none() {
    let dir = tempdir();
    let store = Arc::new(open(dir.path()));
    append(&store, "warm", 0, b"first");
    let other = Arc::clone(&store);
    let watched = meanwhile(dir.path(), move || {
        append(&other, "warm", 0, b"second");
    });

    assert!(lacks_file(&store, "new", 3));
    store.make_queue_file("new", 3, 1).unwrap();

    assert!(!lacks_file(&store, "new", 3));
    assert_eq!(store.queue_offsets("warm", 0), Some((0, 2)));
    drop(watched);
    let made = Arc::new(Mutex::new(0));
    let count = Arc::clone(&made);
    let hook: Hook = Arc::new(move |event: &Event<'_>| {
        *count.lock().unwrap() += usize::from(event.step == Step::Create);
        Ok(())
    });
    let watched = watch(&dir.path().join("consumequeue"), hook);
    append(&store, "new", 3, b"x");
    assert_eq!(*made.lock().unwrap(), 0);
    drop(watched);
    assert_eq!(left_over(dir.path()), 0);
    store.close().unwrap();
    drop(store);
    assert_eq!(read_all(&open(dir.path()), "new", 3), [(0, b"x".to_vec())]);
}

#[test]
fn the_next_file_of_a_queue_is_made_as_well() {
    let dir = tempdir();
    let store = open(dir.path());
    let mut count = 0;
    while count == 0 || !lacks_file(&store, "t", 0) {
        append(&store, "t", 0, b"x");
        count += 1;
    }

    store.make_queue_file("t", 0, 1).unwrap();

    assert!(!lacks_file(&store, "t", 0));
    append(&store, "t", 0, b"x");
    assert_eq!(read_all(&store, "t", 0).len(), count + 1);
}

#[test]
fn a_file_that_came_too_late_is_not_taken() {
    type Act = fn(&Store);
    let acts: [(Act, usize); 3] = [
        (
            |store| {
                append(store, "new", 0, b"earlier");
            },
            2,
        ),
        (|store| store.delete_queues_of("new").unwrap(), 1),
        (
            |store| {
                store.delete_queues_of("new").unwrap();
                append(store, "new", 0, b"of the next topic");
            },
            2,
        ),
    ];
    for (act, message_count) in acts {
        let dir = tempdir();
        let store = Arc::new(open(dir.path()));
        let other = Arc::clone(&store);
        let watched = meanwhile(dir.path(), move || act(&other));

        store.make_queue_file("new", 0, 1).unwrap();

        drop(watched);
        append(&store, "new", 0, b"last");
        assert_eq!(read_all(&store, "new", 0).len(), message_count);
        assert_eq!(left_over(dir.path()), 0);
        store.close().unwrap();
        drop(store);
        assert_eq!(read_all(&open(dir.path()), "new", 0).len(), message_count);
    }
}

#[test]
fn a_kill_at_any_step_leaves_a_queue_that_can_be_appended_to_and_no_file_for_ever() {
    let dir = tempdir();
    let store = open(dir.path());
    append(&store, "t", 0, b"x");
    let killed = Arc::new(Mutex::new(Vec::new()));
    let (images, root) = (Arc::clone(&killed), dir.path().to_path_buf());
    let hook: Hook = Arc::new(move |_: &Event<'_>| {
        images.lock().unwrap().push(crash(&root));
        Ok(())
    });
    let watched = watch(dir.path(), hook);

    store.make_queue_file("new", 0, 1).unwrap();

    drop(watched);
    let killed = std::mem::take(&mut *killed.lock().unwrap());
    assert!(killed.len() >= 8, "{}", killed.len());
    for image in killed {
        let store = open(image.path());
        append(&store, "new", 0, b"y");
        assert_eq!(read_all(&store, "new", 0), [(0, b"y".to_vec())]);
        store
            .expire(&regent_commitlog::Retention::default(), 0)
            .unwrap();
        assert_eq!(left_over(image.path()), 0);
    }
}

#[test]
fn a_file_for_which_there_is_no_room_is_reported_and_leaves_nothing() {
    for failing in [Step::Create, Step::Resize] {
        let dir = tempdir();
        let store = open(dir.path());
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            let is_it = is_of_made_file(event) && event.step == failing && !event.is_done;
            if is_it {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        });
        let watched = watch(dir.path(), hook);

        let refused = store.make_queue_file("new", 0, 1).unwrap_err();

        assert!(refused.to_string().contains("removed/made"), "{refused}");
        drop(watched);
        assert_eq!((left_over(dir.path()), store.failure()), (0, None));
        append(&store, "new", 0, b"x");
    }
}
