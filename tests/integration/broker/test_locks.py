"""Locks as the control plane sees and ends them (our 7003, 7004), and who reads a queue (7005)."""

import time

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.errors import BrokerRefused
from backend.brokers.requests.consumer_groups import GetOnlineGroup
from backend.brokers.requests.figures import GetDelayedCount
from backend.brokers.requests.locks import GetQueueLocks, GetQueueReaders, ReleaseQueueLocks
from backend.brokers.requests.offsets import GetGroupsWithOffsets, GetMaxOffset, GetProgress
from backend.brokers.requests.properties import GetPermission
from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.waiting import eventually

FENCE = {}
RENEWED_S_MAX = 15.0
"""Less than the 20 s after which clients look by themselves, and the 60 s that locks last."""


@pytest.fixture
async def brokers():
    client = RemotingClient()
    yield Brokers(client)
    await client.aclose()


def address(server):
    return f"127.0.0.1:{server.port}"


def readers_of(topic):
    return GetQueueReaders(consumer_group="g", topic=topic)


def lock_body(client_id, *queue_ids, group="g"):
    queues = [{"topic": "T", "brokerName": "broker-t", "queueId": one} for one in queue_ids]
    return java_json.encode({"clientId": client_id, "consumerGroup": group, "mqSet": queues})


async def lock(client, client_id, *queue_ids, group="g"):
    answer = await client.call(
        RequestCode.LOCK_BATCH_MQ, body=lock_body(client_id, *queue_ids, group=group)
    )
    return [one["queueId"] for one in java_json.loads(answer.body)["lockOKMQSet"]]


async def test_a_holder_is_connected_until_its_connection_closes(broker, connect, brokers):
    holder = await connect(broker)
    await holder.heartbeat("g", "T", client_id="c1")
    await lock(holder, "c1", 0, 1)

    here = await brokers.ask(address(broker), GetQueueLocks())
    await holder.close()

    async def is_gone():
        told = await brokers.ask(address(broker), GetQueueLocks())
        return not any(one.is_connected for one in told.locks)

    await eventually(is_gone)
    gone = await brokers.ask(address(broker), GetQueueLocks())
    assert (here.total_count, gone.total_count) == (2, 2)
    assert [(one.is_connected, one.heard_ms is None) for one in here.locks] == [(True, False)] * 2
    assert [(one.is_connected, one.heard_ms) for one in gone.locks] == [(False, None)] * 2
    [first, _] = gone.locks
    assert (first.consumer_group_name, first.topic, first.client_id) == ("g", "T", "c1")
    assert 0 < first.expires_in_ms <= 60_000
    assert first.held_ms >= first.idle_ms >= 0


async def test_a_lock_of_a_gone_client_is_released_and_the_next_one_locks_at_once(
    broker, connect, brokers
):
    holder, waiting = await connect(broker), await connect(broker)
    await holder.heartbeat("g", "T", client_id="c1")
    await waiting.heartbeat("g", "T", client_id="c2")
    await lock(holder, "c1", 0)
    await holder.close()
    assert await lock(waiting, "c2", 0) == []
    held = await brokers.ask(address(broker), GetQueueLocks("g"))
    noticed = len(waiting.notices)

    began = time.monotonic()
    await brokers.ask(address(broker), ReleaseQueueLocks(locks=held.locks, fence=FENCE))

    async def is_reported():
        return len(waiting.notices) > noticed

    await eventually(is_reported)
    assert await lock(waiting, "c2", 0) == [0]
    assert time.monotonic() - began < RENEWED_S_MAX
    # The same release again, as after an answer that was lost, takes nothing from the next holder.
    await brokers.ask(address(broker), ReleaseQueueLocks(locks=held.locks, fence=FENCE))
    now = await brokers.ask(address(broker), GetQueueLocks())
    assert [one.client_id for one in now.locks] == ["c2"]


async def test_one_group_is_asked_for_and_names_of_clients_are_any_text(client, broker, brokers):
    await lock(client, 'ü"\n\\', 0, group="g")
    await lock(client, "c2", 0, group="h")

    told = await brokers.ask(address(broker), GetQueueLocks("g"))

    assert [one.client_id for one in told.locks] == ['ü"\n\\']


async def test_more_locks_than_a_frame_carries_are_counted(client, broker, brokers, monkeypatch):
    monkeypatch.setattr("workers.broker.processors.locks.LISTED_COUNT_MAX", 2)
    await lock(client, "c1", *range(5))

    told = await brokers.ask(address(broker), GetQueueLocks())

    assert (len(told.locks), told.total_count) == (2, 5)


@pytest.mark.parametrize("body", [b"{", b'{"locks":[{}]}', b'{"locks":[{"queueId":"x"}]}', b"[]"])
async def test_a_bad_release_is_refused_and_releases_nothing(client, broker, brokers, body):
    await lock(client, "c1", 0)

    answer = await client.call(RequestCode.RELEASE_QUEUE_LOCKS, body=body)

    assert answer.code == 1
    assert (await brokers.ask(address(broker), GetQueueLocks())).total_count == 1


async def test_readers_are_seen_when_they_pull_commit_and_advance(client, broker, brokers):
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    before = await brokers.ask(address(broker), readers_of("T"))
    await client.pull("T", queueOffset=0)
    mine = {"topic": "T", "queueId": 0, "consumerGroup": "g"}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, mine | {"commitOffset": 0})
    pulled = await brokers.ask(address(broker), readers_of("T"))
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, mine | {"commitOffset": 1})
    advanced = await brokers.ask(address(broker), readers_of("T"))

    assert before.is_gate_open
    assert before.readers[0].pulled_ms is None
    seen = pulled.readers[0]
    assert (seen.pulled_ms is None, seen.committed_ms is None, seen.advanced_ms) == (
        False,
        False,
        None,
    )
    assert advanced.readers[0].advanced_ms is not None
    assert advanced.readers[0].address.startswith("127.0.0.1:")
    assert pulled.readers[1].pulled_ms is None


async def test_the_readers_of_an_unknown_topic_are_refused(broker, brokers):
    with pytest.raises(BrokerRefused, match="not exist"):
        await brokers.ask(address(broker), readers_of("Nowhere"))


async def test_what_a_group_reads_and_how_far_it_is(client, broker, brokers):
    await client.send("T", b"x", queue_id=1)
    await client.heartbeat("g", "T", client_id="c1")
    mine = {"topic": "T", "queueId": 1, "consumerGroup": "g"}
    await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, mine | {"commitOffset": 0})

    at = address(broker)
    online = await brokers.ask(at, GetOnlineGroup("g"))
    progress = await brokers.ask(at, GetProgress("g", "T"))

    assert [one.client_id for one in online.members] == ["c1"]
    assert (online.topics, online.is_broadcasting) == ({"T"}, False)
    assert [one.lag for one in progress if one.queue_id == 1] == [1]
    assert await brokers.ask(at, GetOnlineGroup("nobody")) is None
    assert await brokers.ask(at, GetMaxOffset(topic="T", queue_id=1)) == 1
    assert await brokers.ask(at, GetPermission()) == 6
    assert await brokers.ask(at, GetGroupsWithOffsets()) == ["g"]
    assert await brokers.ask(at, GetDelayedCount()) == 0
