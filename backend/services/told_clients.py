"""Put together what brokers tell of their clients, connection by connection."""

from collections.abc import Iterable, Sequence

from backend.brokers.requests.clients import ToldClient
from backend.domain.client import Client, Connection
from backend.domain.queue_lock import BrokerKey

ClientConnection = tuple[str, Connection]
"""The id of a client, and what one broker tells of it."""


def connections_at(broker: BrokerKey, told: Iterable[ToldClient]) -> list[ClientConnection]:
    """Give each connection of a broker once, also where it is told group by group."""
    found: dict[tuple[str, str], ToldClient] = {}
    for one in told:
        known = found.get((one.client_id, one.address))
        found[one.client_id, one.address] = one if known is None else _merged(known, one)
    return [(one.client_id, _connection(broker, one)) for one in found.values()]


def clients_of(told: Iterable[Sequence[ClientConnection]]) -> tuple[Client, ...]:
    """Give the clients of all connections, by id."""
    by_id: dict[str, list[Connection]] = {}
    for connections in told:
        for client_id, connection in connections:
            by_id.setdefault(client_id, []).append(connection)
    return tuple(Client(client_id, tuple(by_id[client_id])) for client_id in sorted(by_id))


def _merged(known: ToldClient, further: ToldClient) -> ToldClient:
    ages = [age for age in (known.heard_ms, further.heard_ms) if age is not None]
    return known._replace(
        heard_ms=min(ages, default=None),
        producer_groups=tuple(sorted({*known.producer_groups, *further.producer_groups})),
        consumer_groups=tuple(sorted({*known.consumer_groups, *further.consumer_groups})),
    )


def _connection(broker: BrokerKey, told: ToldClient) -> Connection:
    return Connection(
        group_name=broker.group_name,
        broker_id=broker.broker_id,
        broker_address=broker.address,
        address=told.address,
        language=told.language,
        version=told.version,
        heard_ms=told.heard_ms,
        producer_groups=tuple(sorted(told.producer_groups)),
        consumer_groups=tuple(sorted(told.consumer_groups)),
    )
