"""Let clients wait for a moment instead of a refusal, while the group's master changes.

Their requests meanwhile are not read, so they need almost no memory. Answers are still sent
(targets.md 2: R10c).
"""

import asyncio
from typing import Final, Protocol

import structlog

WAIT_S_MAX: Final = 1.0
"""The longest wait of a client: a third of the timeout of stock's clients."""

log = structlog.get_logger()


class Waiting(Protocol):
    """A holder of requests that are served after the gate opens."""

    def go_on(self) -> None:
        """Serve the requests that came meanwhile."""


class GateWatcher(Protocol):
    """A function that is called whenever the gate opens or closes."""

    def __call__(self, *, is_open: bool) -> None:
        """Take whether requests are served from now on."""


class WriteGate:
    """Open, or closed for a bounded time; all methods belong to the loop's thread."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: set[Waiting] = set()
        self._watchers: list[GateWatcher] = []

    def watch(self, watcher: GateWatcher) -> None:
        """Take a function to call with whether the gate is open, whenever that changes."""
        self._watchers.append(watcher)

    @property
    def is_open(self) -> bool:
        """Return whether requests are served."""
        return self._timer is None

    def shut(self) -> None:
        """Let requests wait; a gate that is already closed opens no later for that."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WAIT_S_MAX, self._give_up)
            for watcher in self._watchers:
                watcher(is_open=False)

    def open(self) -> None:
        """Serve requests, first those that came meanwhile."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        waiting, self._waiting = self._waiting, set()
        for one in waiting:
            one.go_on()
        if self.is_open:
            for watcher in self._watchers:
                watcher(is_open=True)

    def wait(self, one: Waiting) -> None:
        """Register a holder that is called once the gate opens."""
        self._waiting.add(one)

    def _give_up(self) -> None:
        log.warning("clients_waited_in_vain", waited_s=WAIT_S_MAX)
        self.open()
