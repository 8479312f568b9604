"""Record promises and observations: one line of JSON each, written immediately.

Times are seconds of the monotonic clock since the run began.
"""

import json
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
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


@dataclass(frozen=True, slots=True)
class LockEvent:
    """An answer to a client that wanted a lock, or the request of a client that releases it."""

    agent: int
    client: str
    asked_at_s: float
    answered_at_s: float
    """The time of the question for a release: from then on the client has no lock."""

    is_given: bool = False
    is_release: bool = False


class Act(StrEnum):
    """What a consumer wants done with a message that it has by POP."""

    FINISH = "finish"
    KEEP = "keep"
    GIVE_BACK = "give back"


class Effect(StrEnum):
    """What is known of an act."""

    DONE = "done"
    NONE = "none"
    UNKNOWN = "unknown"
    """No answer, or another error than that of a void handle: it may take effect at any time."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that a broker handed out by POP."""

    number: int
    consumer: str
    agent: int
    queue: int
    offset: int
    tag: int
    """The lease epoch of the owner, modulo 998."""

    pop_time_ms: int
    """The time of the delivery, by the clock of the broker."""

    invisible_ms: int
    asked_at_s: float
    answered_at_s: float


@dataclass(frozen=True, slots=True)
class Settlement:
    """What a consumer asked to be done with a delivery, and what came of it."""

    act: Act
    agent: int
    """The broker that was asked."""

    queue: int
    offset: int
    tag: int
    pop_time_ms: int
    """With the tag, which delivery it is."""

    asked_at_s: float
    answered_at_s: float
    effect: Effect
    until_ms: int | None = None
    """The end of the longer time, by the clock of the broker; only of `Act.KEEP` that is done."""

    is_batch: bool = False


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
        self.locks: list[LockEvent] = []
        self.deliveries: list[Delivery] = []
        self.settlements: list[Settlement] = []

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

    def locked(self, entry: LockEvent) -> None:
        """Record that a lock was given, refused or released."""
        self.locks.append(entry)
        self._write("locked", asdict(entry))

    def delivered(self, entry: Delivery) -> None:
        """Record a message that a broker handed out."""
        self.deliveries.append(entry)
        self._write("delivered", asdict(entry))

    def settled(self, entry: Settlement) -> None:
        """Record an act of a consumer, and its effect."""
        self.settlements.append(entry)
        self._write("settled", asdict(entry))

    def note(self, event: str, **facts: Any) -> None:
        """Record other events: faults, refusals, elections."""
        self._write(event, {"at_s": self.now_s()} | facts)

    def close(self) -> None:
        """Write no more."""
        self._file.close()

    def _write(self, event: str, facts: dict[str, Any]) -> None:
        self._file.write(json.dumps({"event": event} | facts) + "\n")
