"""Upgrade a broker group without downtime: one broker after the other, the master last (Q72)."""

from dataclasses import replace
from typing import Final

from backend.domain.orders.protocol_version import UpgradeBrokerGroup
from backend.domain.plan import (
    Check,
    CheckVerdict,
    Difference,
    Plan,
    Precondition,
    Risk,
    no_undo,
)
from backend.domain.replica_group import Replica
from backend.operations.actions.protocol_versions import (
    NO_FORMER_RELEASE,
    AwaitUpgrade,
    AwaitVersion,
    LeaveMaster,
    find_late,
)
from backend.operations.actions.replica_groups import AwaitFollowers
from backend.operations.engine.kind import Action, Facts, Kind, OperationContext
from backend.operations.engine.steps import planned_steps
from backend.operations.planning import groups
from backend.operations.planning.replication import check_losses
from backend.remoting.request_code import PROTOCOL_VERSION
from backend.services.controller.group_changes import GroupView
from backend.services.controller.replica_groups import describe_group


async def settle(order: UpgradeBrokerGroup, _context: OperationContext) -> UpgradeBrokerGroup:
    """Name the version, if the order leaves it open."""
    return replace(order, version=PROTOCOL_VERSION) if order.version is None else order


async def read_facts(order: UpgradeBrokerGroup, context: OperationContext) -> Facts[GroupView]:
    """Read the version of each broker.

    Raises:
        BrokerGroupNotControlled: the controller has no such group.
    """
    name = groups.checked(order.cluster_name, order.broker_group_name)
    view = await describe_group(name, context.controller)
    facts = (
        *groups.epochs_of(view.group)[:1],
        *(
            Precondition(f"version of broker {one.broker_id}", version_text(one))
            for one in _ordered(view)
        ),
    )
    return Facts(view, facts)


async def preview(
    order: UpgradeBrokerGroup, facts: Facts[GroupView], context: OperationContext
) -> Plan:
    """Say in which order the brokers are restarted, and what clients notice."""
    view, version = facts.seen, _version(order)
    older = list_older(view, version)
    return Plan(
        summary=f"The brokers of {order.target} are upgraded to protocol version {version}",
        risk=Risk.SERVICE,
        steps=planned_steps(_actions(order, view)),
        changes=(
            Difference("protocol version", str(view.group.protocol_version), str(version)),
            *_limit_change(view, version),
            *(
                Difference(f"version of broker {one.broker_id}", version_text(one), str(version))
                for one in older
            ),
        ),
        impact=(
            "Restart a broker only when the operation names it: the others serve meanwhile",
            "The master hands over before its restart; sends wait or are refused for that moment",
            "Once each broker has the version, no broker of an older release can join",
        ),
        checks=(
            _check_effect(view, version),
            _check_version(version),
            _check_members(view),
            _check_copies(view),
            _check_strangers(view),
            *await check_losses(order.cluster_name, order.broker_group_name, context),
        ),
        way_back=no_undo(NO_FORMER_RELEASE),
        facts={"version": version, "broker_ids": [one.broker_id for one in older]},
    )


KIND: Final = Kind(
    "upgrade_broker_group",
    UpgradeBrokerGroup,
    read_facts,
    preview,
    (AwaitUpgrade, LeaveMaster, AwaitFollowers, AwaitVersion),
    settle=settle,
)


def version_text(replica: Replica) -> str:
    """Write the version of a broker."""
    version = replica.protocol_version
    return "none, of RocketMQ" if version is None else str(version)


def list_older(view: GroupView, version: int) -> list[Replica]:
    """List the brokers that are older than a version, in the order of their upgrade."""
    return [
        one
        for one in _ordered(view)
        if one.protocol_version is not None and one.protocol_version < version
    ]


def _version(order: UpgradeBrokerGroup) -> int:
    return PROTOCOL_VERSION if order.version is None else order.version


def _ordered(view: GroupView) -> list[Replica]:
    """Sort the brokers: the master last, so that the group changes its master once."""
    replicas = view.group.replicas.values()
    return sorted(replicas, key=lambda one: (one.broker_id == view.group.master_id, one.broker_id))


def _actions(order: UpgradeBrokerGroup, view: GroupView) -> list[Action]:
    named = order.cluster_name, order.broker_group_name
    version = _version(order)
    actions: list[Action] = []
    for one in list_older(view, version):
        is_master = one.broker_id == view.group.master_id
        if is_master and len(view.group.replicas) > 1:
            actions += [LeaveMaster(*named, one.broker_id, version), AwaitFollowers(*named)]
        actions.append(AwaitUpgrade(*named, one.broker_id, version))
    actions.append(AwaitVersion(*named, version))
    return actions


def _limit_change(view: GroupView, version: int) -> list[Difference]:
    limit = view.group.version_limit
    is_ended = limit is not None and limit < version
    return [Difference("limit of the version", str(limit), "none")] if is_ended else []


def _check_effect(view: GroupView, version: int) -> Check:
    name = "something changes"
    older = list_older(view, version)
    if older:
        why = f"{len(older)} of {len(view.group.replicas)} brokers are older than {version}"
        return Check(name, CheckVerdict.PASS, why)
    if view.group.protocol_version < version:
        why = f"each broker has version {version}, and the group gets it"
        return Check(name, CheckVerdict.PASS, why)
    if view.group.written_version < version:
        why = f"the master writes version {view.group.written_version} until the limit ends"
        return Check(name, CheckVerdict.PASS, why)
    why = f"the group and each of its brokers have protocol version {version} already"
    return Check(name, CheckVerdict.BLOCK, why)


def _check_version(version: int) -> Check:
    name = "the version is known"
    if version <= PROTOCOL_VERSION:
        return Check(name, CheckVerdict.PASS, f"the newest that is known is {PROTOCOL_VERSION}")
    why = (
        f"the control plane knows the versions up to {PROTOCOL_VERSION}: upgrade it first, or name"
        " one of these"
    )
    return Check(name, CheckVerdict.BLOCK, why)


def _check_members(view: GroupView) -> Check:
    name = "other brokers"
    if len(view.liveness.alive_ids & view.group.replicas.keys()) > 1:
        return Check(name, CheckVerdict.PASS, "another broker serves while one restarts")
    why = "no other broker is alive: clients get no service while this one restarts"
    return Check(name, CheckVerdict.WARN, why)


def _check_copies(view: GroupView) -> Check:
    late = find_late(view)
    if not late:
        return Check("SyncStateSet", CheckVerdict.PASS, "each living broker is in sync")
    why = f"{groups.ids_text(late)} are not in sync: the operation waits for them"
    return Check("SyncStateSet", CheckVerdict.WARN, why)


def _check_strangers(view: GroupView) -> Check:
    name = "brokers of RocketMQ"
    found = [one.broker_id for one in _ordered(view) if one.protocol_version is None]
    if not found:
        return Check(name, CheckVerdict.PASS, "the group has none")
    why = f"{groups.ids_text(found)} have no version, and are left as they are"
    return Check(name, CheckVerdict.WARN, why)
