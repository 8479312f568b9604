"""Write docs/measurements.md from the runs beside it: `python -m tests.measurements`.

A run is a file of docs/measurements with its area, its machine and its measures, in the form that
`tests/bench/results.py` keeps. Names order the runs of an area, the newest last.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "docs" / "measurements"
PAGE = ROOT / "docs" / "measurements.md"
INTRODUCTION = """\
# Measurements

Measured ratios and times, run by run, each with its machine. A ratio compares two figures of one
run: ours and a limit of the machine, or ours and stock's. Machines differ by a factor of two from
day to day and disks by five, so an absolute figure means something beside its own run only.

```
make bench ─▶ a file of JSON ─▶ a copy in docs/measurements, with area, machine and note
                                                     └─▶ make measurements ─▶ this page
```

Example: R1 in the table of the store is how fast the store appends, as a share of plain copying.
The [targets](spec/targets.md) ask for 0.45; a run below is **bold**. The
[index](spec/README.md) explains each number.

What was learned and tried without a gain: [measurements/findings.md](measurements/findings.md).
What stays below its target: [progress.md](progress.md)."""
AREAS = {
    "store": "Store: copies, recovery, flushes",
    "reads": "Reads and sends",
    "replication": "Replication",
    "failover": "Failover, beside stock",
    "elections": "Elections",
    "topics": "One more topic, beside few and beside many",
    "pages": "Pages at 200 broker groups and 10 000 topics",
}
AT_LEAST: dict[str, float] = {
    "R1": 0.45, "R1b": 0.40, "R2": 0.35, "R3": 0.70, "R3b": 0.80, "R4": 0.55, "R5": 0.75,
    "R5b": 0.60, "R6b": 0.40, "R12": 0.85,
}  # fmt: skip
"""Targets of ratios that have one direction and one bound (targets.md 2)."""
AT_MOST: dict[str, float] = {"R4b": 1.5, "R9": 2.2, "G10": 200, "G16": 250}
ROWS_OF_RUNS_MIN = 3
"""From this number of runs on, the table of an area has a row for each run, else for each
measure."""


@dataclass(frozen=True, slots=True)
class Run:
    """The measures of one run, and its machine."""

    name: str
    area: str
    machine: str
    note: str
    measures: tuple[dict[str, Any], ...]

    def cell(self, heading: tuple[str, str]) -> str:
        """Give the value of a measure, in bold if it misses its target."""
        for measure in self.measures:
            if (measure["id"], measure["title"]) == heading:
                text = f"{measure['value']:g}{measure['unit']}"
                return f"**{text}**" if misses(measure["id"], measure["value"]) else text
        return ""


def misses(number: str, value: float) -> bool:
    """Return whether a value is on the wrong side of its target."""
    return value < AT_LEAST.get(number, value) or value > AT_MOST.get(number, value)


def read_runs() -> list[Run]:
    """Give all runs in the order of their names."""
    found = []
    for path in sorted(RUNS.glob("*.json")):
        run = json.loads(path.read_text())
        measures = tuple(run["measures"])
        found.append(Run(path.stem, run["area"], run["machine"], run["note"], measures))
    return found


def render(runs: list[Run]) -> str:
    """Write the page."""
    lines = [*INTRODUCTION.splitlines()]
    for area, title in AREAS.items():
        own = [run for run in reversed(runs) if run.area == area]
        lines += ["", f"## {title}", "", *_table(own)]
    return "\n".join(lines) + "\n"


def _table(runs: list[Run]) -> Iterator[str]:
    headings = list(
        dict.fromkeys(
            (measure["id"], measure["title"]) for run in reversed(runs) for measure in run.measures
        )
    )
    titles = [f"{number} {title}".strip() for number, title in headings]
    if len(runs) < ROWS_OF_RUNS_MIN:
        yield _row("measure", *(_where(run) for run in runs))
        yield "|---" * (len(runs) + 1) + "|"
        for heading, title in zip(headings, titles, strict=True):
            yield _row(title, *(run.cell(heading) for run in runs))
        return
    yield _row("run, newest first", *titles)
    yield "|---" * (len(headings) + 1) + "|"
    for run in runs:
        yield _row(_where(run), *(run.cell(heading) for heading in headings))


def _where(run: Run) -> str:
    link = f"[{run.name}](measurements/{run.name}.json)"
    return "; ".join(part for part in (f"{link}: {run.machine}", run.note) if part)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(render(read_runs()))
