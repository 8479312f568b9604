//! Turns of the loop, one by one: in which order clients are served.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use parking_lot::Mutex;
use regent_commitlog::{NewMessage, Store};
use regent_hotpath::{Granted, HotPath, PullFilter, PullKind};
use regent_remoting::Encoding;
use regent_testing::{fields, frame, grant, hot_path, open_store, set_orders};
use tempfile::TempDir;

use super::*;
use crate::access::Unusable;
use crate::output::Bytes;

struct Shared {
    hot: HotPath,
    store: Mutex<Store>,
    _dir: TempDir,
}

impl HotAccess for Shared {
    fn hot(&self) -> &HotPath {
        &self.hot
    }

    fn with<T>(&self, work: impl FnOnce(&Store) -> T) -> Result<T, Unusable> {
        Ok(work(&self.store.lock()))
    }

    fn send_appended(&self) {}
}

fn shared() -> Shared {
    let dir = TempDir::new().unwrap();
    let hot = hot_path(1);
    set_orders(&hot, 1);
    let kind = PullKind {
        code: 11,
        group: "g",
        topic: "Orders",
        filter: PullFilter::Registered { version: 1 },
    };
    hot.grant_pulls(&Arc::new(Granted::new(&kind, grant(&hot, 1))));
    let store = open_store(dir.path(), 32 << 20, 0);
    let body = vec![b'x'; 50_000];
    for _ in 0..2 {
        let message = NewMessage::new("Orders", 0, &body);
        store.writer().unwrap().append(&message, 0).unwrap();
    }
    Shared {
        hot,
        store: Mutex::new(store),
        _dir: dir,
    }
}

fn driver() -> Driver<Shared> {
    let mail = Arc::new(Mail::new().unwrap());
    Driver::new(Arc::new(shared()), mail).unwrap()
}

/// Connect a client; its end, and its id.
fn connect(driver: &mut Driver<Shared>) -> (UnixStream, u64) {
    let (ours, theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    ours.set_nonblocking(true).unwrap();
    driver.open(theirs.into(), None, false);
    let id = *driver.peers.keys().max().unwrap();
    (ours, id)
}

fn request(code: i32, ext: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    frame(&fields(code, 1), Encoding::Json, ext, body)
}

fn pull() -> Vec<u8> {
    let ext = [
        ("consumerGroup", "g"),
        ("topic", "Orders"),
        ("queueId", "0"),
        ("queueOffset", "0"),
        ("maxMsgNums", "32"),
        ("sysFlag", "0"),
        ("commitOffset", "0"),
        ("suspendTimeoutMillis", "0"),
        ("subVersion", "1"),
    ];
    request(11, &ext, &[])
}

fn send() -> Vec<u8> {
    let ext = [
        ("a", "pg"),
        ("b", "Orders"),
        ("c", "TBW102"),
        ("d", "4"),
        ("e", "0"),
        ("f", "0"),
        ("g", "1758000000000"),
        ("h", "0"),
        ("i", ""),
        ("j", "0"),
        ("m", "false"),
    ];
    request(310, &ext, b"a little")
}

/// How many bytes a client can read now.
fn received(stream: &mut UnixStream) -> usize {
    let mut buffer = vec![0; 1 << 20];
    let mut size = 0;
    while let Ok(more @ 1..) = stream.read(&mut buffer) {
        size += more;
    }
    size
}

#[test]
fn a_send_waits_for_one_of_many_that_are_handed_much() {
    let mut driver = driver();
    let mut pullers: Vec<_> = (0..6).map(|_| connect(&mut driver)).collect();
    let (mut sender, sender_id) = connect(&mut driver);
    for (puller, id) in &mut pullers {
        puller.write_all(&pull()).unwrap();
        driver.on_event(*id, EventFlags::IN);
        assert!(received(puller) > 100_000);
    }

    // All of them have asked before the loop looks.
    for (puller, id) in &mut pullers {
        puller.write_all(&pull()).unwrap();
        driver.on_event(*id, EventFlags::IN);
    }
    sender.write_all(&send()).unwrap();
    driver.on_event(sender_id, EventFlags::IN);

    assert!(received(&mut sender) > 0);
    let sizes: Vec<_> = pullers.iter_mut().map(|(it, _)| received(it)).collect();
    assert_eq!(sizes, [0; 6]);
    // The others took no time, but one of these is served in each turn.
    driver.take_turns(Instant::now());
    assert!(received(&mut pullers[0].0) > 100_000);
    for _ in 1..6 {
        driver.take_turns(Instant::now());
    }
    let sizes = pullers[1..].iter_mut().map(|(it, _)| received(it));
    assert!(sizes.min() > Some(100_000));
    assert!(driver.bulk_turns.is_empty());
}

#[test]
fn a_client_that_was_handed_little_takes_turns_with_all_others_again() {
    let mut driver = driver();
    let (mut puller, id) = connect(&mut driver);
    puller.write_all(&pull()).unwrap();
    driver.on_event(id, EventFlags::IN);
    assert!(driver.peers[&id].takes_bulk && received(&mut puller) > 100_000);
    let one = String::from_utf8(pull()).unwrap();
    let one = one.replace("\"maxMsgNums\":\"32\"", "\"maxMsgNums\":\"01\"");

    puller.write_all(one.as_bytes()).unwrap();
    driver.on_event(id, EventFlags::IN);
    driver.take_turns(Instant::now());

    let size = received(&mut puller);
    assert!((50_000..64_000).contains(&size), "{size}");
    assert!(!driver.peers[&id].takes_bulk);
}

#[test]
fn a_client_that_hung_up_while_the_gate_is_closed_is_served_once_it_opens() {
    let mut driver = driver();
    let (mut sender, id) = connect(&mut driver);
    driver.mail.is_gate_open.store(false, Ordering::SeqCst);
    let end = driver.access.with(Store::max_position).unwrap();
    sender.write_all(&send()).unwrap();
    drop(sender);

    driver.on_event(id, EventFlags::IN | EventFlags::HUP);
    driver.take_turns(Instant::now());
    assert_eq!(driver.access.with(Store::max_position), Ok(end));
    driver.mail.is_gate_open.store(true, Ordering::SeqCst);
    driver.carry_out(Order::GateOpened);
    for _ in 0..3 {
        driver.take_turns(Instant::now());
    }

    assert!(driver.access.with(Store::max_position).unwrap() > end);
    assert!(driver.peers.is_empty());
}

#[test]
fn a_client_waits_for_the_gate_once_whatever_it_is_sent_meanwhile() {
    let mut driver = driver();
    let (mut sender, id) = connect(&mut driver);
    driver.mail.is_gate_open.store(false, Ordering::SeqCst);
    sender.write_all(&send()).unwrap();

    for _ in 0..100 {
        driver.on_event(id, EventFlags::IN);
        driver.carry_out(Order::Taken {
            client: id,
            count: 1,
        });
    }

    assert_eq!(driver.gated, [id]);
    driver.mail.is_gate_open.store(true, Ordering::SeqCst);
    driver.carry_out(Order::GateOpened);
    driver.on_event(id, EventFlags::IN);
    assert!(received(&mut sender) > 0);
}

#[test]
fn a_gate_that_closes_before_a_turn_begins_lets_its_client_wait() {
    let mut driver = driver();
    let (mut sender, id) = connect(&mut driver);
    let end = driver.access.with(Store::max_position).unwrap();
    let mail = Arc::clone(&driver.mail);
    sender.write_all(&send()).unwrap();
    mail.pause();
    let thread = std::thread::spawn(move || {
        driver.on_event(id, EventFlags::IN);
        driver
    });
    while !mail.is_turn_waiting() {
        std::thread::yield_now();
    }

    mail.is_gate_open.store(false, Ordering::SeqCst);
    mail.end_turn();
    mail.resume();

    let mut driver = thread.join().unwrap();
    assert_eq!(driver.access.with(Store::max_position), Ok(end));
    mail.is_gate_open.store(true, Ordering::SeqCst);
    driver.carry_out(Order::GateOpened);
    driver.on_event(id, EventFlags::IN);
    driver.take_turns(Instant::now());
    assert!(driver.access.with(Store::max_position).unwrap() > end);
}

#[test]
fn a_client_that_slowly_reads_a_long_answer_is_not_idle() {
    let mut driver = driver();
    let (mut reader, id) = connect(&mut driver);
    let answer: [Bytes; 2] = [Box::new(Vec::new()), Box::new(vec![b'x'; 4 << 20])];
    let size = (*answer[1]).as_ref().len();
    driver.peers[&id].client.add_unwritten(size);
    driver.carry_out(Order::Send {
        client: id,
        pieces: answer,
    });
    let close_idle = Order::CloseIdle { idle_ms: 60_000 };
    driver.peers.get_mut(&id).unwrap().active_ms -= 120_000;

    assert!(received(&mut reader) > 0);
    driver.on_event(id, EventFlags::OUT);
    driver.carry_out(close_idle);

    assert!(driver.peers.contains_key(&id));
    // One that reads nothing is.
    driver.peers.get_mut(&id).unwrap().active_ms -= 120_000;
    driver.on_event(id, EventFlags::OUT);
    driver.carry_out(Order::CloseIdle { idle_ms: 60_000 });
    assert!(driver.peers.is_empty());
}

/// Send bytes and have them served, until nothing moves any more. Returns how many were sent.
fn feed(driver: &mut Driver<Shared>, (stream, id): (&mut UnixStream, u64), bytes: &[u8]) -> usize {
    let (mut sent, mut idle_count) = (0, 0);
    while idle_count < 3 {
        let more = stream.write(&bytes[sent..]).unwrap_or(0);
        sent += more;
        driver.on_event(id, EventFlags::IN);
        driver.take_turns(Instant::now());
        idle_count = if more == 0 { idle_count + 1 } else { 0 };
    }
    sent
}

fn request_count(driver: &Driver<Shared>) -> usize {
    let events = driver.mail.take_batch().events.into_iter();
    let counts = events.map(|event| match event.what {
        What::Requests(requests) => requests.len(),
        _ => 0,
    });
    counts.sum()
}

#[test]
fn long_requests_that_the_owner_has_not_begun_to_serve_are_few() {
    let mut driver = driver();
    let (mut sender, id) = connect(&mut driver);
    let bytes = request(34, &[], &vec![b'x'; 1 << 20]).repeat(16);

    let sent = feed(&mut driver, (&mut sender, id), &bytes);

    assert_eq!(request_count(&driver), 4);
    driver.carry_out(Order::Taken {
        client: id,
        count: 1,
    });
    let more = feed(&mut driver, (&mut sender, id), &bytes[sent..]);
    assert_eq!(request_count(&driver), 1);
    assert!(sent + more < bytes.len() / 2);
}
