"""Broker groups whose members share queues by lease."""

import asyncio
import json
import time
from dataclasses import replace

from backend.db import share_leases
from backend.db.pipeline import pipeline_of
from backend.domain.share_lease import LEASE_TERMS, ShareLease
from backend.domain.share_queue import ShareQueueName
from backend.nameserver.processors import share_leases as processor
from backend.remoting.request_code import RequestCode
from backend.services.share_queue.leases import arbitrate_leases, hand_over_leases
from tests.integration.broker.popping import ack, pop
from tests.integration.replication.popping import consumer, send_many
from tests.waiting import PATIENCE_S, eventually, poll_s

WAIT_MS = int(PATIENCE_S * 1000)
SQ = ShareQueueName("orders", 0, "g")


async def share(group, *, mode="SHARED", number=1, more="", queue_count=1):
    """Set the mode of the topic `orders` at a broker."""
    fields = {
        "topic": "orders",
        "defaultTopic": "TBW102",
        "readQueueNums": queue_count,
        "writeQueueNums": queue_count,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": "false",
        "attributes": f"+share.mode={mode}{more}",
    }
    return await group.client(number).call(RequestCode.UPDATE_AND_CREATE_TOPIC, fields)


def set_terms(monkeypatch, **terms):
    """Change the durations of leases, of which operators can change none."""
    changed = replace(LEASE_TERMS, **terms)
    monkeypatch.setitem(arbitrate_leases.__kwdefaults__, "terms", changed)
    # Members hear it from the processor.
    monkeypatch.setattr(processor, "LEASE_TERMS", changed)


async def shared_pair(group):
    """Make a master and a replica that both know the topic as a SHARED one."""
    await group.add_many(2)
    assert (await share(group)).code == 0
    await await_mode(group, 2, "SHARED")


async def await_mode(group, number, mode):
    """Wait until a broker has the topic with a mode."""
    begun_s = time.monotonic()
    while True:
        answer = await group.client(number).call(
            RequestCode.GET_TOPIC_CONFIG, {"topic": "orders", "lo": "false"}
        )
        if answer.code == 0 and json.loads(answer.body)["attributes"]["share.mode"] == mode:
            return
        assert time.monotonic() - begun_s < PATIENCE_S
        await asyncio.sleep(poll_s(begun_s))


async def await_waiting(group, number, count=1):
    """Wait until so many POPs wait at a broker."""
    begun_s = time.monotonic()
    fields = {"consumerGroup": "g", "topic": "orders", "queueId": -1}
    while (await group.client(number).call(RequestCode.POLLING_INFO, fields)).ext.get(
        "pollingNum"
    ) != str(count):
        assert time.monotonic() - begun_s < PATIENCE_S
        await asyncio.sleep(poll_s(begun_s))


async def receive(client, count, *, topic="orders"):
    """Receive so many messages: a member hands out what is confirmed, one or several at a time."""
    found = []
    async with asyncio.timeout(PATIENCE_S):
        while len(found) < count:
            found += await pop(
                client, topic, pollTime=2_000, maxMsgNums=min(32, count - len(found))
            )
    return found


async def own(group, number):
    """Let a member own the share queue: its consumer finishes a message."""
    await send_many(group, 1, 1, start=900)
    client = await consumer(group, number)
    (found,) = await receive(client, 1)
    assert await ack(client, found) == 0
    return client


async def lease_of(group, name=SQ):
    """Return the lease of a share queue as the arbiter has it."""
    pipeline = pipeline_of(group.name_server.controller.database)
    key = ("TestCluster", group.name)
    return (await share_leases.list_of_groups(pipeline, [key])).get(key, {}).get(name, ShareLease())


async def hand_over(group, names, successor_id):
    """Have a member own share queues, as an operator orders it, and wait until it does."""
    database = group.name_server.controller.database
    await hand_over_leases(names, "TestCluster", group.name, successor_id, database=database)
    await await_owner(group, names, successor_id)


async def await_owner(group, names, broker_id):
    """Wait until a member owns share queues."""

    async def are_owned():
        owners = [(await lease_of(group, name)).owner for name in names]
        return all(one is not None and one.broker_id == broker_id for one in owners)

    await eventually(are_owned)


async def owner_of(group):
    """Return the id of the member with the lease; None without one."""
    owner = (await lease_of(group)).owner
    return None if owner is None else owner.broker_id
