#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;
use std::sync::Arc;

use parking_lot::Mutex;

use super::*;
use crate::Store;
use crate::config::StoreConfig;
use crate::message::NewMessage;

const NOW_MS: i64 = 1_700_000_000_000;
const MESSAGE_COUNT: u64 = 200;

/// What a [`Recorder`] did, shared with the test.
#[derive(Debug, Default)]
struct Seen {
    /// Queue offsets of applied records that are not published yet.
    pending: Vec<u64>,
    published: Vec<u64>,
    min_position: u64,
    flush_count: usize,
    refused_count: usize,
}

/// A follower that keeps the queue offset of each record.
#[derive(Debug)]
struct Recorder {
    seen: Arc<Mutex<Seen>>,
    next: u64,
}

impl Follower for Recorder {
    fn name(&self) -> &'static str {
        "the recorder"
    }

    fn position(&self) -> u64 {
        self.next
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn apply(&mut self, record: &RecordView<'_>) {
        assert_eq!(record.log_position, self.next);
        self.seen.lock().pending.push(record.queue_offset);
        self.next += record.bytes.len() as u64;
    }

    fn skip_to(&mut self, position: u64) {
        assert!(position > self.next);
        self.next = position;
    }

    fn publish(&mut self, time: LocalTime) -> Result<(), StoreError> {
        assert_eq!((time.now_ms, time.utc_offset_s), (NOW_MS, 3600));
        let mut seen = self.seen.lock();
        if seen.refused_count > 0 && !seen.pending.is_empty() {
            seen.refused_count -= 1;
            return Err(StoreError::Closed);
        }
        let mut pending = std::mem::take(&mut seen.pending);
        seen.published.append(&mut pending);
        Ok(())
    }

    fn cut(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.next = log.min_position();
        *self.seen.lock() = Seen::default();
        Ok(())
    }

    fn restart(&mut self, log: &SharedLog) -> Result<(), StoreError> {
        self.next = log.min_position();
        Ok(())
    }

    fn repair(&mut self, _log: &SharedLog) -> Result<(), StoreError> {
        Ok(())
    }

    fn expire(&mut self, min_position: u64) -> Result<(), StoreError> {
        self.seen.lock().min_position = min_position;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), StoreError> {
        self.seen.lock().flush_count += 1;
        Ok(())
    }

    fn checkpoint(&self, checkpoint: &mut Checkpoint) {
        checkpoint.index_timestamp_ms = NOW_MS + 1;
    }
}

fn recorder(seen: &Arc<Mutex<Seen>>) -> Box<dyn Follower> {
    let seen = Arc::clone(seen);
    Box::new(Recorder { seen, next: 0 })
}

/// A store of small segments with messages, followed by a recorder.
fn followed(dir: &Path) -> (Store, Arc<Mutex<Seen>>) {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 4096;
    let mut store = Store::open(config, NOW_MS).unwrap();
    let seen = Arc::default();
    *store.followers.get_mut() = Followers::new(vec![recorder(&seen)]);
    let mut writer = store.writer().unwrap();
    for _ in 0..MESSAGE_COUNT {
        let message = NewMessage::new("orders", 0, b"body");
        writer.append(&message, NOW_MS).unwrap();
    }
    drop(writer);
    (store, seen)
}

fn advance_to_end(store: &Store) {
    while store.advance_followers(NOW_MS, 3600).unwrap() > 0 {}
}

#[test]
fn a_follower_applies_each_record_once_and_in_order() {
    let dir = tempfile::tempdir().unwrap();
    let (store, seen) = followed(dir.path());
    advance_to_end(&store);
    let every_offset: Vec<u64> = (0..MESSAGE_COUNT).collect();
    assert_eq!(seen.lock().published, every_offset);

    advance_to_end(&store);
    assert_eq!(seen.lock().published, every_offset);
}

#[test]
fn what_a_follower_could_not_publish_is_published_by_the_next_call() {
    let dir = tempfile::tempdir().unwrap();
    let (store, seen) = followed(dir.path());
    seen.lock().refused_count = 2;
    for _ in 0..2 {
        store.advance_followers(NOW_MS, 3600).unwrap_err();
        assert!(seen.lock().published.is_empty());
    }
    advance_to_end(&store);
    assert_eq!(
        seen.lock().published,
        (0..MESSAGE_COUNT).collect::<Vec<_>>()
    );
}

#[test]
fn the_checkpoint_holds_what_a_follower_wrote_into_it() {
    let dir = tempfile::tempdir().unwrap();
    let (store, _seen) = followed(dir.path());
    advance_to_end(&store);
    let written = Checkpoint::load(&store.directory.checkpoint()).unwrap();
    assert_eq!(written.index_timestamp_ms, NOW_MS + 1);
}

#[test]
fn closing_flushes_a_follower_and_ends_its_work() {
    let dir = tempfile::tempdir().unwrap();
    let (store, seen) = followed(dir.path());
    store.close().unwrap();
    assert_eq!(seen.lock().flush_count, 1);
    let refused = store.advance_followers(NOW_MS, 3600).unwrap_err();
    assert_eq!(refused.code(), "closed");
    assert!(seen.lock().published.is_empty());
}

#[test]
fn retention_and_cuts_reach_a_follower() {
    let dir = tempfile::tempdir().unwrap();
    let (store, seen) = followed(dir.path());
    advance_to_end(&store);
    store.flush().unwrap();
    let forced = crate::store::retention::Retention {
        is_forced: true,
        segment_count_max: 1,
        ..Default::default()
    };
    store.expire(&forced, NOW_MS).unwrap();
    assert_eq!(seen.lock().min_position, store.min_position());
    assert!(store.min_position() > 0);

    store.followers.lock().cut(&store.log).unwrap();
    advance_to_end(&store);
    let first = seen.lock().published[0];
    assert!(first > 0 && seen.lock().published.len() as u64 == MESSAGE_COUNT - first);
}

#[test]
fn a_follower_that_fails_does_not_delay_the_next_one() {
    let dir = tempfile::tempdir().unwrap();
    let (mut store, failing) = followed(dir.path());
    let other = Arc::default();
    *store.followers.get_mut() = Followers::new(vec![recorder(&failing), recorder(&other)]);
    failing.lock().refused_count = usize::MAX;
    for _ in 0..20 {
        store.advance_followers(NOW_MS, 3600).unwrap_err();
    }
    assert!(failing.lock().published.is_empty());
    assert_eq!(other.lock().published.len() as u64, MESSAGE_COUNT);
}
