"""Define the errors after which a subscriber of events must start again."""

from typing import Any

from backend.domain.errors import DomainError, ErrorKind


class EventsExpired(DomainError, kind=ErrorKind.EXPIRED):
    """Some events after the requested number are no longer kept."""

    code = "events_expired"

    def __init__(self, after: int, *, oldest_number: int, newest_number: int) -> None:
        what = "was never given" if after > newest_number else "is too old"
        super().__init__(
            f"event {after} {what}: the kept events are {oldest_number} to {newest_number};"
            f" read the lists again, then follow from {newest_number} on"
        )
        self.after = after
        self.oldest_number, self.newest_number = oldest_number, newest_number

    @property
    def facts(self) -> dict[str, Any]:
        """Return the oldest and the newest number that is kept."""
        return {"oldest_number": self.oldest_number, "newest_number": self.newest_number}


class SubscriberTooSlow(DomainError, kind=ErrorKind.TOO_SLOW):
    """A subscriber had received all events, and was then too slow."""

    code = "subscriber_too_slow"

    def __init__(self, position: int, *, held_max: int) -> None:
        super().__init__(
            f"more than {held_max} events came while none was taken; follow again after {position}"
        )
        self.position, self.held_max = position, held_max

    @property
    def facts(self) -> dict[str, Any]:
        """Return the number to follow from."""
        return {"position": self.position}
