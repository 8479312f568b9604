"""A member whose store is from another day is not elected, and takes nothing from the others."""

import asyncio
import json
import shutil

import pytest
from sqlalchemy import text

from backend.domain.election import Ballot
from backend.services.controller import elections
from backend.services.controller.group_changes import BrokerGroupName
from tests.integration.replication.conftest import GROUP, read_all
from tests.integration.services.controller_driver import ControllerDriver

REFUSED = "lacks messages that were confirmed"
EARLY, LATE = [b"early-%d" % n for n in range(5)], [b"late-%d" % n for n in range(5)]


def store_of(group, number):
    return group.agents[number - 1].root / "store"


async def evidence(database):
    """What the controller stores of the group: epoch and position."""
    async with database.connect() as connection:
        row = await connection.execute(
            text("SELECT confirmed_epoch, confirmed_position FROM replica_groups")
        )
        return tuple(row.one())


async def await_evidence(group, database, eventually, *, number=1):
    """Wait until a master's heartbeat has reported all that its log holds."""

    async def is_reported():
        status = json.loads((await group.client(number).call(907, {})).body)
        return (await evidence(database))[1] == status["masterCommitLogMaxOffset"]

    # The log may still grow by what clients make the master record.
    await eventually(is_reported)


async def send_all(group, number, bodies):
    for body in bodies:
        assert (await group.send(number, body)).code == 0


async def kill_all(group, eventually):
    """Both at once: the master, which is paused first, drops no replica from the set."""
    await group.pause(1)
    for number in range(len(group.agents), 1, -1):
        group.kill(number)

    def is_master_alone():
        figures = group.name_server.describe_controller()
        return [*figures.active_broker_counts.values()] == [1]

    await eventually(is_master_alone)
    group.kill(1)


async def make_old_copy(group, tmp_path, number):
    """Copy a member's store while it is down, and have it back in the set."""
    others = set(range(1, len(group.agents) + 1)) - {number}
    group.kill(number)
    await group.await_state(1, 1, others)
    copy = tmp_path / "copy"
    shutil.copytree(store_of(group, number), copy)
    await group.start(number)
    await group.await_state(1, 1, others | {number})
    return copy


def put_back(group, number, copy):
    shutil.rmtree(store_of(group, number))
    shutil.copytree(copy, store_of(group, number))


def empty(group, number):
    """As `rm -rf store/*` does: dot files stay."""
    for path in store_of(group, number).glob("[!.]*"):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


async def assert_never_elected(group, number, eventually, *others):
    agent = group.agents[number - 1]

    def is_out():
        # Without its commit log a store is damaged, so that the broker does not even ask.
        is_refused = any(REFUSED in line for line in agent.events("master_awaited"))
        return is_refused or agent.events("log_not_mended")

    await group.start(number)
    await eventually(is_out)
    assert (await group.state())[1] == 1

    await group.start(others[0])

    async def is_led():
        return (await group.state())[::2] == (others[0], {number, others[0]})

    await eventually(is_led)

    async def hold_all():
        # A replica shows what its master has confirmed to it.
        read = [await read_all(group.client(one)) for one in (number, others[0])]
        return read == [EARLY + LATE] * 2

    await eventually(hold_all)
    assert not group.agents[others[0] - 1].events("log_truncated")


async def test_a_member_put_back_from_an_older_copy_is_not_elected(
    group, database, tmp_path, eventually
):
    # Case A1.
    await group.add_many(3)
    await send_all(group, 1, EARLY)
    copy = await make_old_copy(group, tmp_path, 3)
    await send_all(group, 1, LATE)
    await await_evidence(group, database, eventually)
    await kill_all(group, eventually)
    put_back(group, 3, copy)

    await assert_never_elected(group, 3, eventually, 2)


@pytest.mark.parametrize("loss", ["everything", "commitlog", "older copy with newer dot files"])
async def test_a_member_that_was_emptied_is_unverified_and_not_elected(
    group, database, tmp_path, eventually, loss
):
    # Case A2.
    await group.add_many(3)
    await send_all(group, 1, EARLY)
    copy = await make_old_copy(group, tmp_path, 3)
    await send_all(group, 1, LATE)
    await await_evidence(group, database, eventually)
    await asyncio.sleep(0.5)  # what is confirmed is written down four times a second
    await kill_all(group, eventually)
    if loss == "everything":
        empty(group, 3)
    elif loss == "commitlog":
        shutil.rmtree(store_of(group, 3) / "commitlog")
    else:
        for path in copy.glob(".*"):
            path.unlink()
        empty(group, 3)
        shutil.copytree(copy, store_of(group, 3), dirs_exist_ok=True)

    await assert_never_elected(group, 3, eventually, 2)

    assert group.agents[2].events("log_doubted")
    await eventually(lambda: group.agents[2].events("log_verified"))
    assert not any("empty store" in line for line in group.agents[1].lines)


async def test_a_replica_keeps_confirmed_messages_that_its_master_lacks(
    group, database, tmp_path, eventually
):
    # Case A1: the controller lost its evidence as well.
    await group.add_many(2)
    await send_all(group, 1, EARLY)
    copy = await make_old_copy(group, tmp_path, 2)
    await send_all(group, 1, LATE)
    await asyncio.sleep(0.5)  # what is confirmed is written down four times a second
    await kill_all(group, eventually)
    put_back(group, 2, copy)
    async with database.begin() as connection:
        await connection.execute(
            text("UPDATE replica_groups SET confirmed_epoch = -1, confirmed_position = -1")
        )
    await group.start(2)
    await group.await_state(2, 2, {2})

    await group.start(1)

    keeper = group.agents[0]
    told = "regent controller elect broker-t --broker 1 --accept-loss"
    await eventually(lambda: any(told in line for line in keeper.events("master_lost")))
    assert not keeper.events("log_truncated")
    assert (await group.state())[2] == {2}

    async def refused_cut():
        async with database.connect() as connection:
            found = await connection.execute(
                text("SELECT max(refused_cut) FROM replica_reports WHERE broker_id = 1")
            )
            return found.scalar_one()

    async def is_reported():
        # Its reports begin with its next connection.
        return (await refused_cut() or 0) > 0

    await eventually(is_reported)
    order = elections.ElectionRequest(
        BrokerGroupName(GROUP, "TestCluster"),
        Ballot(2, is_designated=True, accepts_loss=True),
        cause="test",
    )
    # The operator gives the kept messages up: the current master begins a new epoch.
    await elections.elect(order, ControllerDriver(database).controller)
    await group.await_state(2, 3, {1, 2})
    assert await read_all(group.client(1)) == EARLY
