"""All logical queues of a broker group leave it, alone or in its drain, and come back."""

import pytest

from backend.brokers.requests.properties import GetPermission
from backend.db import brokers as broker_rows
from backend.db import logical_queues
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.operation import OperationState as S
from backend.domain.operation import StepState
from backend.domain.plan import CheckVerdict
from backend.domain.topic import Permission
from backend.operations.engine import following, orders
from tests.integration.operations.agents import ANNA, CLUSTER
from tests.waiting import eventually

A, B = "broker-a", "broker-b"
GROUP = {"broker_group_name": A}


async def leaders(agents, topic_name):
    async with agents.database.connect() as connection:
        mapping = (await logical_queues.get(connection, CLUSTER, topic_name)).mapping
    return [one.leader_name for one in mapping.queues]


async def create(agents, *topic_names):
    for name in topic_names:
        made = await agents.order("create_static_topic", topic_name=name, queue_count=4)
        assert made.state is S.DONE, made.outcome


def check_of(planned, name):
    [found] = [one for one in planned.plan.checks if one.name == name]
    return found


async def test_a_drain_names_the_logical_queues_of_the_group_l14(agents):
    assert check_of(await agents.plan("drain_broker", **GROUP), "logical queues").verdict is (
        CheckVerdict.PASS
    )
    await create(agents, "orders", "bills")

    planned = await agents.plan("drain_broker", **GROUP)

    check = check_of(planned, "logical queues")
    assert check.verdict is CheckVerdict.WARN
    assert "leads 4 logical queues, of bills (2), orders (2)" in check.why
    assert [one.name for one in planned.plan.steps] == ["permission", "routes", "read"]


async def test_a_drain_moves_the_logical_queues_first_and_its_undo_brings_them_back_l14(agents):
    await create(agents, "orders", "bills")

    drained = await agents.order("drain_broker", **GROUP, move_queues=True)

    assert drained.state is S.DONE, drained.outcome
    names = [one.name for one in drained.steps]
    assert names[:4] == ["bills/begin", "bills/prepare-0", "bills/switch-0", "bills/spread"]
    assert names[-3:] == ["permission", "routes", "read"]
    assert await leaders(agents, "orders") == await leaders(agents, "bills") == [B] * 4

    undone = await agents.undo(drained)

    assert undone.state is S.DONE, undone.outcome
    assert undone.kind == "uncordon_broker"
    assert await leaders(agents, "orders") == await leaders(agents, "bills") == [A, B] * 2
    assert (await agents.look(drained.id)).state is S.UNDONE


async def test_a_drain_of_a_broker_that_was_cordoned_before_leaves_it_cordoned_when_undone(agents):
    await create(agents, "orders")
    await agents.order("cordon_broker", **GROUP)

    drained = await agents.order("drain_broker", **GROUP, move_queues=True)
    undone = await agents.undo(drained)

    assert undone.kind == "evacuate_broker_group"
    assert undone.state is S.DONE, undone.outcome
    assert await leaders(agents, "orders") == [A, B] * 2
    address = f"127.0.0.1:{agents.brokers[A].port}"
    assert await agents.context.brokers.ask(address, GetPermission()) == Permission.READ


async def test_all_queues_leave_a_group_and_come_back_and_leave_again(agents):
    await create(agents, "orders", "bills")

    left = await agents.order("evacuate_broker_group", **GROUP)
    assert left.state is S.DONE, left.outcome
    assert await leaders(agents, "bills") == [B] * 4
    planned = await agents.plan("evacuate_broker_group", **GROUP)
    assert planned.plan.block.name == "something moves"

    back = await agents.undo(left)
    assert back.state is S.DONE, back.outcome
    assert await leaders(agents, "bills") == [A, B] * 2
    again = await agents.undo(back)
    assert again.state is S.DONE, again.outcome
    assert await leaders(agents, "bills") == await leaders(agents, "orders") == [B] * 4


async def test_an_evacuation_that_stops_between_two_topics_is_rolled_back(agents):
    await create(agents, "orders", "bills")
    planned = await agents.plan("evacuate_broker_group", **GROUP)
    await agents.confirm(planned)
    # Twelve requests move the two queues of the first topic.
    assert not await agents.run(planned.id, ("before the effect", 12))
    steps = {one.name: one.state for one in (await agents.look(planned.id)).steps}
    assert (steps["bills/spread"], steps["orders/begin"]) == (StepState.DONE, StepState.DONE)
    await orders.cancel_operation(planned.id, ANNA, agents.context)
    await agents.end(planned.id)
    assert await leaders(agents, "bills") == [B] * 4

    undone = await agents.undo(await agents.look(planned.id))

    assert undone.state is S.DONE, undone.outcome
    assert await leaders(agents, "bills") == await leaders(agents, "orders") == [A, B] * 2
    async with agents.database.connect() as connection:
        topics = await logical_queues.list_all(connection)
    assert [one.unfinished for one in topics] == [None, None]


async def test_queues_do_not_go_to_a_cordoned_group_unless_it_is_named(agents):
    await create(agents, "orders")
    await agents.order("cordon_broker", broker_group_name=B)

    with pytest.raises(QueueChangeRefused, match="no other broker group than broker-a"):
        await agents.plan("evacuate_broker_group", **GROUP)
    with pytest.raises(QueueChangeRefused, match="no other broker group than broker-a"):
        await agents.plan("move_queues", topic_name="orders", leaving=A)
    named = await agents.plan("move_queues", topic_name="orders", destination=B)
    assert check_of(named, "destinations may be written").verdict is CheckVerdict.WARN
    await agents.order("create_static_topic", topic_name="bills", queue_count=4)
    assert await leaders(agents, "bills") == [A] * 4
    await agents.order("expand_static_topic", topic_name="orders", queue_count=6)
    assert await leaders(agents, "orders") == [A, B, A, B, A, A]


async def test_an_undo_is_refused_while_queues_of_a_topic_are_on_their_way(agents):
    await create(agents, "orders")
    planned = await agents.plan("evacuate_broker_group", **GROUP, in_flight_max=1)
    await agents.confirm(planned)
    # Five requests move the first queue.
    assert not await agents.run(planned.id, ("before the effect", 5))
    await orders.cancel_operation(planned.id, ANNA, agents.context)
    await agents.end(planned.id)

    with pytest.raises(QueueChangeRefused, match="retry"):
        await following.undo_operation(planned.id, ANNA, agents.context)


async def test_a_group_is_forgotten_once_no_logical_queue_is_there_l14(agents):
    await create(agents, "orders")
    await agents.send("orders", 3, queue_id=0)
    address = await stop(agents, A)
    planned = await forget(agents, address)
    assert planned.plan.block.name == "logical queues"
    assert "leads orders (logical queues 0, 2)" in planned.plan.block.why

    await agents.order(
        "move_queues", topic_name="orders", leaving=A, force=True, force_offset=10_000
    )

    # The messages of the first queue are lost with the broker, which takes a word more.
    planned = await forget(agents, address)
    assert "older segments are on the broker group" in planned.plan.block.why
    planned = await forget(agents, address, loses_segments=True)
    assert check_of(planned, "logical queues").verdict is CheckVerdict.WARN


async def test_a_group_without_segments_goes_with_its_last_broker_l14(agents):
    await create(agents, "orders")
    left = await agents.order("evacuate_broker_group", **GROUP)
    assert left.state is S.DONE, left.outcome
    address = await stop(agents, A)

    planned = await forget(agents, address)
    assert check_of(planned, "logical queues").verdict is CheckVerdict.PASS
    await agents.confirm(planned)
    forgotten = await agents.end(planned.id)

    assert forgotten.state is S.DONE, forgotten.outcome
    async with agents.database.connect() as connection:
        mapping = (await logical_queues.get(connection, CLUSTER, "orders")).mapping
    assert mapping.counts.keys() == {B}
    assert {one.broker_group_name for one in mapping.retired} <= {B}
    grown = await agents.order("expand_static_topic", topic_name="orders", queue_count=5)
    assert grown.state is S.DONE, grown.outcome


async def stop(agents, name):
    """Stop a broker, and return its address once it is not registered any more."""
    address = f"127.0.0.1:{agents.brokers[name].port}"
    await agents.stop(name)

    async def is_gone():
        async with agents.database.connect() as connection:
            masters = await broker_rows.list_masters(connection, CLUSTER, [name])
        return not any(one.is_online for one in masters)

    await eventually(is_gone)
    return address


async def forget(agents, address, **more):
    return await agents.plan("forget_broker", **GROUP, address=address, **more)
