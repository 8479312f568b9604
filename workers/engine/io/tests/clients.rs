//! Clients over real sockets: what they are answered, what the owner hears, and in which order.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use regent_commitlog::Store;
use regent_hotpath::{
    Connection, Granted, HotPath, PullAnswers, PullFilter, PullKind, Received, Taker,
};
use regent_io::{Batch, Clients, Event, HotAccess, Unusable, What};
use regent_remoting::{Command, Decoder, Encoding, Fields, FrameWriter, limits};
use regent_testing::{decode, fields, frame, grant, hot_path, open_store, set_orders};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);
const PULL: i32 = 11;
const COLD: i32 = 34;
const COMMIT: i32 = 1;
const SUSPEND: i32 = 2;
const SYSTEM_ERROR: i32 = 1;

struct Shared {
    hot: HotPath,
    store: RwLock<Option<Store>>,
    /// How often replicas were sent what was appended.
    sent_count: AtomicUsize,
}

impl HotAccess for Shared {
    fn hot(&self) -> &HotPath {
        &self.hot
    }

    fn with<T>(&self, work: impl FnOnce(&Store) -> T) -> Result<T, Unusable> {
        let store = self.store.read();
        store.as_ref().map(work).ok_or(Unusable("closed".into()))
    }

    fn send_appended(&self) {
        self.sent_count.fetch_add(1, Ordering::Relaxed);
    }
}

struct Broker {
    shared: Arc<Shared>,
    clients: Clients,
    listener: TcpListener,
    _dir: TempDir,
}

fn shared(dir: &TempDir) -> Arc<Shared> {
    let store = open_store(dir.path(), 64 << 20, 0);
    let hot = hot_path(1);
    set_orders(&hot, 4);
    let kind = PullKind {
        code: PULL,
        group: "g",
        topic: "Orders",
        filter: PullFilter::Registered { version: 1 },
    };
    hot.grant_pulls(&Arc::new(Granted::new(&kind, grant(&hot, 4))));
    Arc::new(Shared {
        hot,
        store: RwLock::new(Some(store)),
        sent_count: AtomicUsize::new(0),
    })
}

impl Broker {
    fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let shared = shared(&dir);
        let clients = Clients::start(Arc::clone(&shared)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let ours = listener.as_fd().try_clone_to_owned().unwrap();
        clients.listen(ours, false);
        Self {
            shared,
            clients,
            listener,
            _dir: dir,
        }
    }

    fn connect(&self) -> Peer {
        let stream = TcpStream::connect(self.listener.local_addr().unwrap()).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Peer {
            stream,
            decoder: Decoder::new(limits::FRAME_SIZE_MAX_DEFAULT),
            answers: Vec::new(),
        }
    }

    /// Collect what happens until it is enough.
    fn hear(&self, is_enough: impl Fn(&Batch) -> bool) -> Batch {
        let mut heard = Batch::default();
        while !is_enough(&heard) {
            self.wait();
            let batch = self.clients.take();
            heard.commits.extend(batch.commits);
            heard.pulled.extend(batch.pulled);
            heard.has_appended |= batch.has_appended;
            heard.events.extend(batch.events);
        }
        heard
    }

    /// Wait until there is something to take.
    fn wait(&self) {
        let mut polled = [PollFd::from_borrowed_fd(
            self.clients.descriptor(),
            PollFlags::IN,
        )];
        let timeout = Timespec::try_from(PATIENCE).unwrap();
        assert_eq!(poll(&mut polled, Some(&timeout)), Ok(1), "nothing happens");
    }

    fn hear_requests(&self, count: usize) -> Batch {
        self.hear(|heard| requests_of(&heard.events).len() >= count)
    }
}

fn requests_of(events: &[Event]) -> Vec<i32> {
    let requests = events.iter().filter_map(|event| match &event.what {
        What::Requests(requests) => Some(requests),
        _ => None,
    });
    requests.flatten().map(|request| request.opaque).collect()
}

fn closed(batch: &Batch) -> bool {
    let mut events = batch.events.iter();
    events.any(|event| matches!(event.what, What::Closed(_)))
}

/// A client.
struct Peer {
    stream: TcpStream,
    decoder: Decoder,
    answers: Vec<Command>,
}

impl Peer {
    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Read until there are so many answers.
    fn read(&mut self, count: usize) -> &[Command] {
        let mut buffer = [0; 1 << 16];
        while self.answers.len() < count {
            let size = self.stream.read(&mut buffer).unwrap();
            assert!(size > 0, "the broker hung up after {}", self.answers.len());
            self.decoder
                .receive(&buffer[..size], &mut self.answers)
                .unwrap();
        }
        &self.answers
    }

    /// Read to the end, as bytes.
    fn read_rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.stream.read_to_end(&mut rest) {
            Ok(_) => {}
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{error}"),
        }
        rest
    }
}

fn send(opaque: i32, encoding: Encoding, body: &[u8]) -> Vec<u8> {
    regent_testing::send(encoding, opaque, "1", body)
}

fn pull(opaque: i32, offset: u64, flags: i32, commit: u64) -> Vec<u8> {
    let (offset, flags, commit) = (offset.to_string(), flags.to_string(), commit.to_string());
    let ext = [
        ("consumerGroup", "g"),
        ("topic", "Orders"),
        ("queueId", "1"),
        ("queueOffset", &*offset),
        ("maxMsgNums", "32"),
        ("sysFlag", &*flags),
        ("commitOffset", &*commit),
        ("suspendTimeoutMillis", "20000"),
        ("subVersion", "1"),
    ];
    frame(&fields(PULL, opaque), Encoding::Json, &ext, &[])
}

fn cold(opaque: i32) -> Vec<u8> {
    frame(&fields(COLD, opaque), Encoding::Json, &[], &[])
}

/// Answer a request as its owner does.
fn answer(opaque: i32, body: &[u8]) -> [regent_io::Bytes; 2] {
    let fields = Fields {
        flag: 1,
        ..fields(SYSTEM_ERROR, opaque)
    };
    let mut head = Vec::new();
    let writer = FrameWriter::begin(&mut head, Encoding::Json, &fields);
    writer.finish_before(body.len()).map(drop).unwrap();
    [Box::new(head), Box::new(body.to_vec())]
}

fn client_of(batch: &Batch) -> Arc<regent_io::Client> {
    let opened = batch.events.iter().find_map(|event| match &event.what {
        What::Opened(client) => Some(Arc::clone(client)),
        _ => None,
    });
    opened.unwrap()
}

/// Sends in both encodings, and pulls.
fn conversation() -> Vec<u8> {
    let mut frames = Vec::new();
    for opaque in 0..300 {
        let encoding = [Encoding::Json, Encoding::RocketMq][opaque as usize % 2];
        frames.extend(send(
            opaque,
            encoding,
            &vec![b'x'; 40 * opaque as usize + 1],
        ));
        if opaque % 7 == 6 {
            let offset = u64::try_from(opaque).unwrap();
            frames.extend(pull(1000 + opaque, offset / 2, 0, 0));
        }
    }
    frames
}

/// D23, rule 2 of targets.md 3.4: with whatever driver, the same answers in the same bytes, by request.
#[test]
fn the_thread_answers_a_conversation_as_the_core_does_that_is_driven_by_hand() {
    let dir = TempDir::new().unwrap();
    let by_hand = shared(&dir);
    let (mut expected, mut connection) = (
        Vec::new(),
        Connection::new("10.0.0.5:1".parse().unwrap(), &by_hand.hot),
    );
    by_hand
        .with(|store| {
            let mut answers = PullAnswers::default();
            let mut received = Received::default();
            let taker = Taker {
                bytes_max: usize::MAX,
                answer_bytes_max: usize::MAX,
                answers: &mut answers,
                elapsed_ms: 0,
            };
            let bytes = conversation();
            connection
                .receive_pulls(&by_hand.hot, store, &bytes, 0, &mut received, taker)
                .unwrap();
            expected.extend(answers.rest(0).flatten());
            expected.extend(received.replies);
        })
        .unwrap();
    let broker = Broker::start();
    let mut peer = broker.connect();

    let bytes = conversation();
    let mut writing = peer.stream.try_clone().unwrap();
    let writer = std::thread::spawn(move || {
        for piece in bytes.chunks(40_000) {
            writing.write_all(piece).unwrap();
        }
        writing.shutdown(Shutdown::Write).unwrap();
    });
    let answered = peer.read_rest();
    writer.join().unwrap();

    let by_request = |bytes: &[u8]| {
        let mut commands = decode(bytes);
        commands.sort_by_key(|command| command.opaque);
        commands
    };
    let (answered, expected) = (by_request(&answered), by_request(&expected));
    assert_eq!(answered.len(), 300 + 42);
    for (ours, theirs) in answered.iter().zip(&expected) {
        assert_eq!((ours.opaque, &ours.ext), (theirs.opaque, &theirs.ext));
        assert_eq!(ours.body.len(), theirs.body.len(), "{}", ours.opaque);
    }
}

#[test]
fn the_owner_gets_what_is_left_in_order_and_behind_the_commits_before_it() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    peer.write(&send(1, Encoding::Json, b"one"));
    peer.read(1);

    for opaque in (10..30).step_by(2) {
        let offset = u64::try_from(opaque).unwrap();
        peer.write(&pull(opaque, 0, COMMIT, offset));
        peer.read(usize::try_from(opaque - 10).unwrap() / 2 + 2);
        peer.write(&cold(opaque + 1));
        let heard = broker.hear_requests(1);

        assert_eq!(requests_of(&heard.events), [opaque + 1]);
        let last = heard.commits.last().map(|(_, commit)| commit.offset);
        assert_eq!(last, Some(i64::from(opaque)));
        broker.clients.taken(heard.events[0].client, 1);
    }
}

/// A commit is recorded for a client whose coming its owner has not heard of yet.
#[test]
fn what_is_taken_of_progress_names_the_clients_that_came_before() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    peer.write(&send(1, Encoding::Json, b"one"));
    peer.write(&pull(2, 0, COMMIT, 1));
    peer.write(&cold(3));
    peer.read(2);

    let progress = broker.clients.take_progress();

    let client = client_of(&progress);
    let commits = progress.commits.iter();
    let commits: Vec<_> = commits.map(|(id, it)| (*id, it.offset)).collect();
    assert_eq!((commits, progress.events.len()), (vec![(client.id, 1)], 1));
    let rest = broker.hear_requests(1);
    assert_eq!((requests_of(&rest.events), rest.events.len()), (vec![3], 1));
}

#[test]
fn replicas_are_sent_what_answers_wait_for_and_nothing_otherwise() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    peer.write(&send(1, Encoding::Json, b"answered at once"));
    peer.read(1);
    assert_eq!(broker.shared.sent_count.load(Ordering::Relaxed), 0);

    broker.shared.hot.set_deferring(true);
    peer.write(&send(2, Encoding::Json, b"answered once replicas have it"));
    broker.hear(|heard| {
        let mut events = heard.events.iter();
        events.any(|event| matches!(event.what, What::Deferred(_)))
    });
    // The next turn of the client comes after the thread has sent.
    broker.shared.hot.set_deferring(false);
    peer.write(&send(3, Encoding::Json, b"answered at once"));
    peer.read(2);

    assert_eq!(broker.shared.sent_count.load(Ordering::Relaxed), 1);
}

#[test]
fn a_pull_behind_a_request_that_is_not_served_yet_is_left_as_well() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    peer.write(&send(1, Encoding::Json, b"one"));
    peer.read(1);

    peer.write(&cold(2));
    let heard = broker.hear_requests(1);
    let client = client_of(&heard);
    peer.write(&pull(3, 0, 0, 0));
    assert_eq!(requests_of(&broker.hear_requests(1).events), [3]);

    broker.clients.taken(client.id, 2);
    broker.clients.send(&client, answer(2, b""));
    peer.read(2);
    peer.write(&pull(4, 0, 0, 0));
    assert_eq!(peer.read(3)[2].opaque, 4);
}

#[test]
fn a_pull_waits_for_its_message_and_for_its_deadline() {
    let broker = Broker::start();
    let (mut reader, mut sender) = (broker.connect(), broker.connect());
    reader.write(&pull(1, 0, SUSPEND, 0));
    while broker.shared.hot.parked_count() == 0 {
        std::thread::yield_now();
    }

    sender.write(&send(2, Encoding::Json, b"woken"));

    assert_eq!(reader.read(1)[0].code, 0);
    reader.write(&pull(3, 1, SUSPEND, 0));
    while broker.shared.hot.parked_count() == 0 {
        std::thread::yield_now();
    }
    broker.shared.hot.release_all_pulls();
    broker.clients.take_turns();
    assert_eq!((reader.read(2)[1].opaque, reader.answers[1].code), (3, 19));
}

#[test]
fn all_that_a_client_sent_before_it_left_is_served() {
    let broker = Broker::start();
    for count in [1, 7, 400] {
        let mut peer = broker.connect();
        for opaque in 0..count {
            peer.write(&cold(opaque));
        }
        drop(peer);

        let mut opaques = Vec::new();
        let mut is_closed = false;
        while !is_closed {
            broker.wait();
            let batch = broker.clients.take();
            let more = requests_of(&batch.events);
            if let Some(event) = batch.events.first() {
                broker.clients.taken(event.client, more.len());
            }
            opaques.extend(more);
            is_closed = closed(&batch);
        }

        assert_eq!(opaques, (0..count).collect::<Vec<_>>());
    }
}

#[test]
fn a_client_that_does_not_read_is_served_no_further_until_it_reads() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    let body = vec![b'x'; 100_000];
    for opaque in 0..3 {
        peer.write(&send(opaque, Encoding::Json, &body));
    }
    peer.read(3);
    const COUNT: i32 = 200;
    for opaque in 0..COUNT {
        peer.write(&pull(10 + opaque, 0, 0, 0));
    }
    let client = client_of(&broker.hear(|heard| !heard.events.is_empty()));
    while client.unwritten_bytes() == 0 {
        std::thread::yield_now();
    }
    assert!(client.unwritten_bytes() < 1 << 20);

    let answers = peer.read(3 + usize::try_from(COUNT).unwrap());

    let sizes = answers[3..].iter().map(|answer| answer.body.len());
    assert!(sizes.min() > Some(200_000));
    while client.is_congested() || client.unwritten_bytes() > 0 {
        std::thread::yield_now();
    }
}

#[test]
fn a_closed_gate_lets_requests_wait_and_an_open_one_serves_them() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    peer.write(&send(1, Encoding::Json, b"before"));
    peer.read(1);

    broker.clients.open_gate(false);
    peer.write(&send(2, Encoding::Json, b"meanwhile"));
    let client = client_of(&broker.hear(|heard| !heard.events.is_empty()));
    // What it is sent all the same comes first.
    broker.clients.send(&client, answer(9, b"notice"));
    assert_eq!(peer.read(2)[1].opaque, 9);
    let end = broker.shared.with(Store::max_position).unwrap();

    broker.clients.open_gate(true);

    assert_eq!(peer.read(3)[2].opaque, 2);
    assert!(broker.shared.with(Store::max_position).unwrap() > end);
}

#[test]
fn a_broken_stream_is_closed_once_what_came_before_is_answered() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    let mut bytes = send(1, Encoding::Json, b"sound");
    bytes.extend([0, 0, 0, 0, 1, 2, 3, 4]);

    peer.write(&bytes);

    assert_eq!(peer.read(1)[0].opaque, 1);
    assert_eq!(peer.read_rest(), b"");
    let heard = broker.hear(closed);
    let mut events = heard.events.iter();
    assert!(events.any(|event| matches!(event.what, What::BrokeProtocol(_))));
}

#[test]
fn clients_of_a_closed_store_are_released_and_their_owner_hears_why() {
    let broker = Broker::start();
    let mut peer = broker.connect();
    peer.write(&send(1, Encoding::Json, b"one"));
    peer.read(1);
    *broker.shared.store.write() = None;

    peer.write(&send(2, Encoding::Json, b"two"));

    assert_eq!(peer.read_rest(), b"");
    let heard = broker.hear(closed);
    let mut events = heard.events.iter();
    assert!(events.any(|event| matches!(&event.what, What::StoreFailed(why) if why == "closed")));
}

#[test]
fn idle_clients_are_closed_and_all_at_the_end() {
    let broker = Broker::start();
    let (mut idle, mut other) = (broker.connect(), broker.connect());
    idle.write(&send(1, Encoding::Json, b"one"));
    idle.read(1);
    broker.clients.close_idle(60_000);
    other.write(&send(2, Encoding::Json, b"two"));
    other.read(1);

    broker.clients.close_idle(-60_000);

    assert_eq!(
        (idle.read_rest(), other.read_rest()),
        (Vec::new(), Vec::new())
    );
    let mut last = broker.connect();
    last.write(&send(3, Encoding::Json, b"three"));
    last.read(1);
    broker.clients.stop();
    assert_eq!(last.read_rest(), b"");
}
