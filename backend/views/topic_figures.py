"""Show figures of topics: offsets, rates and lags, clusters, which client would read what."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.queue_allocation import AllocatedQueue, AllocationRule
from backend.domain.recorded_lag import RecordedLag
from backend.domain.topic import Topic, TopicKind, TopicPlacement
from backend.services.topic.topic_offsets import TopicOffsets
from backend.services.topic.topic_stats import TopicStats
from backend.views.copying import Copied, copied
from backend.views.graph_forms import Int64, Pairs, in_graph
from backend.views.instants import reported_instant
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class QueueEndsOut:
    """Where a queue begins and ends; `stored_at` is of its newest message, null without one."""

    broker_group_name: str
    queue_id: int
    min_offset: Int64
    max_offset: Int64
    stored_at: datetime | None


@dataclass(frozen=True, slots=True)
class TopicOffsetsOut:
    """The ends of a topic's queues now.

    `message_count` comes from the brokers that answered, and is null if none did; if it is not
    complete, the number can be higher.
    """

    message_count: Int64 | None
    is_complete: bool
    queues: list[QueueEndsOut]
    unknown: list[UnknownBrokerOut]
    observed_at: datetime

    @classmethod
    def of(cls, found: TopicOffsets) -> Self:
        """Show the queues of a topic."""
        queues = [
            QueueEndsOut(
                broker_group_name, queue_id, one.low, one.high, reported_instant(one.stored_at_ms)
            )
            for (broker_group_name, queue_id), one in found.queues.items()
        ]
        unknown = [UnknownBrokerOut.of(one) for one in found.unknown]
        return copied(cls, found, queues=queues, unknown=unknown)


@dataclass(frozen=True, slots=True)
class HoldingClusterOut:
    """A cluster that holds a topic of the name, and its broker groups that do."""

    cluster_name: str
    kind: TopicKind
    broker_group_names: list[str]

    @classmethod
    def of(cls, topic: Topic, placements: Iterable[TopicPlacement]) -> Self:
        """Show where a topic is held."""
        return copied(
            cls, topic, broker_group_names=sorted(one.broker_group_name for one in placements)
        )


@dataclass(frozen=True, slots=True)
class ReaderLagOut(Copied[RecordedLag]):
    """How far a consumer group was in the topic when that was last measured, in messages."""

    consumer_group_name: str
    lag: Int64
    measured_at: datetime


@dataclass(frozen=True, slots=True)
class TopicStatsOut:
    """What a topic takes in now, null while unknown, and how far its readers were."""

    name: str
    kind: TopicKind
    messages_in_per_second: float | None
    bytes_in_per_second: float | None
    readers: list[ReaderLagOut]

    @classmethod
    def of(cls, stats: TopicStats) -> Self:
        """Show the figures of a topic."""
        readers = [ReaderLagOut.of(one) for one in stats.lags]
        return copied(
            cls, stats.rates, name=stats.topic.name, kind=stats.topic.kind, readers=readers
        )


@dataclass(frozen=True, slots=True)
class AllocatedQueueOut:
    """A queue of a broker group."""

    broker_group_name: str
    queue_id: int


@in_graph("QueueAllocation")
@dataclass(frozen=True, slots=True)
class AllocationOut:
    """What each client would read by one rule."""

    rule: AllocationRule
    clients: Annotated[
        dict[str, list[AllocatedQueueOut]], Pairs("ClientQueues", "client_id", "queues")
    ]

    @classmethod
    def of(cls, rule: AllocationRule, dealt: Mapping[str, Sequence[AllocatedQueue]]) -> Self:
        """Show what a rule gives to each client."""
        clients = {
            client_id: [AllocatedQueueOut(one.broker_group_name, one.queue_id) for one in queues]
            for client_id, queues in dealt.items()
        }
        return cls(rule, clients)
