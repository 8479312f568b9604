"""Give the connections of parked pulls their turns on the loop.

The engine holds the pulls and answers them (remoting.md 2.3). This module decides when. Pulls that
became ready wait for a turn. Turns are short, so that other connections are served between them. A
single timer serves all deadlines; it is off while no pull waits.
"""

import asyncio
from collections.abc import Callable, Iterable
from time import perf_counter
from typing import Final, Protocol

from regent_engine import HotPath

TURN_S: Final = 0.0005
"""The length of a turn; the last connection in it may exceed the end."""


class Waiter(Protocol):
    """A connection whose pulls may be parked."""

    def answer_parked(self) -> None:
        """Answer parked pulls that are ready; the engine gives another turn if some are left."""


class LongPolling:
    """The turns and deadlines of all parked pulls of a broker."""

    def __init__(self, hot: HotPath, *, clock: Callable[[], int]) -> None:
        """Take the clock of deadlines, which is never set, in milliseconds."""
        self._hot, self._clock = hot, clock
        self._waiters: dict[int, Waiter] = {}
        self._turn: asyncio.Handle | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms = 0

    def __len__(self) -> int:
        """Return the number of parked pulls."""
        return self._hot.parked_count

    def add(self, connection_id: int, waiter: Waiter) -> None:
        """Add a connection."""
        self._waiters[connection_id] = waiter

    def is_open(self, connection_id: int) -> bool:
        """Return whether a connection is open."""
        return connection_id in self._waiters

    def remove(self, connection_id: int) -> None:
        """Remove a closed connection with its pulls."""
        self._waiters.pop(connection_id, None)
        self._hot.drop_parked(connection_id)

    def catch_up(self, connection_id: int) -> None:
        """Serve a connection again that did not take its turns."""
        if self._hot.wait_for_turn(connection_id):
            self.take_turns()

    def parked(self) -> None:
        """Note that pulls were parked."""
        self._set_timer()

    def arrived(self, arrivals: Iterable[tuple[str, int, int]]) -> None:
        """Note that queues have grown for readers: topic, queue id and the new max offset."""
        for topic, queue_id, max_offset in arrivals:
            if self._hot.wake(topic, queue_id, max_offset):
                self.take_turns()

    def release_topic(self, topic: str) -> None:
        """Answer the pulls of a topic that is being deleted."""
        if self._hot.release_pulls(topic):
            self.take_turns()

    def release_group(self, group: str, topic: str) -> None:
        """Answer the pulls of a group whose subscription to a topic has changed."""
        if self._hot.release_pulls(topic, group):
            self.take_turns()

    def release_all(self) -> None:
        """Answer every pull, so that clients ask for the route of another master."""
        if self._hot.release_all_pulls():
            self.take_turns()

    def take_turns(self) -> None:
        """Have the connections with ready pulls served on the running loop."""
        if self._turn is None:
            self._turn = asyncio.get_running_loop().call_soon(self._take_turn)

    def close(self) -> None:
        """Answer every parked pull as after its deadline."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._hot.release_all_pulls()
        while self._serve_next():
            pass

    def _take_turn(self) -> None:
        self._turn = None
        ends_at = perf_counter() + TURN_S
        while self._serve_next():
            if perf_counter() >= ends_at:
                self.take_turns()
                break
        self._set_timer()

    def _serve_next(self) -> bool:
        connection_id = self._hot.next_turn()
        if connection_id is None:
            return False
        waiter = self._waiters.get(connection_id)
        if waiter is not None:
            waiter.answer_parked()
        return True

    def _expire(self) -> None:
        self._timer = None
        if self._hot.expire_pulls(self._clock()):
            self.take_turns()
        self._set_timer()

    def _set_timer(self) -> None:
        deadline_ms = self._hot.next_deadline_ms
        if deadline_ms is None:
            return
        if self._timer is not None:
            if self._timer_at_ms <= deadline_ms:
                return
            self._timer.cancel()
        delay_s = max(0, deadline_ms - self._clock()) / 1000
        self._timer_at_ms = deadline_ms
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._expire)
