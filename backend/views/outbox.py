"""Show messages that escape from acting masters to other broker groups."""

from dataclasses import dataclass
from typing import Annotated, Self

from backend.domain.outbox import BrokerOutboxTopic
from backend.views.copying import copied
from backend.views.field_texts import (
    BROKER_ADDRESS,
    BROKER_GROUP_NAME,
    CLUSTER_NAME,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class OutboxTopicOut:
    """A topic, and its messages that wait at an acting master for another broker group."""

    cluster_name: Annotated[str, CLUSTER_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    broker_address: Annotated[str, BROKER_ADDRESS]
    topic: Annotated[str, TOPIC_NAME]
    kind: Annotated[
        str,
        Text(
            "What the messages waited for: `delayed` for a delay level, `timed` for a time,"
            " `committed` for the end of a transaction. `undecided` are half messages."
        ),
    ]
    entry_count: Annotated[Int64, Text("Number of messages that wait for another broker group.")]
    oldest_age_ms: Annotated[
        Int64, Text("Milliseconds since the oldest of them came into the outbox.")
    ]
    failure_count: Annotated[
        int, Text("Failed attempts for one message, the highest number of a queue.")
    ]
    last_failure: Annotated[
        str | None, Text("Why the last attempt failed. Null if none has failed.")
    ]
    next_attempt_in_ms: Annotated[
        Int64 | None, Text("Milliseconds until the next attempt. Null if none has failed.")
    ]

    @classmethod
    def of(cls, one: BrokerOutboxTopic) -> Self:
        """Show a topic in the outbox of a broker."""
        return copied(
            cls,
            one.waiting,
            cluster_name=one.broker.cluster_name,
            broker_group_name=one.broker.broker_group_name,
            broker_address=one.broker.address,
        )


@in_graph("Outbox")
@dataclass(frozen=True, slots=True)
class OutboxOut(ObservedPage[OutboxTopicOut, UnknownBrokerOut]):
    """One page of topics with messages that escape, and brokers that did not answer."""
