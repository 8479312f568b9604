"""Let connections with large reads take turns, so that no client waits for all of them.

A read of 256 KiB from the log and its write to a socket take the loop as long as some ten sends.
Connections with such reads are served one after another. Each turn of the loop serves at least one.
It serves more while they used less of the loop's time than all others since the last turn.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable


class BulkTurn:
    """The turn of a waiting connection."""

    def __init__(self, serve: Callable[[], None]) -> None:
        self.serve: Callable[[], None] | None = serve

    def cancel(self) -> None:
        """Give the turn up; nothing happens if it was already used."""
        self.serve = None


class BulkTurns:
    """The waiting connections of one broker, in the order of their arrival."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._waiting: deque[BulkTurn] = deque()
        self._is_scheduled, self._scheduled_at = False, 0.0

    def wait(self, serve: Callable[[], None]) -> BulkTurn:
        """Have a connection served in its turn; called on the running loop."""
        turn = BulkTurn(serve)
        self._waiting.append(turn)
        self._schedule()
        return turn

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled:
            self._is_scheduled, self._scheduled_at = True, self._clock()
            # The loop does not sleep meanwhile: the time until then is used by others.
            asyncio.get_running_loop().call_soon(self._serve)

    def _serve(self) -> None:
        began_at = self._clock()
        ends_at = began_at + (began_at - self._scheduled_at)
        try:
            while self._waiting:
                turn = self._waiting.popleft()
                if turn.serve is None:
                    continue
                turn.serve()
                if self._clock() >= ends_at:
                    break
        finally:
            self._is_scheduled = False
            self._schedule()
