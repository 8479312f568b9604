"""A replica acts for its killed master: it is read, takes offsets and locks, and stores nothing."""

import json

from backend.remoting.request_code import RequestCode
from tests.integration.acting.conftest import LONG_DELAY_MS, LONG_DELAYS
from tests.integration.replication.conftest import read_all
from tests.waiting import PATIENCE_S, eventually


async def await_read(client, wanted, *, timeout_s=PATIENCE_S):
    """Wait until a queue holds some messages, in any order, and no other ones."""

    async def are_all_read():
        return sorted(await read_all(client)) == sorted(wanted)

    await eventually(are_all_read, timeout_s=timeout_s)


async def commit(client, offset, group="g", topic="orders"):
    fields = {"consumerGroup": group, "topic": topic, "queueId": 0, "commitOffset": offset}
    return await client.call(RequestCode.UPDATE_CONSUMER_OFFSET, fields)


async def committed(client, group="g", topic="orders"):
    fields = {"consumerGroup": group, "topic": topic, "queueId": 0}
    answer = await client.call(RequestCode.QUERY_CONSUMER_OFFSET, fields)
    return int(answer.ext["offset"]) if answer.code == 0 else None


async def lock(client, client_id, **more):
    answer = await ask_lock(client, client_id, **more)
    return answer.code == 0 and locked_count(answer) == 1


async def is_locked_for_others(client, client_id, **more):
    """Return whether the broker refuses a queue to a client since another one has it."""
    answer = await ask_lock(client, client_id, **more)
    return answer.code == 0 and locked_count(answer) == 0


async def ask_lock(client, client_id, **more):
    queue = {"topic": "orders", "brokerName": "broker-t", "queueId": 0}
    body = {"clientId": client_id, "consumerGroup": "g", "mqSet": [queue]} | more
    return await client.call(RequestCode.LOCK_BATCH_MQ, body=json.dumps(body).encode())


def locked_count(answer):
    return len(json.loads(answer.body)["lockOKMQSet"])


async def test_a_replica_copies_log_and_state_of_its_master(fixed_group):
    master, replica = await fixed_group.add_pair()
    sent = [b"m%d" % number for number in range(100)]

    for body in sent:
        assert (await master.send("orders", body)).code == 0
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await commit(master, 7)).code == 0
    await fixed_group.await_copy(1)

    await await_read(replica, sent)
    assert await eventually(lambda: committed(replica)) == 7
    assert (await replica.send("orders", b"x")).code == 0  # Passed on to the master.
    assert fixed_group.agents[1].is_alive()
    await fixed_group.await_copy(1)
    await fixed_group.await_equal_logs()


async def test_the_replica_of_a_killed_master_is_read_and_takes_offsets_and_locks(fixed_group):
    # S106, S110, S133
    master, replica = await fixed_group.add_pair()
    assert (await master.send("orders", b"m")).code == 0
    await fixed_group.await_copy(1)

    fixed_group.kill(0)
    await fixed_group.await_acting(1)

    addresses, permissions = await fixed_group.route("orders")
    assert (addresses, permissions) == ({0: fixed_group.address(1)}, 4)
    await await_read(replica, [b"m"])
    assert (await replica.heartbeat("g", "orders")).code == 0
    assert (await commit(replica, 1)).code == 0
    assert await committed(replica) == 1
    assert await lock(replica, "c1")
    assert await is_locked_for_others(replica, "c2")
    refused = await replica.send("orders", b"x")
    assert refused.code == 14
    assert await read_all(replica) == [b"m"]


async def test_a_delayed_message_waits_for_the_master_and_is_delivered_once(fixed_group):
    # S109, S112, S113, S129
    master, replica = await fixed_group.add_pair(of_master=LONG_DELAYS)
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await master.send("orders", b"now")).code == 0
    assert (await commit(master, 0)).code == 0
    delayed = await master.send("orders", b"later", properties={"DELAY": "1"})
    for_time = {"TIMER_DELAY_MS": str(LONG_DELAY_MS)}
    timed = await master.send("orders", b"timed", properties=for_time)
    assert (delayed.code, timed.code) == (0, 0)
    await fixed_group.await_copy(1)

    fixed_group.kill(0)
    await fixed_group.await_acting(1)
    assert await committed(replica) == 0
    assert (await commit(replica, 1)).code == 0
    await eventually(lambda: fixed_group.agents[1].events("delayed_delivery_refused"))
    assert await read_all(replica) == [b"now"]
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    await await_read(master, [b"later", b"now", b"timed"])
    assert await committed(master) == 1
    assert fixed_group.agents[0].events("replica_state_taken_over")
    await eventually(lambda: fixed_group.agents[1].events("acting_master_ended"))
    await fixed_group.await_copy(1)
    await await_read(replica, [b"later", b"now", b"timed"])
    await fixed_group.await_equal_logs()
    addresses, permissions = await fixed_group.route("orders")
    assert addresses[0] == fixed_group.address(0)
    assert permissions == 6


async def test_a_replica_that_hears_its_master_does_not_act(fixed_group):
    master, replica = await fixed_group.add_pair()
    assert (await master.heartbeat("g", "orders")).code == 0
    assert (await master.send("orders", b"m")).code == 0
    await fixed_group.await_copy(1)

    # A name server loses the master, which goes on.
    gone = {
        "brokerName": "broker-t",
        "brokerAddr": fixed_group.address(0),
        "clusterName": "TestCluster",
        "brokerId": "0",
    }
    assert (await fixed_group.ask(RequestCode.UNREGISTER_BROKER, gone)).code == 0
    await eventually(lambda: fixed_group.agents[1].events("least_id_changed"))

    assert (await commit(replica, 1)).code == 0
    assert await committed(master) == 1
    assert await lock(replica, "c1")
    assert await is_locked_for_others(master, "c2")
    assert not fixed_group.agents[1].events("acting_master_began")
    fixed_group.kill(0)
    await fixed_group.await_acting(1)
