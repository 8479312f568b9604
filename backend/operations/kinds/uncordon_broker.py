"""Allow producers to use a broker again."""

from dataclasses import dataclass
from typing import Final

from backend.domain.orders.broker import UncordonBroker
from backend.domain.orders.static_topic import EvacuateBrokerGroup
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.operations.actions.brokers import SetPermission
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.kinds import evacuate_broker_group
from backend.operations.planning import broker_permissions as permissions


@dataclass(frozen=True, slots=True)
class Present:
    """Hold the broker, and the moves of logical queues that are taken back, if any."""

    found: permissions.Present
    moves: Facts[evacuate_broker_group.Present] | None


async def read_facts(order: UncordonBroker, context: OperationContext) -> Facts[Present]:
    """Read the permission of the broker, and where logical queues that left it are.

    Raises:
        BrokerUnknown: the records hold no such broker. QueueChangeRefused: the moves of a static
        topic can't be taken back now.
    """
    found = await permissions.read_facts(order, context)
    if order.takes_back is None:
        return Facts(Present(found.seen, None), found.preconditions, found.checks)
    moves = await evacuate_broker_group.read_facts(_return(order), context)
    return Facts(
        Present(found.seen, moves),
        (*found.preconditions, *moves.preconditions),
        (*found.checks, *moves.checks),
    )


async def preview(order: UncordonBroker, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe the new permission, and which logical queues come back."""
    present = facts.seen.found
    moves = None if facts.seen.moves is None else facts.seen.moves.seen
    part = evacuate_broker_group.part_of(_return(order), moves)
    address, after = present.broker.address, present.with_write
    action = SetPermission(
        order.cluster_name,
        order.broker_group_name,
        order.broker_id,
        address,
        after,
        takes_write=False,
    )
    return Plan(
        summary=f"Producers may use {order.target} ({address}) again",
        risk=Risk.SMALL,
        steps=(*planned_steps([action]), *part.steps),
        changes=(present.difference(after), *part.changes),
        impact=(
            *part.impact,
            f"Producers use {order.broker_group_name} again after their next route update",
            "A broker that handed over its master role stays a replica: elect it to make it master",
        ),
        checks=(
            *facts.checks,
            await permissions.check_fencing(present, context),
            *_checks(present, after),
            *(
                ()
                if moves is None
                else await evacuate_broker_group.check_takers(order.cluster_name, moves, context)
            ),
        ),
        way_back="Cordon it",
        facts={"address": address, "permission": after},
    )


KIND: Final = Kind(
    "uncordon_broker",
    UncordonBroker,
    read_facts,
    preview,
    (SetPermission, *evacuate_broker_group.KIND.actions),
    settle=permissions.settle,
)


def _return(order: UncordonBroker) -> EvacuateBrokerGroup:
    return EvacuateBrokerGroup(
        order.cluster_name, order.broker_group_name, takes_back=order.takes_back
    )


def _checks(present: permissions.Present, after: int | None) -> tuple[Check, ...]:
    if present.permission is None or present.permission != after:
        return ()
    why = "producers may write to the broker already; nothing would change"
    return (Check("something changes", CheckVerdict.WARN, why),)
