"""Show figures of topics: offsets, rates, lags, clusters, and allocations of queues."""

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
from backend.views.field_texts import (
    BROKER_GROUP_NAME,
    BYTES_IN,
    CLIENT_ID,
    CLUSTER_NAME,
    CONSUMER_GROUP,
    MEASURED_AT,
    MEASURED_LAG,
    MESSAGES_IN,
    NEXT_OFFSET,
    OBSERVED_AT,
    OLDEST_OFFSET,
    QUEUE_ID,
    TOPIC_KIND,
    TOPIC_NAME,
    UNKNOWN_BROKERS,
)
from backend.views.graph_forms import Int64, Pairs, Text, in_graph
from backend.views.instants import reported_instant
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class QueueEndsOut:
    """Offsets of a queue, and when its newest message was stored."""

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    min_offset: Annotated[Int64, OLDEST_OFFSET]
    max_offset: Annotated[Int64, NEXT_OFFSET]
    stored_at: Annotated[
        datetime | None,
        Text("Time when the newest message was stored. Null if there is no message."),
    ]


@dataclass(frozen=True, slots=True)
class TopicOffsetsOut:
    """The offsets of the queues of a topic now.

    `message_count` is that of the brokers that answered. If it is not complete, the number can be
    higher.
    """

    message_count: Annotated[
        Int64 | None,
        Text("Number of messages on the brokers that answered. Null if none answered."),
    ]
    is_complete: Annotated[
        bool, Text("Whether all brokers answered. If not, there can be more messages.")
    ]
    queues: Annotated[list[QueueEndsOut], Text("Offsets of each queue.")]
    unknown: Annotated[list[UnknownBrokerOut], UNKNOWN_BROKERS]
    observed_at: Annotated[datetime, OBSERVED_AT]

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
    """A cluster that holds a topic of this name, and its broker groups that hold the topic."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    kind: Annotated[TopicKind, TOPIC_KIND]
    broker_group_names: Annotated[
        list[str], Text("Names of the broker groups that hold the topic.")
    ]

    @classmethod
    def of(cls, topic: Topic, placements: Iterable[TopicPlacement]) -> Self:
        """Show where a topic is held."""
        return copied(
            cls, topic, broker_group_names=sorted(one.broker_group_name for one in placements)
        )


@dataclass(frozen=True, slots=True)
class ReaderLagOut(Copied[RecordedLag]):
    """Recorded lag of a consumer group in the topic, in messages."""

    consumer_group_name: Annotated[str, CONSUMER_GROUP]
    lag: Annotated[Int64, MEASURED_LAG]
    measured_at: Annotated[datetime, MEASURED_AT]


@dataclass(frozen=True, slots=True)
class TopicStatsOut:
    """Rates of a topic, null while unknown, and the recorded lag of its readers."""

    name: Annotated[str, TOPIC_NAME]
    kind: Annotated[TopicKind, TOPIC_KIND]
    messages_in_per_second: Annotated[float | None, MESSAGES_IN]
    bytes_in_per_second: Annotated[float | None, BYTES_IN]
    readers: Annotated[
        list[ReaderLagOut],
        Text("Lag of each consumer group that reads the topic, when it was last measured."),
    ]

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

    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]


@in_graph("QueueAllocation")
@dataclass(frozen=True, slots=True)
class AllocationOut:
    """The queues that each client would read by one rule."""

    rule: Annotated[AllocationRule, Text("Rule that allocates the queues.")]
    clients: Annotated[
        dict[
            Annotated[str, CLIENT_ID],
            Annotated[list[AllocatedQueueOut], Text("Queues of the client.")],
        ],
        Pairs("ClientQueues", "client_id", "queues"),
        Text("Queues of each client, by client id."),
    ]

    @classmethod
    def of(cls, rule: AllocationRule, dealt: Mapping[str, Sequence[AllocatedQueue]]) -> Self:
        """Show the allocation of a rule."""
        clients = {
            client_id: [AllocatedQueueOut(one.broker_group_name, one.queue_id) for one in queues]
            for client_id, queues in dealt.items()
        }
        return cls(rule, clients)
