"""Members whose log is damaged: their master has what they lack, or they stay out (D13, I20)."""

import asyncio
import re

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.client import RemotingClient
from backend.brokers.requests.replication import GetLogPosition
from tests.integration.replication.conftest import read_all


@pytest.fixture
async def brokers():
    client = RemotingClient()
    yield Brokers(client)
    await client.aclose()


BODIES = [b"%d" % number for number in range(6)]


def first_segment(group, number):
    return group.agents[number - 1].root / "store" / "commitlog" / f"{0:020}"


def spoil(group, number, body):
    """Spoil the record of a message in the log of an agent that was killed."""
    path = first_segment(group, number)
    log = path.read_bytes()
    (record,) = re.finditer(re.escape(b"body-" + body + b"|"), log)
    with path.open("r+b") as file:
        file.seek(record.start())
        file.write(b"x")


async def send_all(group, number):
    for body in BODIES:
        assert (await group.send(number, b"body-" + body + b"|")).code == 0


def sent():
    return [b"body-" + body + b"|" for body in BODIES]


@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
async def test_a_replica_has_what_is_damaged_from_its_master_again(group, eventually, flush):
    await group.add_many(2, flushDiskType=flush)
    await send_all(group, 1)
    await group.await_equal_logs()
    group.kill(2)
    await group.await_state(1, 1, {1})
    spoil(group, 2, b"2")

    await group.start(2)
    await group.await_state(1, 1, {1, 2})

    agent = group.agents[1]
    assert [len(agent.events(name)) for name in ("store_damaged", "log_mended")] == [1, 1]
    # Its event loop notes it a moment after the copying thread has answered the master.
    await eventually(lambda: agent.events("log_verified"))
    await group.await_equal_logs()
    group.kill(1)
    await group.await_master(2)
    assert await read_all(group.client(2)) == sent()
    assert (await group.send(2, b"after")).code == 0


async def test_a_replica_that_lost_the_end_of_what_it_had_flushed_has_it_from_its_master(group):
    await group.add_many(2, flushDiskType="SYNC_FLUSH")
    await send_all(group, 1)
    await group.await_equal_logs()
    await asyncio.to_thread(group.agents[1].stop)
    await group.await_state(1, 1, {1})
    path = first_segment(group, 2)
    log = path.read_bytes()
    lost_from = log.index(b"body-4|")
    with path.open("r+b") as file:
        file.seek(lost_from)
        file.write(bytes(len(log.rstrip(b"\0")) - lost_from))

    await group.start(2)
    await group.await_state(1, 1, {1, 2})

    assert group.agents[1].events("the log was flushed further")
    assert group.agents[1].events("log_mended")
    await group.await_equal_logs()


async def test_a_former_master_follows_its_successor_once_its_log_is_mended(group):
    await group.add_many(3)
    await send_all(group, 1)
    group.kill(1)
    master, *_ = await group.await_master(2)
    spoil(group, 1, b"0")

    await group.start(1)
    await group.await_state(master, 2, {1, 2, 3})

    assert group.agents[0].events("log_mended")
    assert (await group.send(master, b"after")).code == 0
    await group.await_equal_logs()


async def test_without_another_master_a_damaged_log_stays_as_it_is_and_the_broker_says_so(
    group, eventually, brokers
):
    await group.add()
    await group.await_state(1, 1, {1})
    await send_all(group, 1)
    group.kill(1)
    spoil(group, 1, b"2")
    before = first_segment(group, 1).read_bytes()

    await group.start(1)

    agent = group.agents[0]
    await eventually(lambda: agent.events("log_not_mended"))
    (told,) = agent.events("log_not_mended")
    assert "no other broker leads the group" in told
    assert not agent.events("role_changed")
    said = await brokers.ask(f"127.0.0.1:{agent.port}", GetLogPosition())
    assert not said.is_following
    assert said.obstacle.startswith("damaged at log position")
    assert "no other broker leads the group" in said.obstacle
    assert (await group.client(1).send("orders", b"refused")).code == 14
    assert first_segment(group, 1).read_bytes() == before
    await asyncio.to_thread(agent.stop)
    assert first_segment(group, 1).read_bytes() == before


@pytest.mark.parametrize(
    ("mark", "reason"),
    [("", "no epoch in common"), ("1 1 300\n", "this broker keeps its log")],
    ids=["nothing confirmed", "confirmed messages"],
)
async def test_a_damaged_log_is_not_cut_for_a_master_that_never_had_it(
    group, eventually, mark, reason
):
    await group.add_many(2)
    await send_all(group, 1)
    await group.await_equal_logs()
    group.kill(2)
    await group.await_state(1, 1, {1})
    spoil(group, 2, b"2")
    store = group.agents[1].root / "store"
    # As if it had been another group's.
    (store / "epochFileCheckpoint").write_text("1\n0\n7-0\n")
    # Whether the broker had saved its mark before it was killed depends on the moment.
    (store / ".confirmed").write_text(mark)
    before = first_segment(group, 2).read_bytes()

    await group.start(2)

    await eventually(lambda: group.agents[1].events("log_not_mended"))
    await eventually(lambda: group.agents[1].events(reason))
    assert first_segment(group, 2).read_bytes() == before
    assert (await group.state()) == (1, 1, {1})
