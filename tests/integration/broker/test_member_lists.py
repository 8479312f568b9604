"""Two broker groups, of which one has known a consumer group for a short time only."""

from contextlib import AsyncExitStack

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client
from tests.integration.broker.static_topics import TOPIC, BrokerGroups
from tests.integration.broker.test_assignments import assigned
from workers.broker.routing.member_lists import COMPLETE_MS

MEMBERS = RequestCode.GET_CONSUMER_LIST_BY_GROUP


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
