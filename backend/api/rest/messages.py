"""Answer messages over REST: by id, by key, by time and offset; their bodies have a permission."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from backend.api.context import Context
from backend.api.cursors import decode_cursor, encode_cursor
from backend.api.instants import milliseconds_of
from backend.api.permissions import needs
from backend.api.rest.errors import NOT_FOUND, SILENT
from backend.api.rest.pages import After
from backend.api.rest.sessions import DeedAuthor
from backend.domain.access import Permission
from backend.domain.message import DeliveryState, StoredMessage
from backend.domain.message_body import SHOWN_BYTES_DEFAULT, SHOWN_BYTES_MAX, BodyForm
from backend.services.message_bodies import ReadBody, read_message_body
from backend.services.message_browsing import PAGE_SIZE_MAX, Browsing, Positions, browse_messages
from backend.services.message_deliveries import describe_deliveries
from backend.services.messages import (
    EVER_MS,
    FOUND_COUNT_MAX,
    KeySearch,
    find_messages,
    get_message,
)
from backend.views.instants import told_instant
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


class MessageOut(BaseModel):
    """A message without its body; times are null when its clocks meant none."""

    message_id: str
    unique_key: str | None
    topic: str
    group_name: str
    queue_id: int
    queue_offset: int
    log_position: int
    stored_at: datetime | None
    store_host: str
    born_at: datetime | None
    born_host: str
    reconsume_times: int
    size_bytes: int
    body_bytes: int
    keys: list[str]
    tags: str | None
    properties: dict[str, str]


class MessagesOut(BaseModel):
    """One page; `next` goes on, also to what is stored later, `has_more` tells of what is there."""

    items: list[MessageOut]
    next: str
    has_more: bool
    unknown: list[UnknownBrokerOut]
    observed_at: datetime


class FoundMessagesOut(BaseModel):
    """What was found, oldest first; `is_complete` is false when there may be more."""

    items: list[MessageOut]
    is_complete: bool
    unknown: list[UnknownBrokerOut]


class DeliveryOut(BaseModel):
    """How far a consumer group is with the message, and what that is concluded from."""

    consumer_group: str
    state: DeliveryState
    why: str
    attempt_count: int | None


class MessageDetailOut(MessageOut):
    """A message, and how far consumer groups are with it; more groups may consume its topic."""

    deliveries: list[DeliveryOut]
    consumer_group_count: int
    unknown: list[UnknownBrokerOut]


class BodyOut(BaseModel):
    """A body as it is shown; `size_bytes` is null when it can't be inflated here."""

    form: BodyForm
    content: str
    is_cut: bool
    stored_bytes: int
    size_bytes: int | None
    shown_bytes: int
    compression: str | None
    note: str | None


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
        items=[_message_out(one) for one in found.messages],
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
        items=[_message_out(one) for one in found.messages],
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
    return MessageDetailOut(
        **_message_out(message).model_dump(),
        deliveries=[
            DeliveryOut(
                consumer_group=one.consumer_group,
                state=one.state,
                why=one.why,
                attempt_count=one.attempt_count,
            )
            for one in found.deliveries
        ],
        consumer_group_count=found.group_count,
        unknown=[UnknownBrokerOut.of(one) for one in found.unknown],
    )


@router.get("/clusters/{cluster_name}/messages/{message_id}/body", responses=SILENT)
@needs(Permission.READ_BODIES)
async def show_message_body(
    cluster_name: str,
    message_id: str,
    context: Context,
    author: DeedAuthor,
    topic_name: TopicOfId = None,
    form: BodyForm = BodyForm.AUTO,
    max_bytes: Annotated[int, Query(ge=1, le=SHOWN_BYTES_MAX)] = SHOWN_BYTES_DEFAULT,
) -> BodyOut:
    """Show the body of one message as text, JSON or hexadecimal; the audit says who read it."""
    shown = await read_message_body(
        ReadBody(cluster_name, message_id, topic_name, form, max_bytes),
        author,
        database=context.database,
        brokers=context.brokers,
        clock=context.clock,
    )
    return BodyOut(
        form=shown.form,
        content=shown.content,
        is_cut=shown.is_cut,
        stored_bytes=shown.stored_bytes,
        size_bytes=shown.size_bytes,
        shown_bytes=shown.shown_bytes,
        compression=shown.compression,
        note=shown.note,
    )


def _message_out(message: StoredMessage) -> MessageOut:
    return MessageOut(
        message_id=message.message_id,
        unique_key=message.unique_key,
        topic=message.topic,
        group_name=message.group_name,
        queue_id=message.queue_id,
        queue_offset=message.queue_offset,
        log_position=message.log_position,
        stored_at=told_instant(message.stored_at_ms),
        store_host=message.store_host,
        born_at=told_instant(message.born_at_ms),
        born_host=message.born_host,
        reconsume_times=message.reconsume_times,
        size_bytes=message.size_bytes,
        body_bytes=len(message.body),
        keys=list(message.keys),
        tags=message.tags,
        properties=dict(message.properties),
    )
