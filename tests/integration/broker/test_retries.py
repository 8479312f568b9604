import pytest
from regent_engine import parse_offset_message_id

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import messages

SUSPEND_AND_SUBSCRIPTION = 6


async def test_a_message_sent_back_returns_through_the_retry_topic(client):
    await client.heartbeat("g", "T")
    position = await stored_position(client, b"fails", properties={"TAGS": "A"})

    back = await send_back(client, position)

    pulled = await client.pull("%RETRY%g", sysFlag=SUSPEND_AND_SUBSCRIPTION)
    record = messages(pulled)[0]
    assert back.code == 0
    assert (record.body, record.topic, record.reconsume_times) == (b"fails", "%RETRY%g", 1)
    assert record.properties["RETRY_TOPIC"] == "T"
    assert parse_offset_message_id(record.properties["ORIGIN_MESSAGE_ID"])[2] == position
    assert record.properties["DELAY"] == "3"
    assert record.properties["TAGS"] == "A"


async def test_a_second_failure_keeps_the_first_origin(client):
    await client.heartbeat("g", "T")
    position = await stored_position(client, b"fails")
    await send_back(client, position)
    first = messages(await client.pull("%RETRY%g", sysFlag=SUSPEND_AND_SUBSCRIPTION))[0]

    await send_back(client, first.log_position)

    pulled = await client.pull("%RETRY%g", queueOffset=1, sysFlag=SUSPEND_AND_SUBSCRIPTION)
    second = messages(pulled)[0]
    assert second.reconsume_times == 2
    assert second.properties["ORIGIN_MESSAGE_ID"] == first.properties["ORIGIN_MESSAGE_ID"]
    assert second.properties["DELAY"] == "4"


@pytest.mark.parametrize(("level", "limit"), [(-1, 16), (0, 0)])
async def test_a_message_given_up_becomes_a_dead_letter(client, level, limit):
    await client.heartbeat("g", "T")
    position = await stored_position(client, b"hopeless")

    back = await send_back(client, position, delayLevel=level, maxReconsumeTimes=limit)

    record = messages(await client.pull("%DLQ%g"))[0]
    assert back.code == 0
    assert (record.body, record.queue_id, record.properties["DELAY"]) == (b"hopeless", 0, "0")


async def test_a_message_that_says_it_came_back_as_often_as_can_be_said_is_given_up(client):
    await client.heartbeat("g", "T")
    position = await stored_position(client, b"x", j=2**31 - 1)

    back = await send_back(client, position)

    record = messages(await client.pull("%DLQ%g"))[0]
    assert (back.code, record.body, record.reconsume_times) == (0, b"x", 2**31 - 1)


@pytest.mark.parametrize("times", [-3, -(2**31)])
async def test_a_message_that_says_it_came_back_less_than_never_comes_back(client, times):
    await client.heartbeat("g", "T")
    position = await stored_position(client, b"x", j=times)

    back = await send_back(client, position)

    pulled = await client.pull("%RETRY%g", sysFlag=SUSPEND_AND_SUBSCRIPTION)
    record = messages(pulled)[0]
    assert (back.code, record.body, record.reconsume_times) == (0, b"x", times + 1)
    assert record.properties["DELAY"] == "1"


async def test_a_client_may_resend_to_the_retry_topic_itself(client):
    await client.heartbeat("g", "T")
    properties = {"RETRY_TOPIC": "T", "DELAY": "3", "UNIQ_KEY": "K"}

    sent = await client.send("%RETRY%g", b"again", properties=properties, j=1, l=16)

    pulled = await client.pull("%RETRY%g", sysFlag=SUSPEND_AND_SUBSCRIPTION)
    assert sent.code == 0
    assert messages(pulled)[0].reconsume_times == 1
    assert messages(pulled)[0].properties["RETRY_TOPIC"] == "T"


async def test_a_resend_beyond_the_limit_becomes_a_dead_letter(client):
    await client.heartbeat("g", "T")

    await client.send("%RETRY%g", b"x", properties={"DELAY": "3"}, j=3, l=2)

    assert messages(await client.pull("%DLQ%g"))[0].properties["DELAY"] == "-1"


async def test_a_resend_of_an_orderly_group_becomes_a_dead_letter(client):
    await client.heartbeat("g", "T")
    lock = b'{"clientId":"c","consumerGroup":"g","mqSet":[{"topic":"T","queueId":0}]}'
    await client.call(RequestCode.LOCK_BATCH_MQ, body=lock)

    await client.send("%RETRY%g", b"x", properties={"DELAY": "3"}, j=1)

    assert messages(await client.pull("%DLQ%g"))[0].body == b"x"


async def test_sending_back_what_is_not_there_is_an_error(client):
    await client.heartbeat("g", "T")
    position = await stored_position(client, b"x")

    answers = [await send_back(client, wrong) for wrong in (position + 1, 10**12, -5)]
    stranger = await send_back(client, position, group="stranger")

    assert [answer.code for answer in answers] == [1, 1, 1]
    assert stranger.code == 26


async def stored_position(client, body, properties=None, **fields):
    sent = await client.send("T", body, properties=properties, **fields)
    return parse_offset_message_id(sent.ext["msgId"])[2]


async def send_back(client, position, **fields):
    header = {"offset": position, "group": "g", "delayLevel": 0, "originTopic": "T"} | fields
    return await client.call(RequestCode.CONSUMER_SEND_MSG_BACK, header)
