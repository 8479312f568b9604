"""Make appended messages durable outside the loop, with group commit.

One thread flushes the log on its interval, and at once when a caller waits for a position. A flush
releases all callers up to its position: the group commit of `SYNC_FLUSH`. After a failed flush no
caller is released any more, and the owner is notified once (D13). A flush that could not start,
because the process has too many open files, is retried on the next interval.

Under a high append rate, the thread starts write-back between the flushes, so that no flush waits
for all data at once.

A second thread flushes the queues and writes the checkpoint, which may take a second and more. No
caller waits for it.
"""

# ruff: noqa: D102 - the store's own methods are documented by the engine

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import structlog
from regent_engine import StoreError

_JOIN_TIMEOUT_S: Final = 10.0
# A flush of less takes milliseconds, and the engine starts no write-back of less.
_PACED_BYTES: Final = 8 << 20
# Interval of the write-back then: at 0.5 GB/s, more than an agent receives, every 10 MB.
_PACE_S: Final = 0.02
# Interval of the checkpoint: its cost for the disk is that of a group commit.
_TICK_INTERVAL_S: Final = 1.0

log = structlog.get_logger()

Release = Callable[[bool], None]
ReleaseInTime = Callable[[bool | None], None]


@dataclass(slots=True, eq=False)
class _Waiter:
    """A caller that waits for a position."""

    position: int
    release: Callable[..., None] | None
    """None after the outcome was reported."""
    timer: asyncio.TimerHandle | None = None

    def resolve(self, outcome: bool | None) -> None:  # noqa: FBT001
        """Report the outcome, once."""
        release, self.release = self.release, None
        if release is not None:
            if self.timer is not None:
                self.timer.cancel()
            release(outcome)


class FlushableStore(Protocol):
    """The operations of a store that the flusher needs."""

    @property
    def max_position(self) -> int: ...
    @property
    def flushed_position(self) -> int: ...
    @property
    def failure(self) -> str | None: ...
    def start_write_back(self) -> int: ...
    def flush(self) -> int: ...
    def tick(self, now_ms: int) -> None: ...


class Flusher:
    """Owns the threads that flush; all its methods belong to the loop's thread."""

    def __init__(
        self,
        store: FlushableStore,
        *,
        interval_ms: int,
        clock: Callable[[], int],
        on_failure: Callable[[Exception], None],
    ) -> None:
        self._store = store
        self._interval_s = interval_ms / 1000
        self._clock, self._on_failure = clock, on_failure
        self._waiting: deque[_Waiter] = deque()
        self._wanted = threading.Event()
        self._ending = threading.Event()
        self._failed = False
        self._has_reported_failure = False
        self._is_paced = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._threads = (
            self._thread("flusher", self._await_turn, self._flush, "flush_put_off"),
            self._thread("checkpointer", self._await_tick, self._tick, "checkpoint_not_written"),
        )

    def start(self) -> None:
        """Start to flush; called once, on the running loop."""
        self._loop = asyncio.get_running_loop()
        for thread in self._threads:
            thread.start()

    def when_durable(self, position: int, release: Release) -> None:
        """Call back with True once a position is on disk, or with False if it never will be."""
        self._await(_Waiter(position, release))

    def when_durable_in_time(
        self, position: int, release: ReleaseInTime, *, timeout_s: float
    ) -> None:
        """Call back as `when_durable`, or with None if the position is not on disk in time."""
        waiter = _Waiter(position, release)
        loop = asyncio.get_running_loop()
        waiter.timer = loop.call_later(timeout_s, self._give_up, waiter)
        self._await(waiter)

    async def durable(self, position: int, *, timeout_s: float) -> bool | None:
        """Wait until a position is on disk.

        False means that it never will be, None that it is not on disk in time.
        """
        outcome: asyncio.Future[bool | None] = asyncio.get_running_loop().create_future()

        def release(durable: bool | None) -> None:  # noqa: FBT001
            if not outcome.done():
                outcome.set_result(durable)

        self.when_durable_in_time(position, release, timeout_s=timeout_s)
        return await outcome

    def cut(self, end: int) -> None:
        """Handle a truncation of the log: the part beyond its new end will never be on disk."""
        waiting, self._waiting = self._waiting, deque()
        for waiter in waiting:
            if waiter.position <= end:
                self._waiting.append(waiter)
            else:
                waiter.resolve(False)  # noqa: FBT003

    async def stop(self) -> None:
        """Flush once more and end the threads."""
        self._ending.set()
        self._wanted.set()
        for thread in self._threads:
            if thread.is_alive():
                await asyncio.to_thread(thread.join, _JOIN_TIMEOUT_S)

    def _await(self, waiter: _Waiter) -> None:
        if self._failed:
            waiter.resolve(False)  # noqa: FBT003 - the only argument
        elif self._store.flushed_position >= waiter.position:
            waiter.resolve(True)  # noqa: FBT003
        else:
            self._waiting.append(waiter)
            self._wanted.set()

    def _give_up(self, waiter: _Waiter) -> None:
        """Report to a caller that the disk is late, and drop the caller.

        Otherwise its answer would stay in memory while the disk hangs.
        """
        waiter.resolve(None)
        while self._waiting and self._waiting[0].release is None:
            self._waiting.popleft()

    def _thread(
        self, name: str, wait: Callable[[], None], work: Callable[[], None], refused: str
    ) -> threading.Thread:
        return threading.Thread(
            target=self._take_turns, args=(wait, work, refused), name=name, daemon=True
        )

    def _take_turns(self, wait: Callable[[], None], work: Callable[[], None], refused: str) -> None:
        """Alternate waiting and work, with one more round after the stop was requested.

        A refusal that will end later is logged once, as the event `refused`.
        """
        is_last, said = False, None
        while not (is_last or self._failed):
            try:
                wait()
                is_last = self._ending.is_set()
                work()
                said = None
            except Exception as error:  # noqa: BLE001 - nothing is durable after it
                if not isinstance(error, StoreError) or self._is_store_over():
                    self._failed = True
                    self._call_on_loop(self._fail, error)
                elif said != str(error):
                    said = str(error)
                    log.warning(refused, code=error.code, reason=said)

    def _is_store_over(self) -> bool:
        """Return whether the store has failed for good; after a panic it does not report it."""
        try:
            return self._store.failure is not None
        except StoreError:
            return True

    def _await_turn(self) -> None:
        """Wait for the interval to end, or for a caller that waits for a position."""
        due_at = time.monotonic() + self._interval_s
        while (left_s := due_at - time.monotonic()) > 0:
            if self._wanted.wait(min(left_s, _PACE_S) if self._is_paced else left_s):
                break
            if self._is_paced:
                self._start_write_back()
        self._wanted.clear()

    def _start_write_back(self) -> None:
        try:
            self._store.start_write_back()
        except StoreError:
            # The flush reports the error, unless the missing resource is not needed.
            self._is_paced = False

    def _flush(self) -> None:
        before = self._store.flushed_position
        if self._store.max_position > before:
            flushed = self._store.flush()
            self._is_paced = flushed - before >= _PACED_BYTES
            self._call_on_loop(self._release, flushed)
        elif self._waiting:
            self._call_on_loop(self._release, before)

    def _await_tick(self) -> None:
        self._ending.wait(_TICK_INTERVAL_S)

    def _tick(self) -> None:
        self._store.tick(self._clock())

    def _call_on_loop(self, call: Callable[..., None], argument: object) -> None:
        assert self._loop is not None, "started by start()"
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(call, argument)

    def _release(self, flushed_position: int) -> None:
        # Positions are added as the log grows, and a truncation ends the waits for removed data. So
        # the first caller that must wait ends the loop.
        while self._waiting and self._waiting[0].position <= flushed_position:
            self._waiting.popleft().resolve(True)  # noqa: FBT003

    def _fail(self, error: Exception) -> None:
        # The other thread fails as well, because the store refuses its work from then on.
        if self._has_reported_failure:
            return
        self._has_reported_failure = True
        waiting, self._waiting = self._waiting, deque()
        for waiter in waiting:
            waiter.resolve(False)  # noqa: FBT003
        self._on_failure(error)
