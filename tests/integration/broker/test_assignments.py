"""Queues that a broker deals out among the clients of a group (case C8)."""

from contextlib import AsyncExitStack

import pytest

from backend.remoting import java_json
from backend.remoting.bodies import QueueData, TopicRouteData
from backend.remoting.command import answer
from backend.remoting.request_code import RequestCode
from tests.integration.broker.name_server import RecordingNameServer
from tests.ports import free_port
from tests.waiting import eventually

QUERY = RequestCode.QUERY_ASSIGNMENT
SET_MODE = RequestCode.SET_MESSAGE_REQUEST_MODE


def question(client_id="c1", **fields):
    known = {
        "clientId": client_id,
        "consumerGroup": "g",
        "messageModel": "CLUSTERING",
        "strategyName": "AVG",
        "topic": "T",
    }
    return java_json.encode(known | fields)


async def assigned(client, client_id="c1", **fields):
    """Give the queues of a client, or None where the broker does not know."""
    told = await client.call(QUERY, body=question(client_id, **fields))
    assert told.code == 0, told.remark
    body = java_json.loads(told.body)
    if "messageQueueAssignments" not in body:
        return None
    queues = body["messageQueueAssignments"]
    assert {queue["mode"] for queue in queues} <= {"PULL"}
    places = [queue["messageQueue"] for queue in queues]
    assert {place["topic"] for place in places} <= {fields.get("topic", "T")}
    return [(place["brokerName"], place["queueId"]) for place in places]


def on_this(*queue_ids):
    return [("broker-t", queue_id) for queue_id in queue_ids]


@pytest.fixture
async def members(broker, connect):
    """Two members of a group of a topic with eight queues."""
    first, second = await connect(broker), await connect(broker)
    await first.send("T", b"x")
    await first.heartbeat("g", "T", client_id="c1")
    await second.heartbeat("g", "T", client_id="c2")
    return first, second


@pytest.mark.parametrize(
    ("strategy", "firsts", "seconds"),
    [("AVG", (0, 1), (2, 3)), ("AVG_BY_CIRCLE", (0, 2), (1, 3))],
)
async def test_the_members_of_a_group_share_the_queues(members, strategy, firsts, seconds):
    # Case C8.
    first, second = members

    assert await assigned(first, "c1", strategyName=strategy) == on_this(*firsts)
    assert await assigned(second, "c2", strategyName=strategy) == on_this(*seconds)


async def test_who_stays_takes_over_the_queues_of_who_leaves(members):
    # Case C8.
    first, second = members

    await second.close()

    async def has_all():
        return await assigned(first) == on_this(0, 1, 2, 3)

    await eventually(has_all)


async def test_a_client_that_is_no_member_has_no_queue_and_an_unknown_group_keeps_its_own(members):
    first, _ = members

    assert await assigned(first, "stranger") == []
    assert await assigned(first, consumerGroup="nobody") is None
    assert await assigned(first, topic="Nowhere") is None


async def test_each_member_of_a_broadcasting_group_has_all_queues(members):
    first, _ = members

    told = await assigned(first, messageModel="BROADCASTING", strategyName=None)

    assert told == on_this(0, 1, 2, 3)


async def test_the_retry_topic_of_a_group_is_dealt_out_as_well(members):
    first, second = members

    shares = [
        await assigned(one, client_id, topic="%RETRY%g")
        for one, client_id in ((first, "c1"), (second, "c2"))
    ]

    assert shares == [on_this(0), []]


@pytest.mark.parametrize("strategy", ["CONSISTENT_HASH", "MACHINE_ROOM", "CONFIG", "", None])
async def test_a_strategy_that_the_broker_does_not_know_is_refused(members, strategy):
    # Case C8: the client writes the reason into its log.
    first, _ = members

    told = await first.call(QUERY, body=question(strategyName=strategy))

    assert told.code == 29
    assert told.remark == (
        f"this broker does not know the strategy {strategy}: it knows AVG and AVG_BY_CIRCLE"
    )


async def test_a_message_model_that_is_none_is_refused(members):
    first, _ = members

    told = await first.call(QUERY, body=question(messageModel="SOME"))

    assert (told.code, "CLUSTERING or BROADCASTING" in told.remark) == (29, True)


@pytest.mark.parametrize("missing", ["topic", "consumerGroup", "clientId"])
async def test_a_question_without_a_subject_is_refused(client, missing):
    told = await client.call(QUERY, body=question(**{missing: ""}))

    assert told.code == 29


async def test_a_broker_can_be_set_to_allocate_no_queues(start_broker, connect):
    broker = await start_broker(serverLoadBalancerEnable="false")
    client = await connect(broker)
    await client.send("T", b"x")

    assert await assigned(client) == on_this(0, 1, 2, 3)


@pytest.mark.parametrize(
    ("order", "code", "reason"),
    [
        ({"mode": "PULL"}, 0, ""),
        ({"mode": "POP"}, 0, ""),
        ({"mode": "PUSH"}, 29, "PULL or POP"),
        ({"topic": "%RETRY%g"}, 16, "retry topic"),
        ({"topic": ""}, 29, "missing"),
        ({"topic": "Nowhere"}, 17, "Nowhere"),
    ],
)
async def test_a_mode_that_is_unknown_is_refused(client, order, code, reason):
    body = {"topic": "T", "consumerGroup": "g", "mode": "PULL", "popShareQueueNum": 0} | order

    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    told = await client.call(SET_MODE, body=java_json.encode(body))

    assert told.code == code
    assert reason in (told.remark or "")


@pytest.mark.parametrize(("creates", "code"), [("true", 0), ("false", 26)])
async def test_a_mode_creates_the_group_where_a_broker_creates_groups(
    start_broker, connect, creates, code
):
    # As stock does: RocketMQ's PopConsumerRetryIT sets the mode before its consumers start.
    client = await connect(await start_broker(autoCreateSubscriptionGroup=creates))
    await client.send("T", b"x")
    body = {"topic": "T", "consumerGroup": "new", "mode": "POP", "popShareQueueNum": 0}

    told = await client.call(SET_MODE, body=java_json.encode(body))

    assert told.code == code
    assert code == 0 or "new" in told.remark


async def popping(client, client_id, shared_count):
    """Give the queues of a client once the group receives by POP."""
    body = {"topic": "T", "consumerGroup": "g", "mode": "POP", "popShareQueueNum": shared_count}
    assert (await client.call(SET_MODE, body=java_json.encode(body))).code == 0
    told = await client.call(QUERY, body=question(client_id))
    queues = java_json.loads(told.body)["messageQueueAssignments"]
    assert {queue["mode"] for queue in queues} == {"POP"}
    return [queue["messageQueue"]["queueId"] for queue in queues]


async def test_by_pop_every_client_takes_messages_of_any_queue(members):
    first, second = members

    assert await popping(first, "c1", 0) == [-1]
    assert await popping(second, "c2", 1) == [-1]


async def test_by_pop_a_client_shares_the_queues_of_those_after_it(broker, members, connect):
    first, _ = members
    third = await connect(broker)
    await third.heartbeat("g", "T", client_id="c3")

    # Four queues: two of c1, one each of c2 and c3.
    assert await popping(first, "c1", 1) == [0, 1, 2]
    assert await popping(third, "c3", 1) == [3, 0, 1]


class RoutingNameServer(RecordingNameServer):
    """Names two broker groups for each topic."""

    def reply(self, writer, command):
        if command.code != RequestCode.GET_ROUTEINFO_BY_TOPIC:
            super().reply(writer, command)
            return
        queues = [
            QueueData(broker_name=name, permissions=6, read_queue_count=2, write_queue_count=2)
            for name in ("other", "broker-t")
        ]
        body = java_json.encode(TopicRouteData(queues=queues))
        writer.write(answer(command, body=body))


async def test_the_queues_of_all_brokers_are_dealt_out(start_broker, connect):
    # Case C8.
    async with AsyncExitStack() as stack:
        server = RoutingNameServer()
        await server.start()
        stack.push_async_callback(server.stop)
        # The first one does not answer.
        addresses = f"127.0.0.1:{free_port()};127.0.0.1:{server.port}"
        broker = await start_broker(namesrvAddr=addresses)
        await eventually(lambda: server.of(RequestCode.REGISTER_BROKER))
        first, second = await connect(broker), await connect(broker)
        await first.heartbeat("g", "T", client_id="c1")
        await second.heartbeat("g", "T", client_id="c2")

        shares = [await assigned(first, "c1"), await assigned(first, "c2")]

        assert shares == [on_this(0, 1), [("other", 0), ("other", 1)]]


async def test_without_a_name_server_that_answers_a_client_keeps_its_queues(start_broker, connect):
    # Case C8: unknown is not none.
    server = RecordingNameServer()
    await server.start()
    port = server.port
    await server.stop()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{port}")
    client = await connect(broker)
    await client.heartbeat("g", "T")

    assert await assigned(client) is None
