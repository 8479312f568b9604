"""Describe the producers and consumers that are connected to brokers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

# Numbers of RocketMQ releases (remoting.md 1.4). From 4.9.0 on each minor release has ten patch
# releases, and each patch release has two numbers: its snapshot comes first.
_KNOWN: Final = {317: "4.5.2", 333: "4.6.0"}
_MINORS: Final = {
    393: "4.9",
    413: "5.0",
    433: "5.1",
    453: "5.2",
    473: "5.3",
    493: "5.4",
    513: "5.5",
}
_MINOR_SIZE: Final = 20


class ClientRole(StrEnum):
    """Say what a client does."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


class BrokerConnection(NamedTuple):
    """Hold the report of one broker about a client; a tuple, since there are thousands at a time.

    `heard_ms` is the time since its last heartbeat, by the clock of the broker. RocketMQ brokers
    report it for producers only, so it is `None` for other clients.
    """

    broker_group_name: str
    broker_name: str
    broker_address: str
    address: str
    language: str
    version: int
    heard_ms: int | None
    producer_groups: tuple[str, ...]
    consumer_groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Client:
    """Hold a client as all brokers together report it; it has at least one connection."""

    client_id: str
    connections: tuple[BrokerConnection, ...]

    @property
    def producer_groups(self) -> tuple[str, ...]:
        """Return the names of its producer groups."""
        return tuple(sorted({name for one in self.connections for name in one.producer_groups}))

    @property
    def consumer_groups(self) -> tuple[str, ...]:
        """Return the names of its consumer groups."""
        return tuple(sorted({name for one in self.connections for name in one.consumer_groups}))

    @property
    def roles(self) -> tuple[ClientRole, ...]:
        """Return its roles."""
        found = {
            ClientRole.PRODUCER: self.producer_groups,
            ClientRole.CONSUMER: self.consumer_groups,
        }
        return tuple(role for role, groups in found.items() if groups)

    @property
    def heard_ms(self) -> int | None:
        """Return the time since its last heartbeat to any broker; None if no broker reports it."""
        instants = [one.heard_ms for one in self.connections if one.heard_ms is not None]
        return min(instants, default=None)


@dataclass(frozen=True, slots=True)
class ClientFilter:
    """Choose clients. A client must fulfil each condition that is given."""

    group: str | None = None
    role: ClientRole | None = None
    search: str | None = None

    def takes(self, client: Client) -> bool:
        """Return whether a client fulfils the conditions."""
        # A page checks thousands of clients, so only the values of given conditions are computed.
        if self.search is not None and self.search.lower() not in client.client_id.lower():
            return False
        if self.group is None and self.role is None:
            return True
        groups: set[str] = set()
        if self.role is not ClientRole.CONSUMER:
            groups.update(client.producer_groups)
        if self.role is not ClientRole.PRODUCER:
            groups.update(client.consumer_groups)
        return bool(groups) if self.group is None else self.group in groups


def version_name(number: int) -> str | None:
    """Return the release of the version number of a client; None if the number is unknown."""
    if number in _KNOWN:
        return _KNOWN[number]
    for first, minor in _MINORS.items():
        if first <= number < first + _MINOR_SIZE and (number - first) % 2 == 0:
            return f"{minor}.{(number - first) // 2}"
    return None
