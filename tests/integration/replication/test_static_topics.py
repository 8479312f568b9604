"""The mapping of a static topic, its seals and its logical offsets survive a failover."""

import asyncio
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
from tests.integration.replication.conftest import GROUP
from tests.waiting import PATIENCE_S, poll_s

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
