"""Read the instants that callers give."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def read_instant(instant: datetime | None) -> datetime | None:
    """Return a given instant. Without a time zone it is UTC."""
    if instant is None or instant.tzinfo is not None:
        return instant
    return instant.replace(tzinfo=UTC)


def milliseconds_of(instant: datetime | None) -> int | None:
    """Return the milliseconds since 1970, or 0 for an earlier instant.

    Without a time zone it is UTC.
    """
    known = read_instant(instant)
    return None if known is None else max(0, (known - _EPOCH) // timedelta(milliseconds=1))
