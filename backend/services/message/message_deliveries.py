"""Report how far each consumer group is with a message, from the answers of masters."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from backend.brokers.asking import Brokers
from backend.brokers.requests.messages import KeyQuery, QueryMessages
from backend.brokers.requests.offsets import GetCommittedOffsets
from backend.brokers.requests.topics import GetGroupsOfTopic
from backend.db import logical_queues, topics
from backend.db.engine import Database
from backend.domain.message import (
    ORIGIN_ID,
    REAL_TOPIC,
    Copies,
    Delivery,
    StoredMessage,
    judge_delivery,
)
from backend.domain.queue_lock import BrokerKey
from backend.remoting.names import (
    SCHEDULE_TOPIC,
    dead_letter_topic,
    retry_topic,
)
from backend.rules.topic import DEAD_LETTER_PREFIX, RETRY_PREFIX
from backend.services.cluster.broker_questions import Questions, UnknownBroker, find_masters
from backend.services.consumer_group.consumer_groups import is_system_group
from backend.services.message.messages import EVER_MS, FOUND_COUNT_MAX

GROUP_COUNT_MAX: Final = 50
"""Each costs two searches by key on every master."""


@dataclass(frozen=True, slots=True)
class Deliveries:
    """Hold how far each group is, by name; `group_count` includes groups that were not checked."""

    deliveries: tuple[Delivery, ...]
    group_count: int
    unknown: tuple[UnknownBroker, ...]


async def describe_deliveries(
    cluster_name: str, message: StoredMessage, *, database: Database, brokers: Brokers
) -> Deliveries:
    """Judge how far every group that consumes the topic of a message is with it.

    A retried message is in the retry topic of the group, or among the delayed messages. Both are
    searched by the id of the sender, so the state of a message without such an id is unknown.
    """
    questions = Questions(brokers)
    find = partial(find_masters, cluster_name, questions, database=database)
    async with database.connect() as connection:
        static = await logical_queues.find(connection, cluster_name, message.topic)
    home_name, reading = message.broker_group_name, {message.broker_group_name}
    if static is not None and (queue := static.mapping.queue(message.queue_id)) is not None:
        # Positions in a logical queue are asked of its leader. They may be in any segment.
        home_name = queue.leader_name or home_name
        reading |= {one.broker_group_name for one in queue.segments}
    home = next(iter(await find(holding=[home_name])), None)
    if home is None or message.topic.startswith((RETRY_PREFIX, DEAD_LETTER_PREFIX)):
        return Deliveries((), 0, questions.unknown)
    keeping = await find(holding=reading)
    answers = await questions.ask_all(keeping, GetGroupsOfTopic(message.topic))
    known = {name for answer in answers.values() for name in answer}
    groups = [name for name in sorted(known) if not is_system_group(name)]
    meant = [name(one) for one in groups[:GROUP_COUNT_MAX] for name in _TOPICS_OF_COPIES]
    async with database.connect() as connection:
        holders = await topics.list_holders(connection, cluster_name, meant)
    # A broker that delays a copy has created its destination topic.
    holding = frozenset({home.broker_group_name}).union(*holders.values())
    masters = await find(holding=holding)
    judge = _Judge(message, home, masters, questions)
    delayed = await judge.search(SCHEDULE_TOPIC)
    found = await asyncio.gather(*(judge.judge(g, delayed) for g in groups[:GROUP_COUNT_MAX]))
    return Deliveries(tuple(found), len(groups), questions.unknown)


_TOPICS_OF_COPIES: Final = (retry_topic, dead_letter_topic)


class _Judge:
    """Find the state of a group with one message."""

    def __init__(
        self,
        message: StoredMessage,
        home: BrokerKey,
        masters: Sequence[BrokerKey],
        questions: Questions,
    ) -> None:
        self._message, self._home, self._masters = message, home, masters
        self._questions = questions

    async def judge(self, group: str, delayed: Sequence[StoredMessage] | None) -> Delivery:
        message, home = self._message, self._home
        committed, retried, dead = await asyncio.gather(
            self._committed(group, home, message),
            self.search(retry_topic(group)),
            self.search(dead_letter_topic(group)),
        )
        copies = None
        if delayed is not None and retried is not None and dead is not None:
            waiting = [
                one for one in delayed if one.properties.get(REAL_TOPIC) == retry_topic(group)
            ]
            copies = await self._copies(group, [*waiting, *retried], dead)
        return judge_delivery(group, message, committed, copies)

    async def search(self, topic: str) -> Sequence[StoredMessage] | None:
        """Find the copies of the message in a topic; None if a master did not answer."""
        key = self._message.unique_key
        if key is None:
            return None
        query = KeyQuery(
            topic, key, is_unique=True, count_max=FOUND_COUNT_MAX, begin_ms=0, end_ms=EVER_MS
        )
        answers = await self._questions.ask_all(
            self._masters, lambda one: QueryMessages(one.broker_group_name, query)
        )
        if len(answers) < len(self._masters):
            return None
        return [one for found in answers.values() for one in found if self._is_copy(one)]

    def _is_copy(self, one: StoredMessage) -> bool:
        # A sender's id may be used twice by mistake; the place of the first message may not.
        return one.properties.get(ORIGIN_ID) in (None, self._message.message_id)

    async def _copies(
        self, group: str, retried: Sequence[StoredMessage], dead: Sequence[StoredMessage]
    ) -> Copies:
        # A delayed copy and its delivered copy are of the same attempt; the delivered one is newer.
        newest = max(retried, key=lambda one: (one.reconsume_times, one.stored_at_ms), default=None)
        if newest is None:
            return Copies(dead=max(dead, key=lambda one: one.stored_at_ms, default=None))
        is_read: bool | None = False
        if newest.topic == retry_topic(group):
            broker = next(
                one for one in self._masters if one.broker_group_name == newest.broker_group_name
            )
            committed = await self._committed(group, broker, newest)
            is_read = None if committed is None else committed > newest.queue_offset
        return Copies(newest, is_read, max(dead, key=lambda one: one.stored_at_ms, default=None))

    async def _committed(self, group: str, broker: BrokerKey, message: StoredMessage) -> int | None:
        request = GetCommittedOffsets(
            consumer_group=group, topic=message.topic, queue_ids=[message.queue_id]
        )
        answer = await self._questions.ask(broker, request)
        return None if answer is None else answer[message.queue_id]
