"""Machines that went down: a log that may have lost its end counts once that is made good."""

from functools import partial

from tests.integration.replication.conftest import read_all


def is_marked(agent):
    """Whether a log may lack its end.

    A replica's loop removes the mark a moment after its copying thread has reported all data to the
    master.
    """
    return (agent.root / "store" / ".unverified").exists()


def reboot(agent):
    """Have the machine of an agent that was killed come back as if its power had been cut."""
    (agent.root / "store" / ".boot").write_text("another")


async def test_a_replica_whose_machine_went_down_is_verified_by_its_master(group, eventually):
    await group.add_many(2)
    assert (await group.send(1, b"before")).code == 0
    group.kill(2)
    await group.await_state(1, 1, {1})
    reboot(group.agents[1])

    await group.start(2)

    await group.await_state(1, 1, {1, 2})
    await eventually(lambda: group.agents[1].events("log_verified"))  # D11
    assert not is_marked(group.agents[1])


async def test_a_lone_broker_whose_machine_went_down_is_trusted_as_no_other_copy_exists(group):
    await group.add()
    await group.await_state(1, 1, {1})
    group.kill(1)
    reboot(group.agents[0])

    await group.start(1)

    await group.await_state(1, 2, {1})
    assert group.agents[0].events("log_not_verifiable")


async def test_a_group_whose_machines_all_went_down_goes_on(group, eventually):  # D11
    await group.add_many(3)
    assert (await group.send(1, b"before")).code == 0
    # Both at once: the master, which is paused first, drops no replica from the set. When the
    # controller learns of its end, no other replica can be elected.
    await group.pause(1)
    for number in (3, 2):
        group.kill(number)

    def is_master_alone():
        figures = group.name_server.describe_controller()
        return [*figures.active_broker_counts.values()] == [1]

    await eventually(is_master_alone)
    group.kill(1)
    for agent in group.agents:
        reboot(agent)
    for number in (1, 2):
        await group.start(number)
        # The third may hold more.
        await eventually(partial(group.agents[number - 1].events, "master_awaited"))
    assert (await group.state())[1:] == (1, {1, 2, 3})

    await group.start(3)

    async def is_whole():
        return (await group.state())[1:] == (2, {1, 2, 3})

    await eventually(is_whole)
    master, _, _ = await group.state()
    assert (await group.send(master, b"after")).code == 0
    assert await read_all(group.client(master)) == [b"before", b"after"]
    await eventually(lambda: not any(map(is_marked, group.agents)))
