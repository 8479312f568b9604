"""A wall clock that is set ends nothing: ages are counted by another clock."""

import asyncio

import pytest

from backend.remoting import java_json
from backend.remoting.request_code import RequestCode
from tests.integration.broker.agent import write_config
from tests.integration.broker.hand_clock import HandClock
from tests.waiting import eventually
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import load_settings
from workers.broker.server import BrokerServer

STEP_MS = 600_000


@pytest.fixture
def clock():
    return HandClock()


@pytest.fixture
async def clocked(tmp_path, clock):
    path = write_config(tmp_path)
    loaded = load_settings(path)
    server = BrokerServer(
        loaded.settings, given=loaded.given, config_file=ConfigFile(path), clock=clock
    )
    await server.start()
    yield server
    await server.close()


async def lock(client, client_id):
    queue = {"topic": "T", "brokerName": "broker-t", "queueId": 0}
    body = {"clientId": client_id, "consumerGroup": "g", "mqSet": [queue]}
    told = await client.call(RequestCode.LOCK_BATCH_MQ, body=java_json.encode(body))
    return java_json.loads(told.body)["lockOKMQSet"]


@pytest.mark.parametrize("step_ms", [STEP_MS, -STEP_MS])
async def test_a_wall_clock_that_is_set_closes_no_client_and_frees_no_lock(
    clocked, connect, clock, step_ms
):
    # Case A9.
    holder, other = await connect(clocked), await connect(clocked)
    await holder.send("T", b"first", queue_id=0)
    await holder.heartbeat("g", "T", client_id="c1")
    await other.heartbeat("g", "T", client_id="c2")
    assert await lock(holder, "c1")
    held = holder.start_pull("T", queueId=0, queueOffset=1, sysFlag=2, suspendTimeoutMillis=20_000)
    await eventually(lambda: len(clocked.broker.polling) == 1)

    clock.ahead_ms = step_ms
    clocked.sweep()
    clocked.broker.polling.take_turns()
    await asyncio.sleep(0.3)

    assert not holder.closed.is_set()
    assert not other.closed.is_set()
    assert await lock(other, "c2") == []
    assert clocked.broker.locks.holds_any("g", clocked.broker.elapsed_ms())
    assert not held.done()
    await other.send("T", b"second", queue_id=0)
    assert (await held).code == 0
    # Stored data still has the wall clock's time, and reported values are relative to now.
    told = await other.call(RequestCode.GET_ALL_PRODUCER_INFO)
    [producer] = java_json.loads(told.body)["data"]["pg"][:1]
    assert abs(producer["lastUpdateTimestamp"] - clock()) < STEP_MS // 2
