"""Hold answers until their data is acknowledged (D7, D9).

A send is acknowledged when every member of the SyncStateSet has it, and this master may still act
for its group; or when enough members have it by the settings (`allAckInSyncStateSet`,
storage-and-ha.md 9.6). A wait that is too long ends with an unknown outcome.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from enum import StrEnum
from typing import Final

import structlog

from workers.broker.replication.sync_state import SyncState

QUORUM_SIZE_MIN: Final = 2

log = structlog.get_logger()


class LeasePolicy(StrEnum):
    """What a master does after the end of its lease; the controller decides it (targets.md 5.6)."""

    STRICT = "strict"
    """It acknowledges nothing, and is not replaced before the end of its lease."""

    QUORUM = "quorum"
    """It acknowledges the data of all members of a set of at least two.

    A member with a newer master refuses, so two masters can never both acknowledge.
    """


class Outcome(StrEnum):
    """The outcome of a wait for a position."""

    CONFIRMED = "confirmed"
    LATE = "late"
    """Not in time: the message is stored, and may be lost later."""

    DEPOSED = "deposed"
    """This broker is no longer master."""

    UNFLUSHED = "unflushed"
    """Not on the disk in time, on a broker without replicas."""

    FLUSH_FAILED = "flush_failed"
    """The disk refused: it is unknown whether the message is stored."""


NOWHERE: Final = 0
"""The position for an answer about a message that no replica gets: it waits for the lease only."""

Release = Callable[[Outcome], None]


async def outcome_of(wait: Callable[[Release], None]) -> Outcome:
    """Return the outcome of a wait that calls back."""
    outcome: asyncio.Future[Outcome] = asyncio.get_running_loop().create_future()

    def release(found: Outcome) -> None:
        if not outcome.done():
            outcome.set_result(found)

    wait(release)
    return await outcome


class Acknowledgements:
    """The waits for the confirmed position; all methods belong to the thread of the event loop."""

    def __init__(
        self,
        *,
        policy: LeasePolicy,
        timeout_ms: int,
        member_count_min: int = 1,
        sufficient_count: int | None = None,
    ) -> None:
        """With a sufficient count, this number of members is enough, including this broker.

        A set that is smaller than the least count (`minInSyncReplicas`) acknowledges nothing: it
        may have shrunk since a message was stored (targets.md 5.6). Under the quorum policy a
        member may replace this master immediately, because nothing is acknowledged without it. So
        every member is needed, whatever the settings are (D9).
        """
        self._policy = policy
        self._timeout_ms = timeout_ms
        self._member_count_min = member_count_min
        self.sufficient_count = sufficient_count if policy is LeasePolicy.STRICT else None
        self._waiting: deque[tuple[int, int, Release]] = deque()

    def may_acknowledge(self, state: SyncState, *, has_lease: bool) -> bool:
        """Return whether the data of all members may be acknowledged."""
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
        """Release the waits for positions that enough members have."""
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
        """Release the waits whose time has passed."""
        while self._waiting and self._waiting[0][1] <= now_ms:
            _release(self._waiting.popleft()[2], Outcome.LATE)

    def depose(self) -> None:
        """Release all waits: this broker will never confirm the rest."""
        waiting, self._waiting = self._waiting, deque()
        for _, _, release in waiting:
            _release(release, Outcome.DEPOSED)

    @property
    def count(self) -> int:
        """Return the number of waits."""
        return len(self._waiting)


def _release(release: Release, outcome: Outcome) -> None:
    """Call one waiter; an error of its answer must not affect the next waiters."""
    try:
        release(outcome)
    except Exception:
        log.exception("answer_not_given", outcome=outcome)
