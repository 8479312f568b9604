"""Show messages, how far consumer groups are with them, their bodies, and sent messages."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, ClassVar, Self

from backend.domain.message import Delivery, DeliveryState, StoredMessage
from backend.domain.message_body import BodyForm, ShownBody
from backend.services.message.message_browsing import MessagePage
from backend.services.message.message_deliveries import Deliveries
from backend.services.message.messages import FoundMessages
from backend.services.message.sent_messages import SendState, SentMessage
from backend.views.copying import Copied, copied
from backend.views.field_texts import (
    BODY_BYTES,
    BROKER_GROUP_NAME,
    CONSUMER_GROUP,
    CONSUMER_GROUP_COUNT,
    DELIVERIES,
    MESSAGE_ID,
    PROPERTY_NAME,
    QUEUE_ID,
    TOPIC_NAME,
    UNKNOWN_BROKERS,
)
from backend.views.graph_forms import Int64, NamedInGraph, Pairs, Text, in_graph
from backend.views.instants import reported_instant
from backend.views.observed_pages import EndlessPage, ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class MessageOut:
    """A message without its body; a time is null if its clock gave no valid time."""

    message_id: Annotated[str, MESSAGE_ID]
    unique_key: Annotated[
        str | None, Text("Id that the sender gave to the message. Null if it gave none.")
    ]
    topic: Annotated[str, TOPIC_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    queue_offset: Annotated[Int64, Text("Offset of the message in its queue.")]
    log_position: Annotated[Int64, Text("Log position of the message in bytes.")]
    stored_at: Annotated[
        datetime | None,
        Text(
            "Time when the broker stored the message, by the broker's clock. Null if it is invalid."
        ),
    ]
    store_host: Annotated[str, Text("Address of the broker that stored the message.")]
    born_at: Annotated[
        datetime | None,
        Text(
            "Time when the client sent the message, by the client's clock. Null if it is invalid."
        ),
    ]
    born_host: Annotated[str, Text("Address of the client that sent the message.")]
    reconsume_times: Annotated[int, Text("Number of retries before this delivery.")]
    size_bytes: Annotated[int, Text("Size of the stored message in bytes, the header included.")]
    body_bytes: Annotated[int, BODY_BYTES]
    keys: Annotated[list[str], Text("Keys of the message.")]
    tags: Annotated[str | None, Text("Tag of the message. Null if it has none.")]
    properties: Annotated[
        dict[
            Annotated[str, PROPERTY_NAME],
            Annotated[str, Text("Value of the property.")],
        ],
        Pairs("MessageProperty", "name", "value"),
        Text("Properties of the message, by name."),
    ]

    @classmethod
    def of(cls, message: StoredMessage) -> Self:
        """Show a message."""
        return copied(
            cls,
            message,
            stored_at=reported_instant(message.stored_at_ms),
            born_at=reported_instant(message.born_at_ms),
            body_bytes=len(message.body),
            properties=dict(sorted(message.properties.items())),
        )


@in_graph("MessageDelivery")
@dataclass(frozen=True, slots=True)
class DeliveryOut(Copied[Delivery]):
    """How far a consumer group is with the message, and the facts that show it."""

    consumer_group_name: Annotated[str, CONSUMER_GROUP]
    state: Annotated[DeliveryState, Text("How far the consumer group is with the message.")]
    why: Annotated[str, Text("Facts that the state follows from.")]
    attempt_count: Annotated[
        int | None, Text("Number of delivery attempts. Null if it is unknown.")
    ]


@dataclass(frozen=True, slots=True)
class MessagesOut(ObservedPage[MessageOut, UnknownBrokerOut]):
    """One page of messages. `next` continues, also with messages that are stored later."""

    is_endless: ClassVar[bool] = True

    @classmethod
    def of(cls, found: MessagePage) -> Self:
        """Show a page."""
        items = tuple(MessageOut.of(one) for one in found.messages)
        unknown = [UnknownBrokerOut.of(one) for one in found.unknown]
        return cls(EndlessPage(items, found.next_key, found.has_more), unknown, found.observed_at)


@dataclass(frozen=True, slots=True)
class FoundMessagesOut:
    """Messages that were found, the oldest first."""

    items: Annotated[
        list[MessageOut], NamedInGraph("nodes"), Text("Messages that were found, the oldest first.")
    ]
    is_complete: Annotated[
        bool, Text("Whether these are all matching messages. If not, there can be more.")
    ]
    unknown: Annotated[list[UnknownBrokerOut], UNKNOWN_BROKERS]

    @classmethod
    def of(cls, found: FoundMessages) -> Self:
        """Show the messages that were found."""
        items = [MessageOut.of(one) for one in found.messages]
        return cls(items, found.is_complete, [UnknownBrokerOut.of(one) for one in found.unknown])


@in_graph("MessageDeliveries")
@dataclass(frozen=True, slots=True)
class DeliveriesOut:
    """How far consumer groups are with a message. More groups may consume its topic."""

    deliveries: Annotated[list[DeliveryOut], NamedInGraph("nodes"), DELIVERIES]
    consumer_group_count: Annotated[int, CONSUMER_GROUP_COUNT]
    unknown: Annotated[list[UnknownBrokerOut], UNKNOWN_BROKERS]

    @classmethod
    def of(cls, found: Deliveries) -> Self:
        """Show how far groups are."""
        unknown = [UnknownBrokerOut.of(one) for one in found.unknown]
        return cls([DeliveryOut.of(one) for one in found.deliveries], found.group_count, unknown)


@dataclass(frozen=True, slots=True)
class MessageDetailOut(MessageOut):
    """A message, and how far consumer groups are with it. More groups may consume its topic."""

    deliveries: Annotated[list[DeliveryOut], DELIVERIES]
    consumer_group_count: Annotated[int, CONSUMER_GROUP_COUNT]
    unknown: Annotated[list[UnknownBrokerOut], UNKNOWN_BROKERS]


@in_graph("MessageBody")
@dataclass(frozen=True, slots=True)
class BodyOut(Copied[ShownBody]):
    """A body in the form in which it is shown."""

    form: Annotated[BodyForm, Text("Form in which the body is shown.")]
    content: Annotated[str, Text("The body in this form.")]
    is_cut: Annotated[bool, Text("Whether the body is longer than what is shown.")]
    stored_bytes: Annotated[int, BODY_BYTES]
    size_bytes: Annotated[
        int | None,
        Text("Size of the decompressed body in bytes. Null if it can not be decompressed."),
    ]
    shown_bytes: Annotated[int, Text("Number of bytes that are shown.")]
    compression: Annotated[
        str | None, Text("Compression of the stored body. Null if it is not compressed.")
    ]
    note: Annotated[
        str | None, Text("Why the body is shown in another form. Null if there is nothing to say.")
    ]


@in_graph("SentMessage")
@dataclass(frozen=True, slots=True)
class SentMessageOut(Copied[SentMessage]):
    """A message that was sent and is stored."""

    state: Annotated[SendState, Text("Whether the broker confirmed that the message is stored.")]
    message_id: Annotated[str, MESSAGE_ID]
    unique_key: Annotated[str, Text("Id that the control plane gave to the message.")]
    topic_name: Annotated[str, TOPIC_NAME]
    broker_group_name: Annotated[str, BROKER_GROUP_NAME]
    queue_id: Annotated[int, QUEUE_ID]
    queue_offset: Annotated[
        Int64 | None, Text("Offset of the message in its queue. Null while its delay runs.")
    ]
    body_bytes: Annotated[int, Text("Size of the body in bytes.")]
    body_sha256: Annotated[str, Text("SHA-256 digest of the body, in hexadecimal.")]
    doubt: Annotated[
        str | None, Text("What the broker did not confirm in time. Null if it confirmed all.")
    ]
