"""What a measurement comes to: a figure, the limit it is held against, the facts beside it."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

BLOCK_COUNT = 7
"""Interleaved blocks of which the median counts (targets.md 2)."""


class NotMeasuredError(Exception):
    """Something could not be measured; the message says what and why."""


class UnsteadyError(NotMeasuredError):
    """Too few blocks lay between two denominators that were alike (targets.md 1.3)."""

    def __init__(self, valid_count: int, block_count: int, denominator: str) -> None:
        super().__init__(
            f"only {valid_count} of {block_count} blocks had {denominator} that held still"
        )


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the report. `floor` bounds the value from below, `ceiling` from above.

    `target` lies on the same side, further off: a value between them is good enough to pass.
    """

    id: str
    title: str
    value: float
    unit: str = ""
    floor: float | None = None
    ceiling: float | None = None
    target: float | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What is printed beside the value."""

    blocks: list[dict[str, Any]] = field(default_factory=list)
    """What the value was made from; kept with the run, not printed."""

    @property
    def is_gate(self) -> bool:
        return self.floor is not None or self.ceiling is not None

    @property
    def holds(self) -> bool:
        above = self.floor is None or self.value >= self.floor
        below = self.ceiling is None or self.value <= self.ceiling
        return above and below

    @property
    def reaches_target(self) -> bool:
        if self.target is None:
            return self.holds
        if self.ceiling is not None:
            return self.value <= self.target
        return self.value >= self.target

    @property
    def verdict(self) -> str:
        if not self.is_gate:
            return ""
        if not self.holds:
            return "BELOW ITS LIMIT"
        return "ok" if self.reaches_target else "below its target"

    def line(self) -> str:
        bound = ""
        if self.floor is not None:
            bound = f"  at least {self.floor:g}{self.unit}"
        elif self.ceiling is not None:
            bound = f"  at most {self.ceiling:g}{self.unit}"
        if self.target is not None:
            bound += f" (target {self.target:g})"
        verdict = f"  {self.verdict}" if self.verdict else ""
        facts = ", ".join(f"{name} {fact}" for name, fact in self.facts.items())
        return f"{self.id:<5}{self.title:<58}{self.value:8.3f}{self.unit}{bound}{verdict}" + (
            f"\n     {facts}" if facts else ""
        )


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """Say where the blocks lay, for a reader who doubts the median."""
    return f"{min(values):.3f}-{max(values):.3f}"
