"""Hold answers until what they promise is true (D7, D9).

A send is acknowledged when every member of the sync-state set holds it, while this master may
still speak for its group, or when as many do as an operator finds enough (`allAckInSyncStateSet`,
storage-and-ha.md 9.6). Whoever waits longer than allowed is told that nobody knows.
"""

from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import structlog

from workers.broker.replication.sync_state import SyncState

QUORUM_SIZE_MIN: Final = 2

log = structlog.get_logger()


class LeasePolicy(StrEnum):
    """What a master does once its lease has run out; the controller says so (targets.md 5.6)."""

    STRICT = "strict"
    """It acknowledges nothing, and nobody replaces it before."""

    QUORUM = "quorum"
    """It goes on with what all members of a set of at least two hold: a member that knows of a
    newer master refuses, so that two masters can never both acknowledge."""


class Outcome(StrEnum):
    """What became of a position somebody waited for."""

    CONFIRMED = "confirmed"
    LATE = "late"
    """Not in time: the message is stored, and may survive or not."""

    DEPOSED = "deposed"
    """This broker is no master any more."""

    UNFLUSHED = "unflushed"
    """Not on the disk in time, of a broker that waits for no replica."""

    FLUSH_FAILED = "flush_failed"
    """The disk refused: it is not known whether the message survives."""


Release = Callable[[Outcome], None]


class Acknowledgements:
    """Those who wait for the confirmed position; all methods belong to the loop's thread."""

    def __init__(
        self,
        *,
        policy: LeasePolicy,
        timeout_ms: int,
        member_count_min: int = 1,
        sufficient_count: int | None = None,
    ) -> None:
        """With a sufficient count, so many members are enough, this broker included.

        Nobody is told that all is well by a set smaller than the least count (`minInSyncReplicas`):
        it may have shrunk since a message was taken (targets.md 5.6).
        Under the quorum policy a member may replace this master at once, relying on that nothing is
        acknowledged without it, so every member is needed whatever is asked for (D9).
        """
        self._policy = policy
        self._timeout_ms = timeout_ms
        self._member_count_min = member_count_min
        self.sufficient_count = sufficient_count if policy is LeasePolicy.STRICT else None
        self._waiting: deque[tuple[int, int, Release]] = deque()

    def may_acknowledge(self, state: SyncState, *, has_lease: bool) -> bool:
        """Tell whether what all members hold may be called safe."""
        if has_lease:
            return True
        is_quorum = len(state.current.broker_ids) >= QUORUM_SIZE_MIN
        return self._policy is LeasePolicy.QUORUM and is_quorum

    def wait(self, position: int, now_ms: int, release: Release) -> None:
        """Call back once the log is confirmed up to a position, or when that is hopeless.

        Positions come in the order of appends.
        """
        self._waiting.append((position, now_ms + self._timeout_ms, release))

    def advance(self, state: SyncState, *, has_lease: bool) -> None:
        """Release everybody whose position is held by as many as needed."""
        if not self.may_acknowledge(state, has_lease=has_lease):
            return
        if len(state.current.broker_ids) < self._member_count_min:
            return
        safe_position = state.confirmed_position
        if self.sufficient_count is not None:
            safe_position = max(safe_position, state.held_by(self.sufficient_count))
        while self._waiting and self._waiting[0][0] <= safe_position:
            _release(self._waiting.popleft()[2], Outcome.CONFIRMED)

    def expire(self, now_ms: int) -> None:
        """Release those whose time is over."""
        while self._waiting and self._waiting[0][1] <= now_ms:
            _release(self._waiting.popleft()[2], Outcome.LATE)

    def depose(self) -> None:
        """Release everybody: what was not confirmed by now, this broker will never confirm."""
        waiting, self._waiting = self._waiting, deque()
        for _, _, release in waiting:
            _release(release, Outcome.DEPOSED)

    @property
    def count(self) -> int:
        """Give how many wait."""
        return len(self._waiting)


def _release(release: Release, outcome: Outcome) -> None:
    """Tell one of them; what goes wrong with its answer is no matter of those behind it."""
    try:
        release(outcome)
    except Exception:
        log.exception("answer_not_given", outcome=outcome)
