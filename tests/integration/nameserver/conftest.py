"""A name server on a separate port, and a plain client of it."""

import asyncio
import itertools
import json
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import pytest
from regent_engine import Decoder, encode_command

from backend.clients.clock import SystemClock
from backend.nameserver.server import NameServer
from tests.integration.nameserver.broker_peer import PATIENT_MS
from tests.waiting import PATIENCE_S

TOPICS = {"orders": (4, 4, 6), "TBW102": (8, 8, 7)}


class Client:
    """Sends one request at a time and waits for its answer."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer
        self._decoder = Decoder(16 << 20)
        self._opaques = itertools.count(1)
        self._received = []

    async def send(self, code, ext=None, body=b"", *, oneway=False, version=513, **more):
        opaque = next(self._opaques)
        flag = 2 if oneway else 0
        self.writer.write(
            encode_command(
                code=code,
                opaque=opaque,
                flag=flag,
                version=version,
                ext=ext or {},
                body=body,
                **more,
            )
        )
        await self.writer.drain()
        return opaque

    async def ask(self, code, ext=None, body=b"", **more):
        opaque = await self.send(code, ext, body, **more)
        answer = await self.receive()
        assert answer.opaque == opaque
        assert answer.is_response
        return answer

    async def receive(self):
        async with asyncio.timeout(PATIENCE_S):
            while not self._received:
                data = await self.reader.read(1 << 16)
                assert data, "the server closed the connection"
                self._received.extend(self._decoder.receive(data))
        return self._received.pop(0)

    async def is_closed_by_peer(self):
        async with asyncio.timeout(PATIENCE_S):
            try:
                return await self.reader.read(1) == b""
            except ConnectionError:
                return True

    async def close(self):
        self.writer.close()
        # A peer that stopped reading may never see the end; the transport is gone all the same.
        with suppress(ConnectionError, TimeoutError):
            async with asyncio.timeout(1):
                await self.writer.wait_closed()

    async def register(self, *, topics=None, body=None, version=513, **changes):
        ext = register_ext(**changes)
        body = register_body(TOPICS if topics is None else topics) if body is None else body
        return await self.ask(103, ext, body, version=version)


def register_ext(**changes):
    values = {
        "clusterName": "main",
        "brokerName": "broker-a",
        "brokerAddr": "10.0.0.1:10911",
        "brokerId": "0",
        "haServerAddr": "10.0.0.1:10912",
        "heartbeatTimeoutMillis": str(PATIENT_MS),
    }
    return {key: value for key, value in (values | changes).items() if value is not None}


def register_body(topics, *, counter=1):
    table = {
        name: {
            "topicName": name,
            "readQueueNums": reads,
            "writeQueueNums": writes,
            "perm": permissions,
            "topicFilterType": "SINGLE_TAG",
            "topicSysFlag": 0,
            "order": False,
            "attributes": {},
        }
        for name, (reads, writes, permissions) in topics.items()
    }
    version = {"counter": counter, "stateVersion": 0, "timestamp": 1_000}
    wrapper = {"dataVersion": version, "topicConfigTable": table}
    return json.dumps({"filterServerList": [], "topicConfigSerializeWrapper": wrapper}).encode()


@pytest.fixture
async def name_server(database, redis):
    async with NameServer.serve(
        "127.0.0.1",
        0,
        database=database,
        redis=redis,
        clock=SystemClock(),
        silence_scan_interval_s=0.05,
    ) as server:
        yield server


@asynccontextmanager
async def connected(server):
    client = Client(*await asyncio.open_connection("127.0.0.1", server.port))
    try:
        yield client
    finally:
        await client.close()


@pytest.fixture
async def client(name_server):
    async with connected(name_server) as client:
        yield client


@pytest.fixture
async def second_client(name_server):
    async with connected(name_server) as client:
        yield client


@pytest.fixture
async def connect():
    """Give a way to connect to a server that the test itself started."""
    async with AsyncExitStack() as stack:

        async def connect_to(server):
            return await stack.enter_async_context(connected(server))

        yield connect_to


@pytest.fixture
def make_register_body():
    return register_body


@pytest.fixture
async def start_server(database, redis):
    """Give a way to start further processes of the control plane over the same stores."""
    async with AsyncExitStack() as stack:

        async def start(**changes):
            return await stack.enter_async_context(
                NameServer.serve(
                    "127.0.0.1", 0, database=database, redis=redis, clock=SystemClock(), **changes
                )
            )

        yield start
