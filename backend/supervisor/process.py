"""One child process in its own session: started, awaited, stopped or killed."""

import asyncio
import ctypes
import os
import signal
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

LOG_BYTES_MAX = 64 << 20
"""A log above this size is moved aside at the start of its process; one old log is kept."""
LOG_TAIL_LINES = 5
LOG_TAIL_BYTES = 4096

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
        is_ready: Returns whether it is healthy; without a check, a started process is healthy.
        stop_timeout_s: How long it may take to stop before it is killed.
    """

    name: str
    command: tuple[str, ...]
    log_path: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    is_ready: Callable[[], Awaitable[bool]] | None = None
    stop_timeout_s: float = 10.0


class ChildProcess:
    """The process of a spec, one at a time."""

    def __init__(self, spec: ProcessSpec) -> None:
        """Prepare to run `spec`."""
        self.name, self.log_path, self.is_ready = spec.name, spec.log_path, spec.is_ready
        self._spec = spec
        self._child: asyncio.subprocess.Process | None = None

    @property
    def pid(self) -> int | None:
        """The id of the running process, or None while it is down."""
        return self._child.pid if self._child and self._child.returncode is None else None

    async def spawn(self) -> None:
        """Start the process.

        Raises:
            OSError: the system lacks resources, or the log can't be written.
        """
        spec = self._spec
        _rotate(spec.log_path)
        with spec.log_path.open("ab") as log:
            self._child = await asyncio.create_subprocess_exec(
                *spec.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **spec.environment},
                # In its own session, Ctrl-C reaches only the supervisor, which stops all parts in
                # order.
                start_new_session=True,
                preexec_fn=_die_with_supervisor,
            )

    async def ended(self) -> str:
        """Wait until the process has ended, and describe how."""
        assert self._child is not None, "it was started"
        code = await self._child.wait()
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        last_words = tail(self.log_path)[-1:]
        return ": ".join([f"exited with {code}", *last_words])

    async def terminate(self) -> None:
        """Ask the process to stop, and kill it after the timeout."""
        if self._child is None or self._child.returncode is not None:
            return
        self._child.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(self._spec.stop_timeout_s):
                await self._child.wait()
        except TimeoutError:
            self._child.kill()
            await self._child.wait()

    def kill(self) -> None:
        """End the process at once."""
        if self._child is not None and self._child.returncode is None:
            self._child.kill()


def tail(log_path: Path) -> list[str]:
    """Read the last lines of a log, which may be large."""
    if not log_path.exists():
        return []
    with log_path.open("rb") as log:
        log.seek(max(0, os.fstat(log.fileno()).st_size - LOG_TAIL_BYTES))
        text = log.read().decode(errors="replace")
    return [line.strip() for line in text.splitlines()[-LOG_TAIL_LINES:]]


def _rotate(log_path: Path) -> None:
    if log_path.exists() and log_path.stat().st_size > LOG_BYTES_MAX:
        log_path.replace(log_path.with_suffix(log_path.suffix + ".1"))


def _die_with_supervisor() -> None:
    """Have the kernel end this child when the supervisor dies, in any way."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
