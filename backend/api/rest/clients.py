"""Answer the producers and consumers that are connected over REST."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor
from backend.api.rest.errors import NOT_FOUND, SILENT
from backend.api.rest.pages import After, Limit, PageOut, Search, page_out
from backend.api.rest.unknown_brokers import UnknownBrokerOut, unknown_out
from backend.domain.client import Client, ClientFilter, ClientRole, Connection, version_name
from backend.services.clients import describe_client, list_clients

router = APIRouter(tags=["clients"])

GroupName = Annotated[
    str | None,
    Query(max_length=300, description="Only clients of this group, of either kind."),
]


class ConnectionOut(BaseModel):
    """What one broker tells of a client; `heard_ms` is null where stock brokers do not tell it."""

    group_name: str
    broker_id: int
    broker_address: str
    address: str
    language: str
    version: int
    version_name: str | None
    heard_ms: int | None
    producer_groups: list[str]
    consumer_groups: list[str]


class ClientOut(BaseModel):
    """A client and its connections; `heard_ms` is since any broker heard it, null unknown."""

    client_id: str
    roles: list[ClientRole]
    producer_groups: list[str]
    consumer_groups: list[str]
    heard_ms: int | None
    connections: list[ConnectionOut]


class ClientsOut(PageOut[ClientOut]):
    """One page of clients, and the brokers that did not tell all of theirs."""

    unknown: list[UnknownBrokerOut]
    observed_at: datetime


class ClientDetailOut(ClientOut):
    """A client, and the brokers that did not tell theirs."""

    unknown: list[UnknownBrokerOut]


@router.get("/clusters/{cluster_name}/clients", responses=NOT_FOUND)
async def show_clients(
    cluster_name: str,
    context: Context,
    search: Search = None,
    group: GroupName = None,
    role: ClientRole | None = None,
    limit: Limit = 100,
    after: After = None,
) -> ClientsOut:
    """List the clients of a cluster by id, as its brokers tell them now."""
    found = await list_clients(
        cluster_name,
        ClientFilter(group, role, search),
        size=limit,
        after=decode_cursor(after, str),
        censuses=context.censuses,
        brokers=context.brokers,
        clock=context.clock,
    )
    page = page_out(found.page, _client_out)
    return ClientsOut(
        items=page.items,
        next=page.next,
        total_count=page.total_count,
        unknown=[unknown_out(one) for one in found.unknown],
        observed_at=found.observed_at,
    )


@router.get("/clusters/{cluster_name}/clients/{client_id}", responses=SILENT)
async def show_client(cluster_name: str, client_id: str, context: Context) -> ClientDetailOut:
    """Describe one client and its connections."""
    client, unknown = await describe_client(
        cluster_name,
        client_id,
        censuses=context.censuses,
        brokers=context.brokers,
        clock=context.clock,
    )
    return ClientDetailOut(
        **_client_out(client).model_dump(), unknown=[unknown_out(one) for one in unknown]
    )


def _client_out(client: Client) -> ClientOut:
    return ClientOut(
        client_id=client.client_id,
        roles=list(client.roles),
        producer_groups=list(client.producer_groups),
        consumer_groups=list(client.consumer_groups),
        heard_ms=client.heard_ms,
        connections=[_connection_out(one) for one in client.connections],
    )


def _connection_out(connection: Connection) -> ConnectionOut:
    return ConnectionOut(
        group_name=connection.group_name,
        broker_id=connection.broker_id,
        broker_address=connection.broker_address,
        address=connection.address,
        language=connection.language,
        version=connection.version,
        version_name=version_name(connection.version),
        heard_ms=connection.heard_ms,
        producer_groups=list(connection.producer_groups),
        consumer_groups=list(connection.consumer_groups),
    )
