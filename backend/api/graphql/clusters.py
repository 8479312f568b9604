"""Present clusters and what they hold."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.brokers import BrokerGroup
from backend.api.graphql.context import GroupPageKey, Info, ReplicaGroupPageKey, TopicPageKey
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.replica_groups import ReplicaGroup
from backend.api.graphql.scalars import Int64
from backend.api.graphql.topics import Topic
from backend.domain import cluster as domain
from backend.domain.errors import BrokerGroupNotControlled, BrokerGroupNotFound, TopicNotFound
from backend.domain.page import check_page_size
from backend.domain.topic import TopicKind
from backend.services.broker_groups import describe_broker_group
from backend.services.group_changes import GroupName
from backend.services.replica_views import describe_replica_group
from backend.services.topics import describe_topic


@strawberry.type
class Cluster:
    """Present one cluster."""

    model: strawberry.Private[domain.Cluster]
    id: strawberry.ID
    name: str
    created_at: datetime
    route_version: Int64

    @strawberry.field
    async def broker_groups(
        self, info: Info, first: int = 100, after: str | None = None
    ) -> Connection[BrokerGroup]:
        """List the cluster's groups by name."""
        check_page_size(first)
        key = GroupPageKey(self.model.id, first, decode_cursor(after, str))
        return connect(await info.context.loaders.groups.load(key), BrokerGroup.of)

    @strawberry.field
    async def broker_group(self, info: Info, name: str) -> BrokerGroup | None:
        """Find the group of a name, under a controller or not."""
        try:
            found = await describe_broker_group(self.name, name, database=info.context.api.database)
        except BrokerGroupNotFound:
            return None
        return BrokerGroup.of(found)

    @strawberry.field
    async def replica_groups(
        self, info: Info, first: int = 100, after: str | None = None, search: str | None = None
    ) -> Connection[ReplicaGroup]:
        """List the cluster's groups under a controller by name."""
        check_page_size(first)
        key = ReplicaGroupPageKey(self.name, first, decode_cursor(after, str), search)
        return connect(await info.context.loaders.replica_groups.load(key), ReplicaGroup.of)

    @strawberry.field
    async def replica_group(self, info: Info, name: str) -> ReplicaGroup | None:
        """Find the group under a controller of a name."""
        controller = info.context.api.name_server.controller
        try:
            found = await describe_replica_group(GroupName(name, self.name), controller)
        except BrokerGroupNotControlled:
            return None
        return ReplicaGroup.of(found)

    @strawberry.field
    async def topics(
        self,
        info: Info,
        first: int = 50,
        after: str | None = None,
        search: str | None = None,
        kind: TopicKind | None = None,
    ) -> Connection[Topic]:
        """List the cluster's topics by name."""
        check_page_size(first)
        # graphql-core hands an enum argument over as its value, a plain string.
        wanted = None if kind is None else TopicKind(kind)
        key = TopicPageKey(self.model.id, first, decode_cursor(after, str), search, wanted)
        return connect(await info.context.loaders.topics.load(key), Topic.of)

    @strawberry.field
    async def topic(self, info: Info, name: str) -> Topic | None:
        """Find the topic of a name."""
        try:
            found = await describe_topic(self.name, name, database=info.context.api.database)
        except TopicNotFound:
            return None
        return Topic.of(found)

    @classmethod
    def of(cls, cluster: domain.Cluster) -> Self:
        """Present a cluster."""
        return cls(
            model=cluster,
            id=strawberry.ID(str(cluster.id)),
            name=cluster.name,
            created_at=cluster.created_at,
            route_version=Int64(cluster.route_version),
        )
