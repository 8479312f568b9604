"""Have clients wait for a moment where they would be refused, while the group's master changes.

What they send meanwhile is left unread, so that it costs no memory to speak of. Answers still leave
(targets.md 2: R10c).
"""

import asyncio
from typing import Final, Protocol

import structlog

WAIT_S_MAX: Final = 1.0
"""For how long clients wait at most: a third of what stock's wait for an answer."""

log = structlog.get_logger()


class Waiting(Protocol):
    """Who holds requests that may be served once the gate is open."""

    def go_on(self) -> None:
        """Serve what has come meanwhile."""


class WriteGate:
    """Open, or shut for a bounded time; all methods belong to the loop's thread."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None
        self._waiting: set[Waiting] = set()

    @property
    def is_open(self) -> bool:
        """Return whether requests are served."""
        return self._timer is None

    def shut(self) -> None:
        """Let requests wait from now on; one that is shut already opens no later for that."""
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(WAIT_S_MAX, self._give_up)

    def open(self) -> None:
        """Serve requests, first those that have come meanwhile."""
        if self._timer is None:
            return
        self._timer.cancel()
        self._timer = None
        waiting, self._waiting = self._waiting, set()
        for one in waiting:
            one.go_on()

    def wait(self, one: Waiting) -> None:
        """Have somebody called once the gate is open."""
        self._waiting.add(one)

    def _give_up(self) -> None:
        log.warning("clients_waited_in_vain", waited_s=WAIT_S_MAX)
        self.open()
