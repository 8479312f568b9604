"""One supervised process: started, watched, started again when it dies, stopped in order."""

import asyncio
import ctypes
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from backend.supervisor.errors import CannotStart

RESTART_DELAY_S_MIN = 0.2
RESTART_DELAY_S_MAX = 10.0
STEADY_AFTER_S = 20.0
"""A process that ran this long starts again without delay when it dies."""
LOG_BYTES_MAX = 64 << 20
"""A log larger than this at the start of its process becomes the one previous log kept."""
LOG_TAIL_LINES = 5

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class ProcessSpec:
    """What to run.

    Attributes:
        name: As shown to the user and in `cluster.json`.
        command: Program and arguments.
        environment: Added to the environment of the supervisor.
        log_path: Takes its output.
        stop_timeout_s: How long it may take to stop before it is killed.
    """

    name: str
    command: tuple[str, ...]
    log_path: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_timeout_s: float = 10.0


class SupervisedProcess:
    """A child process that is kept running until `stop`."""

    def __init__(self, spec: ProcessSpec, *, on_change: Callable[[], None]) -> None:
        """Prepare to run `spec`; `on_change` is called whenever the process id changes."""
        self.spec = spec
        self.restart_count = 0
        self._on_change = on_change
        self._child: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None
        self._is_stopping = False

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None while it is down."""
        return self._child.pid if self._child and self._child.returncode is None else None

    async def start(self) -> None:
        """Start the process and watch over it."""
        await self._spawn()
        self._watch = asyncio.create_task(self._keep_running(), name=f"watch {self.spec.name}")

    async def wait_until(
        self,
        is_ready: Callable[[], Awaitable[bool]],
        *,
        timeout_s: float,
    ) -> None:
        """Wait until `is_ready` answers true.

        Raises:
            CannotStart: the process died first, or the time was over.
        """
        deadline = time.monotonic() + timeout_s
        while not await is_ready():
            if self.restart_count:
                raise CannotStart(f"{self.spec.name} stopped while starting: {self._why()}")
            if time.monotonic() > deadline:
                raise CannotStart(
                    f"{self.spec.name} was not ready after {timeout_s:.0f} s: {self._why()}",
                )
            await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """Ask the process to stop, and kill it when its time is over."""
        self._is_stopping = True
        if self._watch:
            self._watch.cancel()
        child = self._child
        if child is None or child.returncode is not None:
            return
        child.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(child.wait(), self.spec.stop_timeout_s)
        except TimeoutError:
            child.kill()
            await child.wait()

    def kill(self) -> None:
        """End the process at once, and don't start it again."""
        self._is_stopping = True
        if self._child is not None and self._child.returncode is None:
            self._child.kill()

    async def _spawn(self) -> None:
        _rotate(self.spec.log_path)
        with self.spec.log_path.open("ab") as log:
            self._child = await asyncio.create_subprocess_exec(
                *self.spec.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **self.spec.environment},
                # Its own session: Ctrl-C reaches the supervisor alone, which stops in order.
                start_new_session=True,
                preexec_fn=_die_with_supervisor,
            )
        self._on_change()

    async def _keep_running(self) -> None:
        delay_s = RESTART_DELAY_S_MIN
        while not self._is_stopping:
            assert self._child is not None
            started = time.monotonic()
            code = await self._child.wait()
            if self._is_stopping:
                return
            self.restart_count += 1
            self._on_change()
            if time.monotonic() - started >= STEADY_AFTER_S:
                delay_s = RESTART_DELAY_S_MIN
            sys.stderr.write(
                f"{self.spec.name} {_describe_exit(code)}; starting it again"
                f" (log: {self.spec.log_path})\n",
            )
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, RESTART_DELAY_S_MAX)
            await self._spawn()

    def _why(self) -> str:
        text = self.spec.log_path.read_text(errors="replace") if self.spec.log_path.exists() else ""
        tail = " | ".join(line.strip() for line in text.splitlines()[-LOG_TAIL_LINES:])
        return f"{tail or 'it wrote nothing'} (log: {self.spec.log_path})"


def _describe_exit(code: int) -> str:
    return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"exited with {code}"


def _rotate(log_path: Path) -> None:
    if log_path.exists() and log_path.stat().st_size > LOG_BYTES_MAX:
        log_path.replace(log_path.with_suffix(log_path.suffix + ".1"))


def _die_with_supervisor() -> None:
    """Ask the kernel to end this child when the supervisor dies, however that happens."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
