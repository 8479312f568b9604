"""Pulls of what is not in memory, and of what is not confirmed yet."""

import asyncio
from typing import Any

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.integration.broker.popping import ack, change, pop
from tests.integration.broker.slow_disk import SlowDisk
from tests.integration.broker.test_pulling import SUBSCRIPTION, SUSPEND, holding
from tests.waiting import PATIENCE_S
from workers.broker.session import BrokerSession
from workers.broker.tables.topics import topic_of


class ColdStore(SlowDisk):
    """One whose messages are all on a slow disk."""

    def __init__(self, store: Any) -> None:
        super().__init__(store, "read")

    def read_resident(self, *_wanted: Any) -> None:
        return None


async def test_a_pull_that_waits_for_the_disk_delays_no_other_request(client, broker):
    await client.send("T", b"cold")
    disk = broker.broker.store = ColdStore(broker.store)

    pull = client.start_pull("T")
    assert await asyncio.to_thread(disk.is_asked.wait, PATIENCE_S)
    answer = await client.call(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": 0})
    assert (answer.ext["offset"], pull.done()) == ("1", False)

    disk.may_answer.set()
    assert bodies(await pull) == [b"cold"]


async def test_a_pull_that_fails_on_the_disk_is_answered(client, broker):
    await client.send("T", b"cold")
    disk = broker.broker.store = ColdStore(broker.store)
    disk.read = broken_read

    pulled = await client.pull("T")

    assert (pulled.code, "the disk" in pulled.remark) == (14, True)


class ReadStore:
    """A store that notes what threads read."""

    def __init__(self, store: Any) -> None:
        self._store, self.wanted = store, []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def read(self, topic: str, queue_id: int, offset: int, count: int, *more: Any) -> Any:
        self.wanted.append((topic, queue_id, offset, count))
        return self._store.read(topic, queue_id, offset, count, *more)


async def test_before_a_pop_threads_read_what_it_delivers(client, broker, monkeypatch):
    for number in range(8):
        await client.send("T", b"%d" % number)
    await client.heartbeat("g", "T")
    found = await pop(client, queueId=0, maxMsgNums=6)
    for place in (1, 2, 4):
        assert (await change(client, found[place], 0)).code == 0
    assert await ack(client, found[0]) == 0
    broker.broker.put_topic_if_missing(topic_of("%RETRY%g+T", 1))
    broker.broker.store = store = ReadStore(broker.store)
    serve = BrokerSession.pop

    def serve_cold(*asked: Any, may_wait: bool) -> bool:
        return may_wait and serve(*asked, may_wait=may_wait)

    monkeypatch.setattr(BrokerSession, "pop", serve_cold)

    # Another filter, so that the broker checks it.
    await pop(client, queueId=0, maxMsgNums=5, exp="tag")

    assert store.wanted == [
        ("T", 0, 1, 2),
        ("T", 0, 4, 1),
        ("T", 0, 6, 5),
        ("%RETRY%g+T", 0, 0, 5),
    ]


async def test_a_held_pull_is_woken_when_its_message_is_confirmed_and_not_before(client, broker):
    agent = broker.broker
    await client.send("T", b"first")
    agent.confirm(agent.store.max_position)
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    await client.send("T", b"second")
    await client.call(RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": 0})
    assert len(agent.polling) == 1

    agent.confirm(agent.store.max_position)
    assert bodies(await pull) == [b"second"]


async def test_a_pull_held_after_the_send_is_woken_by_its_confirmation(client, broker):
    agent = broker.broker
    agent.confirm(0)
    await client.send("T", b"only")
    pull = client.start_pull("T", sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    agent.confirm(None)

    assert bodies(await pull) == [b"only"]


async def test_a_delayed_message_is_delivered_once_it_is_confirmed(client, broker):
    agent = broker.broker
    agent.confirm(0)
    await client.send("T", b"late", properties={"DELAY": "1"})
    await asyncio.sleep(0)
    pull = client.start_pull("T", sysFlag=SUSPEND | SUBSCRIPTION)
    await holding(broker, 1)

    agent.confirm(None)

    assert bodies(await pull) == [b"late"]


def broken_read(*_wanted: Any) -> Any:
    raise OSError("the disk is gone")
