"""Floors and targets of the ratios, read from the table of docs/spec/targets.md 2."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs" / "spec" / "targets.md"
_ROW = re.compile(
    r"^\| (?P<number>R\d+\w?) \| [^|]+ \| (?P<floor>[^|]+) \| (?P<target>[^|]+) \|", re.MULTILINE
)
_FIGURE = re.compile(r"(\d+(?:\.\d+)?)( k\b| ms\b)?")
_FACTORS = {"": 1.0, " k": 1e3, " ms": 1e-3}


@dataclass(frozen=True, slots=True)
class Limit:
    """Two limits of one figure, times in seconds: a run fails beyond the floor."""

    floor: float
    target: float

    @property
    def is_ceiling(self) -> bool:
        """Whether less is better."""
        return self.target < self.floor


@cache
def limits() -> dict[str, tuple[Limit, ...]]:
    """Give the limits of each ratio; most have one figure, some have two."""
    return {
        row["number"]: tuple(map(Limit, _figures(row["floor"]), _figures(row["target"])))
        for row in _ROW.finditer(PAGE.read_text())
    }


def _figures(cell: str) -> list[float]:
    return [float(digits) * _FACTORS[unit] for digits, unit in _FIGURE.findall(cell)]
