"""Find one message in the graph, load how far groups are with it, and send one."""

from dataclasses import asdict
from typing import Any

import strawberry

from backend.api.graphql.context import Info
from backend.api.graphql.order_inputs import input_of
from backend.api.graphql.views import answers, shown, shows
from backend.domain import message as domain
from backend.domain.message_errors import MessageNotFound
from backend.domain.orders.message import SendMessage
from backend.operations.engine.order_schema import read_order
from backend.services.message.message_deliveries import describe_deliveries
from backend.services.message.messages import get_message
from backend.services.message.sent_messages import send_message
from backend.views.graph_forms import Text
from backend.views.messages import DeliveriesOut, MessageOut, SentMessageOut

SendMessageInput: Any = input_of(SendMessage)


@strawberry.type
class MessageDetail:
    """Present one message, and how far each consumer group is with the message."""

    message: MessageOut = shown(MessageOut, Text("The message without its body."))
    model: strawberry.Private[domain.StoredMessage]
    cluster_name: strawberry.Private[str]

    @shows(DeliveriesOut)
    async def deliveries(self, info: Info) -> DeliveriesOut:
        """Report how far each consumer group of the topic is with the message."""
        api = info.context.api
        found = await describe_deliveries(
            self.cluster_name, self.model, database=api.database, brokers=api.brokers
        )
        return DeliveriesOut.of(found)


@strawberry.type
class MessageMutation:
    """Send messages."""

    @answers(SentMessageOut)
    async def send_message(self, info: Info, message: SendMessageInput) -> SentMessageOut:
        """Send one message at once. The audit keeps only the size and the digest of the body."""
        api = info.context.api
        sent = await send_message(
            read_order(SendMessage, asdict(message)),
            info.context.author,
            database=api.database,
            brokers=api.brokers,
            clock=api.clock,
        )
        return SentMessageOut.of(sent)


@strawberry.type
class MessageQuery:
    """Ask for one message."""

    @shows(MessageDetail | None)
    async def message(
        self, info: Info, cluster_name: str, message_id: str, topic_name: str | None = None
    ) -> MessageDetail | None:
        """Find a message by its id. An id that the sender gave needs the topic."""
        api = info.context.api
        try:
            found = await get_message(
                cluster_name,
                message_id,
                topic=topic_name,
                database=api.database,
                brokers=api.brokers,
            )
        except MessageNotFound:
            return None
        return MessageDetail(message=MessageOut.of(found), model=found, cluster_name=cluster_name)
