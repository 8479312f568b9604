import json
from contextlib import AsyncExitStack

import pytest

from backend.remoting.bodies import decode_left_out
from backend.remoting.request_code import RequestCode
from tests.integration.broker.name_server import RecordingNameServer
from tests.integration.broker.test_bad_input import create_fields
from tests.ports import free_port
from tests.waiting import PATIENCE_S, eventually

REGISTER = RequestCode.REGISTER_BROKER
HEARTBEAT = RequestCode.BROKER_HEARTBEAT


@pytest.fixture
async def name_servers():
    async with AsyncExitStack() as stack:

        async def start(port=0):
            server = RecordingNameServer()
            await server.start(port)
            stack.push_async_callback(server.stop)
            return server

        yield start


async def test_a_broker_registers_with_every_name_server_at_its_start(name_servers, start_broker):
    first, second = await name_servers(), await name_servers()

    broker = await start_broker(namesrvAddr=f"127.0.0.1:{first.port};127.0.0.1:{second.port}")

    for server in (first, second):
        await eventually(lambda server=server: server.of(HEARTBEAT))
        header = server.of(REGISTER)[0].ext
        table = server.tables()[0]
        assert header["brokerAddr"] == f"127.0.0.1:{broker.port}"
        assert header["haServerAddr"] == f"127.0.0.1:{broker.settings.ha_listen_port}"
        assert (header["clusterName"], header["brokerName"]) == ("TestCluster", "broker-t")
        assert (header["brokerId"], header["heartbeatTimeoutMillis"]) == ("0", "3000")
        assert len(table.topics) >= 2
        assert server.of(HEARTBEAT)[0].is_oneway
        assert server.of(HEARTBEAT)[0].ext["brokerName"] == "broker-t"


async def test_heartbeats_keep_coming_between_registrations(name_servers, start_broker):
    server = await name_servers()

    await start_broker(namesrvAddr=f"127.0.0.1:{server.port}", brokerHeartbeatInterval="50")

    await eventually(lambda: len(server.of(HEARTBEAT)) >= 5)
    assert len(server.of(REGISTER)) == 1


async def test_a_full_registration_is_repeated_on_its_period(name_servers, start_broker):
    server = await name_servers()

    await start_broker(namesrvAddr=f"127.0.0.1:{server.port}", registerNameServerPeriod="100")

    await eventually(lambda: len(server.of(REGISTER)) >= 3)


async def test_a_created_topic_is_registered_before_the_answer(name_servers, start_broker, connect):
    server = await name_servers()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")
    await eventually(lambda: server.of(REGISTER))
    client = await connect(broker)

    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"))

    before, after = server.tables()[0], server.tables()[-1]
    assert "T" in after.topics
    assert after.data_version != before.data_version
    assert after.data_version.counter > before.data_version.counter


async def test_a_topic_made_by_a_first_send_is_registered_at_once(
    name_servers, start_broker, connect
):
    server = await name_servers()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")
    client = await connect(broker)

    await client.send("T", b"x")
    await client.heartbeat("g", "T")

    await eventually(lambda: server.has_topics("T", "%RETRY%g"))


async def test_a_broker_comes_back_to_a_name_server_that_restarts(name_servers, start_broker):
    # No other process uses it while no server listens there.
    first = await name_servers(free_port())
    await start_broker(namesrvAddr=f"127.0.0.1:{first.port}")
    await eventually(lambda: first.of(REGISTER))
    await first.stop()

    second = await name_servers(first.port)

    await eventually(lambda: second.of(REGISTER) and second.of(HEARTBEAT))


async def test_a_refused_registration_is_tried_again(name_servers, start_broker):
    server = await name_servers()
    server.refuse_count = 1

    await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")

    await eventually(lambda: len(server.of(REGISTER)) >= 2 and server.of(HEARTBEAT))


async def test_a_clean_stop_unregisters(name_servers, start_broker):
    server = await name_servers()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")
    await eventually(lambda: server.of(HEARTBEAT))

    await broker.close()

    goodbye = server.of(RequestCode.UNREGISTER_BROKER)[0].ext
    assert goodbye == {
        "brokerName": "broker-t",
        "brokerAddr": f"127.0.0.1:{broker.port}",
        "clusterName": "TestCluster",
        "brokerId": "0",
    }


async def test_a_broker_serves_while_its_name_server_is_away(start_broker, connect, monkeypatch):
    monkeypatch.setattr("workers.broker.routing.name_servers.PUBLISH_TIMEOUT_S", 10 * PATIENCE_S)
    broker = await start_broker(namesrvAddr="127.0.0.1:1")
    client = await connect(broker)

    created = await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"))
    sent = await client.send("T", b"x")

    assert (created.code, sent.code) == (0, 0)


async def test_a_broker_reports_what_it_left_out_of_its_files(name_servers, start_broker, tmp_path):
    # Case A5.
    server = await name_servers()
    folder = tmp_path / "odd" / "config"
    folder.mkdir(parents=True)
    content = {"topicConfigTable": {"a b": {"topicName": "a b"}, "T": {"topicName": "T"}}}
    (folder / "topics.json").write_text(json.dumps(content))

    await start_broker(
        namesrvAddr=f"127.0.0.1:{server.port}", storePathRootDir=str(tmp_path / "odd")
    )
    await eventually(lambda: server.has_topics("T"))

    told = decode_left_out(server.of(REGISTER)[-1].ext["regentLeftOut"])
    assert [(one.kind, one.name) for one in told.items] == [("topic", "a b")]
    assert "a b" not in server.tables()[-1].topics


async def test_one_changed_topic_is_one_topic_on_the_wire(name_servers, start_broker, connect):
    # Case A11.
    server = await name_servers()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")
    await eventually(lambda: server.of(REGISTER))
    client = await connect(broker)
    for number in range(20):
        await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields(f"T{number}"))
    told = len(server.tables())

    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T3", readQueueNums=2))
    await client.call(RequestCode.DELETE_TOPIC_IN_BROKER, {"topic": "T4"})
    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T5", readQueueNums=2))

    # A removed topic is not registered: absence is no deletion.
    assert [list(table.topics) for table in server.tables()[told:]] == [["T3"], ["T5"]]
    counters = [table.data_version.counter for table in server.tables()]
    assert counters == sorted(set(counters))


async def test_many_changes_at_once_rise_from_version_to_version(
    name_servers, start_broker, connect
):
    # Case A11: a name server passes over what comes under a version that it knows.
    server = await name_servers()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")
    await eventually(lambda: server.of(REGISTER))
    client = await connect(broker)
    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("first"))

    codes = (RequestCode.UPDATE_AND_CREATE_TOPIC for _ in range(8))
    made = [client.start(code, create_fields(f"T{number}")) for number, code in enumerate(codes)]
    for one in made:
        assert (await one).code == 0

    counters = [table.data_version.counter for table in server.tables()]
    assert counters == sorted(set(counters))
    assert counters[-1] == broker.broker.topics.data_version.counter
    assert server.has_topics("first", *(f"T{number}" for number in range(8)))


async def test_a_name_server_that_forgot_the_broker_receives_all_topics(
    name_servers, start_broker, connect
):
    # Case A11: it refuses a registration of one topic of a broker that it does not know.
    server = await name_servers()
    broker = await start_broker(namesrvAddr=f"127.0.0.1:{server.port}")
    await eventually(lambda: server.of(REGISTER))
    client = await connect(broker)
    server.refuse_count = 1

    await client.call(RequestCode.UPDATE_AND_CREATE_TOPIC, create_fields("T"))

    await eventually(lambda: {"T", "TBW102"} <= server.tables()[-1].topics.keys())
