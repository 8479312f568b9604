"""Run the held pulls on the loop: wake them on arrivals and answer them in time.

Arrivals of one turn of the loop are collected, so that a burst of sends runs a held pull once. A
single timer serves all deadlines; it is off while no pull is held.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from workers.broker.requests.held_pulls import HeldPull, HeldPulls

Request = TypeVar("Request")


class LongPolling(Generic[Request]):
    """Holds pulls and returns them through `resume`, with whether the time is over."""

    def __init__(
        self,
        *,
        clock: Callable[[], int],
        resume: Callable[[HeldPull[Request], bool], None],
        held: HeldPulls[Request] | None = None,
    ) -> None:
        self._held = held or HeldPulls[Request]()
        self._clock, self._resume = clock, resume
        self._arrived: dict[tuple[str, int], int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at_ms = 0

    def __len__(self) -> int:
        return len(self._held)

    def hold(self, pull: HeldPull[Request]) -> bool:
        """Hold a pull until a message arrives or its deadline; False when there is no space."""
        if not self._held.hold(pull):
            return False
        self._set_timer()
        return True

    def arrived(self, arrivals: Iterable[tuple[str, int, int]]) -> None:
        """Note that queues have grown: topic, queue id and the new max offset."""
        if not self._held:
            return
        if not self._arrived:
            asyncio.get_running_loop().call_soon(self._wake)
        for topic, queue_id, max_offset in arrivals:
            self._arrived[topic, queue_id] = max_offset

    def drop_owner(self, owner: object) -> None:
        """Remove the pulls of a closed connection."""
        self._held.drop_owner(owner)

    def release_topic(self, topic: str) -> None:
        """Answer the pulls of a topic that is being deleted."""
        for pull in self._held.take_queue(topic):
            self._resume(pull, True)  # noqa: FBT003 - whether the time is over

    def release_group(self, group: str, topic: str, queue_ids: Iterable[int]) -> None:
        """Answer the pulls of a group whose subscription to a topic has changed."""
        for pull in self._held.take_group(group, topic, queue_ids):
            self._resume(pull, True)  # noqa: FBT003

    def close(self) -> None:
        """Answer every held pull as after its timeout."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for pull in self._held.take_all():
            self._resume(pull, True)  # noqa: FBT003

    def _wake(self) -> None:
        arrived, self._arrived = self._arrived, {}
        for (topic, queue_id), max_offset in arrived.items():
            for pull in self._held.wake(topic, queue_id, max_offset):
                self._resume(pull, False)  # noqa: FBT003

    def _expire(self) -> None:
        self._timer = None
        for pull in self._held.expire(self._clock()):
            self._resume(pull, True)  # noqa: FBT003
        self._set_timer()

    def _set_timer(self) -> None:
        deadline_ms = self._held.next_deadline_ms
        if deadline_ms is None:
            return
        if self._timer is not None:
            if self._timer_at_ms <= deadline_ms:
                return
            self._timer.cancel()
        delay_s = max(0, deadline_ms - self._clock()) / 1000
        self._timer_at_ms = deadline_ms
        self._timer = asyncio.get_running_loop().call_later(delay_s, self._expire)
