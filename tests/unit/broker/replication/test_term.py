"""A master's term: what it confirms, which replicas join and leave, what a lost answer means."""

import asyncio
from dataclasses import dataclass, field

import pytest

from workers.broker.configuration.settings import parse_settings
from workers.broker.replication.acknowledgement import LeasePolicy, Outcome
from workers.broker.replication.controller_client import ControllerRefused
from workers.broker.replication.lease import EpochLease
from workers.broker.replication.sync_state import SyncStateSet
from workers.broker.replication.term import Term

MASTER, SECOND, THIRD = 1, 2, 3
EPOCH = 7


@dataclass
class Host:
    """A broker whose log and controller the test moves."""

    end: int = 1000
    replicas: frozenset = frozenset()
    shown: list = field(default_factory=list)
    counts: list = field(default_factory=list)
    asked: list = field(default_factory=list)
    answers: list = field(default_factory=list)
    learned: SyncStateSet | None = None
    term: Term | None = None
    now_s: float = 100.0

    def log_end(self):
        return self.end

    def own_held(self):
        return self.end

    def show(self, position):
        self.shown.append(position)

    def set_replica_count(self, count):
        self.counts.append(count)

    def replica_ids(self):
        return self.replicas

    async def ask_for_set(self, epoch, members, set_epoch, *, is_fence):
        assert epoch == EPOCH
        assert is_fence is (members == self.term.current.broker_ids)
        self.asked.append(set(members))
        answer = self.answers.pop(0) if self.answers else None
        if answer is not None:
            raise answer
        return SyncStateSet(members, set_epoch + 1)

    async def learn_set(self):
        if self.learned is not None:
            self.term.install(self.learned)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch):
    monkeypatch.setattr("workers.broker.replication.term.RETRY_S", 0)
    monkeypatch.setattr("workers.broker.replication.term.APPROACH_S_MAX", 0.01)


def term_of(host, *members, lease=True, policy=LeasePolicy.QUORUM, **properties):
    lease_held = EpochLease()
    if lease:
        lease_held.grant(EPOCH, asked_at_s=host.now_s, lease_ms=10**9)
    host.term = Term(
        host,
        parse_settings(properties).settings,
        own_id=MASTER,
        epoch=EPOCH,
        initial_set=SyncStateSet(frozenset(members), 3),
        former_end=900,
        shown_position=0,
        lease=lease_held,
        lease_policy=policy,
        now_s=lambda: host.now_s,
    )
    return host.term


def connect(host, broker_id, held):
    host.replicas |= {broker_id}
    host.term.connected(broker_id, is_learner=False)
    host.term.held(broker_id, held)


async def check_until_late(host):
    check = asyncio.create_task(host.term.check_set())
    await asyncio.sleep(0)
    host.now_s += 1
    await check


def outcome_of(term, position):
    outcomes = []
    term.wait(position, outcomes.append)
    return outcomes


async def test_a_send_is_answered_once_every_member_holds_it():  # D7
    host = Host()
    term = term_of(host, MASTER, SECOND)
    connect(host, SECOND, 900)
    outcomes = outcome_of(term, 1000)

    term.advance()
    assert (outcomes, host.shown) == ([], [900])
    term.held(SECOND, 1000)

    assert (outcomes, host.shown) == ([Outcome.CONFIRMED], [900, 1000])


async def test_what_is_confirmed_already_is_answered_at_once_but_not_without_a_lease():  # D9
    host = Host()
    term = term_of(host, MASTER)
    term.advance()

    assert outcome_of(term, 1000) == [Outcome.CONFIRMED]
    host.now_s += 10**9
    assert outcome_of(term, 1000) == []


async def test_a_master_is_alone_until_it_asks_for_another_member():  # D8
    host = Host()
    term = term_of(host, MASTER)
    before = term.is_alone
    connect(host, SECOND, 1000)
    host.answers = [OSError()]

    await term.check_set()

    assert (before, term.is_alone) == (True, False)


async def test_a_master_alone_without_a_lease_confirms_and_shows_nothing():  # D9
    host = Host()
    term = term_of(host, MASTER, lease=False)
    outcomes = outcome_of(term, 1000)

    term.advance()

    assert (outcomes, host.shown) == ([], [])


@pytest.mark.parametrize(
    ("policy", "is_confirmed"), [(LeasePolicy.QUORUM, True), (LeasePolicy.STRICT, False)]
)
async def test_a_set_of_two_without_a_lease_goes_on_under_the_quorum_policy_only(
    policy, is_confirmed
):  # targets 5.6
    host = Host()
    term = term_of(host, MASTER, SECOND, lease=False, policy=policy)
    connect(host, SECOND, 1000)
    outcomes = outcome_of(term, 1000)

    term.advance()

    assert (outcomes == [Outcome.CONFIRMED]) is is_confirmed


async def test_readers_see_what_every_member_holds_even_if_senders_need_fewer():  # D7
    host = Host()
    term = term_of(
        host,
        MASTER,
        SECOND,
        policy=LeasePolicy.STRICT,
        allAckInSyncStateSet="false",
        inSyncReplicas="1",
    )
    connect(host, SECOND, 900)

    outcomes = outcome_of(term, 1000)
    term.advance()

    assert term.is_alone
    assert (outcomes, host.shown) == ([Outcome.CONFIRMED], [900])


async def test_a_leaving_master_waits_for_every_member_even_if_senders_need_fewer():  # R10c
    host = Host()
    term = term_of(host, MASTER, SECOND, policy=LeasePolicy.STRICT, allAckInSyncStateSet="false")
    connect(host, SECOND, 900)

    draining = asyncio.create_task(term.drain())
    await asyncio.sleep(0.01)
    was_drained = draining.done()
    term.held(SECOND, 1000)
    await draining

    assert not was_drained


async def test_a_send_that_waits_too_long_has_an_unknown_outcome():
    host = Host()
    term = term_of(host, MASTER, SECOND, slaveTimeout="500")
    outcomes = outcome_of(term, 1000)

    host.now_s += 0.6
    term.tick()

    assert outcomes == [Outcome.LATE]


async def test_a_term_that_is_over_acknowledges_nothing():
    host = Host()
    term = term_of(host, MASTER, SECOND)
    connect(host, SECOND, 0)
    outcomes = outcome_of(term, 1000)

    term.end()
    term.held(SECOND, 1000)

    assert (outcomes, host.shown) == ([Outcome.DEPOSED], [])
    assert outcome_of(term, 1) == [Outcome.DEPOSED]


async def test_a_replica_that_caught_up_is_let_in():  # S42
    host = Host()
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)

    await term.check_set()

    assert host.asked == [{MASTER, SECOND}]
    assert term.current == SyncStateSet(frozenset({MASTER, SECOND}), 4)


async def test_a_replica_that_lacks_what_was_there_when_the_term_began_is_not():  # S41
    host = Host()
    term = term_of(host, MASTER)
    connect(host, SECOND, 999)

    await term.check_set()

    assert host.asked == []


async def test_a_replica_that_is_a_moment_behind_is_waited_for_with_confirming_at_rest():
    host = Host()
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)
    host.end = 2000
    term.advance()
    check = asyncio.create_task(term.check_set())
    await asyncio.sleep(0)
    host.end = 3000
    term.advance()
    assert (host.asked, host.shown[-1]) == ([], 2000)

    term.held(SECOND, 2000)
    await check

    assert host.asked == [{MASTER, SECOND}]


async def test_a_replica_that_does_not_get_there_in_time_delays_no_other():
    host = Host()
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)
    host.end = 2000
    term.advance()
    check = asyncio.create_task(term.check_set())
    await asyncio.sleep(0)

    host.now_s += 1
    await check

    host.end = 3000
    term.advance()
    assert (host.asked, host.shown[-1]) == ([], 3000)


async def test_a_member_whose_connection_broke_leaves_at_once():  # S40
    host = Host()
    term = term_of(host, MASTER, SECOND)
    connect(host, SECOND, 1000)
    host.replicas = frozenset()
    term.disconnected(SECOND)

    await term.check_set()

    assert term.current == SyncStateSet(frozenset({MASTER}), 4)


async def test_a_member_that_lags_for_too_long_leaves():  # S39
    host = Host()
    term = term_of(host, MASTER, SECOND)
    connect(host, SECOND, 1000)
    host.end = 5000

    host.now_s += 16
    await term.check_set()

    assert host.asked == [{MASTER}]


async def test_a_requested_member_is_required_until_the_answer_and_while_it_is_lost():  # S44, I15
    host = Host(answers=[ConnectionError("lost")])
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)
    await term.check_set()
    host.end = 2000

    term.advance()

    assert host.shown[-1] == 1000
    # The next poll says that it was committed after all.
    term.install(SyncStateSet(frozenset({MASTER, SECOND}), 4))
    term.held(SECOND, 2000)
    assert host.shown[-1] == 2000


async def test_a_refused_member_is_required_no_longer():
    host = Host(answers=[ControllerRefused(2006, "not alive")])
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)

    await term.check_set()

    host.end = 2000
    term.advance()
    assert host.shown[-1] == 2000


async def test_a_gone_member_with_a_lost_answer_stays_a_member_until_that_is_certain():
    host = Host(answers=[ConnectionError("lost")])
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)
    await term.check_set()
    host.replicas = frozenset()
    term.disconnected(SECOND)
    host.end = 2000
    host.answers = [ConnectionError("lost"), ControllerRefused(2006, "not this one")]

    # However long that takes: it may still be let in by a request that was sent before (D8).
    for _ in range(2):
        host.now_s += 3600
        await term.check_set()
        term.advance()
        assert host.shown[-1] == 1000

    await term.check_set()
    assert host.asked[-1] == {MASTER}
    assert term.current == SyncStateSet(frozenset({MASTER}), 4)
    assert host.shown[-1] == 2000


@pytest.mark.parametrize("is_learner", [False, True])
async def test_a_requested_member_that_comes_back_with_less_stops_confirmation_until_a_fence_only(
    is_learner,
):  # D8
    host = Host(answers=[ConnectionError("lost")])
    term = term_of(host, MASTER)
    connect(host, SECOND, 1000)
    await term.check_set()
    term.disconnected(SECOND)
    term.connected(SECOND, is_learner=is_learner)
    term.held(SECOND, 1000 if is_learner else 10)
    host.end = 2000

    await check_until_late(host)

    assert host.asked[-1] == {MASTER}
    assert host.shown[-1] == 2000


async def test_a_replica_that_is_too_slow_does_not_hold_up_another_with_a_lost_answer():  # D8
    host = Host(end=10_000, answers=[ConnectionError("lost")])
    term = term_of(host, MASTER)
    connect(host, SECOND, 10_000)
    await term.check_set()
    host.term.held(SECOND, 12_000)
    host.end = 12_000
    term.advance()
    connect(host, THIRD, 10_500)
    await check_until_late(host)

    await check_until_late(host)

    assert term.current.broker_ids == {MASTER, SECOND}
    assert host.shown[-1] == 12_000


async def test_the_size_that_messages_need_is_announced_with_every_change():  # S45
    host = Host()
    term = term_of(host, MASTER, SECOND)

    term.install(SyncStateSet(frozenset({MASTER}), 4))

    assert host.counts[-1] == 1


async def test_readers_wait_until_all_that_may_have_been_acknowledged_before_is_shown():  # I8
    host = Host()
    term = term_of(host, MASTER, SECOND)
    waiting = asyncio.create_task(term.show_former())
    connect(host, SECOND, 899)
    await asyncio.sleep(0)
    before = (term.shows_former, waiting.done())

    term.held(SECOND, 900)

    await waiting
    assert before == (False, False)
    assert (term.shows_former, host.shown) == (True, [899, 900])


async def test_without_a_lease_a_lone_master_does_not_show_what_was_acknowledged_before():  # D9
    host = Host()
    term = term_of(host, MASTER, lease=False)
    waiting = asyncio.create_task(term.show_former())
    await asyncio.sleep(0)
    assert not waiting.done()

    term.end()

    await waiting
    assert (term.shows_former, host.shown) == (False, [])
