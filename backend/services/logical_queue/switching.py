"""Switch logical queues to their destinations (logical-queues.md 9.4, M2 to M4).

A queue takes no messages from its seal until its destination is active. So what can be asked before
the seal is asked before, and queues that switch at the same time share transactions and requests:
each of these has the whole mapping of the topic.
"""

import contextlib
from collections.abc import Iterable, Sequence
from functools import partial

from backend.brokers.errors import NoAnswer
from backend.domain.errors import DomainError
from backend.domain.logical_queue import change as domain
from backend.domain.logical_queue.change import MoveStep, QueueChange, QueueMove
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.changes import Advance
from backend.services.logical_queue.combining import Combined
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
    switching = _Switching(driver)
    await each(switching.switch(one) for one in global_ids)
    return await driver.read()


class _Switching:
    """Hold what queues share that switch at the same time."""

    def __init__(self, driver: Driver) -> None:
        self._driver = driver
        self._steps = Combined(self._record)
        self._stores: dict[str, Combined[TopicLayout, None]] = {}

    async def switch(self, global_id: int) -> None:
        driver = self._driver
        # Asked again: a queue is not sealed for a destination that does not answer any more.
        change, prepared = await prepare(driver, global_id)
        move = change.move(global_id)
        if prepared is None and move.step is not MoveStep.DECIDED:
            return
        source, destination = move.relocation.source, move.relocation.destination
        layout = await layout_at(driver, destination)
        source_layout = await self._layout_of_source(move)
        if prepared is not None:
            change = await self._decide(change, move, prepared)
        await carry(driver, change, global_id)
        await self._store(destination, layout)
        if source_layout is not None:
            # It forwards the requests that wait there. Otherwise it gets the lists with M5.
            with contextlib.suppress(NoAnswer):
                await self._store(source, source_layout)
        await self._steps.ask(lambda now: domain.with_activated(now, global_id))

    async def _layout_of_source(self, move: QueueMove) -> TopicLayout | None:
        """Return the layout that a source has; None if it can't be asked."""
        if move.forced_start is None:
            with contextlib.suppress(NoAnswer):
                return await layout_at(self._driver, move.relocation.source)
        return None

    async def _decide(
        self, change: QueueChange, move: QueueMove, prepared: Prepared
    ) -> QueueChange:
        sealed = await seal(self._driver, change, move)

        def step(now: QueueChange) -> QueueChange:
            return _decided(now, move.global_id, prepared, sealed)

        if sealed is not None:
            return await self._steps.ask(step)
        # A source that can't be asked takes messages until its lease ends (L47).
        return await self._driver.advance(step, unless_led_by=move.relocation.source)

    async def _record(self, steps: Sequence[Advance]) -> list[QueueChange | Exception]:
        """Record steps of several queues in one transaction, without those that are refused."""
        refusals: dict[int, Exception] = {}

        def take(change: QueueChange) -> QueueChange:
            for number, step in enumerate(steps):
                try:
                    change = step(change)
                except DomainError as error:
                    refusals[number] = error
            return change

        change = await self._driver.advance(take)
        return [refusals.get(number, change) for number in range(len(steps))]

    async def _store(self, broker_group_name: str, layout: TopicLayout) -> None:
        """Store the present mapping at a broker group."""
        if broker_group_name not in self._stores:
            carry_out = partial(self._store_once, broker_group_name)
            self._stores[broker_group_name] = Combined(carry_out)
        await self._stores[broker_group_name].ask(layout)

    async def _store_once(
        self, broker_group_name: str, layouts: Sequence[TopicLayout]
    ) -> Sequence[Exception | None]:
        change = await self._driver.read()
        request = store_request(change.after, broker_group_name, layouts[-1], is_final=False)
        await self._driver.ask(broker_group_name, request)
        return [None] * len(layouts)


def _decided(
    change: QueueChange, global_id: int, prepared: Prepared, sealed: Seal | None
) -> QueueChange:
    change = domain.with_prepared(change, global_id, prepared)
    if sealed is not None:
        change = domain.with_sealed(change, global_id, sealed)
    return domain.decide(change, global_id)
