"""Share queues of a group whose master pauses, or dies while no other member is up to date."""

import json

from backend.remoting.request_code import RequestCode
from tests.integration.broker.popping import ack, bodies, handle_fields, pop, pop_fields
from tests.integration.replication.popping import consumer, send_many
from tests.waiting import eventually

SOON_MS = "10000"


async def living_members_of_the_set(group):
    body = json.dumps([group.name]).encode()
    told = await group.admin.call(RequestCode.CONTROLLER_GET_SYNC_STATE_DATA, body=body)
    members = json.loads(told.body)["replicasInfoTable"][group.name]["inSyncReplicas"]
    return [one for one in members if one["alive"]]


async def test_o23_a_paused_master_finishes_nothing_once_another_one_leads(group):
    # Q18, Q19: one broker decides which messages are finished.
    await group.add(controllerHeartBeatTimeoutMills=SOON_MS)
    await group.await_state(1, 1, {1})
    await group.add()
    await group.await_state(1, 1, {1, 2})
    await send_many(group, 1, 4)
    former = await consumer(group, 1)
    first = await pop(former, "orders", maxMsgNums=2)
    await group.pause(1)
    late = former.start(RequestCode.ACK_MESSAGE, handle_fields(first[0]))
    await group.await_state(2, 2, {2})
    taken = await pop(await consumer(group, 2), "orders")
    assert bodies(taken) == [b"000", b"001", b"002", b"003"]

    group.resume(1)

    assert (await late).code != 0
    await group.await_state(2, 2, {1, 2})
    assert [await ack(group.client(2), one) for one in taken] == [0] * 4


async def test_o23_a_paused_master_hands_no_message_to_the_pops_that_came_meanwhile(group):
    # PRIMARY mode: the lease of a share queue is the mastership, and OI-11 is kept by the log.
    await group.add(controllerHeartBeatTimeoutMills=SOON_MS)
    await group.await_state(1, 1, {1})
    await group.add()
    await group.await_state(1, 1, {1, 2})
    await send_many(group, 1, 4)
    former = await consumer(group, 1)
    (first,) = await pop(former, "orders", maxMsgNums=1)
    assert await ack(former, first) == 0
    await group.pause(1)
    fields = pop_fields("orders", maxMsgNums=1, pollTime=1_000)
    meanwhile = [former.start(RequestCode.POP_MESSAGE, fields) for _ in range(8)]
    await group.await_state(2, 2, {2})
    taken = await pop(await consumer(group, 2), "orders")
    assert bodies(taken) == [b"001", b"002", b"003"]

    group.resume(1)

    assert 0 not in [(await one).code for one in meanwhile]
    await group.await_state(2, 2, {1, 2})
    assert [await ack(group.client(2), one) for one in taken] == [0] * 3


async def test_o40_a_member_that_has_to_catch_up_is_not_elected(group):
    await group.add_many(2, haMaxTimeSlaveNotCatchup="6000")
    await send_many(group, 1, 2)
    client = await consumer(group, 1)
    found = await pop(client, "orders")
    await group.pause(2)
    await group.await_state(1, 1, {1})
    assert await ack(client, found[0]) == 0

    group.kill(1)
    group.resume(2)

    async def is_missed():
        return not await living_members_of_the_set(group)

    await eventually(is_missed)
    # Q58: it serves no consumer either.
    told = await group.client(2).call(RequestCode.POP_MESSAGE, pop_fields("orders"))
    assert told.code == 14
    await group.start(1)

    # The next election is won by the member that has all, although the other one lived.
    assert (await group.await_master(2))[0] == 1
    assert bodies(await pop(await consumer(group, 1), "orders")) == [b"001"]
