"""Keep the key index close behind the log, outside the loop.

One thread indexes the messages appended since its last turn. The index is derived from the log:
while it cannot be written nothing else is affected, and the next turn continues.
"""

# ruff: noqa: D102 - the store's own methods are documented by the engine

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol

import structlog
from regent_engine import StoreError

# Maximum time until a query by key finds a new message; a turn without work costs microseconds.
INTERVAL_MS: Final = 100
# Messages that are not indexed at a stop are indexed after the next start, when queries wait
# longer.
_CATCH_UP_S_MAX: Final = 5.0
_JOIN_TIMEOUT_S: Final = 10.0
_REST_SHARE: Final = 3
"""Rest of the thread relative to its work, while a lot is left: it uses at most a quarter of a
core. No caller waits for the index. Without this limit, the rebuild of an index after a kill took
half of the resources of a replica that had to catch up. The indexing is still faster than any load
of clients."""

log = structlog.get_logger()


class IndexableStore(Protocol):
    """The operations of a store that the indexer needs."""

    def advance_followers(self, now_ms: int, utc_offset_s: int) -> int: ...


class Indexer:
    """Owns the index thread."""

    def __init__(
        self, store: IndexableStore, *, clock: Callable[[], int], interval_ms: int = INTERVAL_MS
    ) -> None:
        self._store, self._clock = store, clock
        self._interval_s = interval_ms / 1000
        self._stopping = threading.Event()
        self._stop_at = float("inf")
        self._failure: str | None = None
        self._thread = threading.Thread(target=self._run, name="indexer", daemon=True)

    def start(self) -> None:
        """Start to index; called once."""
        self._thread.start()

    async def stop(self) -> None:
        """Index the rest, unless that takes too long, and end the thread."""
        self._stop_at = time.monotonic() + _CATCH_UP_S_MAX
        self._stopping.set()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join, _JOIN_TIMEOUT_S)

    def _run(self) -> None:
        is_last = False
        while not is_last:
            is_last = self._stopping.wait(self._interval_s)
            self._catch_up()

    def _catch_up(self) -> None:
        try:
            rested_at_s = time.thread_time()
            while self._tick() > 0 and time.monotonic() < self._stop_at:
                worked_s = time.thread_time() - rested_at_s
                # The last turn does not rest.
                self._stopping.wait(worked_s * _REST_SHARE)
                rested_at_s = time.thread_time()
        except StoreError as error:
            self._report(error)
        else:
            self._failure = None

    def _tick(self) -> int:
        now_ms = self._clock()
        # Stock names index files by the local time, daylight saving included.
        utc_offset_s = time.localtime(now_ms / 1000).tm_gmtoff
        return self._store.advance_followers(now_ms, utc_offset_s)

    def _report(self, error: StoreError) -> None:
        """Log once why the index can't grow, not at every turn."""
        if self._failure != str(error):
            self._failure = str(error)
            log.error("index_not_written", code=error.code, reason=str(error))
