"""Two broker groups, of which one has known a consumer group for a short time only, or not yet."""

from contextlib import AsyncExitStack

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, bodies
from tests.integration.broker.static_topics import TOPIC, BrokerGroups
from tests.integration.broker.test_assignments import assigned
from workers.broker.routing.member_lists import COMPLETE_MS

MEMBERS = RequestCode.GET_CONSUMER_LIST_BY_GROUP
RETRY_IMMEDIATELY = 20
ONLY_A = {"expression": "TAGS = 'a'", "expression_type": "SQL92"}


@pytest.fixture
async def groups(tmp_path):
    """The second client has sent its heartbeat to the first broker group only."""
    async with AsyncExitStack() as stack:
        groups = BrokerGroups(tmp_path, stack)
        old = await groups.start("b1")
        new = await groups.start("b2")
        await groups.create("b1", "b2")
        other = await Client.connect(groups.servers["b1"].port)
        stack.push_async_callback(other.close)
        for client, client_id in ((old, "c1"), (other, "c2"), (new, "c1")):
            await client.heartbeat("g", TOPIC, client_id=client_id)
        yield groups


async def members_at(client, **more):
    reply = await client.call(MEMBERS, {"consumerGroup": "g"} | more)
    assert reply.code == 0, reply.remark
    return java_json.loads(reply.body)["consumerIdList"]


async def test_a_new_broker_group_names_the_members_that_only_an_older_one_knows(groups):
    """L15: a member that gets a part of the list takes queues of others, or loses its own."""
    assert await members_at(groups.clients["b2"]) == ["c1", "c2"]
    assert await members_at(groups.clients["b1"]) == ["c1", "c2"]


async def test_a_broker_answers_another_broker_from_its_own_table(groups):
    """So no broker asks one that asks it."""
    assert await members_at(groups.clients["b2"], lo="false") == ["c1"]


async def test_queues_are_dealt_out_among_the_members_that_an_older_one_knows(groups):
    # Case C8.
    new = groups.clients["b2"]

    shares = [await assigned(new, client_id, topic=TOPIC) for client_id in ("c1", "c2")]

    assert sorted(queue_id for share in shares for _, queue_id in share) == [0, 1]
    assert [len(share) for share in shares] == [1, 1]


async def test_a_group_without_a_member_here_stays_unknown(groups):
    """The client keeps its queues, whatever other broker groups know."""
    await groups.clients["b1"].heartbeat("h", TOPIC)

    reply = await groups.clients["b2"].call(MEMBERS, {"consumerGroup": "h"})

    assert reply.code == 1


async def test_without_the_older_broker_group_a_broker_answers_what_it_knows(groups):
    await groups.servers["b1"].close()

    assert await members_at(groups.clients["b2"]) == ["c1"]


async def test_a_group_that_was_known_for_long_enough_is_not_asked_for(groups):
    table = groups.servers["b2"].broker.consumers
    table.find("g").known_since_ms -= COMPLETE_MS

    assert await members_at(groups.clients["b2"]) == ["c1"]


async def pull_without_heartbeat(client, group="h", **fields):
    """Pull as a push consumer does: its subscription comes with its heartbeats only."""
    reply = await client.pull(TOPIC, consumerGroup=group, sysFlag=0, subscription="", **fields)
    return reply.code, bodies(reply) if reply.code == 0 else reply.remark


async def test_a_moved_queue_is_read_before_the_next_heartbeat_of_its_consumers(groups):
    """L15, L29: a move changes no queue of a consumer, so it causes no heartbeat."""
    old, new = groups.clients["b1"], groups.clients["b2"]
    await old.heartbeat("h", TOPIC, client_id="c3", sub=dict(ONLY_A))
    await old.send(TOPIC, b"before", properties={"TAGS": "a"})
    await groups.move("b1", "b2")
    await new.send(TOPIC, b"unwanted", properties={"TAGS": "b"})
    await new.send(TOPIC, b"after", properties={"TAGS": "a"})

    read = [
        await pull_without_heartbeat(new, queueOffset=0),
        await pull_without_heartbeat(new, queueOffset=1),
    ]

    assert read == [(0, [b"before"]), (0, [b"after"])]
    reply = await new.call(MEMBERS, {"consumerGroup": "h"})
    assert reply.code == 1


async def test_the_own_heartbeats_of_a_consumer_group_replace_what_is_lent(groups):
    old, new = groups.clients["b1"], groups.clients["b2"]
    await old.heartbeat("h", TOPIC, client_id="c3")
    await groups.move("b1", "b2")
    await new.send(TOPIC, b"x", properties={"TAGS": "b"})
    lent = await pull_without_heartbeat(new, queueOffset=0)

    await new.heartbeat("h", TOPIC, client_id="c3", sub=dict(ONLY_A))

    assert lent == (0, [b"x"])
    code, _ = await pull_without_heartbeat(new, queueOffset=0)
    assert code == RETRY_IMMEDIATELY


async def test_a_pull_of_a_group_without_a_heartbeat_anywhere_is_refused(groups):
    code, remark = await pull_without_heartbeat(groups.clients["b2"], queueId=1, queueOffset=0)

    assert (code, remark) == (24, "the consumer's group info not exist: h")
