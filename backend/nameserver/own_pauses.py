"""Notice when this process itself was paused: events of that time are no evidence about peers.

A process is paused when it is stopped (SIGSTOP), when its machine sleeps, or when its event loop is
blocked. For brokers each case looks the same: they receive no answer. They close their connections,
and their heartbeats are not read. So neither silence nor a closed connection of that time is a sign
of failure (D28).
"""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

LOOK_INTERVAL_S: Final = 0.1
STALL_MIN_MS: Final = 100.0
"""A shorter delay of a look is usual on a busy machine, and no heartbeat timeout is that short."""

PAUSE_MIN_MS: Final = 1_000.0
"""A longer stall is a pause: peers may have closed their connections to this process."""

LISTENING_MAX_MS: Final = 10_000.0
"""The maximum time after a pause in which a closed connection is no sign of failure."""

OnStandstill = Callable[[float], None]

log = structlog.get_logger(__name__)


class OwnPauses:
    """Notice each stall of this process, and report how long ago a pause ended.

    Only `watch` is not pure. Time comes from the clock that is passed in. The clock must go on
    while the process is paused.
    """

    def __init__(self, elapsed_ms: Callable[[], float]) -> None:
        self._elapsed_ms = elapsed_ms
        self._looked_at_ms = elapsed_ms()
        self._ended_at_ms: float | None = None
        self._on_stall: list[OnStandstill] = []
        self._on_pause: list[OnStandstill] = []

    def on_stall(self, call: OnStandstill) -> None:
        """Register a call for each stall; its argument is the duration in milliseconds."""
        self._on_stall.append(call)

    def on_pause(self, call: OnStandstill) -> None:
        """Register a call for each pause; the calls for its stall come first."""
        self._on_pause.append(call)

    def begin(self) -> None:
        """Start to watch: no peer waits before this process listens."""
        self._looked_at_ms = self._elapsed_ms()

    def look(self) -> None:
        """Check whether the process was paused since the last look.

        Call this before a judgement about a peer: after a pause, the event loop may handle a closed
        connection before the watching task runs.
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
        """Return whether a pause ended so recently that brokers may not have reconnected."""
        if self._ended_at_ms is None:
            return False
        listened_ms = self._elapsed_ms() - self._ended_at_ms
        return listened_ms < min(listening_ms, LISTENING_MAX_MS)

    async def watch(self) -> None:
        """Look until cancelled."""
        while True:
            await asyncio.sleep(LOOK_INTERVAL_S)
            self.look()
