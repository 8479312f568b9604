"""Limit attempts to guess passwords: count failures by caller and by name within a window.

The counts are in this process, so signing in depends on no other service. The table is bounded: new
windows replace the oldest ones. Windows end by a clock that is never set (case A9), which
rate-limit libraries do not offer: a clock that is set back by an hour must not lock a name for an
hour.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from backend.api.answers import UNAVAILABLE
from backend.domain.errors import TooManyAttempts

WINDOW_S: Final = 60.0
FAILURES_PER_NAME_MAX: Final = 5
FAILURES_PER_CALLER_MAX: Final = 20
WINDOWS_MAX: Final = 10_000


class AttemptLimiter:
    """Count failed attempts of the last minute."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._monotonic = monotonic
        self._windows: OrderedDict[tuple[str, str | None], tuple[float, int]] = OrderedDict()

    @contextmanager
    def attempt(self, *, caller: str, name: str) -> Iterator[None]:
        """Check a password within: a failed attempt is counted, an attempt without a check is not.

        Raises:
            TooManyAttempts: there were too many failures; the error says when to try again.
        """
        self.check(caller=caller, name=name)
        # Counted before the result is known, so that many parallel attempts do not pass together.
        self.note_failure(caller=caller, name=name)
        try:
            yield
        except UNAVAILABLE:
            self.take_back(caller=caller, name=name)
            raise
        self.note_success(caller=caller, name=name)

    def check(self, *, caller: str, name: str) -> None:
        """Check that there were not too many failures.

        Raises:
            TooManyAttempts: there were too many failures; the error says when to try again.
        """
        self._check_key((caller, name), FAILURES_PER_NAME_MAX)
        self._check_key((caller, None), FAILURES_PER_CALLER_MAX)

    def note_failure(self, *, caller: str, name: str) -> None:
        """Count a failed attempt, or an attempt in progress."""
        for key in ((caller, name), (caller, None)):
            begun, count = self._window(key)
            self._windows[key] = (begun, count + 1)
            self._windows.move_to_end(key)
        while len(self._windows) > WINDOWS_MAX:
            self._windows.popitem(last=False)

    def note_success(self, *, caller: str, name: str) -> None:
        """Remove the count of a successful attempt."""
        self._windows.pop((caller, name), None)
        begun, count = self._window((caller, None))
        self._windows[caller, None] = (begun, max(count - 1, 0))

    def take_back(self, *, caller: str, name: str) -> None:
        """Remove the count of an attempt without a check of a password."""
        for key in ((caller, name), (caller, None)):
            begun, count = self._window(key)
            self._windows[key] = (begun, max(count - 1, 0))

    def _check_key(self, key: tuple[str, str | None], count_max: int) -> None:
        begun, count = self._window(key)
        if count >= count_max:
            remaining_s = max(1, int(begun + WINDOW_S - self._monotonic()) + 1)
            raise TooManyAttempts(retry_after_s=remaining_s)

    def _window(self, key: tuple[str, str | None]) -> tuple[float, int]:
        now = self._monotonic()
        begun, count = self._windows.get(key, (now, 0))
        return (now, 0) if now - begun >= WINDOW_S else (begun, count)
