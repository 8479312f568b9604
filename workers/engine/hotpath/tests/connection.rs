//! A connection driven by bytes alone; what it answers in detail is tested through Python.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;

use regent_commitlog::{FlushMode, QueueRead, Store, StoreConfig};
use regent_hotpath::{
    Connection, DecodedSend, HotPath, LeadingQueues, LeadingSegment, Received, Topic, append_send,
};
use regent_remoting::Encoding;
use regent_testing::{NOW_MS, decode, hot_path, send, set_orders};
use tempfile::TempDir;

struct Fixture {
    store: Store,
    hot: HotPath,
    peer: SocketAddr,
    _dir: TempDir,
}

impl Fixture {
    fn new(flush_mode: FlushMode) -> Self {
        let dir = TempDir::new().unwrap();
        let mut config = StoreConfig::new(dir.path());
        config.segment_size_bytes = 32 << 20;
        config.queue_file_size_bytes = 200_000;
        config.flush_mode = flush_mode;
        let hot = hot_path(1);
        set_orders(&hot, 4);
        let store = Store::open(config, NOW_MS).unwrap();
        Self {
            store,
            hot,
            peer: "10.0.0.5:50000".parse().unwrap(),
            _dir: dir,
        }
    }

    fn connect(&self) -> Connection {
        Connection::new(self.peer, &self.hot)
    }

    fn receive(&self, connection: &mut Connection, chunk: &[u8]) -> Received {
        let mut received = Received::default();
        connection
            .receive(&self.hot, &self.store, chunk, NOW_MS, &mut received)
            .unwrap();
        received
    }
}

/// A conversation of both encodings, hot and cold, as one stream.
fn conversation() -> Vec<u8> {
    (0..200)
        .flat_map(|opaque: i32| {
            let encoding = if opaque % 3 == 0 {
                Encoding::RocketMq
            } else {
                Encoding::Json
            };
            let queue_id = (opaque % 5).to_string();
            send(
                encoding,
                opaque,
                &queue_id,
                &vec![b'x'; usize::try_from(opaque + 1).unwrap()],
            )
        })
        .collect()
}

#[test]
fn a_conversation_comes_out_alike_however_it_is_cut() {
    let stream = conversation();
    let whole = {
        let fixture = Fixture::new(FlushMode::Async);
        fixture.receive(&mut fixture.connect(), &stream)
    };
    assert_eq!(decode(&whole.replies).len(), 160);
    assert_eq!(whole.cold.len(), 40);

    for size in [1, 7, 400, 4096] {
        let fixture = Fixture::new(FlushMode::Async);
        let mut connection = fixture.connect();
        let (mut replies, mut cold) = (Vec::new(), Vec::new());
        for chunk in stream.chunks(size) {
            let received = fixture.receive(&mut connection, chunk);
            replies.extend(received.replies);
            cold.extend(received.cold);
        }
        assert!(replies == whole.replies, "chunks of {size}");
        assert_eq!(cold, whole.cold);
    }
}

/// Q14: the append is over when the bytes of the connection are received.
#[test]
fn what_is_answered_is_stored_where_the_answer_says() {
    let fixture = Fixture::new(FlushMode::Async);

    let received = fixture.receive(&mut fixture.connect(), &conversation());

    for answer in decode(&received.replies) {
        let queue_id: i32 = answer.ext["queueId"].parse().unwrap();
        let offset: u64 = answer.ext["queueOffset"].parse().unwrap();
        let entry = fixture.store.queue_entries("Orders", queue_id, offset, 1)[0];
        let id = &answer.ext["msgId"];
        assert_eq!(
            u64::from_str_radix(&id[16..], 16).unwrap(),
            entry.log_position
        );
        assert_eq!(&id[..16], "0A00000100002A9F");
    }
    let ends: Vec<_> = received
        .arrivals
        .iter()
        .map(|arrival| arrival.max_offset)
        .collect();
    assert_eq!(ends, [40, 40, 40, 40]);
}

#[test]
fn sync_answers_are_deferred_to_the_end_of_their_messages() {
    let fixture = Fixture::new(FlushMode::Sync);

    let received = fixture.receive(&mut fixture.connect(), &conversation());

    assert!(received.replies.is_empty());
    assert_eq!(decode(&received.deferred).len(), 160);
    assert_eq!(received.deferred_position, fixture.store.max_position());
}

#[test]
fn random_damage_never_panics_and_stores_only_what_is_answered() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |bound: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % bound as u64).unwrap()
    };
    let fixture = Fixture::new(FlushMode::Async);
    let stream = conversation();
    let mut answered = 0;
    for _ in 0..3000 {
        let mut damaged = stream[..2000].to_vec();
        for _ in 0..=random(3) {
            let at = random(damaged.len());
            damaged[at] = u8::try_from(random(256)).unwrap();
        }
        let mut received = Received::default();
        let _ = fixture.connect().receive(
            &fixture.hot,
            &fixture.store,
            &damaged,
            NOW_MS,
            &mut received,
        );
        let answers = decode(&received.replies);
        answered += answers.iter().filter(|answer| answer.code == 0).count();
    }

    let stored: u64 = fixture
        .store
        .queues()
        .iter()
        .map(|queue| queue.max_offset)
        .sum();
    // A damaged flag can make a send one-way: stored, and not answered.
    let unanswered = stored - answered as u64;
    assert!(unanswered < stored / 100, "{unanswered} of {stored}");
}

/// Q84.
#[test]
fn a_read_returns_the_bodies_in_the_order_sent() {
    let fixture = Fixture::new(FlushMode::Async);
    fixture.receive(&mut fixture.connect(), &conversation());

    let mut records = Vec::new();
    let read = QueueRead {
        offset: 0,
        count_max: 100,
        bytes_max: 1 << 20,
        filter: None,
    };
    let outcome = fixture
        .store
        .read_queue("Orders", 3, &read, &mut records)
        .unwrap();

    assert_eq!(outcome.count, 40);
    let mut sizes = Vec::new();
    let mut rest = records.as_slice();
    while !rest.is_empty() {
        let record = regent_commitlog::RecordView::parse(rest).unwrap();
        sizes.push(record.body.len());
        rest = &rest[record.bytes.len()..];
    }
    assert_eq!(sizes, (0..40).map(|turn| turn * 5 + 4).collect::<Vec<_>>());
}

#[test]
fn a_decoded_send_is_stored_and_answered_as_one_on_a_connection() {
    for encoding in [Encoding::Json, Encoding::RocketMq] {
        let fixture = Fixture::new(FlushMode::Async);
        let chunk = send(encoding, 7, "1", b"hello");
        let first = fixture.receive(&mut fixture.connect(), &chunk);
        let command = &decode(&chunk)[0];
        let decoded = |topic| DecodedSend {
            code: command.code,
            opaque: command.opaque,
            flag: command.flag,
            encoding: command.encoding,
            ext: command
                .ext
                .iter()
                .map(|(key, value)| (&**key, if key == "b" { topic } else { &**value }))
                .collect(),
            body: &command.body,
        };
        let append = |topic| {
            let mut received = Received::default();
            let is_taken = append_send(
                &fixture.hot,
                &fixture.store,
                fixture.peer,
                &decoded(topic),
                NOW_MS,
                &mut received,
            );
            (is_taken, received)
        };

        let (is_taken, second) = append("Orders");
        let (is_unknown_taken, nothing) = append("Unknown");

        assert!(is_taken);
        assert_eq!(
            second.arrivals[0].max_offset,
            first.arrivals[0].max_offset + 1
        );
        let [first, second] =
            [&first.replies, &second.replies].map(|replies| decode(replies).remove(0));
        assert_eq!((second.code, second.opaque), (first.code, 7));
        assert_eq!(second.ext["transactionId"], first.ext["transactionId"]);
        assert_eq!(second.ext["queueOffset"], "1");
        assert!(!is_unknown_taken && nothing.replies.is_empty());
    }
}

#[test]
fn a_send_to_a_logical_queue_is_answered_with_its_own_id_and_offset() {
    let fixture = Fixture::new(FlushMode::Async);
    let segment = |queue_id, takes_sends| LeadingSegment {
        queue_id,
        physical_start: 0,
        logical_start: 200,
        takes_sends,
    };
    let leading = LeadingQueues::new([(7, segment(1, true)), (8, segment(2, false))]);
    let topic = Topic {
        perm: 6,
        read_queue_count: 4,
        write_queue_count: 4,
        leading: Some(Arc::new(leading)),
    };
    fixture.hot.set_topic("Orders", topic);
    let mut connection = fixture.connect();

    let chunk = [
        send(Encoding::Json, 1, "7", b"one"),
        send(Encoding::RocketMq, 2, "-1", b"two"),
        send(Encoding::Json, 3, "8", b"sealed"),
        send(Encoding::Json, 4, "1", b"of another broker group"),
    ]
    .concat();
    let received = fixture.receive(&mut connection, &chunk);

    let answers = decode(&received.replies);
    let told = |at: usize| {
        (
            &*answers[at].ext["queueId"],
            &*answers[at].ext["queueOffset"],
        )
    };
    assert_eq!([told(0), told(1)], [("7", "200"), ("7", "201")]);
    let cold: Vec<_> = received.cold.iter().map(|it| it.opaque).collect();
    assert_eq!(cold, [3, 4]);
    assert_eq!(fixture.store.queue_offsets("Orders", 1), Some((0, 2)));
    assert_eq!(received.arrivals[0].queue_id, 1);
}
