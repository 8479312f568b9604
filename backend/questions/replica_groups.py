"""Ask for broker groups under a controller, their next election and their changes."""

from typing import Annotated

from redis.asyncio import Redis

from backend.db.engine import Database
from backend.domain.page import Page
from backend.questions.question import BROKER_ID_MAX, After, Given, Limit, Search, question
from backend.questions.replica_logs import GROUP, GROUPS, named
from backend.services.cluster.clusters import describe_cluster
from backend.services.cluster.health import Listener, describe_groups_health
from backend.services.controller.group_changes import Controller
from backend.services.controller.replica_groups import describe_group, list_changes
from backend.services.controller.replica_views import (
    describe_replica_group,
    explain_election,
    list_replica_groups,
)
from backend.views.copying import copied
from backend.views.health import GroupHealthOut
from backend.views.replica_groups import (
    ElectionOut,
    GroupChangeOut,
    ReplicaGroupDetailOut,
    ReplicaGroupOut,
)

TAG = "replica groups"
DesignatedId = Annotated[int | None, Given(low=1, high=BROKER_ID_MAX)]


@question(GROUPS, field="Cluster.replicaGroups", tag=TAG, refusals=(404,))
async def show_replica_groups(
    cluster_name: str,
    limit: Limit = 100,
    after: After[str] = None,
    search: Search = None,
    *,
    database: Database,
    controller: Controller,
) -> Page[ReplicaGroupOut, str]:
    """List the broker groups of a cluster under a controller, by name."""
    cluster = await describe_cluster(cluster_name, database=database)
    pages = await list_replica_groups(
        [cluster.name], size=limit, after=after, search=search, controller=controller
    )
    return pages[cluster.name].map(ReplicaGroupOut.of)


@question(GROUP, field="Cluster.replicaGroup", tag=TAG, refusals=(404,))
async def show_replica_group(
    cluster_name: str,
    broker_group_name: str,
    *,
    database: Database,
    redis: Redis,
    controller: Controller,
    listener: Listener,
) -> ReplicaGroupDetailOut:
    """Describe one broker group, and the master that an election would choose now."""
    found = await describe_replica_group(named(cluster_name, broker_group_name), controller)
    key = (found.group.cluster_name, found.group.name)
    judged = await describe_groups_health([key], listener=listener, database=database, redis=redis)
    health = judged.get(key)
    return copied(
        ReplicaGroupDetailOut,
        ReplicaGroupOut.of(found),
        election=ElectionOut.of(explain_election(found.view, controller)),
        health=None if health is None else GroupHealthOut.of(health),
    )


@question(GROUP + "/election", field="ReplicaGroup.election", tag=TAG, refusals=(404,))
async def show_election(
    cluster_name: str,
    broker_group_name: str,
    broker_id: DesignatedId = None,
    *,
    controller: Controller,
) -> ElectionOut:
    """Describe an election that is ordered now: of the chosen replica, or by the rules."""
    view = await describe_group(named(cluster_name, broker_group_name), controller)
    return ElectionOut.of(explain_election(view, controller, designated_id=broker_id))


@question(GROUP + "/changes", field="ReplicaGroup.changes", tag=TAG, refusals=(404,))
async def show_changes(
    cluster_name: str,
    broker_group_name: str,
    limit: Limit = 100,
    after: After[int] = None,
    *,
    controller: Controller,
) -> Page[GroupChangeOut, int]:
    """List the changes of a broker group, the newest first. The group may be removed already."""
    page = await list_changes(
        named(cluster_name, broker_group_name), size=limit, before=after, controller=controller
    )
    return page.map(GroupChangeOut.of)
