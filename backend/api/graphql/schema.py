"""Build the graph from its queries, mutations and subscriptions."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import cache
from typing import TypeVar

import strawberry
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.tools import merge_types
from strawberry.types import ExecutionContext

from backend.api.context import require_change
from backend.api.credential_watch import CredentialWatch
from backend.api.feeds import Feed
from backend.api.graphql.access import AccessMutation
from backend.api.graphql.clients import ClientQuery
from backend.api.graphql.context import FreshLoaders, Info
from backend.api.graphql.errors import ExplainErrors
from backend.api.graphql.events import EventQuery, EventSubscription
from backend.api.graphql.guard import guard_fields
from backend.api.graphql.limits import CheckOnce, ReadOnce, limit_tokens
from backend.api.graphql.messages import MessageMutation, MessageQuery
from backend.api.graphql.operation_orders import OperationMutation, OperationVerbs
from backend.api.graphql.questions import build_question_type
from backend.api.graphql.scalars import INT64, Int64
from backend.api.graphql.views import answers, follows
from backend.domain.errors import (
    Unauthenticated,
)
from backend.services.capacity_reports.capacity import request_report
from backend.views.capacity import CapacityReportOut
from backend.views.field_texts import CLUSTER_NAME, ROUTE_VERSION
from backend.views.samples import SampleOut

ItemT = TypeVar("ItemT")


@strawberry.type
class TopologyChange:
    """Report that routes of a cluster have changed."""

    cluster_name: str = strawberry.field(description=CLUSTER_NAME.text)
    route_version: Int64 = strawberry.field(description=ROUTE_VERSION.text)


Query = merge_types("Query", (build_question_type(), EventQuery, ClientQuery, MessageQuery))


@strawberry.type
class CapacityMutation:
    """Request reports."""

    @answers(CapacityReportOut)
    async def request_capacity_report(self, info: Info) -> CapacityReportOut:
        """Request a capacity report."""
        principal = require_change(info.context.principal)
        api = info.context.api
        report = await request_report(
            database=api.database,
            clock=api.clock,
            task_queue=api.task_queue,
            requested_by=principal.user_name,
        )
        return CapacityReportOut.of(report)


Mutation = merge_types(
    "Mutation",
    (OperationMutation, OperationVerbs, AccessMutation, MessageMutation, CapacityMutation),
)


@strawberry.type
class Subscription(EventSubscription):
    """Follow events."""

    @follows(SampleOut)
    async def samples(
        self, info: Info, cluster_name: str | None = None
    ) -> AsyncGenerator[SampleOut, None]:
        """Follow the samples of brokers, of one cluster or of all."""
        async with aclosing(_while_signed_in(info, info.context.api.samples)) as samples:
            async for sample in samples:
                is_meant = cluster_name in (None, sample.cluster_name)
                if is_meant and info.context.within.includes(sample.cluster_name):
                    yield SampleOut.of(sample)

    @follows(TopologyChange)
    async def topology_changed(self, info: Info) -> AsyncGenerator[TopologyChange, None]:
        """Follow changes of routes."""
        async with aclosing(_while_signed_in(info, info.context.api.topology)) as changes:
            async for change in changes:
                if info.context.within.includes(change.cluster_name):
                    yield TopologyChange(
                        cluster_name=change.cluster_name, route_version=Int64(change.route_version)
                    )


async def _while_signed_in(info: Info, feed: Feed[ItemT]) -> AsyncGenerator[ItemT, None]:
    """Follow a feed until the credential of the caller ends.

    Raises:
        PasswordChangeRequired: the password of the user was reset.
    """
    context = info.context
    watch = CredentialWatch(context.api, context.token)
    async with aclosing(feed.listen()) as items:
        async for item in items:
            try:
                found = await watch.look()
            except Unauthenticated:
                return
            context.principal = found or context.principal
            yield item


class Schema(strawberry.Schema):
    """Keep errors out of the log of the library: `ExplainErrors` logs the relevant ones."""

    def process_errors(
        self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None
    ) -> None:
        """Do nothing here."""


@cache
def build_schema() -> Schema:
    """Make the schema once in a process: all applications use the same one."""
    schema = Schema(
        query=Query,
        mutation=Mutation,
        subscription=Subscription,
        extensions=[limit_tokens, ReadOnce, CheckOnce, FreshLoaders, ExplainErrors],
        config=StrawberryConfig(scalar_map={Int64: INT64}, sort_schema=True),
    )
    guard_fields(schema._schema)  # noqa: SLF001 - the core schema, which the library makes
    return schema


def print_schema() -> str:
    """Write the schema as `schema.graphql` holds it."""
    return build_schema().as_str().rstrip() + "\n"
