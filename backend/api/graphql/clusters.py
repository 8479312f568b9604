"""Load the relations of clusters."""

from backend.api.graphql.context import GroupPageKey, Info, ReplicaGroupPageKey, TopicPageKey
from backend.api.graphql.questions import relation
from backend.domain.errors import BrokerGroupNotControlled, BrokerGroupNotFound, TopicNotFound
from backend.domain.page import Page, check_page_size
from backend.domain.topic import TopicKind
from backend.questions.question import After, Limit
from backend.services.cluster.broker_groups import describe_broker_group
from backend.services.controller.group_changes import BrokerGroupName
from backend.services.controller.replica_views import describe_replica_group
from backend.services.topic.topics import describe_topic
from backend.views.brokers import BrokerGroupOut
from backend.views.clusters import ClusterOut
from backend.views.replica_groups import ReplicaGroupOut
from backend.views.topics import TopicOut


@relation(ClusterOut)
async def broker_groups(
    cluster: ClusterOut, info: Info, limit: Limit = 100, after: After[str] = None
) -> Page[BrokerGroupOut, str]:
    """List the broker groups of the cluster by name."""
    key = GroupPageKey(cluster.id, check_page_size(limit), after)
    return (await info.context.loaders.groups.load(key)).map(BrokerGroupOut.of)


@relation(ClusterOut)
async def broker_group(cluster: ClusterOut, info: Info, name: str) -> BrokerGroupOut | None:
    """Find a broker group by its name."""
    try:
        found = await describe_broker_group(cluster.name, name, database=info.context.api.database)
    except BrokerGroupNotFound:
        return None
    return BrokerGroupOut.of(found)


@relation(ClusterOut)
async def replica_groups(
    cluster: ClusterOut,
    info: Info,
    limit: Limit = 100,
    after: After[str] = None,
    search: str | None = None,
) -> Page[ReplicaGroupOut, str]:
    """List the cluster's groups under a controller by name."""
    key = ReplicaGroupPageKey(cluster.name, check_page_size(limit), after, search)
    return (await info.context.loaders.replica_groups.load(key)).map(ReplicaGroupOut.of)


@relation(ClusterOut)
async def replica_group(cluster: ClusterOut, info: Info, name: str) -> ReplicaGroupOut | None:
    """Find a broker group under a controller by its name."""
    controller = info.context.api.name_server.controller
    try:
        found = await describe_replica_group(BrokerGroupName(name, cluster.name), controller)
    except BrokerGroupNotControlled:
        return None
    return ReplicaGroupOut.of(found)


@relation(ClusterOut)
async def topics(
    cluster: ClusterOut,
    info: Info,
    limit: Limit = 50,
    after: After[str] = None,
    search: str | None = None,
    kind: TopicKind | None = None,
) -> Page[TopicOut, str]:
    """List the cluster's topics by name."""
    key = TopicPageKey(cluster.id, check_page_size(limit), after, search, kind)
    return (await info.context.loaders.topics.load(key)).map(TopicOut.of)


@relation(ClusterOut)
async def topic(cluster: ClusterOut, info: Info, name: str) -> TopicOut | None:
    """Find a topic by its name."""
    try:
        found = await describe_topic(cluster.name, name, database=info.context.api.database)
    except TopicNotFound:
        return None
    return TopicOut.of(found)
