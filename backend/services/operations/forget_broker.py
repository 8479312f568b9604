"""Forget a broker that is gone: take it out of the records of its cluster.

The ids of replicas under a controller are another matter (`forget_replicas`).
"""

from collections.abc import Sequence
from typing import Final

from backend.db import broker_groups, clusters, events, placements, protections
from backend.db import brokers as broker_rows
from backend.domain.broker import Broker
from backend.domain.event import TOPIC_REMOVED, tell_topics
from backend.domain.operation import Operation, Value
from backend.domain.operation_errors import BrokerStillCounted, NotUndoable
from backend.domain.orders.broker import ForgetBroker
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    PlannedStep,
    Precondition,
    ReadBack,
    Risk,
)
from backend.domain.protection import broker_resource, check_unprotected, protection_fact
from backend.services.operations import groups
from backend.services.operations.broker_permissions import find_broker
from backend.services.operations.kind import Kind, OperationContext, StepRun, StepWork


async def plan(order: ForgetBroker, context: OperationContext) -> Plan:
    """Say what would be forgotten with it.

    Raises:
        BrokerUnknown: the cluster's records hold no such broker.
    """
    broker = await find_broker(order, context)
    count = await groups.count_topics(groups.checked(order.cluster_name, order.group_name), context)
    async with context.database.connect() as connection:
        held = await broker_rows.list_of_groups(connection, [broker.broker_group_id])
        resource = broker_resource(order.cluster_name, order.group_name, broker.address)
        protected = await protections.find_of(connection, [resource])
    others = [one for one in held[broker.broker_group_id] if one.id != broker.id]
    name = f"broker {broker.broker_id} of {order.group_name} ({broker.address})"
    return Plan(
        summary=f"Broker {broker.broker_id} of {order.group_name} ({broker.address}) is forgotten",
        risk=Risk.LOSS,
        steps=(PlannedStep("forget", f"Remove {name} from the records"),),
        preconditions=(
            Precondition("address", broker.address),
            Precondition("state", broker.state),
            protection_fact(protected),
            Precondition("last registration", broker.last_registered_at.isoformat()),
        ),
        changes=(Difference(f"{order.group_name}/{broker.broker_id}", broker.address, None),),
        impact=(
            f"{len(others)} other brokers of {order.group_name} stay"
            if others
            else f"It is the last of {order.group_name}: unless a controller knows the group, it"
            f" goes too, and where its {count} topics were",
            "Nothing on the broker's own disk changes",
        ),
        checks=(check_unprotected(protected), _check(broker)),
        way_back="Start it: a broker that registers is in the records again, with its topics",
        loss=f"the record of {name}; messages that only its disk holds can't be reached until it"
        " registers again",
        facts={"address": broker.address, "broker_id": broker.broker_id},
    )


def steps(
    order: ForgetBroker, operation: Operation, context: OperationContext
) -> Sequence[StepWork]:
    """Forget, in one transaction."""
    facts = operation.plan.facts
    broker_id, address = facts["broker_id"], facts["address"]

    async def read() -> Value:
        return await _read(order, broker_id, address, context)

    async def forget(run: StepRun) -> Value:
        async with context.database.begin() as connection:
            await run.guard(connection)
            group_id = await broker_rows.remove(
                connection,
                order.cluster_name,
                order.group_name,
                broker_id=broker_id,
                address=address,
            )
            if group_id is not None:
                if await broker_groups.is_forsaken(connection, group_id):
                    held = await placements.remove_of_group(connection, group_id)
                    of_group = order.cluster_name, order.group_name
                    told = tell_topics(TOPIC_REMOVED, *of_group, held, at=context.clock.now())
                    await events.stage(connection, [*told])
                    await broker_groups.remove(connection, group_id)
                cluster = await clusters.get(connection, order.cluster_name)
                await clusters.raise_route_version(connection, cluster.id, at=context.clock.now())
        left = await read()
        if left is not None:
            # It has registered since the plan was made.
            raise BrokerStillCounted(order.group_name, broker_id)
        return left

    return [StepWork(read, forget)]


async def verify(
    order: ForgetBroker, operation: Operation, context: OperationContext
) -> list[ReadBack]:
    """Read back that no record of it is left."""
    facts = operation.plan.facts
    left = await _read(order, facts["broker_id"], facts["address"], context)
    told = "none" if left is None else left["state"]
    return [groups.compare(f"record of {order.target}", "none", told)]


def undo(_order: ForgetBroker, _operation: Operation) -> ForgetBroker:
    """Refuse: only the broker itself comes back.

    Raises:
        NotUndoable: always.
    """
    raise NotUndoable("start the broker: it registers, and is in the records again")


KIND: Final = Kind("forget_broker", ForgetBroker, plan, steps, verify, undo)


async def _read(
    order: ForgetBroker, broker_id: int, address: str, context: OperationContext
) -> Value:
    async with context.database.connect() as connection:
        found = await broker_rows.find(
            connection,
            order.cluster_name,
            order.group_name,
            broker_id=broker_id,
            address=address,
        )
    if found is None:
        return None
    return {"broker_id": found.broker_id, "address": found.address, "state": found.state}


def _check(broker: Broker) -> Check:
    if broker.is_online:
        why = f"{broker.address} is registered: stop it first (drain it before)"
        return Check("it is gone", CheckVerdict.BLOCK, why)
    return Check("it is gone", CheckVerdict.PASS, "no name server counts on it any more")
