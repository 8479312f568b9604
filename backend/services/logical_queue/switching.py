"""Switch logical queues to their destinations (logical-queues.md 9.4, M2 to M4).

A queue takes no messages from its seal until its destination is active. So what can be asked before
the seal is asked before. One queue at a time is sealed, since each transaction and each list has
the whole mapping of the topic: no queue waits for those of others.
"""

import asyncio
import contextlib
from collections.abc import Iterable

from backend.brokers.errors import NoAnswer
from backend.domain.logical_queue import change as domain
from backend.domain.logical_queue.change import MoveStep, QueueChange, QueueMove
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.copies import store_request
from backend.services.logical_queue.driving import Driver, carry, each, layout_at, prepare, seal


async def switch_queues(driver: Driver, global_ids: Iterable[int]) -> QueueChange:
    """Seal queues, decide their offsets and open them at their destinations.

    All of this is one step of an operation, in which no pause takes effect. Each queue goes on by
    itself.

    Raises:
        NoAnswer: a broker did not answer this time. LeaderLeaseLive: the master of a source that
        can't be asked still has a lease.
    """
    turn = asyncio.Lock()
    await each(_switch(driver, one, turn) for one in global_ids)
    return await driver.read()


async def _switch(driver: Driver, global_id: int, turn: asyncio.Lock) -> None:
    change, prepared = await prepare(driver, global_id)
    move = change.move(global_id)
    if prepared is None and move.step is not MoveStep.DECIDED:
        return
    source, destination = move.relocation.source, move.relocation.destination
    source_layout = await _layout_of_source(driver, move)
    async with turn:
        # A queue is not sealed for a destination that does not answer any more.
        layout = await layout_at(driver, destination)
        if prepared is None:
            change = await driver.read()
        else:
            change = await _decide(driver, change, move, prepared)
        await carry(driver, change, global_id)
        await _store(driver, change, destination, layout)
        if source_layout is not None:
            # It forwards the requests that wait there. Otherwise it gets the lists with M5.
            with contextlib.suppress(NoAnswer):
                await _store(driver, change, source, source_layout)
        await driver.advance(lambda now: domain.with_activated(now, global_id))


async def _layout_of_source(driver: Driver, move: QueueMove) -> TopicLayout | None:
    """Return the layout that a source has; None if it can't be asked."""
    if move.forced_start is None:
        with contextlib.suppress(NoAnswer):
            return await layout_at(driver, move.relocation.source)
    return None


async def _decide(
    driver: Driver, change: QueueChange, move: QueueMove, prepared: Prepared
) -> QueueChange:
    """Seal a queue, and record where it continues (M2, M3)."""
    sealed = await seal(driver, change, move)
    # A source that can't be asked takes messages until its lease ends (L47).
    return await driver.advance(
        lambda now: _decided(now, move.global_id, prepared, sealed),
        unless_led_by=None if move.forced_start is None else move.relocation.source,
    )


def _decided(
    change: QueueChange, global_id: int, prepared: Prepared, sealed: Seal | None
) -> QueueChange:
    change = domain.with_prepared(change, global_id, prepared)
    if sealed is not None:
        change = domain.with_sealed(change, global_id, sealed)
    return domain.decide(change, global_id)


async def _store(driver: Driver, change: QueueChange, name: str, layout: TopicLayout) -> None:
    """Store the lists of a change at a broker group, which refuses those of before (INV-27)."""
    await driver.ask(name, store_request(change.after, name, layout, is_final=False))
