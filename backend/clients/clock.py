"""Tell the time. The only place that reads the wall clock; everyone else is passed a `Clock`."""

from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Tell the time."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        ...

    def now_ms(self) -> int:
        """Return the present instant as milliseconds since 1970, as the wire carries it."""
        ...


class SystemClock:
    """Tell the time of this machine."""

    def now(self) -> datetime:
        """Return the present instant, aware, in UTC."""
        return datetime.now(UTC)

    def now_ms(self) -> int:
        """Return the present instant as milliseconds since 1970."""
        return int(self.now().timestamp() * 1000)
