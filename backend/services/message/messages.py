"""Find messages on the masters of a cluster: by id and by key.

Every search reports whether it is complete: brokers without an answer are named.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from backend.brokers.asking import Brokers
from backend.brokers.requests.messages import (
    KeyQuery,
    QueryMessages,
    ViewMessage,
    locate_message,
)
from backend.db import brokers as broker_rows
from backend.db import logical_queues, topics
from backend.db.engine import Database
from backend.domain.logical_queue.lookup import find_message
from backend.domain.logical_queue.mapping import LogicalQueue
from backend.domain.message import StoredMessage
from backend.domain.message_errors import InvalidMessageSearch, MessageNotFound
from backend.domain.names import check_topic_name
from backend.domain.operation_errors import BrokerSilent
from backend.domain.page import check_page_size
from backend.domain.queue_lock import BrokerKey
from backend.services.cluster.broker_questions import Questions, UnknownBroker, find_masters, key_of
from backend.services.cluster.clusters import describe_cluster
from backend.services.topic.topics import describe_topic

FOUND_COUNT_MAX: Final = 64
"""The number that RocketMQ brokers return for one key (`maxMsgsNumBatch`)."""
EVER_MS: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class KeySearch:
    """Choose messages: those with a key, or the one with an id of the sender."""

    cluster_name: str
    topic: str
    key: str
    is_unique: bool = False
    begin_ms: int = 0
    end_ms: int = EVER_MS
    count_max: int = FOUND_COUNT_MAX


@dataclass(frozen=True, slots=True)
class FoundMessages:
    """Hold the found messages, the oldest first; `is_complete` means that there are no others."""

    messages: tuple[StoredMessage, ...]
    is_complete: bool
    unknown: tuple[UnknownBroker, ...]


async def get_message(
    cluster_name: str,
    message_id: str,
    *,
    topic: str | None = None,
    database: Database,
    brokers: Brokers,
) -> StoredMessage:
    """Find a message by its id: its place in the log of a broker, or the sender's id in a topic.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. MessageNotFound: none of the asked brokers has the message. BrokerSilent: a
        broker that may have the message does not answer.
    """
    await describe_cluster(cluster_name, database=database)
    place = locate_message(message_id)
    if place is not None:
        found = await _at_place(cluster_name, message_id, place, database=database, brokers=brokers)
        if found is not None:
            [shown] = await _in_logical_terms(cluster_name, [found], database=database)
            return shown
    if topic is None:
        why = (
            "no broker of the cluster has that log position; an id of a sender needs the topic"
            if place is not None
            else "it contains no log position; an id of a sender needs the topic"
        )
        raise MessageNotFound(message_id, why)
    query = KeyQuery(
        check_topic_name(topic), message_id, is_unique=True, count_max=1, begin_ms=0, end_ms=EVER_MS
    )
    questions = Questions(brokers)
    masters = await _find_holders(cluster_name, query.topic, questions, database=database)
    answers = await questions.ask_all(
        masters, lambda one: QueryMessages(one.broker_group_name, query)
    )
    messages = sorted((one for found in answers.values() for one in found), key=_order)
    if messages:
        [shown] = await _in_logical_terms(cluster_name, messages[-1:], database=database)
        return shown
    for silent in questions.unknown:
        raise BrokerSilent(silent.broker.address, silent.why)
    raise MessageNotFound(message_id, f"no message of topic {topic} has it as its id")


async def find_messages(
    search: KeySearch, *, database: Database, brokers: Brokers
) -> FoundMessages:
    """Find messages of a topic by a key, or by the id that the sender gave.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. TopicNotFound: the cluster has no such topic. InvalidPageSize: the number
        is larger than a broker returns. InvalidMessageSearch: no message can have such a key.
    """
    check_page_size(search.count_max, size_max=FOUND_COUNT_MAX)
    await describe_topic(search.cluster_name, search.topic, database=database)
    if not search.key.strip() or search.key != search.key.strip():
        raise InvalidMessageSearch("a key is not empty and has no blanks around it")
    questions = Questions(brokers)
    masters = await _find_holders(search.cluster_name, search.topic, questions, database=database)
    query = KeyQuery(
        search.topic,
        search.key,
        search.is_unique,
        search.count_max,
        search.begin_ms,
        search.end_ms,
    )
    answers = await questions.ask_all(
        masters, lambda one: QueryMessages(one.broker_group_name, query)
    )
    messages = sorted((one for found in answers.values() for one in found), key=_order)
    is_whole = not questions.unknown and all(
        len(found) < search.count_max for found in answers.values()
    )
    kept = messages[-search.count_max :]
    shown = await _in_logical_terms(search.cluster_name, kept, database=database)
    return FoundMessages(tuple(shown), is_whole and len(kept) == len(messages), questions.unknown)


async def _in_logical_terms(
    cluster_name: str, messages: Sequence[StoredMessage], *, database: Database
) -> list[StoredMessage]:
    """Give messages of static topics the number and the offset in their logical queue.

    Brokers find messages by their place in a physical queue (logical-queues.md 20).
    """
    topic_names = {one.topic for one in messages}
    if not topic_names:
        return []
    async with database.connect() as connection:
        found = await logical_queues.list_of_names(connection, cluster_name, topic_names)
    queues = {one.mapping.topic_name: one.mapping.queues for one in found}
    return [_shown(one, queues.get(one.topic, ())) for one in messages]


def _shown(message: StoredMessage, queues: Iterable[LogicalQueue]) -> StoredMessage:
    place = message.broker_group_name, message.queue_id
    logical = find_message(queues, place, message.queue_offset)
    if logical is None:
        return message
    global_id, offset = logical
    return replace(message, queue_id=global_id, queue_offset=offset)


async def _find_holders(
    cluster_name: str, topic: str, questions: Questions, *, database: Database
) -> Sequence[BrokerKey]:
    """Find the masters that have registered a topic; if none has, all may have it."""
    async with database.connect() as connection:
        holders = await topics.list_holders(connection, cluster_name, [topic])
    return await find_masters(
        cluster_name, questions, database=database, holding=holders[topic] or None
    )


async def _at_place(
    cluster_name: str,
    message_id: str,
    place: tuple[str, int],
    *,
    database: Database,
    brokers: Brokers,
) -> StoredMessage | None:
    """Read the place of the id; other brokers of the group have the same log if one is down."""
    address, position = place
    async with database.connect() as connection:
        known = await broker_rows.list_beside(connection, cluster_name, address)
    asked = sorted(
        (one for one in known if one.is_online),
        key=lambda one: (one.address != address, one.broker_id),
    )
    questions = Questions(brokers)
    for broker in asked:
        key = key_of(broker)
        found = await questions.ask(key, ViewMessage(key.broker_group_name, position))
        if found is not None and found.message_id.upper() == message_id.upper():
            return found
    for silent in questions.unknown:
        raise BrokerSilent(silent.broker.address, silent.why)
    return None


def _order(message: StoredMessage) -> tuple[int, str, int, int]:
    return message.order
