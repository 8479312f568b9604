"""What a broker permits: routes follow it, and who still sends is served (as by stock)."""

import pytest

from backend.remoting.request_code import RequestCode
from tests.integration.broker.name_server import RecordingNameServer
from tests.integration.broker.test_bad_input import create_fields
from tests.waiting import eventually

UPDATE = RequestCode.UPDATE_BROKER_CONFIG
READ, BOTH = b"brokerPermission=4\n", b"brokerPermission=6\n"


@pytest.fixture
async def name_server():
    server = RecordingNameServer()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def broker(start_broker, name_server):
    return await start_broker(namesrvAddr=f"127.0.0.1:{name_server.port}")


def permissions_of(name_server, topic):
    # A later registration may name changed topics only.
    tables = (table.topics for table in reversed(name_server.tables()) if topic in table.topics)
    return next(tables)[topic].permissions


async def create(client, topic, **fields):
    answer = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields(topic, **fields))
    assert answer.code == 0, answer.remark


async def test_topics_are_registered_with_what_the_broker_permits(client, name_server):
    await create(client, "T")

    assert (await client.call(UPDATE, body=READ)).code == 0
    await eventually(lambda: permissions_of(name_server, "T") == 4)
    cordoned = name_server.tables()[-1].data_version
    assert (await client.call(UPDATE, body=BOTH)).code == 0
    await eventually(lambda: permissions_of(name_server, "T") == 6)

    assert name_server.tables()[-1].data_version.counter > cordoned.counter
    # The topics themselves are as they were: replicas and tools see those.
    told = await client.call(RequestCode.GET_TOPIC_CONFIG, {"topic": "T"})
    assert b'"perm":6' in told.body


async def test_who_still_sends_is_served_but_not_to_an_ordered_topic(client):
    await create(client, "T")
    await create(client, "O", order="true")
    before = [(await client.send(topic, b"x")).code for topic in ("T", "O")]

    await client.call(UPDATE, body=READ)
    cordoned = [(await client.send(topic, b"x")).code for topic in ("T", "O")]
    await client.call(UPDATE, body=BOTH)
    after = [(await client.send(topic, b"x")).code for topic in ("T", "O")]

    assert (before, cordoned, after) == ([0, 0], [0, 16], [0, 0])


async def test_a_cordoned_broker_is_read(client):
    await client.send("T", b"x")

    await client.call(UPDATE, body=READ)

    assert (await client.pull("T")).code == 0


async def test_a_broker_that_starts_cordoned_registers_so(start_broker, connect, name_server):
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{name_server.port}", brokerPermission="4")
    client = await connect(broker)

    await create(client, "T")

    await eventually(lambda: name_server.has_topics("T"))
    assert permissions_of(name_server, "T") == 4
    # Routes to a template that can't be written create no topic.
    assert permissions_of(name_server, "TBW102") == 4
