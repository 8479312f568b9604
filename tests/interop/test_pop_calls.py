"""RocketMQ's own tests of POP, as the unmodified Java client shows them over the wire (O51).

All scenarios of one broker run side by side, since they mostly wait.
"""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
import pytest_asyncio

from tests.integration.broker.agent import Agent
from tests.interop.java import build
from tests.interop.lone_stock import LoneStock
from tests.interop.pop_calls import java_client
from tests.interop.pop_scenarios import SCENARIOS, Asked
from tests.long_form import few

pytestmark = [
    pytest.mark.interop,
    pytest.mark.timeout(300),
    pytest.mark.asyncio(loop_scope="module"),
]

BROKERS = few(["stock", "ours"], 1)
"""Ours, and in the long form stock's as well: it is what our broker is compared with."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=BROKERS)
async def runs(request, tmp_path_factory):
    """All scenarios, which have begun, at a broker, and at a second one of ours."""
    root = tmp_path_factory.mktemp(request.param)
    await asyncio.to_thread(build)
    async with AsyncExitStack() as stack:
        java = await stack.enter_async_context(java_client(root))
        begin = stock if request.param == "stock" else ours
        first = await stack.enter_async_context(begin(root / "first", java))
        second = await stack.enter_async_context(ours(root / "second", java, "broker-u"))
        tasks = {
            name: asyncio.create_task(scenario.run(first, second, name))
            for name, scenario in SCENARIOS.items()
        }
        yield tasks
        for task in tasks.values():
            task.cancel()
        await asyncio.gather(*tasks.values(), return_exceptions=True)


@asynccontextmanager
async def ours(root, java, name="broker-t"):
    root.mkdir()
    with Agent(root, is_forked=True) as agent:
        admin = await agent.start(brokerName=name)
        yield Asked(java, admin, f"127.0.0.1:{agent.port}", name)
        await admin.close()


@asynccontextmanager
async def stock(root, java):
    root.mkdir()
    lone = LoneStock(root)
    try:
        admin = await lone.start()
        yield Asked(java, admin, lone.broker.address, is_stock=True)
        await admin.close()
    finally:
        await lone.kill()


@pytest.mark.parametrize("name", SCENARIOS)
async def test_o51_the_java_client_sees_what_rocketmq_tests(runs, name):
    # O14, O52, O54, Q8, Q12.
    await runs[name]
