"""Queues that are locked by a majority of the group (control-plane.md 5.8)."""

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.acting.test_acting import lock
from tests.integration.acting.test_members import await_acting, figures
from tests.waiting import eventually

STRICT = {"lockInStrictMode": "true", "totalReplicas": "3"}


async def holders(client):
    answer = await client.call(RequestCode.GET_QUEUE_LOCKS)
    return [one["clientId"] for one in java_json.loads(answer.body)["locks"]]


async def unlock(client, client_id):
    queue = {"topic": "orders", "brokerName": "broker-t", "queueId": 0}
    body = {"clientId": client_id, "consumerGroup": "g", "mqSet": [queue]}
    await client.call(RequestCode.UNLOCK_BATCH_MQ, body=java_json.encode(body))


async def test_a_majority_gives_and_takes_locks_through_the_master_and_an_acting_one(fixed_group):
    # S110, S121, S124, S125
    for broker_id in (0, 1, 2):
        await fixed_group.add(broker_id, **STRICT)
        await fixed_group.await_members(set(range(broker_id + 1)))
    master, first, second = (fixed_group.clients[one] for one in (0, 1, 2))

    async def knows_all():
        return (await figures(master))["aliveReplicas"] == "3"

    # The master asks the members that its last poll named.
    await eventually(knows_all)
    assert await lock(master, "c1")
    assert [await holders(one) for one in (master, first, second)] == [["c1"]] * 3
    await unlock(master, "c1")
    assert [await holders(one) for one in (master, first, second)] == [[]] * 3

    fixed_group.kill(0)
    await await_acting(fixed_group, {1})
    await eventually(lambda: lock(first, "c2"))
    assert await holders(second) == ["c2"]
    await unlock(first, "c2")
    fixed_group.kill(2)

    async def is_refused():
        return not await lock(first, "c3")

    await eventually(is_refused)
    assert await holders(first) == []
