"""Operators change share queues and consume modes, wherever the worker that does it dies."""

import pytest

from backend.brokers.asking import Brokers
from backend.brokers.requests.consume_modes import GetConsumeMode
from backend.brokers.requests.shares import GetShareMessages
from backend.db.brokers import BrokerRegistration
from backend.domain.broker import DataVersion
from backend.domain.errors import InvalidName, TopicNotFound
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import (
    BrokerSilent,
    ConsumerGroupNotFound,
    InvalidParameters,
    NotUndoable,
    PreconditionMoved,
    SharedMessagesNotFound,
    ShareQueueNotFound,
)
from backend.domain.plan import CheckVerdict
from backend.domain.share_queue import ConsumeMode, ConsumeSetting, ShareQueueName
from backend.remoting.request_code import RequestCode
from backend.services.controller.registrations import RegisterBroker, register_broker
from tests.integration.broker.client import Client
from tests.integration.broker.name_server import FakeStockBroker
from tests.integration.broker.popping import ack, bodies, pop
from tests.integration.operations.agents import CLUSTER
from tests.integration.operations.crashing import POINTS, points
from tests.long_form import few
from tests.waiting import eventually

NAME = ShareQueueName("orders", 0, "billing")
QUEUE = {
    "broker_group_name": "broker-a",
    "consumer_group_name": "billing",
    "topic_name": "orders",
    "queue_id": 0,
}
MODE = {"consumer_group_name": "billing", "topic_name": "orders"}
INTENDED = (S.DONE, "read back as intended")


@pytest.fixture
async def connect(agents):
    """Connect consumers of group `billing` to broker-a; they are closed with the test."""
    opened = []

    async def connect(client_id):
        client = await Client.connect(agents.brokers["broker-a"].port)
        opened.append(client)
        await client.heartbeat("billing", "orders", client_id=client_id)
        return client

    yield connect
    for one in opened:
        await one.close()


@pytest.fixture
async def consumer(agents, connect):
    await agents.send("orders", 4)
    return await connect("c1")


async def held(agents):
    address = f"127.0.0.1:{agents.brokers['broker-a'].port}"
    return await Brokers(agents.client).ask(address, GetShareMessages(NAME))


async def take_and_leave(agents, connect, client_id="gone"):
    """Let a client take all messages, and leave."""
    client = await connect(client_id)
    taken = await pop(client, "orders", "billing", queueId=0)
    await client.close()

    async def has_left():
        found = await held(agents)
        return all(not one.is_connected for one in found.messages if one.client_id == client_id)

    await eventually(has_left)
    return taken


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_o10_a_worker_may_die_anywhere_and_messages_of_a_gone_client_come_again(
    agents, consumer, connect, name
):
    for passed in points(name):
        await agents.send("orders", 1)
        taken = await take_and_leave(agents, connect)
        planned = await agents.plan("release_shared_messages", **QUEUE)
        assert planned.plan.risk_label == "small, can't be undone"
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.end(planned.id)

        assert (done.state, done.outcome) == INTENDED, passed
        again = await pop(consumer, "orders", "billing", queueId=0)
        assert bodies(again) == bodies(taken)
        assert [await ack(consumer, one, "billing") for one in again] == [0] * len(again)
        if lives:
            break


async def test_messages_of_a_connected_client_are_released_by_its_name_only(agents, consumer):
    assert len(await pop(consumer, "orders", "billing", queueId=0, maxMsgNums=2)) == 2
    with pytest.raises(SharedMessagesNotFound, match="no client that is gone has a message"):
        await agents.plan("release_shared_messages", **QUEUE)
    with pytest.raises(SharedMessagesNotFound, match="client 'c2' has no message"):
        await agents.plan("release_shared_messages", **QUEUE, client_id="c2")

    planned = await agents.plan("release_shared_messages", **QUEUE, client_id="c1")

    assert planned.plan.risk_label == "affects service, can't be undone"
    checks = {one.name: one.verdict for one in planned.plan.checks}
    assert checks["holder"] is CheckVerdict.WARN
    (change,) = planned.plan.changes
    assert (change.what, change.before) == ("messages of orders/0 with c1", "2")
    await agents.confirm(planned)
    done = await agents.end(planned.id)
    assert (done.steps[0].before, done.steps[0].after) == ({"acquired": 2}, {"acquired": 0})
    with pytest.raises(NotUndoable):
        await agents.undo(done)


@pytest.mark.usefixtures("consumer")
async def test_a_release_is_void_once_its_client_is_back(agents, connect):
    await take_and_leave(agents, connect, "c2")
    planned = await agents.plan("release_shared_messages", **QUEUE)
    await connect("c2")

    with pytest.raises((PreconditionMoved, SharedMessagesNotFound)):
        await agents.confirm(planned)


@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_o54_a_worker_may_die_anywhere_and_a_share_queue_goes_on_from_the_offset(
    agents, consumer, name
):
    for passed in points(name):
        taken = await pop(consumer, "orders", "billing", queueId=0)
        assert [await ack(consumer, one, "billing") for one in taken] == [0] * len(taken)
        former = (await held(agents)).queue
        planned = await agents.plan("reset_share_queue", **QUEUE, offset=1)
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.end(planned.id)

        assert (done.state, done.outcome) == INTENDED, passed
        present = (await held(agents)).queue
        assert (former.start, present.start) == (4, 1)
        assert present.reset_epoch > former.reset_epoch
        if lives:
            break


async def test_o54_a_reset_names_what_is_skipped_and_repeated_and_is_taken_back(agents, consumer):
    first = await pop(consumer, "orders", "billing", queueId=0, maxMsgNums=2)
    assert await ack(consumer, first[0], "billing") == 0

    done = await agents.order("reset_share_queue", **QUEUE, offset=4)

    assert done.plan.facts["skipped_count"] == "3"
    assert done.plan.facts["repeated_count"] == "0"
    never = "Consumer group billing never receives up to 3 messages that it has not finished"
    assert done.plan.impact == (never,)
    assert {one.name: one.verdict for one in done.plan.checks}["messages in flight"] == "warn"
    assert await ack(consumer, first[1], "billing") == 208
    assert await pop(consumer, "orders", "billing", queueId=0) == []
    undone = await agents.undo(done)
    assert (undone.state, undone.outcome) == INTENDED
    again = await pop(consumer, "orders", "billing", queueId=0)
    assert bodies(again) == [b"1", b"2", b"3"]


async def test_a_share_queue_without_a_leading_master_is_unknown_not_absent(agents, consumer):
    await pop(consumer, "orders", "billing", queueId=0)
    agents.agent().shares.stand_down()

    with pytest.raises(BrokerSilent, match="does not lead its broker group now"):
        await agents.plan("reset_share_queue", **QUEUE, offset=1)


async def test_a_reset_outside_of_the_queue_is_blocked_and_one_of_no_share_queue_refused(
    agents, consumer
):
    with pytest.raises(InvalidName, match="is blank"):
        await agents.plan("reset_share_queue", **QUEUE | {"consumer_group_name": ""}, offset=1)
    with pytest.raises(ShareQueueNotFound, match="have not used POP there"):
        await agents.plan("reset_share_queue", **QUEUE, offset=1)
    await pop(consumer, "orders", "billing", queueId=0)

    planned = await agents.plan("reset_share_queue", **QUEUE, offset=9)

    assert planned.plan.block.why == "outside: it holds 0 to 4"


async def test_a_reset_in_a_static_topic_means_the_logical_queue(agents):
    groups = ["broker-a", "broker-b"]
    await agents.order(
        "create_static_topic", topic_name="ledger", queue_count=4, broker_groups=groups
    )
    client = await Client.connect(agents.brokers["broker-b"].port)
    await client.heartbeat("billing", "ledger", client_id="c1")
    # Queue 1 is the physical queue 0 here, and the physical queue 1 is queue 3.
    for queue_id in (1, 3):
        for number in range(4):
            assert (await client.send("ledger", b"%d" % number, queue_id=queue_id)).code == 0
        taken = await pop(client, "ledger", "billing", queueId=queue_id)
        assert [await ack(client, one, "billing") for one in taken] == [0] * 4
    named = QUEUE | {"broker_group_name": "broker-b", "topic_name": "ledger"}

    done = await agents.order("reset_share_queue", **named | {"queue_id": 1}, offset=1)

    assert (done.state, done.outcome) == INTENDED
    assert done.plan.facts["repeated_count"] == "3"
    again = await pop(client, "ledger", "billing", queueId=1)
    assert [(one.queue_id, one.offset) for one in again] == [(1, 1), (1, 2), (1, 3)]
    assert await pop(client, "ledger", "billing", queueId=3) == []
    undone = await agents.undo(done)
    assert (undone.state, undone.outcome) == INTENDED
    assert await pop(client, "ledger", "billing", queueId=1) == []
    await client.close()


async def test_a_reset_in_a_moved_queue_of_a_static_topic_takes_logical_offsets(agents):
    groups = ["broker-a", "broker-b"]
    await agents.order(
        "create_static_topic", topic_name="ledger", queue_count=2, broker_groups=groups
    )
    await agents.send("ledger", 5)
    await agents.order("move_queues", topic_name="ledger", leaving="broker-a")
    client = await Client.connect(agents.brokers["broker-b"].port)
    await client.heartbeat("billing", "ledger", client_id="c1")
    await agents.send("ledger", 3, name="broker-b")
    await eventually(lambda: pop(client, "ledger", "billing", queueId=0))
    named = QUEUE | {"broker_group_name": "broker-b", "topic_name": "ledger"}

    done = await agents.order("reset_share_queue", **named, offset=6)

    assert done.plan.facts["position"] == "0"
    assert (done.state, done.outcome) == INTENDED
    again = await pop(client, "ledger", "billing", queueId=0)
    assert [one.offset for one in again] == [6, 7]
    await client.close()


async def mode_of(agents):
    address = f"127.0.0.1:{agents.brokers['broker-a'].port}"
    return await Brokers(agents.client).ask(address, GetConsumeMode("orders", "billing"))


@pytest.mark.usefixtures("consumer")
@pytest.mark.parametrize("name", few(POINTS, 1))
async def test_a_worker_may_die_anywhere_and_the_consume_mode_is_set_and_taken_back(agents, name):
    for passed in points(name):
        planned = await agents.plan("set_consume_mode", **MODE, mode="POP", shared_client_count=1)
        await agents.confirm(planned)

        lives = await agents.run(planned.id, (name, passed))
        done = await agents.end(planned.id)

        assert (done.state, done.outcome) == INTENDED, passed
        assert await mode_of(agents) == ConsumeSetting(ConsumeMode.POP, 1)
        undone = await agents.undo(done)
        assert (undone.state, undone.outcome) == INTENDED
        assert await mode_of(agents) == ConsumeSetting(ConsumeMode.PULL)
        if lives:
            break


@pytest.mark.usefixtures("consumer")
async def test_a_consume_mode_names_the_members_that_rebalance(agents):
    planned = await agents.plan("set_consume_mode", **MODE, mode="POP")

    assert planned.plan.facts["members"] == ["c1"]
    assert planned.plan.impact[0].endswith("within 20 s: c1")
    assert [one.what for one in planned.plan.changes] == ["consume mode on broker-a"]
    same = await agents.plan("set_consume_mode", **MODE, mode="PULL", shared_client_count=2)
    assert same.plan.block.why == "every master has this mode already"


@pytest.mark.usefixtures("consumer")
async def test_a_consume_mode_needs_a_topic_a_group_and_one_mode(agents):
    others = {"mode": "POP"}
    with pytest.raises(TopicNotFound):
        await agents.plan("set_consume_mode", **MODE | {"topic_name": "none"}, **others)
    with pytest.raises(ConsumerGroupNotFound):
        await agents.plan("set_consume_mode", **MODE | {"consumer_group_name": "none"}, **others)
    with pytest.raises(InvalidParameters, match="has the mode of its topic"):
        await agents.plan("set_consume_mode", **MODE | {"topic_name": "%RETRY%g"}, **others)
    with pytest.raises(InvalidParameters, match="give a mode"):
        await agents.plan("set_consume_mode", **MODE)


@pytest.mark.usefixtures("consumer")
async def test_a_static_topic_is_set_to_pop(agents):
    await agents.order(
        "create_static_topic", topic_name="ledger", queue_count=2, broker_groups=["broker-a"]
    )

    planned = await agents.plan("set_consume_mode", **MODE | {"topic_name": "ledger"}, mode="POP")

    assert planned.plan.block is None


@pytest.fixture
async def stock(agents):
    """A broker of RocketMQ that is registered in a group, and leaves it at the end."""
    broker = FakeStockBroker()
    await broker.start()
    address = f"127.0.0.1:{broker.port}"

    async def join(group, broker_id):
        registration = BrokerRegistration(broker_id, address, None, 10_000, DataVersion())
        command = RegisterBroker(CLUSTER, group, registration, topics={})
        await register_broker(command, database=agents.database, clock=agents.world.clock)
        return address

    yield join
    await broker.stop()


@pytest.mark.usefixtures("consumer")
async def test_no_group_changes_to_pop_while_one_has_a_broker_of_rocketmq(agents, stock):
    await agents.send("orders", 1, name="broker-b")
    group = {"consumer_group_name": "billing", "broker_groups": ["broker-b"]}
    await agents.order("create_consumer_group", **group)
    planned = await agents.plan("set_consume_mode", **MODE, mode="POP")
    assert [one.name for one in planned.plan.steps] == ["set-broker-a", "set-broker-b"]

    address = await stock("broker-b", 1)

    with pytest.raises(PreconditionMoved, match="of RocketMQ"):
        await agents.confirm(planned)
    again = await agents.plan("set_consume_mode", **MODE, mode="POP")
    assert f"broker-b-1, {address}" in again.plan.block.why
    pulled = await agents.plan("set_consume_mode", **MODE, mode="PULL", shared_client_count=1)
    assert "RocketMQ" not in pulled.plan.block.why
    assert await mode_of(agents) is None


async def test_a_change_of_mode_names_the_share_queues_whose_messages_come_again(agents, consumer):
    taken = await pop(consumer, "orders", "billing", queueId=0, maxMsgNums=2)
    assert await ack(consumer, taken[0], "billing") == 0
    planned = await agents.plan("set_consume_mode", **MODE, mode="POP")
    checks = {one.name: one for one in planned.plan.checks}
    assert checks["no message comes again"].verdict is CheckVerdict.PASS
    await agents.confirm(planned)
    await agents.end(planned.id)

    pulled = await agents.plan("set_consume_mode", **MODE, mode="PULL")

    (queue,) = pulled.plan.facts["share_queues"]
    assert (queue["position"], queue["committed"], queue["repeated_count"]) == ("1", "1", "1")
    assert (queue["broker_group_name"], queue["acquired_count"]) == ("broker-a", 1)
    checks = {one.name: one for one in pulled.plan.checks}
    assert "orders/0 on broker-a (up to 1)" in checks["no message comes again"].why
    await agents.confirm(pulled)
    await agents.end(pulled.id)

    # The group pulls all, and its share queue stays where it was.
    offset = {"consumerGroup": "billing", "topic": "orders", "queueId": 0, "commitOffset": 4}
    told = await consumer.call(RequestCode.UPDATE_CONSUMER_OFFSET, offset)
    assert told.code == 0, told.remark
    back = await agents.plan("set_consume_mode", **MODE, mode="POP")

    (queue,) = back.plan.facts["share_queues"]
    assert (queue["position"], queue["committed"], queue["repeated_count"]) == ("1", "4", "3")
