"""Write docs/measurements.md from the runs beside it: `python -m tests.measurements`.

A run is a file of docs/measurements with its area, its machine and its measures, in the form that
`tests/bench/results.py` keeps. Names order the runs of an area, the newest last. The runs of what
clients see name their commits, and each of their measures is plotted over these.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.targets import limits

ROOT = Path(__file__).resolve().parents[1]
RUNS = ROOT / "docs" / "measurements"
PAGE = ROOT / "docs" / "measurements.md"
INTRODUCTION = """\
# Measurements

Measured ratios and times, run by run, each with its machine. A ratio compares two figures of one
run: ours and a limit of the machine, or ours and stock's. Machines differ by a factor of two from
day to day and disks by five. So an absolute figure means something beside its own run only.

```
make bench ─▶ a file of JSON ─▶ a copy in docs/measurements, with area, machine and note
                                                     └─▶ make measurements ─▶ this page
make bench BENCH=clients ─▶ a file in docs/measurements ─▶ make bench-page ─▶ this page
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
    "joins": "New members of a group with 2 GiB and live traffic",
    "failover": "Failover, beside stock",
    "elections": "Elections",
    "special": "Messages for a time, transactions and POP, beside stock",
    "moves": "Logical queues: moves and rates",
    "topics": "One more topic, beside few and beside many",
    "pages": "Pages at 200 broker groups and 10 000 topics",
}
CLIENTS, CLIENTS_TITLE = "clients", "What clients see, beside stock"
RATIOS = ("R1", "R1b", "R2", "R3", "R3b", "R4", "R4b", "R5", "R5b", "R6b", "R9", "R12", "R15")
"""The ratios that have the first target of their row in targets.md 2, in every measure."""

GOALS_AT_MOST: dict[str, float] = {"G10": 200, "G16": 250, "Q56": 1.3}
BAR_WIDTH = 40
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
    commit: str = ""

    def find(self, heading: tuple[str, str]) -> dict[str, Any] | None:
        """Find a measure by its number and title."""
        found = (one for one in self.measures if (one["id"], one["title"]) == heading)
        return next(found, None)

    def cell(self, heading: tuple[str, str]) -> str:
        """Give the value of a measure, in bold if it misses its target."""
        measure = self.find(heading)
        if measure is None:
            return ""
        text = f"{measure['value']:g}{measure['unit']}"
        return f"**{text}**" if misses(measure["id"], measure["value"]) else text


def misses(number: str, value: float) -> bool:
    """Return whether a value is on the wrong side of its target."""
    if number in RATIOS:
        limit = limits()[number][0]
        return value > limit.target if limit.is_ceiling else value < limit.target
    return value > GOALS_AT_MOST.get(number, value)


def read_runs() -> list[Run]:
    """Give all runs in the order of their names."""
    found = []
    for path in sorted(RUNS.glob("*.json")):
        run = json.loads(path.read_text())
        measures = tuple(run["measures"])
        where = (run["area"], run["machine"], run["note"])
        found.append(Run(path.stem, *where, measures, run.get("commit", "")))
    return found


def render(runs: list[Run]) -> str:
    """Write the page."""
    lines = [*INTRODUCTION.splitlines(), "", f"## {CLIENTS_TITLE}", ""]
    lines += _plots([run for run in runs if run.area == CLIENTS])
    for area, title in AREAS.items():
        own = [run for run in reversed(runs) if run.area == area]
        lines += ["", f"## {title}", "", *_table(own)]
    return "\n".join(lines) + "\n"


def _plots(runs: list[Run]) -> Iterator[str]:
    """Draw a bar for each run, the newest last, below the title of each measure."""
    if not runs:
        yield "No run is kept yet."
        return
    yield "A bar ends at the value of a run; `|` is the limit, `:` the target."
    yield ""
    yield from (f"- {run.commit}: {_where(run)}" for run in runs)
    yield ""
    yield "```"
    for heading in _headings(runs[::-1]):
        found = [(run, measure) for run in runs if (measure := run.find(heading))]
        yield from plot(heading, [(run.commit, measure) for run, measure in found])
        yield ""
    yield "```"


def plot(heading: tuple[str, str], found: list[tuple[str, dict[str, Any]]]) -> Iterator[str]:
    """Draw the bars of one measure, each a commit with its measure."""
    limit, target = (found[-1][1][name] for name in ("limit", "target"))
    marks = [(mark, at) for mark, at in (("|", limit), (":", target)) if at is not None]
    names = {"|": "limit", ":": "target"}
    bounds = ", ".join(f"{names[mark]} {at:g}" for mark, at in marks)
    yield f"{heading[0]} {heading[1]}" + (f" ({bounds})" if bounds else "")
    top = max([measure["value"] for _, measure in found] + [at for _, at in marks]) or 1
    for commit, measure in found:
        bar = list("█" * round(BAR_WIDTH * measure["value"] / top))
        bar += [" "] * (BAR_WIDTH + 1 - len(bar))
        for mark, at in marks:
            bar[round(BAR_WIDTH * at / top)] = mark
        text = f"{measure['value']:g}{measure['unit']}  {measure['verdict']}"
        yield f"  {commit:<16} {''.join(bar)} {text}".rstrip()


def _headings(runs: list[Run]) -> list[tuple[str, str]]:
    """Give the number and title of every measure, in the order of the runs."""
    return list(
        dict.fromkeys((measure["id"], measure["title"]) for run in runs for measure in run.measures)
    )


def _table(runs: list[Run]) -> Iterator[str]:
    headings = _headings(runs[::-1])
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
