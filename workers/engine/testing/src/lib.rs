//! What tests of several crates need: stores, a hot path with one topic, and frames of clients.
//!
//! Only tests depend on this crate. A fault of the tests' own makes each function panic.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use regent_commitlog::{Store, StoreConfig};
use regent_hotpath::{Grant, HotPath, HotPathConfig, PullAnswers, Taker, Topic};
use regent_remoting::{Command, Decoder, Encoding, Fields, FrameWriter, Language, limits};

/// The time of a test's begin, in milliseconds since 1970.
pub const NOW_MS: i64 = 1_758_000_000_000;
/// Header fields of a request, by name.
pub type Ext<'a> = [(&'a str, &'a str)];

const SEND_MESSAGE_V2: i32 = 310;

/// Opens a store whose log has small segments.
pub fn open_store(dir: &Path, segment_size_bytes: u64, now_ms: i64) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = segment_size_bytes;
    // What the store is opened with otherwise takes longer to populate than most tests do.
    config.populate_ahead_bytes = 64 << 10;
    Store::open(config, now_ms).unwrap()
}

/// Makes the hot path of `broker-a`, which knows no topic.
pub fn hot_path(seed: u64) -> HotPath {
    HotPath::new(HotPathConfig {
        broker_name: "broker-a".to_owned(),
        cluster_name: "cluster-1".to_owned(),
        region: "DefaultRegion".to_owned(),
        trace_on: true,
        store_host: "10.0.0.1:10911".parse().unwrap(),
        frame_size_max: limits::FRAME_SIZE_MAX_DEFAULT,
        seed,
    })
}

/// Adds the topic `Orders` with so many queues to read and to write.
pub fn set_orders(hot: &HotPath, queue_count: u32) {
    let topic = Topic {
        perm: 6,
        read_queue_count: queue_count,
        write_queue_count: queue_count,
        leading: None,
    };
    hot.set_topic("Orders", topic);
}

/// What a group may pull, by the facts of now: every message, at most 32 at once.
pub fn grant(hot: &HotPath, queue_count: i32) -> Grant {
    Grant {
        read_queue_count: queue_count,
        filter: None,
        count_max: 32,
        bytes_max: 1 << 18,
        suggested_broker_id: 0,
        parked_ms: None,
        moves_consumers: true,
        facts_version: hot.facts_version(),
        leading: None,
        pop: None,
    }
}

/// Takes at most 256 KiB of messages, and answers of any size.
pub fn taker<'t, 's>(answers: &'t mut PullAnswers<'s>, elapsed_ms: i64) -> Taker<'t, 's> {
    Taker {
        bytes_max: 1 << 18,
        answer_bytes_max: usize::MAX,
        answers,
        elapsed_ms,
    }
}

/// The fixed fields of a request of a Java client.
pub fn fields(code: i32, opaque: i32) -> Fields<'static> {
    Fields {
        code,
        language: Language::JAVA,
        version: 479,
        opaque,
        flag: 0,
        remark: None,
    }
}

/// Writes a frame.
pub fn frame(fields: &Fields<'_>, encoding: Encoding, ext: &Ext<'_>, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = FrameWriter::begin(&mut out, encoding, fields);
    for (key, value) in ext {
        writer.ext(key, value);
    }
    writer.finish(body).unwrap();
    out
}

/// Writes the send of one message to a queue of `Orders`.
pub fn send(encoding: Encoding, opaque: i32, queue_id: &str, body: &[u8]) -> Vec<u8> {
    let ext = [
        ("a", "pg"),
        ("b", "Orders"),
        ("c", "TBW102"),
        ("d", "4"),
        ("e", queue_id),
        ("f", "0"),
        ("g", "1758000000000"),
        ("h", "0"),
        ("i", "UNIQ_KEY\u{1}7F0000010A2B\u{2}WAIT\u{1}true\u{2}"),
        ("j", "0"),
        ("m", "false"),
    ];
    frame(&fields(SEND_MESSAGE_V2, opaque), encoding, &ext, body)
}

/// Reads every frame of some bytes.
pub fn decode(bytes: &[u8]) -> Vec<Command> {
    let mut commands = Vec::new();
    let mut decoder = Decoder::new(limits::FRAME_SIZE_MAX_DEFAULT);
    decoder.receive(bytes, &mut commands).unwrap();
    commands
}
