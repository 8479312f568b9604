"""Keep what a broker knows of share queues that come to it (queue-ownership.md 4.19).

A former leader without an answer is asked once in a time, however many consumers wait for it.
"""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Final
from weakref import WeakValueDictionary

import structlog

from backend.domain.logical_queue.segment import QueueBounds
from workers.broker.logical.older_segments import IDLE_S

RETRY_S: Final = 1.0
"""The time after which a former leader that gave no answer is asked again, at the latest."""

Name = tuple[str, int, str]
"""A share queue of a static topic: topic, global id, consumer group."""

Segment = tuple[str, int, int]
"""A segment of a logical queue: topic, global id, generation."""

log = structlog.get_logger()


class ShareMoves:
    """The unknown states, the open segments and the running take-overs of one broker."""

    def __init__(self, on_retry: Callable[[], None], elapsed_ms: Callable[[], int]) -> None:
        """Name what lets consumers ask again, and a clock in milliseconds."""
        self._on_retry, self._elapsed_ms = on_retry, elapsed_ms
        self._reasons: dict[Name, str] = {}
        self._questions = WeakValueDictionary[Name, asyncio.Lock]()
        self._timer: asyncio.TimerHandle | None = None
        self._reports: dict[Segment, tuple[QueueBounds, int]] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def question(self, name: Name) -> asyncio.Lock:
        """Return the lock under which the state of a share queue is asked for."""
        lock = self._questions.get(name)
        if lock is None:
            lock = self._questions[name] = asyncio.Lock()
        return lock

    def find_reason(self, name: Name) -> str | None:
        """Return why the state of a share queue is unknown; None if it can be asked for."""
        return self._reasons.get(name)

    def note_unknown(self, name: Name, reason: str) -> None:
        """Remember that the state of a share queue is unknown, until consumers ask again."""
        self._reasons[name] = reason
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(RETRY_S, self._retry)

    def _retry(self) -> None:
        self._timer = None
        self._reasons.clear()
        # Consumers whose grants name the other queues only are to be checked again.
        self._on_retry()

    def earlier_report(self, segment: Segment, bounds: QueueBounds) -> QueueBounds | None:
        """Return the same report of an open segment, if it is old enough to compare (H-6)."""
        known, now_ms = self._reports.get(segment), self._elapsed_ms()
        if known is None or known[0].max_offset != bounds.max_offset:
            self._reports[segment] = bounds, now_ms
            return None
        return known[0] if now_ms - known[1] >= IDLE_S * 1000 else None

    def forget_reports(self, topic_name: str) -> None:
        """Forget the reports of a topic whose segments have changed."""
        kept = {name: it for name, it in self._reports.items() if name[0] != topic_name}
        self._reports = kept

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Do some work while others are served, until the broker is closed."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("take_over_failed", exc_info=task.exception())

    async def close(self) -> None:
        """Ask nothing any more."""
        if self._timer is not None:
            self._timer.cancel()
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
