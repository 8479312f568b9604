"""Ask the brokers of a topic why a consumer group does not read its queues."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, TypeVar

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.errors import BrokerRefused, BrokerUnreachable, NoAnswer
from backend.brokers.requests.consumer_groups import GetGroupSettings, GetOnlineGroup
from backend.brokers.requests.locks import GetQueueLocks, GetQueueReaders
from backend.brokers.requests.offsets import GetMaxOffset, GetProgress
from backend.brokers.requests.properties import GetPermission
from backend.brokers.requests.topics import GetTopicLayout
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import topics
from backend.db.engine import Database
from backend.domain.broker import MASTER_ID
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.logical_queue.segment import QueueSegment
from backend.domain.queue_lock import HeldLocks
from backend.domain.queue_pause import Explanation, QueueFacts, explain
from backend.domain.queue_reading import OnlineGroup, QueueProgress, QueueReaders
from backend.domain.topic import QueueSettings, TopicPlacement, kept_attributes
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.logical_queues import find_mappings
from backend.services.topic.topics import describe_topic

MEMBERS: Final = "the group's members"

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class QueuesAsked:
    """Mean queues of a topic, as one consumer group reads them: all, or those that are named."""

    cluster_name: str
    topic: str
    consumer_group_name: str
    broker_group_name: str | None = None
    queue_id: int | None = None


@dataclass(frozen=True, slots=True)
class Explanations:
    """Hold why each queue stands still, or that it does not, and when that was so."""

    queues: tuple[Explanation, ...]
    observed_at: datetime


async def explain_queues(
    asked: QueuesAsked, *, database: Database, brokers: Brokers, clock: Clock
) -> Explanations:
    """Explain each queue by broker group and number, those that stand still first.

    Raises:
        InvalidName: the name of the cluster or of the topic is invalid. ClusterNotFound: there is
        no such cluster. TopicNotFound: the cluster has no such topic.
    """
    topic = await describe_topic(asked.cluster_name, asked.topic, database=database)
    async with database.connect() as connection:
        placements = (await topics.list_placements(connection, [topic.id]))[topic.id]
    key = asked.cluster_name, asked.topic
    mapping = (await find_mappings([key], database=database))[key]
    meant = _kept_there(placements) if mapping is None else _led_there(mapping)
    found = await asyncio.gather(
        *(
            _explain_group(asked, name, places, database=database, brokers=brokers)
            for name, places in meant.items()
            if asked.broker_group_name in (None, name)
        )
    )
    queues = [one for explained in found for one in explained]
    order = {True: 0, None: 1, False: 2}
    queues.sort(
        key=lambda one: (order[one.is_paused], one.facts.broker_group_name, one.facts.queue_id)
    )
    return Explanations(tuple(queues), clock.now())


_Places = Mapping[int, QueueSegment | None]
"""The queues of a broker group by number; a logical queue with its last segment."""


def _kept_there(placements: Sequence[TopicPlacement]) -> dict[str, _Places]:
    return {
        one.broker_group_name: dict.fromkeys(range(one.settings.read_queue_count))
        for one in placements
    }


def _led_there(mapping: TopicMapping) -> dict[str, _Places]:
    found: dict[str, dict[int, QueueSegment | None]] = {}
    for queue in mapping.queues:
        if queue.leader is not None:
            found.setdefault(queue.leader.broker_group_name, {})[queue.global_id] = queue.leader
    return dict(found)


async def _explain_group(
    asked: QueuesAsked,
    broker_group_name: str,
    places: _Places,
    *,
    database: Database,
    brokers: Brokers,
) -> list[Explanation]:
    async with database.connect() as connection:
        master = await broker_rows.find(
            connection, asked.cluster_name, broker_group_name, broker_id=MASTER_ID
        )
    ids = [*places]
    if asked.queue_id is not None:
        is_elsewhere = any(places.values()) and asked.queue_id not in places
        ids = [] if is_elsewhere else [asked.queue_id]
    without_master = [
        QueueFacts(asked.topic, broker_group_name, i, asked.consumer_group_name, has_master=False)
        for i in ids
    ]
    if master is None or not master.is_online:
        return [explain(facts) for facts in without_master]
    at_master = [
        replace(facts, has_master=True, address=master.address) for facts in without_master
    ]
    return [
        explain(facts)
        for facts in await _Asker(asked, master.address, places, brokers).fill(at_master)
    ]


class _Asker:
    """Ask one master for the facts of a topic's queues; missing answers are noted."""

    def __init__(self, asked: QueuesAsked, address: str, places: _Places, brokers: Brokers) -> None:
        self._asked, self._address, self._brokers = asked, address, brokers
        self._places = places
        self._unreported: dict[str, str] = {}

    async def fill(self, queues: list[QueueFacts]) -> list[QueueFacts]:
        """Ask for everything at once, and add it to what is known of the queues."""
        at, topic = self._address, self._asked.topic
        refusal = max_offset = None
        first = queues[0].queue_id if queues else 0
        try:
            request = GetMaxOffset(topic=topic, queue_id=first)
            max_offset = await self._brokers.ask(at, request)
        except BrokerRefused as error:
            refusal = error.reason
        except BrokerUnreachable as error:
            return [replace(facts, silence=error.reason) for facts in queues]
        answers = await self._ask_all()
        return [
            replace(
                facts,
                refusal=refusal,
                max_offset=max_offset if facts.queue_id == first else None,
                is_gate_open=None if answers.readers is None else answers.readers.is_gate_open,
                permission=answers.permission,
                settings=self._settings_of(answers.settings),
                may_consume=answers.may_consume,
                online=answers.online,
                is_online_known=MEMBERS not in self._unreported,
                progress=self._progress_of(facts.queue_id, answers.progress),
                locks=None if answers.locks is None else answers.locks.locks,
                reader=None
                if answers.readers is None
                else answers.readers.readers.get(self._physical(facts.queue_id)),
                observed_for_ms=None
                if answers.readers is None
                else answers.readers.observed_for_ms,
                unknown=tuple(f"{what}: {why}" for what, why in self._unreported.items()),
            )
            for facts in queues
        ]

    def _physical(self, queue_id: int) -> int:
        """Return the number under which the broker reports a queue."""
        segment = self._places.get(queue_id)
        return queue_id if segment is None else segment.queue_id

    def _settings_of(self, settings: QueueSettings | None) -> QueueSettings | None:
        """Return the layout of the topic; consumers see logical queues, however many it has."""
        if settings is None or not any(self._places.values()):
            return settings
        return replace(settings, read_queue_count=max(self._places) + 1)

    def _progress_of(
        self, queue_id: int, progress: Mapping[int, QueueProgress]
    ) -> QueueProgress | None:
        """Return the progress in a queue; in a logical one it is known in its last segment only."""
        found = progress.get(self._physical(queue_id))
        segment = self._places.get(queue_id)
        if found is None or segment is None:
            return found
        if not found.committed:
            return None
        return replace(
            found,
            queue_id=queue_id,
            committed=segment.to_logical_strict(found.committed),
            end=segment.to_logical_strict(found.end),
            begin=None if found.begin is None else segment.to_logical_strict(found.begin),
        )

    async def _ask_all(self) -> "_BrokerAnswers":
        group, topic = self._asked.consumer_group_name, self._asked.topic
        layout = asyncio.gather(
            self._ask("what the broker permits", GetPermission()),
            self._ask("the topic's layout", GetTopicLayout(topic)),
            self._ask("whether the group may consume", GetGroupSettings(group)),
        )
        reading = asyncio.gather(
            self._ask(MEMBERS, GetOnlineGroup(group)),
            self._ask("the group's offsets", GetProgress(group, topic)),
            self._ask("who holds the queues", GetQueueLocks(group)),
            self._ask(
                "who reads the queues",
                GetQueueReaders(consumer_group=group, topic=topic),
            ),
        )
        permission, laid_out, group_settings = await layout
        online, progress, locks, readers = await reading
        by_queue = {one.queue_id: one for one in progress or () if one.topic == topic}
        return _BrokerAnswers(
            permission,
            None if laid_out is None else _settings(laid_out),
            None if group_settings is None else group_settings.consume_enabled,
            online,
            by_queue,
            locks,
            readers,
        )

    async def _ask(self, what: str, inquiry: Inquiry[AnswerT]) -> AnswerT | None:
        try:
            return await self._brokers.ask(self._address, inquiry)
        except NoAnswer as error:
            self._unreported[what] = error.reason
            return None


@dataclass(frozen=True, slots=True)
class _BrokerAnswers:
    permission: int | None
    settings: QueueSettings | None
    may_consume: bool | None
    online: OnlineGroup | None
    progress: Mapping[int, QueueProgress]
    locks: HeldLocks | None
    readers: QueueReaders | None


def _settings(layout: TopicLayout) -> QueueSettings:
    return QueueSettings(
        layout.read_queue_count,
        layout.write_queue_count,
        layout.permissions,
        layout.topic_sys_flag,
        layout.is_ordered,
        kept_attributes(layout.attributes),
    )
