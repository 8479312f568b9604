//! Ordinary messages are appended a short way, alone or together: what it writes is what the long
//! way writes.

use std::fs;
use std::net::SocketAddr;
use std::path::Path;

use fastrand::Rng;
use regent_commitlog::{AppendError, Appended, NewMessage, Store};

use crate::support::*;

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

/// Everything that an append is told.
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

/// The long way: messages that go together are checked first, then written.
fn append_the_long_way(store: &Store, sample: &Sample) -> Result<Option<u64>, AppendError> {
    let message = sample.message();
    let alone = [(message.body, message.properties)];
    let mut writer = store.writer().unwrap();
    writer.append_each(&message, &alone, sample.now_ms)
}

/// The short way for several that differ in body and properties only.
fn append_together(store: &Store, samples: &[Sample]) -> Option<u64> {
    let shared = samples[0].message();
    let messages = samples.iter().map(|it| (&it.body[..], it.properties));
    let mut writer = store.writer().unwrap();
    let first = writer.append_ordinary_each(&shared, messages, samples[0].now_ms);
    first.unwrap()
}

fn append_as_usual(store: &Store, sample: &Sample) -> Result<Appended, AppendError> {
    let mut writer = store.writer().unwrap();
    writer.append(&sample.message(), sample.now_ms)
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
    let (short_dir, long_dir) = (tempdir(), tempdir());
    let configured = |dir: &Path| {
        let mut config = config(dir);
        config.message_body_size_max = BODY_SIZE_MAX;
        config
    };
    let short = Store::open(configured(short_dir.path()), NOW_MS).unwrap();
    let long = Store::open(configured(long_dir.path()), NOW_MS).unwrap();
    let mut random = Rng::with_seed(16);
    let mut refused_count = 0;

    for number in 0..3_000 {
        let sample = Sample::random(&mut random, number);
        match (
            append_as_usual(&short, &sample),
            append_the_long_way(&long, &sample),
        ) {
            (Ok(one), Ok(other)) => {
                assert_eq!(Some(one.queue_offset), other, "message {number}");
                assert_eq!(one.store_timestamp_ms, sample.now_ms);
            }
            (Err(one), Err(other)) => {
                assert_eq!(one.to_string(), other.to_string(), "message {number}");
                refused_count += 1;
            }
            (one, other) => panic!("message {number}: {one:?}, {other:?}"),
        }
        assert_eq!(
            short.max_position(),
            long.max_position(),
            "message {number}"
        );
    }

    assert!((100..1_500).contains(&refused_count), "{refused_count}");
    assert_eq!(short.counters(), long.counters());
    short.close().unwrap();
    long.close().unwrap();
    assert_same_files(short_dir.path(), long_dir.path());
}

/// Some that share what all messages of one append share.
fn random_group(random: &mut Rng, number: i64) -> Vec<Sample> {
    let first = Sample::random(random, number);
    let others = (0..random.usize(..20)).map(|_| Sample {
        body: vec![random.u8(..); random.usize(..BODY_SIZE_MAX + 3)],
        properties: PROPERTIES[random.usize(..PROPERTIES.len())],
        ..first.clone()
    });
    let others: Vec<_> = others.collect();
    [vec![first], others].concat()
}

#[test]
fn what_goes_together_is_written_as_it_is_alone_or_not_at_all() {
    let (together_dir, alone_dir) = (tempdir(), tempdir());
    let configured = |dir: &Path| {
        let mut config = config(dir);
        config.message_body_size_max = BODY_SIZE_MAX;
        // Most groups fit, and some reach into the next file.
        config.segment_size_bytes = 64 << 10;
        config.queue_file_size_bytes = 2_000;
        config
    };
    let together = Store::open(configured(together_dir.path()), NOW_MS).unwrap();
    let alone = Store::open(configured(alone_dir.path()), NOW_MS).unwrap();
    let mut random = Rng::with_seed(17);
    let (mut short_count, mut refused_count) = (0, 0);

    for number in 0..1_500 {
        let group = random_group(&mut random, number);
        let end = together.max_position();
        let all_fit = group.iter().all(|it| it.body.len() <= BODY_SIZE_MAX);
        let first = append_together(&together, &group);
        if first.is_none() {
            assert_eq!(
                together.max_position(),
                end,
                "group {number} was half written"
            );
        }
        if !all_fit {
            assert_eq!(first, None, "group {number} breaks a limit");
            refused_count += 1;
            continue;
        }
        short_count += usize::from(first.is_some());
        for (sample, place) in group.iter().zip(0..) {
            let one = append_as_usual(&alone, sample);
            if let Some(first) = first {
                let offset = one.unwrap().queue_offset;
                assert_eq!(offset, first + place, "group {number}");
            } else {
                let other = append_as_usual(&together, sample);
                assert_eq!(one.is_ok(), other.is_ok(), "group {number}");
            }
        }
        assert_eq!(
            together.max_position(),
            alone.max_position(),
            "group {number}"
        );
    }

    assert!(short_count > 300, "{short_count} went together");
    assert!(refused_count > 50, "{refused_count}");
    assert_eq!(together.counters(), alone.counters());
    together.close().unwrap();
    alone.close().unwrap();
    assert_same_files(together_dir.path(), alone_dir.path());
}
