"""Combine the reports of brokers about their clients, connection by connection."""

from collections.abc import Iterable, Sequence

from backend.brokers.requests.clients import ReportedClient
from backend.domain.client import BrokerConnection, Client
from backend.domain.queue_lock import BrokerKey

ClientConnection = tuple[str, BrokerConnection]
"""The id of a client, and its description by one broker."""


def connections_at(broker: BrokerKey, clients: Iterable[ReportedClient]) -> list[ClientConnection]:
    """Return each connection of a broker once, also if it is listed group by group."""
    found: dict[tuple[str, str], ReportedClient] = {}
    for one in clients:
        known = found.get((one.client_id, one.address))
        found[one.client_id, one.address] = one if known is None else _merged(known, one)
    return [(one.client_id, _connection(broker, one)) for one in found.values()]


def clients_of(answer: Iterable[Sequence[ClientConnection]]) -> tuple[Client, ...]:
    """Give the clients of all connections, by id."""
    by_id: dict[str, list[BrokerConnection]] = {}
    for connections in answer:
        for client_id, connection in connections:
            by_id.setdefault(client_id, []).append(connection)
    return tuple(Client(client_id, tuple(by_id[client_id])) for client_id in sorted(by_id))


def _merged(known: ReportedClient, further: ReportedClient) -> ReportedClient:
    ages = [age for age in (known.heard_ms, further.heard_ms) if age is not None]
    return known._replace(
        heard_ms=min(ages, default=None),
        producer_groups=tuple(sorted({*known.producer_groups, *further.producer_groups})),
        consumer_groups=tuple(sorted({*known.consumer_groups, *further.consumer_groups})),
    )


def _connection(broker: BrokerKey, client: ReportedClient) -> BrokerConnection:
    return BrokerConnection(
        broker_group_name=broker.broker_group_name,
        broker_name=str(broker.name),
        broker_address=broker.address,
        address=client.address,
        language=client.language,
        version=client.version,
        heard_ms=client.heard_ms,
        producer_groups=tuple(sorted(client.producer_groups)),
        consumer_groups=tuple(sorted(client.consumer_groups)),
    )
