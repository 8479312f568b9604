"""Answer messages over REST: by id, by key, by time and offset; send one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import RootModel
from pydantic.config import ConfigDict

from backend.api.context import Context
from backend.api.cursors import decode_cursor, encode_cursor
from backend.api.instants import milliseconds_of
from backend.api.permissions import reaches
from backend.api.rest.errors import NOT_FOUND, SILENT, refused_with
from backend.api.rest.operations import Asker, schema_of
from backend.api.rest.pages import After
from backend.domain.access import Reach
from backend.domain.orders.message import SendMessage
from backend.services.message_browsing import PAGE_SIZE_MAX, Browsing, Positions, browse_messages
from backend.services.message_deliveries import describe_deliveries
from backend.services.messages import (
    EVER_MS,
    FOUND_COUNT_MAX,
    KeySearch,
    find_messages,
    get_message,
)
from backend.services.operations.order_schema import read_order
from backend.services.sent_messages import send_message
from backend.views.copying import copied
from backend.views.messages import DeliveryOut, MessageOut, SentMessageOut
from backend.views.unknown_brokers import UnknownBrokerOut

router = APIRouter(tags=["messages"])

Name = Annotated[str | None, Query(max_length=300)]
QueueId = Annotated[int | None, Query(ge=0, le=2**31 - 1)]
Offset = Annotated[int | None, Query(ge=0, le=2**63 - 1)]
Begin = Annotated[datetime | None, Query(description="Only messages stored then or later.")]
End = Annotated[datetime | None, Query(description="Only messages stored before.")]
Key = Annotated[str, Query(min_length=1, max_length=1_000)]
TopicOfId = Annotated[
    str | None, Query(max_length=300, description="Needed for an id that its sender made.")
]


def _refer(schema: dict[str, Any]) -> None:
    schema.clear()
    schema["$ref"] = schema_of(SendMessage)


class SendIn(RootModel[dict[str, Any]]):
    """Ask for a message to be sent."""

    model_config = ConfigDict(json_schema_extra=_refer)


@dataclass(frozen=True, slots=True)
class MessagesOut:
    """One page; `next` goes on, also to what is stored later, `has_more` tells of what is there."""

    items: list[MessageOut]
    next: str
    has_more: bool
    unknown: list[UnknownBrokerOut]
    observed_at: datetime


@dataclass(frozen=True, slots=True)
class FoundMessagesOut:
    """What was found, oldest first; `is_complete` is false when there may be more."""

    items: list[MessageOut]
    is_complete: bool
    unknown: list[UnknownBrokerOut]


@dataclass(frozen=True, slots=True)
class MessageDetailOut(MessageOut):
    """A message, and how far consumer groups are with it; more groups may consume its topic."""

    deliveries: list[DeliveryOut]
    consumer_group_count: int
    unknown: list[UnknownBrokerOut]


@router.get("/clusters/{cluster_name}/topics/{topic_name}/messages", responses=NOT_FOUND)
async def show_messages(
    cluster_name: str,
    topic_name: str,
    context: Context,
    begin: Begin = None,
    end: End = None,
    group_name: Name = None,
    queue_id: QueueId = None,
    offset: Offset = None,
    *,
    from_latest: bool = False,
    limit: Annotated[int, Query(ge=1, le=PAGE_SIZE_MAX)] = 32,
    after: After = None,
) -> MessagesOut:
    """List a topic's messages by when they were stored; the cursor of the last page follows it."""
    wanted = Browsing(
        cluster_name,
        topic_name,
        group_name,
        queue_id,
        milliseconds_of(begin),
        milliseconds_of(end),
        offset,
        from_latest,
    )
    found = await browse_messages(
        wanted,
        size=limit,
        after=decode_cursor(after, Positions),
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return MessagesOut(
        items=[MessageOut.of(one) for one in found.messages],
        next=encode_cursor(found.next_key) or "",
        has_more=found.has_more,
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
        observed_at=found.observed_at,
    )


@router.get("/clusters/{cluster_name}/topics/{topic_name}/messages/found", responses=NOT_FOUND)
async def show_found_messages(
    cluster_name: str,
    topic_name: str,
    key: Key,
    context: Context,
    *,
    is_unique: bool = False,
    begin: Begin = None,
    end: End = None,
    limit: Annotated[int, Query(ge=1, le=FOUND_COUNT_MAX)] = FOUND_COUNT_MAX,
) -> FoundMessagesOut:
    """Find messages by a key, or with `is_unique` by the id that their sender gave them."""
    end_ms = milliseconds_of(end)
    search = KeySearch(
        cluster_name,
        topic_name,
        key,
        is_unique,
        milliseconds_of(begin) or 0,
        EVER_MS if end_ms is None else end_ms,
        limit,
    )
    found = await find_messages(search, database=context.database, brokers=context.brokers)
    return FoundMessagesOut(
        items=[MessageOut.of(one) for one in found.messages],
        is_complete=found.is_complete,
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
    )


@router.get("/clusters/{cluster_name}/messages/{message_id}", responses=SILENT)
async def show_message(
    cluster_name: str, message_id: str, context: Context, topic_name: TopicOfId = None
) -> MessageDetailOut:
    """Describe one message, and how far each consumer group is with it."""
    message = await get_message(
        cluster_name,
        message_id,
        topic=topic_name,
        database=context.database,
        brokers=context.brokers,
    )
    found = await describe_deliveries(
        cluster_name, message, database=context.database, brokers=context.brokers
    )
    return copied(
        MessageDetailOut,
        MessageOut.of(message),
        deliveries=[DeliveryOut.of(one) for one in found.deliveries],
        consumer_group_count=found.group_count,
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
    )


@router.post("/messages", status_code=201, responses={**SILENT, **refused_with(409)})
@reaches(Reach.KEPT)
async def send(given: SendIn, context: Context, author: Asker) -> SentMessageOut:
    """Send one message at once; the audit keeps the size and the digest of its body only.

    An answer of 502 says that it may be stored. Nothing sends it a second time.
    """
    sent = await send_message(
        read_order(SendMessage, given.root),
        author,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return SentMessageOut.of(sent)
