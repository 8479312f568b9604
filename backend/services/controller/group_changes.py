"""Carry one change of a controller's group out: decide, write if nothing moved, or read and again.

Every process of the control plane may do it at any moment (D1). The first attempt is made from the
state that this process wrote or read last, and from what it hears itself: a change that Postgres
takes was decided from the truth. What is refused, or leaves all as it is, was decided from the
state as it was read last, so the caller is told the truth whoever wins a race.
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
from backend.domain.broker_group import GroupMode
from backend.domain.controller_figures import ElectionTally
from backend.domain.election import Liveness, ReplicaReport
from backend.domain.errors import BrokerGroupAmbiguous, BrokerGroupBusy, DomainError
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.replica_group import Change, ChangeKind, LeasePolicy, ReplicaGroup

ATTEMPTS_MAX: Final = 16
KNOWN_GROUPS_MAX: Final = 10_000


class HeartbeatSource(Protocol):
    """Say what this process itself hears of replicas, to the millisecond."""

    @property
    def id(self) -> UUID:
        """Name the process among those of the control plane."""
        ...

    def reports_of(self, cluster_name: str, broker_group_name: str) -> Mapping[int, ReplicaReport]:
        """Return what was heard of a group's replicas, by broker id."""
        ...

    def promise_lease(self, key: ReplicaKey) -> int:
        """Say how long a lease would last, in ms, that was asked for with the last heartbeat."""
        ...


class KnownGroups:
    """Hold groups as this process wrote or read them last; any may have changed since.

    Who wants to change one takes it out, so that of two at once only one relies on it.
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
        """Take a group out; one that is named without its cluster is looked for in Postgres."""
        if name.cluster_name is None:
            return None
        return self._groups.pop((name.cluster_name, name.broker_group_name), None)

    def drop_before(self, revision: int, cluster_name: str, broker_group_name: str) -> None:
        """Forget a group of which another process has made a later state."""
        held = self.find(cluster_name, broker_group_name)
        if held is not None and held.revision < revision:
            del self._groups[cluster_name, broker_group_name]


Tell = Callable[[int], None]
"""Tells what was prepared: it is committed, in this revision."""
Listener = Callable[[ReplicaGroup], Tell]
"""Prepares to tell of an election, while Postgres still writes it."""


@dataclass(frozen=True, slots=True)
class Controller:
    """Hold what a use case of the controller works with."""

    database: Database
    clock: Clock
    heartbeat_source: HeartbeatSource
    # The policy that new groups begin with.
    lease_policy: LeasePolicy = LeasePolicy.QUORUM
    allows_unclean: bool = False
    known: KnownGroups = field(default_factory=KnownGroups)
    # Who hears of an election at once that this process has committed.
    listeners: list[Listener] = field(default_factory=list)
    elections: ElectionTally = field(default_factory=ElectionTally)
    # Asked to hand over before another is elected; without it, nobody is.
    brokers: Brokers | None = None


@dataclass(frozen=True, slots=True)
class BrokerGroupName:
    """Name a group; without a cluster, the only one so called in all clusters (D2)."""

    broker_group_name: str
    cluster_name: str | None = None

    def __post_init__(self) -> None:
        """Refuse what can't be a name, before anything is asked for it.

        Raises:
            InvalidName: no group or no cluster may be called so.
        """
        check_broker_group_name(self.broker_group_name)
        if self.cluster_name is not None:
            check_cluster_name(self.cluster_name)


@dataclass(frozen=True, slots=True)
class GroupView:
    """Hold a group, who of it is alive, and the change that led here if there was one."""

    group: ReplicaGroup
    liveness: Liveness
    change: Change | None = None


Decide = Callable[[ReplicaGroup | None, Liveness], Change | None]
Guard = Callable[[Connection], Awaitable[None]]
"""Raises, within the transaction that writes a change, unless the change may still be made."""


async def find_group(name: BrokerGroupName, controller: Controller) -> GroupView | None:
    """Find a group as it is now.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of that name.
    """
    held = await _read(name, controller)
    return (
        None
        if held is None
        else GroupView(held.group, _liveness(held, controller.heartbeat_source))
    )


async def find_groups(names: Sequence[BrokerGroupName], controller: Controller) -> list[GroupView]:
    """Find those of some groups that there are, in one statement.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of a name.
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
    """Have a group changed as is decided from its present state; return it as it is then.

    With a guard, the change is written only where the guard lets it.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of that name.
        BrokerGroupBusy: others were faster each time.
        DomainError: whatever the decision, or the guard, raises.
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
    """Change a group as it was known last, if that and our own ears are the whole truth still."""
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
    after, prepared = change.after, list[Tell]()

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
            await _tell_processes(connection, change, revision)
    if revision is None:
        return False
    for tell in prepared:
        tell(revision)
    if after is not None:
        controller.known.keep(HeldGroup(held.id, revision, after, Liveness()))
    if guard is None:
        await _tell_processes(pipeline, change, revision)
    return True


async def _tell_processes(
    runner: Pipeline | Connection, change: Change, revision: int | None
) -> None:
    if revision is not None:
        await group_notices.tell(runner, change, revision)


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
    """Make a group's first row, with the rows that it belongs to."""
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
        await _tell_processes(connection, change, revision)
        return revision is not None
