"""How long to wait before something that ended is started again; it can't spin."""

DELAY_S_MIN = 0.2
DELAY_S_MAX = 10.0
STEADY_AFTER_S = 20.0
"""What ran this long was well: it is started again as if it had never failed."""


class Backoff:
    """Twice the delay for each early end, up to a limit."""

    def __init__(self) -> None:
        """Begin with the shortest delay."""
        self._delay_s = DELAY_S_MIN

    def delay_s(self, *, ran_s: float) -> float:
        """Give the delay after a run of so many seconds; never less than the shortest one."""
        if ran_s >= STEADY_AFTER_S:
            self._delay_s = DELAY_S_MIN
        delay_s = self._delay_s
        self._delay_s = min(delay_s * 2, DELAY_S_MAX)
        return delay_s
