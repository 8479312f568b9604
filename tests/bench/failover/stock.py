"""Stock brokers under stock's controller, from Maven Central, with stock's defaults."""

import asyncio
import contextlib
from collections.abc import Mapping
from pathlib import Path

from tests.bench.failover.group import Address, Group, GroupError, Member
from tests.bench.failover.network import Place
from tests.bench.failover.ours import SEGMENT_BYTES, START_TIMEOUT_S
from tests.interop.stock_broker import StockBroker, StockNameServer

JVM_OPTIONS = ("-Xms1g", "-Xmx1g")
"""Both compilers and the default collector, as stock's own scripts have them (spec/stock.md)."""

POLL_S = 0.2
PROPERTIES = {
    "mappedFileSizeCommitLog": SEGMENT_BYTES,
    "mappedFileSizeConsumeQueue": 6_000_000,
    "timerWheelEnable": "true",
    "transactionMetricFlushInterval": 3_000,
    # Else a disk that is three quarters full refuses writes.
    "diskMaxUsedSpaceRatio": 95,
}


class StockGroup(Group):
    """The peer."""

    label = "stock 5.5.0"
    whole_timeout_s = 400.0

    def __init__(
        self,
        directory: Path,
        host: str,
        places: tuple[Place, ...],
        port: int,
        *,
        properties: Mapping[str, object] = PROPERTIES,
        jvm_options: tuple[str, ...] = JVM_OPTIONS,
    ) -> None:
        """Use the brokers' settings, and the options of every Java process."""
        super().__init__(directory, host, places, port)
        self._properties, self._jvm_options = properties, jvm_options
        self._server = StockNameServer(
            port, directory / "name-server", host=host, jvm_options=jvm_options
        )
        self._brokers: dict[int, StockBroker] = {}

    @property
    def name_server(self) -> Address:
        return self.host, self._server.port

    @property
    def controller(self) -> Address:
        return self.host, self._server.controller_port

    async def start_servers(self) -> None:
        await self._server.start()
        for address in (self.name_server, self.controller):
            await await_listening(address)

    async def stop_servers(self) -> None:
        await self._server.kill()

    async def launch(self, member: Member) -> None:
        broker = self._brokers[member.port] = StockBroker(
            member.port,
            f"{self.host}:{self._server.controller_port}",
            member.home,
            host=member.place.host,
            name_server=f"{self.host}:{self._server.port}",
            launcher=member.place.launcher,
            jvm_options=self._jvm_options,
            properties=self._properties,
        )
        await broker.start()
        member.process = broker.process
        await await_listening((member.place.host, member.port))

    def broker_id(self, member: Member) -> int:
        return self._brokers[member.port].identity


async def await_listening(address: Address) -> None:
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            while True:
                if await is_listening(address):
                    return
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise GroupError(f"nobody listens at {address[0]}:{address[1]}") from error


async def is_listening(address: Address) -> bool:
    with contextlib.suppress(OSError):
        _, writer = await asyncio.open_connection(*address)
        writer.close()
        return True
    return False
