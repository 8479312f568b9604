"""Give brokers their ids, take in their addresses, alter SyncStateSets, forget replicas.

Each use case is one change of one group (control-plane.md 1.3-1.15), or a reading of it.
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
    """Ask that an id be bound to a register code, whose first part is the broker's address."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    register_code: str


@dataclass(frozen=True, slots=True)
class RegisterReplica:
    """Tell where a replica is reached from now on, and what an adoption would need to know."""

    cluster_name: str
    broker_group_name: str
    broker_id: int
    address: str
    register_code: str | None = None
    epoch: int | None = None
    max_offset: int | None = None
    master_id: int | None = None
    is_verified: bool | None = None


@dataclass(frozen=True, slots=True)
class CleanReplicas:
    """Ask that replicas be forgotten; the text names ids with semicolons between, or none."""

    name: BrokerGroupName
    broker_ids: str
    cleans_living: bool


@dataclass(frozen=True, slots=True)
class ReplicaRemoval:
    """Order that dead replicas be forgotten: those named, or without names the whole group.

    The whole group may go with its living replicas too; nobody of them serves afterwards.
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
    """Bind an id to a register code; doing it again with the same code is no error (D5).

    Raises:
        InvalidName: the cluster or the group may not be called so.
        InvalidAddress: the register code does not begin with an address.
        BrokerIdRefused: the id is somebody else's, or the code is too long to keep.
        AdoptionAwaited: the group was lost, and brokers of it wait to be adopted.
    """
    check_cluster_name(command.cluster_name)
    check_broker_group_name(command.broker_group_name)
    address = check_address(command.register_code.split(";", 1)[0])
    replica = Replica(command.broker_id, address, command.register_code)
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
    """Note a replica's address and return its group.

    Raises:
        InvalidAddress: no client could connect to the address.
        BrokerIdRefused: the id was given away for another code.
        AdoptionAwaited: nobody applied for the id; who claims it is kept as a candidate.
        BrokerNotRegistered: nobody applied for the id, or it was taken back.
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
        )
        await keep_candidate(command.cluster_name, command.broker_group_name, candidate, controller)
        raise
    return _present(view, command.broker_group_name)


async def describe_group(name: BrokerGroupName, controller: Controller) -> GroupView:
    """Describe a group as it is now; a dead master is shown until somebody replaces it.

    Raises:
        BrokerGroupNotControlled: no broker of it ever applied for an id.
        BrokerGroupAmbiguous: several clusters hold one of that name.
    """
    return _present(await find_group(name, controller), name.broker_group_name)


async def describe_groups(
    names: Sequence[BrokerGroupName], controller: Controller
) -> list[GroupView]:
    """Describe those of some groups that there are.

    Raises:
        BrokerGroupAmbiguous: several clusters hold one of a name.
    """
    return await find_groups(names, controller)


async def alter_set(
    name: BrokerGroupName, proposal: SyncStateSetProposal, controller: Controller
) -> GroupView:
    """Replace a group's SyncStateSet as its master asks.

    Raises:
        DomainError: one of those that `alter_sync_state_set` names; nothing has changed.
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
    """Forget replicas of a group, or the whole of it; return what changed, if anything did.

    Raises:
        CleanRefused: they are still needed, or the text names no ids.
    """
    broker_group_name = command.name.broker_group_name
    broker_ids: frozenset[int] = frozenset()
    # With the living ones the list is not read at all, as in stock (control-plane.md 1.13).
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
    """Forget replicas as an operator orders; return the group as it is then, if it still is.

    Raises:
        BrokerGroupNotControlled: the group is not known.
        MasterEpochMoved: the group is no longer in the epoch expected.
        UnknownReplica: one named is no replica of the group.
        CleanRefused: one of them is alive, or living ones were to go one by one.
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
    """List what happened to a group of a named cluster, the newest first; it may be gone.

    Raises:
        InvalidPageSize: the page is empty or too large.
        BrokerGroupNotControlled: nothing ever happened to such a group.
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
