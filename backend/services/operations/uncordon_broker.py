"""Let producers come to a broker again."""

from collections.abc import Sequence
from typing import Final

from backend.domain.operation import Operation
from backend.domain.operation_errors import NotUndoable
from backend.domain.orders.broker import UncordonBroker
from backend.domain.plan import Check, CheckVerdict, Plan, PlannedStep, ReadBack, Risk
from backend.services.operations import broker_permissions as permissions
from backend.services.operations.broker_permissions import Present
from backend.services.operations.kind import Kind, OperationContext, StepWork


async def plan(order: UncordonBroker, context: OperationContext) -> Plan:
    """Say what would be permitted.

    Raises:
        BrokerUnknown: the cluster's records hold no such broker.
    """
    present = await permissions.read_present(order, context)
    address = present.broker.address
    after = None if present.permission is None else permissions.with_write(present.permission)
    return Plan(
        summary=f"Producers may use {order.target} ({address}) again",
        risk=Risk.SMALL,
        steps=(PlannedStep("permission", f"Give {address} the right to write"),),
        preconditions=present.preconditions,
        changes=(present.difference(after),),
        impact=(
            f"Producers use {order.group_name} again from their next look at the route on",
            "A broker whose mastership was handed over stays a replica: elect it to have it back",
        ),
        checks=(
            present.check,
            await permissions.check_fencing(present, context),
            *_checks(present, after),
        ),
        way_back="Cordon it",
        facts={"address": address, "permission": after},
    )


def steps(
    _order: UncordonBroker, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Give the right; routes follow by themselves."""
    facts = operation.plan.facts
    return [permissions.permission_work(facts["address"], facts["permission"], context)]


async def verify(
    _order: UncordonBroker, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back what the broker permits."""
    facts = operation.plan.facts
    return [await permissions.read_back(facts["address"], facts["permission"], context)]


def undo(_order: UncordonBroker, _operation: Operation) -> UncordonBroker:
    """Refuse: to keep producers away again is an order of its own, with a plan that counts them.

    Raises:
        NotUndoable: always.
    """
    raise NotUndoable("order it to be cordoned (regent broker cordon): producers feel that")


KIND: Final = Kind("uncordon_broker", UncordonBroker, plan, steps, verify, undo)


def _checks(present: Present, after: int | None) -> tuple[Check, ...]:
    if present.permission is None or present.permission != after:
        return ()
    why = "the broker may be written already; nothing would change"
    return (Check("something changes", CheckVerdict.WARN, why),)
