"""Parse the values of properties, and describe the allowed values."""

import re
from dataclasses import dataclass
from typing import ClassVar, Final, Literal

QUEUE_ENTRY_SIZE: Final = 20

TypeName = Literal["boolean", "integer", "bytes", "choice", "text"]
Effect = Literal["live", "restart", "fixed"]
"""When a new value takes effect: immediately, after a restart, or only by editing the file."""


@dataclass(frozen=True, slots=True)
class Flag:
    """Parse `true` or `false`."""

    name: ClassVar[TypeName] = "boolean"

    def __call__(self, text: str) -> bool:
        """Return the value, or raise a ValueError with the allowed values."""
        if text.lower() not in {"true", "false"}:
            raise ValueError("must be true or false")
        return text.lower() == "true"


@dataclass(frozen=True, slots=True)
class Whole:
    """Parse an integer within bounds."""

    low: int
    high: int
    name: TypeName = "integer"

    def __call__(self, text: str) -> int:
        """Return the value, or raise a ValueError with the allowed values."""
        if not re.fullmatch(r"-?[0-9]{1,18}", text) or not self.low <= int(text) <= self.high:
            raise ValueError(f"must be a whole number from {self.low} to {self.high}")
        return int(text)


@dataclass(frozen=True, slots=True)
class Percent:
    """Parse a percentage; like stock, limit it to the bounds."""

    low: int
    high: int
    name: ClassVar[TypeName] = "integer"

    def __call__(self, text: str) -> int:
        """Return the value, or raise a ValueError with the allowed values."""
        return min(max(Whole(0, 100)(text), self.low), self.high)


@dataclass(frozen=True, slots=True)
class QueueFileSize:
    """Parse a size in bytes, rounded up to whole queue entries."""

    low: ClassVar[int] = QUEUE_ENTRY_SIZE
    high: ClassVar[int] = 1 << 31
    name: ClassVar[TypeName] = "bytes"

    def __call__(self, text: str) -> int:
        """Return the value, or raise a ValueError with the allowed values."""
        size = Whole(self.low, self.high)(text)
        return -(-size // QUEUE_ENTRY_SIZE) * QUEUE_ENTRY_SIZE


@dataclass(frozen=True, slots=True)
class Choice:
    """Parse one of some words, each of which stands for a value."""

    values: tuple[tuple[str, str], ...]
    name: ClassVar[TypeName] = "choice"

    @property
    def choices(self) -> tuple[str, ...]:
        """Give the words."""
        return tuple(word for word, _ in self.values)

    def __call__(self, text: str) -> str:
        """Return the value, or raise a ValueError with the allowed values."""
        for word, value in self.values:
            if word == text:
                return value
        raise ValueError(f"must be {' or '.join(self.choices)}")

    def word_of(self, value: str) -> str:
        """Return the word of a value."""
        return next(word for word, one in self.values if one == value)
