import asyncio

import pytest
from structlog.testing import capture_logs

from backend.remoting.request_code import RequestCode
from tests.integration.broker.client import pull_fields, send_fields

SEND = RequestCode.SEND_MESSAGE_V2
CREATE = RequestCode.UPDATE_AND_CREATE_TOPIC


def create_fields(name, **fields):
    return {
        "topic": name,
        "defaultTopic": "TBW102",
        "readQueueNums": 4,
        "writeQueueNums": 4,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "order": "false",
    } | fields


BAD_NAMES = ["a/b", "..", "a\0b", "x" * 256, "x" * 128, "späte", "a b", " ", "a:b", "a\nb"]


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_a_bad_topic_name_is_refused_everywhere_and_nothing_is_written(client, broker, name):
    version = broker.broker.topics.data_version

    sent = await client.send(name, b"x")
    created = await client.call(CREATE, create_fields(name))

    assert (sent.code, created.code) == (29, 29)
    assert broker.store.max_position == 0
    # The pull creates its group, which is recorded in a moment.
    assert (await client.pull(name)).code == 17
    assert broker.broker.topics.data_version == version


@pytest.mark.parametrize("code", [999, 0, -7, 32_767, 1001, 105, 103])
async def test_an_unknown_request_is_not_supported(client, code):
    answer = await client.call(code, {"topic": "T"})

    assert (answer.code, answer.remark) == (3, f"request type {code} not supported")


@pytest.mark.parametrize(
    ("code", "fields", "missing"),
    [
        (SEND, send_fields("T"), "b"),
        (SEND, send_fields("T"), "e"),
        (SEND, send_fields("T"), "a"),
        (CREATE, create_fields("T"), "perm"),
        (CREATE, create_fields("T"), "topic"),
        (RequestCode.PULL_MESSAGE, pull_fields("T"), "queueOffset"),
        (RequestCode.PULL_MESSAGE, pull_fields("T"), "consumerGroup"),
        (RequestCode.GET_CONSUMER_LIST_BY_GROUP, {"consumerGroup": "g"}, "consumerGroup"),
        (RequestCode.GET_MAX_OFFSET, {"topic": "T", "queueId": 0}, "queueId"),
        (
            RequestCode.CONSUMER_SEND_MSG_BACK,
            {"offset": 0, "group": "g", "delayLevel": 0},
            "offset",
        ),
    ],
)
async def test_a_missing_field_is_named_and_nothing_is_written(
    client, broker, code, fields, missing
):
    long_names = {"a": "producerGroup", "b": "topic", "e": "queueId"}
    left = {name: value for name, value in fields.items() if name != missing}

    answer = await client.call(code, left, b"x")

    assert answer.code == 1
    assert long_names.get(missing, missing) in answer.remark
    assert broker.store.max_position == 0
    assert broker.broker.topics.find("T") is None


@pytest.mark.parametrize("value", ["many", "1.5", "99999999999", "0x1"])
async def test_a_malformed_number_is_named(client, value):
    answer = await client.call(SEND, send_fields("T") | {"e": value}, b"x")

    assert answer.code == 1
    assert "queueId" in answer.remark


@pytest.mark.parametrize(
    ("topic", "fields", "properties", "code"),
    [
        ("SCHEDULE_TOPIC_XXXX", {}, "", 16),
        ("rmq_sys_wheel_timer", {}, "", 16),
        ("RMQ_SYS_TRANS_HALF_TOPIC", {}, "", 16),
        ("SELF_TEST_TOPIC", {}, "", 16),
        ("New", {"c": "NoTemplate"}, "", 17),
        ("New", {"c": "SELF_TEST_TOPIC"}, "", 17),
        ("New", {"e": 4}, "", 29),
        ("New", {"e": 2**31 - 1}, "", 29),
        ("New", {}, "TIMER_DELAY_SEC\x01soon\x02", 13),
        ("New", {}, "TIMER_DELAY_SEC\x01259201\x02", 13),
        ("New", {}, "TIMER_DELIVER_MS\x0110\x02TIMER_DEL_UNIQKEY\x01New+K\x02", 13),
        ("New", {}, "K\x01" + "v" * 32_768 + "\x02", 13),
        ("New", {}, "INNER_NUM\x012\x02", 13),
        ("%RETRY%stranger", {}, "", 26),
    ],
)
async def test_a_send_that_may_not_be_is_refused_and_nothing_is_written(
    client, broker, topic, fields, properties, code
):
    version = broker.broker.topics.data_version
    header = send_fields(topic, properties=properties) | fields

    answer = await client.call(SEND, header, b"x")

    assert answer.code == code
    assert answer.remark
    assert broker.store.max_position == 0
    assert broker.broker.topics.data_version == version


async def test_a_message_without_a_body_is_illegal_on_both_paths(client, broker):
    cold = await client.send("T", b"")
    assert broker.broker.topics.find("T") is None
    await client.send("T", b"makes the topic")
    end = broker.store.max_position

    hot = await client.send("T", b"")

    assert [(answer.code, "no body" in answer.remark) for answer in (cold, hot)] == [(13, True)] * 2
    assert broker.store.max_position == end


async def test_a_body_above_the_limit_is_illegal_on_both_paths(start_broker, connect):
    server = await start_broker(maxMessageSize="1000")
    client = await connect(server)

    cold = await client.send("T", b"x" * 1001)
    assert server.broker.topics.find("T") is None
    await client.send("T", b"x" * 1000)
    hot = await client.send("T", b"x" * 1001)

    assert (cold.code, hot.code) == (13, 13)
    assert server.store.offsets("T", 0) == (0, 1)


CONSUMER = b'{"groupName":"g","subscriptionDataSet":[{"topic":"T",%s}]}'


@pytest.mark.parametrize(
    ("code", "body"),
    [
        (RequestCode.HEART_BEAT, b"{"),
        (RequestCode.HEART_BEAT, b"[]"),
        (RequestCode.HEART_BEAT, b"{}"),
        (RequestCode.HEART_BEAT, b"[" * 100_000),
        (RequestCode.HEART_BEAT, b'{"clientID":7,"consumerDataSet":"x"}'),
        (RequestCode.LOCK_BATCH_MQ, b"\xff\xfe"),
        (RequestCode.LOCK_BATCH_MQ, b"{}"),
        (RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, b"nonsense"),
    ],
)
async def test_a_body_that_is_not_what_it_should_be_is_an_error(client, code, body):
    answer = await client.call(code, body=body)

    assert answer.code == 1
    assert answer.remark
    assert "internal error" not in answer.remark


@pytest.mark.parametrize("odd", [b'"codeSet":[4294967296]', b'"subVersion":9223372036854775808'])
async def test_a_subscription_that_can_not_be_kept_takes_no_other_along(broker, client, odd):
    # Cases A3 to A5.
    other = b'{"groupName":"h","subscriptionDataSet":[{"topic":"U"}]}'
    body = b'{"clientID":"c","consumerDataSet":[%b,%b]}' % (CONSUMER % odd, other)

    answer = await client.call(RequestCode.HEART_BEAT, body=body)

    assert answer.code == 0
    assert "subscriptionDataSet/0" in answer.remark
    assert set(broker.broker.consumers.find("h").subscriptions) == {"U"}
    assert set(broker.broker.consumers.find("g").subscriptions) == set()


@pytest.mark.parametrize(
    "changes",
    [
        # Case A3.
        {"topicSysFlag": -1},
        {"topicSysFlag": -(2**31)},
        {"perm": 22},
        {"readQueueNums": 70_000},
        {"writeQueueNums": -1},
        {"topicFilterType": "NO_TAG"},
        # Case A13.
        {"attributes": "+message.type=WRONG"},
        {"attributes": "+no.such=1"},
        {"attributes": "-message.type"},
        {"attributes": "+message.type=FIFO,+message.type=NORMAL"},
        {"attributes": "+share.mode=ANY"},
        {"attributes": "+share.timeShare=yes"},
    ],
)
async def test_a_topic_that_no_broker_could_serve_is_refused(broker, client, changes):
    code = RequestCode.UPDATE_AND_CREATE_TOPIC

    answer = await client.call(code, create_fields("T", **changes))

    assert answer.code == 29
    assert broker.broker.topics.find("T") is None


@pytest.mark.parametrize(
    "member",
    [
        # Case A13.
        b'"attributes":{"+no.such":"1"}',
        b'"attributes":{"no.such":"1"}',
        b'"attributes":{"+priority.factor":"101"}',
        b'"attributes":{"-priority.factor":""}',
        b'"retryQueueNums":-1',
        b'"retryQueueNums":65536',
    ],
)
async def test_a_group_that_stock_would_refuse_is_refused(broker, client, member):
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP

    answer = await client.call(code, body=b'{"groupName":"g",' + member + b"}")

    assert answer.code == 29
    assert broker.broker.groups.find("g") is None


async def test_attributes_of_a_group_are_changes_as_stock_has_them(broker, client):
    # Case A13.
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP

    def reported():
        return broker.broker.groups.find("g").attributes

    await client.call(code, body=b'{"groupName":"g","attributes":{"+priority.factor":"5"}}')
    made = reported()
    await client.call(code, body=b'{"groupName":"g","retryMaxTimes":3}')
    kept = reported()
    await client.call(code, body=b'{"groupName":"g","attributes":{"-priority.factor":""}}')

    assert (made, kept, reported()) == ({"priority.factor": "5"}, {"priority.factor": "5"}, {})


async def test_a_bad_group_name_is_refused(client):
    bodies = [b'{"groupName":"%s"}' % name for name in (b"", b"a/b", b"x" * 121)]
    code = RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP

    answers = [await client.call(code, body=body) for body in bodies]

    assert [answer.code for answer in answers] == [29, 29, 29]


@pytest.mark.parametrize(
    "member",
    [
        b'"attributes":{"a":"\\ud800"}',
        b'"retryMaxTimes":99999999999',
        b'"groupRetryPolicy":{"type":18446744073709551616}',
        b'"groupRetryPolicy":{"a":' + b"[" * 90 + b"]" * 90 + b"}",
    ],
)
async def test_a_group_that_could_not_be_kept_is_refused(broker, client, member):
    body = b'{"groupName":"g",' + member + b"}"

    refused = await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)

    assert refused.code == 1
    assert "internal error" not in (refused.remark or "")
    assert broker.broker.groups.find("g") is None
    # Whatever else changes is saved as ever.
    kept = b'{"groupName":"other"}'
    made = await client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=kept)
    assert made.code == 0


@pytest.mark.parametrize(
    "garbage",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"\x7f\xff\xff\xff",
        b"\0\0\0\x05\0\xff\xff\xff\0",
        b"\0\0\0\0",
    ],
)
async def test_garbage_closes_its_connection_and_no_other(broker, connect, garbage):
    other, client = await connect(broker), await connect(broker)

    client.writer.write(garbage)

    await client.closed.wait()
    assert (await other.send("T", b"x")).code == 0


@pytest.mark.parametrize("is_fast", [False, True])
async def test_a_client_that_speaks_tls_is_named_in_the_log_once(broker, is_fast):
    # Case C10.
    port = broker.fast_port if is_fast else broker.port
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    with capture_logs() as logs:
        writer.write(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(500))
        rest = await reader.read()
        writer.close()

    assert rest == b""
    reported = [one["reason"] for one in logs if one["event"] == "client_broke_protocol"]
    assert len(reported) == 1
    assert "the peer speaks TLS" in reported[0]
    assert "369" not in reported[0]
