"""Say in the graph what pages of messages hold, and how far groups are with a message."""

from datetime import datetime

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.pages import PageInfo
from backend.api.graphql.scalars import Int64
from backend.api.graphql.views import shown
from backend.domain import message as domain
from backend.services.message_deliveries import describe_deliveries
from backend.views.messages import DeliveryOut, MessageOut
from backend.views.unknown_brokers import UnknownBrokerOut


@strawberry.type
class MessageDeliveries:
    """Present how far groups are; `consumerGroupCount` counts those not looked at, too."""

    nodes: list[DeliveryOut] = shown(list[DeliveryOut])
    consumer_group_count: int
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])


@strawberry.type
class MessageDetail:
    """Present one message, and how far each consumer group is with it."""

    message: MessageOut = shown(MessageOut)
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
            nodes=[DeliveryOut.of(one) for one in found.deliveries],
            consumer_group_count=found.group_count,
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        )


@strawberry.type
class Messages:
    """Present one page; its end cursor goes on, also to what is stored later."""

    nodes: list[MessageOut] = shown(list[MessageOut])
    page_info: PageInfo
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])
    observed_at: datetime


@strawberry.type
class FoundMessages:
    """Present what was found, oldest first; `isComplete` is false when there may be more."""

    nodes: list[MessageOut] = shown(list[MessageOut])
    is_complete: bool
    unknown: list[UnknownBrokerOut] = shown(list[UnknownBrokerOut])


@strawberry.input
class MessageRange:
    """Say which messages of a topic are meant; an offset is of one queue of one group."""

    begin: datetime | None = None
    end: datetime | None = None
    group_name: str | None = None
    queue_id: int | None = None
    offset: Int64 | None = None
    from_latest: bool = False
