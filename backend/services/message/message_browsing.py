"""Read the messages of a topic in the order of their storage, page by page.

A page reads each queue once, so its cost does not depend on the size of the topic. The cursor
contains an offset in each queue, so following a topic misses no message, whatever the clocks of
brokers are.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.messages import PullMessages
from backend.brokers.requests.offsets import GetOffsetsAt
from backend.brokers.requests.topics import GetTopicEnds
from backend.clients.clock import Clock
from backend.db import topics
from backend.db.engine import Database
from backend.domain.errors import InvalidCursor
from backend.domain.message import StoredMessage
from backend.domain.message_errors import InvalidMessageSearch
from backend.domain.message_reading import Pulled, QueueName, merge_queues
from backend.domain.page import check_page_size
from backend.domain.queue_lock import BrokerKey
from backend.remoting.names import STATE_TOPIC
from backend.services.cluster.broker_questions import Questions, UnknownBroker, find_masters
from backend.services.message.messages import EVER_MS
from backend.services.topic.topics import describe_topic

PAGE_SIZE_MAX: Final = 100
QUEUE_COUNT_MAX: Final = 64
"""Each queue is read once for a page, and its offset is in the cursor."""

Queues = Mapping[QueueName, BrokerKey]
Positions = tuple[tuple[str, tuple[tuple[int, int], ...]], ...]
"""By broker group, the numbers of queues, and the next offsets."""


@dataclass(frozen=True, slots=True)
class Browsing:
    """Choose messages of a topic, in the order of their storage.

    Without a beginning, all messages from the oldest on. `from_latest` starts at the ends of the
    queues, to follow later messages. `offset` needs one queue of one broker group. Messages stored
    at `end_ms` or later are left out.
    """

    cluster_name: str
    topic: str
    broker_group_name: str | None = None
    queue_id: int | None = None
    begin_ms: int | None = None
    end_ms: int | None = None
    offset: int | None = None
    from_latest: bool = False


@dataclass(frozen=True, slots=True)
class MessagePage:
    """Hold one page of messages, the next key, and whether more messages exist now.

    `next_key` also exists at the end: it leads to messages that are stored later.
    """

    messages: tuple[StoredMessage, ...]
    next_key: Positions
    has_more: bool
    unknown: tuple[UnknownBroker, ...]
    observed_at: datetime


async def browse_messages(
    wanted: Browsing,
    *,
    size: int,
    after: Positions | None,
    database: Database,
    brokers: Brokers,
    clock: Clock,
) -> MessagePage:
    """Read the messages of a topic by store time, from an instant, an offset or a cursor on.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. TopicNotFound: the cluster has no such topic. InvalidPageSize: the page is
        empty or too large. InvalidCursor: the cursor is of other queues. InvalidMessageSearch: an
        offset without its queue, or too many queues at once.
    """
    check_page_size(size, size_max=PAGE_SIZE_MAX)
    if wanted.offset is not None and None in (wanted.broker_group_name, wanted.queue_id):
        raise InvalidMessageSearch("an offset is of one queue: name its broker group and number")
    questions = Questions(brokers)
    queues = await _find_queues(wanted, questions, database=database)
    positions = (
        _positions(after, queues) if after is not None else await _begin(wanted, queues, questions)
    )
    pulled = await _pull(wanted.topic, positions, queues, size, questions)
    messages, positions, has_more = merge_queues(pulled, positions, size=size, end_ms=wanted.end_ms)
    return MessagePage(
        tuple(messages),
        _grouped(positions),
        has_more,
        questions.unknown,
        clock.now(),
    )


async def _find_queues(wanted: Browsing, questions: Questions, *, database: Database) -> Queues:
    topic = await describe_topic(wanted.cluster_name, wanted.topic, database=database)
    if wanted.topic == STATE_TOPIC:
        raise InvalidMessageSearch("the topic holds internal messages of brokers")
    async with database.connect() as connection:
        placements = (await topics.list_placements(connection, [topic.id]))[topic.id]
    holding = {one.broker_group_name for one in placements}
    online = await find_masters(wanted.cluster_name, questions, database=database, holding=holding)
    masters = {one.broker_group_name: one for one in online}
    found = {
        (one.broker_group_name, queue_id): masters[one.broker_group_name]
        for one in placements
        if one.broker_group_name in masters
        and wanted.broker_group_name in (None, one.broker_group_name)
        for queue_id in range(one.settings.read_queue_count)
        if wanted.queue_id in (None, queue_id)
    }
    if len(found) > QUEUE_COUNT_MAX:
        why = f"{len(found)} queues are too many at once, {QUEUE_COUNT_MAX} at most"
        raise InvalidMessageSearch(f"{why}: name a broker group or a queue")
    if not found and (wanted.broker_group_name, wanted.queue_id) != (None, None):
        raise InvalidMessageSearch("no master that is online has such a queue of the topic")
    return found


def _grouped(positions: Mapping[QueueName, int]) -> Positions:
    by_group: dict[str, list[tuple[int, int]]] = {}
    for (group, queue_id), offset in sorted(positions.items()):
        by_group.setdefault(group, []).append((queue_id, offset))
    return tuple((group, tuple(found)) for group, found in by_group.items())


def _positions(after: Positions, queues: Queues) -> dict[QueueName, int]:
    """Read the next offsets.

    Raises:
        InvalidCursor: the cursor is of other queues.
    """
    found = {(group, queue_id): offset for group, offsets in after for queue_id, offset in offsets}
    if any(not 0 <= offset <= EVER_MS for offset in found.values()):
        raise InvalidCursor
    # A new queue is read from its beginning. A queue without a master is kept.
    return dict.fromkeys(queues, 0) | found


@dataclass(frozen=True, slots=True)
class GetEnds(Inquiry[dict[int, int]]):
    """Ask a broker for the first or the last offsets of the queues of a topic."""

    topic_name: str
    is_last: bool

    async def put(self, brokers: Brokers, address: str) -> dict[int, int]:
        """Ask for both ends, and choose one."""
        ends = await brokers.ask(address, GetTopicEnds(self.topic_name))
        return {i: one.high if self.is_last else one.low for i, one in ends.items()}


async def _begin(wanted: Browsing, queues: Queues, questions: Questions) -> dict[QueueName, int]:
    if wanted.offset is not None:
        return dict.fromkeys(queues, wanted.offset)
    by_broker: dict[BrokerKey, list[int]] = {}
    for (_, queue_id), broker in queues.items():
        by_broker.setdefault(broker, []).append(queue_id)

    def begin(broker: BrokerKey) -> Inquiry[dict[int, int]]:
        if wanted.begin_ms is None:
            return GetEnds(wanted.topic, is_last=wanted.from_latest)
        ids, at_ms = by_broker[broker], wanted.begin_ms
        return GetOffsetsAt(topic=wanted.topic, queue_ids=ids, timestamp_ms=at_ms)

    answers = await questions.ask_all(by_broker, begin)
    return {
        (group, queue_id): answers[broker].get(queue_id, 0)
        for (group, queue_id), broker in queues.items()
        if broker in answers
    }


async def _pull(
    topic: str,
    positions: Mapping[QueueName, int],
    queues: Queues,
    size: int,
    questions: Questions,
) -> dict[QueueName, Pulled]:
    names = [name for name in positions if name in queues]

    async def pull(name: QueueName) -> Pulled | None:
        broker, (group, queue_id) = queues[name], name
        request = PullMessages(
            broker_group_name=group,
            topic=topic,
            queue_id=queue_id,
            offset=positions[name],
            count=size,
        )
        return await questions.ask(broker, request)

    answers = await asyncio.gather(*(pull(name) for name in names))
    pulled = zip(names, answers, strict=True)
    return {name: answer for name, answer in pulled if answer is not None}
