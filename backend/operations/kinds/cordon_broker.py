"""Keep producers away from a broker, which still serves its consumers."""

from typing import Final

from backend.domain.orders.broker import BrokerOrder, CordonBroker
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.operations.actions.brokers import AwaitRoutes, SetPermission
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import broker_permissions as permissions
from backend.operations.planning import groups, writers
from backend.operations.planning.broker_permissions import Present
from backend.operations.planning.groups import count_topics


async def preview(order: CordonBroker, facts: Facts[Present], context: OperationContext) -> Plan:
    """Name the producers that must use other brokers, and those that have no other."""
    present = facts.seen
    address, after = present.broker.address, present.without_write
    return Plan(
        summary=f"Producers leave {order.target} ({address}); consumers stay",
        risk=Risk.SERVICE,
        steps=planned_steps([take_write(order, present), await_routes(order, present)]),
        changes=(present.difference(after),),
        impact=await describe_impact(order, present, context),
        checks=(
            *facts.checks,
            await permissions.check_fencing(present, context),
            await writers.check_cordon(
                order.cluster_name, order.broker_group_name, address, database=context.database
            ),
            await permissions.check_other_queues(order, context),
            *check_effect(present, after),
        ),
        way_back="Uncordon it: the broker is writable again, and routes contain it again",
        facts={"address": address, "permission": after},
    )


def take_write(order: BrokerOrder, present: Present) -> SetPermission:
    """Remove the write permission of a broker."""
    return SetPermission(
        order.cluster_name,
        order.broker_group_name,
        order.broker_id,
        present.broker.address,
        present.without_write,
        takes_write=True,
    )


def await_routes(order: BrokerOrder, present: Present) -> AwaitRoutes:
    """Wait until routes send no producer to a broker."""
    return AwaitRoutes(
        order.cluster_name, order.broker_group_name, order.broker_id, present.broker.address
    )


async def describe_impact(
    order: BrokerOrder, present: Present, context: OperationContext
) -> tuple[str, ...]:
    """Name the clients that are affected if a broker is no longer written."""
    count = await count_topics(groups.checked(order.cluster_name, order.broker_group_name), context)
    if not present.broker.is_master:
        return ("A replica takes no sends; as master it would also take none",)
    leaving = (
        f"Producers of the {count} topics placed on {order.broker_group_name} use other groups"
        " from their next look at the route on, within 30 s; until then what they send is taken"
    )
    refused = (
        "Sends to ordered topics are refused immediately, as RocketMQ does. So are messages that"
        " consumers send back; their clients then send them to another broker"
    )
    return leaving, refused


def check_effect(present: Present, after: int | None) -> tuple[Check, ...]:
    """Warn if nothing would change."""
    if present.permission is None or present.permission != after:
        return ()
    why = "the broker is not writable already; nothing would change"
    return (Check("something changes", CheckVerdict.WARN, why),)


KIND: Final = Kind(
    "cordon_broker",
    CordonBroker,
    permissions.read_facts,
    preview,
    (SetPermission, AwaitRoutes),
    settle=permissions.settle,
)
