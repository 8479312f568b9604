"""The mapping of a static topic, its seals and its logical offsets survive a failover."""

import asyncio
import contextlib
import time

import msgspec

from backend.brokers.requests.logical_queues import (
    GetLogicalQueues,
    SealLogicalQueue,
    StoreMapping,
    UnsealLogicalQueue,
)
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.mapping import BrokerMapping, MappingInfo
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.topic_layout import TopicLayout
from tests.integration.broker.client import bodies, send_fields
from tests.integration.broker.popping import ack, pop
from tests.integration.replication.conftest import GROUP
from tests.integration.replication.sharing import receive
from tests.waiting import PATIENCE_S, eventually, poll_s

TOPIC = "static"
BASE = 100
BUSY, NOT_LEADER = 2, 501


def mapping(epoch):
    """One logical queue, whose first hundred messages another broker group has."""
    segments = (QueueSegment(0, "elsewhere", 0, 0, 0, BASE), QueueSegment(1, GROUP, 0, BASE))
    return BrokerMapping(MappingInfo(TOPIC, GROUP, epoch, 1), {0: segments})


async def ask(client, request):
    """Send a request as the control plane does, and give the raw answer."""
    return await client.call(request.code, request.ext, request.body)


async def store(client, epoch, **more):
    layout = TopicLayout(read_queue_count=1, write_queue_count=1)
    return await ask(client, StoreMapping(layout=layout, mapping=mapping(epoch), **more))


async def seal(client, epoch=2_000):
    return await ask(client, SealLogicalQueue(topic=TOPIC, global_id=0, epoch=epoch))


async def held(client):
    reply = await ask(client, GetLogicalQueues(TOPIC))
    return msgspec.json.decode(reply.body, type=dict[str, BrokerTopic], strict=False)[TOPIC]


async def test_a_promoted_replica_keeps_mapping_seal_and_offsets(group):
    """L44, L48: no request is served with physical ids, and the seal has the same end."""
    await group.add_many(2)
    first = group.client(1)
    assert (await store(first, 1_000)).code == 0
    sent = [await group.send(1, b"%d" % number, topic=TOPIC) for number in range(5)]
    assert [one.ext["queueOffset"] for one in sent] == ["100", "101", "102", "103", "104"]
    sealed = await seal(first)
    assert (sealed.code, sealed.ext["finalOffset"]) == (0, "5")
    before = await held(first)

    group.kill(1)
    await group.await_master(2)
    second = group.client(2)

    assert await held(second) == before
    assert (await group.send(2, b"late", topic=TOPIC)).code == NOT_LEADER
    assert (await seal(second)).ext == sealed.ext
    unseal = UnsealLogicalQueue(topic=TOPIC, global_id=0, epoch=3_000)
    assert (await ask(second, unseal)).code == 0
    assert (await store(second, 3_000, is_final=True)).code == 0
    assert (await group.send(2, b"5", topic=TOPIC)).ext["queueOffset"] == "105"
    found = await second.pull(TOPIC, queueOffset=BASE)
    assert bodies(found) == [b"%d" % number for number in range(6)]
    assert (found.ext["nextBeginOffset"], found.ext["offsetDelta"]) == ("106", str(BASE))


async def test_pop_goes_on_at_a_promoted_replica_with_what_is_not_finished(group):
    """O4, O13, L44: logical offsets, and handles from before the failover, stay as they are."""
    await group.add_many(2)
    first = group.client(1)
    hosted = {0: (QueueSegment(0, GROUP, 1),), 1: (QueueSegment(0, GROUP, 0),)}
    own = BrokerMapping(MappingInfo(TOPIC, GROUP, 1_000, 2), hosted)
    layout = TopicLayout(read_queue_count=2, write_queue_count=2)
    assert (await ask(first, StoreMapping(layout=layout, mapping=own, is_final=True))).code == 0
    for number in range(6):
        await group.send(1, b"%d" % number, topic=TOPIC, queue_id=number % 2)
    await first.heartbeat("g", TOPIC)
    found = await receive(first, 6, topic=TOPIC)
    by_body = {one.body: one for one in found}
    assert [await ack(first, by_body[body]) for body in (b"0", b"3")] == [0, 0]

    group.kill(1)
    await group.await_master(2)
    second = group.client(2)
    await second.heartbeat("g", TOPIC)

    async def received():
        """Give the messages once the control plane has confirmed the mapping to the new master."""
        with contextlib.suppress(AssertionError):
            return await receive(second, 4, topic=TOPIC)
        return None

    again = await eventually(received)
    places = sorted((one.queue_id, one.offset, one.body) for one in again)
    assert places == [(0, 1, b"2"), (0, 2, b"4"), (1, 0, b"1"), (1, 2, b"5")]
    assert [await ack(second, one) for one in again] == [0] * 4
    assert await pop(second, TOPIC) == []
    # The client had no answer, and asks again.
    assert await ack(second, by_body[b"0"]) == 0


async def test_a_seal_waits_until_every_admitted_message_is_confirmed(group):
    """L23, L25: a message whose sender got an error lies before the end, or is absent."""
    await group.add_many(2)
    first = group.client(1)
    assert (await store(first, 1_000)).code == 0
    await group.pause(2)
    unconfirmed = first.start(310, send_fields(TOPIC), b"unconfirmed")

    waiting = await seal(first)

    assert waiting.code == BUSY
    assert (await first.send(TOPIC, b"late")).code == NOT_LEADER
    group.resume(2)
    begun_s = time.monotonic()
    while (sealed := await seal(first)).code == BUSY:
        assert time.monotonic() - begun_s < PATIENCE_S, sealed.remark
        await asyncio.sleep(poll_s(begun_s))
    assert (sealed.code, sealed.ext["finalOffset"]) == (0, "1")
    await unconfirmed
    found = await first.pull(TOPIC, queueOffset=BASE)
    assert bodies(found) == [b"unconfirmed"]


async def test_a_leader_without_the_control_plane_takes_no_message_after_its_lease(group):
    """L47: another broker group may lead the queue by then; ordinary topics are not affected."""
    await group.add_many(2, controllerHeartBeatTimeoutMills="2000")
    first = group.client(1)
    assert (await store(first, 1_000)).code == 0
    assert (await group.send(1, b"0", topic=TOPIC)).code == 0
    assert (await group.send(1, b"0")).code == 0

    await group.stop_controller()

    begun_s = time.monotonic()
    while (reply := await first.send(TOPIC, b"late", lqFwd=1)).code == 0:
        assert time.monotonic() - begun_s < PATIENCE_S
        await asyncio.sleep(poll_s(begun_s))
    assert reply.code == NOT_LEADER
    assert (await first.send("orders", b"1")).code == 0
    found = await first.pull(TOPIC, queueOffset=BASE)
    assert bodies(found)[:1] == [b"0"]
