"""Bring broker groups to the present mapping of static topics (L50, logical-queues.md 11.3).

A broker group that was away keeps its old mapping, and believes to lead queues that have moved. It
gets the present one as soon as its master is back. Then the ends of segments that a forced move
left open can be recorded. Segments that upkeep dropped go from the lists in the same way.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import structlog

from backend.brokers.asking import Brokers
from backend.brokers.requests.logical_queues import (
    GetLogicalQueues,
    GetStaticTopic,
    RetirePhysicalQueue,
)
from backend.brokers.requests.topics import GetTopicEnds
from backend.clients.clock import Clock
from backend.db.engine import Database
from backend.domain.broker import Broker
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.expiry import close_forced
from backend.domain.logical_queue.mapping import RetiredQueue, TopicMapping, copy_for
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.changes import save_between_changes
from backend.services.logical_queue.copies import store_request
from backend.services.logical_queue.settled_topics import (
    SettledTopic,
    list_settled,
    look_at_each,
)

Held = Mapping[Broker, Mapping[str, BrokerTopic]]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ConvergeOutcome:
    """Count what was sent, recorded and retired, and the topics that failed.

    `sent_count` is of mappings, `closed_count` of ends that were recorded, and `retired_count` of
    physical queues that may be used again.
    """

    sent_count: int = 0
    closed_count: int = 0
    failed_count: int = 0
    retired_count: int = 0


async def converge(*, database: Database, brokers: Brokers, clock: Clock) -> ConvergeOutcome:
    """Look at all static topics without an unfinished change, at all masters that answer."""
    settled = await list_settled(database)
    masters = {master for one in settled for master in one.masters.values()}
    held = (await brokers.ask_all(masters, GetLogicalQueues())).answers
    looks = [_Look(one, held, database, brokers, clock) for one in settled]
    failed_count = await look_at_each(
        looks, _Look.converge, failed_event="static_topic_not_converged"
    )
    return ConvergeOutcome(
        sent_count=sum(one.sent_count for one in looks),
        closed_count=sum(one.closed_count for one in looks),
        failed_count=failed_count,
        retired_count=sum(one.retired_count for one in looks),
    )


class _Look:
    """Look at one static topic; `_copies` are of the masters that answered."""

    def __init__(
        self, topic: SettledTopic, held: Held, database: Database, brokers: Brokers, clock: Clock
    ) -> None:
        self._topic, self._mapping = topic.stored, topic.stored.mapping
        self._database, self._brokers, self._clock = database, brokers, clock
        self._masters = {name: one for name, one in topic.masters.items() if one in held}
        self._copies = {name: held[one].get(self.topic_name) for name, one in self._masters.items()}
        self.sent_count = self.closed_count = self.retired_count = 0

    @property
    def topic_name(self) -> str:
        """Return the name of the topic."""
        return self._mapping.topic_name

    async def converge(self) -> None:
        """Close what can be closed, send the mapping where it differs, retire what has no data."""
        for global_id, generation in sorted(self._mapping.forced):
            await self._close(global_id, generation)
        for name in sorted(self._mapping.counts.keys() & self._copies.keys()):
            if _differs(self._copies[name], self._mapping, name):
                await self._send(name)
        for queue in self._mapping.retired:
            copy = self._copies.get(queue.broker_group_name)
            if copy is not None and queue.queue_id not in copy.retired:
                await self._retire(queue)

    async def _send(self, name: str) -> None:
        address = self._masters[name].address
        found = await self._brokers.ask(address, GetStaticTopic(self.topic_name))
        layout = TopicLayout() if found is None else found.layout
        request = store_request(self._mapping, name, layout, is_final=True)
        await self._brokers.ask(address, request)
        self.sent_count += 1
        log.info("static_topic_sent", topic=self.topic_name, broker_group_name=name)

    async def _retire(self, queue: RetiredQueue) -> None:
        request = RetirePhysicalQueue(
            topic=self.topic_name,
            global_id=queue.global_id,
            epoch=self._mapping.epoch,
            queue_id=queue.queue_id,
            generation=queue.generation,
            final_offset=queue.final_offset,
        )
        await self._brokers.ask(self._masters[queue.broker_group_name].address, request)
        self.retired_count += 1
        place = {"broker_group_name": queue.broker_group_name, "queue_id": queue.queue_id}
        log.info("physical_queue_retired", topic=self.topic_name, **place)

    async def _close(self, global_id: int, generation: int) -> None:
        """Record the end of a segment that a forced move left open, if that is possible now.

        Its broker group has to have the present mapping, so that it takes no more messages. With an
        overlap the segment stays open: the check of the topic names it until an operator acts.
        """
        queue = self._mapping.queue(global_id)
        assert queue is not None
        [segment] = [one for one in queue.segments if one.generation == generation]
        name = segment.broker_group_name
        copy = self._copies.get(name)
        if copy is None or copy.info.epoch != self._mapping.epoch:
            return
        ends = await self._brokers.ask(self._masters[name].address, GetTopicEnds(self.topic_name))
        if segment.queue_id not in ends:
            return
        end = ends[segment.queue_id].high
        closed, overlap = close_forced(self._mapping, global_id, generation, end)
        if overlap is not None:
            log.warning("logical_queue_overlap", topic=self.topic_name, overlap=str(overlap))
        elif await save_between_changes(
            self._topic, closed, database=self._database, clock=self._clock
        ):
            self._topic = replace(self._topic, mapping=closed, version=self._topic.version + 1)
            self._mapping = closed
            self.closed_count += 1


def _differs(copy: BrokerTopic | None, mapping: TopicMapping, name: str) -> bool:
    """Return whether a broker group has no copy, an older one, or lists of other segments.

    It may have more lists than the mapping gives to it: those of queues that it led before.
    """
    if copy is None or copy.info.epoch < mapping.epoch:
        return True
    wanted = copy_for(mapping, name).hosted
    held = copy.mapping.hosted
    return copy.info.epoch == mapping.epoch and any(
        held.get(global_id) != segments for global_id, segments in wanted.items()
    )
