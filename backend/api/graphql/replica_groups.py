"""Load the relations of broker groups under a controller."""

from backend.api.graphql.context import Info
from backend.api.graphql.questions import relation
from backend.domain.page import Page
from backend.questions.question import After, BrokerId, Limit
from backend.services.controller.group_changes import BrokerGroupName
from backend.services.controller.log_histories import compare_histories
from backend.services.controller.replica_groups import list_changes
from backend.services.controller.replica_lags import measure_group
from backend.services.controller.replica_views import explain_election
from backend.views.health import GroupHealthOut
from backend.views.log_histories import GroupHistoriesOut
from backend.views.replica_groups import ElectionOut, GroupChangeOut, ReplicaGroupOut
from backend.views.replica_lags import GroupLagsOut


@relation(ReplicaGroupOut)
async def health(group: ReplicaGroupOut, info: Info) -> GroupHealthOut | None:
    """Judge how well the group can do its work. Null if it holds no broker."""
    found = await info.context.loaders.health.load((group.cluster_name, group.name))
    return None if found is None else GroupHealthOut.of(found)


@relation(ReplicaGroupOut)
async def election(
    group: ReplicaGroupOut, info: Info, broker_id: BrokerId | None = None
) -> ElectionOut:
    """Show the result of an election if it happened now, for a chosen replica or by the rules."""
    controller = info.context.api.name_server.controller
    return ElectionOut.of(explain_election(group.model, controller, designated_id=broker_id))


@relation(ReplicaGroupOut)
async def changes(
    group: ReplicaGroupOut, info: Info, limit: Limit = 20, after: After[int] = None
) -> Page[GroupChangeOut, int]:
    """List the changes of the group, the newest first."""
    async with info.context.loaders.turns:
        page = await list_changes(
            BrokerGroupName(group.name, group.cluster_name),
            size=limit,
            before=after,
            controller=info.context.api.name_server.controller,
        )
    return page.map(GroupChangeOut.of)


@relation(ReplicaGroupOut)
async def epochs(group: ReplicaGroupOut, info: Info) -> GroupHistoriesOut:
    """Ask the replicas for the epochs of their logs, and compare them."""
    api, name = info.context.api, BrokerGroupName(group.name, group.cluster_name)
    async with info.context.loaders.turns:
        found = await compare_histories(name, api.name_server.controller, api.brokers)
    return GroupHistoriesOut.of(found)


@relation(ReplicaGroupOut)
async def lag(group: ReplicaGroupOut, info: Info) -> GroupLagsOut:
    """Ask the brokers where their logs end, and compare them with the master's."""
    api, name = info.context.api, BrokerGroupName(group.name, group.cluster_name)
    async with info.context.loaders.turns:
        found = await measure_group(name, api.name_server.controller, api.brokers)
    return GroupLagsOut.of(found)
