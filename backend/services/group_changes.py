"""Carry one change of a controller's group out: read, decide, write if nothing moved, or again.

Every process of the control plane may do it at any moment (D1). What is refused was decided from
the state as it was read last, so the caller is told the truth whoever wins a race.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from uuid import UUID

from backend.clients.clock import Clock
from backend.db import broker_groups, clusters, replica_groups
from backend.db.engine import Connection, Database
from backend.db.replica_groups import HeldGroup
from backend.domain.broker_group import GroupMode
from backend.domain.election import Liveness, Sighting, must_await_lease
from backend.domain.errors import BrokerGroupAmbiguous, BrokerGroupBusy
from backend.domain.replica_group import Change, ChangeKind, LeasePolicy, ReplicaGroup

ATTEMPTS_MAX: Final = 16


class Witness(Protocol):
    """Say what this process itself hears of replicas, to the millisecond."""

    @property
    def id(self) -> UUID:
        """Name the process among those of the control plane."""
        ...

    def sightings_of(self, cluster_name: str, group_name: str) -> Mapping[int, Sighting]:
        """Return what was heard of a group's replicas, by broker id."""
        ...


@dataclass(frozen=True, slots=True)
class Controller:
    """Hold what a use case of the controller works with."""

    database: Database
    clock: Clock
    witness: Witness
    # The policy that new groups begin with.
    lease_policy: LeasePolicy = LeasePolicy.QUORUM
    allows_unclean: bool = False


@dataclass(frozen=True, slots=True)
class GroupName:
    """Name a group; without a cluster, the only one so called in all clusters (D2)."""

    group_name: str
    cluster_name: str | None = None


@dataclass(frozen=True, slots=True)
class GroupView:
    """Hold a group, who of it is alive, and the change that led here if there was one."""

    group: ReplicaGroup
    liveness: Liveness
    change: Change | None = None


Decide = Callable[[ReplicaGroup | None, Liveness], Change | None]


async def find_group(name: GroupName, controller: Controller) -> GroupView | None:
    """Find a group as it is now.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of that name.
    """
    async with _autocommitting(controller.database).connect() as connection:
        held = await _read(connection, name, controller.witness)
    return None if held is None else GroupView(held.group, _liveness(held, controller.witness))


async def find_groups(names: Sequence[GroupName], controller: Controller) -> list[GroupView]:
    """Find those of some groups that there are, in one statement.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of a name.
    """
    async with _autocommitting(controller.database).connect() as connection:
        held = await replica_groups.list_named(
            connection,
            [name.group_name for name in names],
            cluster_name=None,
            heard_by=controller.witness.id,
        )
    found = (_only(name, held) for name in names)
    return [
        GroupView(one.group, _liveness(one, controller.witness)) for one in found if one is not None
    ]


async def change_group(
    name: GroupName, decide: Decide, controller: Controller, *, cause: str
) -> GroupView | None:
    """Have a group changed as is decided from its present state; return it as it is then.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of that name.
        BrokerGroupBusy: others were faster each time.
        DomainError: whatever the decision raises.
    """
    for _ in range(ATTEMPTS_MAX):
        async with _autocommitting(controller.database).connect() as connection:
            held = await _read(connection, name, controller.witness)
            liveness = Liveness() if held is None else _liveness(held, controller.witness)
            change = decide(None if held is None else held.group, liveness)
            if held is not None and change is None:
                return GroupView(held.group, liveness)
            if change is None:
                return None
            if held is not None and change.after is not None:
                was_written = await _write(connection, change, held, controller, cause)
                if was_written:
                    return GroupView(change.after, liveness, change)
                continue
        was_written = await _begin_or_end(change, held, controller, cause)
        if was_written:
            return None if change.after is None else GroupView(change.after, liveness, change)
    raise BrokerGroupBusy(name.group_name)


async def _read(connection: Connection, name: GroupName, witness: Witness) -> HeldGroup | None:
    found = await replica_groups.list_named(
        connection, [name.group_name], cluster_name=name.cluster_name, heard_by=witness.id
    )
    return _only(name, found)


def _only(name: GroupName, found: Sequence[HeldGroup]) -> HeldGroup | None:
    meant = [
        held
        for held in found
        if held.group.name == name.group_name
        and name.cluster_name in (None, held.group.cluster_name)
    ]
    if len(meant) > 1:
        raise BrokerGroupAmbiguous(name.group_name)
    return meant[0] if meant else None


def _liveness(held: HeldGroup, witness: Witness) -> Liveness:
    own = witness.sightings_of(held.group.cluster_name, held.group.name)
    others = held.liveness.sightings
    fresher = {
        broker_id: sighting
        for broker_id, sighting in own.items()
        if broker_id not in others or sighting.age_ms <= others[broker_id].age_ms
    }
    return Liveness({**others, **fresher}, held.liveness.lease_left_ms)


async def _write(
    connection: Connection, change: Change, held: HeldGroup, controller: Controller, cause: str
) -> bool:
    after = change.after
    is_election = change.kind is ChangeKind.MASTER_ELECTED
    return await replica_groups.write(
        connection,
        change,
        broker_group_id=held.id,
        revision=held.revision,
        cause=cause,
        at=controller.clock.now(),
        awaits_lease=is_election
        and after is not None
        and after.master_id is not None
        and must_await_lease(change.before, after.master_id),
    )


async def _begin_or_end(
    change: Change, held: HeldGroup | None, controller: Controller, cause: str
) -> bool:
    """Make a group's first row, or take its last: what else holds the group changes with it."""
    async with controller.database.begin() as connection:
        if held is not None:
            was_written = await _write(connection, change, held, controller, cause)
            if was_written:
                await replica_groups.leave_controller(connection, held.id)
            return was_written
        now = controller.clock.now()
        before = change.before
        cluster_id = await clusters.find_or_add(connection, before.cluster_name, at=now)
        group_id = await broker_groups.find_or_add(
            connection, cluster_id, before.name, mode=GroupMode.CONTROLLER, at=now
        )
        if not await replica_groups.add(connection, group_id, before.lease_policy):
            return False
        begun = HeldGroup(group_id, 0, before, Liveness())
        return await _write(connection, change, begun, controller, cause)


def _autocommitting(database: Database) -> Database:
    # One statement is one transaction: no round trips for its beginning and its end.
    return database.execution_options(isolation_level="AUTOCOMMIT")
