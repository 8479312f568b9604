"""A wall clock that tests set."""

import time


class HandClock:
    """The wall clock of this machine, so many milliseconds ahead or behind."""

    ahead_ms = 0

    def __call__(self):
        return time.time_ns() // 1_000_000 + self.ahead_ms
