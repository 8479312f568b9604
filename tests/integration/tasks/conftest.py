"""Brokers that speak real remoting, a clock that is set, and rows of registered brokers."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from backend.db.brokers import BrokerRegistration
from backend.domain.broker import DataVersion
from backend.remoting.command import answer
from backend.remoting.connection import PeerConnection
from backend.remoting.request_code import RequestCode
from backend.remoting.response_code import ResponseCode
from backend.remoting.sample import BrokerSample, QueueSample, TopicSample
from backend.services.controller.registrations import RegisterBroker, register_broker

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


class SetClock:
    """Stand still until moved."""

    def __init__(self, now: datetime = NOON) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def now_ms(self) -> int:
        return int(self._now.timestamp() * 1000)

    def advance(self, **duration: float) -> None:
        self._now += timedelta(**duration)


def broker_sample(**values) -> BrokerSample:
    whole = {
        "observed_at_ms": int(NOON.timestamp() * 1000),
        "booted_at_ms": int(NOON.timestamp() * 1000) - 60_000,
        "cluster_name": "east",
        "broker_name": "broker-a",
        "broker_id": 0,
        "own_id": 2,
        "messages_in": 100,
        "bytes_in": 10_000,
        "messages_out": 50,
        "bytes_out": 5_000,
        "commit_log_min_position": 0,
        "commit_log_max_position": 10_000,
        "flushed_position": 10_000,
        "store_bytes": 10_000,
        "disk_total_bytes": 1_000_000,
        "disk_free_bytes": 500_000,
        "resident_bytes": 1_000,
        "cpu_seconds": 1.5,
        "topics": [
            TopicSample(
                name="orders",
                messages_in=100,
                bytes_in=10_000,
                queues=[QueueSample(queue_id=0, min_offset=0, max_offset=100)],
            )
        ],
    }
    return BrokerSample(**{**whole, **values})


class FakeBroker:
    """Answer requests for a sample over a real socket, as an agent does."""

    def __init__(self) -> None:
        self.sample: BrokerSample | None = broker_sample()
        self.connection_count = 0
        self.request_count = 0
        self.is_mute = False
        self.garbage: bytes | None = None
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()

    async def start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)

    @property
    def address(self) -> str:
        assert self._server is not None
        return f"127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    async def stop(self) -> None:
        assert self._server is not None
        self._server.close()
        self.drop_connections()
        await self._server.wait_closed()

    def drop_connections(self) -> None:
        for writer in self._writers:
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connection_count += 1
        self._writers.add(writer)
        connection: PeerConnection = PeerConnection()
        try:
            while data := await reader.read(65_536):
                connection.receive_data(data)
                for command in connection.commands():
                    self.request_count += 1
                    if self.garbage is not None:
                        writer.write(self.garbage)
                    elif not self.is_mute:
                        writer.write(self._answer(command))
        except OSError:
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    def _answer(self, command) -> bytes:
        if command.code != RequestCode.GET_BROKER_SAMPLE or self.sample is None:
            code = ResponseCode.REQUEST_CODE_NOT_SUPPORTED
            return answer(command, code=code, remark=f"request type {command.code} not supported")
        return answer(command, body=msgspec.json.encode(self.sample))


@pytest.fixture
async def broker() -> AsyncIterator[FakeBroker]:
    fake = FakeBroker()
    await fake.start()
    yield fake
    await fake.stop()


@pytest.fixture
def clock() -> SetClock:
    return SetClock()


async def is_watched(redis, channel: str) -> bool:
    """Return whether a channel has a subscriber."""
    [(_, count)] = await redis.pubsub_numsub(channel)
    return count > 0


async def register(database, clock, address, **values) -> None:
    """Register a broker as the name server does."""
    names = {"cluster_name": "east", "broker_group_name": "broker-a", "broker_id": 0, **values}
    await register_broker(
        RegisterBroker(
            cluster_name=names["cluster_name"],
            broker_group_name=names["broker_group_name"],
            broker=BrokerRegistration(
                broker_id=names["broker_id"],
                address=address,
                ha_address=None,
                heartbeat_timeout_ms=10_000,
                data_version=DataVersion(),
            ),
            topics=values.get("topics", {}),
        ),
        database=database,
        clock=clock,
    )
