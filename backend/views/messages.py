"""Show what a message is, how far groups are with it, what its body shows, and what was sent."""

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
from backend.views.graph_forms import Int64, NamedInGraph, Pairs, in_graph
from backend.views.instants import reported_instant
from backend.views.observed_pages import EndlessPage, ObservedPage
from backend.views.unknown_brokers import UnknownBrokerOut


@dataclass(frozen=True, slots=True)
class MessageOut:
    """A message without its body; times are null when its clocks meant none."""

    message_id: str
    unique_key: str | None
    topic: str
    broker_group_name: str
    queue_id: int
    queue_offset: Int64
    log_position: Int64
    stored_at: datetime | None
    store_host: str
    born_at: datetime | None
    born_host: str
    reconsume_times: int
    size_bytes: int
    body_bytes: int
    keys: list[str]
    tags: str | None
    properties: Annotated[dict[str, str], Pairs("MessageProperty", "name", "value")]

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
    """How far a consumer group is with the message, and what that is concluded from."""

    consumer_group_name: str
    state: DeliveryState
    why: str
    attempt_count: int | None


@dataclass(frozen=True, slots=True)
class MessagesOut(ObservedPage[MessageOut, UnknownBrokerOut]):
    """One page; `next` continues, also with later messages; `has_more`: more exist now."""

    is_endless: ClassVar[bool] = True

    @classmethod
    def of(cls, found: MessagePage) -> Self:
        """Show a page."""
        items = tuple(MessageOut.of(one) for one in found.messages)
        unknown = [UnknownBrokerOut.of(one) for one in found.unknown]
        return cls(EndlessPage(items, found.next_key, found.has_more), unknown, found.observed_at)


@dataclass(frozen=True, slots=True)
class FoundMessagesOut:
    """What was found, oldest first; `is_complete` is false when there may be more."""

    items: Annotated[list[MessageOut], NamedInGraph("nodes")]
    is_complete: bool
    unknown: list[UnknownBrokerOut]

    @classmethod
    def of(cls, found: FoundMessages) -> Self:
        """Show what was found."""
        items = [MessageOut.of(one) for one in found.messages]
        return cls(items, found.is_complete, [UnknownBrokerOut.of(one) for one in found.unknown])


@in_graph("MessageDeliveries")
@dataclass(frozen=True, slots=True)
class DeliveriesOut:
    """How far consumer groups are with a message; more of them may consume its topic."""

    deliveries: Annotated[list[DeliveryOut], NamedInGraph("nodes")]
    consumer_group_count: int
    unknown: list[UnknownBrokerOut]

    @classmethod
    def of(cls, found: Deliveries) -> Self:
        """Show how far groups are."""
        unknown = [UnknownBrokerOut.of(one) for one in found.unknown]
        return cls([DeliveryOut.of(one) for one in found.deliveries], found.group_count, unknown)


@dataclass(frozen=True, slots=True)
class MessageDetailOut(MessageOut):
    """A message, and how far consumer groups are with it; more groups may consume its topic."""

    deliveries: list[DeliveryOut]
    consumer_group_count: int
    unknown: list[UnknownBrokerOut]


@in_graph("MessageBody")
@dataclass(frozen=True, slots=True)
class BodyOut(Copied[ShownBody]):
    """A body as it is shown; `size_bytes` is null when it can't be inflated here."""

    form: BodyForm
    content: str
    is_cut: bool
    stored_bytes: int
    size_bytes: int | None
    shown_bytes: int
    compression: str | None
    note: str | None


@in_graph("SentMessage")
@dataclass(frozen=True, slots=True)
class SentMessageOut(Copied[SentMessage]):
    """A message that was sent and is stored; `queue_offset` is null while its delay runs."""

    state: SendState
    message_id: str
    unique_key: str
    topic_name: str
    broker_group_name: str
    queue_id: int
    queue_offset: Int64 | None
    body_bytes: int
    body_sha256: str
    doubt: str | None
