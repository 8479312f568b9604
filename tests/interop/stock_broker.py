"""Stock brokers in controller mode, and the stock tools, each in a process of its own."""

import asyncio
import os
import re
from dataclasses import dataclass, field
from pathlib import Path

from tests.interop.client import JVM_OPTIONS, PROJECT
from tests.interop.stock_store import OPENED_PACKAGES

BUILD = PROJECT / "target" / "broker-5.5.0"
TOOL_TIMEOUT_S = 120.0
TOOL_ATTEMPTS = 3
"""The tools wait 3 s for an answer, their own start included, which a busy machine exceeds."""


@dataclass
class StockBroker:
    """One broker of the group g in the cluster c, in a directory of its own."""

    port: int
    controller: str
    home: Path
    process: asyncio.subprocess.Process | None = field(default=None)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def identity(self) -> int:
        """The id in the broker's own file, which it keeps for life."""
        return int((self.home / "store" / "brokerIdentity").read_text().strip().split("#")[2])

    async def start(self) -> None:
        self.home.mkdir(parents=True, exist_ok=True)
        configuration = self.home / "broker.conf"
        configuration.write_text(self._properties())
        with (self.home / "output").open("ab") as output:
            self.process = await asyncio.create_subprocess_exec(
                *("java", *JVM_OPTIONS, *OPENED_PACKAGES, "-XX:MaxDirectMemorySize=256m"),
                *(f"-Duser.home={self.home}", "-cp", f"{BUILD / 'lib'}/*"),
                *("org.apache.rocketmq.broker.BrokerStartup", "-c", str(configuration)),
                env={**os.environ, "ROCKETMQ_HOME": str(self.home)},
                stdout=output,
                stderr=output,
            )

    async def kill(self) -> None:
        if self.process is not None and self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    def log(self) -> str:
        path = self.home / "logs" / "rocketmqlogs" / "broker.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def _properties(self) -> str:
        store = self.home / "store"
        values = {
            "brokerClusterName": "c",
            "brokerName": "g",
            "brokerIP1": "127.0.0.1",
            "listenPort": self.port,
            "haListenPort": self.port + 1,
            "namesrvAddr": self.controller,
            "enableControllerMode": "true",
            "controllerAddr": self.controller,
            "allAckInSyncStateSet": "true",
            "storePathRootDir": store,
            "storePathCommitLog": store / "commitlog",
            "storePathEpochFile": store / "epochFileCheckpoint",
            "storePathBrokerIdentity": store / "brokerIdentity",
            "mappedFileSizeCommitLog": 10 << 20,
            "mappedFileSizeConsumeQueue": 60_000,
            "timerWheelEnable": "false",
        }
        return "".join(f"{name}={value}\n" for name, value in values.items())


async def run_tool(home: Path, *arguments: str) -> str:
    """Run one command of mqadmin and return what it printed."""
    output = ""
    for _ in range(TOOL_ATTEMPTS):
        process = await asyncio.create_subprocess_exec(
            *("java", *JVM_OPTIONS, f"-Duser.home={home}", "-cp", f"{BUILD / 'lib'}/*"),
            *("org.apache.rocketmq.tools.command.MQAdminStartup", *arguments),
            env={**os.environ, "ROCKETMQ_HOME": str(home)},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        async with asyncio.timeout(TOOL_TIMEOUT_S):
            printed, _ = await process.communicate()
        output = "".join(f"{line}\n" for line in printed.decode().splitlines() if "|-" not in line)
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
