"""A master that leaves waits for the members that copy its last state."""

import asyncio

import pytest

from workers.broker.group import last_copies
from workers.broker.group.last_copies import LastCopies


class Caller:
    """One connection of a member."""


@pytest.fixture
async def waiting():
    copies = LastCopies()
    copies.expect(2)
    task = asyncio.create_task(copies.wait())
    await asyncio.sleep(0)
    yield copies, task
    task.cancel()


def ask_all(copies, member, broker_id):
    copies.note_offsets(member, broker_id)
    copies.note_locks(member)
    copies.note_shares(member)


async def test_a_broker_that_leaves_no_member_behind_waits_for_none():
    await LastCopies().wait()


async def test_each_member_must_have_asked_for_offsets_then_locks_then_share_queues(waiting):
    copies, task = waiting
    first, again, second = Caller(), Caller(), Caller()

    ask_all(copies, first, 1)
    # A second connection of the same member.
    ask_all(copies, again, 1)
    # The locks of a question that began before the state was final are the end of an older copy.
    copies.note_locks(second)
    copies.note_shares(second)
    await asyncio.sleep(0)
    assert not task.done()

    copies.note_offsets(second, 2)
    copies.note_shares(second)
    copies.note_locks(second)
    await asyncio.sleep(0)
    assert not task.done()
    copies.note_shares(second)
    await task


async def test_questions_before_the_state_is_final_have_no_effect():
    copies, member = LastCopies(), Caller()
    copies.expect(1)
    copies.note_offsets(member, 1)
    task = asyncio.create_task(copies.wait())
    await asyncio.sleep(0)
    copies.note_locks(member)
    copies.note_shares(member)
    await asyncio.sleep(0)
    assert not task.done()

    ask_all(copies, member, 1)
    await task


async def test_a_member_that_does_not_ask_is_waited_for_a_while(monkeypatch):
    monkeypatch.setattr(last_copies, "WAIT_S_MAX", 0.01)
    copies = LastCopies()
    copies.expect(1)

    async with asyncio.timeout(60):
        await copies.wait()
