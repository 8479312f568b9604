"""Have connections that are handed much at a time take turns, so that nobody waits for all of them.

To read 256 KiB from the log and write it to a socket takes the loop as long as some ten sends.
Those that ask for as much are served one after another: at least one in each turn of the loop, and
further ones while they had less of its time than all others had since the last turn.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable


class BulkTurn:
    """A turn that a connection waits for."""

    def __init__(self, serve: Callable[[], None]) -> None:
        self.serve: Callable[[], None] | None = serve

    def cancel(self) -> None:
        """Take no turn; nothing happens when it was taken already."""
        self.serve = None


class BulkTurns:
    """The connections of one broker that wait for their turn, in the order in which they came."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._waiting: deque[BulkTurn] = deque()
        self._is_scheduled, self._scheduled_at = False, 0.0

    def wait(self, serve: Callable[[], None]) -> BulkTurn:
        """Have a connection served when its turn has come; called on the running loop."""
        turn = BulkTurn(serve)
        self._waiting.append(turn)
        self._schedule()
        return turn

    def _schedule(self) -> None:
        if self._waiting and not self._is_scheduled:
            self._is_scheduled, self._scheduled_at = True, self._clock()
            # The loop does not sleep meanwhile: what passes until then is the time of the others.
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
