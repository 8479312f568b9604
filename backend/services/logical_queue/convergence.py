"""Bring broker groups that missed a change of a static topic to the present mapping (L50).

A broker group that was away keeps its old mapping, and believes to lead queues that have moved. It
gets the present one as soon as its master is back. Then the ends of segments that a forced move
left open can be recorded.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import structlog

from backend.brokers.asking import Brokers
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.logical_queues import GetLogicalQueues, GetStaticTopic
from backend.brokers.requests.topics import GetTopicEnds
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import logical_queues
from backend.db.engine import Database
from backend.db.logical_queues import StoredTopic
from backend.domain.broker import Broker
from backend.domain.errors import DomainError
from backend.domain.logical_queue.broker_copy import BrokerTopic
from backend.domain.logical_queue.expiry import close_forced
from backend.domain.logical_queue.mapping import TopicMapping
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.copies import store_request

Held = Mapping[Broker, Mapping[str, BrokerTopic]]

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ConvergeOutcome:
    """Count the mappings that were sent, the ends that were recorded, and the failures."""

    sent_count: int = 0
    closed_count: int = 0
    failed_count: int = 0


async def converge(*, database: Database, brokers: Brokers, clock: Clock) -> ConvergeOutcome:
    """Look at all static topics without an unfinished change, at all masters that answer."""
    async with database.connect() as connection:
        topics = await logical_queues.list_all(connection)
        online = await broker_rows.list_online(connection) if topics else []
    settled = [one for one in topics if one.unfinished is None]
    clusters = {one.cluster_name for one in settled}
    asked = [one for one in online if one.is_master and one.cluster_name in clusters]
    held = (await brokers.ask_all(asked, GetLogicalQueues())).answers
    failed_count = 0
    looks = [_Look(one, held, database, brokers, clock) for one in settled]
    for look in looks:
        try:
            await look.converge()
        except (NoAnswer, DomainError) as error:
            log.warning("static_topic_not_converged", topic=look.topic_name, reason=str(error))
            failed_count += 1
    return ConvergeOutcome(
        sum(one.sent_count for one in looks), sum(one.closed_count for one in looks), failed_count
    )


class _Look:
    """Look at one static topic."""

    def __init__(
        self, topic: StoredTopic, held: Held, database: Database, brokers: Brokers, clock: Clock
    ) -> None:
        self._topic, self._mapping = topic, topic.mapping
        self._database, self._brokers, self._clock = database, brokers, clock
        self._masters = {
            one.broker_group_name: one for one in held if one.cluster_name == topic.cluster_name
        }
        self._epochs = {
            name: _epoch_of(held[one], self.topic_name) for name, one in self._masters.items()
        }
        self.sent_count = self.closed_count = 0

    @property
    def topic_name(self) -> str:
        """Return the name of the topic."""
        return self._mapping.topic_name

    async def converge(self) -> None:
        """Send the mapping to broker groups with an older one, and close what can be closed."""
        present = self._mapping.epoch
        for name in sorted(self._mapping.counts):
            if self._epochs.get(name, present) < present:
                await self._send(self._mapping, name)
        for global_id, generation in sorted(self._mapping.forced):
            await self._close(global_id, generation)

    async def _send(self, mapping: TopicMapping, name: str) -> None:
        address = self._masters[name].address
        found = await self._brokers.ask(address, GetStaticTopic(self.topic_name))
        layout = TopicLayout() if found is None else found.layout
        request = store_request(mapping, name, layout, is_final=True)
        await self._brokers.ask(address, request)
        self.sent_count += 1
        log.info("static_topic_sent", topic=self.topic_name, broker_group_name=name)

    async def _close(self, global_id: int, generation: int) -> None:
        """Record the end of a segment that a forced move left open, if that is possible now.

        Its broker group has to have the present mapping, so that it takes no more messages. With an
        overlap the segment stays open: the check of the topic names it until an operator acts.
        """
        queue = self._mapping.queue(global_id)
        assert queue is not None
        [segment] = [one for one in queue.segments if one.generation == generation]
        name = segment.broker_group_name
        if self._epochs.get(name) != self._mapping.epoch:
            return
        ends = await self._brokers.ask(self._masters[name].address, GetTopicEnds(self.topic_name))
        if segment.queue_id not in ends:
            return
        end = ends[segment.queue_id].high
        closed, overlap = close_forced(self._mapping, global_id, generation, end)
        if overlap is not None:
            log.warning("logical_queue_overlap", topic=self.topic_name, overlap=str(overlap))
        elif await self._save(closed):
            hosts = {one.broker_group_name for one in queue.segments[-2:]}
            for host in sorted(hosts & self._masters.keys()):
                await self._send(closed, host)
            self.closed_count += 1

    async def _save(self, closed: TopicMapping) -> bool:
        """Write the mapping with the recorded end, unless the topic was changed meanwhile."""
        async with self._database.begin() as connection:
            cluster_name = self._topic.cluster_name
            present = await logical_queues.lock(connection, cluster_name, self.topic_name)
            if present.unfinished is not None or present.version != self._topic.version:
                return False
            await logical_queues.save(connection, self._topic, closed, at=self._clock.now())
        return True


def _epoch_of(held: Mapping[str, BrokerTopic], topic_name: str) -> int:
    """Return the epoch of a copy; one below all others if the broker group has none."""
    copy = held.get(topic_name)
    return -1 if copy is None else copy.info.epoch
