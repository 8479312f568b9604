"""Have connections that are handed much at a time take turns, so that nobody waits for all of them.

To read 256 KiB from the log and write it to a socket takes the loop as long as some ten sends. Of
the connections that ask for as much, one is served a turn of the loop; between two of them the loop
looks at all others.
"""

import asyncio
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

    def __init__(self) -> None:
        self._waiting: deque[BulkTurn] = deque()

    def wait(self, serve: Callable[[], None]) -> BulkTurn:
        """Have a connection served in a turn of its own; called on the running loop."""
        turn = BulkTurn(serve)
        if not self._waiting:
            asyncio.get_running_loop().call_soon(self._serve_next)
        self._waiting.append(turn)
        return turn

    def _serve_next(self) -> None:
        try:
            while self._waiting:
                serve = self._waiting[0].serve
                if serve is not None:
                    serve()
                    break
                self._waiting.popleft()
        finally:
            # The first one stays until now, so that who comes meanwhile begins no second round.
            if self._waiting:
                self._waiting.popleft()
            if self._waiting:
                asyncio.get_running_loop().call_soon(self._serve_next)
