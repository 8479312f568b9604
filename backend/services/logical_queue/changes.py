"""Begin changes of logical queues, and record how far they are: one transaction for each.

Nothing here asks a broker. Each transaction locks the topic, decides from what the database holds,
and commits mapping and change together (logical-queues.md 2.8, 9.4).
"""

from collections.abc import Awaitable, Callable, Collection
from typing import Final
from uuid import UUID

from backend.clients.clock import Clock
from backend.db import events, logical_queues
from backend.db.engine import Connection, Database
from backend.db.logical_queues import StoredTopic
from backend.domain.event import NewEvent
from backend.domain.logical_queue.change import ChangeKind, ChangeState, QueueChange
from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.mapping import TopicMapping

Guard = Callable[[Connection], Awaitable[None]]
"""Refuses the transaction of a worker that was replaced."""

Plan = Callable[[TopicMapping], QueueChange]
Advance = Callable[[QueueChange], QueueChange]


async def _no_guard(_connection: Connection) -> None:
    """Refuse nothing."""


NO_GUARD: Final[Guard] = _no_guard


async def begin_creation(
    change_id: UUID,
    cluster_name: str,
    change: QueueChange,
    *,
    database: Database,
    clock: Clock,
    guard: Guard = NO_GUARD,
) -> QueueChange:
    """Record a new or lost static topic with its change; repeated, it changes nothing.

    Raises:
        StaticTopicExists: there is a static topic of the name. OperationFenced: by the guard.
    """
    async with database.begin() as connection:
        await guard(connection)
        begun = await logical_queues.find_change(connection, change_id, change.topic_name)
        if begun is not None:
            return begun.change
        at = clock.now()
        await logical_queues.add(connection, cluster_name, change.after, change.moves, at=at)
        await logical_queues.add_change(connection, cluster_name, change_id, change, at=at)
    return change


async def begin_change(
    change_id: UUID,
    cluster_name: str,
    topic_name: str,
    plan: Plan,
    *,
    database: Database,
    clock: Clock,
    guard: Guard = NO_GUARD,
) -> QueueChange:
    """Plan a change from the locked mapping, and record it (M0); repeated, it changes nothing.

    `plan` takes the epoch of the change from the mapping that it is given, so no two changes of a
    topic have one epoch.

    Raises:
        StaticTopicNotFound: the cluster has no static topic of the name. QueueChangeRefused:
        another change of the topic is unfinished, or the plan refuses. OperationFenced: by the
        guard.
    """
    async with database.begin() as connection:
        await guard(connection)
        begun = await logical_queues.find_change(connection, change_id, topic_name)
        if begun is not None:
            return begun.change
        held = await logical_queues.lock(connection, cluster_name, topic_name)
        check_no_change(held)
        change = plan(held.mapping)
        at = clock.now()
        await logical_queues.save(connection, held, change.after, change.moves, at=at)
        await logical_queues.add_change(connection, cluster_name, change_id, change, at=at)
    return change


async def advance_change(
    change_id: UUID,
    cluster_name: str,
    topic_name: str,
    advance: Advance,
    *,
    database: Database,
    clock: Clock,
    guard: Guard = NO_GUARD,
) -> QueueChange:
    """Take the next value of an unfinished change: an answer, a decision, a roll back (M1 to M6).

    A finished change stays as it is. A topic whose deletion is done is removed.

    Raises:
        QueueChangeRefused: `advance` refuses, or the change was never begun. OperationFenced: by
        the guard.
    """
    async with database.begin() as connection:
        await guard(connection)
        held = await logical_queues.find_locked(connection, cluster_name, topic_name)
        if held is None or held.unfinished is None or held.unfinished.id != change_id:
            stored = await logical_queues.find_change(connection, change_id, topic_name)
            if stored is None:
                raise QueueChangeRefused(topic_name, f"change {change_id} was never begun")
            return stored.change
        before = held.unfinished.change
        after = advance(before)
        if after == before:
            return before
        at = clock.now()
        if after.kind is ChangeKind.DELETE and after.state is ChangeState.DONE:
            await logical_queues.save_change(connection, change_id, after, at=at)
            await logical_queues.remove(connection, held)
            return after
        moves = () if after.is_finished else after.moves
        await logical_queues.save(connection, held, after.after, moves, at=at)
        await logical_queues.save_change(connection, change_id, after, at=at)
    return after


async def save_between_changes(
    held: StoredTopic,
    mapping: TopicMapping,
    *,
    database: Database,
    clock: Clock,
    new_events: Collection[NewEvent] = (),
) -> bool:
    """Write a mapping of the same epoch, unless the topic was changed since it was read.

    Return whether it was written.
    """
    names = held.cluster_name, mapping.topic_name
    async with database.begin() as connection:
        present = await logical_queues.lock(connection, *names)
        if present.unfinished is not None or present.version != held.version:
            return False
        await logical_queues.save(connection, held, mapping, at=clock.now())
        await events.stage(connection, new_events)
    return True


def check_no_change(held: StoredTopic) -> None:
    """Refuse a topic with an unfinished change (L55).

    Raises:
        QueueChangeRefused: it has one.
    """
    if (unfinished := held.unfinished) is not None:
        what = f"operation {unfinished.id} is not finished: wait, retry or undo it"
        raise QueueChangeRefused(held.mapping.topic_name, what)
