"""Answer groups under a controller over REST."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query

from backend.api.context import Context, listener_of
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND
from backend.api.rest.pages import After, Limit, PageOut, Search, page_out
from backend.db.replica_groups import PastChange
from backend.domain.broker_group import GroupMode
from backend.domain.replica_group import ChangeKind, LeasePolicy
from backend.questions.replica_logs import GROUP, named
from backend.services.clusters import describe_cluster
from backend.services.health import describe_groups_health
from backend.services.replica_groups import describe_group, list_changes
from backend.services.replica_views import (
    ReplicaGroupView,
    describe_replica_group,
    explain_election,
    list_replica_groups,
)
from backend.views.copying import copied
from backend.views.health import GroupHealthOut
from backend.views.replica_groups import ElectionOut, ReplicaOut

router = APIRouter(tags=["replica groups"])

BROKER_ID_MAX = 2**63 - 1
ROOT = "/clusters/{cluster_name}/replica-groups"


@dataclass(frozen=True, slots=True)
class ReplicaGroupOut:
    """A group under a controller; `master_id` is the recorded master, alive or not."""

    cluster_name: str
    name: str
    mode: str
    lease_policy: LeasePolicy
    lease_left_ms: int
    master_id: int | None
    master_epoch: int
    is_master_alive: bool
    preferred_id: int | None
    confirmed_epoch: int | None
    confirmed_position: int | None
    sync_state_set: list[int]
    sync_state_set_epoch: int
    retired_ids: list[int]
    replicas: list[ReplicaOut]


@dataclass(frozen=True, slots=True)
class ReplicaGroupDetailOut(ReplicaGroupOut):
    """A group with the election as it would be now, and how well it can do its work."""

    election: ElectionOut
    health: GroupHealthOut | None


@dataclass(frozen=True, slots=True)
class GroupChangeOut:
    """One change of a group, what it brought about, and the group as it was after it."""

    id: int
    kind: ChangeKind
    cause: str
    changed_at: datetime
    master_id: int | None
    master_epoch: int
    sync_state_set: list[int]
    sync_state_set_epoch: int
    replica_addresses: dict[int, str]
    warning: str | None


@router.get(ROOT, responses=NOT_FOUND)
async def show_replica_groups(
    cluster_name: str,
    context: Context,
    limit: Limit = 100,
    after: After = None,
    search: Search = None,
) -> PageOut[ReplicaGroupOut]:
    """List a cluster's groups under a controller by name."""
    key = decode_cursor(after, str)
    cluster = await describe_cluster(cluster_name, database=context.database)
    pages = await list_replica_groups(
        [cluster.name],
        size=limit,
        after=key,
        search=search,
        controller=context.name_server.controller,
    )
    return page_out(pages[cluster.name], group_out)


@router.get(GROUP, responses=NOT_FOUND)
async def show_replica_group(
    cluster_name: str, group_name: str, context: Context
) -> ReplicaGroupDetailOut:
    """Describe one group, and the next master of it now."""
    controller = context.name_server.controller
    found = await describe_replica_group(named(cluster_name, group_name), controller)
    election = explain_election(found.view, controller)
    key = (found.group.cluster_name, found.group.name)
    judged = await describe_groups_health(
        [key],
        listener=listener_of(context),
        database=context.database,
        redis=context.redis,
    )
    health = judged.get(key)
    return copied(
        ReplicaGroupDetailOut,
        group_out(found),
        election=ElectionOut.of(election),
        health=None if health is None else GroupHealthOut.of(health),
    )


@router.get(GROUP + "/election", responses=NOT_FOUND)
async def show_election(
    cluster_name: str,
    group_name: str,
    context: Context,
    broker_id: Annotated[int | None, Query(ge=1, le=BROKER_ID_MAX)] = None,
) -> ElectionOut:
    """Say the next master if it were ordered now, of one's choice or by the rules."""
    controller = context.name_server.controller
    view = await describe_group(named(cluster_name, group_name), controller)
    return ElectionOut.of(explain_election(view, controller, designated_id=broker_id))


@router.get(GROUP + "/changes", responses=NOT_FOUND)
async def show_changes(
    cluster_name: str, group_name: str, context: Context, limit: Limit = 100, after: After = None
) -> PageOut[GroupChangeOut]:
    """List what happened to a group, the newest first; the group may be gone."""
    page = await list_changes(
        named(cluster_name, group_name),
        size=limit,
        before=decode_cursor(after, int),
        controller=context.name_server.controller,
    )
    return page_out(page, _change_out)


def group_out(found: ReplicaGroupView) -> ReplicaGroupOut:
    """Make the answer of a group."""
    group = found.group
    return ReplicaGroupOut(
        cluster_name=group.cluster_name,
        name=group.name,
        mode=GroupMode.CONTROLLER,
        lease_policy=group.lease_policy,
        lease_left_ms=found.view.liveness.lease_left_ms,
        master_id=group.master_id,
        master_epoch=group.master_epoch,
        is_master_alive=found.is_master_alive,
        preferred_id=group.preferred_id,
        confirmed_epoch=found.confirmed_epoch,
        confirmed_position=found.confirmed_position,
        sync_state_set=sorted(group.sync_state_set.members),
        sync_state_set_epoch=group.sync_state_set.epoch,
        retired_ids=sorted(group.retired_ids),
        replicas=[ReplicaOut.of(replica) for replica in found.replicas],
    )


def _change_out(change: PastChange) -> GroupChangeOut:
    return GroupChangeOut(
        id=change.id,
        kind=change.kind,
        cause=change.cause,
        changed_at=change.changed_at,
        master_id=change.master_id,
        master_epoch=change.master_epoch,
        sync_state_set=sorted(change.sync_state_set.members),
        sync_state_set_epoch=change.sync_state_set.epoch,
        replica_addresses=dict(change.replica_addresses),
        warning=change.warning,
    )
