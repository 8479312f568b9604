"""Give brokers their ids, take in their addresses, alter SyncStateSets, forget replicas.

Each use case is one change of one group (control-plane.md 1.3-1.15), or a reading of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from backend.db import replica_groups
from backend.db.replica_groups import PastChange
from backend.domain.errors import BrokerGroupNotControlled, BrokerIdRefused, CleanRefused
from backend.domain.names import check_address, check_cluster_name, check_group_name
from backend.domain.page import check_page_size
from backend.domain.replica_group import (
    Change,
    Replica,
    ReplicaGroup,
    SyncStateSetProposal,
    alter_sync_state_set,
    apply_broker_id,
    clean_replicas,
    next_broker_id,
    register_replica,
)
from backend.services.group_changes import (
    Controller,
    GroupName,
    GroupView,
    change_group,
    find_group,
    find_groups,
)

REGISTER_CODE_LENGTH_MAX: Final = 512


@dataclass(frozen=True, slots=True)
class ApplyBrokerId:
    """Ask that an id be bound to a register code, whose first part is the broker's address."""

    cluster_name: str
    group_name: str
    broker_id: int
    register_code: str


@dataclass(frozen=True, slots=True)
class RegisterReplica:
    """Tell where a replica is reached from now on."""

    cluster_name: str
    group_name: str
    broker_id: int
    address: str


@dataclass(frozen=True, slots=True)
class CleanReplicas:
    """Ask that replicas be forgotten; the text names ids with semicolons between, or none."""

    name: GroupName
    broker_ids: str
    cleans_living: bool


async def find_next_broker_id(name: GroupName, controller: Controller) -> int:
    """Find the id that a new broker of a group may apply for."""
    view = await find_group(name, controller)
    return next_broker_id(None if view is None else view.group)


async def apply_for_broker_id(command: ApplyBrokerId, controller: Controller) -> None:
    """Bind an id to a register code; doing it again with the same code is no error (D5).

    Raises:
        InvalidName: the cluster or the group may not be called so.
        InvalidAddress: the register code does not begin with an address.
        BrokerIdRefused: the id is somebody else's, or the code is too long to keep.
    """
    check_cluster_name(command.cluster_name)
    check_group_name(command.group_name)
    address = check_address(command.register_code.split(";", 1)[0])
    replica = Replica(command.broker_id, address, command.register_code)
    empty = ReplicaGroup(
        command.cluster_name, command.group_name, lease_policy=controller.lease_policy
    )
    if len(command.register_code) > REGISTER_CODE_LENGTH_MAX:
        raise BrokerIdRefused(empty.name, command.broker_id, next_broker_id=command.broker_id)
    await change_group(
        GroupName(command.group_name, command.cluster_name),
        lambda group, _: apply_broker_id(group, empty, replica),
        controller,
        cause=f"broker {command.broker_id} applied for its id",
    )


async def register(command: RegisterReplica, controller: Controller) -> GroupView:
    """Note a replica's address and return its group.

    Raises:
        InvalidAddress: no client could connect to the address.
        BrokerNotRegistered: nobody applied for the id.
    """
    address = check_address(command.address)

    def decide(group: ReplicaGroup | None, _: object) -> Change | None:
        return register_replica(
            group, group_name=command.group_name, broker_id=command.broker_id, address=address
        )

    view = await change_group(
        GroupName(command.group_name, command.cluster_name),
        decide,
        controller,
        cause=f"broker {command.broker_id} registered",
    )
    return _present(view, command.group_name)


async def describe_group(name: GroupName, controller: Controller) -> GroupView:
    """Describe a group as it is now; a dead master is shown until somebody replaces it.

    Raises:
        BrokerGroupNotControlled: no broker of it ever applied for an id.
        BrokerGroupAmbiguous: several clusters hold one of that name.
    """
    return _present(await find_group(name, controller), name.group_name)


async def describe_groups(names: Sequence[GroupName], controller: Controller) -> list[GroupView]:
    """Describe those of some groups that there are.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of a name.
    """
    return await find_groups(names, controller)


async def alter_set(
    name: GroupName, proposal: SyncStateSetProposal, controller: Controller
) -> GroupView:
    """Replace a group's SyncStateSet as its master asks.

    Raises:
        DomainError: one of those that `alter_sync_state_set` names; nothing has changed.
    """
    view = await change_group(
        name,
        lambda group, liveness: alter_sync_state_set(
            group, proposal, group_name=name.group_name, alive_ids=liveness.alive_ids
        ),
        controller,
        cause=f"master {proposal.master_id} asked",
    )
    return _present(view, name.group_name)


async def clean(command: CleanReplicas, controller: Controller) -> None:
    """Forget replicas of a group, or the whole of it.

    Raises:
        CleanRefused: they are still needed, or the text names no ids.
    """
    group_name = command.name.group_name
    broker_ids: frozenset[int] = frozenset()
    # With the living ones the list is not read at all, as in stock (1.13).
    if not command.cleans_living:
        broker_ids = _parse_ids(command.broker_ids, group_name)
    await change_group(
        command.name,
        lambda group, liveness: clean_replicas(
            group,
            group_name=group_name,
            broker_ids=broker_ids,
            cleans_living=command.cleans_living,
            alive_ids=liveness.alive_ids,
        ),
        controller,
        cause="operator",
    )


async def list_changes(
    cluster_name: str,
    group_name: str,
    *,
    size: int,
    before: int | None,
    controller: Controller,
) -> list[PastChange]:
    """List what happened to a group, the newest first.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with controller.database.connect() as connection:
        return await replica_groups.list_changes(
            connection, cluster_name, group_name, before=before, limit=size
        )


def _present(view: GroupView | None, group_name: str) -> GroupView:
    if view is None:
        raise BrokerGroupNotControlled(group_name)
    return view


def _parse_ids(text: str, group_name: str) -> frozenset[int]:
    if not text.strip():
        return frozenset()
    parts = text.split(";")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise CleanRefused(group_name, f"has no replicas called {text[:100]!r}; write 1;2;3")
    return frozenset(int(part) for part in parts)
