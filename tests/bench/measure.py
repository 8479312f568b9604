"""What a measurement comes to: a figure, the limit it is held against, the facts beside it."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

BLOCK_COUNT = 7
"""Interleaved blocks of which the median counts (targets.md 2)."""


class UnsteadyError(Exception):
    """Too few blocks lay between two denominators that were alike (targets.md 1.3)."""

    def __init__(self, valid_count: int, block_count: int, denominator: str) -> None:
        super().__init__(
            f"only {valid_count} of {block_count} blocks had {denominator} that held still"
        )


@dataclass(frozen=True, slots=True)
class Measure:
    """One line of the report. `floor` bounds the value from below, `ceiling` from above."""

    id: str
    title: str
    value: float
    unit: str = ""
    floor: float | None = None
    ceiling: float | None = None
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

    def line(self) -> str:
        bound = ""
        if self.floor is not None:
            bound = f"  at least {self.floor:g}{self.unit}"
        elif self.ceiling is not None:
            bound = f"  at most {self.ceiling:g}{self.unit}"
        verdict = ("  ok" if self.holds else "  BELOW ITS LIMIT") if self.is_gate else ""
        facts = ", ".join(f"{name} {fact}" for name, fact in self.facts.items())
        return f"{self.id:<5}{self.title:<58}{self.value:8.3f}{self.unit}{bound}{verdict}" + (
            f"\n     {facts}" if facts else ""
        )


def median(values: Sequence[float]) -> float:
    return statistics.median(values)


def spread(values: Sequence[float]) -> str:
    """Say where the blocks lay, for a reader who doubts the median."""
    return f"{min(values):.3f}-{max(values):.3f}"
