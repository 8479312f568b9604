"""Store the stream of events: staged with the change, and numbered in the order of commits.

A number from an open transaction could be committed after a greater number, and a reader of the
greater number would never see it. So a transaction stages its events without a number. The holder
of the lock of the stream's row assigns numbers to committed events later. A reader that has seen a
number has seen, or can read, every smaller number that is still kept.
"""

from collections.abc import AsyncIterator, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import delete, func, insert, select, true, update

from backend.db import notices
from backend.db.cluster_scope import reached
from backend.db.engine import Connection, Database
from backend.db.event_tables import event_stream, events, staged_events
from backend.db.pipeline import Pipeline, Statement, run
from backend.domain.event import Event, EventFilter, NewEvent, read_subject

STAGED_CHANNEL: Final = "regent_events_staged"
"""The channel for notices of staged events, so that a process of the control plane numbers them."""
NUMBERED_CHANNEL: Final = "regent_events_numbered"
NUMBERED_AT_ONCE_MAX: Final = 5_000

_EVENT_FIELDS: Final = tuple(field.name for field in fields(Event))

_STAGE: Final = insert(staged_events).returning(func.pg_notify(STAGED_CHANNEL, ""))
# A function of the database. It takes the lock in a statement before the one that reads staged
# events. So the second statement sees the result of the last holder.
_NUMBER: Final = Statement(
    "number_staged_events",
    "SELECT number_staged_events(CAST(:limit AS bigint), CAST(:channel AS text))",
)
_GET_ENDS: Final = Statement(
    "get_event_stream_ends", "SELECT newest_number, expired_number FROM event_stream"
)


@dataclass(frozen=True, slots=True)
class StreamEnds:
    """Hold the number of the newest event, and of the newest event that is no longer kept."""

    newest_number: int
    expired_number: int


async def stage(connection: Connection, new_events: Collection[NewEvent]) -> None:
    """Stage events, which are published in their order when this transaction is committed."""
    if not new_events:
        return
    rows = [
        {
            **{field.name: getattr(one, field.name) for field in fields(NewEvent)},
            "details": msgspec.to_builtins(one.details),
        }
        for one in new_events
    ]
    await connection.execute(_STAGE, rows)


async def number_staged(runner: Pipeline | Connection) -> int:
    """Number the committed events, the oldest first, and return how many there were."""
    values = {"limit": NUMBERED_AT_ONCE_MAX, "channel": NUMBERED_CHANNEL}
    [[count]] = await run(runner, _NUMBER, values)
    return int(count)


async def get_ends(runner: Pipeline | Connection) -> StreamEnds:
    """Return the ends of the stream."""
    [[newest, expired]] = await run(runner, _GET_ENDS, {})
    return StreamEnds(int(newest), int(expired))


async def list_after(
    connection: Connection, after: int | None, *, chosen: EventFilter, limit: int
) -> tuple[StreamEnds, list[Event]]:
    """List events by number, from the first one after `after`; without it the newest events.

    The ends are of the same moment as the events.
    """
    columns = events.c
    wanted = select(events).limit(limit)
    if after is None:
        wanted = wanted.order_by(columns.number.desc())
    else:
        wanted = wanted.where(columns.number > after).order_by(columns.number)
    if chosen.cluster_name is not None:
        wanted = wanted.where(columns.cluster_name == chosen.cluster_name)
    wanted = wanted.where(*reached(chosen.within, columns.cluster_name))
    if chosen.kinds is not None:
        wanted = wanted.where(columns.kind.in_(chosen.kinds))
    found = wanted.subquery()
    statement = (
        select(event_stream.c.newest_number, event_stream.c.expired_number, found)
        .select_from(event_stream.outerjoin(found, true()))
        .order_by(found.c.number)
    )
    rows = (await connection.execute(statement)).mappings().all()
    ends = StreamEnds(rows[0]["newest_number"], rows[0]["expired_number"])
    return ends, [_event(row) for row in rows if row["number"] is not None]


async def remove_expired(
    connection: Connection, *, kept_max: int, kept_since: datetime, limit: int
) -> int:
    """Remove the oldest events that are too many or too old; return their number."""
    ends = await get_ends(connection)
    expired = await _find_expired(connection, ends, kept_max=kept_max, kept_since=kept_since)
    expired = min(expired, ends.expired_number + limit)
    removed = await connection.execute(delete(events).where(events.c.number <= expired))
    # Last, since the numbering of events waits from here on.
    await connection.execute(
        update(event_stream).values(
            expired_number=func.greatest(event_stream.c.expired_number, expired)
        )
    )
    return removed.rowcount


async def count_expired(connection: Connection, *, kept_max: int, kept_since: datetime) -> int:
    """Count the events that are too many or too old."""
    ends = await get_ends(connection)
    expired = await _find_expired(connection, ends, kept_max=kept_max, kept_since=kept_since)
    return expired - ends.expired_number


async def _find_expired(
    connection: Connection, ends: StreamEnds, *, kept_max: int, kept_since: datetime
) -> int:
    """Find the number of the newest event to remove."""
    columns = events.c
    oldest_kept = await connection.scalar(
        select(columns.number)
        .where(columns.happened_at >= kept_since)
        .order_by(columns.number)
        .limit(1)
    )
    last_old = ends.newest_number if oldest_kept is None else oldest_kept - 1
    return max(last_old, ends.newest_number - kept_max, ends.expired_number)


@asynccontextmanager
async def listen(database: Database) -> AsyncIterator[AsyncIterator[None]]:
    """Listen while the context is open; each notice means that there may be staged events.

    Raises:
        psycopg.Error: the database does not answer, or no longer does.
    """
    channels = (STAGED_CHANNEL, NUMBERED_CHANNEL)
    async with notices.listen(database, *channels, application_name="regent-events") as payloads:
        yield (None async for _ in payloads)


def _event(row: Mapping[Any, Any]) -> Event:
    recorded = {name: row[name] for name in _EVENT_FIELDS}
    return Event(**recorded | {"subject": read_subject(row["kind"], row["subject"])})
