"""Show the producers and consumers that are connected to brokers."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.domain.client import BrokerConnection, Client, ClientRole, version_name
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    BROKER_NAME,
    CLIENT_ADDRESS,
    CLIENT_HEARD_MS,
    CLIENT_ID,
    CLIENT_LANGUAGE,
    CLIENT_ROLES,
    CLIENT_VERSION,
    CLIENT_VERSION_NAME,
    CONSUMER_GROUPS,
    PRODUCER_GROUPS,
    UNKNOWN_BROKERS,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@in_graph("ClientConnection")
@dataclass(frozen=True, slots=True)
class ConnectionOut:
    """A client as one broker reports it; RocketMQ brokers report no `heard_ms`."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker_name: Annotated[str, BROKER_NAME]
    broker_address: Annotated[str, BROKER_ADDRESS]
    address: Annotated[str, CLIENT_ADDRESS]
    language: Annotated[str, CLIENT_LANGUAGE]
    version: Annotated[int, CLIENT_VERSION]
    version_name: Annotated[str | None, CLIENT_VERSION_NAME]
    heard_ms: Annotated[Int64 | None, CLIENT_HEARD_MS]
    producer_groups: Annotated[list[str], PRODUCER_GROUPS]
    consumer_groups: Annotated[list[str], CONSUMER_GROUPS]

    @classmethod
    def of(cls, connection: BrokerConnection) -> Self:
        """Show a connection."""
        return copied(cls, connection, version_name=version_name(connection.version))


@dataclass(frozen=True, slots=True)
class ClientOut:
    """A client and its connections; `heard_ms` is since its last heartbeat to any broker."""

    client_id: Annotated[str, CLIENT_ID]
    roles: Annotated[list[ClientRole], CLIENT_ROLES]
    producer_groups: Annotated[list[str], PRODUCER_GROUPS]
    consumer_groups: Annotated[list[str], CONSUMER_GROUPS]
    heard_ms: Annotated[Int64 | None, CLIENT_HEARD_MS]
    connections: Annotated[
        list[ConnectionOut], Text("Connections of the client, one for each broker.")
    ]

    @classmethod
    def of(cls, client: Client) -> Self:
        """Show a client."""
        connections = [ConnectionOut.of(one) for one in client.connections]
        return copied(cls, client, connections=connections)


@dataclass(frozen=True, slots=True)
class ClientsOut(ObservedPage[ClientOut, UnknownBrokerOut]):
    """One page of clients, and the brokers that did not list all of their clients."""


@dataclass(frozen=True, slots=True)
class ClientDetailOut(ClientOut):
    """A client, and the brokers that did not list their clients."""

    unknown: Annotated[list[UnknownBrokerOut], UNKNOWN_BROKERS]
