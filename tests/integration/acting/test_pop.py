"""POP at a replica that acts: its log stays as it is, and no acknowledgement is lost (S130)."""

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.acting import test_members
from tests.integration.acting.conftest import content_of
from tests.integration.acting.test_members import figures
from tests.integration.acting.test_rounds import await_acting
from tests.integration.acting.test_successors import THREE
from tests.integration.broker.popping import (
    SHORT_MS,
    ack,
    bodies,
    change,
    handle_fields,
    pop,
    pop_fields,
)
from tests.waiting import eventually


async def send_many(client, count):
    for number in range(count):
        assert (await client.send("orders", b"%02d" % number)).code == 0


async def kept_count(client):
    return int((await figures(client))["keptShareQueueCount"])


async def await_kept(client, count):
    async def is_kept():
        return await kept_count(client) == count

    await eventually(is_kept)


async def popped_pair(group, count, **properties):
    """Return the clients of a pair, and the messages that a consumer has got from the master."""
    master, replica = await group.add_pair(**properties)
    await send_many(master, count)
    assert (await master.heartbeat("g", "orders")).code == 0
    found = await pop(master, "orders")
    assert len(found) == count
    return replica, found


async def act(group):
    """Let the replica with the id 1 act once it has all of the log."""
    await group.await_copy(1)
    group.kill(0)
    await await_acting(group.clients[1])


async def test_what_is_acknowledged_at_an_acting_replica_does_not_come_again(fixed_group):
    # S130, S112, Q9. As D30 says, no check point exists.
    replica, first = await popped_pair(fixed_group, 12)
    assert [await ack(fixed_group.clients[0], one) for one in first[:2]] == [0, 0]
    await act(fixed_group)
    before = fixed_group.log_bytes(1)

    assert (await replica.heartbeat("g", "orders")).code == 0
    # O13: a message of the master's delivery is finished at the replica.
    assert await ack(replica, first[2]) == 0
    found = await pop(replica, "orders", maxMsgNums=8)
    assert bodies(found) == bodies(first[3:11])
    assert [await ack(replica, one) for one in found[::2]] == [0] * 4
    # A client whose answer was lost asks again.
    assert await ack(replica, found[0]) == 0
    assert (await change(replica, found[7], SHORT_MS)).code == 0
    assert fixed_group.log_bytes(1) == before
    assert await kept_count(replica) == 1
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    assert (await master.heartbeat("g", "orders")).code == 0
    # A message of the replica's delivery is finished at the master.
    assert await ack(master, found[1]) == 0
    rest = await pop(master, "orders")
    assert bodies(rest) == bodies([found[3], found[5], found[7], first[11]])
    assert [await ack(master, one) for one in rest] == [0] * 4
    assert await pop(master, "orders") == []
    await await_kept(replica, 0)
    # Its log is one with the master's, and says the same at the next failover.
    await act(fixed_group)
    assert await pop(replica, "orders") == []


async def test_an_acknowledgement_outlives_the_acting_replica_that_answered_it(fixed_group):
    # S130, S117
    replica, first = await popped_pair(fixed_group, 6)
    await act(fixed_group)
    assert await ack(replica, first[0]) == 0
    fixed_group.kill(1)

    replica = await fixed_group.start(1)
    await await_acting(replica)
    found = await pop(replica, "orders", maxMsgNums=2)
    assert bodies(found) == bodies(first[1:3])
    assert await ack(replica, found[0]) == 0
    fixed_group.kill(1)
    await fixed_group.await_members(set())
    # Of a replica that is dead the master learns later, and before the replica forgets.
    master = await fixed_group.start(0)
    await fixed_group.await_members({0})
    replica = await fixed_group.start(1)
    await fixed_group.await_members({0, 1})
    await await_kept(replica, 0)

    assert bodies(await pop(master, "orders")) == bodies(first[2:])


async def test_the_next_replica_that_acts_knows_what_is_finished(fixed_group):
    # S107, S108, S130
    for broker_id in (0, 1, 2):
        client = await fixed_group.add(broker_id, **THREE)
        await fixed_group.await_members(set(range(broker_id + 1)))
        if broker_id == 0:
            await send_many(client, 8)
            assert (await client.heartbeat("g", "orders")).code == 0
            first = await pop(client, "orders", maxMsgNums=1)
            assert await ack(client, first[0]) == 0
        else:
            await fixed_group.await_copy(broker_id)
    fixed_group.kill(0)
    await test_members.await_acting(fixed_group, {1})
    found = await pop(fixed_group.clients[1], "orders")
    assert [await ack(fixed_group.clients[1], one) for one in found[:2]] == [0, 0]
    second = fixed_group.clients[2]
    await await_kept(second, 1)
    # The other replica passes acknowledgements on, and serves no POP (Q86).
    refused = await second.call(RequestCode.POP_MESSAGE, pop_fields("orders"))
    assert refused.code == 14

    async def is_passed_on():
        return await ack(second, found[2]) == 0

    await eventually(is_passed_on)
    await await_copied(fixed_group, 2, 4)

    fixed_group.kill(1)
    await test_members.await_acting(fixed_group, {2})
    rest = await pop(second, "orders")
    assert bodies(rest) == bodies(found[3:])
    assert await ack(second, rest[0]) == 0
    first_replica = await fixed_group.start(1)
    await test_members.await_acting(fixed_group, {1})
    again = await pop(first_replica, "orders")
    assert bodies(again) == bodies(rest[1:])
    # O15: the handle of the delivery before is void.
    assert await ack(first_replica, rest[1]) == 208
    assert await ack(first_replica, again[0]) == 0
    fixed_group.kill(2)
    await fixed_group.await_members({1})
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})

    assert bodies(await pop(master, "orders")) == bodies(rest[2:])


async def await_copied(group, key, offset):
    """Wait until a replica has in its file that all messages before an offset are finished."""
    path = group.agents[key].root / "store" / "config" / "regentFinished.json"

    def is_copied():
        shares = java_json.loads(content_of(path) or b'{"shares": []}')["shares"]
        return [one["ranges"][0] for one in shares if one["queueId"] == 0] == [[0, offset]]

    await eventually(is_copied)


async def test_an_acting_replica_gives_up_and_moves_no_message(fixed_group):
    # S130: dead letters and retries would be new messages.
    replica, first = await popped_pair(fixed_group, 2)
    await act(fixed_group)
    end = fixed_group.log_bytes(1)
    assert (await replica.heartbeat("g", "orders")).code == 0
    found = await pop(replica, "orders")

    # For longer than a minute a master moves it to the retry topic.
    fields = handle_fields(found[0], invisibleTime=90_000, release="true")
    moved = await replica.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)
    back = {"offset": found[1].log_position, "group": "g", "delayLevel": -1}
    refused = await replica.call(RequestCode.CONSUMER_SEND_MSG_BACK, back)

    assert (moved.code, refused.code) == (0, 16)
    assert await pop(replica, "orders") == []
    assert fixed_group.log_bytes(1) == end
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    assert bodies(await pop(master, "orders")) == bodies(first)


async def test_a_group_that_is_new_waits_for_the_master(fixed_group):
    replica, first = await popped_pair(fixed_group, 1)
    await act(fixed_group)
    assert (await replica.heartbeat("new", "orders")).code == 0

    told = await replica.call(RequestCode.POP_MESSAGE, pop_fields("orders", "new"))

    assert (told.code, "once the master" in told.remark) == (14, True)
    master = await fixed_group.start(0)
    await fixed_group.await_members({0, 1})
    assert (await master.heartbeat("new", "orders")).code == 0
    assert bodies(await pop(master, "orders", "new")) == bodies(first)
