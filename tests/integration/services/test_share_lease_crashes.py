"""Postgres crashes while it grants a lease (O26): one owner, and a repeat changes nothing.

The crash is real: the server of these tests is killed, and started again on its files.
"""

import asyncio
from datetime import timedelta

import pytest
from sqlalchemy.exc import OperationalError

from backend.db import share_leases
from backend.db.pipeline import pipeline_of
from backend.domain.errors import BrokerGroupBusy
from backend.domain.share_lease import HeldLease, LeaseHeartbeat, LeaseTerms, Member, Wish
from backend.domain.share_queue import ShareQueueName
from backend.services.share_queue.leases import arbitrate_leases
from tests.chaos.databases import Postgres
from tests.integration.services.controller_driver import ControllerDriver
from tests.pools import opened_database
from tests.waiting import eventually

NAMES = [ShareQueueName("orders", queue_id, "billing") for queue_id in range(40)]
MEMBERS = (1, 2, 3)
TERMS = LeaseTerms(ttl=timedelta(minutes=10), slice=timedelta(minutes=10))
"""No lease ends, and no owner gives way to a waiter, while Postgres is away."""


@pytest.fixture
def postgres():
    """Give a server of this test alone: no other test may lose its connections."""
    server = Postgres()
    yield server
    server.close()


@pytest.fixture
async def processes(postgres):
    """Give two processes of the control plane, and the broker group g with three members."""
    async with (
        opened_database(postgres.url, application_name="one") as one,
        opened_database(postgres.url, application_name="other") as other,
    ):
        await ControllerDriver(one).make_f3()
        yield one, other


async def beat(database, broker_id, *, wanted=(), held=()):
    heartbeat = LeaseHeartbeat(
        Member(broker_id, 1),
        {name: HeldLease(epoch, has_messages=True) for name, epoch in dict(held).items()},
        {name: Wish(0, has_messages=True) for name in wanted},
        {},
    )
    return await arbitrate_leases(heartbeat, "c", "g", database=database, terms=TERMS)


async def beat_until_answered(database, broker_id, **what):
    """Repeat one heartbeat as a member does, whose request or answer was lost, or was refused."""

    async def answered():
        try:
            return await beat(database, broker_id, **what)
        except (OperationalError, BrokerGroupBusy):
            # Six tasks without a pause change one row here; members ask once a second.
            return None

    return await eventually(answered)


def crash_at_the_write(monkeypatch, pipeline, crash, *, moment):
    """Have Postgres crash before, during or after the statement that grants; each only once."""
    fetch, crashes = pipeline.fetch, []

    async def crashing(statement, values):
        if statement.name != b"write_share_leases" or crashes:
            return await fetch(statement, values)
        crashes.append(moment)
        if moment == "before":
            await crash()
            return await fetch(statement, values)
        writing = asyncio.create_task(fetch(statement, values))
        if moment == "after":
            await writing
        else:
            # The statement is on its way.
            await asyncio.sleep(0)
        await crash()
        await asyncio.gather(writing, return_exceptions=True)
        raise OperationalError("write_share_leases", {}, ConnectionError("the answer is lost"))

    monkeypatch.setattr(pipeline, "fetch", crashing)
    return crashes


@pytest.mark.parametrize("moment", ["before", "during", "after"])
async def test_o26_a_grant_that_a_crash_of_postgres_interrupts_has_one_owner(
    postgres, processes, monkeypatch, moment
):
    one, other = processes
    crashes = crash_at_the_write(monkeypatch, pipeline_of(one), postgres.crash, moment=moment)
    with pytest.raises(OperationalError):
        await beat(one, 2, wanted=NAMES)
    await postgres.start()

    rival = await beat_until_answered(other, 3, wanted=NAMES)
    again = await beat_until_answered(other, 2, wanted=NAMES)
    once_more = await beat_until_answered(one, 2, wanted=NAMES)

    assert crashes == [moment]
    # What was committed is the first member's. What was not is of the one that asked next.
    assert again.granted == once_more.granted
    assert again.granted.keys().isdisjoint(rival.granted)
    assert again.granted.keys() | rival.granted.keys() == set(NAMES)
    assert set(again.granted) == (set(NAMES) if moment == "after" else set(again.granted))
    assert set(rival.granted) == (set(NAMES) if moment == "before" else set(rival.granted))
    assert {*again.granted.values(), *rival.granted.values()} == {1}


async def test_o26_members_that_ask_while_postgres_crashes_get_one_owner_for_each_share_queue(
    postgres, processes
):
    # O27: each member asks both processes, again and again, one half of the share queues at a time.
    granted = {broker_id: {} for broker_id in MEMBERS}
    is_over = asyncio.Event()

    async def ask(broker_id, database):
        turn = 0
        while not is_over.is_set():
            wanted = NAMES[turn % 2 :: 2]
            held = dict(granted[broker_id])
            decided = await beat_until_answered(database, broker_id, held=held, wanted=wanted)
            assert not decided.revoked
            granted[broker_id] |= decided.granted
            turn += 1

    asking = [
        asyncio.create_task(ask(each, database)) for each in MEMBERS for database in processes
    ]
    for _ in range(3):
        await postgres.crash()
        await postgres.start()
    await eventually(lambda: {name for held in granted.values() for name in held} == set(NAMES))
    is_over.set()
    await asyncio.gather(*asking)

    owners = [name for held in granted.values() for name in held]
    assert len(owners) == len(set(owners))
    stored = await share_leases.find(pipeline_of(processes[0]), "c", "g", 1, NAMES)
    assert {
        name: (lease.owner.broker_id, lease.epoch) for name, lease in stored.leases.items()
    } == {
        name: (broker_id, epoch)
        for broker_id, held in granted.items()
        for name, epoch in held.items()
    }
