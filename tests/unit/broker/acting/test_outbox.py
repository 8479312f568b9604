"""In which order messages leave the outbox, and which one waits for which (D17)."""

import asyncio
from collections import OrderedDict

import pytest

from tests.waiting import PATIENCE_S, eventually
from workers.broker.acting import outbox as outboxes
from workers.broker.acting.outbox import (
    FIRST_PAUSE_S,
    PAUSE_S_MAX,
    TRIES_PER_TARGET,
    Entry,
    Kind,
    Lane,
    Outbox,
)
from workers.broker.commit_log.delay_delivery import NotYet


class Targets:
    """Targets that take messages, except of topics that the test closes."""

    def __init__(self):
        self.closed, self.taken, self.turns = set(), [], []

    async def send(self, entry, turn):
        await asyncio.sleep(0)
        self.turns.append(turn)
        if entry.topic in self.closed:
            raise NotYet(f"no target takes {entry.topic}")
        self.taken.append(entry.log_position)


@pytest.fixture
def targets():
    return Targets()


@pytest.fixture
def outbox(targets):
    found = Outbox(targets.send, clock=lambda: 1_000)
    yield found
    found.clear()


def delayed(position, topic, queue_id=0, level=1):
    return Entry(position, Kind.DELAYED, topic, queue_id, level)


async def test_a_topic_without_a_target_holds_back_no_other_topic(outbox, targets):
    targets.closed = {"missing"}

    for position, topic in enumerate(["missing", "a", "missing", "b", "a"]):
        outbox.add(delayed(position, topic))

    await eventually(lambda: sorted(targets.taken) == [1, 3, 4])
    assert len(outbox) == 2
    targets.closed = set()
    await eventually(lambda: not len(outbox))
    assert [one for one in targets.taken if one in (0, 2)] == [0, 2]


async def test_messages_of_one_queue_leave_in_their_order(outbox, targets):
    targets.closed = {"a"}
    for position in range(5):
        outbox.add(delayed(position, "a"))
    await eventually(lambda: targets.turns)
    targets.closed = set()

    await eventually(lambda: not len(outbox))

    assert targets.taken == list(range(5))


async def test_a_message_is_in_the_outbox_once_and_done_with_once(outbox, targets):
    gone = []
    entry = Entry(7, Kind.TIMED, "a", 0, gone=lambda: gone.append(7))

    outbox.add(entry)
    outbox.add(entry)

    await eventually(lambda: not len(outbox))
    assert (targets.taken, gone) == ([7], [7])
    assert 7 not in outbox


async def test_a_message_is_not_done_with_before_its_target_has_it(outbox, targets):
    targets.closed, gone = {"a"}, []
    outbox.add(Entry(7, Kind.COMMITTED, "a", 0, gone=lambda: gone.append(7)))

    await eventually(lambda: len(targets.turns) > 1)

    assert (gone, 7 in outbox) == ([], True)
    ((kind, lane),) = outbox.lanes()
    assert (kind, lane.failure) == (Kind.COMMITTED, "no target takes a")


async def test_a_message_that_is_withdrawn_is_not_sent(outbox, targets):
    targets.closed = {"a"}
    outbox.add(delayed(1, "a"))
    outbox.add(delayed(2, "a"))
    await eventually(lambda: targets.turns)

    assert outbox.withdraw(2)
    assert outbox.withdraw(99)
    targets.closed = set()

    await eventually(lambda: not len(outbox))
    assert targets.taken == [1]


async def test_the_withdrawal_of_a_message_looks_at_no_other_one(outbox, targets):
    targets.closed = {"a"}
    for position in range(100):
        outbox.add(delayed(position, "a", position % 7))
    await eventually(lambda: len(targets.turns) > 7)
    lanes = [lane for _, lane in outbox.lanes()]
    for lane in lanes:
        lane.entries = Unscanned(lane.entries)

    assert outbox.withdraw(50)

    assert (len(outbox), sum(len(one.entries) for one in lanes)) == (99, 99)
    assert outbox.has_room(Kind.DELAYED, 1)


class Unscanned(OrderedDict):
    """Entries that are found by their position only."""

    def values(self):
        raise AssertionError("the entries are scanned")

    __iter__ = items = keys = values


async def test_a_message_that_is_being_sent_is_not_withdrawn():
    begun, answered = asyncio.Event(), asyncio.Event()

    async def send(_entry, _turn):
        begun.set()
        await answered.wait()

    outbox = Outbox(send, clock=lambda: 0)
    outbox.add(delayed(1, "a"))
    async with asyncio.timeout(PATIENCE_S):
        await begun.wait()

    assert not outbox.withdraw(1)
    answered.set()
    await eventually(lambda: not len(outbox))


async def test_an_origin_waits_for_room_and_another_one_does_not(outbox, targets, monkeypatch):
    monkeypatch.setattr(outboxes, "ENTRY_COUNT_MAX", 1)
    targets.closed = {"a"}
    outbox.add(delayed(1, "a"))

    waiting = asyncio.create_task(outbox.room(Kind.DELAYED, 1))
    await outbox.room(Kind.DELAYED, 2)
    assert not waiting.done()
    targets.closed = set()

    async with asyncio.timeout(PATIENCE_S):
        await waiting


def test_attempts_are_farther_apart_and_go_to_the_next_target_after_some():
    lane = Lane("a")

    pauses_s = [lane.fail("down", 0) for _ in range(8)]

    assert pauses_s[:3] == [FIRST_PAUSE_S, 2 * FIRST_PAUSE_S, 4 * FIRST_PAUSE_S]
    assert pauses_s[-1] == PAUSE_S_MAX
    assert lane.turn == 8 // TRIES_PER_TARGET
