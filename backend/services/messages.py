"""Find messages on the masters of a cluster: by id, by key, and by time or offset, page by page.

Every search says how whole it is: brokers that did not tell are named, and what is left to read is
told by the cursor. A page reads each queue once, so it costs the same in a long topic as in a short
one.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Final, Protocol

from backend.clients.broker_changes import QueueEnds
from backend.clients.clock import Clock
from backend.clients.message_requests import KeyQuery, Pulled, locate_message
from backend.db import brokers as broker_rows
from backend.db import topics
from backend.db.engine import Database
from backend.domain.errors import InvalidCursor
from backend.domain.message import StoredMessage
from backend.domain.message_errors import InvalidMessageSearch, MessageNotFound
from backend.domain.names import check_topic_name
from backend.domain.operation_errors import BrokerSilent
from backend.domain.page import check_page_size
from backend.domain.queue_lock import BrokerKey
from backend.remoting.names import STATE_TOPIC
from backend.services.broker_questions import Questions, UnknownBroker, find_masters
from backend.services.queue_locks import key_of
from backend.services.topics import describe_topic

FOUND_COUNT_MAX: Final = 64
"""As many as stock brokers give for one key (`maxMsgsNumBatch`)."""
PAGE_SIZE_MAX: Final = 100
QUEUE_COUNT_MAX: Final = 64
"""Each is read once for a page, and its place stands in the cursor."""
EVER_MS: Final = 2**63 - 1

Positions = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
"""By broker group, the numbers of queues, and the offsets to go on from."""


class MessageSource(Protocol):
    """Speaks to brokers; each as the method of `Brokers` of that name."""

    async def message_at(
        self, address: str, group_name: str, log_position: int
    ) -> StoredMessage | None:
        """Ask for the message at a log position."""
        ...

    async def find_by_key(
        self, address: str, group_name: str, query: KeyQuery
    ) -> Sequence[StoredMessage]:
        """Ask for the messages with a key."""
        ...

    async def pull(
        self, address: str, group_name: str, topic: str, queue_id: int, offset: int, *, count: int
    ) -> Pulled:
        """Read a queue from an offset on."""
        ...

    async def offsets_at(
        self, address: str, topic: str, queue_ids: list[int], timestamp_ms: int
    ) -> dict[int, int]:
        """Ask for the first messages at a moment or after it."""
        ...

    async def topic_ends(self, address: str, topic: str) -> dict[int, QueueEnds]:
        """Ask where a topic's queues end."""
        ...


@dataclass(frozen=True, slots=True)
class KeySearch:
    """Say which messages are looked for: those with a key, or the one with a sender's id."""

    cluster_name: str
    topic: str
    key: str
    is_unique: bool = False
    begin_ms: int = 0
    end_ms: int = EVER_MS
    count_max: int = FOUND_COUNT_MAX


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """Hold what was found, oldest first; `is_complete` tells whether that is all there is."""

    messages: tuple[StoredMessage, ...]
    is_complete: bool
    unknown: tuple[UnknownBroker, ...]


@dataclass(frozen=True, slots=True)
class Browsing:
    """Say which messages of a topic are read, in the order in which they were stored.

    Without a beginning, all from the oldest on; `from_latest` begins at the ends of the queues, to
    follow what comes. `offset` needs one queue of one broker group. Messages stored at `end_ms` or
    later are left out.
    """

    cluster_name: str
    topic: str
    group_name: str | None = None
    queue_id: int | None = None
    begin_ms: int | None = None
    end_ms: int | None = None
    offset: int | None = None
    from_latest: bool = False


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Hold one page of messages, where to go on, and whether there is more now.

    `next_key` leads on even when nothing is left: to what will be stored.
    """

    messages: tuple[StoredMessage, ...]
    next_key: Positions
    has_more: bool
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def get_message(
    cluster_name: str,
    message_id: str,
    *,
    topic: str | None = None,
    database: Database,
    brokers: MessageSource,
) -> StoredMessage:
    """Find the message of an id: of its place in a broker's log, or of its sender in a topic.

    Raises:
        InvalidName: no cluster or topic may be called so.
        ClusterNotFound: none is.
        MessageNotFound: nobody who was asked holds it.
        BrokerSilent: who may hold it does not answer.
    """
    questions = Questions()
    masters = await find_masters(cluster_name, questions, database=database)
    place = locate_message(message_id)
    if place is not None:
        found = await _at_place(cluster_name, message_id, place, database=database, brokers=brokers)
        if found is not None:
            return found
    if topic is None:
        why = (
            "no broker of the cluster has that place; an id that its sender made needs the topic"
            if place is not None
            else "it names no place in a log; an id that its sender made needs the topic"
        )
        raise MessageNotFound(message_id, why)
    query = KeyQuery(
        check_topic_name(topic), message_id, is_unique=True, count_max=1, begin_ms=0, end_ms=EVER_MS
    )
    told = await questions.ask_each(
        masters, lambda one: brokers.find_by_key(one.address, one.group_name, query)
    )
    messages = sorted((one for found in told.values() for one in found), key=_order)
    if messages:
        return messages[-1]
    for silent in questions.unknown:
        raise BrokerSilent(silent.broker.address, silent.why)
    raise MessageNotFound(message_id, f"no message of topic {topic} has it as its id")


async def find_messages(
    search: KeySearch, *, database: Database, brokers: MessageSource
) -> FoundMessages:
    """Find messages of a topic by a key that their sender gave them, or by its id for them.

    Raises:
        InvalidName: no cluster or topic may be called so.
        ClusterNotFound: none is.
        InvalidPageSize: more are asked for than a broker gives.
        InvalidMessageSearch: no message can have such a key.
    """
    check_page_size(search.count_max, size_max=FOUND_COUNT_MAX)
    check_topic_name(search.topic)
    if not search.key.strip() or search.key != search.key.strip():
        raise InvalidMessageSearch("a key is not empty and has no blanks around it")
    questions = Questions()
    masters = await find_masters(search.cluster_name, questions, database=database)
    query = KeyQuery(
        search.topic,
        search.key,
        search.is_unique,
        search.count_max,
        search.begin_ms,
        search.end_ms,
    )
    told = await questions.ask_each(
        masters, lambda one: brokers.find_by_key(one.address, one.group_name, query)
    )
    messages = sorted((one for found in told.values() for one in found), key=_order)
    is_whole = not questions.unknown and all(
        len(found) < search.count_max for found in told.values()
    )
    kept = messages[-search.count_max :]
    return FoundMessages(tuple(kept), is_whole and len(kept) == len(messages), questions.unknown)


async def browse_messages(
    wanted: Browsing,
    *,
    size: int,
    after: Positions | None,
    database: Database,
    brokers: MessageSource,
    clock: Clock,
) -> MessagePage:
    """Read a topic's messages by when they were stored, from a moment, an offset or a cursor on.

    Raises:
        InvalidName: no cluster or topic may be called so.
        ClusterNotFound: none is.
        TopicNotFound: no topic of the cluster is.
        InvalidPageSize: the page is empty or too large.
        InvalidCursor: no page of these queues ended so.
        InvalidMessageSearch: an offset without its queue, or too many queues at once.
    """
    check_page_size(size, size_max=PAGE_SIZE_MAX)
    if wanted.offset is not None and None in (wanted.group_name, wanted.queue_id):
        raise InvalidMessageSearch("an offset is of one queue: name its broker group and number")
    questions = Questions()
    queues = await _find_queues(wanted, questions, database=database)
    positions = (
        _positions(after, queues)
        if after is not None
        else await _begin(wanted, queues, questions, brokers)
    )
    pulled = await _pull(wanted.topic, positions, queues, size, questions, brokers)
    messages, positions, has_more = _merge(pulled, positions, size, wanted.end_ms)
    return MessagePage(
        tuple(messages),
        _grouped(positions),
        has_more,
        questions.unknown,
        clock.now(),
    )


QueueName = tuple[str, int]
Queues = Mapping[QueueName, BrokerKey]


async def _find_queues(wanted: Browsing, questions: Questions, *, database: Database) -> Queues:
    topic = await describe_topic(wanted.cluster_name, wanted.topic, database=database)
    if wanted.topic == STATE_TOPIC:
        raise InvalidMessageSearch("the topic holds what brokers tell one another")
    async with database.connect() as connection:
        placements = (await topics.list_placements(connection, [topic.id]))[topic.id]
    masters = {
        one.group_name: one
        for one in await find_masters(wanted.cluster_name, questions, database=database)
    }
    found = {
        (one.group_name, queue_id): masters[one.group_name]
        for one in placements
        if one.group_name in masters and wanted.group_name in (None, one.group_name)
        for queue_id in range(one.settings.read_queue_count)
        if wanted.queue_id in (None, queue_id)
    }
    if len(found) > QUEUE_COUNT_MAX:
        why = f"{len(found)} queues are too many at once, {QUEUE_COUNT_MAX} at most"
        raise InvalidMessageSearch(f"{why}: name a broker group or a queue")
    if not found and (wanted.group_name, wanted.queue_id) != (None, None):
        raise InvalidMessageSearch("no master that is online has such a queue of the topic")
    return found


def _grouped(positions: Mapping[QueueName, int]) -> Positions:
    by_group: dict[str, list[tuple[int, int]]] = {}
    for (group, queue_id), offset in sorted(positions.items()):
        by_group.setdefault(group, []).append((queue_id, offset))
    return tuple((group, tuple(found)) for group, found in by_group.items())


def _positions(after: Positions, queues: Queues) -> dict[QueueName, int]:
    """Read where to go on.

    Raises:
        InvalidCursor: it is of other queues.
    """
    found = {(group, queue_id): offset for group, told in after for queue_id, offset in told}
    if any(not 0 <= offset <= EVER_MS for offset in found.values()):
        raise InvalidCursor
    # A queue that came since is read from its beginning; one whose master is away is kept.
    return dict.fromkeys(queues, 0) | found


async def _begin(
    wanted: Browsing, queues: Queues, questions: Questions, brokers: MessageSource
) -> dict[QueueName, int]:
    if wanted.offset is not None:
        return dict.fromkeys(queues, wanted.offset)
    by_broker: dict[BrokerKey, list[int]] = {}
    for (_, queue_id), broker in queues.items():
        by_broker.setdefault(broker, []).append(queue_id)

    async def ask(broker: BrokerKey) -> dict[int, int]:
        if wanted.begin_ms is not None:
            ids = by_broker[broker]
            return await brokers.offsets_at(broker.address, wanted.topic, ids, wanted.begin_ms)
        ends = await brokers.topic_ends(broker.address, wanted.topic)
        return {i: one.high if wanted.from_latest else one.low for i, one in ends.items()}

    told = await questions.ask_each(by_broker, ask)
    return {
        (group, queue_id): told[broker].get(queue_id, 0)
        for (group, queue_id), broker in queues.items()
        if broker in told
    }


async def _pull(
    topic: str,
    positions: Mapping[QueueName, int],
    queues: Queues,
    size: int,
    questions: Questions,
    brokers: MessageSource,
) -> dict[QueueName, Pulled]:
    names = [name for name in positions if name in queues]

    async def pull(name: QueueName) -> Pulled | None:
        broker, (group, queue_id) = queues[name], name
        return await questions.ask(
            broker,
            lambda: brokers.pull(
                broker.address, group, topic, queue_id, positions[name], count=size
            ),
        )

    answers = await asyncio.gather(*(pull(name) for name in names))
    told = zip(names, answers, strict=True)
    return {name: answer for name, answer in told if answer is not None}


def _merge(
    pulled: Mapping[QueueName, Pulled],
    positions: Mapping[QueueName, int],
    size: int,
    end_ms: int | None,
) -> tuple[list[StoredMessage], dict[QueueName, int], bool]:
    """Take the oldest messages of all queues, and say how far each queue is with that.

    A queue of which more is to be read ends the page at its last message: what follows there may be
    older than what the others hold.
    """
    moved = dict(positions)
    cut: tuple[int, str, int, int] | None = None
    for name, told in pulled.items():
        if not told.messages:
            # The offset lay outside the queue, or before what was deleted.
            moved[name] = min(told.next_offset, told.high)
        elif told.next_offset < told.high:
            last = told.messages[-1].order
            cut = last if cut is None else min(cut, last)
    listed = sorted((m for told in pulled.values() for m in told.messages), key=_order)
    within = [
        one
        for one in listed
        if (cut is None or one.order <= cut) and (end_ms is None or one.stored_at_ms < end_ms)
    ]
    page = within[:size]
    for one in page:
        moved[one.group_name, one.queue_id] = one.queue_offset + 1
    is_left = len(within) > len(page) or (cut is not None and (end_ms is None or cut[0] < end_ms))
    # A correction alone has found nothing yet, and there may be messages where it leads.
    is_corrected = any(
        not told.messages and moved[name] != positions[name] and moved[name] < told.high
        for name, told in pulled.items()
    )
    return page, moved, is_left or is_corrected


async def _at_place(
    cluster_name: str,
    message_id: str,
    place: tuple[str, int],
    *,
    database: Database,
    brokers: MessageSource,
) -> StoredMessage | None:
    """Look where the id says; a group's other brokers hold the same log if that one is away."""
    address, position = place
    async with database.connect() as connection:
        known = await broker_rows.list_of_name(connection, cluster_name)
    group_names = {one.group_name for one in known if one.address == address}
    asked = sorted(
        (one for one in known if one.group_name in group_names and one.is_online),
        key=lambda one: (one.address != address, one.broker_id),
    )
    questions = Questions()
    for broker in asked:
        key = key_of(broker)
        found = await questions.ask(
            key, partial(brokers.message_at, key.address, key.group_name, position)
        )
        if found is not None and found.message_id.upper() == message_id.upper():
            return found
    for silent in questions.unknown:
        raise BrokerSilent(silent.broker.address, silent.why)
    return None


def _order(message: StoredMessage) -> tuple[int, str, int, int]:
    return message.order
