"""Hold the context of resolvers: the API, the caller, and the loaders of one operation."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterator
from typing import Annotated, Final, NamedTuple, TypeVar
from uuid import UUID

import strawberry
from fastapi import Depends
from starlette.requests import HTTPConnection
from strawberry.dataloader import DataLoader
from strawberry.extensions import SchemaExtension
from strawberry.fastapi import BaseContext

from backend.api.context import ApiContext, get_context, get_principal, listener_of, name_author
from backend.api.supplies import Caller
from backend.domain.access import Principal
from backend.domain.broker import Broker
from backend.domain.broker_group import BrokerGroup
from backend.domain.cluster_scope import ClusterScope
from backend.domain.health import GroupHealth
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.operation import Author
from backend.domain.page import Page
from backend.domain.protection import Protection, Resource
from backend.domain.topic import Topic, TopicKind, TopicPlacement
from backend.services.capacity_reports.capacity import CapacityReportRow
from backend.services.capacity_reports.capacity_rows import list_report_rows
from backend.services.cluster.broker_groups import list_broker_groups
from backend.services.cluster.brokers import list_brokers_of_groups
from backend.services.cluster.health import describe_groups_health
from backend.services.consumer_group.consumer_groups import Observation, observe_consumer_groups
from backend.services.controller.group_changes import BrokerGroupName
from backend.services.controller.heartbeats import BrokerIdentity, list_heartbeats
from backend.services.controller.replica_views import (
    ReplicaGroupView,
    describe_replica_groups,
    list_replica_groups,
)
from backend.services.logical_queue.logical_queues import find_mappings
from backend.services.protections import find_protections
from backend.services.samples import ObservedSample, latest_samples
from backend.services.topic.topics import TopicFilter, list_placements, list_topics

TURN_COUNT: Final = 2
"""The maximum number of nodes of one answer that are loaded in parallel."""

KeyT = TypeVar("KeyT", bound=Hashable)
ValueT = TypeVar("ValueT")


class GroupPageKey(NamedTuple):
    """Ask for a page of a cluster's groups."""

    cluster_id: int
    size: int
    after: str | None


class TopicPageKey(NamedTuple):
    """Ask for a page of a cluster's topics."""

    cluster_id: int
    size: int
    after: str | None
    search: str | None
    kind: TopicKind | None


class ReplicaGroupPageKey(NamedTuple):
    """Ask for a page of a cluster's groups under a controller."""

    cluster_name: str
    size: int
    after: str | None
    search: str | None


class ObservationKey(NamedTuple):
    """Ask for the members and the lag of a consumer group."""

    cluster_name: str
    name: str


class Loaders:
    """Combine the single requests of resolvers of one operation into few statements."""

    def __init__(self, context: "GraphContext") -> None:
        api = self._api = context.api
        # Limits requests for single nodes: other requests need the pool and the brokers too.
        self.turns = asyncio.Semaphore(TURN_COUNT)
        self.groups: DataLoader[GroupPageKey, Page[BrokerGroup, str]]
        self.groups = DataLoader(self._load_groups)
        self.replica_groups: DataLoader[ReplicaGroupPageKey, Page[ReplicaGroupView, str]]
        self.replica_groups = DataLoader(self._load_replica_groups)
        self.replica_views: DataLoader[BrokerGroupName, ReplicaGroupView | None]
        self.replica_views = DataLoader(self._load_replica_views)
        self.topics: DataLoader[TopicPageKey, Page[Topic, str]] = DataLoader(self._load_topics)
        self.brokers: DataLoader[int, list[Broker]] = _by_key(
            lambda ids: list_brokers_of_groups(ids, database=api.database)
        )
        self.placements: DataLoader[int, list[TopicPlacement]] = _by_key(
            lambda ids: list_placements(ids, database=api.database)
        )
        self.mappings: DataLoader[tuple[str, str], TopicMapping | None] = _by_key(
            lambda names: find_mappings(names, database=api.database)
        )
        self.protections: DataLoader[Resource, Protection | None] = _by_key(
            lambda resources: find_protections(resources, database=api.database)
        )
        self.report_rows: DataLoader[UUID, list[CapacityReportRow]] = _by_key(
            lambda ids: list_report_rows(ids, within=context.within, database=api.database)
        )
        self.heartbeats: DataLoader[BrokerIdentity, int | None] = DataLoader(self._load_heartbeats)
        self.observations: DataLoader[ObservationKey, Observation]
        self.observations = DataLoader(self._load_observations)
        self.samples: DataLoader[str, list[ObservedSample]] = DataLoader(self._load_samples)
        self.health: DataLoader[tuple[str, str], GroupHealth | None] = DataLoader(self._load_health)

    async def _load_groups(self, keys: list[GroupPageKey]) -> list[Page[BrokerGroup, str]]:
        found: dict[GroupPageKey, Page[BrokerGroup, str]] = {}
        for _, size, after in {key._replace(cluster_id=0) for key in keys}:
            ids = [key.cluster_id for key in keys if key[1:] == (size, after)]
            pages = await list_broker_groups(
                ids, size=size, after=after, database=self._api.database
            )
            found.update({GroupPageKey(i, size, after): page for i, page in pages.items()})
        return [found[key] for key in keys]

    async def _load_replica_groups(
        self, keys: list[ReplicaGroupPageKey]
    ) -> list[Page[ReplicaGroupView, str]]:
        found: dict[ReplicaGroupPageKey, Page[ReplicaGroupView, str]] = {}
        for shape in {key._replace(cluster_name="") for key in keys}:
            names = [key.cluster_name for key in keys if key[1:] == shape[1:]]
            pages = await list_replica_groups(
                names,
                size=shape.size,
                after=shape.after,
                search=shape.search,
                controller=self._api.name_server.controller,
            )
            found.update({shape._replace(cluster_name=n): page for n, page in pages.items()})
        return [found[key] for key in keys]

    async def _load_replica_views(
        self, names: list[BrokerGroupName]
    ) -> list[ReplicaGroupView | None]:
        found = await describe_replica_groups(names, self._api.name_server.controller)
        return [found.get(name) for name in names]

    async def _load_topics(self, keys: list[TopicPageKey]) -> list[Page[Topic, str]]:
        found: dict[TopicPageKey, Page[Topic, str]] = {}
        for shape in {key._replace(cluster_id=0) for key in keys}:
            ids = [key.cluster_id for key in keys if key[1:] == shape[1:]]
            pages = await list_topics(
                ids,
                size=shape.size,
                after=shape.after,
                chosen=TopicFilter(shape.search, shape.kind),
                database=self._api.database,
            )
            found.update({shape._replace(cluster_id=i): page for i, page in pages.items()})
        return [found[key] for key in keys]

    async def _load_observations(self, keys: list[ObservationKey]) -> list[Observation]:
        found: dict[ObservationKey, Observation] = {}
        for cluster_name in {key.cluster_name for key in keys}:
            names = [key.name for key in keys if key.cluster_name == cluster_name]
            observations = await observe_consumer_groups(
                cluster_name,
                names,
                client_snapshots=self._api.client_snapshots,
                brokers=self._api.brokers,
                clock=self._api.clock,
            )
            found |= {ObservationKey(cluster_name, name): one for name, one in observations.items()}
        return [found[key] for key in keys]

    async def _load_heartbeats(self, keys: list[BrokerIdentity]) -> list[int | None]:
        found = await list_heartbeats(self._api.redis, keys)
        return [found.get(key) for key in keys]

    async def _load_health(self, names: list[tuple[str, str]]) -> list[GroupHealth | None]:
        found = await describe_groups_health(
            names,
            listener=listener_of(self._api),
            database=self._api.database,
            redis=self._api.redis,
        )
        return [found.get(name) for name in names]

    async def _load_samples(self, cluster_names: list[str]) -> list[list[ObservedSample]]:
        return [await latest_samples(self._api.redis, name) for name in cluster_names]


class GraphContext(BaseContext):
    """Hold the context of the API, the caller and the loaders."""

    def __init__(
        self, api: ApiContext, principal: Principal, token: str, connection: HTTPConnection
    ) -> None:
        super().__init__()
        self.api, self.principal, self.token = api, principal, token
        self._connection = connection
        self.loaders = Loaders(self)

    @property
    def author(self) -> Author:
        """Return the author for the audit."""
        return name_author(self.principal, self._connection, "graphql")

    @property
    def caller(self) -> Caller:
        """Return the caller with the dependencies of the answer."""
        return Caller(self.api, self.principal, self._connection, "graphql")

    @property
    def within(self) -> ClusterScope:
        """Return the clusters within reach of the caller."""
        return self.principal.clusters


class FreshLoaders(SchemaExtension):
    """Give each operation new loaders: the context of a WebSocket is used for many operations."""

    def on_operation(self) -> Iterator[None]:
        """Remove the loaded values of an earlier operation."""
        context: GraphContext = self.execution_context.context
        context.loaders = Loaders(context)
        yield


Info = strawberry.Info[GraphContext, None]


async def build_context(
    connection: HTTPConnection,
    api: Annotated[ApiContext, Depends(get_context)],
    principal: Annotated[Principal, Depends(get_principal)],
) -> GraphContext:
    """Make the context of a request or of a WebSocket."""
    return GraphContext(api, principal, connection.state.token, connection)


def _by_key(
    load: Callable[[list[KeyT]], Awaitable[dict[KeyT, ValueT]]],
) -> DataLoader[KeyT, ValueT]:
    async def load_in_order(keys: list[KeyT]) -> list[ValueT]:
        found = await load(keys)
        return [found[key] for key in keys]

    return DataLoader(load_in_order)
