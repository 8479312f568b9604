"""Find messages in the graph: by id, by key, by time and offset; send one."""

from dataclasses import asdict
from datetime import datetime
from typing import Any

import strawberry

from backend.api.cursors import decode_cursor, encode_cursor
from backend.api.graphql.context import Info
from backend.api.graphql.message_types import (
    FoundMessages,
    MessageDetail,
    MessageRange,
    Messages,
)
from backend.api.graphql.order_inputs import input_of
from backend.api.graphql.pages import PageInfo
from backend.api.graphql.views import graph_type
from backend.api.instants import milliseconds_of
from backend.domain.message_errors import InvalidMessageSearch, MessageNotFound
from backend.domain.orders.message import SendMessage
from backend.services import message_browsing
from backend.services import messages as service
from backend.services.operations.order_schema import read_order
from backend.services.sent_messages import send_message
from backend.views.messages import MessageOut, SentMessageOut
from backend.views.unknown_brokers import UnknownBrokerOut

SendMessageInput: Any = input_of(SendMessage)
SentMessage: Any = graph_type(SentMessageOut)


@strawberry.type
class MessageMutation:
    """Send messages."""

    @strawberry.mutation
    async def send_message(self, info: Info, message: SendMessageInput) -> SentMessage:
        """Send one message at once; the audit keeps the size and the digest of its body only."""
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
    """Ask for messages."""

    @strawberry.field
    async def messages(
        self,
        info: Info,
        cluster_name: str,
        topic_name: str,
        first: int = 32,
        after: str | None = None,
        within: MessageRange | None = None,
    ) -> Messages:
        """List a topic's messages by when they were stored."""
        api, meant = info.context.api, within or MessageRange()
        if (meant.offset or 0) < 0 or (meant.queue_id or 0) < 0:
            raise InvalidMessageSearch("no offset and no queue is below 0")
        found = await message_browsing.browse_messages(
            message_browsing.Browsing(
                cluster_name,
                topic_name,
                meant.group_name,
                meant.queue_id,
                milliseconds_of(meant.begin),
                milliseconds_of(meant.end),
                meant.offset,
                meant.from_latest,
            ),
            size=first,
            after=decode_cursor(after, message_browsing.Positions),
            database=api.database,
            brokers=api.brokers,
            clock=api.clock,
        )
        return Messages(
            nodes=[MessageOut.of(one) for one in found.messages],
            page_info=PageInfo(
                has_next_page=found.has_more, end_cursor=encode_cursor(found.next_key)
            ),
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
            observed_at=found.observed_at,
        )

    @strawberry.field
    async def found_messages(
        self,
        info: Info,
        cluster_name: str,
        topic_name: str,
        key: str,
        *,
        is_unique: bool = False,
        begin: datetime | None = None,
        end: datetime | None = None,
        first: int = service.FOUND_COUNT_MAX,
    ) -> FoundMessages:
        """Find messages by a key, or with `isUnique` by the id that their sender gave them."""
        api, end_ms = info.context.api, milliseconds_of(end)
        search = service.KeySearch(
            cluster_name,
            topic_name,
            key,
            is_unique,
            milliseconds_of(begin) or 0,
            service.EVER_MS if end_ms is None else end_ms,
            first,
        )
        found = await service.find_messages(search, database=api.database, brokers=api.brokers)
        return FoundMessages(
            nodes=[MessageOut.of(one) for one in found.messages],
            is_complete=found.is_complete,
            unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        )

    @strawberry.field
    async def message(
        self, info: Info, cluster_name: str, message_id: str, topic_name: str | None = None
    ) -> MessageDetail | None:
        """Find the message of an id; one that its sender made needs the topic."""
        api = info.context.api
        try:
            found = await service.get_message(
                cluster_name,
                message_id,
                topic=topic_name,
                database=api.database,
                brokers=api.brokers,
            )
        except MessageNotFound:
            return None
        return MessageDetail(message=MessageOut.of(found), model=found, cluster_name=cluster_name)
