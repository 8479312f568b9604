"""Pulls that the engine answers by itself, because one like them passed every check before."""

import dataclasses
import json

import msgspec
import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import bodies
from tests.waiting import eventually
from workers.broker.requests.serving import REQUESTS

COMMIT, SUSPEND, SUBSCRIPTION = 1, 2, 4
UNREADABLE = 2


@pytest.fixture
def checked(monkeypatch):
    """Hear of every pull that is checked, which is what the engine does not answer."""
    commands = []
    served = REQUESTS[RequestCode.PULL_MESSAGE]

    def listen(broker, caller, command):
        commands.append(command)
        return served.processor(broker, caller, command)

    listening = dataclasses.replace(served, processor=listen)
    monkeypatch.setitem(REQUESTS, RequestCode.PULL_MESSAGE, listening)
    return commands


async def test_the_second_of_two_pulls_is_answered_like_the_first_without_a_check(client, checked):
    for number in range(5):
        await client.send("T", b"%d" % number)

    first = await client.pull("T", queueOffset=1, maxMsgNums=3)
    second = await client.pull("T", queueOffset=1, maxMsgNums=3)

    assert len(checked) == 1
    assert bodies(second) == bodies(first) == [b"1", b"2", b"3"]
    assert (second.code, second.ext, second.remark) == (first.code, first.ext, first.remark)


async def test_a_pull_without_a_check_is_noted_as_one_of_its_queue(
    broker, client, checked, monkeypatch
):
    for queue_id in (0, 1):
        await client.send("T", b"x", queue_id=queue_id)
    await client.pull("T")
    later_ms = broker.broker.elapsed_ms() + 60_000
    monkeypatch.setattr(broker.broker, "elapsed_ms", lambda: later_ms)

    for queue_id in (0, 1):
        await client.pull("T", queueId=queue_id)

    def pulled_at_ms():
        readers = [broker.broker.readers.find("g", "T", queue_id) for queue_id in (0, 1)]
        return [reader.pulled_at_ms for reader in readers if reader is not None]

    await eventually(lambda: pulled_at_ms() == [later_ms, later_ms])
    assert len(checked) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"consumerGroup": "other"},
        {"topic": "U"},
        {"subscription": "A"},
        {"expressionType": "TAG"},
        {"sysFlag": 0},
        {"queueId": 99},
        {"queueOffset": 1},
        {"suspendTimeoutMillis": "soon"},
        {"maxMsgBytes": "many"},
    ],
)
async def test_a_pull_of_another_kind_or_without_messages_is_checked(client, checked, fields):
    await client.send("T", b"x")
    await client.send("U", b"x")
    await client.pull("T")

    await client.pull(**{"topic": "T"} | fields)

    assert len(checked) == 2


async def test_each_expression_filters_by_its_own_tags(client, checked):
    for tag in ("A", "B", "A"):
        await client.send("T", tag.encode(), properties={"TAGS": tag})

    for expression, expected in (
        ("A", [b"A", b"A"]),
        ("B", [b"B"]),
        ("A || B", [b"A", b"B", b"A"]),
    ):
        for _ in range(2):
            assert bodies(await client.pull("T", subscription=expression)) == expected
    assert len(checked) == 3


async def test_a_pull_by_an_expression_is_answered_without_a_check_as_well(client, checked):
    # Case C9.
    for price in ("5", "15"):
        await client.send("T", price.encode(), properties={"price": price})
    registered = {"sysFlag": 0, "subscription": None, "subVersion": 1}

    for expression, expected in (("price > 10", [b"15"]), ("price < 10", [b"5"])):
        carried = {"subscription": expression, "expressionType": "SQL92"}
        for _ in range(2):
            assert bodies(await client.pull("T", **carried)) == expected
    await client.heartbeat("g", "T", sub={"expression": "price > 10", "expression_type": "SQL92"})
    for _ in range(2):
        assert bodies(await client.pull("T", **registered)) == [b"15"]
    sub = {"expression": "price < 10", "expression_type": "SQL92", "version": 2}
    await client.heartbeat("g", "T", sub=sub)
    assert bodies(await client.pull("T", **registered)) == [b"5"]

    assert len(checked) == 4


async def test_a_topic_that_is_no_longer_readable_is_refused_at_once(client, broker, checked):
    await client.send("T", b"x")
    for _ in range(2):
        await client.pull("T")
    topic = broker.broker.find_topic("T")

    broker.broker.put_topic(msgspec.structs.replace(topic, permissions=UNREADABLE))

    assert (await client.pull("T")).code == 16
    assert len(checked) == 2


async def test_a_topic_that_is_gone_is_unknown_at_once(client, broker):
    await client.send("T", b"x")
    for _ in range(2):
        await client.pull("T")

    broker.broker.remove_topic("T")

    assert (await client.pull("T")).code == 17


async def test_a_group_that_may_not_consume_is_refused_at_once(client):
    await client.send("T", b"x")
    for _ in range(2):
        await client.pull("T")

    body = json.dumps({"groupName": "g", "consumeEnable": False}).encode()
    await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)

    assert (await client.pull("T")).code == 16


async def test_a_push_consumer_pulls_by_its_newest_heartbeat(client, checked):
    for tag in ("A", "B"):
        await client.send("T", tag.encode(), properties={"TAGS": tag})
    await client.heartbeat("g", "T", sub={"expression": "A", "version": 1})
    for _ in range(2):
        assert bodies(await client.pull("T", sysFlag=0, subVersion=1)) == [b"A"]
    assert len(checked) == 1

    await client.heartbeat("g", "T", sub={"expression": "B", "version": 2})

    assert bodies(await client.pull("T", sysFlag=0, subVersion=1)) == [b"B"]


async def test_a_consumer_that_has_left_must_register_again(client):
    await client.send("T", b"x")
    await client.heartbeat("g", "T")
    for _ in range(2):
        await client.pull("T", sysFlag=0)

    fields = {"clientID": "c1", "consumerGroup": "g"}
    await client.call(RequestCode.UNREGISTER_CLIENT, fields)

    assert (await client.pull("T", sysFlag=0)).code == 24


async def test_a_group_whose_last_connection_is_gone_must_register_again(client, broker, connect):
    await client.send("T", b"x")
    consumer = await connect(broker)
    await consumer.heartbeat("g", "T")
    for _ in range(2):
        await client.pull("T", sysFlag=0)

    await consumer.close()
    await client.send("T", b"y")

    assert (await client.pull("T", sysFlag=0)).code == 24


async def test_what_pulls_commit_and_read_is_counted(client, broker, checked):
    for _ in range(2):
        await client.send("T", b"x")
    for committed in (0, 1, 2):
        flags = COMMIT | SUBSCRIPTION
        await client.pull("T", sysFlag=flags, commitOffset=committed)

        broker.broker.take_progress()
        assert broker.broker.offsets.find("g", "T", 0) == committed

    meters = broker.broker.meters
    assert len(checked) == 1
    assert (meters.pull_count, meters.messages_out, meters.pull_miss_count) == (3, 6, 0)


async def test_a_granted_pull_waits_and_is_woken_without_a_check(client, broker, connect, checked):
    await client.send("T", b"x")
    await client.pull("T", sysFlag=SUSPEND | SUBSCRIPTION)
    pull = client.start_pull("T", queueOffset=1, sysFlag=SUSPEND | SUBSCRIPTION)
    sender = await connect(broker)
    while not len(broker.broker.polling):
        await sender.send("U", b"elsewhere")

    await sender.send("T", b"y")

    assert bodies(await pull) == [b"y"]
    assert len(checked) == 1


async def test_only_a_heartbeat_that_changes_something_costs_a_check(client, checked):
    await client.send("T", b"x")
    checks = []

    for topics in (["T"], ["T"], ["T", "U"], ["T", "U"]):
        await client.heartbeat("g", *topics)
        await client.pull("T")
        checks.append(len(checked))

    assert checks == [1, 1, 2, 2]


async def test_the_fast_port_pulls_nothing_of_what_the_other_may(client, broker, connect):
    await client.send("T", b"x")
    for _ in range(2):
        await client.pull("T")
    fast = await connect(broker, is_fast=True)

    assert (await fast.pull("T")).code == 3


async def test_a_long_answer_needs_no_further_check(client, checked):
    for _ in range(32):
        await client.send("T", bytes(4 << 10))

    answers = [await client.pull("T", maxMsgNums=count) for count in (8, 8, 32, 32)]

    assert [len(bodies(answer)) for answer in answers] == [8, 8, 32, 32]
    assert len(checked) == 1


async def test_a_client_that_asks_for_much_at_once_is_answered_part_by_part(
    broker, client, checked
):
    for _ in range(32):
        await client.send("T", bytes(1 << 10))
    await client.pull("T")
    pulls = [client.start_pull("T") for _ in range(60)]

    answers = [await pull for pull in pulls]

    assert all(len(bodies(answer)) == 32 for answer in answers)
    assert len(checked) == 1
    _, turn_counts = broker.broker.hot.pull_times
    assert sum(turn_counts) >= 60 // 8, "a turn has a quarter of a megabyte"
