"""What the next broker that serves knows of the last one: locks, offsets, decisions (I9, I11)."""

import asyncio
import json

from backend.remoting.request_code import RequestCode
from tests.integration.acting.test_acting import (
    await_read,
    commit,
    committed,
    is_locked_for_others,
    lock,
)
from tests.integration.acting.test_members import await_acting
from tests.integration.broker.test_transactions import COMMIT, end, send_half
from tests.integration.replication.conftest import read_all
from tests.waiting import eventually

THREE = {"totalReplicas": "3"}


async def add_three(group):
    for broker_id in (0, 1, 2):
        client = await group.add(broker_id, **THREE)
        await group.await_members(set(range(broker_id + 1)))
        if broker_id:
            await group.await_copy(broker_id)
        else:
            assert (await client.heartbeat("g", "orders")).code == 0
            assert (await client.send("orders", b"m")).code == 0


async def knows_lock(client):
    answer = await client.call(RequestCode.GET_QUEUE_LOCKS)
    return json.loads(answer.body)["locks"]


async def test_a_lock_of_the_killed_master_is_given_to_no_other_client(fixed_group):  # I11
    master, replica = await fixed_group.add_pair()
    assert await lock(master, "c1")
    await eventually(lambda: knows_lock(replica))

    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    assert await is_locked_for_others(replica, "c2")
    assert await lock(replica, "c1")


async def test_a_lock_that_its_holder_gave_back_is_free_at_the_next_broker(fixed_group):  # I11
    master, replica = await fixed_group.add_pair()
    assert await lock(master, "c1")
    await eventually(lambda: knows_lock(replica))
    queue = {"topic": "orders", "brokerName": "broker-t", "queueId": 0}
    body = {"clientId": "c1", "consumerGroup": "g", "mqSet": [queue]}
    await master.call(RequestCode.UNLOCK_BATCH_MQ, body=json.dumps(body).encode())
    assert await lock(master, "c2")

    async def has_changed():
        return [one["clientId"] for one in await knows_lock(replica)] == ["c2"]

    await eventually(has_changed)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    assert await is_locked_for_others(replica, "c1")
    assert await lock(replica, "c2")


async def test_a_replica_that_acts_next_has_what_the_last_one_took(fixed_group):
    # S107, S108, I9, I11
    await add_three(fixed_group)
    fixed_group.kill(0)
    await await_acting(fixed_group, {1})
    first, second = fixed_group.clients[1], fixed_group.clients[2]
    assert (await commit(first, 1)).code == 0
    assert await eventually(lambda: committed(second)) == 1
    assert await lock(first, "c1")
    await eventually(lambda: knows_lock(second))

    fixed_group.kill(1)
    await await_acting(fixed_group, {2})
    assert await committed(second) == 1
    assert await is_locked_for_others(second, "c2")
    assert (await commit(second, 2)).code == 0
    first = await fixed_group.start(1)
    await await_acting(fixed_group, {1})

    assert await committed(first) == 2
    assert await is_locked_for_others(first, "c2")
    # All that a replica took goes to the master, also if that replica is gone.
    fixed_group.kill(2)
    await fixed_group.await_members({1})
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    assert await committed(master) == 2
    assert await is_locked_for_others(master, "c2")


async def test_a_replica_that_stops_leaves_nothing_behind_that_the_next_one_lacks(
    fixed_group,
):  # I9, I11
    await add_three(fixed_group)
    fixed_group.kill(2)
    second = await fixed_group.start(2, syncBrokerMemberGroupPeriod="1500")
    await fixed_group.await_members({0, 1, 2})
    fixed_group.kill(0)
    await await_acting(fixed_group, {1})
    first = fixed_group.clients[1]
    assert (await commit(first, 2)).code == 0
    assert await lock(first, "c1")

    await fixed_group.stop(1)
    await await_acting(fixed_group, {2})

    assert not fixed_group.agents[1].events("state_not_copied")
    assert await committed(second) == 2
    assert not await lock(second, "c2")


async def test_a_replica_that_is_offline_keeps_what_it_took(fixed_group):  # I9
    """No record of the master that is older replaces it, however long it is not online."""
    master, replica = await fixed_group.add_pair()
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await master.send("orders", b"m")).code == 0
    assert (await commit(master, 0)).code == 0
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    assert (await commit(replica, 1)).code == 0
    await fixed_group.await_saved(1, 1)
    fixed_group.kill(1)

    replica = await fixed_group.start(1, namesrvAddr="127.0.0.1:1")
    await asyncio.sleep(0.5)
    await fixed_group.stop(1)
    replica = await fixed_group.start(1)
    await fixed_group.await_acting(1)

    assert await committed(replica) == 1


async def test_a_replica_that_becomes_the_master_does_what_it_answered(fixed_group):  # D18
    master, replica = await fixed_group.add_pair()
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await master.send("orders", b"m")).code == 0
    halves = [await send_half(master, body, topic="orders", queue_id=0) for body in (b"a", b"b")]
    await fixed_group.await_copy(1)
    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    assert (await end(replica, halves[0], COMMIT)).code == 0
    assert (await commit(replica, 1)).code == 0
    assert await read_all(replica) == [b"m"]

    # Its master does not return, so an operator makes it the master.
    await fixed_group.stop(1)
    promoted = await fixed_group.start(1, brokerRole="ASYNC_MASTER", brokerId="0")
    await fixed_group.await_members({0})

    await await_read(promoted, [b"m", b"a"])
    assert await committed(promoted) == 1
    assert (await end(promoted, halves[1], COMMIT)).code == 0


async def test_a_message_for_a_time_that_the_acting_replica_lacks_is_delivered(fixed_group):  # I13
    """The progress of its timers passed the time of a message that it never had."""
    master, _ = await fixed_group.add_pair()
    early = {"TIMER_DELAY_MS": "500"}
    assert (await master.send("orders", b"known", properties=early)).code == 0
    await await_read(master, [b"known"])
    await fixed_group.await_copy(1)
    fixed_group.kill(1)
    late = {"TIMER_DELAY_MS": "1500"}
    assert (await master.send("orders", b"unknown", properties=late)).code == 0
    assert (await master.send("orders", b"soon", properties={"DELAY": "6"})).code == 0
    fixed_group.kill(0)
    await fixed_group.start(1)
    await fixed_group.await_acting(1)
    await asyncio.sleep(2.5)

    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    await await_read(master, [b"known", b"soon", b"unknown"])
