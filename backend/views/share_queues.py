"""Show share queues, from which POP consumers receive, and the messages that consumers have."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.queue_lock import Holder
from backend.domain.share_mode import ShareMode
from backend.domain.share_queue import ConsumeMode, ShareMessage, ShareQueue
from backend.services.consumer_group.share_queues import ShareQueueDetail
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    BROKER_GROUP_NAME,
    CLUSTER_NAME,
    CONSUMER_GROUP,
    OBSERVED_AT,
    QUEUE_ID,
    TOPIC_NAME,
)
from backend.views.graph_forms import Int64, Text, in_graph
from backend.views.observed_pages import ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut

in_graph("ShareMode")(ShareMode)
in_graph("ConsumeMode")(ConsumeMode)


@dataclass(frozen=True, slots=True)
class ShareQueueOut:
    """A consumer group's view of one queue; its owner alone gives messages to consumers.

    Ages are milliseconds by the clock of the owner. Numbers of deliveries and of their
    outcomes begin when the owner begins to lead its broker group.
    """

    cluster_name: Annotated[str, CLUSTER_NAME]
    consumer_group_name: Annotated[str, CONSUMER_GROUP]
    topic: Annotated[str, TOPIC_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    mode: Annotated[
        ShareMode,
        Text(
            "Which brokers own share queues of the topic: `PRIMARY` is the master of the group,"
            " `SHARED` any member in sync by lease."
        ),
    ]
    owner: Annotated[
        str | None,
        Text("Name of the broker that owns the share queue. Null if no member has its lease."),
    ]
    owner_address: Annotated[str | None, Text("Address of the owner, if it is online.")]
    waiters: Annotated[
        list[str],
        Text("Names of the brokers that wait for the share queue, in the order of their turns."),
    ]
    lease_epoch: Annotated[
        Int64,
        Text("Lease epoch of the last owner. A failover, a hand-over or a reset begin another."),
    ]
    reset_epoch: Annotated[Int64, Text("Lease epoch of the last reset. 0 before the first reset.")]
    is_used: Annotated[
        bool, Text("Whether a consumer has asked since the owner leads, or since the last reset.")
    ]
    consume_mode: Annotated[
        ConsumeMode | None,
        Text("How the group receives the topic, as an operator set it. Null means PULL."),
    ]
    is_ordered: Annotated[bool, Text("Whether messages are delivered in order.")]
    position: Annotated[Int64, Text("First offset that is not finished: all before it are.")]
    window_end: Annotated[Int64, Text("First offset that was never delivered.")]
    max_offset: Annotated[Int64, Text("Offset after the newest message of the queue.")]
    window_size: Annotated[
        int, Text("Maximum number of offsets from the position to the end of the window.")
    ]
    is_full: Annotated[
        bool,
        Text(
            "Whether the window is full: no new message is delivered until the first is finished."
        ),
    ]
    unfinished_count: Annotated[Int64, Text("Number of messages that the group has not finished.")]
    acquired_count: Annotated[int, Text("Number of messages in flight: consumers have them.")]
    returned_count: Annotated[
        int, Text("Number of messages that were delivered, came back, and are not finished.")
    ]
    finished_count: Annotated[int, Text("Number of finished messages behind the position.")]
    oldest_acquired_ms: Annotated[
        Int64 | None,
        Text("Milliseconds since the oldest delivery in flight. Null if none is in flight."),
    ]
    oldest_delivered_ms: Annotated[
        Int64 | None,
        Text("Milliseconds since the first delivery of the oldest unfinished message, if any."),
    ]
    attempt_count_max: Annotated[int, Text("How often a message is delivered at most.")]
    discards: Annotated[
        bool, Text("Whether a message after the last attempt is discarded, without a dead letter.")
    ]
    counted_ms: Annotated[
        Int64, Text("Milliseconds since the owner leads. The following numbers begin there.")
    ]
    delivered_count: Annotated[Int64, Text("Number of deliveries.")]
    redelivered_count: Annotated[
        Int64, Text("Number of deliveries of messages that were delivered before.")
    ]
    accepted_count: Annotated[Int64, Text("Number of messages that consumers finished.")]
    dead_letter_count: Annotated[Int64, Text("Number of messages that became dead letters.")]
    discarded_count: Annotated[Int64, Text("Number of messages that were discarded.")]
    retried_count: Annotated[
        Int64, Text("Number of messages that consumers gave back for long, to the retry topic.")
    ]

    @classmethod
    def of(cls, queue: ShareQueue) -> Self:
        """Show a share queue."""
        broker, held = queue.broker, queue.held
        return copied(
            cls,
            held,
            cluster_name=broker.cluster_name,
            broker_group_name=broker.broker_group_name,
            owner=None if queue.owner is None else str(queue.owner),
            owner_address=queue.owner_address,
            waiters=[str(one) for one in queue.waiters],
            lease_epoch=held.epoch,
            position=held.start,
            window_end=held.end,
        )


@in_graph("ShareQueues")
@dataclass(frozen=True, slots=True)
class ShareQueuesOut(ObservedPage[ShareQueueOut, UnknownBrokerOut]):
    """One page of share queues, and the masters that did not list all of theirs."""


@dataclass(frozen=True, slots=True)
class ShareMessageOut(Copied[ShareMessage]):
    """A message that was delivered, and is not finished."""

    offset: Annotated[Int64, Text("Offset of the message in its queue.")]
    holder: Annotated[
        Holder | None,
        Text(
            "Whether the consumer that has it is connected. A consumer of another member than the"
            " master passes for connected. Null if no consumer has it."
        ),
    ]
    client_id: Annotated[
        str | None,
        Text("Id of the client that has it. Null if none has it, or if the id is unknown."),
    ]
    acquired_ms: Annotated[Int64, Text("Milliseconds since its present or last delivery.")]
    delivered_ms: Annotated[Int64, Text("Milliseconds since its first delivery.")]
    due_in_ms: Annotated[
        Int64, Text("Milliseconds until it can be delivered again. 0 if it can be now.")
    ]
    delivery_count: Annotated[int, Text("How often it was delivered.")]


@dataclass(frozen=True, slots=True)
class ShareQueueDetailOut:
    """A share queue, with its messages that were delivered and are not finished."""

    queue: Annotated[ShareQueueOut, Text("The share queue.")]
    messages: Annotated[
        list[ShareMessageOut],
        Text("Messages that were delivered and are not finished, by offset."),
    ]
    observed_at: Annotated[datetime, OBSERVED_AT]

    @classmethod
    def of(cls, found: ShareQueueDetail) -> Self:
        """Show a share queue with its messages."""
        messages = [ShareMessageOut.of(one) for one in found.messages]
        return cls(ShareQueueOut.of(found.queue), messages, found.observed_at)
