"""Show the figures that a broker reports, and the progress of consumer groups on it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.queue_reading import QueueProgress
from backend.services.cluster.broker_statuses import BrokerStatus, GroupStats
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    CONSUMED_AT,
    CONSUMER_GROUP,
    EXPIRED_COUNT,
    LAG,
    NEXT_OFFSET,
    QUEUE_ID,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Pairs, Text
from backend.views.instants import reported_instant
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class BrokerStatusOut:
    """A broker's figures under RocketMQ's names, as the broker writes them."""

    address: Annotated[str, BROKER_ADDRESS]
    figures: Annotated[
        dict[
            Annotated[str, Text("Name of the figure.")],
            Annotated[str, Text("Value of the figure.")],
        ],
        Pairs("BrokerFigure", "name", "value"),
        Text("Figures that the broker reports, under RocketMQ's names."),
    ]
    observed_at: Annotated[datetime, Text("Time when the broker was asked.")]

    @classmethod
    def of(cls, found: BrokerStatus) -> Self:
        """Show a broker."""
        return cls(found.broker.address, dict(found.figures), found.observed_at)


@dataclass(frozen=True, slots=True)
class ConsumedQueueOut:
    """Progress of a consumer group in a queue; `consumed_at` is of the last consumed message."""

    topic: Annotated[str, TOPIC_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    committed: Annotated[Int64, Text("Committed offset of the group.")]
    end: Annotated[Int64, NEXT_OFFSET]
    lag: Annotated[Int64 | None, LAG]
    expired_count: Annotated[Int64, EXPIRED_COUNT]
    consumed_at: Annotated[datetime | None, CONSUMED_AT]

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
    """Progress of a consumer group in its queues on one broker.

    `lag` is null if it is unknown, and for a broadcasting group, which has no lag.
    """

    consumer_group_name: Annotated[str, CONSUMER_GROUP]
    is_broadcasting: Annotated[
        bool, Text("Whether each member reads all messages and keeps its own offsets.")
    ]
    lag: Annotated[
        Int64 | None,
        Text(
            "Number of messages not consumed. Null if it is unknown or the group is broadcasting."
        ),
    ]
    expired_count: Annotated[Int64, EXPIRED_COUNT]
    queues: Annotated[
        list[ConsumedQueueOut], Text("Progress of the group in each queue of the broker.")
    ]

    @classmethod
    def of(cls, stats: GroupStats) -> Self:
        """Show a group."""
        return copied(cls, stats, queues=[ConsumedQueueOut.of(one, stats) for one in stats.queues])


@dataclass(frozen=True, slots=True)
class ConsumeStatsOut(ObservedPage[GroupStatsOut, UnknownBrokerOut]):
    """One page of groups by name; a broker that did not list all groups is unknown."""
