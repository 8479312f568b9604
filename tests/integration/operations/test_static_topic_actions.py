"""The first step of a change records what was planned, or nothing."""

from types import SimpleNamespace
from uuid import uuid4

import pytest

from backend.clients.clock import SystemClock
from backend.db import logical_queues
from backend.domain.logical_queue.errors import QueueMappingMoved
from backend.domain.logical_queue.planning import plan_shrink
from backend.operations.actions.static_topics import StaticTopicAction
from backend.services.logical_queue.changes import NO_GUARD
from tests.unit.domain.logical_queue.builders import NOW, created, groups


@pytest.fixture
async def action(database):
    """The action of a topic of 4 queues, with what it needs of a step and of a context."""
    clock = SystemClock()
    mapping = created(4, "b1", "b2")
    async with database.begin() as connection:
        await logical_queues.add(connection, "c", mapping, at=clock.now())
    run = SimpleNamespace(operation=SimpleNamespace(id=uuid4()), guard=NO_GUARD)
    context = SimpleNamespace(database=database, clock=clock)

    def plan(present):
        return plan_shrink(present, 3, groups=groups("b1", "b2"), now_ms=NOW)

    async def begin(epoch):
        return await StaticTopicAction("c", "T").begin(run, epoch, plan, context)

    async def stored():
        async with database.connect() as connection:
            return await logical_queues.get(connection, "c", "T")

    return SimpleNamespace(mapping=mapping, begin=begin, stored=stored)


async def test_a_change_begins_from_the_planned_epoch_only(action):
    with pytest.raises(QueueMappingMoved):
        await action.begin(action.mapping.epoch - 1_000)

    assert (await action.stored()).unfinished is None

    begun = await action.begin(action.mapping.epoch)
    assert str((await action.stored()).unfinished.id) == begun["change_id"]


async def test_a_repeated_beginning_changes_nothing(action):
    begun = await action.begin(action.mapping.epoch)
    before = await action.stored()

    # The epoch is higher by now: that of the change itself.
    assert await action.begin(action.mapping.epoch) == begun
    assert await action.stored() == before
