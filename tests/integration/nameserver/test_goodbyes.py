"""A master that unregisters: its successor, whose lease ends, and what is forgotten."""

import pytest
from sqlalchemy import text

from backend.domain.replica_group import LeasePolicy
from backend.nameserver import failover
from tests.integration.nameserver.broker_peer import BrokerPeer, make_f3, settle, state


async def join(server, connect, *, group="g"):
    peers = [BrokerPeer(await connect(server), number, group=group) for number in (1, 2, 3)]
    await make_f3(peers)
    return peers


@pytest.mark.parametrize("policy", LeasePolicy)
async def test_a_master_that_says_goodbye_is_replaced_before_it_is_answered(
    start_server, connect, database, policy
):  # R10c
    brokers = await join(await start_server(lease_policy=policy), connect)
    await brokers[0].lease()

    answer = await brokers[0].lease(heartbeatTimeoutMills="0")

    assert answer.ext == {"leaseMs": "0"}
    async with database.connect() as connection:
        query = text("SELECT cause FROM replica_group_changes ORDER BY id DESC LIMIT 1")
        assert (await connection.execute(query)).scalar_one() == "broker 1 unregistered"
    assert (await state(brokers[1]))[:2] == (2, 2)


@pytest.mark.parametrize(("who", "epoch"), [(1, 1), (0, 0)])
async def test_a_strict_lease_is_given_back_by_its_master_alone_and_for_its_own_epoch(
    start_server, connect, who, epoch
):  # D9
    brokers = await join(await start_server(lease_policy=LeasePolicy.STRICT), connect)
    await brokers[0].lease()
    if who != 0:
        await brokers[0].close()

    await brokers[who].lease(epoch=str(epoch), heartbeatTimeoutMills="0")
    await settle(0.5)

    assert (await state(brokers[2]))[:2] == (1, 1)


async def test_masters_that_said_goodbye_are_forgotten_together_but_those_who_came_back(
    name_server, connect, database, eventually, monkeypatch
):  # R11: each removal would be a separate commit beside the elections
    groups = {name: await join(name_server, connect, group=name) for name in ("g", "h", "i")}
    removed = []
    forget = name_server._report_writer.forget

    async def note(keys):
        removed.append(list(keys))
        await forget(keys)

    monkeypatch.setattr(name_server._report_writer, "forget", note)
    # Longer than the good-byes of all take on a busy machine.
    monkeypatch.setattr(failover, "FORGET_DELAY_S", 5.0)

    for brokers in groups.values():
        await brokers[0].lease(heartbeatTimeoutMills="0")
    await groups["i"][0].lease(epoch="2")

    async def remembered():
        async with database.connect() as connection:
            query = text(
                "SELECT b.name FROM replica_reports s"
                " JOIN broker_groups b ON b.id = s.broker_group_id WHERE s.broker_id = 1"
            )
            return (await connection.execute(query)).scalars().all()

    async def is_forgotten():
        return await remembered() == ["i"]

    await eventually(is_forgotten)
    assert removed == [[("c", "g", 1), ("c", "h", 1)]]
