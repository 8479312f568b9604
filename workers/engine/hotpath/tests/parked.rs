//! Pulls that wait: what a consumer gets, and when. The table itself is tested beside its source.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::sync::Arc;

use regent_commitlog::{NewMessage, Store};
use regent_hotpath::{
    Connection, Grant, Granted, GrantedFilter, HotPath, LeadingQueues, LeadingSegment,
    PARKED_OF_CONNECTION_MAX, ParkedPull, PullAnswers, PullFilter, PullKind, Received, WaitingPull,
};
use regent_remoting::{Command, Encoding, Fields};
use regent_testing::{
    NOW_MS, decode, fields, frame, grant, hot_path, open_store, set_orders, taker,
};
use tempfile::TempDir;

const COMMIT: i32 = 1;
const SUSPEND: i32 = 2;
const FOUND: i32 = 0;
const SYSTEM_BUSY: i32 = 2;
const NOT_FOUND: i32 = 19;
const RETRY_IMMEDIATELY: i32 = 20;

struct Fixture {
    store: Store,
    hot: HotPath,
    _dir: TempDir,
}

/// Answers, and a pull that needs a check.
type Turn = (Vec<Command>, Option<ParkedPull>);

impl Fixture {
    fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let store = open_store(dir.path(), 1 << 20, NOW_MS);
        let hot = hot_path(1);
        set_orders(&hot, 4);
        let fixture = Self {
            store,
            hot,
            _dir: dir,
        };
        fixture.grant(None);
        fixture
    }

    fn connect(&self) -> Connection {
        let peer: SocketAddr = "10.0.0.5:50000".parse().unwrap();
        Connection::new(peer, &self.hot)
    }

    /// Let the group pull what has one of the tags, by the facts of now.
    fn grant(&self, tags: Option<Vec<i32>>) -> Arc<Granted> {
        self.grant_queues(tags, None)
    }

    /// As [`Self::grant`], of a static topic.
    fn grant_queues(
        &self,
        tags: Option<Vec<i32>>,
        leading: Option<Arc<LeadingQueues>>,
    ) -> Arc<Granted> {
        let kind = PullKind {
            code: 11,
            group: "g",
            topic: "Orders",
            filter: PullFilter::Registered { version: 1 },
        };
        let grant = Grant {
            filter: tags.map(GrantedFilter::Tags),
            leading,
            ..grant(&self.hot, 4)
        };
        let granted = Arc::new(Granted::new(&kind, grant));
        self.hot.grant_pulls(&granted);
        granted
    }

    fn append(&self, queue_id: i32, body: &[u8], tag: i32) {
        let message = NewMessage {
            tags_code: Some(tag.into()),
            ..NewMessage::new("Orders", queue_id, body)
        };
        let appended = self.store.writer().unwrap().append(&message, NOW_MS);
        let max_offset = appended.unwrap().queue_offset + 1;
        self.hot.wake("Orders", queue_id, max_offset);
    }

    /// Have a pull that the dispatcher checked wait; returns whether there was room.
    fn park(
        &self,
        connection: &Connection,
        granted: &Arc<Granted>,
        (opaque, queue_id): (i32, i32),
    ) -> bool {
        let waiting = WaitingPull {
            opaque,
            encoding: Encoding::Json,
            header: b"{}",
            queue_id,
            offset: 0,
            count_max: 32,
            deadline_ms: 15_000,
            global_id: None,
            wake_count: self.hot.wake_count(),
            adds_delta: true,
        };
        connection.park(&self.hot, granted, &waiting)
    }

    /// Receive a pull; its answer, unless it waits.
    fn pull(&self, connection: &mut Connection, pull: &[u8]) -> Option<Vec<u8>> {
        let (answer, received) = self.receive(connection, pull);
        assert!(received.cold.is_empty(), "it is granted");
        (!answer.is_empty()).then_some(answer)
    }

    fn receive(&self, connection: &mut Connection, pull: &[u8]) -> (Vec<u8>, Received) {
        let mut received = Received::default();
        let mut answers = PullAnswers::default();
        let taker = taker(&mut answers, 0);
        connection
            .receive_pulls(&self.hot, &self.store, pull, NOW_MS, &mut received, taker)
            .unwrap();
        (bytes(&answers, &received), received)
    }

    /// The bytes of every turn of the connections, each with the id of its connection.
    fn turns(&self, connections: &mut [Connection]) -> Vec<(u64, Vec<u8>, Option<ParkedPull>)> {
        let mut turns = Vec::new();
        while let Some(id) = self.hot.next_turn() {
            let connection = connections.iter_mut().find(|it| it.id() == id).unwrap();
            let mut received = Received::default();
            let mut answers = PullAnswers::default();
            let taker = taker(&mut answers, 0);
            connection.answer_parked(&self.hot, &self.store, &mut received, taker, NOW_MS);
            turns.push((id, bytes(&answers, &received), received.unchecked));
        }
        turns
    }

    /// What one connection gets in all its turns.
    fn answers(&self, connection: &mut Connection) -> Turn {
        let turns = self.turns(std::slice::from_mut(connection));
        let mut all = (Vec::new(), None);
        for (_, answers, unchecked) in turns {
            all.0.extend(decode(&answers));
            all.1 = all.1.or(unchecked);
        }
        all
    }
}

fn bytes(answers: &PullAnswers<'_>, received: &Received) -> Vec<u8> {
    let written: Vec<_> = answers.rest(0).collect();
    [written.concat(), received.replies.clone()].concat()
}

fn pull(opaque: i32, queue_id: i32, offset: u64, sys_flag: i32) -> Vec<u8> {
    pull_with(opaque, queue_id, offset, sys_flag, &[("commitOffset", "0")])
}

fn pull_with(
    opaque: i32,
    queue_id: i32,
    offset: u64,
    sys_flag: i32,
    more: &[(&str, &str)],
) -> Vec<u8> {
    pull_of(479, opaque, queue_id, (offset, sys_flag), more)
}

fn pull_of(
    version: i32,
    opaque: i32,
    queue_id: i32,
    (offset, sys_flag): (u64, i32),
    more: &[(&str, &str)],
) -> Vec<u8> {
    let fields = Fields {
        version,
        ..fields(11, opaque)
    };
    let encoding = match opaque % 2 {
        0 => Encoding::Json,
        _ => Encoding::RocketMq,
    };
    let (queue_id, offset, sys_flag) = (
        queue_id.to_string(),
        offset.to_string(),
        sys_flag.to_string(),
    );
    let first = [
        ("consumerGroup", "g"),
        ("topic", "Orders"),
        ("queueId", &*queue_id),
        ("queueOffset", &*offset),
        ("maxMsgNums", "32"),
        ("sysFlag", &*sys_flag),
        ("suspendTimeoutMillis", "15000"),
        ("subVersion", "1"),
    ];
    frame(&fields, encoding, &[&first, more].concat(), &[])
}

fn codes(answers: &[Command]) -> Vec<(i32, i32)> {
    answers.iter().map(|it| (it.opaque, it.code)).collect()
}

#[test]
fn a_pull_waits_for_a_message_and_gets_it() {
    let fixture = Fixture::new();
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );
    assert!(fixture.turns(&mut []).is_empty());

    fixture.append(1, b"elsewhere", 0);
    assert!(fixture.turns(&mut []).is_empty());
    fixture.append(2, b"here", 0);

    let (answers, unchecked) = fixture.answers(&mut consumer);
    assert_eq!(
        (codes(&answers), unchecked.is_none()),
        (vec![(1, FOUND)], true)
    );
    assert!(answers[0].body.windows(4).any(|it| it == b"here"));
    assert_eq!(fixture.hot.parked_count(), 0);
}

#[test]
fn a_deadline_is_answered_like_a_pull_that_does_not_wait() {
    let fixture = Fixture::new();
    let mut consumer = fixture.connect();
    fixture.append(2, b"x", 0);
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 1, SUSPEND))
            .is_none()
    );
    assert_eq!(fixture.hot.next_deadline_ms(), Some(15_100));

    assert!(!fixture.hot.expire_pulls(15_099));
    assert!(fixture.hot.expire_pulls(15_100));

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, NOT_FOUND)]);
    assert_eq!(answers[0].ext["nextBeginOffset"], "1");
    assert_eq!(answers[0].remark.as_deref(), Some("OFFSET_OVERFLOW_ONE"));
}

#[test]
fn a_pull_whose_grant_has_changed_is_checked_once_and_then_goes_on() {
    let fixture = Fixture::new();
    let mut consumer = fixture.connect();
    for opaque in 1..=3 {
        assert!(
            fixture
                .pull(&mut consumer, &pull(opaque, 2, 0, SUSPEND))
                .is_none()
        );
    }
    fixture.hot.facts_changed();
    fixture.append(2, b"x", 0);

    assert_eq!(fixture.hot.next_turn(), Some(consumer.id()));
    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    consumer.answer_parked(
        &fixture.hot,
        &fixture.store,
        &mut received,
        taker(&mut answers, 0),
        NOW_MS,
    );
    let unchecked = received.unchecked.take().unwrap();
    assert!(bytes(&answers, &received).is_empty());
    assert_eq!(unchecked.request().unwrap().ext["queueId"], "2");
    let granted = fixture.grant(None);
    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let taker = taker(&mut answers, 0);
    consumer.resume(
        &fixture.hot,
        &fixture.store,
        unchecked,
        granted,
        &mut received,
        taker,
        NOW_MS,
    );

    assert_eq!(codes(&decode(&bytes(&answers, &received))), [(1, FOUND)]);
    // The grant of the check does for the others.
    let (others, unchecked) = fixture.answers(&mut consumer);
    assert_eq!(
        (codes(&others), unchecked.is_none()),
        (vec![(2, FOUND), (3, FOUND)], true)
    );
}

#[test]
fn a_pull_by_a_filter_that_has_changed_gets_nothing_and_comes_again() {
    let fixture = Fixture::new();
    fixture.grant(Some(vec![1]));
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );

    fixture.hot.facts_changed();
    fixture.grant(Some(vec![1, 2]));
    fixture.append(2, b"new", 2);

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, NOT_FOUND)]);
    assert_eq!(answers[0].ext["nextBeginOffset"], "0");
}

#[test]
fn messages_that_the_filter_leaves_out_let_a_pull_wait_on_until_its_deadline() {
    let fixture = Fixture::new();
    fixture.grant(Some(vec![1]));
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );

    fixture.append(2, b"other", 2);
    assert!(fixture.answers(&mut consumer).0.is_empty());

    assert_eq!(
        (fixture.hot.parked_count(), fixture.hot.next_deadline_ms()),
        (1, Some(15_100))
    );
    fixture.append(2, b"wanted", 1);
    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, FOUND)]);
    assert_eq!(answers[0].ext["nextBeginOffset"], "2");
}

#[test]
fn a_read_that_examines_too_few_sends_the_pull_on() {
    let fixture = Fixture::new();
    fixture.grant(Some(vec![1]));
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );

    for _ in 0..2_000 {
        fixture.append(2, b"other", 2);
    }

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, RETRY_IMMEDIATELY)]);
}

#[test]
fn a_deadline_behind_messages_that_the_filter_leaves_out_sends_the_pull_on() {
    let fixture = Fixture::new();
    fixture.grant(Some(vec![1]));
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );

    fixture.append(2, b"other", 2);
    assert!(fixture.hot.expire_pulls(15_100));

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, RETRY_IMMEDIATELY)]);
    assert_eq!(answers[0].ext["nextBeginOffset"], "1");
    assert_eq!(answers[0].remark.as_deref(), Some("NO_MATCHED_MESSAGE"));
    assert_eq!(fixture.hot.parked_count(), 0);
}

#[test]
fn a_pull_that_should_wait_on_is_refused_once_others_have_taken_its_room() {
    let fixture = Fixture::new();
    fixture.grant(Some(vec![1]));
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );
    fixture.hot.facts_changed();
    fixture.append(2, b"other", 2);
    let unchecked = fixture.answers(&mut consumer).1.unwrap();
    let granted = fixture.grant(Some(vec![1]));
    for _ in 0..PARKED_OF_CONNECTION_MAX {
        assert!(fixture.park(&consumer, &granted, (2, 3)));
    }

    let (mut received, mut answers) = (Received::default(), PullAnswers::default());
    let taker = taker(&mut answers, 0);
    consumer.resume(
        &fixture.hot,
        &fixture.store,
        unchecked,
        granted,
        &mut received,
        taker,
        NOW_MS,
    );

    let refused = decode(&bytes(&answers, &received));
    assert_eq!(codes(&refused), [(1, SYSTEM_BUSY)]);
    assert_eq!(
        refused[0].remark.as_deref(),
        Some("[OVERLOAD] too many pulls are held")
    );
    assert_eq!(fixture.hot.parked_count(), PARKED_OF_CONNECTION_MAX);
}

#[test]
fn readers_that_are_held_back_are_not_woken_by_a_send() {
    let fixture = Fixture::new();
    fixture.store.set_confirmed_position(Some(0));
    let mut consumer = fixture.connect();
    assert!(
        fixture
            .pull(&mut consumer, &pull(1, 2, 0, SUSPEND))
            .is_none()
    );
    let message = NewMessage::new("Orders", 2, b"x");
    fixture
        .store
        .writer()
        .unwrap()
        .append(&message, NOW_MS)
        .unwrap();

    // Even a wake that comes too early shows nothing.
    fixture.hot.wake("Orders", 2, 1);
    assert!(fixture.answers(&mut consumer).0.is_empty());

    let (grown, is_turn_due) = fixture.hot.confirm(&fixture.store, None);
    assert_eq!((grown[0].queue_id, is_turn_due), (2, true));
    assert_eq!(codes(&fixture.answers(&mut consumer).0), [(1, FOUND)]);
}

#[test]
fn answers_of_a_turn_are_bounded_and_connections_alternate() {
    let fixture = Fixture::new();
    let mut connections = [fixture.connect(), fixture.connect()];
    for opaque in 0..40 {
        for connection in &mut connections {
            assert!(
                fixture
                    .pull(connection, &pull(opaque, 2, 0, SUSPEND))
                    .is_none()
            );
        }
    }
    fixture.append(2, &[7; 32 << 10], 0);

    let turns = fixture.turns(&mut connections);

    let ids: Vec<_> = turns.iter().map(|it| it.0 == connections[0].id()).collect();
    assert_eq!(ids, [true, false].repeat(5));
    assert!(turns.iter().all(|it| it.1.len() < (1 << 18) + (34 << 10)));
    for id in connections.map(|it| it.id()) {
        let of_one = turns.iter().filter(|it| it.0 == id);
        let answers: Vec<_> = of_one.flat_map(|it| decode(&it.1)).collect();
        let expected: Vec<_> = (0..40).map(|opaque| (opaque, FOUND)).collect();
        assert_eq!(codes(&answers), expected, "in order");
    }
}

/// Whatever happens meanwhile, a pull that waited gets the bytes that it would get if it came now.
#[test]
fn a_pull_that_waited_gets_the_bytes_of_one_that_did_not() {
    let mut random = fastrand::Rng::with_seed(20);
    let mut answered = 0;
    for _ in 0..60 {
        let fixture = Fixture::new();
        if random.bool() {
            fixture.grant(Some(vec![1, 2]));
        }
        let (mut consumer, mut fresh) = (fixture.connect(), fixture.connect());
        for opaque in 0..60 {
            let queue_id = random.i32(0..3);
            match random.u32(0..4) {
                0 => {
                    let offsets = fixture.store.queue_offsets("Orders", queue_id);
                    let end = offsets.map_or(0, |it| it.1);
                    let waiting = pull(opaque, queue_id, end, SUSPEND);
                    assert!(fixture.pull(&mut consumer, &waiting).is_none());
                }
                1 => {
                    // What ends a wait at its deadline is a pull that does not wait.
                    fixture.hot.expire_pulls(random.i64(0..2) * 20_000);
                }
                _ => {
                    for _ in 0..random.usize(1..4) {
                        let body = vec![b'b'; random.usize(1..5_000)];
                        fixture.append(queue_id, &body, random.i32(0..4));
                    }
                }
            }

            for answer in fixture.answers(&mut consumer).0 {
                answered += 1;
                compare(&fixture, &mut fresh, &answer);
            }
        }
    }
    assert!(answered > 500, "{answered}");
}

/// Compare an answer with that of a pull which comes now and asks from where the answer begins.
fn compare(fixture: &Fixture, fresh: &mut Connection, answer: &Command) {
    if answer.code != FOUND {
        assert_eq!(answer.code, NOT_FOUND);
        assert!(answer.body.is_empty());
        return;
    }
    let queue_id = i32::from_be_bytes(answer.body[12..16].try_into().unwrap());
    let offset = u64::from_be_bytes(answer.body[20..28].try_into().unwrap());
    let now = pull(answer.opaque, queue_id, offset, 0);
    let now = fixture.pull(fresh, &now).unwrap();
    assert_eq!(decode(&now), std::slice::from_ref(answer));
}

/// Logical queue 7, whose last segment begins at offset 1 of physical queue 2.
fn leading() -> Option<Arc<LeadingQueues>> {
    leading_in(2)
}

fn leading_in(queue_id: i32) -> Option<Arc<LeadingQueues>> {
    let segment = LeadingSegment {
        queue_id,
        physical_start: 1,
        logical_start: 201,
        takes_sends: true,
    };
    Some(Arc::new(LeadingQueues::new([(7, segment)])))
}

fn offsets(answer: &Command) -> [&str; 4] {
    ["nextBeginOffset", "minOffset", "maxOffset", "offsetDelta"].map(|name| &*answer.ext[name])
}

#[test]
fn a_pull_of_a_logical_queue_waits_and_gets_its_offsets() {
    let fixture = Fixture::new();
    fixture.grant_queues(None, leading());
    fixture.append(2, b"of an older segment", 0);
    let mut consumer = fixture.connect();
    for opaque in [1, 2] {
        let waiting = pull(opaque, 7, 201, SUSPEND);
        assert!(fixture.pull(&mut consumer, &waiting).is_none());
    }

    fixture.append(2, b"here", 0);

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, FOUND), (2, FOUND)]);
    for answer in &answers {
        assert_eq!(offsets(answer), ["202", "201", "202", "200"]);
        assert!(answer.body.windows(4).any(|it| it == b"here"));
    }
    let at_once = fixture.pull(&mut consumer, &pull(3, 7, 201, 0)).unwrap();
    assert_eq!(offsets(&decode(&at_once)[0]), ["202", "201", "202", "200"]);
}

#[test]
fn a_pull_that_looked_before_a_message_came_looks_again_instead_of_waiting() {
    let fixture = Fixture::new();
    let granted = fixture.grant(None);
    let mut consumer = fixture.connect();
    let mut waiting = WaitingPull {
        opaque: 1,
        encoding: Encoding::Json,
        header: b"{}",
        queue_id: 2,
        global_id: None,
        offset: 0,
        count_max: 32,
        deadline_ms: 15_000,
        adds_delta: true,
        wake_count: fixture.hot.wake_count(),
    };
    // Another thread appends between the look of the dispatcher and the wait, and wakes no pull.
    fixture.append(2, b"between", 0);

    assert!(consumer.park(&fixture.hot, &granted, &waiting));

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, FOUND)]);
    // One that finds nothing then waits as others do.
    waiting.offset = 1;
    assert!(consumer.park(&fixture.hot, &granted, &waiting));
    assert_eq!(fixture.answers(&mut consumer).0, []);
    assert_eq!(fixture.hot.parked_count(), 1);
    fixture.append(2, b"later", 0);
    assert_eq!(codes(&fixture.answers(&mut consumer).0), [(1, FOUND)]);
    assert_eq!(fixture.hot.parked_count(), 0);
}

#[test]
fn pulls_of_clients_that_add_no_delta_are_for_the_dispatcher() {
    let fixture = Fixture::new();
    let granted = fixture.grant_queues(None, leading());
    fixture.append(2, b"older", 0);
    let mut consumer = fixture.connect();
    let old = pull_of(409, 1, 7, (201, SUSPEND), &[("commitOffset", "0")]);
    let (_, received) = fixture.receive(&mut consumer, &old);
    assert_eq!(received.cold.len(), 1);
    let waiting = WaitingPull {
        opaque: 2,
        encoding: Encoding::Json,
        header: b"{}",
        queue_id: 2,
        global_id: Some(7),
        offset: 1,
        count_max: 32,
        deadline_ms: 15_000,
        adds_delta: false,
        wake_count: fixture.hot.wake_count(),
    };
    assert!(consumer.park(&fixture.hot, &granted, &waiting));

    fixture.append(2, b"here", 0);

    let (answers, _) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(2, RETRY_IMMEDIATELY)]);
    assert_eq!(&*answers[0].ext["nextBeginOffset"], "201");
}

#[test]
fn a_commit_in_a_pull_of_a_logical_queue_names_the_physical_one() {
    let fixture = Fixture::new();
    fixture.grant_queues(None, leading());
    fixture.append(2, b"older", 0);
    fixture.append(2, b"here", 0);
    let mut consumer = fixture.connect();

    let commit = |offset| pull_with(1, 7, 201, COMMIT, &[("commitOffset", offset)]);
    let (_, received) = fixture.receive(&mut consumer, &commit("202"));
    let (_, older) = fixture.receive(&mut consumer, &commit("200"));

    let commits: Vec<_> = received
        .commits
        .iter()
        .map(|it| (it.queue_id, it.offset))
        .collect();
    assert_eq!(commits, [(2, 2)]);
    assert_eq!((older.commits.len(), older.cold.len()), (0, 1));
}

#[test]
fn what_the_last_segment_does_not_hold_is_left_to_the_dispatcher() {
    let fixture = Fixture::new();
    fixture.grant_queues(None, leading());
    fixture.append(2, b"older", 0);
    let mut consumer = fixture.connect();

    let older_segment = pull(1, 7, 200, SUSPEND);
    let other_queue = pull(1, 2, 201, SUSPEND);
    let physical = pull_with(
        1,
        7,
        201,
        SUSPEND,
        &[("commitOffset", "0"), ("lo", "false")],
    );
    for request in [older_segment, other_queue, physical] {
        let (answer, received) = fixture.receive(&mut consumer, &request);
        assert_eq!((answer.len(), received.cold.len()), (0, 1));
    }
}

#[test]
fn a_pull_of_a_logical_queue_that_continues_elsewhere_is_repeated() {
    let fixture = Fixture::new();
    fixture.grant_queues(None, leading());
    fixture.append(2, b"older", 0);
    let mut consumer = fixture.connect();
    let waiting = pull(1, 7, 201, SUSPEND);
    assert!(fixture.pull(&mut consumer, &waiting).is_none());

    fixture.hot.facts_changed();
    fixture.grant_queues(None, leading_in(3));
    fixture.hot.release_pulls("Orders", None);

    let (answers, unchecked) = fixture.answers(&mut consumer);
    assert_eq!(codes(&answers), [(1, RETRY_IMMEDIATELY)]);
    assert_eq!(
        (&*answers[0].ext["nextBeginOffset"], unchecked.is_none()),
        ("201", true)
    );
}
