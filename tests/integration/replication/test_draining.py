"""A master that is drained hands over to another of its set, and is written no more."""

import time

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.properties import GetPermission
from backend.clients.clock import SystemClock
from backend.domain.operation import Author, Confirmation, OperationState
from backend.domain.plan import CheckVerdict
from backend.operations.engine import orders
from backend.operations.engine.engine import run_operation
from backend.operations.engine.kind import OperationContext, OperationRequest
from backend.services.cluster.brokers import describe_broker, list_brokers
from backend.services.controller.group_changes import BrokerGroupName, find_group
from tests.integration.operations.crashing import Queue, Tripwire
from tests.integration.replication.conftest import GROUP, read_all
from tests.waiting import PATIENCE_S, eventually

ANNA = Author("anna", "test")
CLUSTER = "TestCluster"


@pytest.fixture
def context(database, group):
    controller = group.name_server.controller
    return OperationContext(database, SystemClock(), Queue(Tripwire()), controller)


async def settle(operation_id, context):
    """Work at an operation until it waits for nothing more."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        await run_operation(operation_id, context)
        found = await orders.describe_operation(operation_id, context)
        if found.state not in {OperationState.QUEUED, OperationState.RUNNING}:
            return found
        assert time.monotonic() < deadline, found


async def addresses(context):
    """Give the address of each name."""
    page = await list_brokers(CLUSTER, size=10, after=None, database=context.database)
    return {str(one.name): one.address for one in page.items}


async def add_registered(group, context, count):
    """Add agents in sync, and wait for the records of them, which follow a moment later."""
    await group.add_many(count)

    async def are_recorded():
        page = await list_brokers(CLUSTER, size=10, after=None, database=context.database)
        return [one.is_registered for one in page.items] == [True] * count

    await eventually(are_recorded)


async def is_master(context, name):
    found = await describe_broker(CLUSTER, name, database=context.database)
    return found.is_master


async def test_a_drained_master_hands_over_and_its_messages_stay_readable(group, context):
    await add_registered(group, context, 2)
    for number in range(20):
        assert (await group.send(1, b"%d" % number)).code == 0
    request = OperationRequest(
        "drain_broker", {"cluster_name": CLUSTER, "broker_group_name": GROUP}
    )

    planned = await orders.plan_operation(request, ANNA, context)
    given = Confirmation(f"{GROUP}-1", "to be replaced")
    before = await addresses(context)
    await orders.confirm_operation(planned.id, given, ANNA, context)
    ended = await settle(planned.id, context)

    assert [step.name for step in planned.steps] == ["permission", "elect", "follow", "routes"]
    assert planned.plan.facts["heir_id"] == 2
    assert ended.state is OperationState.DONE, (ended.outcome, ended.steps)
    master, epoch, _ = await group.state()
    assert (master, epoch) == (2, 2)
    assert (await group.send(2, b"20")).code == 0
    assert await read_all(group.client(2)) == [b"%d" % number for number in range(21)]
    remoting = RemotingClient()
    brokers = Brokers(remoting)
    permissions = [
        await brokers.ask(f"127.0.0.1:{agent.port}", GetPermission()) for agent in group.agents
    ]
    await remoting.aclose()
    assert permissions == [4, 6]
    # Case B2: the id 0 has passed to the other broker, and no name has.
    assert before == {f"{GROUP}-{i}": f"127.0.0.1:{group.agents[i - 1].port}" for i in (1, 2)}
    await eventually(lambda: is_master(context, f"{GROUP}-2"))
    assert await addresses(context) == before


async def test_a_replica_is_drained_at_once(group, context):
    await add_registered(group, context, 2)
    request = OperationRequest(
        "drain_broker",
        {
            "cluster_name": CLUSTER,
            "broker_group_name": GROUP,
            "address": f"127.0.0.1:{group.agents[1].port}",
        },
    )

    planned = await orders.plan_operation(request, ANNA, context)
    given = Confirmation(planned.target, "to be replaced")
    await orders.confirm_operation(planned.id, given, ANNA, context)
    ended = await settle(planned.id, context)

    assert [step.name for step in planned.steps] == ["permission", "routes"]
    assert ended.state is OperationState.DONE, ended.outcome
    assert (await group.state())[0] == 1


async def test_a_replica_of_a_lost_master_is_not_said_to_be_served_by_another(group, context):
    await add_registered(group, context, 2)
    group.kill(2)
    await group.await_state(1, 1, {1})
    assert (await group.send(1, b"not copied")).code == 0
    group.kill(1)
    await group.start(2)

    async def is_lost():
        view = await find_group(BrokerGroupName(GROUP, CLUSTER), context.controller)
        return view.group.is_master_lost and 2 in view.liveness.alive_ids

    await eventually(is_lost)
    address = f"127.0.0.1:{group.agents[1].port}"
    request = OperationRequest(
        "drain_broker", {"cluster_name": CLUSTER, "broker_group_name": GROUP, "address": address}
    )

    planned = await orders.plan_operation(request, ANNA, context)

    [told] = [one for one in planned.plan.checks if one.name.startswith("messages that are still")]
    assert told.verdict is CheckVerdict.WARN
    assert "no master" in told.why
