"""Turn milliseconds that brokers and clients report into instants; some values are no instant."""

from datetime import UTC, datetime, timedelta
from typing import Final

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LAST_MS: Final = 253_402_300_799_999
"""The end of the year 9999."""


def instant(milliseconds: int) -> datetime:
    """Read milliseconds since 1970 as an instant."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


def reported_instant(milliseconds: int | None) -> datetime | None:
    """Return an instant; None if it was not reported, or is outside all calendars."""
    if milliseconds is None or not 0 < milliseconds <= _LAST_MS:
        return None
    return _EPOCH + timedelta(milliseconds=milliseconds)
