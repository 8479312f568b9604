"""Describe the producers and consumers that are connected to brokers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

# Ordinals of stock's releases (remoting.md 1.4). From 4.9.0 on ten patches follow a minor release,
# and each has an even number more before it: that of its snapshot.
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
    """Hold what one broker tells of a client; a tuple, since there are thousands at a time.

    `heard_ms` is since its last heartbeat by the broker's clock; stock brokers tell it of producers
    only, so of others it is `None`.
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
    """Hold a client as all brokers together tell it; it has at least one connection."""

    client_id: str
    connections: tuple[BrokerConnection, ...]

    @property
    def producer_groups(self) -> tuple[str, ...]:
        """Name the groups that it produces in."""
        return tuple(sorted({name for one in self.connections for name in one.producer_groups}))

    @property
    def consumer_groups(self) -> tuple[str, ...]:
        """Name the groups that it consumes in."""
        return tuple(sorted({name for one in self.connections for name in one.consumer_groups}))

    @property
    def roles(self) -> tuple[ClientRole, ...]:
        """Say what it does."""
        found = {
            ClientRole.PRODUCER: self.producer_groups,
            ClientRole.CONSUMER: self.consumer_groups,
        }
        return tuple(role for role, groups in found.items() if groups)

    @property
    def heard_ms(self) -> int | None:
        """Say how long ago any broker heard it last; None when none tells."""
        instants = [one.heard_ms for one in self.connections if one.heard_ms is not None]
        return min(instants, default=None)


@dataclass(frozen=True, slots=True)
class ClientFilter:
    """Say which clients are meant: each fact that is given must be so."""

    group: str | None = None
    role: ClientRole | None = None
    search: str | None = None

    def takes(self, client: Client) -> bool:
        """Tell whether a client is meant."""
        # Thousands are looked through for a page: what is not asked for is not gathered.
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
    """Name the release that a client says it is of; None when the number names none we know."""
    if number in _KNOWN:
        return _KNOWN[number]
    for first, minor in _MINORS.items():
        if first <= number < first + _MINOR_SIZE and (number - first) % 2 == 0:
            return f"{minor}.{(number - first) // 2}"
    return None
