"""Give tests a broker server in this process, on ports of the system's choice."""

from asyncio import AbstractEventLoop
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
import uvloop

from tests.integration.broker.agent import Agent, write_config
from tests.integration.broker.client import Client
from workers.broker.configuration.config_file import ConfigFile
from workers.broker.configuration.settings import load_settings
from workers.broker.server import BrokerServer


def pytest_asyncio_loop_factories() -> Mapping[str, Callable[[], AbstractEventLoop]]:
    """Run agents on the loop that they have in production."""
    return {"uvloop": uvloop.new_event_loop}


StartBroker = Callable[..., Awaitable[BrokerServer]]
Connect = Callable[..., Awaitable[Client]]


@pytest.fixture
def agent(tmp_path: Path) -> Iterator[Agent]:
    with Agent(tmp_path, is_forked=True) as agent:
        yield agent
        if agent.is_alive():
            agent.stop()


@pytest.fixture
async def start_broker(tmp_path: Path) -> AsyncIterator[StartBroker]:
    async with AsyncExitStack() as stack:

        async def start(**properties: str) -> BrokerServer:
            path = write_config(tmp_path, **properties)
            loaded = load_settings(path)
            file = ConfigFile(path)
            server = BrokerServer(loaded.settings, given=loaded.given, config_file=file)
            stack.push_async_callback(server.close)
            await server.start()
            return server

        yield start


@pytest.fixture
async def broker(start_broker: StartBroker) -> BrokerServer:
    return await start_broker()


@pytest.fixture
async def connect() -> AsyncIterator[Connect]:
    async with AsyncExitStack() as stack:

        async def open_client(server: BrokerServer, *, is_fast: bool = False) -> Client:
            client = await Client.connect(server.fast_port if is_fast else server.port)
            stack.push_async_callback(client.close)
            return client

        yield open_client


@pytest.fixture
async def client(broker: BrokerServer, connect: Connect) -> Client:
    return await connect(broker)
