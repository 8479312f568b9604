"""A forced move of logical queues, and the lease of the master that can't be asked (L47)."""

import asyncio
from uuid import uuid4

import pytest
from sqlalchemy import text

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.db import logical_queues, replica_groups
from backend.domain.logical_queue.change import decide, with_prepared
from backend.domain.logical_queue.commit import Prepared
from backend.domain.logical_queue.errors import LeaderLeaseLive
from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.services.logical_queue.changes import begin_change
from backend.services.logical_queue.driving import Driver
from tests.unit.domain.logical_queue.builders import NOW, groups, segment, topic
from tests.waiting import PATIENCE_S

CLOCK = SystemClock()
CLUSTER, GROUP, OTHER = "c", "g", "other"
KEY_1 = (CLUSTER, GROUP, 1)


@pytest.fixture
async def driver(database):
    """Drive the forced move of a queue that the group with the controller leads."""
    mapping = topic([segment(0, f"{GROUP}:q0")], counts={OTHER: 0})
    async with database.begin() as connection:
        await logical_queues.add(connection, CLUSTER, mapping, at=CLOCK.now())
    change_id = uuid4()

    def plan(present):
        return plan_moves(
            present,
            [Relocation(0, GROUP, OTHER)],
            groups=groups(GROUP, OTHER, silent=[GROUP]),
            now_ms=NOW,
            forced_ends={0: 7},
        )

    await begin_change(change_id, CLUSTER, "T", plan, database=database, clock=CLOCK)
    client = RemotingClient()
    yield Driver(change_id, CLUSTER, "T", database, Brokers(client), CLOCK, fence={})
    await client.aclose()


def decided(change):
    return decide(with_prepared(change, 0, Prepared(0)), 0)


async def test_a_queue_is_not_decided_before_the_lease_of_its_source_ends(drive, database, driver):
    one = drive()
    await one.make_f3()
    await one.record(database, KEY_1, lease=[KEY_1], epoch=1)

    with pytest.raises(LeaderLeaseLive, match=GROUP):
        await driver.advance(decided, unless_led_by=GROUP)

    async with database.begin() as connection:
        await connection.execute(text("UPDATE replica_groups SET lease_expires_at = now()"))
    change = await driver.advance(decided, unless_led_by=GROUP)
    assert change.after.queue(0).leader_name == OTHER


async def test_a_group_without_a_controller_has_no_lease(driver):
    change = await driver.advance(decided, unless_led_by=GROUP)

    assert change.after.queue(0).leader_name == OTHER


async def test_no_lease_is_granted_while_a_queue_is_decided(drive, database):
    one = drive()
    await one.make_f3()

    async with database.begin() as connection:
        assert not await replica_groups.lock_lease(connection, CLUSTER, GROUP)
        granting = asyncio.ensure_future(one.record(database, KEY_1, lease=[KEY_1], epoch=1))
        done, _ = await asyncio.wait([granting], timeout=0.2)
        assert not done

    async with asyncio.timeout(PATIENCE_S):
        assert await granting == {KEY_1}
