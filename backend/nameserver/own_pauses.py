"""Know when this process itself stood still: what peers did meanwhile is no evidence about them.

A process stands still when it is stopped (SIGSTOP), when its machine sleeps, or when something
keeps its event loop busy. Brokers see the same in each case: no answer. They close their
connections, and their heartbeats lie unread. So neither a silence nor a closed connection of that
time counts as a sign of failure (D28).
"""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

LOOK_INTERVAL_S: Final = 0.1
STALL_MIN_MS: Final = 100.0
"""A shorter delay of a look is usual on a busy machine, and no heartbeat timeout is that short."""

PAUSE_MIN_MS: Final = 1_000.0
"""A longer standstill is a pause: peers may have given this process up."""

LISTENING_MAX_MS: Final = 10_000.0
"""For so long after a pause, at most, a closed connection is no sign of failure."""

OnStandstill = Callable[[float], None]

log = structlog.get_logger(__name__)


class OwnPauses:
    """Notice each standstill of this process, and say how long ago a pause ended.

    Pure but for `watch`: time comes from the clock that is passed in, which must go on while the
    process stands still.
    """

    def __init__(self, elapsed_ms: Callable[[], float]) -> None:
        self._elapsed_ms = elapsed_ms
        self._looked_at_ms = elapsed_ms()
        self._ended_at_ms: float | None = None
        self._on_stall: list[OnStandstill] = []
        self._on_pause: list[OnStandstill] = []

    def on_stall(self, call: OnStandstill) -> None:
        """Have each standstill told, and how many milliseconds it lasted."""
        self._on_stall.append(call)

    def on_pause(self, call: OnStandstill) -> None:
        """Have each pause told, after `on_stall` was called for it."""
        self._on_pause.append(call)

    def begin(self) -> None:
        """Watch from now on: before this process listened, no peer waited for it."""
        self._looked_at_ms = self._elapsed_ms()

    def look(self) -> None:
        """Find out whether the process stood still since the last look.

        Who judges a peer looks first: after a pause, the close of a connection may be handled
        before the watching task runs.
        """
        now_ms = self._elapsed_ms()
        stood_ms = now_ms - self._looked_at_ms - LOOK_INTERVAL_S * 1000
        self._looked_at_ms = now_ms
        if stood_ms < STALL_MIN_MS:
            return
        for call in self._on_stall:
            call(stood_ms)
        if stood_ms >= PAUSE_MIN_MS:
            log.warning("process_paused", pause_ms=int(stood_ms))
            self._ended_at_ms = now_ms
            for call in self._on_pause:
                call(stood_ms)

    def has_ended_within(self, listening_ms: float) -> bool:
        """Tell whether a pause ended so short a time ago that this process still has to listen."""
        if self._ended_at_ms is None:
            return False
        listened_ms = self._elapsed_ms() - self._ended_at_ms
        return listened_ms < min(listening_ms, LISTENING_MAX_MS)

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            self.look()
