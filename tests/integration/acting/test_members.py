"""Who acts in a group of three, and what a broker waits for before it comes online."""

import signal

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.waiting import eventually

THREE = {"totalReplicas": "3"}


async def figures(client):
    answer = await client.call(RequestCode.GET_BROKER_RUNTIME_INFO)
    return java_json.loads(answer.body)["table"]


async def acting(group):
    """Return the ids of the replicas that act."""
    return {
        broker_id
        for broker_id in (1, 2)
        if group.agents[broker_id].is_alive()
        and (await figures(group.clients[broker_id]))["actingSince"] != "0"
    }


async def await_acting(group, wanted):
    async def is_so():
        return await acting(group) == wanted

    await eventually(is_so)


async def test_the_replica_with_the_least_id_acts_and_no_other_one(fixed_group):
    # S106, S107, S108, S109, S119
    for broker_id in (0, 1, 2):
        await fixed_group.add(broker_id, **THREE)
        await fixed_group.await_members(set(range(broker_id + 1)))
    assert await acting(fixed_group) == set()

    fixed_group.kill(0)
    await await_acting(fixed_group, {1})
    fixed_group.kill(1)
    await await_acting(fixed_group, {2})
    await fixed_group.start(1)
    await await_acting(fixed_group, {1})
    await fixed_group.start(0)

    await await_acting(fixed_group, set())
    for broker_id in (1, 2):
        await fixed_group.await_copy(broker_id)


async def test_a_master_waits_for_a_dead_replica_until_it_expired(fixed_group):
    """S117, S118; stock would wait for the entry of its former process, too."""
    master, _ = await fixed_group.add_pair(brokerNotActiveTimeoutMillis="3000")
    # The connection of a stopped process stays open, so it is listed until its time is over.
    await fixed_group.pause(1)
    fixed_group.kill(0)

    master = await fixed_group.start(0)

    assert (await figures(master))["online"] == "false"
    refused = await master.send("orders", b"m")
    assert refused.code == 14
    assert 0 not in await fixed_group.members()
    await fixed_group.await_members({0})
    assert (await master.send("orders", b"m")).code == 0
    fixed_group.agents[1].process.send_signal(signal.SIGCONT)


async def test_a_master_of_an_empty_group_comes_up_at_once(fixed_group):  # S116
    master = await fixed_group.add(0)

    await fixed_group.await_members({0})

    assert (await figures(master))["online"] == "true"
    assert (await master.send("orders", b"m")).code == 0


async def test_pre_online_is_skipped(fixed_group):  # S120
    await fixed_group.add_pair()
    await fixed_group.pause(1)
    fixed_group.kill(0)

    master = await fixed_group.start(0, skipPreOnline="true")

    await fixed_group.await_members({0, 1})
    assert (await master.send("orders", b"m")).code == 0
    fixed_group.agents[1].process.send_signal(signal.SIGCONT)
    await fixed_group.await_copy(1)


async def test_the_members_of_a_group_at_an_old_name_server(fixed_group):  # S138, S139
    _, replica = await fixed_group.add_pair(compatibleWithOldNameSrv="true")

    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    assert (await figures(replica))["leastBrokerId"] == "1"


async def test_every_member_sees_one_less_while_a_heartbeat_is_missing(fixed_group):  # S111
    master = await fixed_group.add(
        0,
        brokerRole="SYNC_MASTER",
        inSyncReplicas="2",
        slaveTimeout="1000",
        brokerNotActiveTimeoutMillis="3000",
    )
    await fixed_group.await_members({0})
    await fixed_group.add(1, brokerNotActiveTimeoutMillis="3000")
    await fixed_group.await_members({0, 1})
    await fixed_group.await_copy(1)

    async def alive_count():
        return (await figures(master))["aliveReplicas"]

    async def is_alone():
        return await alive_count() == "1"

    async def sends():
        return (await master.send("orders", b"m")).code == 0

    async def are_both_alive():
        return await alive_count() == "2"

    await eventually(sends)
    await eventually(are_both_alive)
    await fixed_group.pause(1)
    late = await master.send("orders", b"late")
    assert late.code == 12
    await eventually(is_alone)

    async def is_refused():
        return (await master.send("orders", b"m")).code == 1

    await eventually(is_refused)
    fixed_group.agents[1].process.send_signal(signal.SIGCONT)
    await eventually(sends)
