"""Ask for messages: by id, by key, by time and offset, and for the body of one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Final

from backend.brokers.asking import Brokers
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.access import Permission
from backend.domain.message_body import SHOWN_BYTES_DEFAULT, SHOWN_BYTES_MAX, BodyForm
from backend.domain.message_errors import InvalidMessageSearch, MessageNotFound
from backend.domain.operation import Author
from backend.questions.given_instants import milliseconds_of
from backend.questions.question import After, Given, InBrokerGroup, InQueue, question
from backend.services.message.message_bodies import ReadBody, read_message_body
from backend.services.message.message_browsing import (
    PAGE_SIZE_MAX,
    Browsing,
    Positions,
    browse_messages,
)
from backend.services.message.message_deliveries import describe_deliveries
from backend.services.message.messages import (
    EVER_MS,
    FOUND_COUNT_MAX,
    KeySearch,
    find_messages,
    get_message,
)
from backend.views.copying import copied
from backend.views.graph_forms import Int64, in_graph
from backend.views.messages import (
    BodyOut,
    DeliveriesOut,
    FoundMessagesOut,
    MessageDetailOut,
    MessageOut,
    MessagesOut,
)

MESSAGES: Final = "/clusters/{cluster_name}/topics/{topic_name}/messages"
Begin = Annotated[datetime | None, Given("Only messages stored then or later.")]
End = Annotated[datetime | None, Given("Only messages stored before.")]
Offset = Annotated[
    Int64 | None,
    Given(
        "Start at this offset. Needs a broker group and a queue.",
        low=0,
        high=2**63 - 1,
    ),
]
FromLatest = Annotated[bool, Given("Start at the ends of the queues, to follow later messages.")]
Size = Annotated[int, Given(low=1, high=PAGE_SIZE_MAX, graph_name="first")]
FoundCount = Annotated[int, Given(low=1, high=FOUND_COUNT_MAX, graph_name="first")]
Key = Annotated[str, Given(length_min=1, length_max=1_000)]

TopicOfId = Annotated[str | None, Given("Needed for an id of a sender.", length_max=300)]
MaxBytes = Annotated[int, Given(low=1, high=SHOWN_BYTES_MAX)]


@in_graph("MessageRange")
@dataclass(frozen=True, slots=True)
class MessageRange:
    """Choose messages of a topic. An offset needs one queue of one broker group."""

    begin: Begin = None
    end: End = None
    broker_group_name: InBrokerGroup = None
    queue_id: InQueue = None
    offset: Offset = None
    from_latest: FromLatest = False


Meant = Annotated[MessageRange, Given(graph_name="within", is_optional_in_graph=True)]


@question(MESSAGES, field="messages", tag="messages", refusals=(404,))
async def show_messages(
    cluster_name: str,
    topic_name: str,
    meant: Meant = MessageRange(),
    limit: Size = 32,
    after: After[Positions] = None,
    *,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> MessagesOut:
    """List messages of a topic by the time of storage.

    The last page has a cursor for later messages.
    """
    if (meant.offset or 0) < 0 or (meant.queue_id or 0) < 0:
        raise InvalidMessageSearch("no offset and no queue is below 0")
    wanted = Browsing(
        cluster_name,
        topic_name,
        meant.broker_group_name,
        meant.queue_id,
        milliseconds_of(meant.begin),
        milliseconds_of(meant.end),
        meant.offset,
        meant.from_latest,
    )
    found = await browse_messages(
        wanted, size=limit, after=after, database=database, brokers=brokers, clock=clock
    )
    return MessagesOut.of(found)


@question(MESSAGES + "/found", field="foundMessages", tag="messages", refusals=(404,))
async def show_found_messages(
    cluster_name: str,
    topic_name: str,
    key: Key,
    is_unique: bool = False,  # noqa: FBT001, FBT002 - callers name it
    begin: Begin = None,
    end: End = None,
    limit: FoundCount = FOUND_COUNT_MAX,
    *,
    database: Database,
    brokers: Brokers,
) -> FoundMessagesOut:
    """Find messages by a key, or with `is_unique` by the id that the sender gave."""
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
    return FoundMessagesOut.of(await find_messages(search, database=database, brokers=brokers))


@question(
    "/clusters/{cluster_name}/messages/{message_id}",
    field="Query.message",
    tag="messages",
    refusals=(404, 502),
)
async def show_message(
    cluster_name: str,
    message_id: str,
    topic_name: TopicOfId = None,
    *,
    database: Database,
    brokers: Brokers,
) -> MessageDetailOut:
    """Describe one message, and how far each consumer group is with the message."""
    message = await get_message(
        cluster_name, message_id, topic=topic_name, database=database, brokers=brokers
    )
    found = await describe_deliveries(cluster_name, message, database=database, brokers=brokers)
    deliveries = DeliveriesOut.of(found)
    return copied(
        MessageDetailOut,
        MessageOut.of(message),
        deliveries=deliveries.deliveries,
        consumer_group_count=deliveries.consumer_group_count,
        unknown=deliveries.unknown,
    )


@question(
    "/clusters/{cluster_name}/messages/{message_id}/body",
    field="messageBody",
    tag="messages",
    permission=Permission.READ_BODIES,
    refusals=(404, 502),
    absences=(MessageNotFound,),
)
async def show_message_body(
    cluster_name: str,
    message_id: str,
    topic_name: TopicOfId = None,
    form: BodyForm = BodyForm.AUTO,
    max_bytes: MaxBytes = SHOWN_BYTES_DEFAULT,
    *,
    author: Author,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> BodyOut:
    """Show the body of one message as text, JSON or hexadecimal. The audit records the reader."""
    if not 1 <= max_bytes <= SHOWN_BYTES_MAX:
        raise InvalidMessageSearch(f"of a body 1 to {SHOWN_BYTES_MAX} bytes are shown")
    shown = await read_message_body(
        ReadBody(cluster_name, message_id, topic_name, form, max_bytes),
        author,
        database=database,
        brokers=brokers,
        clock=clock,
    )
    return BodyOut.of(shown)
