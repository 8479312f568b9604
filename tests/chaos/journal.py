"""Record promises and observations: one line of JSON each, written immediately.

Times are seconds of the monotonic clock since the run began.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

NONE_COMMITTED: Final = -1


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A send that was answered with success."""

    number: int
    """The number of the message, unique in the run."""

    agent: int
    sent_at_s: float
    answered_at_s: float
    queue: int
    offset: int
    position: int


@dataclass(frozen=True, slots=True)
class Reading:
    """Messages that an agent showed to a consumer."""

    agent: int
    at_s: float
    queue: int
    first_offset: int
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Commit:
    """An offset that a consumer committed; each of a queue is greater than those before."""

    agent: int
    queue: int
    offset: int
    sent_at_s: float
    answered_at_s: float | None
    """None without an answer: it may take effect at any later time."""

    is_taken: bool


@dataclass(frozen=True, slots=True)
class Look:
    """A committed offset as a broker reported it, or `NONE_COMMITTED`."""

    agent: int
    queue: int
    offset: int
    asked_at_s: float
    answered_at_s: float


class Journal:
    """The journal of one run; the data for the checker is also kept in memory."""

    def __init__(self, path: Path) -> None:
        self._started_at_s: Final = time.monotonic()
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self.acknowledgements: list[Acknowledgement] = []
        self.readings: list[Reading] = []
        self.deferred: list[int] = []
        self.commits: list[Commit] = []
        self.looks: list[Look] = []

    def now_s(self) -> float:
        """Give the time."""
        return round(time.monotonic() - self._started_at_s, 6)

    def acknowledged(self, entry: Acknowledgement) -> None:
        """Note a promise."""
        self.acknowledgements.append(entry)
        self._write("acknowledged", asdict(entry))

    def read(self, entry: Reading) -> None:
        """Record an observation."""
        self.readings.append(entry)
        self._write("read", asdict(entry))

    def promised_later(self, number: int, agent: int) -> None:
        """Record that a delayed message was acknowledged."""
        self.deferred.append(number)
        self.note("deferred", number=number, agent=agent)

    def committed(self, entry: Commit) -> None:
        """Record a commit and its outcome."""
        self.commits.append(entry)
        self._write("committed", asdict(entry))

    def looked(self, entry: Look) -> None:
        """Record a reported committed offset."""
        self.looks.append(entry)
        self._write("looked", asdict(entry))

    def note(self, event: str, **facts: Any) -> None:
        """Record other events: faults, refusals, elections."""
        self._write(event, {"at_s": self.now_s()} | facts)

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def _write(self, event: str, facts: dict[str, Any]) -> None:
        self._file.write(json.dumps({"event": event} | facts) + "\n")
