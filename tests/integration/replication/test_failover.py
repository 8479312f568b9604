"""A group of agents under a real controller: joined, acknowledged, failed over, brought back."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from backend.clients.clock import SystemClock
from backend.domain.replica_group import LeasePolicy
from backend.nameserver.server import NameServer
from tests.integration.acting.test_acting import is_locked_for_others, lock
from tests.integration.acting.test_strict_locks import unlock
from tests.integration.broker.agent import ROOT, write_config
from tests.integration.replication.conftest import read_all
from tests.ports import free_port

SOON_MS, LATER_S = "5000", 5.5
"""What a test waits for to run out, which a busy machine has to be quicker than until then."""


@pytest.mark.parametrize("flush", ["ASYNC_FLUSH", "SYNC_FLUSH"])
async def test_a_replica_takes_over_every_acknowledged_message_when_its_master_is_killed(
    group, flush
):
    await group.add_many(2, flushDiskType=flush)  # S15, S48, Q7, Q16
    sent = [b"m%d" % number for number in range(200)]
    for body in sent:
        assert (await group.send(1, body)).code == 0

    group.kill(1)

    await group.await_state(2, 2, {2})
    assert (await group.send(2, b"after")).code == 0
    assert await read_all(group.client(2)) == [*sent, b"after"]
    await group.start(1)  # S70
    await group.await_state(2, 2, {1, 2})
    assert (await group.send(2, b"both")).code == 0
    await group.await_equal_logs()
    told = [json.loads((await group.client(number).call(1007)).body) for number in (1, 2)]
    assert told[0]["epochList"] == told[1]["epochList"]
    assert [entry["epoch"] for entry in told[0]["epochList"]] == [1, 2]
    assert [one["brokerId"] for one in told] == [1, 0]
    told = [(await group.client(number).call(906)).ext.get("masterEpoch") for number in (1, 2)]
    assert told == [None, "2"]


async def test_no_second_client_gets_a_lock_when_the_master_is_killed(group):  # I11
    await group.add_many(2)
    assert (await group.send(1, b"m")).code == 0
    assert await lock(group.client(1), "c1")
    assert await is_locked_for_others(group.client(1), "c2")

    group.kill(1)
    await group.await_state(2, 2, {2})
    assert await is_locked_for_others(group.client(2), "c2")
    assert await lock(group.client(2), "c1")
    await unlock(group.client(2), "c1")

    assert await lock(group.client(2), "c2")


async def test_a_returned_master_cuts_what_no_replica_acknowledged(group):  # S70
    await group.add_many(2, slaveTimeout=SOON_MS)
    assert (await group.send(1, b"acknowledged")).code == 0
    await group.pause(2)
    # More than sockets hold: the end of it can't have left the master.
    lost = [group.client(1).send("orders", b"x" * (1 << 20)) for _ in range(24)]
    assert {answer.code for answer in await asyncio.gather(*lost)} == {12}

    group.kill(1)
    group.resume(2)

    await group.await_state(2, 2, {2})
    assert (await group.send(2, b"after")).code == 0
    held = await read_all(group.client(2))
    assert held[0] == b"acknowledged"
    assert held[-1] == b"after"
    assert len(held) < 26
    await group.start(1)
    await group.await_state(2, 2, {1, 2})
    assert group.agents[0].events("log_truncated")
    await group.await_equal_logs()


async def test_a_master_whose_disk_fails_gives_up_its_lease_and_a_replica_takes_over(
    group,
):  # D13, O33
    await group.add_many(2)
    assert (await group.send(1, b"acknowledged")).code == 0
    log = group.agents[0].root / "store" / "commitlog"
    # For every reader, as if its sectors had gone bad.
    os.truncate(log / f"{0:020}", 0)

    refused = await group.client(1).send("orders", b"refused")

    assert refused.code == 14
    await group.await_state(2, 2, {2})
    assert group.agents[0].events("flush_failed")
    assert (await group.send(2, b"after")).code == 0
    assert await read_all(group.client(2)) == [b"acknowledged", b"after"]


async def test_of_three_the_last_one_has_every_message_after_two_failovers(group):
    await group.add_many(3)
    assert (await group.send(1, b"first")).code == 0
    group.kill(1)
    state = await group.await_master(2)
    second, third = (2, 3) if state[0] == 2 else (3, 2)
    await group.await_state(second, 2, {second, third})
    assert (await group.send(second, b"second")).code == 0

    group.kill(second)

    await group.await_state(third, 3, {third})
    assert (await group.send(third, b"third")).code == 0
    assert await read_all(group.client(third)) == [b"first", b"second", b"third"]
    for number in (1, second):
        await group.start(number)
    await group.await_state(third, 3, {1, 2, 3})
    assert (await group.send(third, b"all")).code == 0
    await group.await_equal_logs()


async def test_every_replica_hears_of_a_new_master_without_asking(group):  # S48, 2.7
    await group.add_many(3, syncBrokerMetadataPeriod="600000")
    group.kill(1)
    master = (await group.await_master(2))[0]

    await group.await_state(master, 2, {2, 3})

    assert (await group.send(master, b"both")).code == 0


async def test_a_master_that_is_stopped_hands_over_at_once_with_all_that_it_took(group):  # R10c
    await group.add_many(2)
    assert (await group.send(1, b"before")).code == 0

    stopping = asyncio.create_task(asyncio.to_thread(group.agents[0].stop))

    await group.await_state(2, 2, {2})
    assert (await group.send(2, b"after")).code == 0
    assert await read_all(group.client(2)) == [b"before", b"after"]
    await stopping
    assert group.agents[0].events("broker_stopped")


async def test_a_paused_master_comes_back_as_a_replica_and_has_acknowledged_nothing(group):
    await group.add(controllerHeartBeatTimeoutMills=SOON_MS)  # S62
    await group.await_state(1, 1, {1})
    await group.add()
    await group.await_state(1, 1, {1, 2})
    assert (await group.send(1, b"before")).code == 0
    await group.pause(1)
    late = group.client(1).send("orders", b"late")
    waiting = asyncio.ensure_future(late)
    await group.await_state(2, 2, {2})
    assert (await group.send(2, b"after")).code == 0

    group.resume(1)

    assert (await waiting).code in {12, 14}
    await group.await_state(2, 2, {1, 2})
    assert (await group.send(2, b"both")).code == 0
    assert await read_all(group.client(2)) == [b"before", b"after", b"both"]
    await group.await_equal_logs()


async def test_a_lone_master_that_is_killed_comes_back_in_a_new_epoch(group):  # S54
    await group.add()
    await group.await_state(1, 1, {1})
    assert (await group.send(1, b"before")).code == 0

    group.kill(1)
    await group.start(1)

    await group.await_state(1, 2, {1})
    assert (await group.send(1, b"after")).code == 0
    assert await read_all(group.client(1)) == [b"before", b"after"]


async def test_the_quorum_goes_on_without_a_controller(group):  # S27, by D9
    await group.add_many(2, controllerHeartBeatTimeoutMills=SOON_MS)
    assert (await group.send(1, b"before")).code == 0

    await group.stop_controller()
    await asyncio.sleep(LATER_S)

    assert (await group.send(1, b"without")).code == 0
    assert await read_all(group.client(1)) == [b"before", b"without"]


@pytest.mark.parametrize("lease_policy", [LeasePolicy.STRICT])
async def test_a_strict_master_acknowledges_nothing_without_a_controller(group):
    """S27, by D9: stock's master goes on whatever it can reach."""
    await group.add_many(2, controllerHeartBeatTimeoutMills=SOON_MS, slaveTimeout=SOON_MS)
    assert (await group.send(1, b"before")).code == 0

    await group.stop_controller()
    await asyncio.sleep(LATER_S)

    assert (await group.send(1, b"without")).code == 12
    assert await read_all(group.client(1)) == [b"before"]


@pytest.mark.parametrize(
    ("lease_policy", "is_enough"), [(LeasePolicy.STRICT, True), (LeasePolicy.QUORUM, False)]
)
async def test_without_all_acks_a_strict_master_answers_when_enough_members_hold_a_message(
    group, is_enough, eventually
):
    """By D7 and D9: stock does so under any circumstances, and shows it to consumers at once."""
    await group.add_many(
        2, allAckInSyncStateSet="false", haHousekeepingInterval="60000", slaveTimeout=SOON_MS
    )
    assert (await group.send(1, b"both")).code == 0
    await eventually(lambda: reads(group.client(1), [b"both"]))
    await group.pause(2)

    sent = await group.client(1).send("orders", b"one")
    read = await read_all(group.client(1))
    group.resume(2)

    assert (sent.code, read) == (0 if is_enough else 12, [b"both"])
    await eventually(lambda: reads(group.client(1), [b"both", b"one"]))


async def reads(client, wanted):
    return await read_all(client) == wanted


async def test_a_set_that_shrinks_below_the_least_acknowledges_nothing(group):  # targets 5.6
    await group.add_many(2, minInSyncReplicas="2", slaveTimeout=SOON_MS)
    assert (await group.send(1, b"two")).code == 0
    await group.pause(2)
    held = asyncio.create_task(group.client(1).send("orders", b"held"))
    await asyncio.sleep(0)
    group.kill(2)

    # Stored, but by one replica only: no client may rely on it.
    assert (await held).code == 12


async def test_messages_are_refused_while_too_few_replicas_are_in_sync(group, eventually):  # S45
    await group.add_many(2, minInSyncReplicas="2")
    assert (await group.send(1, b"two")).code == 0
    group.kill(2)
    await eventually(lambda: group.is_known_by(1, members="1"))

    known = await group.client(1).send("orders", b"alone")
    unknown = await group.client(1).send("new-topic", b"alone")

    # As stock; clients try such answers elsewhere.
    for refusal in (known, unknown):
        assert refusal.code == 1
        assert "minInSyncReplicas" in refusal.remark
    await group.start(2)
    await group.await_state(1, 1, {1, 2})
    assert (await group.client(1).send("orders", b"two again")).code == 0
    assert await read_all(group.client(1)) == [b"two", b"two again"]


async def test_a_broker_that_finds_no_controller_stays_fenced_until_there_is_one(
    group, database, redis
):  # S26
    port = free_port()
    await group.add(controllerAddr=f"127.0.0.1:{port}", namesrvAddr="")

    sent = await group.client(1).send("orders", b"m")
    pulled = await group.client(1).pull("orders")

    assert (sent.code, pulled.code) == (14, 14)
    assert "not the master" in sent.remark
    assert "no master of the group is known yet" in pulled.remark
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with NameServer.serve("127.0.0.1", port, **stores):
        await group.await_state(1, 1, {1})
        assert (await group.send(1, b"m")).code == 0


async def test_a_replica_refuses_messages_and_shows_what_is_confirmed(group, eventually):
    await group.add_many(2, passOnToMaster="false")
    sent = [b"m%d" % number for number in range(20)]
    for body in sent:
        assert (await group.send(1, body)).code == 0

    refusal = await group.client(2).send("orders", b"m")

    assert refusal.code == 14
    await eventually(lambda: reads(group.client(2), sent))


async def test_topics_groups_and_offsets_survive_a_failover(group, eventually):  # 9.10
    await group.add_many(2, passOnToMaster="false")
    layout = {
        "topic": "wide",
        "defaultTopic": "TBW102",
        "readQueueNums": 13,
        "writeQueueNums": 13,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": False,
    }
    assert (await group.client(1).call(17, layout)).code == 0
    assert (await group.client(1).call(200, body=b'{"groupName":"g"}')).code == 0
    offset = {"consumerGroup": "g", "topic": "wide", "queueId": 3, "commitOffset": 1}
    assert (await group.send(1, b"m", topic="wide", queue_id=3)).code == 0
    assert (await group.client(1).call(15, offset)).code == 0

    async def is_reported():
        return b'"wide@g":{"3":1}' in (await group.client(2).call(43)).body

    await eventually(is_reported)
    refusal = await group.client(2).call(17, layout | {"perm": 4})

    group.kill(1)

    assert (await group.send(2, b"m", topic="wide", queue_id=12)).code == 0
    told = await group.client(2).call(351, {"topic": "wide"})
    assert b'"readQueueNums":13' in told.body
    asked = {"consumerGroup": "g", "topic": "wide", "queueId": 3}
    assert (await group.client(2).call(14, asked)).ext["offset"] == "1"
    assert (refusal.code, refusal.remark) == (
        16,
        "only the master changes topics, groups and offsets",
    )


async def test_a_store_of_another_group_does_not_start(group):  # S24
    agent = await group.add()
    await group.await_state(1, 1, {1})
    await asyncio.to_thread(agent.stop)
    config = write_config(agent.root, **agent.settings | {"brokerName": "another"})

    command = [sys.executable, "-m", "workers.broker", "-c", str(config)]
    ended = await asyncio.to_thread(subprocess.run, command, cwd=ROOT, capture_output=True)

    assert ended.returncode == 2
    assert b"belongs to broker broker-t of cluster TestCluster" in ended.stderr


async def test_no_acknowledged_message_is_lost_over_many_kills(group, eventually):  # I1
    await group.add_many(2)
    master, epoch, acknowledged, count = 1, 1, [], 0
    is_over = asyncio.Event()

    async def produce():
        nonlocal count
        while not is_over.is_set():
            body = b"m%d" % count
            count += 1
            try:
                answer = await group.client(master).send("orders", body)
            except ConnectionError:
                await asyncio.sleep(0.01)
                continue
            if answer.code == 0:
                acknowledged.append(body)
            else:
                await asyncio.sleep(0.01)

    producing = asyncio.create_task(produce())
    for _ in range(6):
        wanted = len(acknowledged) + 50
        await eventually(lambda count=wanted: len(acknowledged) >= count)
        former, master, epoch = master, 3 - master, epoch + 1
        group.kill(former)
        await group.await_state(master, epoch, {master})
        await group.start(former)
        await group.await_state(master, epoch, {1, 2})
    is_over.set()
    await producing
    assert (await group.send(master, b"last")).code == 0

    held = await read_all(group.client(master))
    assert set(acknowledged) <= set(held)
    await group.await_equal_logs()
