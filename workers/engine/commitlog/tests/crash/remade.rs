//! Queues that a replica makes again, since its master's queue goes on before their ends: failing
//! steps, and crashes at any step.

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use regent_commitlog::failpoint::{Event, Hook, Step, watch};
use regent_commitlog::{Retention, Store};

use crate::disk::Disk;
use crate::second::open;
use crate::support::{NOW_MS, append_at, go_down, read_all};
use crate::{amount, tempdir};

const KEPT: u64 = 2;
const COUNT: u64 = 5;
const OTHERS: i64 = 120;

/// Messages of a topic, then so many of others that recovery need not look at the first segments.
fn fill(store: &Store, topics: [&str; COUNT as usize]) {
    for (number, topic) in (0_u8..).zip(topics) {
        append_at(store, topic, 0, &[number], NOW_MS);
    }
    for number in 0..OTHERS {
        append_at(store, "c", 0, &[1; 400], NOW_MS + number * 1_000);
    }
}

/// A replica that has all of the topic's messages on the disk, and two masters. The topic of the
/// first goes on behind those messages; that of the second has fewer messages and goes on there.
fn prepare(dir: &Path) -> (Store, [tempfile::TempDir; 2], [Store; 2]) {
    let dirs = [tempdir(), tempdir()];
    let masters = [open(dirs[0].path()), open(dirs[1].path())];
    fill(&masters[0], ["t"; COUNT as usize]);
    fill(&masters[1], ["t", "t", "u", "u", "u"]);
    let replica = open(dir);
    copy(&masters[0], &replica);
    replica.flush_tick(NOW_MS + 300_000).unwrap();
    for master in &masters {
        assert_eq!(master.max_position(), replica.max_position());
        append_at(master, "t", 0, b"next", NOW_MS + 400_000);
    }
    (replica, dirs, masters)
}

fn copy(from: &Store, to: &Store) {
    while let Some(slice) = from.log_slice(to.max_position(), u64::MAX) {
        to.append_copied(slice.position(), slice.bytes()).unwrap();
    }
}

fn assert_has(store: &Store, count: u64, at: &str) {
    let found = read_all(store, "t", 0);
    let first = found.iter().take_while(|(_, body)| body != b"next");
    let expected = (0..count).map(|number| (number, vec![u8::try_from(number).unwrap()]));
    assert!(first.cloned().eq(expected), "{at}: {found:?}");
}

#[test]
fn a_queue_that_could_not_be_remade_goes_on_as_it_was_under_another_master() {
    for failing in 0..4 {
        let dir = tempdir();
        let (replica, _dirs, [same, other]) = prepare(dir.path());
        let left = Mutex::new(failing);
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            let is_kind = matches!(
                event.step,
                Step::Create | Step::Resize | Step::SyncRange { .. } | Step::SyncDir
            );
            let mut left = left.lock().unwrap();
            if event.is_done || !is_kind {
                return Ok(());
            }
            *left -= 1;
            if *left == -1 {
                Err(io::ErrorKind::StorageFull.into())
            } else {
                Ok(())
            }
        });
        let watched = watch(&dir.path().join("consumequeue/t"), hook);
        let slice = other.log_slice(replica.max_position(), u64::MAX).unwrap();
        let refused = replica.append_copied(slice.position(), slice.bytes());
        drop(watched);
        assert!(refused.is_err(), "step {failing}");

        copy(&same, &replica);

        assert_has(&replica, COUNT, "before it is closed");
        for number in 0..OTHERS {
            append_at(
                &replica,
                "c",
                0,
                &[1; 400],
                NOW_MS + 500_000 + number * 1_000,
            );
        }
        replica.flush_tick(NOW_MS + 900_000).unwrap();
        replica.expire(&Retention::default(), NOW_MS).unwrap();
        replica.close().unwrap();
        drop(replica);
        let reopened = open(dir.path());
        assert_has(&reopened, COUNT, &format!("step {failing}"));
        assert_eq!(reopened.queue_offsets("t", 0), Some((0, COUNT + 1)));
    }
}

#[test]
fn a_queue_that_is_remade_keeps_its_messages_after_a_crash_at_any_step() {
    for seed in 0..amount(4, 8) {
        let dir = tempdir();
        let (replica, _dirs, [_, other]) = prepare(dir.path());
        let images = Arc::new(Mutex::new((Disk::new(dir.path(), seed), Vec::new())));
        let taken = Arc::clone(&images);
        let hook: Hook = Arc::new(move |event: &Event<'_>| {
            let mut taken = taken.lock().unwrap();
            taken.0.note(event);
            let image = tempdir();
            let mut random = Rng::with_seed(seed);
            taken.0.crash(image.path(), &mut random).unwrap();
            go_down(image.path());
            taken.1.push((format!("{event:?}"), image));
            Ok(())
        });
        let watched = watch(dir.path(), hook);
        copy(&other, &replica);
        replica.flush_tick(NOW_MS + 900_000).unwrap();
        drop(watched);
        assert_has(&replica, KEPT, "there");

        let taken = std::mem::take(&mut images.lock().unwrap().1);
        assert!(taken.iter().any(|(at, _)| at.contains("consumequeue/t")));
        for (at, image) in taken {
            let store = open(image.path());
            let (begin, end) = store.queue_offsets("t", 0).expect(&at);
            assert!(
                begin == 0 && (KEPT..=COUNT).contains(&end),
                "{at}: {begin}..{end}"
            );
            assert_has(&store, if end == COUNT { COUNT } else { KEPT }, &at);
        }
    }
}
