"""Keep producers away from a broker, which goes on serving its consumers."""

from collections.abc import Sequence
from typing import Final

from backend.domain.operation import Operation
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.broker import BrokerOrder, CordonBroker, UncordonBroker
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.operations import broker_permissions as permissions
from backend.services.operations import groups, masters, writers
from backend.services.operations.broker_permissions import Present
from backend.services.operations.groups import count_topics
from backend.services.operations.kind import Kind, OperationContext, StepWork

CORDON: Final = "permission"
"""The step that takes the right; also of a drain."""


async def plan(order: CordonBroker, context: OperationContext) -> Plan:
    """Say who would be sent elsewhere, and who has nowhere to go.

    Raises:
        BrokerUnknown: the cluster's records hold no such broker.
    """
    present = await permissions.read_present(order, context)
    address = present.broker.address
    after = None if present.permission is None else permissions.without_write(present.permission)
    return Plan(
        summary=f"Producers leave {order.target} ({address}); consumers stay",
        risk=Risk.SERVICE,
        steps=(
            PlannedStep(CORDON, f"Take the right to write from {address}"),
            PlannedStep("routes", "Wait until routes send no producer there"),
        ),
        preconditions=present.preconditions,
        changes=(present.difference(after),),
        impact=await describe_impact(order, present, context),
        checks=(
            present.check,
            await permissions.check_fencing(present, context),
            await writers.check_cordon(
                order.cluster_name, order.group_name, address, database=context.database
            ),
            await permissions.check_other_queues(order, context),
            *check_effect(present, after),
        ),
        way_back="Uncordon it: the right to write is given back, and routes with it",
        facts={"address": address, "permission": after},
    )


async def describe_impact(
    order: BrokerOrder, present: Present, context: OperationContext
) -> tuple[str, ...]:
    """Say who feels it that a broker is not written any more."""
    count = await count_topics(groups.checked(order.cluster_name, order.group_name), context)
    if not present.broker.is_master:
        return ("A replica takes no sends; it would take none as master either",)
    leaving = (
        f"Producers of the {count} topics placed on {order.group_name} use other groups from their"
        " next look at the route on, within 30 s; until then what they send is taken"
    )
    refused = (
        "Sends to ordered topics are refused at once, as by stock brokers; so are messages that"
        " consumers send back, which their clients then send anew elsewhere"
    )
    return leaving, refused


def check_effect(present: Present, after: int | None) -> tuple[Check, ...]:
    """Say so when nothing would change."""
    if present.permission is None or present.permission != after:
        return ()
    why = "the broker has no right to write already; nothing would change"
    return (Check("something changes", CheckVerdict.WARN, why),)


def steps(
    order: CordonBroker, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Take the right, then wait for the routes."""
    facts = operation.plan.facts
    return [
        permissions.permission_work(facts["address"], facts["permission"], context),
        permissions.routes_work(order, facts["address"], context),
    ]


async def verify(
    order: CordonBroker, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back what the broker permits, and what producers are told."""
    facts = operation.plan.facts
    count = await permissions.count_writable(order, facts["address"], context)
    return [
        await permissions.read_back(facts["address"], facts["permission"], context),
        groups.compare("topics that producers are sent there for", 0, count),
    ]


def undo(order: BrokerOrder, operation: Operation) -> UncordonBroker:
    """Give the right back to the broker that it was taken from, whatever its id is by now.

    Raises:
        NotUndoable: it was not taken, as from a broker that had no such right before.
    """
    taken = [one for one in masters.done_steps(operation) if one.name == CORDON]
    if not taken or (taken[0].before or {}).get("permission") == operation.plan.facts["permission"]:
        raise NotUndoable("no right to write was taken from the broker")
    return UncordonBroker(
        order.cluster_name,
        order.group_name,
        broker_id=order.broker_id,
        address=operation.plan.facts["address"],
    )


KIND: Final = Kind("cordon_broker", CordonBroker, plan, steps, verify, undo)
