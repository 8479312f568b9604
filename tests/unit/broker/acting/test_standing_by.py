"""What a replica that does not act copies from the broker that serves (I11)."""

from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from backend.remoting import java_json
from backend.remoting.bodies import MessageQueue
from backend.remoting.bodies.locks import QueueLockBody, QueueLocksBody
from backend.remoting.request_code import RequestCode
from workers.broker.acting import taking_over
from workers.broker.acting.taking_over import stand_by
from workers.broker.tables.consumer_offsets import ConsumerOffsets
from workers.broker.tables.queue_locks import QueueLocks

NOW_MS = 1_000
QUEUE = MessageQueue(topic="orders", broker_name="broker-a", queue_id=0)


class Serving:
    """The broker that serves, with its locks; a test may act while it is asked."""

    def __init__(self, *client_ids):
        self.client_ids, self.meanwhile = client_ids, lambda: None

    @asynccontextmanager
    async def connected(self):
        yield self

    async def call(self, _code, *, ext):
        assert ext == {}
        locks = [
            QueueLockBody(
                consumer_group="g",
                topic=QUEUE.topic,
                broker_name=QUEUE.broker_name,
                queue_id=QUEUE.queue_id,
                client_id=client_id,
                locked_at_ms=NOW_MS,
                held_ms=0,
                idle_ms=0,
                expires_in_ms=60_000,
                is_connected=True,
                heard_ms=None,
            )
            for client_id in self.client_ids
        ]
        self.meanwhile()
        body = java_json.encode(QueueLocksBody(total_count=len(locks), locks=locks))
        return SimpleNamespace(code=0, body=body)


class Replica:
    def __init__(self, *, is_strict):
        self.settings = SimpleNamespace(locks_by_quorum=is_strict)
        self.locks, self.offsets = QueueLocks(), ConsumerOffsets()
        self.state = SimpleNamespace(delays=SimpleNamespace(take_over=lambda _: 0))

    def elapsed_ms(self):
        return NOW_MS

    def vote(self, client_id):
        assert self.locks.lock("g", client_id=client_id, queues=[QUEUE], now_ms=NOW_MS)

    async def stand_by(self, serving):
        await stand_by(self, serving, acts=False, is_wanted=lambda: True)
        held = self.locks.find("g", QUEUE, NOW_MS)
        return None if held is None else held.client_id


async def test_a_recall_is_asked_for_after_the_replica_takes_no_more_and_before_the_levels(
    monkeypatch,
):  # RIP-32
    asked = []

    class Requester:
        async def call(self, code, *, ext):
            asked.append((RequestCode(code), ext.get("servesNext")))
            body = {RequestCode.GET_ESCAPED: b""}.get(code, b"{}")
            return SimpleNamespace(code=0, body=body)

        def close(self):
            raise ConnectionError("all was asked")

    async def connect(*_, **__):
        return Requester()

    monkeypatch.setattr(taking_over, "connect", connect)

    with pytest.raises(ConnectionError, match="all was asked"):
        await taking_over.take_over(None, "127.0.0.1:10911")

    assert asked[:3] == [
        (RequestCode.GET_ALL_CONSUMER_OFFSET, "true"),
        (RequestCode.GET_ESCAPED, None),
        (RequestCode.GET_ALL_DELAY_OFFSET, None),
    ]


async def test_a_vote_for_a_broker_that_is_not_reached_any_more_stays():  # S123, I11
    """A part of the group with another broker gives the lock to no other client."""
    replica = Replica(is_strict=True)
    replica.vote("c1")

    assert await replica.stand_by(Serving()) == "c1"
    assert await replica.stand_by(Serving("c2")) == "c1"


@pytest.mark.parametrize("is_strict", [False, True])
async def test_the_locks_of_the_broker_that_serves_are_copied(is_strict):
    assert await Replica(is_strict=is_strict).stand_by(Serving("c1")) == "c1"


async def test_without_a_quorum_the_broker_that_serves_decides():
    replica = Replica(is_strict=False)
    replica.vote("c1")

    assert await replica.stand_by(Serving("c2")) == "c2"
    assert await replica.stand_by(Serving()) is None


async def test_a_lock_that_is_given_back_during_the_question_does_not_return():
    replica, serving = Replica(is_strict=True), Serving("c1")
    replica.vote("c1")
    serving.meanwhile = lambda: replica.locks.unlock("g", client_id="c1", queues=[QUEUE])

    assert await replica.stand_by(serving) is None
