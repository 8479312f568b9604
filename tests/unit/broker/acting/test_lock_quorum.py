"""Locks that a majority of the group has to give (control-plane.md 5.8, D18)."""

import asyncio
from types import SimpleNamespace

import pytest

from backend.remoting.bodies import LockBody, MessageQueue
from backend.remoting.request_code import RequestCode
from tests.waiting import eventually
from workers.broker.acting.lock_quorum import LockQuorum
from workers.broker.tables.queue_locks import LOCK_LIFE_MS, QueueLocks

QUEUES = [MessageQueue(topic="orders", broker_name="broker-a", queue_id=n) for n in range(2)]
NOW_MS = 1_000


class Member:
    """A broker of the group with its own locks, asked without a socket."""

    def __init__(self, members, *, replica_count=3, is_strict=True, others=()):
        self.settings = SimpleNamespace(replica_count=replica_count, locks_by_quorum=is_strict)
        self.locks, self.now_ms = QueueLocks(), NOW_MS
        self.members, self.asked = members, []
        self.quorum = LockQuorum(self, lambda: others)
        self.quorum.ask_member = self.ask

    def elapsed_ms(self):
        return self.now_ms

    async def ask(self, address, code, wish, _timeout_s):
        self.asked.append((address, code))
        member = self.members.get(address)
        assert wish.only_this_broker
        if member is None:
            return []
        group, client_id, queues = wish.consumer_group, wish.client_id, wish.queues
        if code == RequestCode.UNLOCK_BATCH_MQ:
            member.locks.unlock(group, client_id=client_id, queues=queues)
            return []
        return member.locks.lock(group, client_id=client_id, queues=queues, now_ms=self.now_ms)

    def holder(self, queue):
        held = self.locks.find("g", queue, self.now_ms)
        return None if held is None else held.client_id

    async def lock(self, client_id, queues=QUEUES[:1]):
        wish = LockBody(client_id=client_id, consumer_group="g", queues=queues)
        return await self.quorum.lock(wish, queues)


@pytest.fixture
def group():
    """Three members; the first is asked by clients."""
    members = {}
    first = Member(members, others=("b", "c"))
    members |= {"b": Member(members), "c": Member(members)}
    return SimpleNamespace(first=first, second=members["b"], third=members["c"], members=members)


async def test_a_majority_gives_a_lock(group):  # S121
    del group.members["c"]

    assert await group.first.lock("c1") == QUEUES[:1]

    assert group.second.holder(QUEUES[0]) == "c1"


async def test_a_lock_that_a_majority_refuses_is_refused_and_nothing_stays(group):  # S122, D18
    for member in (group.second, group.third):
        member.locks.lock("g", client_id="other", queues=QUEUES[:1], now_ms=NOW_MS)

    assert await group.first.lock("c1", QUEUES) == QUEUES[1:]

    assert group.first.holder(QUEUES[0]) is None
    assert group.first.holder(QUEUES[1]) == "c1"
    assert group.second.holder(QUEUES[0]) == "other"


async def test_what_one_member_gave_to_a_failed_attempt_is_taken_back(group):  # D18
    group.third.locks.lock("g", client_id="other", queues=QUEUES[:1], now_ms=NOW_MS)
    group.first.settings.replica_count = 5

    assert await group.first.lock("c1") == []

    assert group.first.holder(QUEUES[0]) is None
    assert group.second.holder(QUEUES[0]) is None
    assert group.third.holder(QUEUES[0]) == "other"


async def test_a_lock_that_another_client_holds_here_is_refused_without_asking(group):  # S123
    group.first.locks.lock("g", client_id="other", queues=QUEUES[:1], now_ms=NOW_MS)

    assert await group.first.lock("c1") == []

    assert group.first.asked == []


async def test_one_of_two_gives_no_strict_lock_but_another_one(group):  # S124
    group.members.clear()
    group.first.settings.replica_count = 2
    assert await group.first.lock("c1") == []

    group.first.settings.locks_by_quorum = False

    assert await group.first.lock("c1") == QUEUES[:1]


async def test_a_held_lock_stays_when_its_renewal_fails(group):
    assert await group.first.lock("c1") == QUEUES[:1]
    group.members.clear()

    assert await group.first.lock("c1") == []

    assert group.first.holder(QUEUES[0]) == "c1"
    assert await group.first.lock("c2") == []


async def test_unlocking_reaches_all_members_and_no_foreign_locks(group):  # S125
    await group.first.lock("c1")
    group.third.locks.release("g", QUEUES[0], client_id="c1", locked_at_ms=NOW_MS)
    group.third.locks.lock("g", client_id="other", queues=QUEUES[:1], now_ms=NOW_MS)
    wish = LockBody(client_id="c1", consumer_group="g", queues=QUEUES)

    await group.first.quorum.unlock(wish)

    holders = [one.holder(QUEUES[0]) for one in (group.first, group.second, group.third)]
    assert holders == [None, None, "other"]


async def test_an_expired_lock_is_free_for_a_quorum(group):  # S126
    await group.first.lock("c1")
    group.first.now_ms += LOCK_LIFE_MS + 1

    assert await group.first.lock("c2") == QUEUES[:1]


class Attempts:
    """Attempts of one client, whose members vote when the test lets them."""

    def __init__(self, group):
        self.group, self.gates, self.asked_count = group, [], 0
        self.ask, group.first.quorum.ask_member = group.first.ask, self.wait

    async def wait(self, address, code, wish, timeout_s):
        self.asked_count += 1
        if code == RequestCode.LOCK_BATCH_MQ:
            await self.gates[-1].wait()
        return await self.ask(address, code, wish, timeout_s)

    async def begin(self):
        self.gates.append(asyncio.Event())
        asked_count = self.asked_count
        attempt = asyncio.create_task(self.group.first.lock("c1"))
        await eventually(lambda: self.asked_count > asked_count)
        return attempt


async def test_a_failed_attempt_takes_no_lock_back_that_a_later_attempt_gets(group):
    # S122, I11: a client repeats its request before the first one is answered.
    attempts, members = Attempts(group), dict(group.members)
    first, again = await attempts.begin(), await attempts.begin()

    group.members.clear()
    attempts.gates[0].set()
    assert await first == []
    group.members |= members
    attempts.gates[1].set()

    assert await again == QUEUES[:1]
    assert group.first.holder(QUEUES[0]) == "c1"


async def test_a_failed_attempt_takes_no_lock_back_that_a_former_attempt_got(group):  # S122, I11
    attempts = Attempts(group)
    first, again = await attempts.begin(), await attempts.begin()

    attempts.gates[0].set()
    assert await first == QUEUES[:1]
    group.members.clear()
    attempts.gates[1].set()

    assert await again == []
    assert group.first.holder(QUEUES[0]) == "c1"


async def test_the_last_of_several_failed_attempts_takes_the_lock_back(group):  # S122, D18
    attempts = Attempts(group)
    begun = [await attempts.begin() for _ in range(3)]
    group.members.clear()

    for gate in attempts.gates:
        gate.set()

    assert await asyncio.gather(*begun) == [[]] * 3
    assert group.first.holder(QUEUES[0]) is None
