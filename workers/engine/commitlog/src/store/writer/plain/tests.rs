//! Ordinary messages are appended a short way: what it writes is what the long way writes.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use fastrand::Rng;

use super::*;
use crate::store::Store;

const NOW_MS: i64 = 1_758_000_000_000;
const TOPICS: [&str; 4] = [
    "t",
    "Orders",
    "SCHEDULE_TOPIC_XXXX",
    "%RETRY%a group of consumers",
];
const PROPERTIES: [&[u8]; 5] = [
    b"",
    b"TAGS\x01TagA\x02",
    b"DELAY\x013\x02TAGS\x01x\x02",
    b"UNIQ_KEY\x01AC11000200002A9F0000000000000001\x02WAIT\x01true\x02TAGS\x01behind others\x02",
    b"KEYS\x01without a separator",
];
const SYS_FLAGS: [i32; 6] = [0, 1, 4, 8, 12, 0x80];
const BODY_SIZE_MAX: usize = 600;

/// Everything that an append gets.
#[derive(Clone)]
struct Sample {
    topic: &'static str,
    queue_id: i32,
    sys_flag: i32,
    hosts: [SocketAddr; 2],
    tags_code: Option<i64>,
    body: Vec<u8>,
    properties: &'static [u8],
    now_ms: i64,
}

impl Sample {
    /// Mostly ordinary ones, several to a topic in turn.
    fn random(random: &mut Rng, number: i64) -> Self {
        let mut seldom = |usually: usize, count: usize| match random.u8(..8) {
            0 => random.usize(..count),
            _ => usually,
        };
        let host = |number: usize| -> SocketAddr {
            let text = ["10.1.2.3:4", "[2001:db8::1]:10911"][number];
            text.parse().unwrap()
        };
        let topic = TOPICS[seldom(1, TOPICS.len())];
        let hosts = [host(seldom(0, 2)), host(seldom(0, 2))];
        let sys_flag = SYS_FLAGS[seldom(0, SYS_FLAGS.len())];
        let queue_id = [0, 1, 2, -1, 70_000][seldom(0, 5)];
        let size = seldom(100, BODY_SIZE_MAX + 2);
        let size = size + usize::from(random.u8(..2)) * random.usize(..60);
        Self {
            topic,
            queue_id,
            sys_flag,
            hosts,
            tags_code: random.bool().then_some(77),
            body: (0..size).map(|_| random.u8(..)).collect(),
            properties: PROPERTIES[random.usize(..PROPERTIES.len())],
            now_ms: NOW_MS + number,
        }
    }

    fn message(&self) -> NewMessage<'_> {
        NewMessage {
            sys_flag: self.sys_flag,
            flag: 7,
            born_timestamp_ms: NOW_MS - 5,
            born_host: self.hosts[0],
            store_host: self.hosts[1],
            reconsume_times: 2,
            properties: self.properties,
            tags_code: self.tags_code,
            ..NewMessage::new(self.topic, self.queue_id, &self.body)
        }
    }
}

/// Appends the short way where it is open to the message.
fn append_as_usual(store: &Store, sample: &Sample) -> Result<Appended, AppendError> {
    let mut writer = store.writer().unwrap();
    writer.append(&sample.message(), sample.now_ms)
}

fn append_the_long_way(store: &Store, sample: &Sample) -> Result<Appended, AppendError> {
    let mut writer = store.writer().unwrap();
    writer.append_long(&sample.message(), sample.now_ms)
}

fn files_below(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_below(&path));
        } else {
            files.push((path.display().to_string(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn assert_same_files(one_dir: &Path, other_dir: &Path) {
    for part in ["commitlog", "consumequeue"] {
        let ones = files_below(&one_dir.join(part));
        let others = files_below(&other_dir.join(part));
        let name = |(path, _): &(String, Vec<u8>)| path.split(part).nth(1).map(str::to_owned);
        assert!(ones.iter().map(name).eq(others.iter().map(name)));
        for (one, other) in ones.iter().zip(&others) {
            assert!(one.1 == other.1, "{} and {} differ", one.0, other.0);
        }
    }
}

#[test]
fn both_ways_write_the_same_bytes_and_refuse_the_same_messages() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let [short, long] = [&dirs[0], &dirs[1]].map(|dir| {
        let mut config = StoreConfig::new(dir.path());
        config.message_body_size_max = BODY_SIZE_MAX;
        config.segment_size_bytes = 16_384;
        config.queue_file_size_bytes = 200;
        Store::open(config, NOW_MS).unwrap()
    });
    let mut random = Rng::with_seed(16);
    let mut refused_count = 0;

    for number in 0..3_000 {
        let sample = Sample::random(&mut random, number);
        match (
            append_as_usual(&short, &sample),
            append_the_long_way(&long, &sample),
        ) {
            (Ok(one), Ok(other)) => assert_eq!(one, other, "message {number}"),
            (Err(one), Err(other)) => {
                assert_eq!(one.to_string(), other.to_string(), "message {number}");
                refused_count += 1;
            }
            (one, other) => panic!("message {number}: {one:?}, {other:?}"),
        }
    }

    assert!((100..1_500).contains(&refused_count), "{refused_count}");
    assert_eq!(short.counters(), long.counters());
    short.close().unwrap();
    long.close().unwrap();
    assert_same_files(dirs[0].path(), dirs[1].path());
}
