"""Read the stream of events, number its events, and delete the oldest ones."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from backend.clients.clock import Clock
from backend.db import events
from backend.db.engine import Database
from backend.db.pipeline import pipeline_of
from backend.domain.event import Event, EventFilter
from backend.domain.event_errors import EventsExpired
from backend.domain.page import check_page_size

EXPIRED_AT_ONCE_MAX: Final = 5_000


@dataclass(frozen=True, slots=True)
class EventPage:
    """Hold events by number; `next_after` is the number after which the next page starts."""

    events: tuple[Event, ...]
    next_after: int
    newest_number: int
    oldest_number: int
    """Number of the oldest event that is kept, or one more than the newest if none is kept."""


@dataclass(frozen=True, slots=True)
class ExpiryOutcome:
    """Count the deleted events."""

    expired_count: int


async def list_events(
    *, after: int | None, size: int, chosen: EventFilter, database: Database
) -> EventPage:
    """List events after a number, the oldest first; without a number, the newest events.

    Raises:
        EventsExpired: events after that number are no longer kept, or the number was never
        assigned. InvalidPageSize: the page is empty or too large.
    """
    check_page_size(size)
    async with database.connect() as connection:
        ends, found = await events.list_after(connection, after, chosen=chosen, limit=size)
    if after is not None and not ends.expired_number <= after <= ends.newest_number:
        raise EventsExpired(
            after, oldest_number=ends.expired_number + 1, newest_number=ends.newest_number
        )
    is_cut = after is not None and len(found) == size
    return EventPage(
        events=tuple(found),
        next_after=found[-1].number if is_cut else ends.newest_number,
        newest_number=ends.newest_number,
        oldest_number=ends.expired_number + 1,
    )


async def number_events(*, database: Database) -> int:
    """Number the committed events without a number; return how many there were."""
    return await events.number_staged(pipeline_of(database, is_patient=True))


async def expire_events(
    *, kept_max: int, kept_for: timedelta, database: Database, clock: Clock
) -> ExpiryOutcome:
    """Delete the events that are too many or too old, in batches."""
    count, removed = 0, EXPIRED_AT_ONCE_MAX
    while removed == EXPIRED_AT_ONCE_MAX:
        async with database.begin() as connection:
            removed = await events.remove_expired(
                connection,
                kept_max=kept_max,
                kept_since=clock.now() - kept_for,
                limit=EXPIRED_AT_ONCE_MAX,
            )
        count += removed
    return ExpiryOutcome(count)
