"""Operations on a stock 5.5.0 broker: what they change, what they can't know."""

import asyncio
from contextlib import AsyncExitStack

import pytest

from backend.brokers.client import RemotingClient
from backend.clients.clock import SystemClock
from backend.domain.errors import DomainError
from backend.domain.operation import OperationState as S
from backend.domain.operation_errors import InvalidParameters
from backend.nameserver.server import NameServer
from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import Client, messages
from tests.integration.operations.agents import Operator
from tests.interop.java import build
from tests.interop.stock_broker import StockBroker
from tests.ports import free_port

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]
START_TIMEOUT_S = 150
ALONE = {
    "enableControllerMode": "false",
    "brokerId": 0,
    "brokerRole": "ASYNC_MASTER",
    "autoCreateSubscriptionGroup": "false",
    # Without it a stock broker fails in deleting a topic.
    "timerWheelEnable": "true",
}


@pytest.fixture
async def stock(database, redis, tmp_path, eventually):
    await asyncio.to_thread(build)
    stores = {"database": database, "redis": redis, "clock": SystemClock()}
    async with AsyncExitStack() as stack:
        server = await stack.enter_async_context(NameServer.serve("127.0.0.1", 0, **stores))
        broker = StockBroker(free_port(), server.address, tmp_path / "stock", properties=ALONE)
        stack.push_async_callback(broker.kill)
        await broker.start()
        await eventually(lambda: server.find_route("TBW102") is not None, timeout_s=START_TIMEOUT_S)
        # Orders to a stock broker go through the client that the control plane uses.
        remoting = RemotingClient()
        stack.push_async_callback(remoting.aclose)
        agents = Operator(database, server.controller.heartbeat_source, client=remoting)

        async def is_known():
            try:
                planned = await agents.plan("create_topic", topic_name="probe")
            except DomainError:
                return False
            return planned.plan.facts["brokers"]

        await eventually(is_known)
        client = await Client.connect(broker.port)
        stack.callback(client.writer.close)
        yield agents, client


def fencing(operation):
    return next(one for one in operation.plan.checks if one.name == "fencing")


async def test_topics_groups_settings_and_offsets_of_a_stock_broker(stock, eventually):
    agents, client = stock

    made = await agents.order(
        "create_topic", topic_name="orders", read_queue_count=4, write_queue_count=4
    )
    grown = await agents.order("change_topic", topic_name="orders", write_queue_count=6)
    group = await agents.order(
        "create_consumer_group", consumer_group_name="billing", retry_count_max=3
    )
    slow = await agents.order(
        "change_consumer_group", consumer_group_name="billing", retry_count_max=5
    )
    changes = [{"name": "fileReservedTime", "value": "48"}]
    setting = await agents.order("change_broker_config", broker_group_name="g", changes=changes)

    for done in (made, grown, group, slow, setting):
        assert (done.state, done.outcome) == (S.DONE, "read back as intended"), done.read_back
        # Stock passes the fields over; the plan says so (D20).
        assert (fencing(done).verdict, "only the journal" in fencing(done).why) == ("warn", True)
    assert setting.steps[0].before == {"fileReservedTime": "72"}
    assert setting.steps[0].after == {"fileReservedTime": "48"}
    wrong = [{"name": "fileReserveTime", "value": "1"}]
    with pytest.raises(InvalidParameters, match="did you mean fileReservedTime"):
        await agents.plan("change_broker_config", broker_group_name="g", changes=wrong)
    fixed = [{"name": "storePathRootDir", "value": "/elsewhere"}]
    with pytest.raises(InvalidParameters, match="read-only"):
        await agents.plan("change_broker_config", broker_group_name="g", changes=fixed)

    for number in range(10):
        assert (await client.send("orders", b"%d" % number)).code == 0

    async def are_queued():
        queue = {"topic": "orders", "queueId": 0}
        return (await client.call(RequestCode.GET_MAX_OFFSET, queue)).ext["offset"] == "10"

    # Stock acknowledges a message before its consume queue holds it.
    await eventually(are_queued)
    place = {"consumer_group_name": "billing", "topic_name": "orders", "queue_ids": [0]}
    # No consumer is connected, so the offset is written.
    to_eight = await agents.order("reset_offsets", **place, position="offset", offset=8)
    assert (to_eight.state, to_eight.plan.facts["mode"]) == (S.DONE, "offline"), to_eight.outcome
    await client.heartbeat("billing", "orders", client_id="one")
    back = await agents.order("reset_offsets", **place, position="earliest")
    pull = {"consumerGroup": "billing", "commitOffset": 8, "sysFlag": 7}
    told = await client.pull("orders", queueOffset=8, **pull)
    read = await client.pull("orders", queueOffset=0, **(pull | {"commitOffset": 0}))

    assert (back.state, back.plan.facts["mode"]) == (S.DONE, "online"), back.outcome
    assert back.steps[0].before == {"0": 8}
    assert (told.code, told.ext["nextBeginOffset"]) == (21, "0")
    assert messages(read)[0].body == b"0"

    for done in (setting, slow, grown):
        undone = await agents.undo(done)
        assert undone.state is S.DONE, undone.outcome
    doomed = await agents.order("delete_topic", topic_name="orders")
    assert doomed.state is S.DONE, [step.error for step in doomed.steps]
    assert doomed.plan.loss == "10 messages, unread of billing 10"
