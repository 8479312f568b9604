//! POP: what consumers of a group get, and what a later master knows of it.

#![allow(clippy::unwrap_used)]

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;

use ahash::AHashSet;
use regent_commitlog::{NewMessage, Store, StoreConfig};
use regent_hotpath::{
    Beginning, Change, Connection, FinishedPart, Former, Grant, Granted, GrantedFilter, Hold,
    HotPath, LeadingQueues, LeadingSegment, PopGrant, PullAnswers, PullFilter, PullKind, Received,
    Reigning, Taker, decode_state,
};
use regent_remoting::{Command, Encoding};
use regent_share::{Body, Delivery, Disposition, Policy, Record, Snapshot};
use regent_testing::{NOW_MS, grant, hot_path, set_orders, taker};
use tempfile::TempDir;

mod popping;

use popping::{FOUND, INVISIBLE_MS, LANE, Popped, ack, bodies, decode, popped, records};

const BODY_SIZE_MAX: usize = 4 << 20;
const SYSTEM_ERROR: i32 = 1;
const NO_MESSAGE: i32 = 208;
const POLLING_TIMEOUT: i32 = 210;
const POLICY: Policy = Policy {
    attempts: 3,
    discards: false,
    is_ordered: false,
    window: 4096,
};
/// Behind the two lengths of a frame.
const HEADER_START: usize = 8;

struct Fixture {
    store: Store,
    hot: HotPath,
    dir: TempDir,
    elapsed_ms: i64,
}

fn open(dir: &Path, is_acting: bool, body_size_max: usize) -> (Store, HotPath) {
    let mut config = StoreConfig::new(dir);
    config.segment_size_bytes = 8 << 20;
    config.message_body_size_max = body_size_max;
    let store = Store::open(config, NOW_MS).unwrap();
    let hot = hot_path(1);
    set_orders(&hot, 2);
    let reigning = Reigning {
        topic: LANE.to_owned(),
        epoch: 0,
        member: 1,
        segment_size: 8 << 20,
        is_acting,
        life: 7,
        shared: AHashSet::new(),
        version_max: regent_share::VERSION,
    };
    hot.shares.lead(&store, reigning).unwrap();
    (store, hot)
}

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let (store, hot) = open(dir.path(), false, BODY_SIZE_MAX);
        let fixture = Self {
            store,
            hot,
            dir,
            elapsed_ms: 1000,
        };
        fixture.begin("g");
        fixture
    }

    /// The broker is killed, or another one becomes master: only the log is left.
    fn fail_over(self) -> Self {
        self.reopen(false, BODY_SIZE_MAX)
    }

    /// The same on a replica, which has this log and acts for the master.
    fn stand_in(self) -> Self {
        self.reopen(true, BODY_SIZE_MAX)
    }

    fn reopen(self, is_acting: bool, body_size_max: usize) -> Self {
        let Self {
            store,
            hot,
            dir,
            elapsed_ms,
        } = self;
        drop((store, hot));
        let (store, hot) = open(dir.path(), is_acting, body_size_max);
        Self {
            store,
            hot,
            dir,
            elapsed_ms,
        }
    }

    fn begin(&self, group: &str) {
        let policy = POLICY;
        let missing = self.hot.shares.missing(("Orders", group), 2, None, policy);
        let beginnings: Vec<_> = missing
            .into_iter()
            .map(|queue_id| Beginning {
                queue_id,
                ..Beginning::default()
            })
            .collect();
        let config = self.hot.config();
        (self.hot.shares)
            .begin(
                &self.store,
                config,
                ("Orders", group),
                policy,
                &beginnings,
                NOW_MS,
            )
            .unwrap();
    }

    fn connect(&self) -> Connection {
        let peer: SocketAddr = "10.0.0.5:50000".parse().unwrap();
        Connection::new(peer, &self.hot)
    }

    fn grant(&self, tags: Option<Vec<i32>>) -> Arc<Granted> {
        self.grant_of(tags, None)
    }

    fn grant_of(
        &self,
        tags: Option<Vec<i32>>,
        leading: Option<Arc<LeadingQueues>>,
    ) -> Arc<Granted> {
        let kind = PullKind {
            code: 200_050,
            group: "g",
            topic: "Orders",
            filter: PullFilter::Carried {
                expression: "*",
                expression_type: "TAG",
            },
        };
        let grant = Grant {
            filter: tags.map(GrantedFilter::Tags),
            moves_consumers: false,
            leading,
            pop: Some(PopGrant {
                retries: Vec::new(),
                may_forward: false,
                priority_percent: 0,
            }),
            ..grant(&self.hot, 2)
        };
        let granted = Arc::new(Granted::new(&kind, grant));
        self.hot.grant_pulls(&granted);
        granted
    }

    fn append(&self, queue_id: i32, body: &[u8], tag: i32) -> bool {
        let message = NewMessage {
            tags_code: Some(tag.into()),
            ..NewMessage::new("Orders", queue_id, body)
        };
        let appended = self.store.writer().unwrap().append(&message, NOW_MS);
        let max_offset = appended.unwrap().queue_offset + 1;
        self.hot.wake("Orders", queue_id, max_offset)
    }

    fn reset(&self, queue_id: i32, start: u64) {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        let which = ("Orders", queue_id, "g");
        assert!(
            shares
                .reset(&self.store, config, which, start, NOW_MS)
                .unwrap()
        );
    }

    fn undo(&self, deliveries: &[(u64, Delivery)]) -> Vec<(String, i32)> {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        shares
            .undo(&self.store, config, deliveries, NOW_MS)
            .unwrap()
    }

    fn release(&self, name: (&str, i32, &str), holds: &[Hold]) -> u64 {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        (shares.release(&self.store, config, name, holds, NOW_MS)).unwrap()
    }

    /// Overwrite the head of a record, as a bad disk does.
    fn damage(&self, queue_id: i32, offset: u64) {
        let entries = self.store.held_entries("Orders", queue_id, offset, 1);
        let log = self.dir.path().join("commitlog").join("0".repeat(20));
        let log = std::fs::OpenOptions::new().write(true).open(log).unwrap();
        log.write_all_at(&[0xFF; 8], entries[0].log_position + 4)
            .unwrap();
    }

    fn taker<'t, 's>(&self, answers: &'t mut PullAnswers<'s>) -> Taker<'t, 's> {
        taker(answers, self.elapsed_ms)
    }

    /// What comes back for some requests that arrive together.
    fn ask(&self, connection: &mut Connection, requests: &[Vec<u8>]) -> (Vec<Command>, Received) {
        let (mut received, mut answers) = (Received::default(), PullAnswers::default());
        let taker = self.taker(&mut answers);
        connection
            .receive_pulls(
                &self.hot,
                &self.store,
                &requests.concat(),
                NOW_MS,
                &mut received,
                taker,
            )
            .unwrap();
        (decode(&answers, &received), received)
    }

    fn pop(&self, connection: &mut Connection, count: usize) -> Vec<Popped> {
        let (answers, _) = self.ask(connection, &[pop(count, "")]);
        answers.first().map_or_else(Vec::new, popped)
    }

    fn ack(&self, connection: &mut Connection, handles: &[Popped]) -> Vec<i32> {
        let acks: Vec<_> = handles.iter().map(ack).collect();
        let (answers, received) = self.ask(connection, &acks);
        assert!(received.cold.is_empty());
        answers.iter().map(|answer| answer.code).collect()
    }
}

fn pop(count: usize, attempt: &str) -> Vec<u8> {
    popping::pop(count, attempt, NOW_MS)
}

/// What the lane holds: the kind of each record. Whatever else is in a message of it is an error.
fn recorded(store: &Store) -> Vec<&'static str> {
    let kinds = records(store).into_iter().map(|record| match record.body {
        Body::Wire { .. } => "WIRE",
        Body::Own { .. } => "OWN",
        Body::Snap(_) => "SNAP",
        Body::Accept { .. } => "ACCEPT",
        Body::Reject { .. } => "REJECT",
        other => panic!("{other:?}"),
    });
    kinds.collect()
}

/// The numbers that share queues were given.
fn given(store: &Store) -> BTreeSet<u64> {
    let wires = records(store).into_iter();
    let wires = wires.filter(|record| matches!(record.body, Body::Wire { .. }));
    wires.map(|record| record.sq_id).collect()
}

/// Q2, Q61: what is recorded is that messages are finished, and nothing of the requests. Deliveries are in
/// memory only here.
#[test]
fn the_lane_holds_what_happened_to_messages_and_nothing_of_the_requests() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c"] {
        fixture.append(0, body, 0);
    }
    let begun = recorded(&fixture.store);
    assert_eq!(begun, ["WIRE", "SNAP", "OWN", "WIRE", "SNAP", "OWN"]);
    let mut consumer = fixture.connect();

    let found = fixture.pop(&mut consumer, 32);
    assert_eq!(recorded(&fixture.store), begun);
    // Two acknowledgements that arrive together are one record.
    assert_eq!(fixture.ack(&mut consumer, &found[..2]), [FOUND, FOUND]);
    let rejected = fixture.hot.shares.reject(
        &fixture.store,
        fixture.hot.config(),
        ("Orders", 0, "g"),
        (2, Disposition::Discard, Former::Any),
        None,
        NOW_MS,
    );

    assert_eq!(rejected.unwrap().unwrap().successes, [true]);
    assert_eq!(
        recorded(&fixture.store)[begun.len()..],
        ["ACCEPT", "REJECT"]
    );
}

/// O29, Q23: a queue whose batch is out is locked for other ordered consumers, which get the rest.
#[test]
fn o29_a_locked_share_queue_is_skipped_and_holds_up_no_other() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for queue_id in [0, 0, 1, 1] {
        fixture.append(queue_id, b"x", 0);
    }
    let mut consumer = fixture.connect();
    let ordered = |consumer: &mut Connection, attempt: &str| {
        let (answers, _) = fixture.ask(consumer, &[pop(1, attempt)]);
        let found = answers.first().map_or_else(Vec::new, popped);
        found.iter().map(|one| one.queue_id).collect::<Vec<_>>()
    };

    let first = ordered(&mut consumer, "one");
    let second = ordered(&mut consumer, "two");
    let third = ordered(&mut consumer, "three");

    assert_eq!((first.len(), third.len()), (1, 0));
    assert_eq!(second, [1 - first[0]]);
}

#[test]
fn two_consumers_of_a_group_never_have_one_message() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c", b"d"] {
        fixture.append(i32::from(body[0] % 2), body, 0);
    }
    let (mut one, mut other) = (fixture.connect(), fixture.connect());

    let first = fixture.pop(&mut one, 3);
    let second = fixture.pop(&mut other, 3);

    assert_eq!((first.len(), second.len()), (3, 1));
    let all = [first, second].concat();
    assert_eq!(bodies(&all), [b"a", b"b", b"c", b"d"]);
}

/// O11: all that consumers had comes again, since acquisitions are in memory only here. Q22: the code is the same
/// after a failover.
#[test]
fn what_was_acknowledged_is_not_delivered_after_a_failover_and_the_rest_is() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let first = fixture.pop(&mut consumer, 32);
    assert_eq!(fixture.ack(&mut consumer, &first[1..2]), [FOUND]);

    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    let mut consumer = fixture.connect();
    let again = fixture.pop(&mut consumer, 32);

    assert_eq!(bodies(&again), [b"a", b"c"]);
    // The handle of the former master counts no more, since another delivery has begun.
    assert_eq!(fixture.ack(&mut consumer, &first[..1]), [NO_MESSAGE]);
    assert_eq!(fixture.ack(&mut consumer, &again), [FOUND, FOUND]);
    // A repeated acknowledgement gets the same answer.
    assert_eq!(fixture.ack(&mut consumer, &again), [FOUND, FOUND]);
}

#[test]
fn o13_an_accept_whose_acquisition_was_lost_in_a_crash_counts() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let first = fixture.pop(&mut consumer, 32);

    let fixture = fixture.fail_over();
    let mut consumer = fixture.connect();
    // Even before a consumer asks the new master for messages.
    assert_eq!(fixture.ack(&mut consumer, &first[1..]), [FOUND]);
    fixture.begin("g");
    fixture.grant(None);

    assert_eq!(bodies(&fixture.pop(&mut consumer, 32)), [b"a"]);
}

#[test]
fn o12_a_message_whose_time_is_over_goes_to_another_consumer_with_its_count() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    fixture.append(0, b"b", 0);
    let mut consumer = fixture.connect();
    let first = fixture.pop(&mut consumer, 32);
    assert!(fixture.pop(&mut consumer, 32).is_empty());

    fixture.elapsed_ms += INVISIBLE_MS;
    // Late, but no other consumer has the message.
    assert_eq!(fixture.ack(&mut consumer, &first[..1]), [FOUND]);
    let again = fixture.pop(&mut consumer, 32);

    assert_eq!(bodies(&again), [b"b"]);
    assert_eq!(again[0].reconsume_times, 1);
    assert_eq!(fixture.ack(&mut consumer, &first[1..]), [NO_MESSAGE]);
    assert_eq!(fixture.ack(&mut consumer, &again), [FOUND]);
}

#[test]
fn a_consumer_that_waits_gets_a_message_that_comes_and_one_whose_time_is_over() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    let (mut one, mut other) = (fixture.connect(), fixture.connect());
    assert!(fixture.pop(&mut one, 32).is_empty());
    assert_eq!(fixture.hot.parked_count(), 1);

    assert!(fixture.append(1, b"a", 0));

    assert_eq!(fixture.hot.next_turn(), Some(one.id()));
    let found = answer_parked(&fixture, &mut one);
    assert_eq!(bodies(&popped(&found[0])), [b"a"]);
    // It never finishes the message.
    assert!(fixture.pop(&mut other, 32).is_empty());
    let due_ms = fixture.hot.next_deadline_ms().unwrap();
    assert!(due_ms > fixture.elapsed_ms + 14_000, "{due_ms}");
    fixture.elapsed_ms = due_ms;
    assert!(fixture.hot.expire_pulls(due_ms));
    assert_eq!(fixture.hot.next_turn(), Some(other.id()));
    let over = answer_parked(&fixture, &mut other);
    assert_eq!(over[0].code, POLLING_TIMEOUT);

    fixture.elapsed_ms = 1000 + INVISIBLE_MS - 5_000;
    assert!(fixture.pop(&mut other, 32).is_empty());
    fixture.elapsed_ms = fixture.hot.next_deadline_ms().unwrap();
    assert!(fixture.elapsed_ms < 1000 + INVISIBLE_MS + 200);
    assert!(fixture.hot.expire_pulls(fixture.elapsed_ms));
    assert_eq!(fixture.hot.next_turn(), Some(other.id()));
    let found = answer_parked(&fixture, &mut other);
    assert_eq!(bodies(&popped(&found[0])), [b"a"]);
}

fn answer_parked(fixture: &Fixture, connection: &mut Connection) -> Vec<Command> {
    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let taker = fixture.taker(&mut answers);
    connection.answer_parked(&fixture.hot, &fixture.store, &mut received, taker, NOW_MS);
    decode(&answers, &received)
}

#[test]
fn messages_that_a_filter_leaves_out_are_finished() {
    let fixture = Fixture::new();
    fixture.grant(Some(vec![5]));
    for at in 0..2000 {
        fixture.append(0, b"other", if at % 1000 == 999 { 5 } else { 4 });
    }
    let mut consumer = fixture.connect();

    let found = fixture.pop(&mut consumer, 32);

    assert_eq!(
        found.iter().map(|one| one.offset).collect::<Vec<_>>(),
        [999]
    );
    let second = fixture.pop(&mut consumer, 32);
    assert_eq!(
        second.iter().map(|one| one.offset).collect::<Vec<_>>(),
        [1999]
    );
    assert_eq!(fixture.ack(&mut consumer, &found), [FOUND]);
    let (_, received) = fixture.ask(&mut consumer, &[ack(&second[0])]);
    assert_eq!(received.commits[0].offset, 2000);
    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    assert!(fixture.pop(&mut fixture.connect(), 32).is_empty());
}

#[test]
fn o48_a_window_that_is_full_delivers_nothing_new_until_its_front_is_finished() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    for _ in 0..5000 {
        fixture.append(0, b"x", 0);
    }
    let mut consumer = fixture.connect();
    let stuck = fixture.pop(&mut consumer, 1);
    let mut rest = Vec::new();
    loop {
        let found = fixture.pop(&mut consumer, 32);
        if found.is_empty() {
            break;
        }
        rest.extend(found);
    }
    assert_eq!(rest.len(), 4095);
    for some in rest.chunks(100) {
        assert!(
            fixture
                .ack(&mut consumer, some)
                .iter()
                .all(|code| *code == FOUND)
        );
    }
    assert!(fixture.pop(&mut consumer, 32).is_empty());

    fixture.elapsed_ms += INVISIBLE_MS;
    let again = fixture.pop(&mut consumer, 32);

    assert_eq!(again[0].offset, stuck[0].offset);
    assert_eq!(fixture.ack(&mut consumer, &again), [FOUND]);
    assert_eq!(fixture.pop(&mut consumer, 32).len(), 32);
}

#[test]
fn o48_a_consumer_that_waits_for_room_in_the_window_looks_when_there_is_some() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for _ in 0..5000 {
        fixture.append(0, b"x", 0);
    }
    let (mut busy, mut idle) = (fixture.connect(), fixture.connect());
    let mut held = Vec::new();
    while held.len() < 4096 {
        held.extend(fixture.pop(&mut busy, 32));
    }
    assert!(fixture.pop(&mut idle, 32).is_empty());
    fixture.ack(&mut busy, &held[2..4]);
    assert_eq!(fixture.hot.next_turn(), None);

    fixture.ack(&mut busy, &held[..2]);

    assert_eq!(fixture.hot.next_turn(), Some(idle.id()));
    let found = answer_parked(&fixture, &mut idle);
    assert_eq!(given_offsets(&found), (4096..4100).collect::<Vec<_>>());
}

fn given_offsets(answers: &[Command]) -> Vec<u64> {
    let found = answers.iter().flat_map(popped);
    found.map(|one| one.offset).collect()
}

#[test]
fn a_handle_of_a_former_topic_finishes_no_message_of_a_topic_with_its_name() {
    let fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    let mut consumer = fixture.connect();
    let former = fixture.pop(&mut consumer, 1);
    let (shares, config) = (&fixture.hot.shares, fixture.hot.config());
    let topic = (Some("Orders"), None);
    shares
        .remove(&fixture.store, config, topic, NOW_MS)
        .unwrap();
    fixture.begin("g");

    assert_eq!(fixture.ack(&mut consumer, &former), [NO_MESSAGE]);

    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    let mut consumer = fixture.connect();
    assert_eq!(fixture.ack(&mut consumer, &former), [NO_MESSAGE]);
    let present = fixture.pop(&mut consumer, 1);
    assert_eq!(bodies(&present), [b"a"]);
    assert_eq!(fixture.ack(&mut consumer, &present), [FOUND]);
}

#[test]
fn o41_a_snapshot_makes_the_records_before_it_needless() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let first = fixture.pop(&mut consumer, 32);
    assert_eq!(fixture.ack(&mut consumer, &first[1..2]), [FOUND]);
    let config = fixture.hot.config();
    assert!(
        fixture
            .hot
            .shares
            .keep_snapshot(&fixture.store, config, NOW_MS)
            .unwrap()
    );
    assert!(
        !fixture
            .hot
            .shares
            .keep_snapshot(&fixture.store, config, NOW_MS)
            .unwrap()
    );
    assert_eq!(fixture.ack(&mut consumer, &first[..1]), [FOUND]);

    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);

    assert_eq!(bodies(&fixture.pop(&mut fixture.connect(), 32)), [b"c"]);
}

#[test]
fn a_snapshot_keeps_the_last_number_so_that_no_later_share_queue_gets_it() {
    for are_all_removed in [false, true] {
        let fixture = Fixture::new();
        fixture.begin("h");
        let shares = &fixture.hot.shares;
        let config = fixture.hot.config();
        let removed = if are_all_removed {
            (Some("Orders"), None)
        } else {
            (None, Some("h"))
        };
        (shares.remove(&fixture.store, config, removed, NOW_MS)).unwrap();
        assert!(
            shares
                .keep_snapshot(&fixture.store, config, NOW_MS)
                .unwrap()
        );

        let fixture = fixture.fail_over();
        fixture.begin("i");

        assert_eq!(given(&fixture.store), (1..=6).collect());
    }
}

#[test]
fn o52_an_ordered_consumer_waits_for_its_batch_and_gets_it_again_by_its_attempt() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let ordered = |fixture: &Fixture, consumer: &mut Connection, attempt: &str| {
        let (answers, _) = fixture.ask(consumer, &[pop(2, attempt)]);
        let tags: Vec<_> = answers
            .iter()
            .map(|it| it.ext["reviveQid"].to_string())
            .collect();
        (answers.first().map_or_else(Vec::new, popped), tags)
    };

    let (first, tags) = ordered(&fixture, &mut consumer, "one");
    assert_eq!((bodies(&first), &*tags[0]), (vec![&b"a"[..], b"b"], "999"));
    assert!(ordered(&fixture, &mut consumer, "two").0.is_empty());
    // The answer was lost: the same attempt has the same batch, under the same handles.
    assert_eq!(ordered(&fixture, &mut consumer, "one").0, first);
    assert_eq!(fixture.ack(&mut consumer, &first[..1]), [FOUND]);
    assert!(ordered(&fixture, &mut consumer, "two").0.is_empty());

    fixture.elapsed_ms += INVISIBLE_MS;
    let (again, _) = ordered(&fixture, &mut consumer, "three");

    assert_eq!(bodies(&again), [b"b", b"c"]);
    assert_eq!(again[0].reconsume_times, 1);
}

#[test]
fn an_attempt_gets_its_batch_again_whichever_queue_comes_first() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for queue_id in [0, 0, 1, 1] {
        fixture.append(queue_id, b"x", 0);
    }
    let mut consumer = fixture.connect();
    let mut ordered = || popped(&fixture.ask(&mut consumer, &[pop(1, "one")]).0[0]);

    let found = [(); 3].map(|()| ordered());

    assert_eq!(found[0].len(), 1);
    assert!(found.iter().all(|one| *one == found[0]), "{found:?}");
}

#[test]
fn a_damaged_message_keeps_no_consumer_from_other_queues() {
    let fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    fixture.append(1, b"b", 0);
    fixture.append(1, b"c", 0);
    fixture.damage(0, 0);
    let mut consumer = fixture.connect();

    let found = [(); 2].map(|()| fixture.pop(&mut consumer, 1));

    assert_eq!(bodies(&found.concat()), [b"b", b"c"]);
    let (answers, _) = fixture.ask(&mut consumer, &[pop(1, "")]);
    assert_eq!(answers[0].code, SYSTEM_ERROR);
}

#[test]
fn what_is_found_before_a_damaged_message_is_with_its_consumer() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    fixture.append(0, b"b", 0);
    let (mut gone, mut consumer) = (fixture.connect(), fixture.connect());
    assert_eq!(fixture.pop(&mut gone, 1).len(), 1);
    fixture.damage(0, 1);
    fixture.elapsed_ms += INVISIBLE_MS;

    let found = fixture.pop(&mut consumer, 32);

    assert_eq!(bodies(&found), [b"a"]);
    assert!(fixture.pop(&mut gone, 32).is_empty());
    assert_eq!(fixture.ack(&mut consumer, &found), [FOUND]);
}

#[test]
fn a_snapshot_whose_last_message_is_refused_is_written_again() {
    let fixture = Fixture::new();
    for _ in 0..2000 {
        fixture.append(1, b"x", 0);
    }
    let (shares, config) = (&fixture.hot.shares, fixture.hot.config());
    let name = ("Orders", 1, "g");
    let part = FinishedPart {
        ranges: (1..2000).step_by(2).collect(),
        ..shares.finished(name).unwrap()
    };
    (shares.take_over(&fixture.store, config, name, &part, NOW_MS)).unwrap();
    // The state of the second queue is a separate message, of 82 KB.
    let fixture = fixture.reopen(false, 64 << 10);
    let (shares, config) = (&fixture.hot.shares, fixture.hot.config());

    let written = [(); 2].map(|()| shares.keep_snapshot(&fixture.store, config, NOW_MS));

    assert!(written.iter().all(Result::is_err), "{written:?}");
    let fixture = fixture.fail_over();
    assert_eq!(fixture.hot.shares.finished(name), Some(part));
}

#[test]
fn the_records_of_many_share_queues_are_messages_of_a_bounded_size() {
    let fixture = Fixture::new();
    let (shares, config) = (&fixture.hot.shares, fixture.hot.config());
    let queue_ids: Vec<i32> = (0..2000).collect();
    let beginnings: Vec<_> = (queue_ids.iter())
        .map(|queue_id| Beginning {
            queue_id: *queue_id,
            ..Beginning::default()
        })
        .collect();
    let (store, name) = (&fixture.store, ("Orders", "many"));
    let missing = || shares.missing(name, 2000, None, POLICY).len();
    assert_eq!(missing(), 2000);

    (shares.begin(store, config, name, POLICY, &beginnings, NOW_MS)).unwrap();
    assert_eq!(missing(), 0);
    let is_any = shares.give_away(store, config, ("Orders", &queue_ids), NOW_MS);
    assert!(is_any.unwrap());
    (shares.remove(store, config, (None, Some("many")), NOW_MS)).unwrap();

    let (low, end) = store.held_offsets(LANE, 0).unwrap();
    let count = usize::try_from(end - low).unwrap();
    let entries = store.held_entries(LANE, 0, low, count);
    let longest = entries.iter().map(|entry| entry.size).max().unwrap();
    assert!(longest < 50 << 10, "{longest}");
    let kinds = records(store).into_iter().map(|it| (it.sq_id, it.body));
    let unowned = kinds.filter(|(_, body)| matches!(body, Body::Unown { .. }));
    assert_eq!(unowned.count(), 2002);
    let fixture = fixture.fail_over();
    let (listed, count) = fixture.hot.shares.list((None, None), 0, 10);
    assert_eq!((listed.len(), count), (2, 2));
    fixture.begin("h");
    assert_eq!(given(&fixture.store), (1..=2004).collect());
}

#[test]
fn messages_that_were_delivered_too_often_are_given_up() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    let mut consumer = fixture.connect();
    for count in 0..3 {
        let found = fixture.pop(&mut consumer, 32);
        assert_eq!(found[0].reconsume_times, count);
        fixture.elapsed_ms += INVISIBLE_MS;
    }

    assert!(fixture.pop(&mut consumer, 32).is_empty());

    let dead = fixture.hot.shares.dead(fixture.elapsed_ms, 10);
    assert_eq!((dead.len(), dead[0].offset, dead[0].count), (1, 0, 3));
    let copy = NewMessage::new("%DLQ%g", 0, b"a");
    let reject = |copy, count| {
        fixture.hot.shares.reject(
            &fixture.store,
            fixture.hot.config(),
            ("Orders", 0, "g"),
            (0, Disposition::DeadLetter, Former::Count(count)),
            copy,
            NOW_MS,
        )
    };
    // The offset was reset since, perhaps.
    assert_eq!(reject(Some(copy), 0).unwrap().unwrap().successes, [false]);
    for is_first in [true, false] {
        let finished = reject(Some(copy), 3).unwrap().unwrap();
        assert_eq!(finished.successes, [is_first]);
    }
    assert_eq!(fixture.store.queue_offsets("%DLQ%g", 0), Some((0, 1)));
    assert!(fixture.hot.shares.dead(fixture.elapsed_ms, 10).is_empty());
}

#[test]
fn a_message_that_another_consumer_got_since_is_not_moved() {
    let fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    let (mut one, mut other) = (fixture.connect(), fixture.connect());
    let (shares, config) = (&fixture.hot.shares, fixture.hot.config());
    let name = ("Orders", 0, "g");
    let give_back = |found: &[Popped]| {
        let delivery = (regent_share::Handle::parse(&found[0].handle).unwrap()).delivery;
        let (back, times) = (Change::GiveBack(0), (NOW_MS, fixture.elapsed_ms));
        let renewed = shares.change(&fixture.store, config, name, (delivery, 0), back, times);
        assert!(renewed.unwrap().is_some());
        delivery
    };
    let copy = NewMessage::new("%RETRY%g+Orders", 0, b"a");
    let move_after = |delivery| {
        let what = (0, Disposition::Retry, Former::Delivery(delivery));
        let moved = shares.reject(&fixture.store, config, name, what, Some(copy), NOW_MS);
        moved.unwrap().unwrap().successes
    };
    let first = give_back(&fixture.pop(&mut one, 1));
    let found = fixture.pop(&mut other, 1);

    assert_eq!(move_after(first), [false]);

    let second = give_back(&found);
    assert_eq!(move_after(first), [false]);
    assert_eq!(fixture.store.queue_offsets(copy.topic, 0), None);
    assert_eq!(move_after(second), [true]);
    assert_eq!(fixture.store.queue_offsets(copy.topic, 0), Some((0, 1)));
}

#[test]
fn a_list_says_what_consumers_have_and_what_was_done() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c", b"d"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let first = fixture.pop(&mut consumer, 3);
    assert_eq!(fixture.ack(&mut consumer, &first[1..2]), [FOUND]);
    fixture.elapsed_ms += INVISIBLE_MS;
    assert_eq!(fixture.pop(&mut consumer, 1).len(), 1);

    let (listed, count) =
        (fixture.hot.shares).list((Some("Orders"), Some("g")), fixture.elapsed_ms, 10);

    assert_eq!((listed.len(), count), (2, 2));
    let held = &listed[0];
    assert_eq!((held.start, held.end), (0, 3));
    let counts = (
        held.acquired_count,
        held.returned_count,
        held.finished_count,
    );
    assert_eq!(counts, (1, 1, 1));
    let done = held.counts;
    assert_eq!((done.delivered, done.redelivered, done.accepted), (4, 1, 1));
    assert!(held.oldest_acquired_at_ms > held.oldest_delivered_at_ms);
    let other = &listed[1];
    assert_eq!(
        (
            other.name.queue_id,
            other.acquired_count,
            other.oldest_acquired_at_ms
        ),
        (1, 0, None)
    );
    assert_eq!(
        fixture.hot.shares.list((None, Some("h")), 0, 10),
        (vec![], 0)
    );
    let (one, all) = fixture.hot.shares.list((None, None), fixture.elapsed_ms, 1);
    assert_eq!((one.len(), all), (1, 2));
}

#[test]
fn o6_what_an_operator_releases_is_delivered_again_at_once_and_its_former_handle_is_void() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b"] {
        fixture.append(0, body, 0);
    }
    let mut gone = fixture.connect();
    let former = fixture.pop(&mut gone, 32);
    let name = ("Orders", 0, "g");
    let held = fixture.hot.shares.messages(name, fixture.elapsed_ms);
    assert!(
        held.iter()
            .all(|one| one.client.is_some() && one.count == 1)
    );
    let holds: Vec<_> = held.iter().map(|one| (one.offset, one.delivery)).collect();

    assert_eq!(fixture.release(name, &holds), 2);

    assert_eq!(fixture.release(name, &holds), 0);
    let mut consumer = fixture.connect();
    let again = fixture.pop(&mut consumer, 32);
    assert_eq!(bodies(&again), [b"a", b"b"]);
    assert_eq!(again[0].reconsume_times, 1);
    // A release that comes late does not take messages from the next consumer.
    assert_eq!(fixture.release(name, &holds), 0);
    assert_eq!(fixture.ack(&mut gone, &former[..1]), [NO_MESSAGE]);
}

#[test]
fn o54_a_reset_of_one_queue_keeps_no_message_of_another_queue_from_its_end() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    let mut gone = fixture.connect();
    assert_eq!(fixture.pop(&mut gone, 32).len(), 1);
    let config = fixture.hot.config();
    let is_reset =
        (fixture.hot.shares).reset(&fixture.store, config, ("Orders", 1, "g"), 0, NOW_MS);
    assert!(is_reset.unwrap());

    // No consumer has asked since: the broker looks for dead messages, and an operator for those
    // in flight.
    fixture.elapsed_ms += INVISIBLE_MS;
    assert!(fixture.hot.shares.dead(fixture.elapsed_ms, 10).is_empty());
    let held = fixture
        .hot
        .shares
        .messages(("Orders", 0, "g"), fixture.elapsed_ms);
    assert_eq!(
        held.iter().map(|one| one.client).collect::<Vec<_>>(),
        [None]
    );

    fixture.begin("g");
    assert_eq!(bodies(&fixture.pop(&mut fixture.connect(), 32)), [b"a"]);
}

#[test]
fn a_reset_of_one_queue_leaves_consumers_what_they_have_of_another() {
    let fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    let mut consumer = fixture.connect();
    let found = fixture.pop(&mut consumer, 32);
    fixture.reset(1, 0);
    let change = |delivery, change| {
        let (name, times) = (("Orders", 0, "g"), (NOW_MS, fixture.elapsed_ms));
        let (shares, config) = (&fixture.hot.shares, fixture.hot.config());
        let renewed = shares.change(&fixture.store, config, name, (delivery, 0), change, times);
        renewed.unwrap()
    };
    let delivery = regent_share::Handle::parse(&found[0].handle)
        .unwrap()
        .delivery;

    let kept = change(delivery, Change::Keep(INVISIBLE_MS)).unwrap();

    assert_eq!(change(delivery, Change::Keep(0)), None);
    assert!(change(kept.delivery, Change::GiveBack(0)).is_some());
    fixture.begin("g");
    let again = fixture.pop(&mut consumer, 32);
    assert_eq!(
        (bodies(&again), again[0].reconsume_times),
        (vec![&b"a"[..]], 1)
    );
}

#[test]
fn o54_an_ordered_handle_from_before_a_reset_finishes_nothing_afterwards() {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let ordered = |fixture: &Fixture, consumer: &mut Connection, attempt: &str| {
        popped(&fixture.ask(consumer, &[pop(1, attempt)]).0[0])
    };
    let former = ordered(&fixture, &mut consumer, "one");
    fixture.reset(0, 0);
    fixture.begin("g");

    assert_eq!(fixture.ack(&mut consumer, &former), [NO_MESSAGE]);

    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    let mut consumer = fixture.connect();
    assert_eq!(fixture.ack(&mut consumer, &former), [NO_MESSAGE]);
    let again = ordered(&fixture, &mut consumer, "two");
    assert_eq!(bodies(&again), [b"a"]);
    assert_eq!(fixture.ack(&mut consumer, &again), [FOUND]);
    assert_eq!(bodies(&ordered(&fixture, &mut consumer, "three")), [b"b"]);
}

#[test]
fn a_delivery_waits_for_a_record_of_its_own_where_another_broker_may_lead() {
    // Q9, Q18, Q83: who leads no more gets no record confirmed, and the record names no message.
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b"] {
        fixture.append(0, body, 0);
    }
    fixture.hot.set_deferring(true);
    let end = fixture.store.max_position();
    let mut consumer = fixture.connect();

    let (answers, received) = fixture.ask(&mut consumer, &[pop(32, "")]);

    assert!(answers.is_empty());
    assert_eq!(received.deferred_position, fixture.store.max_position());
    assert!(received.deferred_position > end);
    let held = regent_testing::decode(&received.deferred);
    assert_eq!(bodies(&popped(&held[0])), [b"a", b"b"]);
    let end = fixture.store.max_position();
    let (answers, received) = fixture.ask(&mut consumer, &[pop(32, "")]);
    // What brings no message needs no record.
    assert!(answers.is_empty() && received.deferred.is_empty() && received.is_parked);
    assert_eq!(fixture.store.max_position(), end);
    // The next master delivers the messages again: it does not know who has them.
    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    let again = fixture.pop(&mut fixture.connect(), 32);
    assert_eq!(bodies(&again), [b"a", b"b"]);
}

#[test]
fn a_delivery_whose_record_is_not_confirmed_is_undone_and_does_not_count() {
    let mut fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    assert_eq!(fixture.pop(&mut consumer, 1)[0].reconsume_times, 0);
    fixture.elapsed_ms += INVISIBLE_MS;
    fixture.hot.set_deferring(true);
    // As often as the group receives a message at most, and once more.
    for _ in 0..4 {
        let (answers, received) = fixture.ask(&mut consumer, &[pop(32, "")]);
        let deliveries = received.deferred_deliveries;
        assert_eq!((answers.len(), deliveries.len()), (0, 1));

        let queues = fixture.undo(&deliveries);

        assert_eq!(queues, [("Orders".to_owned(), 0)]);
        assert!(fixture.undo(&deliveries).is_empty());
        assert!(fixture.hot.shares.dead(fixture.elapsed_ms, 10).is_empty());
    }
    let (_, received) = fixture.ask(&mut consumer, &[pop(32, "")]);
    let late = received.deferred_deliveries;
    assert_eq!(fixture.undo(&late).len(), 1);
    fixture.hot.set_deferring(false);

    let found = fixture.pop(&mut consumer, 32);

    assert_eq!(bodies(&found), [b"a", b"b"]);
    let times: Vec<_> = found.iter().map(|one| one.reconsume_times).collect();
    assert_eq!(times, [1, 0]);
    // It takes no message from a later delivery, nor from one of the next master.
    assert!(fixture.undo(&late).is_empty());
    assert_eq!(fixture.ack(&mut consumer, &found[..1]), [FOUND]);
    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    assert_eq!(fixture.pop(&mut fixture.connect(), 32).len(), 1);
    assert!(fixture.undo(&late).is_empty());
    fixture.hot.shares.stand_down();
    assert!(fixture.undo(&late).is_empty());
}

#[test]
fn an_ordered_batch_is_undone_once_none_of_its_answers_is_given() {
    let fixture = Fixture::new();
    fixture.grant(None);
    fixture.append(0, b"a", 0);
    fixture.hot.set_deferring(true);
    let mut consumer = fixture.connect();
    let deliveries = [(); 2].map(|()| {
        let (_, received) = fixture.ask(&mut consumer, &[pop(2, "one")]);
        received.deferred_deliveries
    });
    assert_eq!(deliveries[0], deliveries[1]);

    // The second answer may be given still.
    assert!(fixture.undo(&deliveries[0]).is_empty());
    let (answers, received) = fixture.ask(&mut consumer, &[pop(2, "two")]);
    assert!(answers.is_empty() && received.deferred.is_empty());
    assert_eq!(fixture.undo(&deliveries[1]).len(), 1);

    fixture.hot.set_deferring(false);
    let (answers, _) = fixture.ask(&mut consumer, &[pop(2, "three")]);
    let found = popped(&answers[0]);
    assert_eq!(
        (bodies(&found), found[0].reconsume_times),
        (vec![&b"a"[..]], 0)
    );
}

#[test]
fn a_parked_pop_waits_for_a_record_too() {
    let fixture = Fixture::new();
    fixture.grant(None);
    fixture.hot.set_deferring(true);
    let mut consumer = fixture.connect();
    assert!(fixture.ask(&mut consumer, &[pop(32, "")]).1.is_parked);

    assert!(fixture.append(1, b"a", 0));

    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let taker = fixture.taker(&mut answers);
    assert_eq!(fixture.hot.next_turn(), Some(consumer.id()));
    consumer.answer_parked(&fixture.hot, &fixture.store, &mut received, taker, NOW_MS);
    assert_eq!(answers.size(), 0);
    assert!(!received.deferred.is_empty() && !received.arrivals.is_empty());
    assert_eq!(received.deferred_position, fixture.store.max_position());
}

/// Finish messages as the dispatcher does, since the hot path leaves it to that.
fn accept(fixture: &Fixture, messages: &[Popped]) -> Vec<bool> {
    let mut successes = Vec::new();
    for message in messages {
        let delivery = regent_share::Handle::parse(&message.handle)
            .unwrap()
            .delivery;
        let finished = fixture.hot.shares.accept(
            &fixture.store,
            fixture.hot.config(),
            ("Orders", message.queue_id, "g"),
            (delivery, &[message.offset]),
            NOW_MS,
        );
        successes.extend(finished.unwrap().unwrap().successes);
    }
    successes
}

fn take_over(fixture: &Fixture, part: &FinishedPart) -> Option<bool> {
    let before = fixture.store.max_position();
    let name = ("Orders", 0, "g");
    let config = fixture.hot.config();
    let finished = (fixture.hot.shares).take_over(&fixture.store, config, name, part, NOW_MS);
    finished
        .unwrap()
        .map(|_| fixture.store.max_position() > before)
}

fn acted_on() -> (Fixture, Vec<Popped>) {
    let fixture = Fixture::new();
    fixture.grant(None);
    for body in [b"a", b"b", b"c", b"d"] {
        fixture.append(0, body, 0);
    }
    let mut consumer = fixture.connect();
    let first = fixture.pop(&mut consumer, 3);
    assert_eq!(fixture.ack(&mut consumer, &first[..1]), [FOUND]);

    let fixture = fixture.stand_in();
    fixture.begin("g");
    (fixture, first)
}

#[test]
fn a_replica_that_acts_hands_out_messages_and_appends_nothing() {
    let (mut fixture, first) = acted_on();
    let end = fixture.store.max_position();
    fixture.grant(Some(vec![0]));
    fixture.append(1, b"unwanted", 7);
    let end = end.max(fixture.store.max_position());

    // A handle of the former master finishes its message.
    assert_eq!(accept(&fixture, &first[2..3]), [true]);
    let mut consumer = fixture.connect();
    let found = fixture.pop(&mut consumer, 32);
    assert_eq!(bodies(&found), [b"b", b"d"]);
    assert!(fixture.pop(&mut consumer, 32).is_empty());
    // The dispatcher has to keep what is finished before the answer.
    let (answers, received) = fixture.ask(&mut consumer, &[ack(&found[1])]);
    assert_eq!((answers.len(), received.cold.len()), (0, 1));
    assert_eq!(accept(&fixture, &found[1..]), [true]);
    // The deadline of a delivery passes, and the message comes again.
    fixture.elapsed_ms += INVISIBLE_MS;
    let again = fixture.pop(&mut consumer, 32);
    assert_eq!(
        (bodies(&again), again[0].reconsume_times),
        (vec![&b"b"[..]], 1)
    );
    assert_eq!(accept(&fixture, &found[..1]), [false]);

    let config = fixture.hot.config();
    let is_kept = (fixture.hot.shares).keep_snapshot(&fixture.store, config, NOW_MS);
    assert!(!is_kept.unwrap());
    let is_reset =
        (fixture.hot.shares).reset(&fixture.store, config, ("Orders", 0, "g"), 0, NOW_MS);
    assert!(!is_reset.unwrap());
    assert_eq!(fixture.store.max_position(), end);
    let part = fixture.hot.shares.finished(("Orders", 0, "g")).unwrap();
    assert_eq!(part.ranges.as_slice(), [0..1, 2..4]);
    assert_eq!(fixture.hot.shares.finished(("Orders", 0, "h")), None);
}

#[test]
fn s130_a_master_takes_over_what_was_finished_at_a_replica_that_acted() {
    let (fixture, first) = acted_on();
    assert_eq!(accept(&fixture, &first[2..3]), [true]);
    let part = fixture.hot.shares.finished(("Orders", 0, "g")).unwrap();

    // A kill of the replica: it has its file.
    let fixture = fixture.stand_in();
    fixture.begin("g");
    assert_eq!(take_over(&fixture, &part), Some(false));
    fixture.grant(None);
    assert_eq!(
        bodies(&fixture.pop(&mut fixture.connect(), 32)),
        [b"b", b"d"]
    );

    let fixture = fixture.fail_over();
    assert_eq!(take_over(&fixture, &part), Some(true));
    // The same again changes nothing.
    assert_eq!(take_over(&fixture, &part), Some(false));
    let fixture = fixture.fail_over();
    fixture.begin("g");
    fixture.grant(None);
    let mut consumer = fixture.connect();
    assert_eq!(bodies(&fixture.pop(&mut consumer, 32)), [b"b", b"d"]);
    // It comes late: the message is with another consumer already.
    let late = FinishedPart {
        ranges: regent_share::Ranges::of(0..3),
        ..part
    };
    assert_eq!(take_over(&fixture, &late), Some(true));
    assert_eq!(fixture.hot.shares.finished(("Orders", 0, "g")), Some(late));
}

#[test]
fn what_was_finished_of_another_share_queue_or_before_a_reset_says_nothing() {
    let (fixture, first) = acted_on();
    assert_eq!(accept(&fixture, &first[2..3]), [true]);
    let part = fixture.hot.shares.finished(("Orders", 0, "g")).unwrap();
    let fixture = fixture.fail_over();
    let other = FinishedPart {
        sq_id: part.sq_id + 1,
        ..part.clone()
    };
    assert_eq!(take_over(&fixture, &other), None);
    let far = FinishedPart {
        ranges: regent_share::Ranges::of(0..u64::MAX),
        ..part.clone()
    };

    let config = fixture.hot.config();
    let is_reset =
        (fixture.hot.shares).reset(&fixture.store, config, ("Orders", 0, "g"), 0, NOW_MS);
    assert!(is_reset.unwrap());
    assert_eq!(take_over(&fixture, &part), None);
    assert_eq!(take_over(&fixture, &far), None);

    fixture.begin("g");
    fixture.grant(None);
    let found = fixture.pop(&mut fixture.connect(), 32);
    assert_eq!(bodies(&found), [b"a", b"b", b"c", b"d"]);
    // No member has finished a message that does not exist.
    let reset_epoch = fixture.hot.shares.finished(("Orders", 0, "g")).unwrap();
    let far = FinishedPart {
        ranges: far.ranges,
        ..reset_epoch
    };
    assert_eq!(take_over(&fixture, &far), Some(true));
    let all = fixture.hot.shares.finished(("Orders", 0, "g")).unwrap();
    assert_eq!(all.ranges, regent_share::Ranges::of(0..4));
}

/// Logical queue 5 has its last segment in queue 1 from offset 2 on; its messages 0 to 99 are elsewhere.
const GLOBAL_ID: i32 = 5;
const SEGMENT: LeadingSegment = LeadingSegment {
    queue_id: 1,
    physical_start: 2,
    logical_start: 100,
    takes_sends: true,
};

impl Fixture {
    fn begin_logical(&self, start: u64, state: Option<&[u8]>) {
        let policy = POLICY;
        let state = state.map(|record| decode_state(record, self.elapsed_ms).unwrap());
        let beginning = Beginning {
            queue_id: GLOBAL_ID,
            start,
            segment: Some(SEGMENT),
            state,
        };
        let (shares, config) = (&self.hot.shares, self.hot.config());
        let name = ("Orders", "g");
        (shares.begin(&self.store, config, name, policy, &[beginning], NOW_MS)).unwrap();
        let leading = LeadingQueues::new([(GLOBAL_ID, SEGMENT)]);
        self.grant_of(None, Some(Arc::new(leading)));
    }

    fn give_away(&self) -> Vec<u8> {
        let (shares, config) = (&self.hot.shares, self.hot.config());
        let which = ("Orders", &[GLOBAL_ID][..]);
        shares
            .give_away(&self.store, config, which, NOW_MS)
            .unwrap();
        let states = shares.given_away(("Orders", GLOBAL_ID), self.elapsed_ms);
        states[0].record.clone()
    }

    fn places(found: &[Popped]) -> Vec<(i32, u64, &[u8])> {
        let mut places: Vec<_> = found
            .iter()
            .map(|one| (one.queue_id, one.offset, &one.body[..]))
            .collect();
        places.sort_unstable();
        places
    }
}

#[test]
fn messages_of_the_last_segment_have_logical_places() {
    let fixture = Fixture::new();
    for body in [b"x", b"y", b"a", b"b"] {
        fixture.append(1, body, 0);
    }
    fixture.begin_logical(100, None);
    let mut consumer = fixture.connect();

    let found = fixture.pop(&mut consumer, 32);

    assert_eq!(
        Fixture::places(&found),
        [(GLOBAL_ID, 100, &b"a"[..]), (GLOBAL_ID, 101, &b"b"[..])]
    );
    let (_, received) = fixture.ask(&mut consumer, &[ack(&found[0])]);
    // The committed offset is that of the segment.
    let commits: Vec<_> = received
        .commits
        .iter()
        .map(|it| (it.queue_id, it.offset))
        .collect();
    assert_eq!(commits, [(1, 3)]);
}

#[test]
fn messages_of_older_segments_come_from_those_who_read_them() {
    let fixture = Fixture::new();
    for body in [b"x", b"y", b"a"] {
        fixture.append(1, body, 0);
    }
    fixture.begin_logical(97, None);
    let shares = &fixture.hot.shares;
    let name = ("Orders", GLOBAL_ID, "g");
    let mut consumer = fixture.connect();
    assert_eq!(shares.older_wish(name, 1000), Some(97));
    assert!(fixture.pop(&mut consumer, 32).is_empty());

    // A record of another place shows what the dispatcher makes of one: its last bytes are those of a body.
    let mut record = fixture.store.read_record(0).unwrap().unwrap();
    record[12..16].copy_from_slice(&GLOBAL_ID.to_be_bytes());
    record[20..28].copy_from_slice(&98_u64.to_be_bytes());
    shares.put_older(name, (97, 100), record);

    let found = fixture.pop(&mut consumer, 32);
    assert_eq!(Fixture::places(&found).len(), 1);
    assert_eq!((found[0].queue_id, found[0].offset), (GLOBAL_ID, 98));
    assert_eq!(shares.older_wish(name, 1000), None);
    assert_eq!(bodies(&fixture.pop(&mut consumer, 32)), [b"a"]);
}

#[test]
fn o52_an_ordered_consumer_gets_no_later_message_while_an_earlier_one_is_to_be_read() {
    let mut fixture = Fixture::new();
    for body in [b"x", b"y", b"a"] {
        fixture.append(1, body, 0);
    }
    fixture.begin_logical(98, None);
    let mut record = fixture.store.read_record(0).unwrap().unwrap();
    record[12..16].copy_from_slice(&GLOBAL_ID.to_be_bytes());
    record[20..28].copy_from_slice(&98_u64.to_be_bytes());
    let name = ("Orders", GLOBAL_ID, "g");
    (fixture.hot.shares).put_older(name, (98, 100), record.clone());
    let mut consumer = fixture.connect();
    let (answers, _) = fixture.ask(&mut consumer, &[pop(1, "one")]);
    assert_eq!(popped(&answers[0])[0].offset, 98);
    fixture.elapsed_ms += INVISIBLE_MS;
    // Messages of another consumer took the place in memory.
    (fixture.hot.shares).put_older(name, (99, 100), Vec::new());

    let (answers, received) = fixture.ask(&mut consumer, &[pop(2, "two")]);

    assert_eq!((answers.len(), received.cold.len()), (0, 1));
    (fixture.hot.shares).put_older(name, (98, 100), record);
    let (answers, _) = fixture.ask(&mut consumer, &[pop(2, "three")]);
    let found = popped(&answers[0]);
    let offsets: Vec<_> = found.iter().map(|one| one.offset).collect();
    assert_eq!(offsets, [98, 100]);
}

#[test]
fn a_share_queue_that_was_given_away_goes_on_at_its_next_owner() {
    let source = Fixture::new();
    for body in [b"x", b"y", b"a", b"b", b"c"] {
        source.append(1, body, 0);
    }
    source.begin_logical(100, None);
    let mut consumer = source.connect();
    let found = source.pop(&mut consumer, 32);
    assert_eq!(source.ack(&mut consumer, &found[1..2]), [FOUND]);

    let state = source.give_away();

    // The former owner leaves everything to the dispatcher, also after a failover.
    assert!(source.ask(&mut consumer, &[ack(&found[0])]).0.is_empty());
    let source = source.fail_over();
    let ownership = source.hot.shares.ownership(("Orders", GLOBAL_ID, "g"));
    assert_eq!(ownership.map(|(_, is_owned)| is_owned), Some(false));

    let mut destination = Fixture::new();
    for body in [b"x", b"y", b"a", b"b", b"c", b"d"] {
        destination.append(1, body, 0);
    }
    destination.begin_logical(0, Some(&state));
    let mut other = destination.connect();
    assert_eq!(bodies(&destination.pop(&mut other, 32)), [b"d"]);
    assert_eq!(destination.ack(&mut other, &found[..1]), [FOUND]);
    destination.elapsed_ms += INVISIBLE_MS;
    let again = destination.pop(&mut other, 32);
    assert_eq!(bodies(&again), [b"c", b"d"]);
    // The state of an earlier owner does not replace a later one.
    destination.begin_logical(0, Some(&state));
    assert!(destination.pop(&mut other, 32).is_empty());
}

#[test]
fn a_share_queue_of_a_static_topic_commits_and_gives_up_nothing_before_its_place_is_known() {
    let fixture = Fixture::new();
    for body in [b"x", b"y", b"a", b"b"] {
        fixture.append(1, body, 0);
    }
    fixture.begin_logical(100, None);
    let fixture = fixture.fail_over();
    let (shares, config) = (&fixture.hot.shares, fixture.hot.config());
    let led_elsewhere = ("Orders", &[][..]);
    (shares.give_away(&fixture.store, config, led_elsewhere, NOW_MS)).unwrap();
    let reject = |offset| {
        let name = ("Orders", GLOBAL_ID, "g");
        let what = (offset, Disposition::Discard, Former::Any);
        let rejected = shares.reject(&fixture.store, config, name, what, None, NOW_MS);
        rejected.unwrap().unwrap()
    };

    let rejected = reject(100);

    assert_eq!((rejected.successes, rejected.commits), (vec![true], vec![]));
    fixture.begin_logical(100, None);
    let commits = reject(101).commits;
    let places: Vec<_> = commits.iter().map(|it| (it.queue_id, it.offset)).collect();
    assert_eq!(places, [(1, 4)]);
}

#[test]
fn a_pop_that_looks_again_in_an_older_segment_waits_no_longer_than_it_said() {
    let mut fixture = Fixture::new();
    fixture.append(1, b"x", 0);
    fixture.begin_logical(97, None);
    let mut consumer = fixture.connect();
    let leading = Arc::new(LeadingQueues::new([(GLOBAL_ID, SEGMENT)]));
    let granted = fixture.grant_of(None, Some(leading));
    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let frame = pop(32, "");
    let (hot, store) = (&fixture.hot, &fixture.store);
    let request = (7, Encoding::Json, &frame[HEADER_START..]);
    let taker = fixture.taker(&mut answers);
    let clock = (NOW_MS, true);
    assert!(consumer.pop(hot, store, request, &granted, &mut received, taker, clock));

    fixture.elapsed_ms = fixture.hot.next_deadline_ms().unwrap();
    assert!(fixture.elapsed_ms < 1000 + 1000);
    assert!(fixture.hot.expire_pulls(fixture.elapsed_ms));
    let taker = fixture.taker(&mut answers);
    consumer.answer_parked(&fixture.hot, &fixture.store, &mut received, taker, NOW_MS);

    let left_ms = 15_000 - (fixture.elapsed_ms - 1000);
    assert_eq!(received.cold.len(), 1);
    assert_eq!(received.cold[0].ext["pollTime"], left_ms.to_string());
    assert_eq!(received.cold[0].ext["bornTime"], "0");
}

#[test]
fn a_question_for_messages_that_looks_again_waits_no_longer_than_it_said() {
    let mut fixture = Fixture::new();
    let granted = fixture.grant(None);
    let (mut asker, mut other) = (fixture.connect(), fixture.connect());
    let question = popping::request(
        200_054,
        &[
            ("consumerGroup", "g"),
            ("topic", "Orders"),
            ("queueId", "-1"),
            ("pollTime", "15000"),
            ("bornTime", "0"),
        ],
    );
    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let (hot, store) = (&fixture.hot, &fixture.store);
    let request = (7, Encoding::Json, &question[HEADER_START..]);
    let taker = fixture.taker(&mut answers);
    let clock = (NOW_MS, true);
    assert!(asker.pop(hot, store, request, &granted, &mut received, taker, clock));

    // Another consumer gets the message before.
    fixture.elapsed_ms += 10_000;
    fixture.append(0, b"x", 0);
    assert_eq!(fixture.pop(&mut other, 32).len(), 1);
    assert_eq!(fixture.hot.next_turn(), Some(asker.id()));
    assert!(answer_parked(&fixture, &mut asker).is_empty());

    let end_ms = fixture.hot.next_deadline_ms().unwrap();
    assert!(end_ms <= 1000 + 15_000 + 100, "{end_ms}");
    fixture.elapsed_ms = end_ms;
    assert!(fixture.hot.expire_pulls(end_ms));
    let told = answer_parked(&fixture, &mut asker);
    assert_eq!(told[0].ext["hasMsg"], "false");
}

#[test]
fn a_state_whose_numbers_have_no_next_one_is_refused() {
    let decoded = |state: Snapshot| {
        let mut record = Vec::new();
        Record {
            flags: 0,
            sq_id: 0,
            epoch: state.epoch,
            body: Body::Snap(state),
        }
        .encode(&mut record);
        decode_state(&record, 0)
    };
    let sound = Snapshot {
        epoch: 3,
        last_pop_time_ms: NOW_MS,
        ..Snapshot::default()
    };
    assert!(decoded(sound.clone()).is_some());
    let late = Snapshot {
        last_pop_time_ms: i64::MAX,
        ..sound.clone()
    };
    assert_eq!(decoded(late), None);
    let last = Snapshot {
        epoch: u64::MAX,
        ..sound
    };
    assert_eq!(decoded(last), None);
}
