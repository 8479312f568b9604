"""Read the values of properties, and say to whoever changes one what it may be."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

QUEUE_ENTRY_SIZE: Final = 20

TypeName = Literal["boolean", "integer", "bytes", "choice", "text"]
Effect = Literal["live", "restart", "fixed"]
"""When another value counts: at once, after a restart, or only from the file, edited by hand."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Read `true` or `false`."""

    name: ClassVar[TypeName] = "boolean"

    def __call__(self, text: str) -> bool:
        """Give the value, or raise a ValueError that says what it must be."""
        if text.lower() not in {"true", "false"}:
            raise ValueError("must be true or false")
        return text.lower() == "true"


@dataclass(frozen=True, slots=True)
class Whole:
    """Read a whole number within bounds."""

    low: int
    high: int
    name: TypeName = "integer"

    def __call__(self, text: str) -> int:
        """Give the value, or raise a ValueError that says what it must be."""
        if not re.fullmatch(r"-?[0-9]{1,18}", text) or not self.low <= int(text) <= self.high:
            raise ValueError(f"must be a whole number from {self.low} to {self.high}")
        return int(text)


@dataclass(frozen=True, slots=True)
class Percent:
    """Read a percentage; stock moves one beyond the bounds to the nearer of them."""

    low: int
    high: int
    name: ClassVar[TypeName] = "integer"

    def __call__(self, text: str) -> int:
        """Give the value, or raise a ValueError that says what it must be."""
        return min(max(Whole(0, 100)(text), self.low), self.high)


@dataclass(frozen=True, slots=True)
class QueueFileSize:
    """Read a size in bytes, rounded up to whole queue entries."""

    low: ClassVar[int] = QUEUE_ENTRY_SIZE
    high: ClassVar[int] = 1 << 31
    name: ClassVar[TypeName] = "bytes"

    def __call__(self, text: str) -> int:
        """Give the value, or raise a ValueError that says what it must be."""
        size = Whole(self.low, self.high)(text)
        return -(-size // QUEUE_ENTRY_SIZE) * QUEUE_ENTRY_SIZE


@dataclass(frozen=True, slots=True)
class Choice:
    """Read one of some words, each of which stands for a value."""

    values: tuple[tuple[str, str], ...]
    name: ClassVar[TypeName] = "choice"

    @property
    def choices(self) -> tuple[str, ...]:
        """Give the words."""
        return tuple(word for word, _ in self.values)

    def __call__(self, text: str) -> str:
        """Give the value, or raise a ValueError that says what it must be."""
        for word, value in self.values:
            if word == text:
                return value
        raise ValueError(f"must be {' or '.join(self.choices)}")
