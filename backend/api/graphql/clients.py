"""Present the producers and consumers that are connected to brokers."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.cursors import decode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.pages import PageInfo, connect
from backend.api.graphql.scalars import Int64, int64
from backend.api.graphql.unknown_brokers import UnknownBroker
from backend.domain import client as domain
from backend.domain.message_errors import ClientNotFound
from backend.services import clients as service

ClientRole = strawberry.enum(domain.ClientRole, name="ClientRole", description=None)


@strawberry.type
class ClientConnection:
    """Present what one broker tells of a client; `heardMs` is null where nobody tells it."""

    group_name: str
    broker_id: Int64
    broker_address: str
    address: str
    language: str
    version: int
    version_name: str | None
    heard_ms: Int64 | None
    producer_groups: list[str]
    consumer_groups: list[str]

    @classmethod
    def of(cls, connection: domain.Connection) -> Self:
        """Present a connection."""
        return cls(
            group_name=connection.group_name,
            broker_id=Int64(connection.broker_id),
            broker_address=connection.broker_address,
            address=connection.address,
            language=connection.language,
            version=connection.version,
            version_name=domain.version_name(connection.version),
            heard_ms=int64(connection.heard_ms),
            producer_groups=list(connection.producer_groups),
            consumer_groups=list(connection.consumer_groups),
        )


@strawberry.type
class Client:
    """Present a client and its connections; `heardMs` is since any broker heard it."""

    client_id: str
    roles: list[domain.ClientRole]
    producer_groups: list[str]
    consumer_groups: list[str]
    heard_ms: Int64 | None
    connections: list[ClientConnection]

    @classmethod
    def of(cls, client: domain.Client) -> Self:
        """Present a client."""
        return cls(
            client_id=client.client_id,
            roles=list(client.roles),
            producer_groups=list(client.producer_groups),
            consumer_groups=list(client.consumer_groups),
            heard_ms=int64(client.heard_ms),
            connections=[ClientConnection.of(one) for one in client.connections],
        )


@strawberry.type
class Clients:
    """Present one page of clients, and the brokers that did not tell all of theirs."""

    nodes: list[Client]
    page_info: PageInfo
    total_count: int
    unknown: list[UnknownBroker]
    observed_at: datetime


@strawberry.type
class ClientDetail:
    """Present one client, and the brokers that did not tell theirs."""

    client: Client
    unknown: list[UnknownBroker]


@strawberry.type
class ClientQuery:
    """Ask for clients."""

    @strawberry.field
    async def clients(
        self,
        info: Info,
        cluster_name: str,
        first: int = 100,
        after: str | None = None,
        search: str | None = None,
        group: str | None = None,
        role: domain.ClientRole | None = None,
    ) -> Clients:
        """List the clients of a cluster by id, as its brokers tell them now."""
        api = info.context.api
        found = await service.list_clients(
            cluster_name,
            domain.ClientFilter(group, role, search),
            size=first,
            after=decode_cursor(after, str),
            censuses=api.censuses,
            brokers=api.brokers,
            clock=api.clock,
        )
        page = connect(found.page, Client.of)
        return Clients(
            nodes=page.nodes,
            page_info=page.page_info,
            total_count=page.total_count,
            unknown=[UnknownBroker.of(one) for one in found.unknown],
            observed_at=found.observed_at,
        )

    @strawberry.field
    async def client(self, info: Info, cluster_name: str, client_id: str) -> ClientDetail | None:
        """Describe one client and its connections."""
        api = info.context.api
        try:
            found, unknown = await service.describe_client(
                cluster_name,
                client_id,
                censuses=api.censuses,
                brokers=api.brokers,
                clock=api.clock,
            )
        except ClientNotFound:
            return None
        return ClientDetail(
            client=Client.of(found), unknown=[UnknownBroker.of(one) for one in unknown]
        )
