"""Limit how fast members that catch up get the log, so that clients notice nothing (Q56).

The limit is for what such a member lacks; what the log grows by meanwhile comes on top, so a
catch-up takes a bounded time (Q42). Without clients there is no limit.

Appends and reads are served by the event loop. So the measure of their latency is how late the
loop's ticks are, compared with ticks without a catch-up.
"""

import asyncio
from collections.abc import Callable
from typing import Final

RATE_MIN: Final = 4 << 20
"""The lowest limit, in bytes a second: a member must not catch up for ever."""

LATE_FACTOR_MAX: Final = 1.2
LATE_S_MARGIN: Final = 0.002
"""Ticks may be later than usual by this factor and time before the limit falls."""

QUIET_S: Final = 1.0
"""Without a request for so long, a broker has no clients to disturb."""

_RECENT_SHARE: Final = 1 / 8
_USUAL_SHARE: Final = 1 / 64
_STEP_SHARE: Final = 1 / 16


class CatchUpPace:
    """The limit of one master; all methods belong to the loop's thread."""

    def __init__(self, rate_max: int, *, tick_s: float, count_requests: Callable[[], int]) -> None:
        """Take the highest limit in bytes a second, and a number that grows with requests."""
        self._rate_max, self._limit = rate_max, float(rate_max)
        self._tick_s, self._count_requests = tick_s, count_requests
        self._ticked_at_s: float | None = None
        self._asked_at_s = self._used_at_s = self._free_at_s = 0.0
        self._request_count = 0
        self._late_s = self._usual_late_s = 0.0
        self._is_quiet = True

    @property
    def rate(self) -> int:
        """Return the limit in bytes a second; 0 for none."""
        return 0 if self._is_quiet else int(self._limit)

    def note_use(self, now_s: float) -> None:
        """Called while a member catches up."""
        self._used_at_s = now_s

    def tick(self, now_s: float) -> None:
        """Adapt the limit; called once in `tick_s`, as far as the loop is on time."""
        due_at_s = now_s if self._ticked_at_s is None else self._ticked_at_s + self._tick_s
        late_s, self._ticked_at_s = max(0.0, now_s - due_at_s), now_s
        self._late_s += (late_s - self._late_s) * _RECENT_SHARE
        count = self._count_requests()
        if count != self._request_count:
            self._request_count, self._asked_at_s = count, now_s
        self._is_quiet = now_s - self._asked_at_s > QUIET_S
        if now_s - self._used_at_s > QUIET_S:
            self._usual_late_s += (late_s - self._usual_late_s) * _USUAL_SHARE
            self._limit = float(self._rate_max)
        elif self._late_s > self._usual_late_s * LATE_FACTOR_MAX + LATE_S_MARGIN:
            # Once for each span of ticks that the average is of.
            self._limit = max(float(RATE_MIN), self._limit * (1 - _RECENT_SHARE))
        else:
            self._limit = min(float(self._rate_max), self._limit + self._rate_max * _STEP_SHARE)

    async def take(self, size: int) -> None:
        """Wait until so many bytes may be sent."""
        now_s = asyncio.get_running_loop().time()
        self.note_use(now_s)
        if not (rate := self.rate):
            return
        begin_s = max(self._free_at_s, now_s)
        self._free_at_s = begin_s + size / rate
        if begin_s > now_s:
            await asyncio.sleep(begin_s - now_s)
