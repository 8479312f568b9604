"""An agent in a separate process, which can be killed and started again."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from backend.java_properties import format_properties_text
from tests.forking import BROKER, ForkedProcess, forking_process
from tests.integration.broker.client import Client
from tests.integration.broker.properties import broker_properties
from tests.waiting import PATIENCE_S, poll_s

ROOT = Path(__file__).parents[3]
LISTENING_AT = re.compile(r"address\W+[\d.]+:(\d+)")
"""Where a broker that may choose its ports says that it listens."""


@dataclass
class Agent:
    """One agent at a time, always with the same settings but for what a start changes."""

    root: Path
    settings: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int = 0
    program: str = "workers.broker"
    started_event: str = "broker_started"
    is_forked: bool = False
    """Whether its start needs no imports, and so less than a tenth of the processor time.

    A start with another environment needs them: the process that is forked is too old for it.
    """

    process: subprocess.Popen[bytes] | ForkedProcess | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        if self.process is not None and self.process.poll() is None:
            self.kill()

    async def start(self, **properties: str) -> Client:
        given = {"listenPort": "0", **self.settings, **properties}
        return await self.start_with(write_config(self.root, **given))

    async def start_with(self, path: Path) -> Client:
        """Start with a file as it is."""
        self.launch(path)
        (started,) = self.events(self.started_event)
        found = LISTENING_AT.search(started)
        assert found is not None, started
        self.port = int(found[1])
        return await Client.connect(self.port)

    def launch(self, path: Path) -> None:
        is_forked = self.is_forked and not self.environment
        self.process = self._forked(path) if is_forked else self._executed(path)
        begun_s = time.monotonic()
        while not self.events(self.started_event):
            assert self.is_alive(), "the agent ended: " + "".join(self.lines)
            assert time.monotonic() - begun_s < PATIENCE_S, "the agent does not start"
            time.sleep(poll_s(begun_s))

    def _executed(self, path: Path) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", self.program, "-c", str(path)]
        with self.log_path.open("wb") as log:
            environment = os.environ | self.environment
            return subprocess.Popen(command, cwd=ROOT, stderr=log, env=environment)

    def _forked(self, path: Path) -> ForkedProcess:
        # What it logged before is not taken for what it logs now.
        self.log_path.unlink(missing_ok=True)
        self.log_path.touch()
        return forking_process(BROKER).fork(["-c", str(path)], log_path=self.log_path)

    @property
    def log_path(self) -> Path:
        return self.root / "agent.log"

    @property
    def lines(self) -> list[str]:
        """What the agent has logged since its last start."""
        return self.log_path.read_text().splitlines(keepends=True)

    def events(self, name: str) -> list[str]:
        return [line for line in self.lines if name in line]

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self) -> None:
        """End the agent as an operator does; it must say that all went well."""
        assert self.end() == 0, "".join(self.lines)

    def end(self) -> int:
        """End the agent as an operator does and return its exit code."""
        assert self.process is not None
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=PATIENCE_S)

    def kill(self) -> None:
        assert self.process is not None
        self.process.kill()
        self.process.wait(timeout=PATIENCE_S)


def write_config(root: Path, **properties: str) -> Path:
    path = root / "broker.conf"
    path.write_text(format_properties_text(broker_properties(root, **properties)))
    return path
