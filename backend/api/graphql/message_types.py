"""Say in the graph what a message is, how far groups are with it, and what its body shows."""

from datetime import datetime
from typing import Self

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.pages import PageInfo
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import shown
from backend.domain import message as domain
from backend.domain import message_body as body_domain
from backend.services.message_deliveries import describe_deliveries
from backend.views.instants import told_instant
from backend.views.unknown_brokers import UnknownBrokerOut

DeliveryState = strawberry.enum(domain.DeliveryState, name="DeliveryState", description=None)
BodyForm = strawberry.enum(body_domain.BodyForm, name="BodyForm", description=None)


@strawberry.type
class MessageProperty:
    """Present a property that a message carries."""

    name: str
    value: str


@strawberry.type
class MessageDelivery:
    """Present how far a consumer group is with a message, and what that is concluded from."""

    consumer_group: str
    state: domain.DeliveryState
    why: str
    attempt_count: int | None

    @classmethod
    def of(cls, delivery: domain.Delivery) -> Self:
        """Present a delivery."""
        return cls(
            consumer_group=delivery.consumer_group,
            state=delivery.state,
            why=delivery.why,
            attempt_count=delivery.attempt_count,
        )


@strawberry.type
class MessageDeliveries:
    """Present how far groups are; `consumerGroupCount` counts those not looked at, too."""

    nodes: list[MessageDelivery]
    consumer_group_count: int
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])


@strawberry.type
class Message:
    """Present a message without its body; times are null when its clocks meant none."""

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
    properties: list[MessageProperty]

    @classmethod
    def of(cls, message: domain.StoredMessage) -> Self:
        """Present a message."""
        return cls(
            message_id=message.message_id,
            unique_key=message.unique_key,
            topic=message.topic,
            group_name=message.group_name,
            queue_id=message.queue_id,
            queue_offset=Int64(message.queue_offset),
            log_position=Int64(message.log_position),
            stored_at=told_instant(message.stored_at_ms),
            store_host=message.store_host,
            born_at=told_instant(message.born_at_ms),
            born_host=message.born_host,
            reconsume_times=message.reconsume_times,
            size_bytes=message.size_bytes,
            body_bytes=len(message.body),
            keys=list(message.keys),
            tags=message.tags,
            properties=[
                MessageProperty(name=name, value=value)
                for name, value in sorted(message.properties.items())
            ],
        )


@strawberry.type
class MessageDetail:
    """Present one message, and how far each consumer group is with it."""

    message: Message
    model: strawberry.Private[domain.StoredMessage]
    cluster_name: strawberry.Private[str]

    @strawberry.field
    async def deliveries(self, info: Info) -> MessageDeliveries:
        """Judge how far each consumer group of the topic is with it."""
        api = info.context.api
        found = await describe_deliveries(
            self.cluster_name, self.model, database=api.database, brokers=api.brokers
        )
        return MessageDeliveries(
            nodes=[MessageDelivery.of(one) for one in found.deliveries],
            consumer_group_count=found.group_count,
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        )


@strawberry.type
class Messages:
    """Present one page; its end cursor goes on, also to what is stored later."""

    nodes: list[Message]
    page_info: PageInfo
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])
    observed_at: datetime


@strawberry.type
class FoundMessages:
    """Present what was found, oldest first; `isComplete` is false when there may be more."""

    nodes: list[Message]
    is_complete: bool
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])


@strawberry.type
class MessageBody:
    """Present a body as it is shown; `sizeBytes` is null when it can't be inflated here."""

    form: body_domain.BodyForm
    content: str
    is_cut: bool
    stored_bytes: int
    size_bytes: int | None
    shown_bytes: int
    compression: str | None
    note: str | None

    @classmethod
    def of(cls, shown: body_domain.ShownBody) -> Self:
        """Present a body."""
        return cls(
            form=shown.form,
            content=shown.content,
            is_cut=shown.is_cut,
            stored_bytes=shown.stored_bytes,
            size_bytes=shown.size_bytes,
            shown_bytes=shown.shown_bytes,
            compression=shown.compression,
            note=shown.note,
        )


@strawberry.input
class MessageRange:
    """Say which messages of a topic are meant; an offset is of one queue of one group."""

    begin: datetime | None = None
    end: datetime | None = None
    group_name: str | None = None
    queue_id: int | None = None
    offset: Int64 | None = None
    from_latest: bool = False
