"""Note what was promised and what was seen: one line of JSON each, written as it happens.

Times are seconds of the monotonic clock since the run began.
"""

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Acknowledgement:
    """A send that was answered with success."""

    number: int
    """The message's own, unique in the run."""

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


class Journal:
    """The journal of one run; what the checker needs of it is kept in memory too."""

    def __init__(self, path: Path) -> None:
        self._started_at_s: Final = time.monotonic()
        self._file = path.open("w", encoding="utf-8", buffering=1)
        self.acknowledgements: list[Acknowledgement] = []
        self.readings: list[Reading] = []

    def now_s(self) -> float:
        """Give the time."""
        return round(time.monotonic() - self._started_at_s, 6)

    def acknowledged(self, entry: Acknowledgement) -> None:
        """Note a promise."""
        self.acknowledgements.append(entry)
        self._write("acknowledged", asdict(entry))

    def read(self, entry: Reading) -> None:
        """Note what was seen."""
        self.readings.append(entry)
        self._write("read", asdict(entry))

    def note(self, event: str, **facts: Any) -> None:
        """Note anything else: faults, refusals, elections."""
        self._write(event, {"at_s": self.now_s()} | facts)

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def _write(self, event: str, facts: dict[str, Any]) -> None:
        self._file.write(json.dumps({"event": event} | facts) + "\n")
