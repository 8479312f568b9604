//! What a connection keeps of what it was sent, and a held pull that would wait for the disk.

use std::fs::File;
use std::sync::Arc;

use regent_commitlog::{NewMessage, StoreConfig};
use regent_remoting::{Decoder, Fields, FrameWriter, Language, limits};
use rustix::fs::{Advice, fadvise};

use super::*;
use crate::broker::{HotPathConfig, Topic};
use crate::pull::{Grant, Granted, PullFilter, PullKind};

const NOW_MS: i64 = 1_758_000_000_000;
const KEY: &str = "7F0000010A2B18B4AAC2000000010000";

fn hot_path() -> HotPath {
    let hot = HotPath::new(HotPathConfig {
        broker_name: "broker-a".to_owned(),
        cluster_name: "cluster-1".to_owned(),
        region: "DefaultRegion".to_owned(),
        trace_on: true,
        store_host: SocketAddr::from(([10, 0, 0, 1], 10_911)),
        frame_size_max: limits::FRAME_SIZE_MAX_DEFAULT,
        seed: 1,
    });
    let topic = Topic {
        perm: 6,
        read_queue_count: 4,
        write_queue_count: 4,
        leading: None,
    };
    hot.set_topic("Orders", topic);
    hot
}

fn send(code: i32, properties: &str, body: &[u8]) -> Vec<u8> {
    let fields = Fields {
        code,
        language: Language::JAVA,
        version: 479,
        opaque: 1,
        flag: 0,
        remark: None,
    };
    let mut out = Vec::new();
    let mut writer = FrameWriter::begin(&mut out, Encoding::Json, &fields);
    for (key, value) in [
        ("a", "pg"),
        ("b", "Orders"),
        ("c", "TBW102"),
        ("d", "4"),
        ("e", "2"),
        ("f", "0"),
        ("g", "1758000000000"),
        ("h", "0"),
        ("i", properties),
        ("j", "0"),
        ("m", if code == 320 { "true" } else { "false" }),
    ] {
        writer.ext(key, value);
    }
    writer.finish(body).expect("it fits");
    out
}

/// So many messages of one byte, packed.
fn batch(count: usize) -> Vec<u8> {
    let mut one = [0; 23];
    one[3] = 23;
    one[19] = 1;
    one.repeat(count)
}

#[test]
fn buffers_of_unusual_messages_are_given_back() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = StoreConfig::new(dir.path());
    config.segment_size_bytes = 32 << 20;
    let store = Store::open(config, NOW_MS).expect("the store opens");
    let hot = hot_path();
    let mut connection = Connection::new(SocketAddr::from(([10, 0, 0, 5], 1)), &hot);
    let short = format!("UNIQ_KEY\u{1}{KEY}\u{2}");
    let many = "k\u{1}v\u{2}".repeat(60_000);
    for (properties, code, body, answer) in [
        (&short, 310, b"body".to_vec(), 0),
        (&many, 310, b"body".to_vec(), 13),
        (&short, 320, batch(20_000), 0),
        (&short, 310, b"body".to_vec(), 0),
    ] {
        let mut received = Received::default();

        let sent = send(code, properties, &body);
        connection
            .receive(&hot, &store, &sent, NOW_MS, &mut received)
            .expect("a whole frame");

        let code = format!("\"code\":{answer},");
        let replies = String::from_utf8_lossy(&received.replies);
        assert!(replies.contains(&code), "{answer}: {:.200}", replies);
        let kept = connection.scratch.capacity();
        assert!(kept <= KEPT_SIZE_MAX, "{kept}");
    }
}

#[test]
fn a_send_whose_queue_lacks_a_file_is_set_aside_with_all_that_follows_it() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = StoreConfig::new(dir.path());
    config.segment_size_bytes = 32 << 20;
    let store = Store::open(config, NOW_MS).expect("the store opens");
    let hot = hot_path();
    hot.set_setting_aside(true);
    let peer = SocketAddr::from(([10, 0, 0, 5], 1));
    let mut connection = Connection::new(peer, &hot);
    let one = |body: &[u8]| send(310, &format!("UNIQ_KEY\u{1}{KEY}\u{2}"), body);
    let chunk = [one(b"first"), one(b"second"), one(b"third")].concat();
    let receive = |connection: &mut Connection, chunk: &[u8]| {
        let mut received = Received::default();
        connection
            .receive(&hot, &store, chunk, NOW_MS, &mut received)
            .expect("whole frames");
        received
    };

    // The first frame comes in two parts.
    let began = receive(&mut connection, &chunk[..9]);
    let received = receive(&mut connection, &chunk[9..]);

    assert!(began.set_aside.is_none());
    let command = received.set_aside.expect("a new queue");
    assert_eq!(command.body, b"first");
    assert_eq!(received.left, one(b"second").len() + one(b"third").len());
    assert!(received.replies.is_empty() && received.cold.is_empty());
    let decoded = DecodedSend {
        code: command.code,
        opaque: command.opaque,
        flag: command.flag,
        encoding: command.encoding,
        ext: (command.ext.iter().map(|(key, value)| (&**key, &**value))).collect(),
        body: &command.body,
    };
    make_queue_file(&hot, &store, &decoded);
    let mut appended = Received::default();
    assert!(append_send(
        &hot,
        &store,
        peer,
        &decoded,
        NOW_MS,
        &mut appended
    ));
    let rest = receive(&mut connection, &chunk[chunk.len() - received.left..]);
    assert!(rest.set_aside.is_none());
    assert_eq!(rest.arrivals[0].max_offset, 3);
}

#[test]
fn a_send_to_a_queue_that_cannot_be_is_not_set_aside() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut config = StoreConfig::new(dir.path());
    config.segment_size_bytes = 32 << 20;
    let store = Store::open(config, NOW_MS).expect("the store opens");
    let hot = hot_path();
    hot.set_setting_aside(true);
    store.close().expect("the store closes");
    let mut connection = Connection::new(SocketAddr::from(([10, 0, 0, 5], 1)), &hot);
    let mut received = Received::default();

    let sent = send(310, "", b"late");
    connection
        .receive(&hot, &store, &sent, NOW_MS, &mut received)
        .expect("a whole frame");

    assert!(received.set_aside.is_none());
    assert!(received.store_failure.is_some());
}

const MIB: u32 = 1 << 20;

/// A directory beside this program, which lies on a disk: memory for files has no cold pages.
fn disk_dir() -> tempfile::TempDir {
    let program = std::env::current_exe().expect("this program");
    let beside = program.parent().expect("its directory");
    tempfile::tempdir_in(beside).expect("a directory")
}

/// A queue of so many messages of 1 MiB, the first of which are on the disk alone.
fn cold_queue(dir: &std::path::Path, queue_id: i32, count: u64) -> Store {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 4 * u64::from(MIB);
    let store = Store::open(config.clone(), NOW_MS).expect("the store opens");
    let body = vec![7; MIB as usize];
    let message = NewMessage::new("Orders", queue_id, &body);
    for _ in 0..count {
        let mut writer = store.writer().expect("the store is open");
        writer.append(&message, NOW_MS).expect("there is room");
    }
    store.close().expect("the store closes");
    drop(store);
    // A clean opening reads the last segment only.
    let first = File::open(dir.join("commitlog/00000000000000000000")).expect("a segment");
    fadvise(&first, 0, None, Advice::DontNeed).expect("the kernel knows it");
    Store::open(config, NOW_MS).expect("the store opens")
}

#[test]
fn a_held_pull_whose_messages_are_on_the_disk_alone_is_sent_again() {
    const COUNT: u64 = 24;
    let dir = disk_dir();
    let (store, hot) = (cold_queue(dir.path(), 2, COUNT), hot_path());
    let kind = PullKind {
        code: 11,
        group: "g",
        topic: "Orders",
        filter: PullFilter::Registered { version: 1 },
    };
    let grant = Grant {
        read_queue_count: 4,
        filter: None,
        count_max: 32,
        bytes_max: 1 << 18,
        suggested_broker_id: 0,
        parked_ms: None,
        moves_consumers: true,
        facts_version: hot.facts_version(),
        leading: None,
        pop: None,
    };
    let granted = Arc::new(Granted::new(&kind, grant));
    let mut consumer = Connection::new(SocketAddr::from(([10, 0, 0, 5], 1)), &hot);
    let pull = WaitingPull {
        adds_delta: true,
        opaque: 1,
        encoding: Encoding::Json,
        header: b"{}",
        queue_id: 2,
        offset: 0,
        count_max: 32,
        deadline_ms: 15_000,
        global_id: None,
        wake_count: hot.wake_count(),
    };
    assert!(consumer.park(&hot, &granted, &pull));

    assert!(hot.wake("Orders", 2, COUNT));

    assert_eq!(hot.next_turn(), Some(consumer.id()));
    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let taker = Taker {
        bytes_max: 1 << 18,
        answer_bytes_max: usize::MAX,
        answers: &mut answers,
        elapsed_ms: 0,
    };
    consumer.answer_parked(&hot, &store, &mut received, taker, NOW_MS);
    let mut commands = Vec::new();
    let mut decoder = Decoder::new(limits::FRAME_SIZE_MAX_DEFAULT);
    decoder
        .receive(&received.replies, &mut commands)
        .expect("whole frames");
    let answer = &commands[0];
    assert_eq!((answer.opaque, answer.code), (1, 20));
    let next = ["nextBeginOffset", "minOffset", "maxOffset"].map(|name| &*answer.ext[name]);
    assert_eq!(next, ["0", "0", "24"]);
    assert_eq!(
        (commands.len(), answers.size(), hot.parked_count()),
        (1, 0, 0)
    );
}
