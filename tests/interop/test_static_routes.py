"""What stock clients and mqadmin see of a static topic that two brokers have registered."""

import asyncio
from pathlib import Path

import pytest

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from backend.remoting import java_json
from tests.integration.nameserver.conftest import connected
from tests.integration.nameserver.static_broker import body_of, mapping
from tests.interop.java import build, class_path, jvm_options
from tests.interop.stock_broker import run_tool

pytestmark = [pytest.mark.interop, pytest.mark.timeout(600)]

SOURCE = Path(__file__).with_name("static_routes") / "Queues.java"
STATIC = [f"T __syslo__global__ {number}" for number in range(4)]
TOOL_TIMEOUT_S = 120
PROXIED = {"lq.legacy": "proxy"}


@pytest.fixture
async def name_server(database, redis):
    await asyncio.to_thread(build)
    serving = NameServer.serve("127.0.0.1", 0, database=database, redis=redis, clock=SystemClock())
    async with serving as server, connected(server) as brokers:
        await announce(brokers)
        yield server, brokers


async def announce(brokers, **more):
    """Register b1, which leads 0 and 3, and b2, which leads 1 and 2."""
    for at, led in enumerate([(0, 3), (1, 2)], 1):
        body = body_of(mapping(f"b{at}", 1_760_000_001_000, 4, *led), **more)
        answer = await brokers.register(
            body=body, brokerName=f"b{at}", brokerAddr=f"127.0.0.1:{at}"
        )
        assert answer.code == 0


async def queues(version, server, home):
    """Return the queues of T and of an ordinary topic as a producer of a version sees them."""
    module = f"client-{version}"
    process = await asyncio.create_subprocess_exec(
        *("java", *jvm_options(module), f"-Duser.home={home}", "-cp", class_path(module)),
        *(str(SOURCE), server.address, "TBW102", "T"),
        stdout=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(TOOL_TIMEOUT_S):
        printed, _ = await process.communicate()
    lines = [line for line in printed.decode().splitlines() if line.startswith("queue ")]
    found = [line.removeprefix("queue ") for line in lines]
    assert sum(line.startswith("TBW102 ") for line in found) == 16
    return [line for line in found if line.startswith("T ")]


async def test_a_client_of_version_5_sees_the_logical_queues(name_server, tmp_path):  # L59
    server, _ = name_server

    assert await queues("5.5.0", server, tmp_path) == STATIC


async def test_a_client_of_version_4_sees_none_or_all_on_one_broker(name_server, tmp_path):
    # L57 L58
    server, brokers = name_server

    hidden = await queues("4.9.8", server, tmp_path)
    await announce(brokers, attributes=PROXIED, counter=2)
    shown = await queues("4.9.8", server, tmp_path)

    assert hidden == ["T none"]
    (front,) = {line.split()[1] for line in shown}
    assert shown == [f"T {front} {number}" for number in range(4)]
    assert await queues("5.5.0", server, tmp_path) == STATIC


async def test_mqadmin_shows_the_mapping_of_each_broker_group(name_server, tmp_path):
    server, _ = name_server

    printed = await run_tool(tmp_path, "topicRoute", "-n", server.address, "-t", "T")

    route = java_json.loads(printed[printed.index("{") :].encode())
    found = {
        name: {int(key): one for key, one in info["currIdMap"].items()}
        for name, info in route["topicQueueMappingByBroker"].items()
    }
    assert found == {"b1": {0: 0, 3: 1}, "b2": {1: 0, 2: 1}}


async def test_mqadmin_finds_the_brokers_for_its_changes(name_server, tmp_path):
    """Both commands ask for the cluster, and fail here since no broker listens."""
    server, _ = name_server

    for command, more in (("updateStaticTopic", ("-qn", "8")), ("remappingStaticTopic", ())):
        printed = await run_tool(
            tmp_path, command, "-n", server.address, "-t", "T", "-c", "main", *more
        )
        assert "connect to 127.0.0.1:1 failed" in printed or "127.0.0.1:2 failed" in printed
