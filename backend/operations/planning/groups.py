"""Read groups under a controller for plans, the journal and the read-back."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from backend.db import replica_groups, topics
from backend.db.replica_groups import PastChange
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.operation import Value
from backend.domain.plan import Agreement, Precondition, ReadBack
from backend.domain.replica_group import ChangeKind, ReplicaGroup
from backend.operations.engine.kind import OperationContext, StepRun
from backend.services.controller.group_changes import BrokerGroupName, GroupView, find_group

POLL_INTERVAL_S: Final = 0.2


def checked(cluster_name: str, broker_group_name: str) -> BrokerGroupName:
    """Return a group's name, if it is valid."""
    return BrokerGroupName(
        check_broker_group_name(broker_group_name), check_cluster_name(cluster_name)
    )


def epochs_of(group: ReplicaGroup | None) -> tuple[Precondition, ...]:
    """Return the epochs of a group as facts of a plan; an unknown group has none."""
    master_epoch = 0 if group is None else group.master_epoch
    set_epoch = 0 if group is None else group.sync_state_set.epoch
    return (
        Precondition("master epoch", str(master_epoch)),
        Precondition("SyncStateSet epoch", str(set_epoch)),
    )


def planned_epoch(preconditions: tuple[Precondition, ...]) -> int:
    """Return the master epoch that a plan was made in."""
    return int(next(one.value for one in preconditions if one.name == "master epoch"))


def value_of(group: ReplicaGroup | None) -> Value:
    """Return the journal's value of a group."""
    if group is None:
        return None
    return _value(
        group.master_id,
        group.master_epoch,
        sorted(group.sync_state_set.members),
        group.sync_state_set.epoch,
        sorted(group.replicas),
    )


async def read_value(name: BrokerGroupName, context: OperationContext) -> Value:
    """Read the journal's value of the present group."""
    view = await find_group(name, context.controller)
    return value_of(None if view is None else view.group)


async def find_effect(run: StepRun, name: BrokerGroupName, context: OperationContext) -> Value:
    """Find the effect of an earlier attempt at a step on a group; None without an effect.

    The change and its cause are one row of the history, written in the change's own statement.
    """
    async with context.database.connect() as connection:
        past = await replica_groups.find_caused(
            connection, name.cluster_name or "", name.broker_group_name, cause=run.cause
        )
    return None if past is None else _past_value(past)


async def count_topics(name: BrokerGroupName, context: OperationContext) -> int:
    """Count the topics that have queues on a group."""
    async with context.database.connect() as connection:
        return await topics.count_of_group(
            connection, name.cluster_name or "", name.broker_group_name
        )


async def await_view(
    name: BrokerGroupName,
    context: OperationContext,
    holds: Callable[[GroupView | None], bool],
    *,
    patience_s: float,
) -> GroupView | None:
    """Read a group until a condition holds or the time ends; return its last state."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience_s
    while True:
        view = await find_group(name, context.controller)
        if holds(view) or loop.time() >= deadline:
            return view
        await asyncio.sleep(POLL_INTERVAL_S)


def find_heir(view: GroupView, *, among: Collection[int]) -> int | None:
    """Find the best successor of a master in its set; None if no living member is suitable."""
    members = view.group.sync_state_set.members & set(among)
    heirs = view.liveness.alive_ids & members - {view.group.master_id}
    reports = view.liveness.reports

    def rank(broker_id: int) -> tuple[bool, bool, int, int]:
        # Prefer a writable replica with a verified log; among those, the longest log has the least
        # to copy before it serves.
        report = reports[broker_id]
        return (report.is_verified, not report.is_cordoned, report.max_offset, -broker_id)

    return max(heirs, key=rank, default=None)


def compare(what: str, intended: object, observed: object | None) -> ReadBack:
    """Compare an observed value with the intended one; None means unknown."""
    if observed is None:
        return ReadBack(what, str(intended), None, Agreement.UNKNOWN)
    agreement = Agreement.AGREES if observed == intended else Agreement.DIFFERS
    return ReadBack(what, str(intended), str(observed), agreement)


def ids_text(ids: Collection[int]) -> str:
    """Write broker ids as a set, an empty set as a word."""
    return "{" + ", ".join(str(i) for i in sorted(ids)) + "}" if ids else "none"


def _past_value(past: PastChange) -> Mapping[str, Any]:
    if past.kind is ChangeKind.GROUP_REMOVED:
        return _value(None, past.master_epoch, [], past.sync_state_set.epoch, [])
    return _value(
        past.master_id,
        past.master_epoch,
        sorted(past.sync_state_set.members),
        past.sync_state_set.epoch,
        sorted(past.replica_addresses),
    )


def _value(
    master_id: int | None,
    master_epoch: int,
    sync_state_set: list[int],
    sync_state_set_epoch: int,
    replica_ids: list[int],
) -> dict[str, Any]:
    return {
        "master_id": master_id,
        "master_epoch": master_epoch,
        "sync_state_set": sync_state_set,
        "sync_state_set_epoch": sync_state_set_epoch,
        "replica_ids": replica_ids,
    }
