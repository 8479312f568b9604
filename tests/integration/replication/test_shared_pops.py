"""POP of a SHARED topic at a member that does not own the share queue (queue-ownership.md 4.7)."""

from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from tests.integration.broker.client import Client
from tests.integration.broker.popping import ack, bodies, handle_fields, pop, pop_fields, popped
from tests.integration.replication.popping import consumer, send_many
from tests.integration.replication.sharing import (
    WAIT_MS,
    await_mode,
    await_waiting,
    lease_of,
    own,
    receive,
    share,
    shared_pair,
)
from tests.waiting import eventually


async def test_o28_a_pop_at_a_replica_is_answered_by_the_owner_and_acknowledged_there(group):
    # Q19, Q91: a client that reaches only the replica is served. The share queue does not move.
    await shared_pair(group)
    await own(group, 1)
    await send_many(group, 1, 3)
    client = await consumer(group, 2)

    found = await receive(client, 3)

    assert bodies(found) == [b"000", b"001", b"002"]
    assert [await ack(client, one) for one in found] == [0, 0, 0]
    assert await pop(await consumer(group, 1), "orders") == []
    lease = await lease_of(group)
    assert (lease.owner.broker_id, lease.epoch, lease.waiters) == (1, 1, ())


async def test_a_pop_that_waits_at_a_replica_gets_the_next_message_of_the_owner_o28(group):
    await shared_pair(group)
    await own(group, 1)
    client = await consumer(group, 2)

    waiting = client.start(RequestCode.POP_MESSAGE, pop_fields("orders", pollTime=WAIT_MS))
    await await_waiting(group, 1)
    await send_many(group, 1, 1)

    assert bodies(popped(await waiting)) == [b"000"]


async def test_a_pop_without_messages_ends_after_its_wait_at_a_replica(group):
    await shared_pair(group)
    client = await consumer(group, 2)

    answer = await client.call(RequestCode.POP_MESSAGE, pop_fields("orders", pollTime=100))

    assert answer.code == ResponseCode.POLLING_TIMEOUT


async def test_a_forwarded_pop_is_not_forwarded_again_o28(group):
    await shared_pair(group)
    client = await consumer(group, 2)

    answer = await client.call(RequestCode.POP_MESSAGE, pop_fields("orders", shareFwd="1"))

    assert answer.code == ResponseCode.NOT_LEADER_FOR_QUEUE


async def test_messages_for_a_client_that_has_left_go_to_another_consumer_at_once(group):
    # Q10, Q12: they do not wait for the end of their time.
    await shared_pair(group)
    await own(group, 1)
    leaving = await Client.connect(group.agents[1].port)
    await leaving.heartbeat("g", "orders")
    leaving.start(RequestCode.POP_MESSAGE, pop_fields("orders", pollTime=WAIT_MS))
    await await_waiting(group, 1)
    leaving.writer.close()

    async def has_left():
        # An answer before that is lost, and its messages come again after their time.
        asked = {"consumerGroup": "g"}
        told = await group.client(2).call(RequestCode.GET_CONSUMER_CONNECTION_LIST, asked)
        return told.code == ResponseCode.CONSUMER_NOT_ONLINE

    await eventually(has_left)
    await send_many(group, 1, 2)

    found = await receive(await consumer(group, 1), 2)

    assert bodies(found) == [b"000", b"001"]


async def test_q91_a_question_for_messages_at_a_replica_is_answered_by_the_owner(group):
    await shared_pair(group)
    await own(group, 1)
    await send_many(group, 1, 1)
    client = await consumer(group, 2)
    fields = {
        "consumerGroup": "g",
        "topic": "orders",
        "queueId": -1,
        "pollTime": 100,
        "bornTime": 0,
    }

    answer = await client.call(RequestCode.NOTIFICATION, fields)

    assert (answer.code, answer.ext["hasMsg"]) == (0, "true")


async def test_a_pop_of_a_primary_topic_at_a_replica_is_refused_with_the_next_step_q86(group):
    await group.add_many(2)
    await send_many(group, 1, 1)
    await group.await_equal_logs()
    client = await consumer(group, 2)

    answer = await client.call(RequestCode.POP_MESSAGE, pop_fields("orders"))

    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert "route" in answer.remark


async def test_a_topic_that_is_not_shared_any_more_is_served_by_its_master_only(group):
    await shared_pair(group)
    assert (await share(group, mode="PRIMARY")).code == 0
    await await_mode(group, 2, "PRIMARY")
    client = await consumer(group, 2)

    answer = await client.call(RequestCode.POP_MESSAGE, pop_fields("orders"))

    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE


async def test_the_owner_has_a_void_handle_as_void_at_each_member_o14(group):
    await shared_pair(group)
    await own(group, 1)
    await send_many(group, 1, 1)
    client = await consumer(group, 2)
    (found,) = await receive(client, 1)
    fields = handle_fields(found, invisibleTime=60_000)

    renewed = await client.call(RequestCode.CHANGE_MESSAGE_INVISIBLETIME, fields)

    assert renewed.code == 0
    assert await ack(client, found) == ResponseCode.NO_MESSAGE
