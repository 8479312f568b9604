"""Keep the brokers of lost groups as candidates, and adopt them as an operator orders (D6)."""

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from backend.db import adoption_candidates, replica_groups
from backend.db.adoption_candidates import CandidateKey, StoredCandidate
from backend.db.engine import Connection
from backend.domain.adoption import AdoptionOrder, Candidate, adopt_replicas
from backend.domain.cluster_scope import ClusterScope
from backend.domain.election import Liveness
from backend.domain.errors import AdoptionAwaited, BrokerIdRefused, BrokerNotRegistered
from backend.domain.names import check_broker_group_name, check_cluster_name
from backend.domain.page import Page, check_page_size, cut_page
from backend.domain.replica_group import (
    FIRST_BROKER_ID,
    UNKNOWN_POSITION,
    Change,
    ReplicaGroup,
    check_master_epoch,
    next_broker_id,
)
from backend.services.controller.group_changes import (
    BrokerGroupName,
    Controller,
    GroupView,
    Guard,
    change_group,
    find_group,
)

__all__ = [
    "AdoptionRequest",
    "StoredCandidate",
    "adopt",
    "check_not_awaited",
    "keep_candidate",
    "list_candidates",
]

# While a broker of a lost group has sent heartbeats recently, a broker without an id can't create
# the group again.
AWAITED_MS_MAX: Final = 3_600_000


@dataclass(frozen=True, slots=True)
class AdoptionRequest:
    """Order the adoption of brokers; 0 is the expected epoch of a group that does not exist."""

    name: BrokerGroupName
    order: AdoptionOrder
    cause: str
    expected_epoch: int = 0


async def keep_candidate(
    cluster_name: str, broker_group_name: str, candidate: Candidate, controller: Controller
) -> None:
    """Keep an unknown broker as a candidate.

    Raises:
        AdoptionAwaited: the broker is a candidate now, and an operator may adopt it.
        BrokerNotRegistered: the id of the broker was removed, or there are too many candidates.
        BrokerIdRefused: another broker claims the id. InvalidName: the name of the cluster or of
        the group is invalid.
    """
    check_cluster_name(cluster_name)
    check_broker_group_name(broker_group_name)
    broker_id = candidate.broker_id
    view = await find_group(BrokerGroupName(broker_group_name, cluster_name), controller)
    if broker_id < FIRST_BROKER_ID or (view is not None and broker_id in view.group.retired_ids):
        raise BrokerNotRegistered(broker_group_name, broker_id)
    known = _with_heartbeat(cluster_name, broker_group_name, candidate, controller)
    async with controller.database.begin() as connection:
        await adoption_candidates.forget_old(connection)
        if await adoption_candidates.save(connection, cluster_name, broker_group_name, known):
            held = None
        else:
            held = await adoption_candidates.list_of_group(
                connection, cluster_name, broker_group_name
            )
    if held is None:
        raise AdoptionAwaited(broker_group_name, broker_id)
    if broker_id in held:
        free = next_broker_id(None if view is None else view.group)
        raise BrokerIdRefused(broker_group_name, broker_id, next_broker_id=max(free, max(held) + 1))
    raise BrokerNotRegistered(broker_group_name, broker_id)


async def check_not_awaited(name: BrokerGroupName, broker_id: int, controller: Controller) -> None:
    """Refuse to create a group again while its brokers wait for adoption.

    Raises:
        AdoptionAwaited: one of them has sent a heartbeat recently.
    """
    candidates = await find_candidates(name, controller)
    if any(c.silent_ms <= AWAITED_MS_MAX for c in candidates.values()):
        raise AdoptionAwaited(name.broker_group_name, broker_id)


async def list_candidates(
    *, size: int, after: CandidateKey | None, within: ClusterScope, controller: Controller
) -> Page[StoredCandidate, CandidateKey]:
    """List the brokers that wait for adoption in clusters within reach, by cluster, group and id.

    Raises:
        InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with controller.database.connect() as connection:
        found = await adoption_candidates.list_all(
            connection, after=after, within=within, limit=size + 1
        )
        total = await adoption_candidates.count(connection, within=within)
    return cut_page(found, size=size, key=lambda one: one.key, total_count=total)


async def adopt(
    command: AdoptionRequest, controller: Controller, *, guard: Guard | None = None
) -> GroupView:
    """Adopt brokers as an operator orders; a lost group elects its master afterwards.

    Raises:
        AdoptionRefused: a broker is missing, or the known facts are not sufficient.
        MasterEpochMoved: the group is no longer in the expected epoch.
    """
    name, order = command.name, command.order
    empty = await begin_again(name, controller)
    candidates = await find_candidates(name, controller)
    spare_codes = {
        broker_id: f"{one.address};{secrets.token_hex(16)}" for broker_id, one in candidates.items()
    }

    def decide(group: ReplicaGroup | None, _: Liveness) -> Change:
        check_master_epoch(empty if group is None else group, command.expected_epoch)
        return adopt_replicas(group, empty, candidates, order, spare_codes=spare_codes)

    view = await change_group(name, decide, controller, cause=command.cause, guard=guard)
    assert view is not None, "an adoption leaves a group"
    # A broker that registers before this is already known, so a crash here leaves only outdated
    # rows.
    await remove_candidates(name, order.broker_ids, controller)
    return view


async def begin_again(name: BrokerGroupName, controller: Controller) -> ReplicaGroup:
    """Return the group that an adoption creates, with its confirmed position."""
    cluster_name = name.cluster_name or ""
    async with controller.database.connect() as connection:
        confirmed = await replica_groups.find_forgotten(
            connection, cluster_name, name.broker_group_name
        )
    return ReplicaGroup(
        cluster_name,
        name.broker_group_name,
        lease_policy=controller.lease_policy,
        confirmed=confirmed,
    )


async def remove_candidates(
    name: BrokerGroupName, broker_ids: Collection[int], controller: Controller
) -> None:
    """Remove brokers from the candidates; absent brokers are no error."""
    async with controller.database.begin() as connection:
        await adoption_candidates.remove(
            connection, name.cluster_name or "", name.broker_group_name, broker_ids
        )


async def find_candidates(name: BrokerGroupName, controller: Controller) -> Mapping[int, Candidate]:
    """Find the candidates of a group, by id."""
    async with controller.database.connect() as connection:
        return await _list_of(connection, name)


async def _list_of(connection: Connection, name: BrokerGroupName) -> Mapping[int, Candidate]:
    return await adoption_candidates.list_of_group(
        connection, name.cluster_name or "", name.broker_group_name
    )


def _with_heartbeat(
    cluster_name: str, broker_group_name: str, candidate: Candidate, controller: Controller
) -> Candidate:
    """Add the report of the heartbeats, for a broker whose registration reports nothing."""
    heard = controller.heartbeat_source.reports_of(cluster_name, broker_group_name).get(
        candidate.broker_id
    )
    if candidate.epoch is not None or heard is None or not heard.is_alive:
        return candidate
    is_known = heard.epoch != UNKNOWN_POSITION
    return replace(
        candidate,
        epoch=heard.epoch if is_known else None,
        max_offset=heard.max_offset if is_known else None,
    )
