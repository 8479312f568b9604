"""Follow the event stream once in a process, and share it among many subscribers.

The newest events are in memory once for all subscribers. Each subscriber has only a position, and
reads at its own speed. So no subscriber waits for a slow one: a subscriber behind the oldest event
in memory gets an error, and resumes from Postgres. A notice of Postgres only wakes the process; it
also checks periodically.
"""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Final

import psycopg
import structlog
from sqlalchemy.exc import SQLAlchemyError

from backend.db import events
from backend.db.engine import Database
from backend.db.pipeline import pipeline_of
from backend.domain.event import Event, EventFilter
from backend.domain.event_errors import EventsExpired, SubscriberTooSlow
from backend.domain.page import PAGE_SIZE_MAX
from backend.services.upkeep.events import list_events, number_events

HELD_MAX: Final = 4_096
LOOK_INTERVAL_S: Final = 1.0
GATHER_S: Final = 0.01
"""Events within this time are numbered and read together."""
REST_S: Final = 0.25
"""The minimum time between two checks: more checks would slow down the changes."""
HEARTBEAT_INTERVAL_S: Final = 5.0
RETRY_DELAY_S: Final = 1.0
ALL: Final = EventFilter()

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class EventBatch:
    """Hold the chosen events of a subscriber, and the number up to which it has all of them.

    A batch without events is a heartbeat.
    """

    events: tuple[Event, ...]
    position: int


class EventFeed:
    """Number, read and keep the newest events; `listen` and `advance` are tasks of the process."""

    def __init__(self, database: Database, *, held_max: int = HELD_MAX) -> None:
        self._database = database
        self._held: deque[Event] = deque(maxlen=held_max)
        self._newest: int | None = None
        self._subscriber_count = 0
        self._is_ended = False
        self._work, self._changed = asyncio.Event(), asyncio.Event()

    @property
    def subscriber_count(self) -> int:
        """Return the number of subscribers."""
        return self._subscriber_count

    async def listen(self) -> None:
        """Listen for notices of new events until cancelled."""
        while True:
            try:
                async with events.listen(self._database) as notices:
                    # Events that were committed while this process did not listen.
                    self._work.set()
                    async for _ in notices:
                        self._work.set()
            except (psycopg.Error, OSError) as error:
                log.warning("event_notices_lost", error=str(error))
            await asyncio.sleep(RETRY_DELAY_S)

    async def advance(self) -> None:
        """Number and read new events until cancelled."""
        loop = asyncio.get_running_loop()
        rested_at_s = loop.time()
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_INTERVAL_S):
                    await self._work.wait()
                    await asyncio.sleep(max(GATHER_S, rested_at_s - loop.time()))
            self._work.clear()
            rested_at_s = loop.time() + REST_S
            try:
                while await number_events(database=self._database) == events.NUMBERED_AT_ONCE_MAX:
                    pass
                await self._read()
            except (SQLAlchemyError, OSError, TimeoutError) as error:
                log.warning("events_delayed", error=str(error))
                await asyncio.sleep(RETRY_DELAY_S)

    def end(self) -> None:
        """End the stream of every subscriber after its present events; the process is stopping."""
        self._is_ended = True
        self._wake_subscribers()

    async def follow(
        self, after: int | None, chosen: EventFilter
    ) -> AsyncGenerator[EventBatch, None]:
        """Yield the events after a number, or from now on; the first batch comes immediately.

        Later batches come with new events, and as heartbeats. Close the generator to stop.

        Raises:
            EventsExpired: events after that number are no longer kept, or the number was never
            assigned. SubscriberTooSlow: the subscriber had received all events, and then fell too
            far behind.
        """
        self._subscriber_count += 1
        try:
            batch = await self._fetch(after, chosen)
            position, has_caught_up = batch.position, False
            yield batch
            while not self._is_ended:
                changed = self._changed
                behind = self._held_after(position)
                if behind is None and has_caught_up:
                    raise SubscriberTooSlow(position, held_max=self._held.maxlen or 0)
                if behind is None:
                    batch = await self._fetch(position, chosen)
                elif behind:
                    wanted = tuple(event for event in behind if chosen.lets_pass(event))
                    batch = EventBatch(wanted, behind[-1].number)
                else:
                    # A subscriber that read from Postgres may be ahead of the events in memory.
                    has_caught_up |= position == self._newest
                    if await _is_set(changed, within_s=HEARTBEAT_INTERVAL_S):
                        continue
                    batch = EventBatch((), position)
                position = batch.position
                yield batch
        finally:
            self._subscriber_count -= 1

    async def _fetch(self, after: int | None, chosen: EventFilter) -> EventBatch:
        size = 1 if after is None else PAGE_SIZE_MAX
        page = await list_events(after=after, size=size, chosen=chosen, database=self._database)
        return EventBatch(() if after is None else page.events, page.next_after)

    def _held_after(self, position: int) -> list[Event] | None:
        """Return the events in memory after a position, or None if some of them are gone."""
        count = 0 if self._newest is None else self._newest - position
        if count > len(self._held):
            return None
        return [self._held[-i] for i in range(count, 0, -1)]

    async def _read(self) -> None:
        while self._newest is None or not self._subscriber_count:
            ends = await events.get_ends(pipeline_of(self._database, is_patient=True))
            # A new subscriber needs events in memory without a gap.
            if self._newest is None or not self._subscriber_count:
                self._begin_at(ends.newest_number)
                return
        while True:
            try:
                page = await list_events(
                    after=self._newest, size=PAGE_SIZE_MAX, chosen=ALL, database=self._database
                )
            except EventsExpired as expired:
                # Subscribers notice it with their next read.
                self._begin_at(expired.newest_number)
                return
            if not page.events:
                return
            self._held.extend(page.events)
            self._newest = page.events[-1].number
            self._wake_subscribers()

    def _begin_at(self, number: int) -> None:
        self._held.clear()
        self._newest = number
        self._wake_subscribers()

    def _wake_subscribers(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


async def _is_set(event: asyncio.Event, *, within_s: float) -> bool:
    try:
        async with asyncio.timeout(within_s):
            await event.wait()
    except TimeoutError:
        return False
    return True
