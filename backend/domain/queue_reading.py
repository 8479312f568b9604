"""Describe what brokers tell of a group at the queues of a topic."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Name a client of a consumer group and where it is connected from."""

    client_id: str
    address: str
    language: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class OnlineGroup:
    """Hold who of a group is connected to a broker, and what they read: topics to expressions."""

    members: tuple[GroupMember, ...]
    subscriptions: Mapping[str, str]
    is_broadcasting: bool
    consume_type: str = ""
    starts_from: str = ""

    @property
    def topics(self) -> frozenset[str]:
        """Name the topics that the group reads."""
        return frozenset(self.subscriptions)


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """Hold how far a group is in a queue: where it goes on, and the queue's end."""

    topic: str
    queue_id: int
    committed: int
    end: int
    consumed_at_ms: int | None = None
    """When the last consumed message was stored, by the broker's clock."""

    @property
    def lag(self) -> int:
        """Count the messages that are left to read."""
        return max(0, self.end - self.committed)


@dataclass(frozen=True, slots=True)
class QueueReader:
    """Hold how long ago a group was last seen at a queue, in ms; None is not seen.

    `advanced_ms` is since it committed another offset than before.
    """

    pulled_ms: int | None = None
    committed_ms: int | None = None
    advanced_ms: int | None = None
    address: str | None = None


@dataclass(frozen=True, slots=True)
class QueueReaders:
    """Hold the readers of a topic's queues by queue, and for how long the broker has looked."""

    is_gate_open: bool
    observed_for_ms: int
    readers: Mapping[int, QueueReader]
