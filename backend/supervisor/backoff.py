"""Compute the delay before an ended process is started again, so that restarts are bounded."""

DELAY_S_MIN = 0.2
DELAY_S_MAX = 10.0
STEADY_AFTER_S = 20.0
"""A process that ran this long was healthy: its delay starts again at the shortest."""


class Backoff:
    """Double the delay for each early end, up to a limit."""

    def __init__(self) -> None:
        """Begin with the shortest delay."""
        self._delay_s = DELAY_S_MIN

    def delay_s(self, *, ran_s: float) -> float:
        """Return the delay after a run of the given seconds."""
        if ran_s >= STEADY_AFTER_S:
            self._delay_s = DELAY_S_MIN
        delay_s = self._delay_s
        self._delay_s = min(delay_s * 2, DELAY_S_MAX)
        return delay_s
