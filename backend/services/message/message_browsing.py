"""Read the messages of a topic in the order of their storage, page by page.

A page reads each queue once, so its cost does not depend on the size of the topic. The cursor
contains an offset in each queue, so following a topic misses no message, whatever the clocks of
brokers are.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from backend.brokers.asking import Brokers
from backend.brokers.requests.messages import PullMessages
from backend.brokers.requests.offsets import GetOffsetsAt
from backend.brokers.requests.topics import GetTopicEnds
from backend.clients.clock import Clock
from backend.db import logical_queues, topics
from backend.db.engine import Database
from backend.domain.errors import InvalidCursor
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.message import StoredMessage
from backend.domain.message_errors import InvalidMessageSearch
from backend.domain.message_reading import Pulled, QueueName, merge_queues
from backend.domain.page import check_page_size
from backend.domain.queue_lock import BrokerKey
from backend.domain.topic import TopicPlacement
from backend.remoting.names import is_state_topic
from backend.services.cluster.broker_questions import Questions, UnknownBroker, find_masters
from backend.services.message.messages import EVER_MS
from backend.services.topic.topic_offsets import logical_ends
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
    topic = await describe_topic(wanted.cluster_name, wanted.topic, database=database)
    if is_state_topic(wanted.topic):
        raise InvalidMessageSearch("the topic holds internal messages of brokers")
    async with database.connect() as connection:
        placements = (await topics.list_placements(connection, [topic.id]))[topic.id]
        static = await logical_queues.find(connection, wanted.cluster_name, wanted.topic)
    mapping = None if static is None else static.mapping
    holding = {one.broker_group_name for one in placements}
    masters = await find_masters(wanted.cluster_name, questions, database=database, holding=holding)
    queues = _find_queues(wanted, _names(placements, mapping), masters)
    if after is not None:
        positions = _positions(after, queues, mapping)
    else:
        positions = await _begin(wanted, queues, mapping, masters, questions)
    pulled = await _pull(wanted.topic, positions, queues, size, questions)
    messages, positions, has_more = merge_queues(pulled, positions, size=size, end_ms=wanted.end_ms)
    return MessagePage(
        tuple(messages),
        _grouped(positions),
        has_more,
        questions.unknown,
        clock.now(),
    )


def _names(
    placements: Sequence[TopicPlacement], mapping: TopicMapping | None
) -> Iterator[QueueName]:
    """Name the queues of a topic; logical queues by the broker groups that lead them."""
    if mapping is not None:
        for queue in mapping.queues:
            if queue.leader_name is not None:
                yield queue.leader_name, queue.global_id
        return
    for one in placements:
        for queue_id in range(one.settings.read_queue_count):
            yield one.broker_group_name, queue_id


def _find_queues(
    wanted: Browsing, names: Iterable[QueueName], masters: Sequence[BrokerKey]
) -> Queues:
    online = {one.broker_group_name: one for one in masters}
    found = {
        (group, queue_id): online[group]
        for group, queue_id in names
        if group in online
        and wanted.broker_group_name in (None, group)
        and wanted.queue_id in (None, queue_id)
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


def _positions(
    after: Positions, queues: Queues, mapping: TopicMapping | None
) -> dict[QueueName, int]:
    """Read the next offsets; those of a logical queue stay when another broker group leads it.

    Raises:
        InvalidCursor: the cursor is of other queues.
    """
    found = {(group, queue_id): offset for group, offsets in after for queue_id, offset in offsets}
    if any(not 0 <= offset <= EVER_MS for offset in found.values()):
        raise InvalidCursor
    if mapping is not None:
        leaders = {one.global_id: one.leader_name or "" for one in mapping.queues}
        found = {(leaders[i], i): offset for (_, i), offset in found.items() if i in leaders}
    # A new queue is read from its beginning. A queue without a master is kept.
    return dict.fromkeys(queues, 0) | found


async def _begin(
    wanted: Browsing,
    queues: Queues,
    mapping: TopicMapping | None,
    masters: Sequence[BrokerKey],
    questions: Questions,
) -> dict[QueueName, int]:
    if wanted.offset is not None:
        return dict.fromkeys(queues, wanted.offset)
    if wanted.begin_ms is not None:
        return await _begin_at(wanted.topic, wanted.begin_ms, queues, questions)
    asked = set(queues.values()) if mapping is None else masters
    answers = await questions.ask_all(asked, GetTopicEnds(wanted.topic))
    ends = {
        (broker.broker_group_name, queue_id): one
        for broker, by_queue in answers.items()
        for queue_id, one in by_queue.items()
    }
    if mapping is not None:
        ends, _ = logical_ends(mapping, ends)
    return {
        name: 0 if name not in ends else ends[name].high if wanted.from_latest else ends[name].low
        for name, broker in queues.items()
        if broker in answers
    }


async def _begin_at(
    topic: str, at_ms: int, queues: Queues, questions: Questions
) -> dict[QueueName, int]:
    by_broker: dict[BrokerKey, list[int]] = {}
    for (_, queue_id), broker in queues.items():
        by_broker.setdefault(broker, []).append(queue_id)

    answers = await questions.ask_all(
        by_broker,
        lambda one: GetOffsetsAt(topic=topic, queue_ids=by_broker[one], timestamp_ms=at_ms),
    )
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
