"""Drive a change of logical queues: send what is due, and record each answer.

Each function can be repeated at any time, by any process: it begins where the recorded change is,
and every request to a broker is fenced by the epoch of the change (logical-queues.md 9.4, 10.2).
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from backend.brokers.asking import Brokers, Inquiry
from backend.brokers.change import Fence
from backend.brokers.errors import NoAnswer
from backend.brokers.requests.logical_queues import (
    DiscardLogicalQueue,
    GetStaticTopic,
    PrepareLogicalQueue,
    SealLogicalQueue,
    UnsealLogicalQueue,
)
from backend.brokers.requests.topics import DeleteTopicInBroker
from backend.clients.clock import Clock
from backend.db import brokers as broker_rows
from backend.db import logical_queues, replica_groups
from backend.db.engine import Connection, Database
from backend.domain.logical_queue import change as domain
from backend.domain.logical_queue.change import (
    BEFORE_COMMIT,
    MoveStep,
    QueueChange,
    QueueMove,
)
from backend.domain.logical_queue.commit import Prepared, Seal
from backend.domain.logical_queue.errors import LeaderLeaseLive, QueueChangeRefused
from backend.domain.logical_queue.expiry import carry_to_leader, dropped_places
from backend.domain.operation_errors import BrokerSilent
from backend.domain.topic_layout import TopicLayout
from backend.services.logical_queue.changes import NO_GUARD, Advance, Guard, advance_change
from backend.services.logical_queue.copies import ask_holders, store_request
from backend.services.logical_queue.positions import commit_carried, read_positions

AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class Driver:
    """Hold the change to drive, and the clients of the process that drives it.

    `fence` identifies the attempt in requests that no epoch fences. With `may_redirect` a queue
    moves to another broker group if its destination is lost before the commit point (L43).
    """

    change_id: UUID
    cluster_name: str
    topic_name: str
    database: Database
    brokers: Brokers
    clock: Clock
    fence: Fence
    guard: Guard = NO_GUARD
    may_redirect: bool = False

    async def read(self) -> QueueChange:
        """Return the change as it is recorded.

        Raises:
            QueueChangeRefused: it was never begun.
        """
        async with self.database.connect() as connection:
            stored = await logical_queues.find_change(connection, self.change_id, self.topic_name)
        if stored is None:
            raise QueueChangeRefused(self.topic_name, f"change {self.change_id} was never begun")
        return stored.change

    async def advance(self, step: Advance, *, unless_led_by: str | None = None) -> QueueChange:
        """Record the next value of the change.

        Raises:
            LeaderLeaseLive: a master of the named broker group has a lease.
        """
        return await advance_change(
            self.change_id,
            self.cluster_name,
            self.topic_name,
            step,
            database=self.database,
            clock=self.clock,
            guard=self._guard(unless_led_by),
        )

    def _guard(self, led_by: str | None) -> Guard:
        """Return the guard of a transaction, which refuses while a master has a lease."""
        if led_by is None:
            return self.guard

        async def check(connection: Connection) -> None:
            await self.guard(connection)
            left = await replica_groups.lock_lease(connection, self.cluster_name, led_by)
            if left:
                raise LeaderLeaseLive(self.topic_name, led_by, left)

        return check

    async def find_master(self, broker_group_name: str) -> str | None:
        """Return the address of the present master of a broker group, if one is online."""
        async with self.database.connect() as connection:
            masters = await broker_rows.list_masters(
                connection, self.cluster_name, [broker_group_name]
            )
        return next((one.address for one in masters if one.is_online), None)

    async def ask(self, broker_group_name: str, inquiry: Inquiry[AnswerT]) -> AnswerT:
        """Ask the present master of a broker group."""
        return await self.brokers.ask(await self._get_master(broker_group_name), inquiry)

    async def _get_master(self, broker_group_name: str) -> str:
        address = await self.find_master(broker_group_name)
        if address is None:
            raise BrokerSilent(broker_group_name, "no master of the broker group is online")
        return address


async def prepare_queues(driver: Driver, global_ids: Iterable[int]) -> QueueChange:
    """Have destinations reserve physical queues, in the order of the logical queues (M1)."""
    for one in global_ids:
        await prepare(driver, one)
    return await driver.read()


async def end_queues(driver: Driver, global_ids: Iterable[int]) -> QueueChange:
    """Seal queues that take no more messages, and record their ends (M2, M3)."""
    await each(_end(driver, one) for one in global_ids)
    return await driver.read()


async def spread(driver: Driver) -> QueueChange:
    """Store the result at all broker groups, first at the former leaders (M5, M6).

    A broker group without a master is left out: it gets the mapping when it returns. Where it leads
    new queues, the change stays unfinished.

    Raises:
        NoAnswer: a broker did not answer this time.
    """
    change = await driver.read()
    moved = [one.global_id for one in change.moves]
    if not change.is_finished:
        await _store_everywhere(driver, change, moved)
    # A queue that a shrink had sealed or removed may come back on another physical queue. That one
    # takes positions once its broker group has stored it.
    returned = [one.global_id for one in change.changed_queues if one.global_id not in moved]
    await each(carry(driver, change, one) for one in returned)
    return await driver.read()


async def roll_back(driver: Driver) -> QueueChange:
    """Undo the change before its first commit point: unseal, discard, and store the old lists.

    Raises:
        QueueChangeRefused: a queue is decided, so that the change only goes forward. NoAnswer: a
        broker did not answer this time.
    """
    change = await driver.advance(domain.roll_back)
    if change.is_finished:
        return change
    await each(_unseal(driver, change, one) for one in change.moves if not one.is_unsealed)
    await each(_discard(driver, change, one) for one in change.moves)
    left = change.after.counts.keys() - change.converged
    await each(_store_final(driver, name) for name in sorted(left))
    return await driver.read()


async def delete_on_brokers(driver: Driver, *, only_empty: bool) -> QueueChange:
    """Delete the topic on every broker group; the rows go with the last one (INV-37)."""
    change = await driver.read()
    left = change.after.counts.keys() - change.converged
    await each(_delete(driver, name, only_empty=only_empty) for name in sorted(left))
    return await driver.read()


async def _store_everywhere(driver: Driver, change: QueueChange, moved: Sequence[int]) -> None:
    sources = {one.relocation.source for one in change.moves}
    left = change.after.counts.keys() - change.converged
    await each(_store_final(driver, name) for name in sorted(left & sources))
    # Consumer groups commit at the source until it has stored the new list.
    await each(carry(driver, change, one) for one in moved)
    await each(_store_final(driver, name) for name in sorted(left - sources))


async def prepare(driver: Driver, global_id: int) -> tuple[QueueChange, Prepared | None]:
    """Reserve a physical queue; None if the queue is decided already."""
    change = await driver.read()
    move = change.move(global_id)
    if move.step not in BEFORE_COMMIT:
        return change, None
    if driver.may_redirect and await driver.find_master(move.relocation.destination) is None:
        change = await _redirect(driver, global_id)
        move = change.move(global_id)
    name = move.relocation.destination
    if await driver.ask(name, GetStaticTopic(driver.topic_name)) is None:
        # A broker group that came after the last change does not know the topic.
        await driver.ask(name, store_request(change.after, name, TopicLayout(), is_final=False))
    request = PrepareLogicalQueue(topic=driver.topic_name, global_id=global_id, epoch=change.epoch)
    answer = await driver.ask(name, request)
    if move.step is MoveStep.PLANNED:
        change = await driver.advance(lambda now: domain.with_prepared(now, global_id, answer))
    return change, answer


async def _redirect(driver: Driver, global_id: int) -> QueueChange:
    """Choose another destination for a queue, if there is one that may be written."""
    holders = await ask_holders(
        driver.cluster_name, None, database=driver.database, brokers=driver.brokers
    )
    choices = holders.groups.answering - holders.groups.cordoned

    def choose(now: QueueChange) -> QueueChange:
        name = domain.next_destination(now, choices)
        return now if name is None else domain.redirect(now, global_id, name)

    return await driver.advance(choose)


async def _end(driver: Driver, global_id: int) -> None:
    change = await driver.read()
    move = change.move(global_id)
    if move.step in BEFORE_COMMIT:
        sealed = await seal(driver, change, move)
        assert sealed is not None, "the end of a queue is not forced"
        await driver.advance(
            lambda now: domain.decide(domain.with_sealed(now, global_id, sealed), global_id)
        )


async def seal(driver: Driver, change: QueueChange, move: QueueMove) -> Seal | None:
    """Seal the source; a source that can't be asked is not sealed."""
    if move.forced_start is not None:
        return None
    request = SealLogicalQueue(
        topic=driver.topic_name, global_id=move.global_id, epoch=change.epoch
    )
    return await driver.ask(move.relocation.source, request)


async def carry(driver: Driver, change: QueueChange, global_id: int) -> None:
    """Commit positions of groups that had read an empty segment, which the move dropped.

    Positions at a broker group without a master can't be read: the queue does not wait for it.
    """
    queue = change.after.queue(global_id)
    dropped = dropped_places(change.before, change.after, global_id)
    if queue is None or queue.leader is None or not dropped:
        return
    leader = queue.leader.broker_group_name
    names = {group for group, _ in dropped} - {leader}
    answering = [one for one in sorted(names) if await driver.find_master(one) is not None]
    held = await read_positions(driver, [leader, *answering], driver.topic_name)
    carried = carry_to_leader(change.before, change.after, global_id, held)
    await commit_carried(driver, driver.topic_name, carried, fence=driver.fence)


async def _store_final(driver: Driver, name: str) -> None:
    change = await driver.read()
    if name in change.converged | change.stale:
        return
    if await driver.find_master(name) is None:
        with contextlib.suppress(QueueChangeRefused):
            await driver.advance(lambda now: domain.without_broker_group(now, name))
        return
    layout = await layout_at(driver, name)
    await driver.ask(name, store_request(change.after, name, layout, is_final=True))
    await driver.advance(lambda now: domain.with_spread(now, name))


async def layout_at(driver: Driver, name: str) -> TopicLayout:
    """Return the layout that a broker group has, so that a change of the queues keeps the rest."""
    found = await driver.ask(name, GetStaticTopic(driver.topic_name))
    return TopicLayout() if found is None else found.layout


async def _unseal(driver: Driver, change: QueueChange, move: QueueMove) -> None:
    if move.forced_start is not None:
        return
    request = UnsealLogicalQueue(
        topic=driver.topic_name, global_id=move.global_id, epoch=change.epoch
    )
    await driver.ask(move.relocation.source, request)
    await driver.advance(lambda now: domain.with_unsealed(now, move.global_id))


async def _discard(driver: Driver, change: QueueChange, move: QueueMove) -> None:
    """Free the reserved queue; a destination without a master does so with its next mapping."""
    name = move.relocation.destination
    if move.prepared is None or await driver.find_master(name) is None:
        return
    request = DiscardLogicalQueue(
        topic=driver.topic_name, global_id=move.global_id, epoch=change.epoch
    )
    await driver.ask(name, request)


async def _delete(driver: Driver, name: str, *, only_empty: bool) -> None:
    request = DeleteTopicInBroker(
        topic=driver.topic_name, only_empty=only_empty, fence=driver.fence
    )
    await driver.ask(name, request)
    await driver.advance(lambda now: domain.with_spread(now, name))


async def each(tasks: Iterable[Awaitable[object]]) -> None:
    """Await all, also when one fails; then raise the first error."""
    outcomes = await asyncio.gather(*tasks, return_exceptions=True)
    errors = [one for one in outcomes if isinstance(one, BaseException)]
    # A refusal says more than a broker that may answer later.
    refusals = [one for one in errors if not isinstance(one, NoAnswer)]
    if errors:
        raise (refusals or errors)[0]
