"""Lower the protocol version of a broker group, so that a broker of an older release can return."""

from typing import Final

from backend.domain.orders.protocol_version import LowerProtocolVersion
from backend.domain.plan import Check, CheckVerdict, Difference, Plan, Precondition, Risk
from backend.operations.actions.protocol_versions import CompactShares, LimitVersion, LowerVersion
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.services.controller.group_changes import GroupView
from backend.services.controller.replica_groups import describe_group


async def read_facts(order: LowerProtocolVersion, context: OperationContext) -> Facts[GroupView]:
    """Read the version of the group, and its master.

    Raises:
        BrokerGroupNotControlled: the controller has no such group.
    """
    name = groups.checked(order.cluster_name, order.broker_group_name)
    view = await describe_group(name, context.controller)
    facts = (
        *groups.epochs_of(view.group)[:1],
        Precondition("protocol version", str(view.group.protocol_version)),
    )
    return Facts(view, facts)


async def preview(
    order: LowerProtocolVersion, facts: Facts[GroupView], _context: OperationContext
) -> Plan:
    """Say what is written again, and what may join afterwards."""
    group, version = facts.seen.group, order.version
    return Plan(
        summary=f"Broker group {order.target} is lowered to protocol version {version}",
        risk=Risk.SERVICE,
        steps=planned_steps(_actions(order)),
        changes=(
            Difference("protocol version", str(group.protocol_version), str(version)),
            Difference("limit of the version", str(group.version_limit or "none"), str(version)),
        ),
        impact=(
            "The master writes the state of all share queues once more; clients notice nothing",
            f"Brokers of protocol version {version} can join the group afterwards",
            "The version rises again only with an upgrade of the group",
        ),
        checks=(_check_effect(order, facts.seen),),
        way_back="Undo it: the group is upgraded again",
        facts={"version": version},
    )


KIND: Final = Kind(
    "lower_protocol_version",
    LowerProtocolVersion,
    read_facts,
    preview,
    (LimitVersion, CompactShares, LowerVersion),
)


def _actions(order: LowerProtocolVersion) -> list[Action]:
    named = order.cluster_name, order.broker_group_name
    return [
        LimitVersion(*named, order.version),
        CompactShares(*named, order.version),
        LowerVersion(*named, order.version),
    ]


def _check_effect(order: LowerProtocolVersion, view: GroupView) -> Check:
    name, present = "something changes", view.group.protocol_version
    if order.version < present:
        why = f"the group is of protocol version {present}"
        return Check(name, CheckVerdict.PASS, why)
    why = f"the group is of protocol version {present}, which is not above {order.version}"
    return Check(name, CheckVerdict.BLOCK, why)
