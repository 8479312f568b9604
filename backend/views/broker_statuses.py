"""Show what a broker says of itself, and how far consumer groups are on it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.queue_reading import QueueProgress
from backend.services.cluster.broker_statuses import BrokerStatus, GroupStats
from backend.views.copying import copied
from backend.views.graph_forms import Int64, Pairs
from backend.views.instants import reported_instant
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class BrokerStatusOut:
    """A broker's figures under RocketMQ's names, as the broker writes them."""

    address: str
    figures: Annotated[dict[str, str], Pairs("BrokerFigure", "name", "value")]
    observed_at: datetime

    @classmethod
    def of(cls, found: BrokerStatus) -> Self:
        """Show a broker."""
        return cls(found.broker.address, dict(found.figures), found.observed_at)


@dataclass(frozen=True, slots=True)
class ConsumedQueueOut:
    """How far a group is in a queue; `consumed_at` is of the last consumed message."""

    topic: str
    queue_id: int
    committed: Int64
    end: Int64
    lag: Int64 | None
    expired_count: Int64
    consumed_at: datetime | None

    @classmethod
    def of(cls, queue: QueueProgress, stats: GroupStats) -> Self:
        """Show a queue of a group."""
        return copied(
            cls,
            queue,
            lag=None if stats.is_broadcasting else queue.lag,
            expired_count=0 if stats.is_broadcasting else queue.expired_count,
            consumed_at=reported_instant(queue.consumed_at_ms),
        )


@dataclass(frozen=True, slots=True)
class GroupStatsOut:
    """How far a consumer group is in its queues on one broker.

    `lag` is null where it is not known, and of a broadcasting group, which has none.
    """

    consumer_group_name: str
    is_broadcasting: bool
    lag: Int64 | None
    expired_count: Int64
    queues: list[ConsumedQueueOut]

    @classmethod
    def of(cls, stats: GroupStats) -> Self:
        """Show a group."""
        return copied(cls, stats, queues=[ConsumedQueueOut.of(one, stats) for one in stats.queues])


@dataclass(frozen=True, slots=True)
class ConsumeStatsOut(ObservedPage[GroupStatsOut, UnknownBrokerOut]):
    """One page of groups by name; a broker that did not list all its groups is unknown."""
