"""Assign ids to brokers, record their addresses, alter SyncStateSets, and forget replicas.

Each use case changes one group once (control-plane.md 1.3-1.15), or reads it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from backend.db import replica_group_pages, replica_groups
from backend.db.replica_groups import PastChange
from backend.domain.adoption import Candidate
from backend.domain.election import Liveness
from backend.domain.errors import (
    BrokerGroupNotControlled,
    BrokerIdRefused,
    BrokerNotRegistered,
    CleanRefused,
    UnknownReplica,
)
from backend.domain.names import check_address, check_broker_group_name, check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.replica_group import (
    Change,
    Replica,
    ReplicaGroup,
    SyncStateSetProposal,
    alter_sync_state_set,
    apply_broker_id,
    check_master_epoch,
    clean_replicas,
    next_broker_id,
    register_replica,
)
from backend.services.controller.adoptions import check_not_awaited, keep_candidate
from backend.services.controller.group_changes import (
    BrokerGroupName,
    Controller,
    GroupView,
    Guard,
    change_group,
    find_group,
    find_groups,
)

REGISTER_CODE_LENGTH_MAX: Final = 512
CHANGE_ID_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class ApplyBrokerId:
    """Ask to bind an id to a register check code, which starts with the address of the broker."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    register_code: str
    protocol_version: int | None = None


@dataclass(frozen=True, slots=True)
class RegisterReplica:
    """Give the address of a replica from now on, and the facts that an adoption would need."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    register_code: str | None = None
    epoch: int | None = None
    max_offset: int | None = None
    master_id: int | None = None
    is_verified: bool | None = None
    protocol_version: int | None = None


@dataclass(frozen=True, slots=True)
class CleanReplicas:
    """Ask to forget replicas; the text contains their ids, separated by semicolons, or nothing."""

    name: BrokerGroupName
    broker_ids: str
    cleans_living: bool


@dataclass(frozen=True, slots=True)
class ReplicaRemoval:
    """Order to forget dead replicas: the named ones, or without names the whole group.

    The whole group may include living replicas; none of them serves afterwards.
    """

    name: BrokerGroupName
    broker_ids: frozenset[int]
    expected_epoch: int
    cause: str
    includes_living: bool = False


async def find_next_broker_id(name: BrokerGroupName, controller: Controller) -> int:
    """Find the id that a new broker of a group may apply for."""
    view = await find_group(name, controller)
    return next_broker_id(None if view is None else view.group)


async def apply_for_broker_id(command: ApplyBrokerId, controller: Controller) -> None:
    """Bind an id to a register check code; a second call with the same code is no error (D5).

    Raises:
        InvalidName: the name of the cluster or of the group is invalid. InvalidAddress: the
        register check code does not begin with an address. BrokerIdRefused: the id belongs to
        another broker, or the code is too long. AdoptionAwaited: the group was lost, and brokers of
        it wait for adoption. ProtocolVersionRefused: the broker can't read the records of the
        group.
    """
    check_cluster_name(command.cluster_name)
    check_broker_group_name(command.broker_group_name)
    address = check_address(command.register_code.split(";", 1)[0])
    replica = Replica(command.broker_id, address, command.register_code, command.protocol_version)
    empty = ReplicaGroup(
        command.cluster_name, command.broker_group_name, lease_policy=controller.lease_policy
    )
    if len(command.register_code) > REGISTER_CODE_LENGTH_MAX:
        raise BrokerIdRefused(empty.name, command.broker_id, next_broker_id=command.broker_id)
    name = BrokerGroupName(command.broker_group_name, command.cluster_name)
    if await find_group(name, controller) is None:
        await check_not_awaited(name, command.broker_id, controller)
    await change_group(
        name,
        lambda group, _: apply_broker_id(group, empty, replica),
        controller,
        cause=f"broker {command.broker_id} applied for its id",
    )


async def register(command: RegisterReplica, controller: Controller) -> GroupView:
    """Record the address of a replica, and return its group.

    Raises:
        InvalidAddress: no client can connect to the address. BrokerIdRefused: the id is bound to
        another code. AdoptionAwaited: no broker applied for the id; the broker that claims it is a
        candidate now. BrokerNotRegistered: no broker applied for the id, or the id was removed.
        ProtocolVersionRefused: the broker can't read the records of the group.
    """
    address = check_address(command.address)
    code = command.register_code
    if code is not None and len(code) > REGISTER_CODE_LENGTH_MAX:
        raise BrokerIdRefused(
            command.broker_group_name, command.broker_id, next_broker_id=command.broker_id
        )

    def decide(group: ReplicaGroup | None, _: object) -> Change | None:
        return register_replica(
            group,
            broker_group_name=command.broker_group_name,
            broker_id=command.broker_id,
            address=address,
            register_code=code,
            protocol_version=command.protocol_version,
        )

    name = BrokerGroupName(command.broker_group_name, command.cluster_name)
    cause = f"broker {command.broker_id} registered"
    try:
        view = await change_group(name, decide, controller, cause=cause)
    except BrokerNotRegistered:
        candidate = Candidate(
            broker_id=command.broker_id,
            address=address,
            register_code=code,
            silent_ms=0,
            epoch=command.epoch,
            max_offset=command.max_offset,
            master_id=command.master_id,
            is_verified=command.is_verified,
            protocol_version=command.protocol_version,
        )
        await keep_candidate(command.cluster_name, command.broker_group_name, candidate, controller)
        raise
    return _present(view, command.broker_group_name)


async def describe_group(name: BrokerGroupName, controller: Controller) -> GroupView:
    """Describe a group as it is now; a dead master is shown until an election replaces it.

    Raises:
        BrokerGroupNotControlled: no broker of it ever applied for an id. BrokerGroupAmbiguous:
        several clusters have a group of that name.
    """
    return _present(await find_group(name, controller), name.broker_group_name)


async def describe_groups(
    names: Sequence[BrokerGroupName], controller: Controller
) -> list[GroupView]:
    """Describe the groups of these names that exist.

    Raises:
        BrokerGroupAmbiguous: several clusters have a group of one of the names.
    """
    return await find_groups(names, controller)


async def alter_set(
    name: BrokerGroupName, proposal: SyncStateSetProposal, controller: Controller
) -> GroupView:
    """Replace the SyncStateSet of a group as its master asks.

    Raises:
        DomainError: an error of `alter_sync_state_set`; nothing has changed.
    """
    view = await change_group(
        name,
        lambda group, liveness: alter_sync_state_set(
            group,
            proposal,
            broker_group_name=name.broker_group_name,
            alive_ids=liveness.alive_ids,
            lives=liveness.lives,
        ),
        controller,
        cause=f"master {proposal.master_id} asked",
    )
    return _present(view, name.broker_group_name)


async def clean(command: CleanReplicas, controller: Controller) -> Change | None:
    """Forget replicas of a group, or the whole group; return the change, if there is one.

    Raises:
        CleanRefused: the replicas are still needed, or the text contains no ids.
    """
    broker_group_name = command.name.broker_group_name
    broker_ids: frozenset[int] = frozenset()
    # If living replicas are included, the list is not read, as in RocketMQ (control-plane.md 1.13).
    if not command.cleans_living:
        broker_ids = _parse_ids(command.broker_ids, broker_group_name)
    change: Change | None = None

    def decide(group: ReplicaGroup | None, liveness: Liveness) -> Change | None:
        nonlocal change
        change = clean_replicas(
            group,
            broker_group_name=broker_group_name,
            broker_ids=broker_ids,
            cleans_living=command.cleans_living,
            alive_ids=liveness.alive_ids,
        )
        return change

    await change_group(command.name, decide, controller, cause="operator")
    return change


async def forget(
    order: ReplicaRemoval, controller: Controller, *, guard: Guard | None = None
) -> GroupView | None:
    """Forget replicas as an operator orders; return the group afterwards, if it still exists.

    Raises:
        BrokerGroupNotControlled: the group is unknown. MasterEpochMoved: the group is no longer in
        the expected epoch. UnknownReplica: a named broker is no replica of the group. CleanRefused:
        a named replica is alive. Living replicas can only be forgotten with the whole group.
    """
    broker_group_name = order.name.broker_group_name
    if order.includes_living and order.broker_ids:
        raise CleanRefused(broker_group_name, "loses living replicas only as a whole; name none")

    def decide(group: ReplicaGroup | None, liveness: Liveness) -> Change | None:
        if group is None:
            raise BrokerGroupNotControlled(broker_group_name)
        check_master_epoch(group, order.expected_epoch)
        for broker_id in sorted(order.broker_ids - group.replicas.keys()):
            raise UnknownReplica(broker_group_name, broker_id)
        return clean_replicas(
            group,
            broker_group_name=broker_group_name,
            broker_ids=order.broker_ids or frozenset(group.replicas),
            cleans_living=order.includes_living,
            alive_ids=liveness.alive_ids,
        )

    return await change_group(order.name, decide, controller, cause=order.cause, guard=guard)


async def list_changes(
    name: BrokerGroupName, *, size: int, before: int | None, controller: Controller
) -> Page[PastChange, int]:
    """List the changes of a group, the newest first; the group may be removed already.

    Raises:
        InvalidPageSize: the page is empty or too large. BrokerGroupNotControlled: there are no
        changes of such a group.
    """
    check_page_size(size)
    cluster_name = name.cluster_name or ""
    before = None if before is None else min(max(before, 0), CHANGE_ID_MAX)
    async with controller.database.connect() as connection:
        found = await replica_groups.list_changes(
            connection, cluster_name, name.broker_group_name, before=before, limit=size + 1
        )
        total = await replica_group_pages.count_changes(
            connection, cluster_name, name.broker_group_name
        )
    if not total:
        raise BrokerGroupNotControlled(name.broker_group_name)
    return cut_page(found, size=size, key=lambda change: change.id, total_count=total)


def _present(view: GroupView | None, broker_group_name: str) -> GroupView:
    if view is None:
        raise BrokerGroupNotControlled(broker_group_name)
    return view


def _parse_ids(text: str, broker_group_name: str) -> frozenset[int]:
    if not text.strip():
        return frozenset()
    parts = text.split(";")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise CleanRefused(broker_group_name, f"has no replicas called {text[:100]!r}; write 1;2;3")
    return frozenset(int(part) for part in parts)
