"""A master that is gone is replaced: by which evidence, by which broker, and who is notified."""

import asyncio
import json

import pytest
from sqlalchemy import text

from backend.clients.clock import SystemClock
from backend.domain.replica_group import LeasePolicy
from backend.nameserver.server import NameServer
from tests.integration.nameserver.broker_peer import PATIENT_MS, BrokerPeer, make_f3, settle, state
from tests.waiting import PATIENCE_S

ALL = {1, 2, 3}


async def join(server, connect, *ids):
    return [BrokerPeer(await connect(server), number) for number in ids]


@pytest.fixture
async def f3(name_server, connect):
    brokers = await join(name_server, connect, 1, 2, 3)
    await make_f3(brokers)
    return brokers


def has_master(broker, master, epoch):
    async def check():
        return (await state(broker))[:2] == (master, epoch)

    return check


async def test_a_closed_connection_elects_the_longest_log_at_once(f3, eventually):  # S48
    await f3[1].beat(maxOffset="20")
    await f3[2].beat(maxOffset="30")

    await f3[0].close()

    await eventually(has_master(f3[1], 3, 2))
    assert await state(f3[1]) == (3, 2, {3}, 3)


async def test_the_replicas_that_are_heard_are_notified_and_the_dead_master_is_not(f3):  # S48
    for broker in f3:
        await broker.lease()

    await f3[0].close()

    for broker in f3[1:]:
        # That of the first election may still be on its way when leases are asked for.
        while (notice := await broker.await_notice()).ext["masterEpoch"] == "1":
            pass
        assert (notice.code, notice.is_oneway) == (1008, True)
        assert ("leaseMs" in notice.ext) == (broker.id == 2)
        notice.ext.pop("leaseMs", None)
        assert notice.ext == {
            "masterBrokerId": "2",
            "masterAddress": "10.0.0.2:10911",
            "masterEpoch": "2",
            "syncStateSetEpoch": "3",
            "leasePolicy": "quorum",
        }
        assert json.loads(notice.body) == {"syncStateSet": [2], "syncStateSetEpoch": 3}


async def test_a_stock_broker_is_notified_at_its_address(name_server, connect):  # 2.7
    received = asyncio.Queue()

    async def listen(reader, writer):
        received.put_nowait(await reader.read(1 << 16))
        writer.close()

    listener = await asyncio.start_server(listen, "127.0.0.1", 0)
    [broker] = await join(name_server, connect, 1)
    broker.address = f"127.0.0.1:{listener.sockets[0].getsockname()[1]}"
    await broker.apply()
    await broker.beat()

    async with listener:
        await broker.elect()
        async with asyncio.timeout(PATIENCE_S):
            frame = await received.get()

    assert b"1008" in frame
    assert broker.address.encode() in frame


async def test_a_closed_replica_is_no_reason_to_elect(f3):  # S61
    await f3[2].close()

    await settle(0.5)

    assert await state(f3[0]) == (1, 1, ALL, 2)


async def test_an_election_that_can_not_be_committed_is_an_error_and_changes_nothing(f3, database):
    """S64, by D1: stock needs a majority of its controllers, we need Postgres."""
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE replica_groups RENAME TO away"))
    answer = await f3[1].elect(2, designateElect="true")
    async with database.begin() as connection:
        await connection.execute(text("ALTER TABLE away RENAME TO replica_groups"))

    assert answer.code == 1
    assert await state(f3[1]) == (1, 1, ALL, 2)


async def test_a_silent_master_is_closed_and_replaced(name_server, connect, eventually):  # S62
    brokers = await join(name_server, connect, 1, 2)
    for broker in brokers:
        await broker.apply()
        await broker.beat(heartbeatTimeoutMills="60000")
    await brokers[0].elect()
    await brokers[0].alter({1, 2}, epoch=1)
    await brokers[0].beat(heartbeatTimeoutMills="300")

    await eventually(has_master(brokers[1], 2, 2))

    assert await brokers[0].client.is_closed_by_peer()


async def test_a_failover_without_a_candidate_waits_for_the_master(f3, connect, name_server):
    await f3[0].alter({1}, epoch=2)  # S52, S53, S54 by D4

    await f3[0].close()
    await settle(0.5)

    assert await state(f3[1]) == (1, 1, {1}, 3)
    assert (await f3[1].elect()).code == 2012
    [returned] = await join(name_server, connect, 1)
    assert "masterBrokerId" not in (await returned.register()).ext
    await returned.beat()
    answer = await returned.elect()
    assert (answer.code, answer.ext["masterEpoch"]) == (0, "2")


async def test_a_member_that_returns_ends_a_group_without_master(name_server, connect, eventually):
    brokers = await join(name_server, connect, 1, 2, 3)
    await make_f3(brokers)
    await brokers[0].alter({1, 2}, epoch=2)
    await brokers[1].close()
    await brokers[0].close()
    # No replica can be elected at once: a scan finds the member, and the process has not listened
    # for as long as it may be silent.
    await settle(0.5)
    [returned] = await join(name_server, connect, 2)

    await returned.register()

    async def is_master():
        # That its former connection closed may be heard after one beat, not after all of them.
        await returned.beat()
        return (await state(returned))[:2] == (2, 2)

    await eventually(is_master)
    assert await state(returned) == (2, 2, {2}, 4)


async def test_an_unclean_election_is_a_matter_of_settings(start_server, connect, eventually):
    server = await start_server(unclean_election_allowed=True)  # S55
    brokers = await join(server, connect, 1, 2, 3)
    await make_f3(brokers)
    await brokers[0].alter({1}, epoch=2)

    await brokers[0].close()

    await eventually(has_master(brokers[1], 2, 2))


async def test_a_replica_that_is_not_verified_is_passed_over(f3, eventually):  # D11
    await f3[1].beat(maxOffset="99", isVerified="false")

    await f3[0].close()

    await eventually(has_master(f3[1], 3, 2))


async def test_an_old_connection_that_closes_late_means_nothing(f3, name_server, connect):
    [again] = await join(name_server, connect, 1)  # 1.16
    await again.beat()

    await f3[0].close()
    await settle(0.5)

    assert await state(f3[1]) == (1, 1, ALL, 2)


async def test_positions_only_rise_while_a_connection_lasts(f3, eventually):  # S67
    await f3[1].beat(maxOffset="50")
    await f3[1].beat(maxOffset="5")

    await f3[0].close()

    await eventually(has_master(f3[1], 2, 2))


async def test_two_brokers_of_one_connection_go_together(name_server, connect, eventually):
    container, other = await join(name_server, connect, 1, 2)  # S134: stock loses one of them
    neighbour = BrokerPeer(container.client, 1, group="h")
    await container.apply()
    await neighbour.apply()
    await container.beat()
    await neighbour.beat()

    await container.close()

    async def are_dead():
        data = await other.sync_state_data("g", "h")
        return [group["notInSyncReplicas"][0]["alive"] for group in data.values()] == [False] * 2

    await eventually(are_dead)


async def test_a_master_that_another_process_hears_is_left_alone(start_server, connect, eventually):
    one, other = await start_server(), await start_server()
    brokers = await join(one, connect, 1, 2, 3)
    await make_f3(brokers)
    [elsewhere] = await join(other, connect, 1)
    # Asked for over the wire, a lease is answered when it is in Postgres, and so is the report.
    await elsewhere.lease()

    await brokers[0].close()
    await settle(0.5)
    assert await state(brokers[1]) == (1, 1, ALL, 2)

    await elsewhere.close()
    await eventually(has_master(brokers[1], 2, 2))


async def test_an_election_by_one_process_is_announced_by_the_process_with_the_connection(
    start_server, connect
):
    one, other = await start_server(), await start_server()
    [master], [replica] = await join(one, connect, 1), await join(other, connect, 2)
    for broker in (master, replica):
        await broker.apply()
        await broker.lease()
    await master.elect()

    notice = await replica.await_notice()

    assert (notice.code, notice.ext["masterBrokerId"]) == (1008, "1")


async def test_a_process_that_died_with_its_master_is_made_good_by_another(
    start_server, connect, database, eventually
):  # S63
    server = await start_server()
    brokers = await join(server, connect, 1, 2, 3)
    await make_f3(brokers)
    # As if the process that heard the master had died: no process saw a connection close.
    server._presence.remove_replica(("c", "g", 1))
    async with database.begin() as connection:
        await connection.execute(text("DELETE FROM replica_reports WHERE broker_id = 1"))

    assert (await state(brokers[1]))[:2] == (1, 1)
    # It waits for a master for as long as the others ask to be waited for: that is over now.
    await eventually(lambda: server._report_writer.listened_ms)
    server._report_writer._listening_since_ms -= PATIENT_MS

    await eventually(has_master(brokers[1], 2, 2))


async def test_a_strict_group_waits_until_its_masters_lease_is_over(
    start_server, connect, eventually
):  # D9
    server = await start_server(lease_policy=LeasePolicy.STRICT)
    brokers = await join(server, connect, 1, 2, 3)
    await make_f3(brokers)
    loop = asyncio.get_running_loop()
    asked_at_s = loop.time()
    await brokers[0].lease(heartbeatTimeoutMills="1500")

    await brokers[0].close()
    await eventually(has_master(brokers[1], 2, 2))

    assert loop.time() - asked_at_s >= 1.5


async def test_a_master_of_a_new_epoch_is_granted_its_lease_at_once(f3):  # R10
    for broker in f3:
        await broker.lease()
    await f3[0].close()
    await f3[1].await_notice()

    answer = await f3[1].lease(epoch="2")

    assert answer.ext == {"leaseMs": str(PATIENT_MS)}


async def test_a_stopped_control_plane_takes_no_broker_along(
    start_server, connect, database, redis
):
    brokers = await join(await start_server(), connect, 2, 3)
    async with _server(database, redis) as server:
        [master] = await join(server, connect, 1)
        await make_f3([master, *brokers])
        await master.lease()
    await settle(1.5)

    assert await state(brokers[0]) == (1, 1, ALL, 2)


def _server(database, redis):
    return NameServer.serve("127.0.0.1", 0, database=database, redis=redis, clock=SystemClock())


async def test_an_election_is_announced_after_the_listener_was_cut_off(f3, database):
    """A notice that was missed is made good when the process listens again."""
    for broker in f3:
        await broker.lease()
    cut = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'regent-notices' AND datname = current_database()"
    )

    async with database.begin() as connection:
        await connection.execute(cut)
    await f3[0].elect(2, designateElect="true")

    for broker in f3:
        while (notice := await broker.await_notice()).ext["masterEpoch"] != "2":
            pass
        assert (notice.code, notice.ext["masterBrokerId"]) == (1008, "2")


async def test_each_replica_is_notified_once_of_an_election(f3):
    for broker in f3:
        await broker.lease()

    await f3[0].elect(2, designateElect="true")
    # Postgres has announced it by that time, too.
    await settle(0.5)

    for broker in f3:
        await broker.metadata()
        assert [n.ext["masterEpoch"] for n in broker.notices].count("2") == 1
