//! Requests that another member of the broker group answers: over which connection, and what is left to the owner
//! of the thread (ADR 27).

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use ahash::AHashSet;
use regent_commitlog::{NewMessage, Store, StoreConfig};
use regent_hotpath::{
    Appending, Beginning, Grant, Granted, HotPath, HotPathConfig, PopGrant, PullFilter, PullKind,
    Reigning, SEQUENCER,
};
use regent_io::{Batch, Clients, HotAccess, Unusable, What};
use regent_remoting::{Command, Decoder, Encoding, Fields, FrameWriter, Language, limits};
use regent_share::Policy;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use tempfile::TempDir;

const PATIENCE: Duration = Duration::from_secs(30);
const POP: i32 = 200_050;
const ACK: i32 = 200_051;
const NOT_TAKEN: i32 = 7002;
const OWNER: u64 = 1;
const REPLICA: u64 = 2;
const NAME: (&str, i32, &str) = ("Orders", 0, "g");
const NOW_MS: i64 = 1_758_000_000_000;

struct Shared {
    hot: HotPath,
    store: Store,
}

impl HotAccess for Shared {
    fn hot(&self) -> &HotPath {
        &self.hot
    }

    fn with<T>(&self, work: impl FnOnce(&Store) -> T) -> Result<T, Unusable> {
        Ok(work(&self.store))
    }

    fn send_appended(&self) {}
}

/// A replica of a group whose master owns the share queue.
struct Replica {
    shared: Arc<Shared>,
    clients: Clients,
    listener: TcpListener,
    _dir: TempDir,
}

fn hot_path() -> HotPath {
    HotPath::new(HotPathConfig {
        broker_name: "broker-a".to_owned(),
        cluster_name: "cluster-1".to_owned(),
        region: "DefaultRegion".to_owned(),
        trace_on: true,
        store_host: "10.0.0.1:10911".parse().unwrap(),
        frame_size_max: limits::FRAME_SIZE_MAX_DEFAULT,
        seed: 1,
    })
}

fn reigning(member: u64) -> Reigning {
    Reigning {
        topic: "rmq_sys_SHARE_STATE_cluster-1".to_owned(),
        epoch: 3,
        member,
        segment_size: 8 << 20,
        is_acting: false,
        life: 1,
        shared: AHashSet::from_iter(["Orders".to_owned()]),
        version_max: regent_share::VERSION,
    }
}

/// Write the lane of a master that owns the share queue, and a message.
fn fill(store: &Store) {
    let master = hot_path();
    master.shares.lead(store, reigning(OWNER)).unwrap();
    let policy = Policy {
        attempts: 16,
        discards: false,
        is_ordered: false,
        window: 4096,
    };
    let beginning = Beginning::default();
    let (shares, config) = (&master.shares, master.config());
    shares
        .begin(store, config, ("Orders", "g"), policy, &[beginning], NOW_MS)
        .unwrap();
    let record = shares.owning(NAME, Some(4), 0).unwrap();
    let outcome = shares.append_unit(store, config, (OWNER, &record), NOW_MS);
    assert!(matches!(outcome.unwrap(), Appending::Done { .. }));
    let message = NewMessage::new("Orders", 0, b"one");
    store.writer().unwrap().append(&message, NOW_MS).unwrap();
}

impl Replica {
    fn start() -> Self {
        let dir = TempDir::new().unwrap();
        let mut config = StoreConfig::new(dir.path());
        config.segment_size_bytes = 8 << 20;
        let store = Store::open(config, 0).unwrap();
        fill(&store);
        let hot = hot_path();
        hot.shares.follow(&store, reigning(REPLICA)).unwrap();
        let kind = PullKind {
            code: POP,
            group: "g",
            topic: "Orders",
            filter: PullFilter::Carried {
                expression: "",
                expression_type: "",
            },
        };
        let grant = Grant {
            read_queue_count: 1,
            filter: None,
            count_max: 32,
            bytes_max: 1 << 18,
            suggested_broker_id: 0,
            parked_ms: None,
            moves_consumers: false,
            facts_version: hot.facts_version(),
            leading: None,
            pop: Some(PopGrant {
                retries: Vec::new(),
                may_forward: true,
                priority_percent: 0,
            }),
        };
        hot.grant_pulls(&Arc::new(Granted::new(&kind, grant)));
        let shared = Arc::new(Shared { hot, store });
        let clients = Clients::start(Arc::clone(&shared)).unwrap();
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        clients.listen(listener.as_fd().try_clone_to_owned().unwrap(), false);
        Self {
            shared,
            clients,
            listener,
            _dir: dir,
        }
    }

    fn connect(&self) -> Peer {
        Peer::new(TcpStream::connect(self.listener.local_addr().unwrap()).unwrap())
    }

    /// Connect it to a member; the member's end.
    fn link(&self, member: u64) -> Peer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        ours.set_nonblocking(true).unwrap();
        self.clients.use_link(member, ours.into());
        while !self.shared.hot.has_link(member) {
            std::thread::yield_now();
        }
        Peer::new(listener.accept().unwrap().0)
    }

    /// Collect what happens until it is enough.
    fn hear(&self, is_enough: impl Fn(&Batch) -> bool) -> Batch {
        let mut heard = Batch::default();
        while !is_enough(&heard) {
            let descriptor = self.clients.descriptor();
            let mut polled = [PollFd::from_borrowed_fd(descriptor, PollFlags::IN)];
            let timeout = Timespec::try_from(PATIENCE).unwrap();
            assert_eq!(poll(&mut polled, Some(&timeout)), Ok(1), "nothing happens");
            let batch = self.clients.take();
            heard.events.extend(batch.events);
            heard.passed_on_count += batch.passed_on_count;
        }
        heard
    }

    /// The opaque of the next request that is left to the owner.
    fn hear_request(&self) -> (i32, Batch) {
        let heard = self.hear(|heard| !requests_of(heard).is_empty());
        let requests = requests_of(&heard);
        assert_eq!(requests.len(), 1);
        (requests[0], heard)
    }
}

fn requests_of(batch: &Batch) -> Vec<i32> {
    let requests = batch.events.iter().filter_map(|event| match &event.what {
        What::Requests(requests) => Some(requests),
        _ => None,
    });
    requests.flatten().map(|request| request.opaque).collect()
}

fn lacks_link(batch: &Batch) -> bool {
    let mut events = batch.events.iter();
    events.any(|event| matches!(event.what, What::LacksLink(_)))
}

fn lost_link(batch: &Batch) -> bool {
    let mut events = batch.events.iter();
    events.any(|event| matches!(event.what, What::LinkLost(..)))
}

/// The other end of a connection: a client, or a member.
struct Peer {
    stream: TcpStream,
    decoder: Decoder,
    commands: Vec<Command>,
}

impl Peer {
    fn new(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        Self {
            stream,
            decoder: Decoder::new(limits::FRAME_SIZE_MAX_DEFAULT),
            commands: Vec::new(),
        }
    }

    fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Read the next command.
    fn read(&mut self) -> Command {
        let mut buffer = [0; 1 << 16];
        while self.commands.is_empty() {
            let size = self.stream.read(&mut buffer).unwrap();
            assert!(size > 0, "the broker hung up");
            self.decoder
                .receive(&buffer[..size], &mut self.commands)
                .unwrap();
        }
        self.commands.remove(0)
    }

    fn answer(&mut self, request: &Command, code: i32, body: &[u8]) {
        let ext = [("popTime", "1758000000000")];
        self.write(&frame(code, request.opaque, 1, &ext, body));
    }
}

fn frame(code: i32, opaque: i32, flag: i32, ext: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let fields = Fields {
        code,
        language: Language::JAVA,
        version: 513,
        opaque,
        flag,
        remark: None,
    };
    let mut out = Vec::new();
    let mut writer = FrameWriter::begin(&mut out, Encoding::Json, &fields);
    for (key, value) in ext {
        writer.ext(key, value);
    }
    writer.finish(body).unwrap();
    out
}

fn ack(opaque: i32) -> Vec<u8> {
    let ext = [
        ("consumerGroup", "g"),
        ("topic", "Orders"),
        ("queueId", "0"),
        ("extraInfo", "0 1758000000000 60000 4 0 broker-a 0 0"),
        ("offset", "0"),
    ];
    frame(ACK, opaque, 0, &ext, &[])
}

fn pop(opaque: i32) -> Vec<u8> {
    let ext = [
        ("consumerGroup", "g"),
        ("topic", "Orders"),
        ("queueId", "-1"),
        ("maxMsgNums", "32"),
        ("invisibleTime", "60000"),
        ("pollTime", "15000"),
        ("bornTime", "0"),
    ];
    frame(POP, opaque, 0, &ext, &[])
}

#[test]
fn q31_each_acknowledgement_gets_the_answer_of_the_sequencer_under_its_own_number() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let (mut one, mut two) = (replica.connect(), replica.connect());
    // Clients choose their numbers, perhaps the same for several requests.
    one.write(&[ack(7), ack(7)].concat());
    two.write(&ack(7));
    let asked: Vec<_> = (0..3).map(|_| sequencer.read()).collect();
    assert_eq!(replica.clients.forwarded_count(), 3);

    for (request, code) in asked.iter().zip([0, 208, 0]).rev() {
        sequencer.answer(request, code, b"");
    }

    let codes = [one.read(), one.read(), two.read()].map(|told| (told.opaque, told.code));
    assert_eq!(codes, [(7, 208), (7, 0), (7, 0)]);
    let heard = replica.hear(|heard| heard.passed_on_count == 3);
    assert!(requests_of(&heard).is_empty());
    assert_eq!(replica.clients.forwarded_count(), 0);
}

#[test]
fn q91_a_pop_gets_the_messages_of_the_owner_and_without_any_the_owner_of_the_thread_waits() {
    let replica = Replica::start();
    let mut owner = replica.link(OWNER);
    let mut client = replica.connect();
    client.write(&pop(3));
    let asked = owner.read();
    assert_eq!(asked.ext["pollTime"], "0");
    owner.answer(&asked, 0, b"messages");
    let told = client.read();
    assert_eq!(
        (told.opaque, told.code, &*told.body),
        (3, 0, &b"messages"[..])
    );
    assert_eq!(told.ext["popTime"], "1758000000000");

    client.write(&pop(4));
    let asked = owner.read();
    owner.answer(&asked, 210, b"");

    assert_eq!(replica.hear_request().0, 4);
}

/// A client that reads no answers has few at a time, so that these fit into memory.
#[test]
fn a_client_with_many_pops_at_an_owner_leaves_the_next_ones_to_the_owner_of_the_thread() {
    const COUNT_MAX: i32 = 64;
    let replica = Replica::start();
    let mut owner = replica.link(OWNER);
    let (mut client, mut other) = (replica.connect(), replica.connect());
    let mut asked = Vec::new();
    for opaque in 0..COUNT_MAX {
        client.write(&pop(opaque));
        asked.push(owner.read());
    }

    client.write(&pop(100));

    assert_eq!(replica.hear_request().0, 100);
    other.write(&pop(1));
    asked.push(owner.read());
    for request in &asked {
        owner.answer(request, 0, b"messages");
    }
    let told: Vec<_> = (0..COUNT_MAX).map(|_| client.read().opaque).collect();
    assert_eq!(told, (0..COUNT_MAX).collect::<Vec<_>>());
    assert_eq!(other.read().opaque, 1);
}

#[test]
fn requests_of_a_lost_connection_are_left_to_the_owner_of_the_thread() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let mut client = replica.connect();
    client.write(&ack(1));
    sequencer.read();

    drop(sequencer);

    let (opaque, heard) = replica.hear_request();
    assert_eq!(opaque, 1);
    // It is reported before the requests.
    assert!(lost_link(&heard));
    // Until `retire_link`, the owner is not asked for another connection.
    client.write(&ack(2));
    let (opaque, heard) = replica.hear_request();
    assert_eq!((opaque, lacks_link(&heard)), (2, false));
    replica.clients.retire_link(SEQUENCER);
    let mut is_asked = false;
    while !is_asked {
        client.write(&ack(3));
        let (opaque, heard) = replica.hear_request();
        assert_eq!(opaque, 3);
        is_asked = lacks_link(&heard);
        replica.clients.taken(heard.events[0].client, 1);
    }
    let mut next = replica.link(SEQUENCER);
    client.write(&ack(4));
    let asked = next.read();
    next.answer(&asked, 0, b"");
    assert_eq!(client.read().opaque, 4);
}

#[test]
fn a_member_that_refuses_gets_no_more_requests() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let mut client = replica.connect();
    client.write(&[ack(1), ack(2)].concat());
    let asked = [sequencer.read(), sequencer.read()];

    sequencer.answer(&asked[0], NOT_TAKEN, b"");

    assert_eq!(replica.hear_request().0, 1);
    client.write(&ack(3));
    assert_eq!(replica.hear_request().0, 3);
    // What it was sent before may still be answered.
    sequencer.answer(&asked[1], 0, b"");
    assert_eq!(client.read().opaque, 2);
}

#[test]
fn a_long_answer_breaks_no_connection_to_a_member() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let mut client = replica.connect();
    client.write(&[ack(1), ack(2)].concat());
    let asked = [sequencer.read(), sequencer.read()];

    let long = "a".repeat(limits::HEADER_SIZE_MAX + 1);
    sequencer.write(&frame(13, asked[0].opaque, 1, &[("why", &long)], b""));

    let (opaque, heard) = replica.hear_request();
    assert_eq!((opaque, lost_link(&heard)), (1, false));
    sequencer.answer(&asked[1], 0, b"");
    assert_eq!(client.read().opaque, 2);
}

#[test]
fn a_member_without_an_answer_is_not_waited_for() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let mut client = replica.connect();
    client.write(&ack(1));
    sequencer.read();

    assert_eq!(replica.hear_request().0, 1);
}

#[test]
fn a_retired_connection_ends_with_the_last_answer() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let mut client = replica.connect();
    client.write(&ack(1));
    let asked = sequencer.read();

    replica.clients.retire_link(SEQUENCER);
    sequencer.answer(&asked, 0, b"");

    assert_eq!(client.read().opaque, 1);
    assert_eq!(sequencer.stream.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn q10_messages_for_a_client_that_has_left_are_given_back() {
    let replica = Replica::start();
    let mut owner = replica.link(OWNER);
    let mut client = replica.connect();
    client.write(&pop(5));
    let asked = owner.read();
    client.stream.shutdown(Shutdown::Both).unwrap();
    // The thread has heard of that: another client was served since.
    let mut other = replica.connect();
    other.write(&pop(6));
    owner.read();

    owner.answer(&asked, 0, b"messages");

    let heard = replica.hear(|heard| {
        let mut events = heard.events.iter();
        events.any(|event| matches!(event.what, What::Unclaimed(..)))
    });
    let unclaimed = heard.events.iter().find_map(|event| match &event.what {
        What::Unclaimed(member, request, answer) => Some((*member, request, answer)),
        _ => None,
    });
    let (member, request, answer) = unclaimed.unwrap();
    assert_eq!((member, request.opaque), (OWNER, 5));
    assert_eq!(answer.body, b"messages");
}

#[test]
fn an_acknowledgement_of_a_client_that_has_left_is_served_nevertheless() {
    let replica = Replica::start();
    let mut sequencer = replica.link(SEQUENCER);
    let mut client = replica.connect();
    client.write(&ack(1));
    sequencer.read();
    client.stream.shutdown(Shutdown::Write).unwrap();

    drop(sequencer);

    let (opaque, heard) = replica.hear_request();
    assert_eq!(opaque, 1);
    let mut events = heard.events.iter();
    assert!(!events.any(|event| matches!(event.what, What::Closed(_))));
}
