"""The brokers that are compared: ours and stock's, started with the same settings.

A broker alone has no controller, and both brokers register with one name server of stock's. With
a replica, each system has its own controller, and sends wait for the replica.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import psutil

from backend.java_properties import format_properties_text
from backend.remoting.request_code import RequestCode
from tests.bench.failover.group import Group, GroupError
from tests.bench.failover.network import loopback
from tests.bench.failover.ours import ROOT, OurGroup, await_true, spawn
from tests.bench.failover.stock import StockGroup, await_listening
from tests.integration.broker.client import Client
from tests.interop.java import VERSIONS
from tests.interop.stock_broker import StockBroker, StockNameServer
from tests.ports import free_port

HOST, CLUSTER = "127.0.0.1", "bench"
OURS, STOCK, BEFORE = "ours", "stock", "before"
STOCK_VERSION = VERSIONS[0]
QUEUE_COUNT = 8
PAIR_PORTS = {OURS: 16_000, STOCK: 17_000, BEFORE: 18_000}
STOCK_JVM = ("-Xms2g", "-Xmx2g", "-Xmn1g", "-XX:MaxDirectMemorySize=2g")
"""As targets.md 4.1 wants them on a machine of two cores."""

STOP_TIMEOUT_S = 60.0
SEGMENT_BYTES = 1 << 30
"""The default of both systems."""

STOCK_STORE = {
    "mappedFileSizeConsumeQueue": 6_000_000,
    "timerWheelEnable": "true",
    "transactionMetricFlushInterval": 3_000,
    # Else a disk that is three quarters full refuses writes.
    "diskMaxUsedSpaceRatio": 95,
}
"""Stock's defaults, where the brokers of tests have others."""


@dataclass(frozen=True, slots=True)
class Setup:
    """How brokers run."""

    title: str
    flush: Literal["ASYNC_FLUSH", "SYNC_FLUSH"] = "ASYNC_FLUSH"
    is_replicated: bool = False

    @property
    def properties(self) -> dict[str, str]:
        """The settings that both systems get."""
        return {"flushDiskType": self.flush, "mappedFileSizeCommitLog": str(SEGMENT_BYTES)}


@dataclass(frozen=True, slots=True)
class System:
    """A master that serves clients."""

    label: str
    address: str
    broker: psutil.Process
    name_server: str
    stack: AsyncExitStack
    """Ends what rows start for the system."""

    topics: set[str] = field(default_factory=set)
    """The topics that the run has created."""

    def cpu_s(self) -> float:
        """Give the processor time of the master, in seconds."""
        times = self.broker.cpu_times()
        return times.user + times.system

    @asynccontextmanager
    async def client(self) -> AsyncIterator[Client]:
        """Connect as a tool does."""
        client = await Client.connect(int(self.address.rsplit(":", 1)[1]), host=HOST)
        try:
            yield client
        finally:
            await client.close()

    async def create_topic(self, name: str) -> None:
        """Create a topic of eight queues, unless the run has done so."""
        if name not in self.topics:
            async with self.client() as client:
                answer = await client.call(
                    RequestCode.UPDATE_AND_CREATE_TOPIC, topic_fields(name, QUEUE_COUNT)
                )
            if answer.code:
                raise GroupError(f"{self.label} does not create {name}: {answer.remark}")
            self.topics.add(name)


def topic_fields(name: str, queue_count: int) -> dict[str, object]:
    """Give the header fields of a request that creates a topic."""
    return {
        "topic": name,
        "defaultTopic": "TBW102",
        "readQueueNums": queue_count,
        "writeQueueNums": queue_count,
        "perm": 6,
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": 0,
        "order": "false",
    }


@asynccontextmanager
async def running(
    setup: Setup, directory: Path, *, before: Path | None
) -> AsyncIterator[list[System]]:
    """Run the systems of a set-up beside each other; `before` is a checkout of an older commit."""
    async with AsyncExitStack() as stack:
        roots = {OURS: ROOT} | ({BEFORE: before} if before else {})
        if setup.is_replicated:
            yield await _start_pairs(stack, setup, directory, roots)
        else:
            yield await _start_alone(stack, setup, directory, roots)


async def _start_alone(
    stack: AsyncExitStack, setup: Setup, directory: Path, roots: Mapping[str, Path]
) -> list[System]:
    name_server = StockNameServer(free_port(), directory / "names", jvm_options=STOCK_JVM)
    stack.push_async_callback(name_server.kill)
    await name_server.start()
    await await_listening((HOST, name_server.port))
    names = f"{HOST}:{name_server.port}"
    systems = [
        await _start_agent(stack, setup, directory / label, names, label=label, root=root)
        for label, root in roots.items()
    ]
    broker = StockBroker(
        free_port(),
        controller="",
        home=directory / STOCK,
        name_server=names,
        jvm_options=STOCK_JVM,
        properties={
            **STOCK_STORE,
            **setup.properties,
            "brokerClusterName": CLUSTER,
            "brokerName": STOCK,
            "brokerId": 0,
            "brokerRole": "ASYNC_MASTER",
            "enableControllerMode": "false",
        },
    )
    stack.push_async_callback(broker.kill)
    await broker.start()
    await await_listening((HOST, broker.port))
    return [*systems, System(STOCK, broker.address, psutil.Process(broker.pid), names, stack)]


async def _start_agent(
    stack: AsyncExitStack, setup: Setup, home: Path, names: str, *, label: str, root: Path
) -> System:
    port = free_port()
    await asyncio.to_thread(home.mkdir, parents=True)
    config, log_path = home / "broker.conf", home / "agent.log"
    config.write_text(
        format_properties_text(
            {
                "brokerClusterName": CLUSTER,
                "brokerName": label,
                "brokerId": "0",
                "brokerIP1": HOST,
                "listenPort": str(port),
                "namesrvAddr": names,
                "storePathRootDir": str(home / "store"),
                **setup.properties,
            }
        )
    )
    process = await spawn("-m", "workers.broker", "-c", str(config), log_path=log_path, root=root)

    async def stop() -> None:
        if process.returncode is None:
            process.terminate()
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()

    stack.push_async_callback(stop)

    def has_started() -> bool:
        if process.returncode is not None:
            raise GroupError(f"an agent ended: {log_path}")
        return "broker_started" in log_path.read_text()

    await await_true(has_started, "an agent")
    return System(label, f"{HOST}:{port}", psutil.Process(process.pid), names, stack)


async def _start_pairs(
    stack: AsyncExitStack, setup: Setup, directory: Path, roots: Mapping[str, Path]
) -> list[System]:
    places = loopback(2).places
    groups: dict[str, Group] = {
        label: OurGroup(
            directory / label,
            HOST,
            places,
            PAIR_PORTS[label],
            policy="quorum",
            properties=setup.properties,
            root=root,
        )
        for label, root in roots.items()
    }
    groups[STOCK] = StockGroup(
        directory / STOCK,
        HOST,
        places,
        PAIR_PORTS[STOCK],
        properties=STOCK_STORE | setup.properties,
        jvm_options=STOCK_JVM,
    )
    systems = []
    for label, group in groups.items():
        stack.push_async_callback(group.stop)
        await group.start()
        master = await group.await_whole()
        assert master.process is not None
        host, port = group.name_server
        process = psutil.Process(master.process.pid)
        systems.append(System(label, master.address, process, f"{host}:{port}", stack))
    return systems
