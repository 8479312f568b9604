"""Describe what brokers tell of a group at the queues of a topic."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GroupMember:
    """Name a client of a consumer group and where it is connected from."""

    client_id: str
    address: str


@dataclass(frozen=True, slots=True)
class OnlineGroup:
    """Hold who of a group is connected to a broker, and what they read."""

    members: tuple[GroupMember, ...]
    topics: frozenset[str]
    is_broadcasting: bool


@dataclass(frozen=True, slots=True)
class QueueProgress:
    """Hold the end of a queue and how far a group has committed, in messages."""

    topic: str
    queue_id: int
    max_offset: int
    committed_offset: int

    @property
    def lag(self) -> int:
        """Count the messages that the group has not committed."""
        return max(0, self.max_offset - self.committed_offset)


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
