"""Bound what brokers are asked when a plan is made, watched and confirmed.

A page watches a plan for as long as it is open: it looks every few seconds whether a fact has
moved. So watching and confirming ask brokers for facts only, never for what a preview shows.
"""

from dataclasses import dataclass, replace

import pytest

from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.operation import Confirmation
from backend.domain.operation import OperationState as S
from backend.operations.engine import orders
from backend.operations.engine.following import find_moved_fact
from backend.operations.engine.kind import OperationRequest
from tests.integration.operations.agents import ANNA, CLUSTER
from tests.integration.operations.test_broker_kinds import consumed
from tests.integration.services.controller_driver import ControllerDriver
from tests.long_form import few


@dataclass(frozen=True)
class Bounds:
    """How many requests all brokers together receive at most."""

    plan: int
    watch: int
    confirm: int


# Two masters hold the topic and the consumer group; no member is connected.
BOUNDS = [
    ("create_topic", {"topic_name": "bills"}, Bounds(4, 2, 2)),
    ("change_topic", {"topic_name": "orders", "read_queue_count": 2}, Bounds(6, 2, 2)),
    ("delete_topic", {"topic_name": "orders"}, Bounds(10, 4, 4)),
    ("create_consumer_group", {"consumer_group_name": "debts"}, Bounds(4, 2, 2)),
    (
        "change_consumer_group",
        {"consumer_group_name": "billing", "retry_count_max": 3},
        Bounds(4, 2, 2),
    ),
    (
        "delete_consumer_group",
        {"consumer_group_name": "billing", "cleans_up": True},
        Bounds(12, 4, 4),
    ),
    (
        "reset_offsets",
        {"consumer_group_name": "billing", "topic_name": "orders", "position": "earliest"},
        Bounds(18, 14, 14),
    ),
    (
        "change_broker_config",
        {"broker_group_name": "broker-a", "changes": [{"name": "fileReservedTime", "value": "1"}]},
        Bounds(3, 1, 1),
    ),
    ("cordon_broker", {"broker_group_name": "broker-a"}, Bounds(2, 1, 1)),
    ("drain_broker", {"broker_group_name": "broker-a"}, Bounds(6, 1, 1)),
    (
        "change_protection",
        {"resource_kind": "consumer_group", "resource_name": "billing"},
        Bounds(2, 0, 0),
    ),
]


async def count(agents, acts):
    """Do one thing after another, and say how many requests each sent to brokers."""
    counts = []
    for act in acts:
        before = len(agents.client.asked)
        result = await act()
        counts.append(len(agents.client.asked) - before)
    return result, counts


async def count_of(agents, context, request):
    planned = []

    async def plan():
        planned.append(await orders.plan_operation(request, ANNA, context))

    async def watch():
        moved = await find_moved_fact(planned[0].id, context, within=EVERYWHERE)
        assert moved is None, moved

    async def confirm():
        given = Confirmation(planned[0].target, "why", accepts_loss=True)
        return await orders.confirm_operation(planned[0].id, given, ANNA, context)

    confirmed, counts = await count(agents, [plan, watch, confirm])
    assert confirmed.state is S.QUEUED
    return Bounds(*counts)


@pytest.mark.parametrize(("kind", "parameters", "bounds"), few(BOUNDS, 6))
async def test_brokers_are_asked_for_facts_only_once_a_plan_is_made(
    agents, kind, parameters, bounds
):
    await consumed(agents)
    request = OperationRequest(kind, {"cluster_name": CLUSTER, **parameters})

    counted = await count_of(agents, agents.context, request)

    assert counted == bounds


async def test_an_election_asks_brokers_only_when_its_plan_is_made(agents):
    # An agent stands for the master: it says who is connected to it, whatever its role is.
    driver = ControllerDriver(agents.database)
    port = agents.brokers["broker-a"].port
    for broker_id in (1, 2, 3):
        await driver.apply(broker_id, f"127.0.0.1:{port};{broker_id}")
    driver.hear(1, 2, 3, epoch=1, max_offset=900)
    await driver.elect(1)
    await driver.alter({1, 2, 3}, epoch=1)
    controller = replace(driver.controller, brokers=agents.context.brokers)
    context = replace(agents.context, controller=controller)
    parameters = {"cluster_name": "c", "broker_group_name": "g", "broker_id": 2}

    counted = await count_of(agents, context, OperationRequest("elect_master", parameters))

    assert counted == Bounds(2, 0, 0)
