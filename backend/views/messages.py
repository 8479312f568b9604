"""Show what a message is, how far groups are with it, what its body shows, and what was sent."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Self

from backend.domain.message import Delivery, DeliveryState, StoredMessage
from backend.domain.message_body import BodyForm, ShownBody
from backend.services.sent_messages import SendState, SentMessage
from backend.views.copying import copied
from backend.views.graph_forms import Int64, Pairs, in_graph
from backend.views.instants import told_instant


@dataclass(frozen=True, slots=True)
class MessageOut:
    """A message without its body; times are null when its clocks meant none."""

    message_id: str
    unique_key: str | None
    topic: str
    group_name: str
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
            stored_at=told_instant(message.stored_at_ms),
            born_at=told_instant(message.born_at_ms),
            body_bytes=len(message.body),
            properties=dict(sorted(message.properties.items())),
        )


@in_graph("MessageDelivery")
@dataclass(frozen=True, slots=True)
class DeliveryOut:
    """How far a consumer group is with the message, and what that is concluded from."""

    consumer_group: str
    state: DeliveryState
    why: str
    attempt_count: int | None

    @classmethod
    def of(cls, delivery: Delivery) -> Self:
        """Show a delivery."""
        return copied(cls, delivery)


@in_graph("MessageBody")
@dataclass(frozen=True, slots=True)
class BodyOut:
    """A body as it is shown; `size_bytes` is null when it can't be inflated here."""

    form: BodyForm
    content: str
    is_cut: bool
    stored_bytes: int
    size_bytes: int | None
    shown_bytes: int
    compression: str | None
    note: str | None

    @classmethod
    def of(cls, shown: ShownBody) -> Self:
        """Show a body."""
        return copied(cls, shown)


@in_graph("SentMessage")
@dataclass(frozen=True, slots=True)
class SentMessageOut:
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

    @classmethod
    def of(cls, sent: SentMessage) -> Self:
        """Show what was sent."""
        return copied(cls, sent)
