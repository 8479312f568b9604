"""Carry out one change of a controller's group: decide, write, and retry if the group changed.

Every process of the control plane may do it at any moment (D1). The first attempt uses the state
that this process wrote or read last, and the heartbeats that it received: if Postgres accepts the
change, that state was current. A refusal, or a decision to change nothing, is made from the state
as it was read last. So the answer is correct even if another process was faster.
"""

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol
from uuid import UUID

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db import broker_groups, clusters, group_notices, replica_groups
from backend.db.engine import Connection, Database
from backend.db.pipeline import Pipeline, pipeline_of
from backend.db.replica_groups import Heard, HeldGroup
from backend.db.replica_reports import ReplicaKey
from backend.domain.controller_figures import ElectionTally
from backend.domain.election import Liveness, ReplicaReport
from backend.domain.errors import BrokerGroupAmbiguous, BrokerGroupBusy, DomainError
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.replica_group import Change, ChangeKind, LeasePolicy, ReplicaGroup
from backend.rules.group_mode import GroupMode

ATTEMPTS_MAX: Final = 16
KNOWN_GROUPS_MAX: Final = 10_000


class HeartbeatSource(Protocol):
    """Give the reports that this process received from replicas, exact to the millisecond."""

    @property
    def id(self) -> UUID:
        """Return the id of the process."""
        ...

    def reports_of(self, cluster_name: str, broker_group_name: str) -> Mapping[int, ReplicaReport]:
        """Return the reports of a group's replicas, by broker id."""
        ...

    def promise_lease(self, key: ReplicaKey) -> int:
        """Return the duration in ms of the lease that the last heartbeat asked for."""
        ...


class KnownGroups:
    """Hold groups as this process wrote or read them last; any may have changed since.

    A change takes the group out, so that of two changes at once only one uses it.
    """

    def __init__(self) -> None:
        self._groups: OrderedDict[tuple[str, str], HeldGroup] = OrderedDict()

    def keep(self, held: HeldGroup) -> None:
        """Keep a group, unless a later state of it is kept."""
        key = (held.group.cluster_name, held.group.name)
        kept = self._groups.get(key)
        if kept is None or kept.revision <= held.revision:
            self._groups[key] = held
            self._groups.move_to_end(key)
        if len(self._groups) > KNOWN_GROUPS_MAX:
            self._groups.popitem(last=False)

    def find(self, cluster_name: str, broker_group_name: str) -> HeldGroup | None:
        """Find a group."""
        return self._groups.get((cluster_name, broker_group_name))

    def take(self, name: "BrokerGroupName") -> HeldGroup | None:
        """Take a group out.

        A group that is named without its cluster must be read from Postgres.
        """
        if name.cluster_name is None:
            return None
        return self._groups.pop((name.cluster_name, name.broker_group_name), None)

    def drop_before(self, revision: int, cluster_name: str, broker_group_name: str) -> None:
        """Remove a group that another process has changed since."""
        held = self.find(cluster_name, broker_group_name)
        if held is not None and held.revision < revision:
            del self._groups[cluster_name, broker_group_name]


Notify = Callable[[int], None]
"""Sends the prepared notices: the change is committed in this revision."""
Listener = Callable[[ReplicaGroup], Notify]
"""Prepares the notices of an election while Postgres still writes it."""


@dataclass(frozen=True, slots=True)
class Controller:
    """Hold the dependencies of the use cases of the controller."""

    database: Database
    clock: Clock
    heartbeat_source: HeartbeatSource
    # The lease policy of new groups.
    lease_policy: LeasePolicy = LeasePolicy.QUORUM
    allows_unclean: bool = False
    known: KnownGroups = field(default_factory=KnownGroups)
    # Called immediately after an election that this process has committed.
    listeners: list[Listener] = field(default_factory=list)
    elections: ElectionTally = field(default_factory=ElectionTally)
    # Used to ask a master for a handover before another is elected. Without it no master is asked.
    brokers: Brokers | None = None


@dataclass(frozen=True, slots=True)
class BrokerGroupName:
    """Name a group; without a cluster, the only group of this name in all clusters (D2)."""

    broker_group_name: str
    cluster_name: str | None = None

    def __post_init__(self) -> None:
        """Refuse an invalid name before it is used in a query.

        Raises:
            InvalidName: the name of the group or of the cluster is invalid.
        """
        check_broker_group_name(self.broker_group_name)
        if self.cluster_name is not None:
            check_cluster_name(self.cluster_name)


@dataclass(frozen=True, slots=True)
class GroupView:
    """Hold a group, its living replicas, and the change that led to this state, if any."""

    group: ReplicaGroup
    liveness: Liveness
    change: Change | None = None


Decide = Callable[[ReplicaGroup | None, Liveness], Change | None]
Guard = Callable[[Connection], Awaitable[None]]
"""Raises, within the transaction that writes a change, unless the change may still be made."""


async def find_group(name: BrokerGroupName, controller: Controller) -> GroupView | None:
    """Find a group as it is now.

    Raises:
        BrokerGroupAmbiguous: several clusters have a group of that name.
    """
    held = await _read(name, controller)
    return (
        None
        if held is None
        else GroupView(held.group, _liveness(held, controller.heartbeat_source))
    )


async def find_groups(names: Sequence[BrokerGroupName], controller: Controller) -> list[GroupView]:
    """Find the groups of these names that exist, in one statement.

    Raises:
        BrokerGroupAmbiguous: several clusters have a group of one of the names.
    """
    held = await replica_groups.list_named(
        pipeline_of(controller.database),
        [name.broker_group_name for name in names],
        cluster_name=None,
        heard_by=controller.heartbeat_source.id,
    )
    found = (_only(name, held) for name in names)
    return [
        GroupView(one.group, _liveness(one, controller.heartbeat_source))
        for one in found
        if one is not None
    ]


async def change_group(
    name: BrokerGroupName,
    decide: Decide,
    controller: Controller,
    *,
    cause: str,
    guard: Guard | None = None,
) -> GroupView | None:
    """Change a group as decided from its present state, and return the new state.

    With a guard, the change is written only if the guard allows it.

    Raises:
        BrokerGroupAmbiguous: several clusters have a group of that name. BrokerGroupBusy: other
        processes were faster in each attempt. DomainError: an error of the decision or of the
        guard.
    """
    if guard is None:
        view = await _change_known(name, decide, controller, cause)
        if view is not None:
            return view
    for _ in range(ATTEMPTS_MAX):
        held = await _read(name, controller)
        liveness = Liveness() if held is None else _liveness(held, controller.heartbeat_source)
        change = decide(None if held is None else held.group, liveness)
        if change is None:
            return None if held is None else GroupView(held.group, liveness)
        if held is None:
            was_written = await _begin(change, controller, cause, guard)
        else:
            was_written = await _write_and_keep(change, held, controller, cause, guard=guard)
        if was_written:
            return None if change.after is None else GroupView(change.after, liveness, change)
    raise BrokerGroupBusy(name.broker_group_name)


async def _change_known(
    name: BrokerGroupName, decide: Decide, controller: Controller, cause: str
) -> GroupView | None:
    """Change a group from the state that this process keeps, if that state is still current."""
    held = controller.known.take(name)
    if held is None:
        return None
    group, heartbeat_source = held.group, controller.heartbeat_source
    liveness = Liveness(heartbeat_source.reports_of(group.cluster_name, group.name))
    try:
        change = decide(group, liveness)
    except DomainError:
        return None
    if change is None or change.after is None:
        return None
    heard = Heard(heartbeat_source.id, {i: s.age_ms for i, s in liveness.reports.items()})
    was_written = await _write_and_keep(change, held, controller, cause, heard=heard)
    return GroupView(change.after, liveness, change) if was_written else None


async def _read(name: BrokerGroupName, controller: Controller) -> HeldGroup | None:
    found = await replica_groups.list_named(
        pipeline_of(controller.database),
        [name.broker_group_name],
        cluster_name=name.cluster_name,
        heard_by=controller.heartbeat_source.id,
    )
    held = _only(name, found)
    if held is not None:
        controller.known.keep(held)
    return held


def _only(name: BrokerGroupName, found: Sequence[HeldGroup]) -> HeldGroup | None:
    meant = [
        held
        for held in found
        if held.group.name == name.broker_group_name
        and name.cluster_name in (None, held.group.cluster_name)
    ]
    if len(meant) > 1:
        raise BrokerGroupAmbiguous(name.broker_group_name)
    return meant[0] if meant else None


def _liveness(held: HeldGroup, heartbeat_source: HeartbeatSource) -> Liveness:
    own = heartbeat_source.reports_of(held.group.cluster_name, held.group.name)
    others = held.liveness.reports
    fresher = {
        broker_id: report
        for broker_id, report in own.items()
        if broker_id not in others or report.age_ms <= others[broker_id].age_ms
    }
    return replace(held.liveness, reports={**others, **fresher})


async def _write_and_keep(
    change: Change,
    held: HeldGroup,
    controller: Controller,
    cause: str,
    *,
    heard: Heard | None = None,
    guard: Guard | None = None,
) -> bool:
    after, prepared = change.after, list[Notify]()

    def prepare() -> None:
        if after is not None and change.kind is ChangeKind.MASTER_ELECTED:
            prepared.extend(listener(after) for listener in controller.listeners)

    if guard is None:
        pipeline = pipeline_of(controller.database)
        revision = await _write(
            pipeline, change, held, controller, cause, heard=heard, meanwhile=prepare
        )
    else:
        async with controller.database.begin() as connection:
            await guard(connection)
            revision = await _write(connection, change, held, controller, cause, meanwhile=prepare)
            await _notify_processes(connection, change, revision)
    if revision is None:
        return False
    for tell in prepared:
        tell(revision)
    if after is not None:
        controller.known.keep(HeldGroup(held.id, revision, after, Liveness()))
    if guard is None:
        await _notify_processes(pipeline, change, revision)
    return True


async def _notify_processes(
    runner: Pipeline | Connection, change: Change, revision: int | None
) -> None:
    if revision is not None:
        await group_notices.send(runner, change, revision)


async def _write(
    runner: Pipeline | Connection,
    change: Change,
    held: HeldGroup,
    controller: Controller,
    cause: str,
    *,
    heard: Heard | None = None,
    meanwhile: Callable[[], None] | None = None,
) -> int | None:
    after = change.after
    winner_id = None
    if after is not None and change.kind is ChangeKind.MASTER_ELECTED:
        winner_id = after.master_id
    before = change.before
    return await replica_groups.write(
        runner,
        change,
        broker_group_id=held.id,
        revision=held.revision,
        cause=cause,
        at=controller.clock.now(),
        lease_ms=0
        if winner_id is None
        else controller.heartbeat_source.promise_lease(
            (before.cluster_name, before.name, winner_id)
        ),
        heard=heard,
        meanwhile=meanwhile,
    )


async def _begin(change: Change, controller: Controller, cause: str, guard: Guard | None) -> bool:
    """Insert the first row of a group, with the rows that it refers to."""
    async with controller.database.begin() as connection:
        if guard is not None:
            await guard(connection)
        now = controller.clock.now()
        before = change.before
        cluster_id = await clusters.find_or_add(connection, before.cluster_name, at=now)
        group_id = await broker_groups.find_or_add(
            connection, cluster_id, before.name, mode=GroupMode.CONTROLLER, at=now
        )
        if not await replica_groups.add(connection, group_id, before.lease_policy):
            return False
        begun = HeldGroup(group_id, 0, before, Liveness())
        revision = await _write(connection, change, begun, controller, cause)
        await _notify_processes(connection, change, revision)
        return revision is not None
