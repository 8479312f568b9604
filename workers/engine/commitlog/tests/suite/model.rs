//! Random work against lists that say what a store must hold.

use std::collections::BTreeMap;

use std::path::Path;

use regent_commitlog::{Appended, FlushMode, NewMessage, Retention, Store};
use tempfile::TempDir;

use crate::support::*;

const TOPICS: [&str; 3] = ["orders", "%RETRY%group", "t"];

/// A message and where its record lies.
struct Held {
    position: u64,
    end: u64,
    body: Vec<u8>,
}

type Queue = (&'static str, i32);

/// What a store must hold: the messages of each queue, the end of the log, and how far readers see.
#[derive(Default)]
struct Model {
    queues: BTreeMap<Queue, Vec<Held>>,
    /// How many messages of each queue expired.
    gone: BTreeMap<Queue, u64>,
    /// Segments expire, and messages wait for the disk.
    is_sync: bool,
    end: u64,
    limit: Option<u64>,
    /// How many messages of each queue the store has made known to readers.
    told: BTreeMap<Queue, usize>,
}

impl Model {
    fn note(&mut self, queue: Queue, body: Vec<u8>, appended: &Appended) {
        let gone = self.gone.get(&queue).copied().unwrap_or(0);
        let bodies = self.queues.entry(queue).or_default();
        assert_eq!(appended.queue_offset, gone + bodies.len() as u64);
        assert!(appended.log_position >= self.end, "positions never go back");
        self.end = appended.log_position + u64::from(appended.size);
        bodies.push(Held {
            position: appended.log_position,
            end: self.end,
            body,
        });
    }

    /// Cuts the store where some message begins, and forgets it and all later ones.
    fn truncate(&mut self, random: &mut fastrand::Rng, store: &mut Store) {
        let held = self.queues.values().flatten().map(|held| held.position);
        let Some(position) = random.choice(held.collect::<Vec<_>>()) else {
            return;
        };
        store.truncate_to(position).unwrap();
        for bodies in self.queues.values_mut() {
            bodies.retain(|held| held.position < position);
        }
        if position == 0 {
            // Nothing is left that a queue could be of.
            self.queues.clear();
        }
        self.end = position;
        self.limit = self.limit.map(|limit| limit.min(position));
        // A store that was opened again may name any queue again, but must name each that grew.
        self.told = self.readable_counts();
    }

    /// Lets all go that may, which some of the next segments are then made of.
    fn expire(&mut self, store: &Store) {
        let retention = Retention {
            log_bytes_max: Some(0),
            segment_count_max: usize::MAX,
            ..Retention::default()
        };
        store.flush().unwrap();
        store.expire(&retention, NOW_MS).unwrap();
        let min = store.min_position();
        for (queue, held) in &mut self.queues {
            let before = held.len();
            held.retain(|held| held.position >= min);
            *self.gone.entry(*queue).or_default() += (before - held.len()) as u64;
        }
    }

    /// Opens the store, in the flush mode that `is_sync` asks for.
    fn open(&self, dir: &Path) -> Store {
        let mut config = config(dir);
        if self.is_sync {
            config.flush_mode = FlushMode::Sync;
            config.populate_ahead_bytes = 4096;
        }
        Store::open(config, NOW_MS).unwrap()
    }

    fn sees(&self, held: &Held) -> bool {
        self.limit.is_none_or(|limit| held.end <= limit)
    }

    fn readable_counts(&self) -> BTreeMap<Queue, usize> {
        let count = |held: &Vec<Held>| held.iter().filter(|held| self.sees(held)).count();
        let queues = self.queues.iter();
        queues.map(|(queue, held)| (*queue, count(held))).collect()
    }

    /// Moves the confirmed position anywhere; the store must name each queue that grew by it.
    fn confirm(&mut self, random: &mut fastrand::Rng, store: &Store) {
        let position = (random.u8(..5) > 0).then(|| random.u64(..self.end + 2_000));
        let named = store.set_confirmed_position(position);
        let was_limited = self.limit.is_some();
        self.limit = match (self.limit, position) {
            (Some(old), Some(new)) => Some(old.max(new)),
            (_, new) => new,
        };
        let counts = self.readable_counts();
        for (queue, count) in &counts {
            let grew = was_limited && self.told.get(queue).copied().unwrap_or(0) < *count;
            let is_named = named.iter().any(|range| {
                (&*range.topic, range.queue_id) == *queue && range.max_offset == *count as u64
            });
            assert!(is_named || !grew, "{queue:?} grew to {count}");
        }
        self.told = counts;
        self.check(store);
    }

    fn check(&self, store: &Store) {
        assert_eq!(store.max_position(), self.end);
        let confirmed = self.limit.map_or(self.end, |limit| limit.min(self.end));
        assert_eq!(store.confirmed_position(), confirmed);
        for ((topic, queue_id), bodies) in &self.queues {
            let readable = bodies.iter().filter(|held| self.sees(held));
            let bodies = readable.map(|held| held.body.clone());
            let gone = self.gone.get(&(*topic, *queue_id)).copied().unwrap_or(0);
            let expected: Vec<_> = (gone..).zip(bodies).collect();
            assert_eq!(
                read_all(store, topic, *queue_id),
                expected,
                "{topic}/{queue_id}"
            );
        }
        assert_eq!(store.queues().len(), self.queues.len());
    }
}

fn random_bytes(random: &mut fastrand::Rng, size_max: usize) -> Vec<u8> {
    let size = random.usize(..size_max);
    std::iter::repeat_with(|| random.u8(..))
        .take(size)
        .collect()
}

fn append_random(random: &mut fastrand::Rng, store: &Store, model: &mut Model) {
    let queue = (TOPICS[random.usize(..TOPICS.len())], random.i32(0..3));
    let mut writer = store.writer().unwrap();
    if random.u8(..4) > 0 {
        let body = random_bytes(random, 900);
        let message = NewMessage::new(queue.0, queue.1, &body);
        let appended = writer.append(&message, NOW_MS).unwrap();
        model.note(queue, body.clone(), &appended);
        return;
    }
    let bodies: Vec<_> = (0..random.usize(1..8))
        .map(|_| random_bytes(random, 300))
        .collect();
    let packed: Vec<u8> = bodies.iter().flat_map(|body| element(body, b"")).collect();
    let mut appended = Vec::new();
    let shared = NewMessage::new(queue.0, queue.1, b"");
    writer
        .append_batch(&shared, &packed, NOW_MS, &mut appended)
        .unwrap();
    for (body, appended) in bodies.into_iter().zip(&appended) {
        model.note(queue, body, appended);
    }
}

/// Closes, drops, or copies away under the store's feet; then opens again.
fn reopen(
    random: &mut fastrand::Rng,
    dir: TempDir,
    store: Store,
    model: &Model,
) -> (TempDir, Store) {
    match random.u8(..3) {
        0 => {
            store.close().unwrap();
            drop(store);
        }
        1 => drop(store),
        _ => {
            let copy = crash(dir.path());
            drop(store);
            let store = model.open(copy.path());
            return (copy, store);
        }
    }
    let store = model.open(dir.path());
    (dir, store)
}

#[test]
fn a_store_holds_what_was_appended_whatever_happens_in_between() {
    for seed in 0..12 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut dir = tempdir();
        let mut model = Model {
            is_sync: seed % 3 == 0,
            ..Model::default()
        };
        let mut store = model.open(dir.path());
        for step in 0..if model.is_sync { 400 } else { 120 } {
            match random.u8(..30) {
                3 => model.truncate(&mut random, &mut store),
                0 => {
                    (dir, store) = reopen(&mut random, dir, store, &model);
                    model.limit = None;
                }
                4 | 5 if model.is_sync => model.expire(&store),
                4 | 5 => model.confirm(&mut random, &store),
                1 => drop(store.flush().unwrap()),
                2 => store.flush_tick(NOW_MS + step * 5_000).unwrap(),
                _ => append_random(&mut random, &store, &mut model),
            }
        }
        println!("seed {seed}");
        model.check(&store);
        (dir, store) = reopen(&mut random, dir, store, &model);
        model.limit = None;
        model.check(&store);
        drop((store, dir));
    }
}

#[test]
fn threads_that_append_get_every_offset_once() {
    let dir = tempdir();
    let store = open(dir.path());
    let thread_count = 4;
    let per_thread = 300;

    let offsets: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..thread_count)
            .map(|_| {
                scope.spawn(|| {
                    (0..per_thread)
                        .map(|_| append(&store, "t", 0, b"body").queue_offset)
                        .collect::<Vec<_>>()
                })
            })
            .collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap())
            .collect()
    });

    let mut sorted = offsets;
    sorted.sort_unstable();
    assert_eq!(sorted, (0..thread_count * per_thread).collect::<Vec<u64>>());
    assert_eq!(
        read_all(&store, "t", 0).len() as u64,
        thread_count * per_thread
    );
}
