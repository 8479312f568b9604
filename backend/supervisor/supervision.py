"""Keep one part of the cluster running: restart it after its end, and inform the user.

This applies to every part: databases, control plane, worker, scheduler and brokers.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Protocol

from backend.supervisor.backoff import Backoff
from backend.supervisor.errors import CannotStart
from backend.supervisor.process import tail

CHECK_S = 0.1
SHOWN_DELAY_MIN_S = 1.0

Condition = Callable[[], Awaitable[bool]]


class Part(Protocol):
    """A part that runs, and may end."""

    name: str
    log_path: Path
    is_ready: Condition | None
    """Returns whether the part is healthy; without a check, a started part is healthy."""

    @property
    def pid(self) -> int | None:
        """The id of its main process, or None while it is down."""

    async def spawn(self) -> None:
        """Start it; raises OSError or CannotStart."""

    async def ended(self) -> str:
        """Wait until the part has ended, and describe how: `was ended by SIGKILL`."""

    async def terminate(self) -> None:
        """Stop the part cleanly."""

    def kill(self) -> None:
        """Kill the part."""


class Supervised:
    """A part that is kept running until `stop`."""

    def __init__(
        self, part: Part, *, show: Callable[[str], None], on_change: Callable[[], None]
    ) -> None:
        """Prepare to keep `part` running.

        Args:
            part: What runs.
            show: Shows the user one line.
            on_change: Called whenever the process id changes; must not raise.
        """
        self.part = part
        self.restart_count = 0
        self._show, self._on_change = show, on_change
        self._watch: asyncio.Task[None] | None = None

    @property
    def name(self) -> str:
        """As shown to the user and in `cluster.json`."""
        return self.part.name

    async def start(self) -> None:
        """Start the part and supervise it."""
        await self.part.spawn()
        self._on_change()
        self._watch = asyncio.create_task(self._keep_running(), name=f"watch {self.name}")

    async def wait_until(self, holds: Condition, *, timeout_s: float) -> None:
        """Wait until a condition is true.

        Raises:
            CannotStart: the part ended first, or the time ran out.
        """
        deadline = time.monotonic() + timeout_s
        while not await holds():
            if self.restart_count:
                raise CannotStart(f"{self.name} stopped while starting: {self._why()}")
            if time.monotonic() > deadline:
                raise CannotStart(
                    f"{self.name} was not ready after {timeout_s:.0f} s: {self._why()}",
                )
            await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """Stop the part cleanly, without a restart."""
        await self._stop_watching()
        await self.part.terminate()

    def kill(self) -> None:
        """Kill the part, without a restart."""
        if self._watch is not None:
            self._watch.cancel()
        self.part.kill()

    async def _stop_watching(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            # An error of the supervision must not prevent the stop of the part.
            await asyncio.wait({self._watch})

    async def _keep_running(self) -> None:
        backoff = Backoff()
        started_at = time.monotonic()
        how = await self._ended()
        while True:
            ended_at = time.monotonic()
            self.restart_count += 1
            self._on_change()
            delay_s = backoff.delay_s(ran_s=ended_at - started_at)
            pause = f" in {delay_s:.0f} s" if delay_s >= SHOWN_DELAY_MIN_S else ""
            self._show(f"{self.name} {how}; starting it again{pause} (log: {self.part.log_path})")
            await asyncio.sleep(delay_s)
            started_at = time.monotonic()
            try:
                await self.part.spawn()
            except (OSError, CannotStart) as error:
                how = f"did not start ({error})"
                continue
            self._on_change()
            how = await self._run(down_since=ended_at)

    async def _run(self, *, down_since: float) -> str:
        """Report when the part is healthy again, then wait for its end and describe it."""
        ending = asyncio.create_task(self._ended(), name=f"end of {self.name}")
        try:
            while not ending.done() and not await self._is_ready():
                await asyncio.wait({ending}, timeout=CHECK_S)
            if ending.done():
                return await ending
            self._show(f"{self.name} is up again after {time.monotonic() - down_since:.1f} s")
            return await ending
        finally:
            ending.cancel()

    async def _ended(self) -> str:
        try:
            return await self.part.ended()
        except Exception as error:  # noqa: BLE001 - supervision must not end
            return f"can't be watched ({error!r})"

    async def _is_ready(self) -> bool:
        try:
            return self.part.is_ready is None or await self.part.is_ready()
        except Exception:  # noqa: BLE001 - supervision must not end
            return False

    def _why(self) -> str:
        last_words = " | ".join(tail(self.part.log_path))
        return f"{last_words or 'it wrote nothing'} (log: {self.part.log_path})"
