"""Drop segments whose data is gone, so that their physical queues can be used again.

Positions of consumer groups are carried forward first (logical-queues.md 11.3, L34). Postgres then
has the shorter lists, and `converge` brings the brokers to them.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import structlog

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.requests.topics import GetTopicEnds
from backend.clients.clock import Clock
from backend.db import logical_queues
from backend.db.engine import Database
from backend.domain.event import TOPIC_SEGMENTS_EXPIRED, topic_events
from backend.domain.logical_queue.expiry import (
    CarriedPosition,
    Sighting,
    drop_oldest,
    has_no_data,
    is_expired,
)
from backend.domain.logical_queue.mapping import LogicalQueue, Place
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.operation_errors import BrokerSilent
from backend.services.logical_queue.changes import save_between_changes
from backend.services.logical_queue.positions import commit_carried, read_positions
from backend.services.logical_queue.settled_topics import (
    SettledTopic,
    list_settled,
    look_at_each,
)

AnswerT = TypeVar("AnswerT")

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ExpireOutcome:
    """Count the segments that were seen empty for the first time, and those that were dropped.

    `failed_count` is of topics, which are tried again.
    """

    seen_count: int = 0
    dropped_count: int = 0
    failed_count: int = 0


async def expire(*, database: Database, brokers: Brokers, clock: Clock) -> ExpireOutcome:
    """Look at the oldest segments of all static topics without an unfinished change.

    A segment is dropped if it was seen without data twice, at least a minute apart.
    """
    looks = [_Look(one, database, brokers, clock) for one in await list_settled(database)]
    failed_count = await look_at_each(looks, _Look.expire, failed_event="segments_not_expired")
    return ExpireOutcome(
        seen_count=sum(one.seen_count for one in looks),
        dropped_count=sum(one.dropped_count for one in looks),
        failed_count=failed_count,
    )


class _Look:
    """Look at one static topic."""

    def __init__(
        self, topic: SettledTopic, database: Database, brokers: Brokers, clock: Clock
    ) -> None:
        self._topic, self._masters = topic.stored, topic.masters
        self._database, self._brokers, self._clock = database, brokers, clock
        self.seen_count = self.dropped_count = 0

    @property
    def topic_name(self) -> str:
        """Return the name of the topic."""
        return self._topic.mapping.topic_name

    async def ask(self, broker_group_name: str, inquiry: Inquiry[AnswerT], /) -> AnswerT:
        """Ask the master of a broker group."""
        master = self._masters.get(broker_group_name)
        if master is None:
            raise BrokerSilent(broker_group_name, "no master of the broker group is online")
        return await self._brokers.ask(master.address, inquiry)

    async def expire(self) -> None:
        """Note which oldest segments are empty, and drop those that were so before."""
        queues = [
            one
            for one in self._topic.mapping.queues
            if len(one.segments) > 1
            and one.segments[0].is_ended
            # Positions in all of its segments are read before one is dropped.
            and {segment.broker_group_name for segment in one.segments} <= self._masters.keys()
        ]
        bounds = await self._find_bounds({one.segments[0].broker_group_name for one in queues})
        at = self._clock.now()
        empty = [
            one
            for one in queues
            if (seen := bounds.get(one.segments[0].place)) is not None
            and has_no_data(one.segments[0], seen)
        ]
        filled = [one for one in queues if one.segments[0].place in bounds and one not in empty]
        await self._note(empty, filled, at)
        due = [one for one in empty if self._is_due(one, bounds, at)]
        if due:
            await self._drop(due, bounds, at)

    async def _find_bounds(self, names: Collection[str]) -> dict[Place, QueueBounds]:
        """Return the bounds of physical queues at the masters that answer."""
        masters = [self._masters[name] for name in sorted(names) if name in self._masters]
        answers = (await self._brokers.ask_all(masters, GetTopicEnds(self.topic_name))).answers
        return {
            (master.broker_group_name, queue_id): QueueBounds(ends.low, ends.high)
            for master, by_queue in answers.items()
            for queue_id, ends in by_queue.items()
        }

    async def _note(
        self, empty: Collection[LogicalQueue], filled: Collection[LogicalQueue], at: datetime
    ) -> None:
        known = self._topic.empty_since.keys()
        new = {_key_of(one) for one in empty} - known
        wrong = {_key_of(one) for one in filled} & known
        if not (new or wrong):
            return
        async with self._database.begin() as connection:
            await logical_queues.note_empty(connection, self._topic, new, since=at)
            await logical_queues.note_empty(connection, self._topic, wrong, since=None)
        self.seen_count += len(new)

    def _is_due(
        self, queue: LogicalQueue, bounds: Mapping[Place, QueueBounds], at: datetime
    ) -> bool:
        since = self._topic.empty_since.get(_key_of(queue))
        oldest = queue.segments[0]
        return since is not None and is_expired(
            queue, oldest, *_sightings(bounds[oldest.place], since, at)
        )

    async def _drop(
        self, due: Collection[LogicalQueue], bounds: Mapping[Place, QueueBounds], at: datetime
    ) -> None:
        names = {one.broker_group_name for queue in due for one in queue.segments}
        positions = await read_positions(self, names, self.topic_name)
        mapping = self._topic.mapping
        carried: list[CarriedPosition] = []
        for queue in due:
            since = self._topic.empty_since[_key_of(queue)]
            sightings = _sightings(bounds[queue.segments[0].place], since, at)
            found = drop_oldest(mapping, queue.global_id, sightings, positions)
            mapping = found.topic
            carried += found.carried
        await commit_carried(self, self.topic_name, carried, fence={})
        places = {one.segments[0].place for one in due}
        new_events = [
            event
            for name in sorted({name for name, _ in places})
            for event in topic_events(
                TOPIC_SEGMENTS_EXPIRED,
                self._topic.cluster_name,
                name,
                [self.topic_name],
                at=at,
            )
        ]
        if await save_between_changes(
            self._topic,
            mapping,
            database=self._database,
            clock=self._clock,
            new_events=new_events,
        ):
            self.dropped_count += len(due)
            for queue in due:
                dropped = {"queue": queue.global_id, "segment": str(queue.segments[0])}
                log.info("segment_expired", topic=self.topic_name, **dropped)


def _key_of(queue: LogicalQueue) -> tuple[int, int]:
    return queue.global_id, queue.segments[0].generation


def _sightings(bounds: QueueBounds, since: datetime, at: datetime) -> tuple[Sighting, Sighting]:
    """Return what was seen twice: an ended segment without data takes no message in between."""
    first, second = (Sighting(round(one.timestamp() * 1_000), bounds) for one in (since, at))
    return first, second
