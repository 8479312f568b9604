"""Put the graph together: what can be asked, changed and followed."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import datetime
from functools import cache
from typing import Any, TypeVar
from uuid import UUID

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext

from backend.api.context import require_change
from backend.api.cursors import decode_cursor
from backend.api.feeds import Feed
from backend.api.graphql.access import AccessMutation, AccessQuery
from backend.api.graphql.audit import AuditQuery
from backend.api.graphql.broker_configs import BrokerConfigQuery
from backend.api.graphql.capacity import CapacityReport
from backend.api.graphql.clients import ClientQuery
from backend.api.graphql.clusters import Cluster
from backend.api.graphql.consumer_groups import ConsumerGroupQuery
from backend.api.graphql.context import FreshLoaders, Info
from backend.api.graphql.errors import TellErrors
from backend.api.graphql.events import EventQuery, EventSubscription
from backend.api.graphql.guard import guard_fields
from backend.api.graphql.health import HealthQuery
from backend.api.graphql.limits import CheckOnce, ReadOnce, limit_tokens
from backend.api.graphql.locks import LockQuery
from backend.api.graphql.messages import MessageMutation, MessageQuery
from backend.api.graphql.operation_orders import OperationMutation
from backend.api.graphql.operations import OperationQuery
from backend.api.graphql.overview import NameServer, Overview, Viewer
from backend.api.graphql.pages import Connection, connect
from backend.api.graphql.questions import build_question_type
from backend.api.graphql.samples import BrokerSample
from backend.api.graphql.scalars import INT64, Id, Int64
from backend.api.standing import Standing
from backend.domain.errors import (
    CapacityReportNotFound,
    ClusterNotFound,
    InvalidName,
    Unauthenticated,
)
from backend.services.capacity import describe_report, list_reports, request_report
from backend.services.clusters import describe_cluster, list_clusters, take_census

ItemT = TypeVar("ItemT")


@strawberry.type
class TopologyChange:
    """Say that routes of a cluster have changed."""

    cluster_name: str
    route_version: Int64


QuestionQuery: Any = build_question_type()


@strawberry.type
class Query(
    QuestionQuery,  # type: ignore[misc]  # made at run time
    OperationQuery,
    AuditQuery,
    AccessQuery,
    BrokerConfigQuery,
    LockQuery,
    EventQuery,
    HealthQuery,
    ConsumerGroupQuery,
    ClientQuery,
    MessageQuery,
):
    """Ask what is."""

    @strawberry.field
    def viewer(self, info: Info) -> Viewer:
        """Say who is signed in."""
        return Viewer.of(info.context.principal)

    @strawberry.field
    async def overview(self, info: Info) -> Overview:
        """Count what all clusters within reach hold."""
        context = info.context
        census = await take_census(within=context.within, database=context.api.database)
        return Overview.of(census)

    @strawberry.field
    def name_servers(self, info: Info) -> list[NameServer]:
        """List the name servers that this process knows: its own."""
        return [NameServer.of(info.context.api.name_server.describe())]

    @strawberry.field
    async def clusters(
        self, info: Info, first: int = 50, after: str | None = None
    ) -> Connection[Cluster]:
        """List clusters by name."""
        page = await list_clusters(
            size=first,
            after=decode_cursor(after, str),
            within=info.context.within,
            database=info.context.api.database,
        )
        return connect(page, Cluster.of)

    @strawberry.field
    async def cluster(self, info: Info, name: str) -> Cluster | None:
        """Find the cluster of a name."""
        try:
            return Cluster.of(await describe_cluster(name, database=info.context.api.database))
        except ClusterNotFound:
            return None

    @strawberry.field
    async def capacity_reports(
        self, info: Info, first: int = 20, after: str | None = None
    ) -> Connection[CapacityReport]:
        """List capacity reports, newest first."""
        page = await list_reports(
            database=info.context.api.database,
            size=first,
            after=decode_cursor(after, tuple[datetime, UUID]),
            within=info.context.within,
        )
        return connect(page, CapacityReport.of)

    @strawberry.field
    async def capacity_report(self, info: Info, report_id: Id) -> CapacityReport | None:
        """Find the capacity report of an id."""
        try:
            known_id = UUID(report_id)
        except ValueError as error:
            raise InvalidName(kind="capacity report", name=report_id, reason="is no id") from error
        try:
            context = info.context
            report = await describe_report(
                known_id, within=context.within, database=context.api.database
            )
        except CapacityReportNotFound:
            return None
        return CapacityReport.of(report)


@strawberry.type
class Mutation(OperationMutation, AccessMutation, MessageMutation):
    """Ask for a change."""

    @strawberry.mutation
    async def request_capacity_report(self, info: Info) -> CapacityReport:
        """Have a capacity report made."""
        principal = require_change(info.context.principal)
        api = info.context.api
        report = await request_report(
            database=api.database,
            clock=api.clock,
            task_queue=api.task_queue,
            requested_by=principal.user_name,
        )
        return CapacityReport.of(report)


@strawberry.type
class Subscription(EventSubscription):
    """Follow what happens."""

    @strawberry.subscription
    async def samples(
        self, info: Info, cluster_name: str | None = None
    ) -> AsyncGenerator[BrokerSample, None]:
        """Follow brokers' samples, of one cluster or of all."""
        async with aclosing(_while_signed_in(info, info.context.api.samples)) as samples:
            async for sample in samples:
                is_meant = cluster_name in (None, sample.cluster_name)
                if is_meant and info.context.within.includes(sample.cluster_name):
                    yield BrokerSample.of(sample)

    @strawberry.subscription
    async def topology_changed(self, info: Info) -> AsyncGenerator[TopologyChange, None]:
        """Follow changes of routes."""
        async with aclosing(_while_signed_in(info, info.context.api.topology)) as changes:
            async for change in changes:
                if info.context.within.includes(change.cluster_name):
                    yield TopologyChange(
                        cluster_name=change.cluster_name, route_version=Int64(change.route_version)
                    )


async def _while_signed_in(info: Info, feed: Feed[ItemT]) -> AsyncGenerator[ItemT, None]:
    """Follow a feed until the credential that asked for it has ended.

    Raises:
        PasswordChangeRequired: their password was reset.
    """
    context = info.context
    standing = Standing(context.api, context.token)
    async with aclosing(feed.listen()) as items:
        async for item in items:
            try:
                found = await standing.look()
            except Unauthenticated:
                return
            context.principal = found or context.principal
            yield item


class Schema(strawberry.Schema):
    """Keep errors out of the library's log: `TellErrors` writes those worth a line."""

    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Do nothing here."""


@cache
def build_schema() -> Schema:
    """Make the schema, once a process: every application of it may use the same one."""
    schema = Schema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        extensions=[limit_tokens, ReadOnce, CheckOnce, FreshLoaders, TellErrors],
        config=StrawberryConfig(scalar_map={Int64: INT64}, sort_schema=True),
    )
    guard_fields(schema._schema)  # noqa: SLF001 - the core schema, which the library makes
    return schema


def print_schema() -> str:
    """Write the schema as `schema.graphql` holds it."""
    return build_schema().as_str().rstrip() + "\n"
