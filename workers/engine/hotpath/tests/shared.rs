//! POP of SHARED topics: a replica owns share queues, and the master judges what it proposes (ADR 23).
//!
//! Master and replica have one log here. The replica reads it up to the confirmed position.

#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

use ahash::AHashSet;
use fastrand::Rng;
use regent_commitlog::{AppendError, NewMessage, Store, StoreError};
use regent_hotpath::{
    Appending, Beginning, Change, Connection, Forward, Grant, Granted, HotPath, MemberAnswer,
    PopGrant, Proposal, PullAnswers, PullFilter, PullKind, Received, Reigning, SEQUENCER,
};
use regent_remoting::{Command, Header, Text, limits};
use regent_share::{
    Body, Decoded, Delivery, Entry, Handle, Policy, Ranges, Record, Records, Snapshot, SnapshotRun,
};
use regent_testing::{NOW_MS, grant, open_store, set_orders, taker};
use tempfile::TempDir;

mod popping;

use popping::{FOUND, INVISIBLE_MS, LANE, Popped, ack, bodies, decode, popped, records};

const MASTER: u64 = 1;
const REPLICA: u64 = 2;
const NO_MESSAGE: i32 = 208;
const POLLING_TIMEOUT: i32 = 210;
const QUEUES: [(&str, i32, &str); 2] = [("Orders", 0, "g"), ("Orders", 1, "g")];
const POLICY: Policy = Policy {
    attempts: 16,
    discards: false,
    is_ordered: false,
    window: 4096,
};

/// One member of the group.
struct Member {
    id: u64,
    hot: HotPath,
}

struct Group {
    store: Store,
    members: [Member; 2],
    now_ms: i64,
    /// By the clock that is never set.
    elapsed_ms: i64,
    dir: TempDir,
}

fn hot_path(seed: u64) -> HotPath {
    let hot = regent_testing::hot_path(seed);
    set_orders(&hot, 2);
    hot.set_deferring(true);
    hot
}

fn reigning(member: u64, is_shared: bool) -> Reigning {
    let shared = is_shared.then(|| "Orders".to_owned());
    Reigning {
        topic: LANE.to_owned(),
        epoch: 3,
        member,
        segment_size: 8 << 20,
        is_acting: false,
        life: u32::try_from(member).unwrap(),
        shared: shared.into_iter().collect::<AHashSet<_>>(),
        version_max: regent_share::VERSION,
    }
}

impl Group {
    fn new() -> Self {
        Self::in_mode(true)
    }

    fn in_mode(is_shared: bool) -> Self {
        let dir = TempDir::new().unwrap();
        let store = open_store(dir.path(), 8 << 20, NOW_MS);
        store.set_confirmed_position(Some(0));
        let members = [MASTER, REPLICA].map(|id| Member {
            id,
            hot: hot_path(id),
        });
        members[0]
            .hot
            .shares
            .lead(&store, reigning(MASTER, is_shared))
            .unwrap();
        members[1]
            .hot
            .shares
            .follow(&store, reigning(REPLICA, is_shared))
            .unwrap();
        let group = Self {
            store,
            members,
            now_ms: NOW_MS,
            elapsed_ms: 1000,
            dir,
        };
        group.name();
        group
    }

    fn master(&self) -> &Member {
        &self.members[0]
    }

    fn replica(&self) -> &Member {
        &self.members[1]
    }

    /// Name the missing share queues, as the first POP at the master does.
    fn name(&self) {
        let shares = &self.master().hot.shares;
        let missing = shares.missing(("Orders", "g"), 2, None, POLICY).into_iter();
        let beginnings: Vec<_> = missing
            .map(|queue_id| Beginning {
                queue_id,
                ..Beginning::default()
            })
            .collect();
        let config = self.master().hot.config();
        let name = ("Orders", "g");
        shares
            .begin(&self.store, config, name, POLICY, &beginnings, NOW_MS)
            .unwrap();
        self.confirm();
    }

    /// All members have the whole log now.
    fn confirm(&self) {
        self.store
            .set_confirmed_position(Some(self.store.max_position()));
        self.replica().hot.shares.advance(&self.store).unwrap();
    }

    fn append(&self, queue_id: i32, body: &[u8]) {
        let message = NewMessage::new("Orders", queue_id, body);
        self.store
            .writer()
            .unwrap()
            .append(&message, NOW_MS)
            .unwrap();
        self.confirm();
    }

    /// Have the master judge records of a member.
    fn submit(&self, member: u64, records: &[u8]) -> Appending {
        let hot = &self.master().hot;
        let unit = (member, records);
        let outcome = hot
            .shares
            .append_unit(&self.store, hot.config(), unit, self.now_ms);
        outcome.unwrap()
    }

    fn own(&self, member: &Member, name: (&str, i32, &str), epoch: u64) -> bool {
        let record = member.hot.shares.owning(name, Some(epoch), 0).unwrap();
        let outcome = self.submit(member.id, &record);
        self.confirm();
        is_done(&outcome) && member.hot.shares.serve(name, epoch, i64::MAX)
    }

    fn own_all(&self, member: &Member, epoch: u64) {
        assert!(QUEUES.into_iter().all(|name| self.own(member, name, epoch)));
    }

    fn ask(
        &self,
        member: &Member,
        connection: &mut Connection,
        bytes: &[u8],
    ) -> (Vec<Command>, Received) {
        member.hot.grant_pulls(&granted(&member.hot));
        let (mut received, mut answers) = (Received::default(), PullAnswers::default());
        let taker = taker(&mut answers, self.elapsed_ms);
        let (hot, store) = (&member.hot, &self.store);
        connection
            .receive_pulls(hot, store, bytes, self.now_ms, &mut received, taker)
            .unwrap();
        (decode(&answers, &received), received)
    }

    /// POP at a member for a client of another one; what it proposes is confirmed and applied before the answer.
    fn pop(&self, member: &Member, connection: &mut Connection, count: usize) -> Vec<Popped> {
        let (answers, received) = self.ask(member, connection, &forwarded_pop(count));
        assert!(
            answers.iter().all(|one| one.code != FOUND),
            "a record comes first"
        );
        if let Some(proposal) = &received.proposal {
            assert!(self.carry_out(proposal));
        }
        self.confirm();
        deferred(&received)
    }

    /// Whether the master took a proposal of the replica, which hears of it.
    fn carry_out(&self, proposal: &Proposal) -> bool {
        let outcome = self.submit(REPLICA, &proposal.records);
        self.confirm();
        self.replica().hot.shares.settle(&proposal.numbers);
        is_done(&outcome)
    }

    fn ack(&self, connection: &mut Connection, message: &Popped) -> i32 {
        let (answers, received) = self.ask(self.master(), connection, &ack(message));
        self.confirm();
        let codes = answers
            .iter()
            .chain(&commands(&received.deferred))
            .map(|one| one.code)
            .collect::<Vec<_>>();
        codes[0]
    }

    fn change(&self, message: &Popped, change: Change) -> Option<Delivery> {
        let hot = &self.master().hot;
        let name = ("Orders", message.queue_id, "g");
        let which = (delivery_of(message), message.offset);
        let clocks = (self.now_ms, 1000);
        let renewed = hot
            .shares
            .change(&self.store, hot.config(), name, which, change, clocks);
        let renewed = renewed.unwrap();
        assert!(
            renewed.is_none_or(|it| it.position.is_some()),
            "the answer waits for the log"
        );
        self.confirm();
        renewed.map(|it| it.delivery)
    }

    /// End what is overdue at an owner.
    fn expire(&self, member: &Member) {
        let hot = &member.hot;
        hot.shares
            .expire_served(&self.store, hot.config(), self.now_ms)
            .unwrap();
        if let Some(proposal) = hot.shares.take_proposal() {
            assert!(self.carry_out(&proposal));
        }
        self.confirm();
    }

    /// OI-7: members at one position of the lane have one state.
    fn assert_equal_states(&self) {
        for name in QUEUES {
            let [one, other] =
                [0, 1].map(|at: usize| self.members[at].hot.shares.state(name).unwrap());
            assert_eq!(one, other, "{name:?}");
        }
    }

    fn state(&self, name: (&str, i32, &str)) -> Snapshot {
        self.master().hot.shares.state(name).unwrap().1
    }

    fn connect(member: &Member) -> Connection {
        let peer: SocketAddr = "10.0.0.5:50000".parse().unwrap();
        Connection::new(peer, &member.hot)
    }
}

fn granted(hot: &HotPath) -> Arc<Granted> {
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
        parked_ms: Some(0),
        moves_consumers: false,
        pop: Some(PopGrant {
            retries: Vec::new(),
            may_forward: true,
            priority_percent: 0,
        }),
        ..grant(hot, 2)
    };
    Arc::new(Granted::new(&kind, grant))
}

/// A POP that never comes too late.
fn pop(count: usize, attempt: &str) -> Vec<u8> {
    popping::pop(count, attempt, 0)
}

/// A POP for the share queues of one member: another member has forwarded it.
fn forwarded_pop(count: usize) -> Vec<u8> {
    let mut asked = commands(&pop(count, "")).remove(0);
    asked.ext.insert("shareFwd".to_owned(), "1".to_owned());
    again(&asked)
}

fn is_done(outcome: &Appending) -> bool {
    matches!(outcome, Appending::Done { .. })
}

fn commands(bytes: &[u8]) -> Vec<Command> {
    let received = Received {
        replies: bytes.to_vec(),
        ..Received::default()
    };
    decode(&PullAnswers::default(), &received)
}

fn deferred(received: &Received) -> Vec<Popped> {
    commands(&received.deferred)
        .iter()
        .flat_map(popped)
        .collect()
}

fn delivery_of(message: &Popped) -> Delivery {
    Handle::parse(&message.handle).unwrap().delivery
}

fn acquired(store: &Store) -> Vec<Record> {
    let found = records(store).into_iter();
    found
        .filter(|it| matches!(it.body, Body::Acquire { .. }))
        .collect()
}

/// Q20, Q24, Q25: nothing is handed out before OWN is there, and each delivery is recorded before its answer.
#[test]
fn o16_a_replica_hands_out_what_it_owns_once_the_lane_says_so() {
    let group = Group::new();
    group.append(0, b"a");
    let mut consumer = Group::connect(group.replica());
    let (answers, received) = group.ask(group.replica(), &mut consumer, &pop(32, ""));
    assert!(answers.is_empty() && received.deferred.is_empty());
    assert_eq!(received.cold.len(), 1, "it is for the front");

    assert!(group.own(group.replica(), QUEUES[0], 4));

    let found = group.pop(group.replica(), &mut consumer, 32);
    assert_eq!(bodies(&found), [b"a"]);
    let written = acquired(&group.store);
    assert_eq!(written.len(), 1);
    assert_eq!(delivery_of(&found[0]).tag, 4);
    assert!(
        matches!(&written[0].body, Body::Acquire { deadline_ms, .. } if *deadline_ms == NOW_MS + INVISIBLE_MS)
    );
    group.assert_equal_states();
    assert_eq!(group.ack(&mut consumer, &found[0]), FOUND);
    group.assert_equal_states();
    assert_eq!(group.state(QUEUES[0]).start, 1);
}

/// Q8: a record of who has a message is there before its answer, so no two members hand it out.
#[test]
fn o3_a_message_that_is_proposed_goes_to_no_other_consumer() {
    let group = Group::new();
    for body in [b"a", b"b"] {
        group.append(0, body);
    }
    group.own_all(group.replica(), 4);
    let (mut one, mut other) = (
        Group::connect(group.replica()),
        Group::connect(group.replica()),
    );

    let (_, first) = group.ask(group.replica(), &mut one, &pop(1, ""));
    let (_, second) = group.ask(group.replica(), &mut other, &pop(32, ""));

    assert_eq!(bodies(&deferred(&first)), [b"a"]);
    assert_eq!(bodies(&deferred(&second)), [b"b"]);
    // They may come in any order.
    for received in [second, first] {
        assert!(group.carry_out(&received.proposal.unwrap()));
    }
    group.assert_equal_states();
    assert!(group.pop(group.replica(), &mut one, 32).is_empty());
}

#[test]
fn a_proposal_whose_outcome_is_unknown_is_withdrawn_before_its_messages_come_again() {
    for is_carried_out in [true, false] {
        let group = Group::new();
        group.append(0, b"a");
        group.own_all(group.replica(), 4);
        let mut consumer = Group::connect(group.replica());
        let (_, received) = group.ask(group.replica(), &mut consumer, &pop(1, ""));
        let lost = received.proposal.unwrap();
        if is_carried_out {
            assert!(is_done(&group.submit(REPLICA, &lost.records)));
        }
        assert!(group.pop(group.replica(), &mut consumer, 1).is_empty());

        let withdrawal = group.replica().hot.shares.withdraw(&lost.records).unwrap();
        assert!(group.carry_out(&withdrawal));
        group.replica().hot.shares.settle(&lost.numbers);

        assert_eq!(
            bodies(&group.pop(group.replica(), &mut consumer, 1)),
            [b"a"]
        );
        group.assert_equal_states();
    }
}

/// The replica leads by the time when it gives the proposal up: no other member knows that no
/// consumer has the message.
#[test]
fn a_proposal_is_withdrawn_by_the_next_master_as_well() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let (_, received) = group.ask(group.replica(), &mut consumer, &pop(1, ""));
    let lost = received.proposal.unwrap();
    assert!(is_done(&group.submit(REPLICA, &lost.records)));
    let (hot, store) = (&group.replica().hot, &group.store);
    hot.shares.lead(store, reigning(REPLICA, true)).unwrap();

    let withdrawal = hot.shares.withdraw(&lost.records).unwrap();
    let unit = (REPLICA, &withdrawal.records[..]);
    let outcome = hot.shares.append_unit(store, hot.config(), unit, NOW_MS);
    assert!(is_done(&outcome.unwrap()));

    let (_, state) = hot.shares.state(QUEUES[0]).unwrap();
    let is_acquired = |run: &SnapshotRun| matches!(run.entry, Entry::Acquired { .. });
    assert!(!state.runs.iter().any(is_acquired), "{state:?}");
    assert_eq!(hot.shares.withdraw(&withdrawal.records), None);
}

/// The master renews a message at the very time at which the owner hands another one out.
#[test]
fn a_delivery_has_the_messages_of_its_own_record_only() {
    let group = Group::new();
    for body in [b"a", b"b"] {
        group.append(0, body);
    }
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let kept = group.pop(group.replica(), &mut consumer, 1).remove(0);
    let (_, received) = group.ask(group.replica(), &mut consumer, &pop(1, ""));
    let renewed = group.change(&kept, Change::Keep(INVISIBLE_MS)).unwrap();
    let deliveries = received.deferred_deliveries;
    assert_eq!(deliveries, [(1, renewed)], "both are as late as can be");

    assert!(!group.carry_out(&received.proposal.unwrap()));

    let hot = &group.replica().hot;
    let undone = hot
        .shares
        .undo(&group.store, hot.config(), &deliveries, NOW_MS);
    assert_eq!(undone.unwrap(), [("Orders".to_owned(), 0)]);
    let again = group.pop(group.replica(), &mut consumer, 32);
    assert_eq!(bodies(&again), [b"b"]);
    assert_eq!(again[0].reconsume_times, 0);
}

/// The consumer of the second answer has the messages, wherever the share queue is served meanwhile.
#[test]
fn a_batch_that_two_answers_carry_stays_out_if_one_of_them_is_never_given() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let (mut gone, mut consumer) = (
        Group::connect(group.replica()),
        Group::connect(group.replica()),
    );
    let hot = &group.replica().hot;
    let mut answers = Vec::new();
    for connection in [&mut gone, &mut consumer] {
        let (_, received) = group.ask(group.replica(), connection, &pop(1, "attempt"));
        assert!(group.carry_out(received.proposal.as_ref().unwrap()));
        assert_eq!(bodies(&deferred(&received)), [b"a"]);
        answers.push(received.deferred_deliveries);
    }

    assert!(!hot.shares.lock(QUEUES[0]));
    let undone = hot
        .shares
        .undo(&group.store, hot.config(), &answers[0], NOW_MS);

    assert_eq!(undone.unwrap(), []);
    assert_eq!(hot.shares.take_proposal(), None);
}

#[test]
fn a_delivery_ends_although_the_store_refused_its_end_before() {
    for is_by_pop in [false, true] {
        let mut group = Group::new();
        group.append(0, b"a");
        group.own_all(group.master(), 4);
        let mut consumer = Group::connect(group.master());
        group.pop(group.master(), &mut consumer, 1);
        group.now_ms += INVISIBLE_MS;
        group.store.seal_queue(LANE, 0).unwrap();
        if is_by_pop {
            let (answers, _) = group.ask(group.master(), &mut consumer, &pop(1, ""));
            assert_ne!(answers[0].code, FOUND);
        } else {
            let hot = &group.master().hot;
            let refused = hot
                .shares
                .expire_served(&group.store, hot.config(), group.now_ms);
            assert!(refused.is_err());
        }
        group.store.unseal_queue(LANE, 0).unwrap();

        let again = group.pop(group.master(), &mut consumer, 1);

        assert_eq!(bodies(&again), [b"a"], "by POP: {is_by_pop}");
    }
}

#[test]
fn a_request_that_is_repeated_is_appended_once() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let (_, received) = group.ask(group.replica(), &mut consumer, &pop(1, ""));
    let records = received.proposal.unwrap().records;
    assert!(is_done(&group.submit(REPLICA, &records)));
    let end = group.store.max_position();

    assert!(is_done(&group.submit(REPLICA, &records)));

    assert_eq!(group.store.max_position(), end);
    // A message that was finished meanwhile is not handed out.
    let (_, late) = group.ask(group.replica(), &mut consumer, &pop(1, ""));
    assert!(late.proposal.is_none());
}

/// OI-1, Q5: the records of a former owner have no effect, nor does its own say.
#[test]
fn o23_a_former_owner_is_fenced() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let (_, received) = group.ask(group.replica(), &mut consumer, &pop(1, ""));
    let late = received.proposal.unwrap();
    // The master takes over, which the replica does not know yet.
    let hot = &group.master().hot;
    let owned = hot
        .shares
        .own_as_sequencer(&group.store, hot.config(), QUEUES[0], NOW_MS);
    let (epoch, outcome) = owned.unwrap().unwrap();
    assert_eq!((epoch, is_done(&outcome)), (5, true));

    assert_eq!(group.submit(REPLICA, &late.records), Appending::Fenced);

    assert!(!group.own(group.replica(), QUEUES[0], 5));
    group.confirm();
    group.replica().hot.shares.settle(&late.numbers);
    assert!(
        group
            .ask(group.replica(), &mut consumer, &pop(1, ""))
            .1
            .proposal
            .is_none()
    );
    assert!(group.master().hot.shares.serve(QUEUES[0], 5, i64::MAX));
    let mut other = Group::connect(group.master());
    assert_eq!(bodies(&group.pop(group.master(), &mut other, 1)), [b"a"]);
    group.assert_equal_states();
}

/// OI-11, Q19: a process that was stopped meets the POPs that came meanwhile first. Accepts need no lease.
#[test]
fn o23_an_owner_whose_lease_has_ended_hands_out_nothing_until_it_is_prolonged() {
    for member in [MASTER, REPLICA] {
        let mut group = Group::new();
        for body in [b"a", b"b", b"c"] {
            group.append(0, body);
        }
        let at = usize::try_from(member - MASTER).unwrap();
        assert!(group.own(&group.members[at], QUEUES[0], 4));
        let shares = &group.members[at].hot.shares;
        shares.prolong(QUEUES[0], 2000);
        let mut consumer = Group::connect(&group.members[at]);
        group.elapsed_ms = 1999;
        let found = group.pop(&group.members[at], &mut consumer, 1);
        assert_eq!(bodies(&found), [b"a"]);

        group.elapsed_ms = 2000;
        let owner = &group.members[at];
        let end = group.store.max_position();
        let (answers, received) = group.ask(owner, &mut consumer, &pop(1, ""));

        assert!(answers.is_empty());
        assert!(received.proposal.is_none() && received.deferred.is_empty());
        assert_eq!(received.cold.len(), 1, "the dispatcher finds the owner");
        assert_eq!(group.store.max_position(), end, "nobody has a message");
        let name = ("Orders", Some(0), "g");
        assert!(!owner.hot.shares.serves_any(name, Some(2000)));
        assert!(owner.hot.shares.serves_any(name, None));
        assert_eq!(group.ack(&mut consumer, &found[0]), FOUND);
        owner.hot.shares.prolong(QUEUES[0], 3000);
        let owner = &group.members[at];
        assert_eq!(bodies(&group.pop(owner, &mut consumer, 1)), [b"b"]);
    }
}

/// O24: a wall clock that jumps ends deliveries early or late. The owner stays, and each message has one consumer.
#[test]
fn o24_a_wall_clock_that_jumps_makes_no_second_owner() {
    const HOUR_MS: i64 = 3_600_000;
    for jump_ms in [HOUR_MS, -HOUR_MS] {
        let mut group = Group::new();
        for body in [b"a", b"b"] {
            group.append(0, body);
        }
        assert!(group.own(group.replica(), QUEUES[0], 4));
        group.replica().hot.shares.prolong(QUEUES[0], 2000);
        let mut consumer = Group::connect(group.replica());
        let before = group.pop(group.replica(), &mut consumer, 1);

        group.now_ms += jump_ms;

        let mut other = Group::connect(group.master());
        let (_, received) = group.ask(group.master(), &mut other, &pop(32, ""));
        assert!(received.deferred.is_empty() && received.proposal.is_none());
        group.expire(group.replica());
        // A handle of the earlier time is void.
        let after = group.pop(group.replica(), &mut consumer, 1);
        assert!(delivery_of(&after[0]).pop_time_ms > delivery_of(&before[0]).pop_time_ms);
        assert_eq!(after[0].offset, u64::from(jump_ms < 0));
        group.assert_equal_states();
    }
}

/// Q12: no member ends a delivery of a share queue without an owner, so each member sees a reason
/// to own it.
#[test]
fn a_delivery_that_is_overdue_is_a_reason_to_own_its_share_queue() {
    let mut group = Group::new();
    group.append(0, b"a");
    assert!(group.own(group.replica(), QUEUES[0], 4));
    let mut consumer = Group::connect(group.replica());
    group.pop(group.replica(), &mut consumer, 1);
    group.replica().hot.shares.lock(QUEUES[0]);
    let unown = (group.replica().hot.shares).owning(QUEUES[0], None, 0);
    assert!(is_done(&group.submit(REPLICA, &unown.unwrap())));
    group.confirm();

    for (passed_ms, is_wanted) in [(0, false), (INVISIBLE_MS - 1, false), (INVISIBLE_MS, true)] {
        group.now_ms = NOW_MS + passed_ms;
        for member in &group.members {
            let seen = member.hot.shares.seen(&group.store, group.now_ms);
            let found = seen.iter().find(|one| one.queue_id == 0).unwrap();
            assert_eq!((found.owner, found.has_messages), (None, is_wanted));
        }
    }
    assert!(group.own(group.master(), QUEUES[0], 5));
    group.expire(group.master());
    let mut other = Group::connect(group.master());
    assert_eq!(bodies(&group.pop(group.master(), &mut other, 1)), [b"a"]);
}

/// Q28: last ACQUIRE, UNOWN, OWN, first ACQUIRE. O22: accepts go on meanwhile.
#[test]
fn o21_a_hand_over_has_its_records_in_order_and_loses_no_message() {
    let group = Group::new();
    for body in [b"a", b"b"] {
        group.append(0, body);
    }
    assert!(group.own(group.replica(), QUEUES[0], 4));
    let mut consumer = Group::connect(group.replica());
    let found = group.pop(group.replica(), &mut consumer, 1);

    assert!(
        !group.replica().hot.shares.lock(QUEUES[0]),
        "nothing is proposed"
    );
    let unown = group
        .replica()
        .hot
        .shares
        .owning(QUEUES[0], None, 0)
        .unwrap();
    assert!(is_done(&group.submit(REPLICA, &unown)));
    assert_eq!(group.ack(&mut consumer, &found[0]), FOUND);
    assert!(group.own(group.master(), QUEUES[0], 5));

    let mut other = Group::connect(group.master());
    assert_eq!(bodies(&group.pop(group.master(), &mut other, 32)), [b"b"]);
    let order: Vec<_> = (records(&group.store).into_iter())
        .filter_map(|record| match record.body {
            Body::Own { member } => Some(("OWN", member)),
            Body::Unown { member } => Some(("UNOWN", member)),
            Body::Acquire { .. } => Some(("ACQUIRE", record.epoch)),
            _ => None,
        })
        .collect();
    let wanted = [
        ("OWN", 2),
        ("ACQUIRE", 4),
        ("UNOWN", 2),
        ("OWN", 1),
        ("ACQUIRE", 5),
    ];
    assert_eq!(order, wanted);
    group.assert_equal_states();
}

#[test]
fn o14_a_handle_is_void_after_its_renewal_and_the_new_one_finishes_the_message() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let found = group.pop(group.replica(), &mut consumer, 1).remove(0);

    let renewed = group.change(&found, Change::Keep(INVISIBLE_MS)).unwrap();

    group.assert_equal_states();
    assert_eq!(group.ack(&mut consumer, &found), NO_MESSAGE);
    let old = delivery_of(&found).pop_time_ms.to_string();
    let handle = found
        .handle
        .replacen(&old, &renewed.pop_time_ms.to_string(), 1);
    assert_eq!(group.ack(&mut consumer, &Popped { handle, ..found }), FOUND);
    group.assert_equal_states();
}

#[test]
fn o6_a_released_message_comes_before_new_ones_with_its_count() {
    let group = Group::new();
    for body in [b"a", b"b"] {
        group.append(0, body);
    }
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let found = group.pop(group.replica(), &mut consumer, 1).remove(0);

    assert!(group.change(&found, Change::GiveBack(0)).is_some());

    let again = group.pop(group.replica(), &mut consumer, 1);
    assert_eq!(bodies(&again), [b"a"]);
    assert_eq!(again[0].reconsume_times, 1);
    group.assert_equal_states();
}

/// O12: a late accept counts until the message is with another consumer.
#[test]
fn o12_the_owner_ends_deliveries_whose_time_is_over() {
    for is_delivered_again in [false, true] {
        let mut group = Group::new();
        group.append(0, b"a");
        group.own_all(group.replica(), 4);
        let mut consumer = Group::connect(group.replica());
        let found = group.pop(group.replica(), &mut consumer, 1).remove(0);
        group.now_ms += INVISIBLE_MS;

        group.expire(group.replica());

        group.assert_equal_states();
        if is_delivered_again {
            let again = group.pop(group.replica(), &mut consumer, 1).remove(0);
            assert_eq!(again.reconsume_times, 1);
            assert_eq!(group.ack(&mut consumer, &found), NO_MESSAGE);
            assert_eq!(group.ack(&mut consumer, &again), FOUND);
        } else {
            assert_eq!(group.ack(&mut consumer, &found), FOUND);
        }
        group.assert_equal_states();
    }
}

#[test]
fn o11_the_next_owner_knows_who_has_what() {
    let group = Group::new();
    for body in [b"a", b"b"] {
        group.append(0, body);
    }
    group.own_all(group.replica(), 4);
    let mut consumer = Group::connect(group.replica());
    let found = group.pop(group.replica(), &mut consumer, 1).remove(0);

    // The owner is gone: the next one has a lease, and no word of it.
    assert!(group.own(group.master(), QUEUES[0], 5));

    let mut other = Group::connect(group.master());
    assert_eq!(bodies(&group.pop(group.master(), &mut other, 32)), [b"b"]);
    assert_eq!(group.ack(&mut other, &found), FOUND);
    group.assert_equal_states();
}

#[test]
fn messages_of_a_client_that_has_left_come_again() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let (mut gone, mut other) = (
        Group::connect(group.replica()),
        Group::connect(group.master()),
    );
    group.pop(group.replica(), &mut gone, 1);
    let hot = &group.replica().hot;
    // A client of another process has the number of this one, and is another.
    let foreign = (other.id(), "g");
    let master = &group.master().hot;
    let left = master
        .shares
        .client_gone(&group.store, master.config(), foreign, NOW_MS);
    assert_eq!(left.unwrap(), []);

    let left = hot
        .shares
        .client_gone(&group.store, hot.config(), (gone.id(), "g"), NOW_MS);
    assert_eq!(left.unwrap(), [("Orders".to_owned(), 0)]);
    assert!(group.carry_out(&hot.shares.take_proposal().unwrap()));

    let again = group.pop(group.replica(), &mut gone, 1);
    assert_eq!(bodies(&again), [b"a"]);
    assert!(group.pop(group.master(), &mut other, 1).is_empty());
}

#[test]
fn records_that_no_owner_writes_are_refused() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.replica(), 4);
    let delivery = Delivery {
        pop_time_ms: NOW_MS,
        tag: 4,
    };
    let acquire = |ranges| Body::Acquire {
        delivery,
        client: 1,
        ranges,
        deadline_ms: NOW_MS,
    };
    let end = group.store.max_position();
    let endless = Ranges::of(0..u64::from(u32::MAX));
    for (sq_id, body) in [
        (1, acquire(endless.clone())),
        (1, acquire(Ranges::of(5000..5001))),
        // There is one message.
        (1, acquire(Ranges::of(0..2))),
        (
            1,
            Body::Gap {
                ranges: Ranges::of(0..2),
            },
        ),
        (9, acquire(Ranges::of(0..1))),
        (
            1,
            Body::Expire {
                ranges: endless,
                deadline_ms: NOW_MS,
            },
        ),
        (1, Body::Own { member: MASTER }),
        (
            1,
            Body::Snap(Snapshot {
                epoch: 9,
                ..Snapshot::default()
            }),
        ),
    ] {
        let record = Record {
            flags: 0,
            sq_id,
            epoch: 4,
            body,
        };
        let mut bytes = Vec::new();
        record.encode(&mut bytes);

        assert_eq!(
            group.submit(REPLICA, &bytes),
            Appending::Refused,
            "{record:?}"
        );

        // Nor is it appended with others that would be.
        let other = group
            .replica()
            .hot
            .shares
            .owning(QUEUES[1], Some(5), 0)
            .unwrap();
        bytes.extend(other);
        assert_eq!(group.submit(REPLICA, &bytes), Appending::Refused);
        assert_eq!(group.submit(REPLICA, &bytes[..20]), Appending::Refused);
    }
    assert_eq!(group.store.max_position(), end);
}

#[test]
fn o29_a_share_queue_of_another_member_is_skipped_and_holds_up_no_other() {
    let group = Group::new();
    for queue_id in [0, 1] {
        group.append(queue_id, b"a");
    }
    assert!(group.own(group.master(), QUEUES[0], 4));
    assert!(group.own(group.replica(), QUEUES[1], 4));

    for (member, queue_id) in group.members.iter().zip([0, 1]) {
        let mut consumer = Group::connect(member);
        let found = group.pop(member, &mut consumer, 32);
        let queues: Vec<_> = found.iter().map(|one| one.queue_id).collect();
        assert_eq!(queues, [queue_id]);
        assert!(group.pop(member, &mut consumer, 32).is_empty());
    }
    group.assert_equal_states();
}

/// Q64: an answer names one lease epoch, so it has the messages of share queues with one only.
#[test]
fn an_answer_has_messages_of_share_queues_with_one_tag() {
    let group = Group::new();
    group.append(0, b"a");
    group.append(1, b"b");
    assert!(group.own(group.replica(), QUEUES[0], 4));
    assert!(group.own(group.replica(), QUEUES[1], 5));
    let mut consumer = Group::connect(group.replica());

    let [one, other] = [(); 2].map(|()| group.pop(group.replica(), &mut consumer, 32));

    assert_eq!((one.len(), other.len()), (1, 1));
    for message in one.iter().chain(&other) {
        let tag = u16::try_from(4 + message.queue_id).unwrap();
        assert_eq!(delivery_of(message).tag, tag);
        assert_eq!(group.ack(&mut consumer, message), FOUND);
    }
}

/// Q83: in PRIMARY mode nothing says who has a message; after the change the lane does.
#[test]
fn after_a_change_of_the_mode_no_member_owns_and_what_consumers_had_comes_again() {
    let group = Group::in_mode(false);
    group.append(0, b"a");
    let mut consumer = Group::connect(group.master());
    let found = group.pop(group.master(), &mut consumer, 1).remove(0);
    assert_eq!(acquired(&group.store), []);
    let change = |is_shared| {
        for member in &group.members {
            let mode = ("Orders", is_shared);
            let (hot, store) = (&member.hot, &group.store);
            let is_written = hot.shares.set_shared(store, hot.config(), mode, NOW_MS);
            assert_eq!(is_written.unwrap(), member.id == MASTER);
        }
        group.confirm();
    };

    change(true);

    assert!(
        group
            .ask(group.master(), &mut consumer, &pop(1, ""))
            .1
            .deferred
            .is_empty()
    );
    group.own_all(group.replica(), 9);
    let mut other = Group::connect(group.replica());
    let again = group.pop(group.replica(), &mut other, 1).remove(0);
    assert_eq!(again.body, b"a");
    group.assert_equal_states();
    assert_eq!(
        group.ack(&mut consumer, &found),
        NO_MESSAGE,
        "another consumer has it"
    );

    change(false);
    group.name();
    let last = group.pop(group.master(), &mut consumer, 1).remove(0);
    assert_eq!(last.body, b"a");
    assert_eq!(group.ack(&mut consumer, &last), FOUND);
    assert_eq!(acquired(&group.store).len(), 1);
}

/// In PRIMARY mode another clock says when a delivery ends: a deadline of SHARED mode would never pass.
#[test]
fn a_change_of_the_mode_that_the_store_refused_hides_no_message() {
    let group = Group::new();
    group.append(0, b"a");
    group.own_all(group.master(), 4);
    let mut consumer = Group::connect(group.master());
    group.pop(group.master(), &mut consumer, 1);
    let (hot, store) = (&group.master().hot, &group.store);
    store.seal_queue(LANE, 0).unwrap();

    let refused = hot
        .shares
        .set_shared(store, hot.config(), ("Orders", false), NOW_MS);

    assert!(refused.is_err());
    store.unseal_queue(LANE, 0).unwrap();
    group.name();
    let again = group.pop(group.master(), &mut consumer, 1);
    assert_eq!(bodies(&again), [b"a"]);
}

/// Q66: the state is that of the records, no matter which member reads them, or from where.
#[test]
fn oi_7_members_have_the_same_state_at_the_same_position() {
    for seed in 0..20 {
        let mut rng = Rng::with_seed(seed);
        let mut group = Group::new();
        let mut epoch = 4;
        group.own_all(group.replica(), epoch);
        let mut connections = [0, 1].map(|at: usize| Group::connect(&group.members[at]));
        let mut held: Vec<Popped> = Vec::new();
        for step in 0..120_u32 {
            let at = rng.usize(0..2);
            match rng.u8(0..10) {
                0..=2 => group.append(rng.i32(0..2), &step.to_be_bytes()),
                3 | 4 => {
                    let member = &group.members[at];
                    let count = rng.usize(1..4);
                    held.extend(group.pop(member, &mut connections[at], count));
                }
                5 | 6 if !held.is_empty() => {
                    let message = held.swap_remove(rng.usize(0..held.len()));
                    group.ack(&mut connections[at], &message);
                }
                7 if !held.is_empty() => {
                    let message = held.swap_remove(rng.usize(0..held.len()));
                    let change = [Change::GiveBack(0), Change::Keep(1000)][rng.usize(0..2)];
                    group.change(&message, change);
                }
                8 => {
                    epoch += 1;
                    assert!(group.own(&group.members[at], QUEUES[rng.usize(0..2)], epoch));
                }
                _ => {
                    group.now_ms += INVISIBLE_MS / 3;
                    group.expire(&group.members[at]);
                }
            }
            group.assert_equal_states();
        }
        let hot = &group.master().hot;
        assert!(
            hot.shares
                .keep_snapshot(&group.store, hot.config(), NOW_MS)
                .unwrap()
        );
        group.confirm();
        group.assert_equal_states();
        // Another member begins with the snapshot, and a new master with the whole log.
        let late = hot_path(3);
        late.shares.follow(&group.store, reigning(3, true)).unwrap();
        for name in QUEUES {
            let (_, state) = late.shares.state(name).unwrap();
            assert_eq!(state, group.state(name), "seed {seed}");
        }
        late.shares.lead(&group.store, reigning(3, true)).unwrap();
        for name in QUEUES {
            let (_, state) = late.shares.state(name).unwrap();
            assert_eq!(state, group.state(name), "seed {seed}");
        }
    }
}

/// The request that a member would get, and what to do with its answer.
fn forwarded(received: &mut Received) -> (Command, Forward) {
    let mut forwards = std::mem::take(&mut received.forwards);
    assert_eq!(forwards.len(), 1);
    let mut forwards = forwards.remove(0);
    let asked = commands(&forwards.frames).remove(0);
    let request = forwards.requests.remove(0);
    assert_eq!((asked.opaque, forwards.requests.len()), (request.number, 0));
    (asked, request)
}

/// What the client of a forwarded request gets, if the answer of the member is final.
fn given_on(request: &Forward, answer: &Command) -> Option<Command> {
    let header = Header {
        code: answer.code,
        remark: answer.remark.as_deref().map(Text::plain),
        ..Header::default()
    };
    let answer = MemberAnswer {
        header,
        ext: answer.ext.clone(),
        body: &answer.body,
    };
    let mut out = Vec::new();
    let is_final = request.give_on(&answer, &mut out);
    assert_eq!(is_final, !out.is_empty());
    is_final.then(|| commands(&out).remove(0))
}

#[test]
fn q30_a_replica_passes_an_acknowledgement_on_and_gives_the_answer_of_the_sequencer_on() {
    let group = Group::new();
    group.own_all(group.master(), 4);
    group.append(0, b"one");
    let mut consumer = Group::connect(group.master());
    let (mut link, mut client) = (
        Group::connect(group.master()),
        Group::connect(group.replica()),
    );
    let found = group.pop(group.master(), &mut consumer, 1).remove(0);
    group.replica().hot.set_link(SEQUENCER, true);

    let (answers, mut received) = group.ask(group.replica(), &mut client, &ack(&found));

    assert!(answers.is_empty() && received.cold.is_empty());
    let (asked, request) = forwarded(&mut received);
    assert_eq!(asked.ext["regentPassedOn"], "true");
    let frame = again(&asked);
    for code in [FOUND, FOUND] {
        // A request whose answer was lost is sent again, with the same outcome.
        let (answers, outcome) = group.ask(group.master(), &mut link, &frame);
        assert!(answers.is_empty(), "the answer waits for the log");
        let answer = commands(&outcome.deferred).remove(0);
        let told = given_on(&request, &answer).unwrap();
        assert_eq!((told.code, told.opaque), (code, 7));
        group.confirm();
    }
    assert!(group.pop(group.master(), &mut consumer, 1).is_empty());
}

#[test]
fn only_final_answers_of_the_sequencer_are_given_on() {
    let group = Group::new();
    let mut client = Group::connect(group.replica());
    group.replica().hot.set_link(SEQUENCER, true);
    let message = message_with_a_void_handle();
    let (_, mut received) = group.ask(group.replica(), &mut client, &ack(&message));
    let (asked, request) = forwarded(&mut received);
    let answer = |code| Command {
        code,
        remark: Some("why".to_owned()),
        ..asked.clone()
    };

    let void = given_on(&request, &answer(NO_MESSAGE)).unwrap();

    assert_eq!(
        (void.code, void.remark.as_deref()),
        (NO_MESSAGE, Some("why"))
    );
    for code in [1, 14, 501, 7002] {
        assert!(given_on(&request, &answer(code)).is_none());
    }
    // The dispatcher asks again, as the client did.
    let again = request.request().unwrap();
    assert_eq!((again.opaque, again.code), (7, 200_051));
    assert_eq!(again.ext["extraInfo"], message.handle);
    assert!(!again.ext.contains_key("regentPassedOn"));
}

#[test]
fn q91_a_pop_goes_to_the_owner_of_all_its_queues_and_does_not_wait_there() {
    let group = Group::new();
    group.own_all(group.master(), 4);
    group.append(1, b"one");
    let (mut link, mut client) = (
        Group::connect(group.master()),
        Group::connect(group.replica()),
    );
    group.replica().hot.set_link(MASTER, true);

    let (answers, mut received) = group.ask(group.replica(), &mut client, &pop(1, ""));

    assert!(answers.is_empty() && received.cold.is_empty());
    let (asked, request) = forwarded(&mut received);
    let fields = ["shareFwd", "pollTime", "bornTime", "maxMsgNums"];
    assert_eq!(fields.map(|name| &*asked.ext[name]), ["1", "0", "0", "1"]);
    let (_, outcome) = group.ask(group.master(), &mut link, &again(&asked));
    let told = given_on(&request, &commands(&outcome.deferred).remove(0)).unwrap();
    assert_eq!(told.opaque, 7);
    assert_eq!(bodies(&popped(&told)), [b"one"]);
    group.confirm();
    // An owner without a message says so at once; then the dispatcher waits for one.
    let (answers, _) = group.ask(group.master(), &mut link, &again(&asked));
    assert_eq!(answers[0].code, POLLING_TIMEOUT);
    assert!(given_on(&request, &answers[0]).is_none());
}

#[test]
fn q19_a_pop_is_left_to_the_dispatcher_unless_one_other_member_owns_all_its_queues() {
    let group = Group::new();
    let mut client = Group::connect(group.replica());
    for member in [MASTER, REPLICA, SEQUENCER] {
        group.replica().hot.set_link(member, true);
    }
    let mut is_left = |bytes: &[u8]| {
        let (_, received) = group.ask(group.replica(), &mut client, bytes);
        assert_eq!(received.forwards.len() + received.cold.len(), 1);
        received.forwards.is_empty()
    };

    assert!(is_left(&pop(1, "")), "nobody owns them");
    assert!(group.own(group.master(), QUEUES[0], 4));
    assert!(is_left(&pop(1, "")), "nobody owns one of them");
    assert!(group.own(group.master(), QUEUES[1], 4));
    assert!(!is_left(&pop(1, "")));
    assert!(is_left(&forwarded_pop(1)), "it was forwarded already");
    // Its client has given up, and would not finish the messages.
    let late = popping::pop(1, "", NOW_MS - 60_000);
    let (answers, received) = group.ask(group.replica(), &mut client, &late);
    assert_eq!(
        (answers[0].code, received.forwards.len()),
        (POLLING_TIMEOUT, 0)
    );
}

/// The grant of a POP of one queue is also that of all queues, some of which other members may own.
#[test]
fn q91_a_pop_of_queues_of_two_owners_is_left_to_the_dispatcher_whatever_was_granted() {
    let group = Group::new();
    group.append(0, b"of the master");
    group.append(1, b"of the replica");
    assert!(group.own(group.master(), QUEUES[0], 4));
    assert!(group.own(group.replica(), QUEUES[1], 4));
    let mut client = Group::connect(group.replica());
    group.replica().hot.set_link(MASTER, true);
    let mut asked = commands(&pop(32, "")).remove(0);

    for (queue_id, forwarded_count, cold_count) in [("0", 1, 0), ("-1", 0, 1), ("1", 0, 0)] {
        asked.ext.insert("queueId".to_owned(), queue_id.to_owned());
        let (answers, received) = group.ask(group.replica(), &mut client, &again(&asked));
        let counts = (received.forwards.len(), received.cold.len());
        assert_eq!(counts, (forwarded_count, cold_count), "queue {queue_id}");
        assert!(answers.is_empty());
        assert_eq!(deferred(&received).len(), usize::from(queue_id == "1"));
    }
}

/// A member that cannot read a request closes the connection, with the requests of all other clients.
#[test]
fn a_request_that_no_member_would_read_is_left_to_the_dispatcher() {
    let group = Group::new();
    group.own_all(group.master(), 4);
    let mut client = Group::connect(group.replica());
    for member in [MASTER, SEQUENCER] {
        group.replica().hot.set_link(member, true);
    }
    let mut is_left = |command: &Command| {
        let (_, received) = group.ask(group.replica(), &mut client, &again(command));
        let requests = received.forwards.iter().map(|it| it.requests.len());
        assert_eq!(requests.sum::<usize>() + received.cold.len(), 1);
        let bytes: Vec<_> = received.forwards.iter().flat_map(|it| &it.frames).collect();
        assert_eq!(bytes.is_empty(), !received.cold.is_empty());
        !received.cold.is_empty()
    };
    let asked = commands(&pop(1, "")).remove(0);
    let with = |count: usize, size: usize| {
        let mut asked = asked.clone();
        for number in asked.ext.len()..count {
            asked.ext.insert(format!("more{number}"), "1".to_owned());
        }
        asked.ext.insert("attemptId".to_owned(), "a".repeat(size));
        asked
    };
    let size = limits::HEADER_SIZE_MAX - again(&with(0, 0)).len();

    assert!(!is_left(&with(4_000, 1)));
    assert!(is_left(&with(limits::EXT_COUNT_MAX, 1)));
    assert!(!is_left(&with(0, size - 1_000)));
    assert!(is_left(&with(0, size)));
    let mut finished = commands(&ack(&message_with_a_void_handle())).remove(0);
    assert!(!is_left(&finished));
    let name = "a".repeat(limits::HEADER_SIZE_MAX - again(&finished).len());
    let handle = finished.ext["extraInfo"].replace("broker-a", &name);
    finished.ext.insert("extraInfo".to_owned(), handle);
    assert!(is_left(&finished));
}

#[test]
fn requests_are_left_to_the_dispatcher_without_a_connection_to_the_member() {
    let group = Group::new();
    group.own_all(group.master(), 4);
    group.append(0, b"one");
    let mut consumer = Group::connect(group.master());
    let mut client = Group::connect(group.replica());
    let found = group.pop(group.master(), &mut consumer, 1).remove(0);

    for (bytes, member) in [(ack(&found), SEQUENCER), (pop(1, ""), MASTER)] {
        let (_, received) = group.ask(group.replica(), &mut client, &bytes);

        assert_eq!(
            (received.cold.len(), received.lacks_link),
            (1, Some(member))
        );
        assert!(received.forwards.is_empty());
    }
}

/// A message with a void handle.
fn message_with_a_void_handle() -> Popped {
    Popped {
        body: Vec::new(),
        queue_id: 0,
        offset: 3,
        reconsume_times: 0,
        handle: "3 1758000000000 60000 0 0 broker-a 0 3".to_owned(),
    }
}

/// The frame of a request.
fn again(command: &Command) -> Vec<u8> {
    let ext = command.ext.iter().map(|(key, value)| (&**key, &**value));
    let ext: Vec<_> = ext.collect();
    popping::request(command.code, &ext)
}

/// Append a message to the lane beside its master, and give its log position.
fn append_to_lane(group: &Group, body: &[u8]) -> u64 {
    let message = NewMessage::new(LANE, 0, body);
    let appended = (group.store.writer().unwrap()).append(&message, NOW_MS);
    let position = appended.unwrap().log_position;
    group
        .store
        .set_confirmed_position(Some(group.store.max_position()));
    position
}

fn accept_first(group: &Group) -> Record {
    let shares = &group.master().hot.shares;
    let bytes = shares.owning(QUEUES[0], Some(1), 0).unwrap();
    let Some(Ok(Decoded::Known(named))) = Records::new(&bytes).next() else {
        panic!("the record names the share queue");
    };
    let delivery = Delivery {
        pop_time_ms: NOW_MS,
        tag: 1,
    };
    Record {
        flags: 0,
        sq_id: named.sq_id,
        epoch: 1,
        body: Body::Accept {
            delivery,
            ranges: [0].into_iter().collect(),
        },
    }
}

fn follower(group: &Group) -> HotPath {
    let hot = hot_path(9);
    let reigning = reigning(3, true);
    hot.shares.follow(&group.store, reigning).unwrap();
    hot
}

#[test]
fn o34_a_record_that_was_written_damaged_is_left_out_by_each_member_and_the_lane_goes_on() {
    let group = Group::new();
    (0..3).for_each(|number| group.append(0, format!("{number}").as_bytes()));
    group.own_all(group.replica(), 1);
    let mut body = Vec::new();
    accept_first(&group).encode(&mut body);
    let last = body.len() - 1;
    body[last] ^= 1;

    let position = append_to_lane(&group, &body);
    group.confirm();

    assert_eq!(group.replica().hot.shares.left_out(), [position]);
    assert_eq!(group.state(QUEUES[0]).start, 0);
    // The lane goes on.
    let mut connection = Group::connect(group.replica());
    let found = group.pop(group.replica(), &mut connection, 1);
    assert_eq!(bodies(&found), [b"0"]);
    assert_eq!(group.ack(&mut connection, &found[0]), 0);
    // OI-7: a new member that reads the lane has the same state, and so has the next master.
    let late = follower(&group);
    let next = hot_path(10);
    (next.shares).lead(&group.store, reigning(4, true)).unwrap();
    for hot in [&group.replica().hot, &late, &next] {
        assert_eq!(hot.shares.left_out(), [position]);
        for name in QUEUES {
            assert_eq!(hot.shares.state(name).unwrap().1, group.state(name));
        }
    }
}

#[test]
fn o34_a_snapshot_ends_the_wait_for_a_record_that_is_left_out_and_one_with_damage_is_none() {
    let group = Group::new();
    group.own_all(group.replica(), 1);
    let position = append_to_lane(&group, &[0, 1, 0, 0, 0, 22, 1]);
    group.confirm();
    assert_eq!(group.replica().hot.shares.left_out(), [position]);

    // The end of a snapshot that has no beginning.
    let mut mark = Vec::new();
    Record {
        flags: 0,
        sq_id: 2,
        epoch: 3,
        body: Body::Mark { sync_point: 0 },
    }
    .encode(&mut mark);
    append_to_lane(&group, &mark);
    group.confirm();
    assert_eq!(group.replica().hot.shares.left_out(), [position]);

    let (shares, config) = (&group.master().hot.shares, group.master().hot.config());
    assert!(shares.compact(&group.store, config, 1, NOW_MS).unwrap());
    group.confirm();

    assert!(group.replica().hot.shares.left_out().is_empty());
    assert!(follower(&group).shares.left_out().is_empty());
}

#[test]
fn o34_a_damaged_copy_of_a_record_is_not_applied_and_its_position_is_named() {
    let group = Group::new();
    group.append(0, b"0");
    group.own_all(group.replica(), 1);
    let mut body = Vec::new();
    accept_first(&group).encode(&mut body);
    let position = append_to_lane(&group, &body);
    let before = group.replica().hot.shares.state(QUEUES[0]);
    let log = group.dir.path().join("commitlog").join("0".repeat(20));
    let log = std::fs::OpenOptions::new().write(true).open(log).unwrap();
    let content = group.store.held_record(position).unwrap().unwrap();
    let at = content
        .windows(body.len())
        .position(|it| it == body)
        .unwrap();
    log.write_all_at(&[!body[20]], position + at as u64 + 20)
        .unwrap();

    let failed = group
        .replica()
        .hot
        .shares
        .advance(&group.store)
        .unwrap_err();

    assert!(
        matches!(failed, AppendError::Store(StoreError::Corrupt { position: at, .. }) if at == position),
        "{failed}"
    );
    assert_eq!(group.replica().hot.shares.state(QUEUES[0]), before);
}
