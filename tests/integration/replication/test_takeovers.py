"""What readers see of a master that has just taken over from one that was killed (I8, D9)."""

import asyncio

import pytest

from backend.nameserver import role_notices
from backend.nameserver.replica_report_writer import ReplicaReportWriter
from tests.integration.replication.conftest import read_all

MAX_OFFSET = 30
QUEUE = {"topic": "orders", "queueId": 0}


async def test_a_new_master_shows_all_that_was_acknowledged_from_the_first_answer_on(group):
    await group.add_many(2)
    master = 1
    for epoch in range(2, 7):
        assert (await group.send(master, b"m")).code == 0
        group.kill(master)
        former, master = master, 3 - master

        await group.await_state(master, epoch, {master})
        shown = await group.client(master).call(MAX_OFFSET, QUEUE)

        assert (shown.code, shown.ext.get("offset")) == (0, str(epoch - 1))
        await group.start(former)
        await group.await_state(master, epoch, {1, 2})
    assert len(await read_all(group.client(master))) == 5


async def test_readers_of_a_new_master_without_a_lease_are_refused_and_miss_nothing(
    group, monkeypatch, eventually
):
    await group.add_many(3, haHousekeepingInterval="60000")
    assert (await group.send(1, b"m")).code == 0
    # The next one is nowhere confirmed, for all that its new master knows.
    await group.pause(3)
    in_doubt = asyncio.ensure_future(group.client(1).send("orders", b"in doubt"))

    async def is_held():
        return b"in doubt" in group.log_bytes(2)

    await eventually(is_held)
    may_be_granted = asyncio.Event()

    # As where a process elects that does not hear this broker, and Postgres is slow.
    def spell_without_lease(replica_group, told):
        return spell(replica_group, told._replace(lease_ms=0))

    spell = role_notices._spell
    monkeypatch.setattr(role_notices, "_spell", spell_without_lease)
    for name in ("ask_lease", "ask_lease_at_once"):
        monkeypatch.setattr(ReplicaReportWriter, name, later(may_be_granted, name))

    group.kill(1)

    await group.await_state(2, 2, {2})
    refused = await group.client(2).call(MAX_OFFSET, QUEUE)
    assert refused.code == 14
    assert "does not serve messages" in refused.remark

    may_be_granted.set()

    async def is_shown():
        shown = await group.client(2).call(MAX_OFFSET, QUEUE)
        assert shown.code == 14 or shown.ext["offset"] == "2"
        return shown.code == 0

    await eventually(is_shown)
    assert (await group.send(2, b"after")).code == 0
    assert await read_all(group.client(2)) == [b"m", b"in doubt", b"after"]
    with pytest.raises(ConnectionResetError):
        await in_doubt


def later(event, name):
    ask = getattr(ReplicaReportWriter, name)

    async def ask_later(*arguments):
        await event.wait()
        return await ask(*arguments)

    return ask_later
