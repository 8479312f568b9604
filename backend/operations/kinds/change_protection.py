"""Protect a topic, a consumer group or a broker from deletion, or unprotect it (console 1.2).

The protection is a row of the control plane, unknown to brokers. It blocks the plans of deletions,
but not a tool that sends requests directly to a broker.
"""

from typing import Final

from backend.db import brokers, clusters, protections, topics
from backend.domain.names import check_address, check_broker_group_name, check_cluster_name
from backend.domain.orders.protection import ChangeProtection
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
)
from backend.domain.protection import (
    UNPROTECTED,
    Protection,
    ResourceKind,
    protection_text,
    split_broker_name,
)
from backend.operations.actions.protections import SetProtection
from backend.operations.engine.kind import Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import group_settings, masters

WHAT_DELETES: Final = {
    ResourceKind.TOPIC: "delete_topic, and of delete_consumer_group that cleans it up,",
    ResourceKind.CONSUMER_GROUP: "delete_consumer_group",
    ResourceKind.BROKER: "forget_broker and forget_replicas",
}


async def read_facts(
    order: ChangeProtection, context: OperationContext
) -> Facts[Protection | None]:
    """Read who protects the object now.

    Raises:
        InvalidName: the name is invalid for this kind of object.
        InvalidAddress: the address of the broker is invalid.
        ClusterNotFound: the cluster does not exist.
    """
    _check_name(order)
    async with context.database.connect() as connection:
        await clusters.get(connection, order.cluster_name)
        former = await protections.find(connection, order.resource)
    return Facts(former, (Precondition("deletion protection", protection_text(former)),))


async def preview(
    order: ChangeProtection, facts: Facts[Protection | None], context: OperationContext
) -> Plan:
    """Describe what the change blocks or allows."""
    former, is_lifted = facts.seen, not order.is_protected
    deletes = WHAT_DELETES[order.resource_kind]
    wanted = UNPROTECTED if is_lifted else "by the user who confirms this"
    is_changed = (former is None) is order.is_protected
    becomes = "can be deleted again" if is_lifted else "is protected from deletion"
    action = SetProtection(
        order.cluster_name, order.resource_kind, order.resource_name, order.is_protected
    )
    return Plan(
        summary=f"{order.what[0].upper()}{order.what[1:]} {becomes}",
        risk=Risk.SERVICE if is_lifted else Risk.SMALL,
        steps=planned_steps([action]),
        changes=(Difference("deletion protection", protection_text(former), wanted),)
        if is_changed
        else (),
        impact=(
            f"Plans of {deletes} are {'possible again' if is_lifted else 'blocked'}",
            "Plans that delete them and are not confirmed yet expire",
            "Brokers do not check it: RocketMQ tools that ask a broker directly can delete",
        ),
        checks=(_check_change(is_changed=is_changed), await _check_known(order, context)),
        way_back="Protect it again; who protected it before stays in the audit"
        if is_lifted
        else "Lift it",
    )


KIND: Final = Kind("change_protection", ChangeProtection, read_facts, preview, (SetProtection,))


def _check_name(order: ChangeProtection) -> None:
    check_cluster_name(order.cluster_name)
    if order.resource_kind is ResourceKind.TOPIC:
        masters.check_topic(order.resource_name)
    elif order.resource_kind is ResourceKind.CONSUMER_GROUP:
        masters.check_consumer_group(order.resource_name)
    else:
        broker_group_name, address = split_broker_name(order.resource_name)
        check_broker_group_name(broker_group_name)
        check_address(address)


def _check_change(*, is_changed: bool) -> Check:
    name = "something changes"
    if is_changed:
        return Check(name, CheckVerdict.PASS, "the protection differs now")
    return Check(name, CheckVerdict.WARN, "the protection is so already; nothing would change")


async def _check_known(order: ChangeProtection, context: OperationContext) -> Check:
    """Warn if no object has the name: it may be a typing error."""
    name = "it is there"
    known = await _is_known(order, context)
    if known is None:
        return Check(name, CheckVerdict.WARN, "not reported: no master that answers knows it")
    if known:
        return Check(name, CheckVerdict.PASS, f"the cluster knows the {order.what}")
    why = f"the cluster knows no {order.what} now: the protection holds for the name"
    return Check(name, CheckVerdict.WARN, why)


async def _is_known(order: ChangeProtection, context: OperationContext) -> bool | None:
    cluster_name, name = order.cluster_name, order.resource_name
    if order.resource_kind is ResourceKind.CONSUMER_GROUP:
        settings = await group_settings.read_settings(cluster_name, name, (), context)
        if settings.held:
            return True
        return None if settings.answers.silent or settings.meant.missing else False
    async with context.database.connect() as connection:
        if order.resource_kind is ResourceKind.TOPIC:
            return bool(await topics.list_groups_of(connection, cluster_name, name))
        broker_group_name, address = split_broker_name(name)
        found = await brokers.find(connection, cluster_name, broker_group_name, address=address)
        return found is not None
