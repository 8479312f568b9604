//! Messages that hold thousands of places at which a record seems to begin, each of them as long as
//! what is left of the message. The cost of a search behind damage must not grow with the square of
//! such a message's size.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::*;
use regent_commitlog::inspect::{LogWalk, Step};
use regent_commitlog::{NewMessage, Store, StoreConfig};
use tempfile::TempDir;

const SEGMENT_SIZE: u64 = 16 << 20;
const BODY_SIZE: usize = 12 << 20;
/// What comes before the body of a record with IPv4 hosts.
const HEAD_SIZE: usize = 88;
const MAGIC: [u8; 4] = 0xDAA3_20A7_u32.to_be_bytes();
/// A topic of one letter and no properties.
const TAIL: [u8; 4] = [1, b't', 0, 0];
/// It takes a second; with all that seems to be a body looked at, a quarter of an hour.
const PATIENCE: Duration = Duration::from_secs(60);

fn config(dir: &Path) -> StoreConfig {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = SEGMENT_SIZE;
    config.message_body_size_max = BODY_SIZE;
    config
}

/// A body for a place in the log, made of heads whose body ends where this one does.
fn hostile_body(position: u64) -> Vec<u8> {
    let mut body = vec![0; BODY_SIZE];
    let end = BODY_SIZE - TAIL.len();
    body[end..].copy_from_slice(&TAIL);
    for at in (0..end - HEAD_SIZE).step_by(HEAD_SIZE) {
        let head = &mut body[at..at + HEAD_SIZE];
        let mut put = |at: usize, field: &[u8]| head[at..at + field.len()].copy_from_slice(field);
        put(0, &u32::try_from(BODY_SIZE - at).unwrap().to_be_bytes());
        put(4, &MAGIC);
        put(28, &(position + at as u64).to_be_bytes());
        let body_size = u32::try_from(end - at - HEAD_SIZE).unwrap();
        put(84, &body_size.to_be_bytes());
    }
    body
}

/// A store that was killed, in whose log such a message is damaged; with it where the next one is.
fn damaged() -> (TempDir, u64) {
    let dir = sample::memory_dir();
    let store = Store::open(config(dir.path()), NOW_MS).unwrap();
    let first = append(&store, "t", 0, b"first");
    let at = first.log_position + u64::from(first.size);
    let body = hostile_body(at + HEAD_SIZE as u64);
    let mut writer = store.writer().unwrap();
    let message = NewMessage::new("t", 0, &body);
    assert_eq!(writer.append(&message, NOW_MS).unwrap().log_position, at);
    drop(writer);
    let next = append(&store, "t", 0, b"next").log_position;
    store.flush().unwrap();
    drop(store);
    let path = dir.path().join("commitlog").join(format!("{:020}", 0));
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[0xFF], at + 4).unwrap();
    (dir, next)
}

#[test]
fn a_store_opens_soon_although_one_is_damaged() {
    let (dir, next) = damaged();
    let started = Instant::now();

    let store = Store::open(config(dir.path()), NOW_MS).unwrap();

    let damage = store.recovery().damage.unwrap();
    assert_eq!(damage.next_valid_position, Some(next));
    assert!(started.elapsed() < PATIENCE);
}

#[test]
fn a_walk_passes_one_that_is_damaged_soon() {
    let (dir, next) = damaged();
    let started = Instant::now();
    let mut walk = LogWalk::new(&dir.path().join("commitlog")).unwrap();

    assert!(matches!(walk.step().unwrap(), Some(Step::Record(_))));
    let behind = walk.step().unwrap();

    assert!(matches!(behind, Some(Step::Damaged { next: at, .. }) if at == next));
    assert!(started.elapsed() < PATIENCE);
}
