"""Stock brokers in controller mode, each in a separate process, and the stock tools in one."""

import asyncio
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.interop.java import BROKER, OPENED_PACKAGES, Program, class_path, jvm_options

TOOL_TIMEOUT_S = 120.0
TOOL_ATTEMPTS = 3
"""A tool waits 3 s for an answer, in which its classes are loaded; a busy machine takes longer."""

CONTROLLER_PACKAGES = ("--add-opens=java.base/java.lang=ALL-UNNAMED",)


@dataclass
class StockNameServer:
    """A name server with the controller in it, in a separate directory."""

    port: int
    home: Path
    host: str = "127.0.0.1"
    jvm_options: tuple[str, ...] = jvm_options(BROKER)
    process: asyncio.subprocess.Process | None = field(default=None)

    @property
    def controller_port(self) -> int:
        return self.port + 2

    async def start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        values = {
            "listenPort": self.port,
            "bindAddress": self.host,
            "enableControllerInNamesrv": "true",
            "controllerDLegerGroup": "g1",
            "controllerDLegerPeers": f"n0-{self.host}:{self.controller_port}",
            "controllerDLegerSelfId": "n0",
            "controllerStorePath": self.home / "controller",
        }
        self.process = await start_java(
            self.home,
            "org.apache.rocketmq.namesrv.NamesrvStartup",
            values,
            options=(*self.jvm_options, *CONTROLLER_PACKAGES),
        )

    async def kill(self) -> None:
        await _kill(self.process)


WAITING_KINDS: Final = ("Send", "Pull", "LitePull", "Heartbeat", "Transaction", "Ack")
"""The requests that a stock broker keeps in a queue each."""


@dataclass
class StockBroker:
    """One broker of the group g in the cluster c, in a separate directory."""

    port: int
    controller: str
    home: Path
    process: asyncio.subprocess.Process | None = field(default=None)
    host: str = "127.0.0.1"
    name_server: str | None = None
    """Where it is not the controller."""

    launcher: tuple[str, ...] = ()
    jvm_options: tuple[str, ...] = jvm_options(BROKER)
    properties: Mapping[str, object] = field(default_factory=dict)
    """What differs from the test's own choice."""

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    @property
    def identity(self) -> int:
        """The id in the broker's own file, which it keeps for life."""
        return int((self.home / "store" / "brokerIdentity").read_text().strip().split("#")[2])

    @property
    def log_folder(self) -> Path:
        return self.home / "store" / "commitlog"

    async def start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        self.process = await start_java(
            self.home,
            "org.apache.rocketmq.broker.BrokerStartup",
            {**self._properties(), **self.properties},
            # Of two values for one option, a JVM takes the last.
            options=("-XX:MaxDirectMemorySize=256m", *self.jvm_options),
            launcher=self.launcher,
        )

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def signal(self, number: int) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    async def kill(self) -> None:
        await _kill(self.process)

    def log(self, name: str = "broker") -> str:
        path = self.home / "logs" / "rocketmqlogs" / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _properties(self) -> dict[str, object]:
        store = self.home / "store"
        return {
            "brokerClusterName": "c",
            "brokerName": "g",
            "brokerIP1": self.host,
            "brokerIP2": self.host,
            "listenPort": self.port,
            "haListenPort": self.port + 1,
            "namesrvAddr": self.name_server or self.controller,
            "enableControllerMode": "true",
            "controllerAddr": self.controller,
            "allAckInSyncStateSet": "true",
            "storePathRootDir": store,
            "storePathCommitLog": self.log_folder,
            "storePathEpochFile": store / "epochFileCheckpoint",
            "storePathBrokerIdentity": store / "brokerIdentity",
            "mappedFileSizeCommitLog": 10 << 20,
            "mappedFileSizeConsumeQueue": 60_000,
            "timerWheelEnable": "false",
            # In milliseconds. The thread for these figures spins after a broker's start, until the
            # first interval has passed: with the default of 3 s, it takes 3 s of a core.
            "transactionMetricFlushInterval": 200,
            # A replica reports for the first time when its heartbeat is due.
            "haSendHeartbeatInterval": 1_000,
            # It learns where its master replicates from what name servers answer.
            "registerNameServerPeriod": 10_000,
            # It refuses what waits longer for a thread, by default 0.2 s: a busy machine is slower.
            **{f"waitTimeMillsIn{kind}Queue": 60_000 for kind in WAITING_KINDS},
        }


async def start_java(
    home: Path,
    main_class: str,
    properties: Mapping[str, object],
    *,
    options: tuple[str, ...],
    launcher: tuple[str, ...] = (),
) -> asyncio.subprocess.Process:
    """Start a process of stock's that reads its settings from a file and logs below its home."""
    configuration = home / "stock.conf"
    configuration.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
    with (home / "output").open("ab") as output:
        return await asyncio.create_subprocess_exec(
            *(*launcher, "java", *options, *OPENED_PACKAGES, f"-Duser.home={home}"),
            *("-cp", class_path(BROKER), main_class, "-c", str(configuration)),
            env={**os.environ, "ROCKETMQ_HOME": str(home)},
            stdout=output,
            stderr=output,
            # Ctrl-C is for the parent, which ends it in order.
            start_new_session=True,
        )


async def _kill(process: asyncio.subprocess.Process | None) -> None:
    if process is not None and process.returncode is None:
        process.kill()
        await process.wait()


_programs: Final[dict[str, Program]] = {}


def _tools(home: Path) -> Program:
    """Give the stock tools, in one process for all; the first home takes its logs."""
    command = [
        *("java", *jvm_options(BROKER), f"-Duser.home={home}", "-cp", class_path(BROKER)),
        "regent.interop.Tools",
    ]
    return _programs.setdefault(BROKER, Program(command, {"ROCKETMQ_HOME": str(home)}))


async def run_tool(home: Path, *arguments: str) -> str:
    """Run one command of mqadmin and return what it printed."""
    tools, output = _tools(home), ""
    for _ in range(TOOL_ATTEMPTS):
        try:
            async with asyncio.timeout(TOOL_TIMEOUT_S):
                printed = await asyncio.to_thread(tools.run, arguments)
        except TimeoutError:
            tools.kill()
            raise
        output = "".join(f"{line}\n" for line in printed.splitlines() if "|-" not in line)
        if "RemotingTimeoutException" not in output:
            break
    return output


def facts(output: str) -> dict[str, str]:
    """Read the lines of a tool that begin with a hash and a name."""
    return dict(re.findall(r"^#(\w+)[:\t ]+(\S+)\s*$", output, re.MULTILINE))


def members(output: str, kind: str) -> set[tuple[int, str]]:
    """Read the replicas that getSyncStateSet lists, with whether each is alive."""
    found = re.findall(rf"^{kind}:.*brokerId=(\d+),.*alive=(\w+)", output, re.MULTILINE)
    return {(int(broker_id), alive) for broker_id, alive in found}
