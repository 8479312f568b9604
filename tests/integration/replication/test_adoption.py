"""A group of agents that the control plane lost: adopted again, with all it acknowledged (D6)."""

import asyncio

import pytest

from backend.domain.adoption import EPOCHS_SKIPPED, AdoptionOrder
from backend.domain.cluster_scope import EVERYWHERE
from backend.domain.errors import AdoptionRefused
from backend.services.controller import adoptions
from backend.services.controller.adoptions import AdoptionRequest
from backend.services.controller.group_changes import BrokerGroupName
from tests.integration.replication.conftest import GROUP, read_all
from tests.lost_rows import forget_rows
from tests.waiting import PATIENCE_S

NAME = BrokerGroupName(GROUP, "TestCluster")


@pytest.fixture
def lose_group(database):
    """Make Postgres as empty as one that was restored without the groups."""

    async def lose():
        await forget_rows(database, "replica_groups", "replica_group_changes")

    return lose


async def await_candidates(group, *broker_ids):
    """Wait until exactly these brokers have reported; give their reports."""
    controller = group.name_server.controller
    async with asyncio.timeout(PATIENCE_S):
        while True:
            page = await adoptions.list_candidates(
                size=50, after=None, within=EVERYWHERE, controller=controller
            )
            found = {stored.candidate.broker_id: stored.candidate for stored in page.items}
            if sorted(found) == sorted(broker_ids):
                return found
            await asyncio.sleep(0.05)


async def adopt(group, *broker_ids, **order):
    command = AdoptionRequest(NAME, AdoptionOrder(frozenset(broker_ids), **order), "operator test")
    return await adoptions.adopt(command, group.name_server.controller)


async def test_a_running_group_goes_on_under_its_master_once_it_is_adopted(group, lose_group):
    await group.add_many(2)
    assert (await group.send(1, b"before")).code == 0

    await lose_group()
    told = await await_candidates(group, 1, 2)
    await adopt(group, 1, 2)

    assert [told[i].master_id for i in (1, 2)] == [1, 1]
    assert all(told[i].register_code for i in (1, 2))
    await group.await_state(1, 1 + EPOCHS_SKIPPED + 1, {1, 2})
    assert (await group.send(1, b"after")).code == 0
    assert await read_all(group.client(1)) == [b"before", b"after"]
    await group.await_equal_logs()


async def test_of_a_stopped_group_only_the_broker_with_every_message_becomes_master(
    group, lose_group
):
    await group.add_many(2)
    assert (await group.send(1, b"both")).code == 0
    group.kill(2)
    await group.await_state(1, 1, {1})
    assert (await group.send(1, b"one alone")).code == 0
    group.kill(1)
    await lose_group()

    await group.start(2)
    await await_candidates(group, 2)
    with pytest.raises(AdoptionRefused, match="broker 1 is not adopted and may hold more messages"):
        await adopt(group, 2)
    await group.start(1)
    await await_candidates(group, 1, 2)
    await adopt(group, 1, 2)

    await group.await_state(1, 1 + EPOCHS_SKIPPED + 1, {1, 2})
    assert (await group.send(1, b"after")).code == 0
    assert await read_all(group.client(1)) == [b"both", b"one alone", b"after"]
    await group.await_equal_logs()
