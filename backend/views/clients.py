"""Show the producers and consumers that are connected to brokers."""

from dataclasses import dataclass
from typing import Self

from backend.domain.client import BrokerConnection, Client, ClientRole, version_name
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@in_graph("ClientConnection")
@dataclass(frozen=True, slots=True)
class ConnectionOut:
    """A client as one broker reports it; RocketMQ brokers report no `heard_ms`."""

    broker_group_name: str
    broker_name: str
    broker_address: str
    address: str
    language: str
    version: int
    version_name: str | None
    heard_ms: Int64 | None
    producer_groups: list[str]
    consumer_groups: list[str]

    @classmethod
    def of(cls, connection: BrokerConnection) -> Self:
        """Show a connection."""
        return copied(cls, connection, version_name=version_name(connection.version))


@dataclass(frozen=True, slots=True)
class ClientOut:
    """A client and its connections; `heard_ms` is since any broker heard it, null unknown."""

    client_id: str
    roles: list[ClientRole]
    producer_groups: list[str]
    consumer_groups: list[str]
    heard_ms: Int64 | None
    connections: list[ConnectionOut]

    @classmethod
    def of(cls, client: Client) -> Self:
        """Show a client."""
        connections = [ConnectionOut.of(one) for one in client.connections]
        return copied(cls, client, connections=connections)


@dataclass(frozen=True, slots=True)
class ClientsOut(ObservedPage[ClientOut, UnknownBrokerOut]):
    """One page of clients, and the brokers that did not list all of theirs."""


@dataclass(frozen=True, slots=True)
class ClientDetailOut(ClientOut):
    """A client, and the brokers that did not list their clients."""

    unknown: list[UnknownBrokerOut]
