"""Forget a broker that is gone: delete it from the records of its cluster.

The ids of replicas under a controller are not affected (see `forget_replicas`).
"""

from collections.abc import Mapping
from typing import Final

from backend.db import brokers as broker_rows
from backend.db import protections
from backend.domain.broker import Broker
from backend.domain.orders.broker import ForgetBroker
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
)
from backend.domain.protection import broker_resource, check_unprotected, protection_fact
from backend.operations.actions.brokers import RemoveBroker
from backend.operations.actions.static_topics import name_queues
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups, masters
from backend.operations.planning.broker_permissions import find_broker, settle
from backend.services.logical_queue.leaving import GroupSegments, find_segments


async def read_facts(order: ForgetBroker, context: OperationContext) -> Facts[Broker]:
    """Read the record of the broker, and its protection.

    Raises:
        BrokerUnknown: the records of the cluster hold no such broker.
    """
    broker = await find_broker(order, context)
    of_group = order.cluster_name, order.broker_group_name
    async with context.database.connect() as connection:
        resource = broker_resource(*of_group, broker.address)
        protected = await protections.find_of(connection, [resource])
        held = await broker_rows.list_of_groups(connection, [broker.broker_group_id])
        segments = await find_segments(connection, *of_group)
    is_last = len(held[broker.broker_group_id]) == 1
    return Facts(
        broker,
        (
            Precondition("address", broker.address),
            Precondition("state", broker.state),
            protection_fact(protected),
            Precondition("last registration", broker.last_registered_at.isoformat()),
        ),
        (
            check_unprotected(protected),
            _check(broker),
            *([_check_segments(order, segments)] if is_last else []),
        ),
    )


async def preview(order: ForgetBroker, facts: Facts[Broker], context: OperationContext) -> Plan:
    """Describe what is forgotten with it."""
    broker = facts.seen
    count = await groups.count_topics(
        groups.checked(order.cluster_name, order.broker_group_name), context
    )
    async with context.database.connect() as connection:
        held = await broker_rows.list_of_groups(connection, [broker.broker_group_id])
    others = [one for one in held[broker.broker_group_id] if one.id != broker.id]
    name = f"{broker.name} ({broker.address})"
    action = RemoveBroker(
        order.cluster_name, order.broker_group_name, broker.own_id, broker.address, order.target
    )
    return Plan(
        summary=f"Broker {name} is forgotten",
        risk=Risk.LOSS,
        steps=planned_steps([action]),
        changes=(Difference(str(broker.name), broker.address, None),),
        impact=(
            f"{len(others)} other brokers of {order.broker_group_name} stay"
            if others
            else f"It is the last of {order.broker_group_name}: unless a controller knows the"
            f" group, it goes too, and where its {count} topics were",
            "The broker's disk does not change",
        ),
        checks=facts.checks,
        way_back="Start it: after it registers, its record and its topics exist again",
        loss=f"the record of broker {name}; messages that only its disk holds can't be reached"
        " until it registers again",
        facts={"address": broker.address, "broker_id": broker.own_id},
    )


KIND: Final = Kind(
    "forget_broker", ForgetBroker, read_facts, preview, (RemoveBroker,), settle=settle
)


def _check_segments(order: ForgetBroker, segments: GroupSegments) -> Check:
    """Check whether logical queues are on the broker group, which goes with its last broker."""
    name = "logical queues"
    if segments.led:
        why = f"the broker group leads {_text(segments.led)}: move these first, with force"
        return Check(name, CheckVerdict.BLOCK, why)
    if not segments.held:
        return Check(name, CheckVerdict.PASS, "none has a segment on the broker group")
    why = f"older segments are on the broker group, of {_text(segments.held)}"
    if order.loses_segments:
        return Check(name, CheckVerdict.WARN, f"{why}: their messages can't be read")
    why = f"{why}: wait until these expire, or give up their messages (loses_segments)"
    return Check(name, CheckVerdict.BLOCK, why)


def _text(queues: Mapping[str, tuple[int, ...]]) -> str:
    return masters.shortened(f"{topic} ({name_queues(ids)})" for topic, ids in queues.items())


def _check(broker: Broker) -> Check:
    if broker.is_online:
        why = f"{broker.address} is registered: stop it first (drain it before)"
        return Check("it is gone", CheckVerdict.BLOCK, why)
    return Check("it is gone", CheckVerdict.PASS, "no name server lists it any more")
