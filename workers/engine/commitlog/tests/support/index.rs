//! A slow index written by the specification alone, and messages with keys to fill it.

use std::fs;
use std::path::Path;

use fastrand::Rng;
use regent_commitlog::{KeySearch, NewMessage, Store, StoreConfig};

use super::NOW_MS;

pub const SLOT_COUNT: usize = 7;
/// Eleven keys to a file.
pub const ENTRY_COUNT: usize = 12;
const TOPICS: [&str; 3] = ["orders", "büche\u{1F4D6}r", "%RETRY%g"];
/// "Aa" and "BB" have one hash, and so have the two that begin with them.
const KEYS: [&str; 8] = ["Aa", "BB", "AaBB", "BBAa", "k1", "k2", "ключ", "T#red"];

pub fn config(dir: &Path) -> StoreConfig {
    let mut config = super::config(dir);
    config.index_slot_count = u32::try_from(SLOT_COUNT).unwrap();
    config.index_entry_count = u32::try_from(ENTRY_COUNT).unwrap();
    config
}

pub fn open(dir: &Path) -> Store {
    Store::open(config(dir), NOW_MS).expect("the store opens")
}

pub fn pick<T: Copy, const N: usize>(random: &mut Rng, choices: [T; N]) -> T {
    choices[random.usize(..N)]
}

/// Indexes the whole log.
pub fn build(store: &Store) {
    while store.advance_followers(NOW_MS, 0).expect("indexed") > 0 {}
    assert_eq!(store.index_status().position, store.max_position());
}

/// Names and contents of the index files.
pub fn files(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(entries) = fs::read_dir(dir.join("index")) else {
        return Vec::new();
    };
    let mut files: Vec<_> = entries
        .map(|entry| entry.unwrap())
        .map(|entry| {
            (
                entry.file_name().into_string().unwrap(),
                fs::read(entry.path()).unwrap(),
            )
        })
        .filter(|(name, _)| name != "damaged")
        .collect();
    files.sort_unstable();
    files
}

pub fn contents(dir: &Path) -> Vec<Vec<u8>> {
    files(dir).into_iter().map(|(_, content)| content).collect()
}

/// A message as the tests remember it.
#[derive(Debug, Clone)]
pub struct Keyed {
    pub topic: &'static str,
    pub unique_key: Option<String>,
    pub keys: Option<String>,
    pub tags: Option<&'static str>,
    pub sys_flag: i32,
    pub position: u64,
    pub stored_ms: i64,
}

impl Keyed {
    pub fn new(topic: &'static str, unique_key: &str) -> Self {
        Self {
            topic,
            unique_key: Some(unique_key.to_owned()),
            keys: None,
            tags: None,
            sys_flag: 0,
            position: 0,
            stored_ms: NOW_MS,
        }
    }

    pub fn random(random: &mut Rng, number: u64, stored_ms: i64) -> Self {
        let keys: Vec<_> = (0..random.usize(..5)).map(|_| pick(random, KEYS)).collect();
        let blank = pick(random, [" ", "  "]);
        Self {
            topic: pick(random, TOPICS),
            unique_key: (random.u8(..4) > 0).then(|| format!("U{}", number % 40)),
            keys: (random.u8(..3) > 0).then(|| keys.join(blank)),
            tags: pick(random, [None, None, Some("red"), Some("blue")]),
            sys_flag: pick(random, [0, 0, 0, 0x4, 0x8, 0xC]),
            position: 0,
            stored_ms,
        }
    }

    /// Appends the message and notes where it went.
    pub fn append(mut self, store: &Store, body: &[u8]) -> Self {
        let properties = self.properties();
        let message = NewMessage {
            properties: properties.as_bytes(),
            sys_flag: self.sys_flag,
            ..NewMessage::new(self.topic, 0, body)
        };
        let mut writer = store.writer().unwrap();
        self.position = writer
            .append(&message, self.stored_ms)
            .unwrap()
            .log_position;
        self
    }

    fn properties(&self) -> String {
        let tags = self.tags.map(str::to_owned);
        let pairs = [
            ("TAGS", &tags),
            ("KEYS", &self.keys),
            ("UNIQ_KEY", &self.unique_key),
        ];
        let pair = |(name, value): (&str, &Option<String>)| {
            value
                .as_ref()
                .map(|value| format!("{name}\u{1}{value}\u{2}"))
        };
        pairs.into_iter().filter_map(pair).collect()
    }

    /// The texts that are indexed, in order.
    pub fn key_texts(&self) -> Vec<String> {
        if self.sys_flag & 0xC == 0xC {
            return Vec::new();
        }
        let topic = self.topic;
        let unique = self.unique_key.iter().map(|key| format!("{topic}#{key}"));
        let parts = self.keys.iter().flat_map(|keys| keys.split(' '));
        let parts = parts.filter(|part| !part.is_empty());
        let tags = self.tags.iter().map(|tags| format!("{topic}#T#{tags}"));
        unique
            .chain(parts.map(|key| format!("{topic}#{key}")))
            .chain(tags)
            .collect()
    }

    pub fn has_key(&self, topic: &str, key: &str) -> bool {
        let is_unique = self.unique_key.as_deref() == Some(key);
        let is_part = self
            .keys
            .iter()
            .any(|keys| keys.split(' ').any(|part| part == key));
        self.sys_flag & 0xC != 0xC && self.topic == topic && (is_unique || is_part)
    }
}

fn get<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().unwrap()
}

fn get_i32(bytes: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(get(bytes, at))
}

fn get_i64(bytes: &[u8], at: usize) -> i64 {
    i64::from_be_bytes(get(bytes, at))
}

fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

fn hash_of(text: &str) -> i32 {
    let mut hash = 0_i32;
    for unit in text.encode_utf16() {
        hash = hash.wrapping_mul(31).wrapping_add(i32::from(unit));
    }
    if hash == i32::MIN { 0 } else { hash.abs() }
}

fn slot_at(hash: i32) -> usize {
    40 + 4 * (usize::try_from(hash).unwrap() % SLOT_COUNT)
}

fn entry_at(number: i32) -> usize {
    40 + 4 * SLOT_COUNT + 20 * usize::try_from(number).unwrap()
}

/// All files of an index, in memory.
#[derive(Debug, Clone, Default)]
pub struct IndexModel {
    pub files: Vec<Vec<u8>>,
}

impl IndexModel {
    pub fn of(messages: &[Keyed]) -> Self {
        let mut model = Self::default();
        for message in messages {
            for text in message.key_texts() {
                model.put(&text, message.position, message.stored_ms);
            }
        }
        model
    }

    fn put(&mut self, text: &str, position: u64, stored_ms: i64) {
        let is_full = |file: &Vec<u8>| get_i32(file, 36) >= i32::try_from(ENTRY_COUNT).unwrap();
        if self.files.last().is_none_or(is_full) {
            let mut file = vec![0; 40 + 4 * SLOT_COUNT + 20 * ENTRY_COUNT];
            if let Some(last) = self.files.last() {
                for (to, from) in [(0, 8), (8, 8), (16, 24), (24, 24)] {
                    put(&mut file, to, &get::<8>(last, from));
                }
            }
            put(&mut file, 36, &1_i32.to_be_bytes());
            self.files.push(file);
        }
        let file = self.files.last_mut().unwrap();
        let number = get_i32(file, 36);
        let hash = hash_of(text);
        let newest = get_i32(file, slot_at(hash));
        let begin_ms = get_i64(file, 0);
        let elapsed_s = if begin_ms <= 0 || stored_ms < begin_ms {
            0
        } else {
            i32::try_from((stored_ms - begin_ms) / 1000).unwrap_or(i32::MAX)
        };
        let at = entry_at(number);
        put(file, at, &hash.to_be_bytes());
        put(file, at + 4, &position.to_be_bytes());
        put(file, at + 12, &elapsed_s.to_be_bytes());
        put(file, at + 16, &newest.to_be_bytes());
        put(file, slot_at(hash), &number.to_be_bytes());
        if number == 1 {
            put(file, 0, &stored_ms.to_be_bytes());
            put(file, 16, &position.to_be_bytes());
        }
        if newest == 0 {
            let used = get_i32(file, 32) + 1;
            put(file, 32, &used.to_be_bytes());
        }
        put(file, 36, &(number + 1).to_be_bytes());
        put(file, 8, &stored_ms.to_be_bytes());
        put(file, 24, &position.to_be_bytes());
    }

    /// Positions of a key's hash in a range of times, as stock finds them, collisions included.
    pub fn find(&self, text: &str, begin: i64, end: i64) -> Vec<u64> {
        let mut found = Vec::new();
        for file in self.files.iter().rev() {
            let (file_begin, file_end) = (get_i64(file, 0), get_i64(file, 8));
            let is_visited = begin < file_begin && end > file_end
                || begin >= file_begin && begin <= file_end
                || end >= file_begin && end <= file_end;
            if is_visited {
                Self::follow(file, hash_of(text), begin, end, &mut found);
            }
            if file_begin < begin {
                break;
            }
        }
        found
    }

    fn follow(file: &[u8], hash: i32, begin: i64, end: i64, found: &mut Vec<u64>) {
        let mut number = get_i32(file, slot_at(hash));
        while number > 0 {
            let at = entry_at(number);
            let time = get_i64(file, 0) + i64::from(get_i32(file, at + 12)) * 1000;
            if get_i32(file, at) == hash && time >= begin && time <= end {
                found.push(u64::from_be_bytes(get(file, at + 4)));
            }
            if time < begin {
                break;
            }
            number = get_i32(file, at + 16);
        }
    }
}

/// A store's messages, appended at times that mostly rise.
#[derive(Debug)]
pub struct Filler {
    random: Rng,
    stored_ms: i64,
    pub messages: Vec<Keyed>,
}

impl Filler {
    pub fn new(seed: u64) -> Self {
        Self {
            random: Rng::with_seed(seed),
            stored_ms: NOW_MS,
            messages: Vec::new(),
        }
    }

    pub fn append(&mut self, store: &Store, count: usize) {
        for _ in 0..count {
            self.stored_ms += match self.random.u8(..20) {
                0 => -self.random.i64(0..5_000),
                1 => self.random.i64(0..100_000),
                2..10 => 0,
                _ => self.random.i64(0..1_500),
            };
            let number = self.messages.len() as u64;
            let message = Keyed::random(&mut self.random, number, self.stored_ms);
            let body = vec![7; self.random.usize(..400)];
            self.messages.push(message.append(store, &body));
        }
    }

    pub fn model(&self) -> IndexModel {
        IndexModel::of(&self.messages)
    }

    /// Compares random searches with the model's.
    pub fn check_searches(&mut self, store: &Store) {
        let model = self.model();
        for _ in 0..60 {
            let topic = pick(&mut self.random, TOPICS);
            let unique = format!("U{}", self.random.u8(..40));
            let named = pick(&mut self.random, KEYS);
            let key = pick(&mut self.random, [named, &unique, "absent"]);
            let (begin, end) = self.times();
            let count_max = pick(&mut self.random, [0, 1, 3, 1000]);

            let found = store.search(KeySearch::by_key(topic, key, count_max, begin, end));

            let message_at = |position: &u64| {
                let mut messages = self.messages.iter();
                messages
                    .find(|message| message.position == *position)
                    .unwrap()
            };
            let mut expected = model.find(&format!("{topic}#{key}"), begin, end);
            expected.retain(|position| message_at(position).has_key(topic, key));
            expected.dedup();
            expected.truncate(count_max.min(64));
            assert_eq!(found, expected, "{topic} {key} {count_max} {begin} {end}");
        }
    }

    /// Whatever a search returns has the key it was asked for.
    pub fn assert_no_lie(&self, store: &Store) {
        for message in &self.messages {
            let keys = message.unique_key.iter().chain(&message.keys);
            for key in keys.flat_map(|keys| keys.split(' ')) {
                for position in store.search(KeySearch::by_key(message.topic, key, 64, 0, i64::MAX))
                {
                    let is_right = |one: &&Keyed| one.position == position;
                    let found = self.messages.iter().find(is_right).unwrap();
                    assert!(found.has_key(message.topic, key), "{key} at {position}");
                }
            }
        }
    }

    fn times(&mut self) -> (i64, i64) {
        if self.random.bool() {
            return (0, i64::MAX);
        }
        let mut time = || self.random.i64(NOW_MS - 2_000..self.stored_ms + 2_000);
        let (one, other) = (time(), time());
        (one.min(other), one.max(other))
    }
}
