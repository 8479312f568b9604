"""What comes in the way of a plan makes it void, until its first step (G1)."""

from contextlib import asynccontextmanager

import pytest

from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import PlanBlocked, PreconditionMoved
from backend.operations.engine.following import find_moved_fact
from tests.integration.broker.client import Client
from tests.integration.operations.test_broker_kinds import consumed, offsets_of, put_topic

DELETION = ("delete_consumer_group", {"consumer_group_name": "billing"})
RESET = (
    "reset_offsets",
    {
        "consumer_group_name": "billing",
        "topic_name": "orders",
        "position": "earliest",
        "mode": "offline",
    },
)
for_nobody_connected = pytest.mark.parametrize(
    ("kind", "parameters"), [DELETION, RESET], ids=["group deletion", "offline reset"]
)


@asynccontextmanager
async def consuming(agents):
    """Have a member of billing connected."""
    client = await Client.connect(agents.brokers["broker-a"].port)
    await client.heartbeat("billing", "orders", client_id="one")
    yield
    await client.close()


async def facts(agents, planned):
    return await find_moved_fact(planned.id, agents.context, within=EVERYWHERE)


@for_nobody_connected
async def test_members_that_connect_make_a_plan_void(agents, kind, parameters):
    await consumed(agents)
    planned = await agents.plan(kind, **parameters)
    confirmed = await agents.plan(kind, **parameters)
    await agents.confirm(confirmed)
    before = await facts(agents, planned)

    async with consuming(agents):
        since = await facts(agents, planned)
        with pytest.raises(
            PreconditionMoved, match=r"was not in the way when .* one[,;]"
        ) as refused:
            await agents.confirm(planned)
        failed = await agents.end(confirmed.id)

    assert before is None
    assert (since.name, since.found) == (refused.value.name, refused.value.found)
    assert (await agents.look(planned.id)).state is S.LAPSED
    assert (failed.state, "in the way" in failed.outcome) == (S.FAILED, True)
    assert agents.agent().groups.find("billing") is not None
    assert offsets_of(agents)[0] == 8


async def test_what_was_in_the_way_from_the_start_has_not_moved(agents):
    await consumed(agents)
    kind, parameters = DELETION

    async with consuming(agents):
        blocked = await agents.plan(kind, **parameters)
        found = await facts(agents, blocked)
        with pytest.raises(PlanBlocked):
            await agents.confirm(blocked)

    assert found is None
    assert (await agents.look(blocked.id)).state is S.PLANNED


async def test_a_topic_that_was_empty_is_not_deleted_with_what_came_since(agents):
    await put_topic(agents)
    planned = await agents.plan("delete_topic", topic_name="orders")
    confirmed = await agents.plan("delete_topic", topic_name="orders")
    await agents.confirm(confirmed)
    await agents.send("orders", 1, name="broker-b")

    with pytest.raises(PreconditionMoved, match=r"messages in it was none .* and is now some"):
        await agents.confirm(planned)
    failed = await agents.end(confirmed.id)

    assert (failed.state, "messages in it" in failed.outcome) == (S.FAILED, True)
    assert agents.agent("broker-b").topics.find("orders") is not None


async def test_more_messages_in_what_was_not_empty_do_not_prevent_its_deletion(agents):
    await put_topic(agents)
    await agents.send("orders", 1)
    planned = await agents.plan("delete_topic", topic_name="orders")
    await agents.send("orders", 1)

    await agents.confirm(planned)

    assert (await agents.end(planned.id)).state is S.DONE
