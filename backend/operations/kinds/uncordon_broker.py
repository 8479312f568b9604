"""Allow producers to use a broker again."""

from typing import Final

from backend.domain.orders.broker import UncordonBroker
from backend.domain.plan import Check, CheckVerdict, Plan, Risk
from backend.operations.actions.brokers import SetPermission
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import broker_permissions as permissions
from backend.operations.planning.broker_permissions import Present


async def preview(order: UncordonBroker, facts: Facts[Present], context: OperationContext) -> Plan:
    """Describe the new permission."""
    present = facts.seen
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
        steps=planned_steps([action]),
        changes=(present.difference(after),),
        impact=(
            f"Producers use {order.broker_group_name} again after their next route update",
            "A broker that handed over its master role stays a replica: elect it to make it master",
        ),
        checks=(
            *facts.checks,
            await permissions.check_fencing(present, context),
            *_checks(present, after),
        ),
        way_back="Cordon it",
        facts={"address": address, "permission": after},
    )


KIND: Final = Kind(
    "uncordon_broker",
    UncordonBroker,
    permissions.read_facts,
    preview,
    (SetPermission,),
    settle=permissions.settle,
)


def _checks(present: Present, after: int | None) -> tuple[Check, ...]:
    if present.permission is None or present.permission != after:
        return ()
    why = "producers may write to the broker already; nothing would change"
    return (Check("something changes", CheckVerdict.WARN, why),)
