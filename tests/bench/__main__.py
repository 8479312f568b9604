"""Print each performance ratio of one run, and fail when one is below its floor.

Usage: `python -m tests.bench [appends] [store] [stock_store] [pipelined] [pulls] [idle]`; all of
them without names. `stock_store` measures a peer, in facts without limits, and needs Maven and
Java.
"""

# ruff: noqa: T201 - its report is what it prints

import json
import os
import platform
import sys
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import native
from tests.bench.appends import measure_appends
from tests.bench.idle import measure_idle
from tests.bench.measure import Measure
from tests.bench.pipelined import measure_pipelined
from tests.bench.pulls import measure_pulls
from tests.bench.stock_store import measure_stock_store
from tests.bench.store import measure_store

RESULTS = Path(__file__).with_name("results")
MEASUREMENTS: dict[str, Callable[[], list[Measure]]] = {
    "appends": measure_appends,
    "store": measure_store,
    "stock_store": measure_stock_store,
    "pipelined": measure_pipelined,
    "pulls": measure_pulls,
    "idle": measure_idle,
}


def main(names: list[str]) -> int:
    unknown = set(names) - set(MEASUREMENTS)
    if unknown:
        print(f"no measurement {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    native.build()
    started_at = datetime.now(UTC)
    measures: list[Measure] = []
    for name in names or MEASUREMENTS:
        for measure in MEASUREMENTS[name]():
            print(measure.line(), flush=True)
            measures.append(measure)
    keep(measures, started_at)
    return 0 if all(measure.holds for measure in measures) else 1


def keep(measures: list[Measure], started_at: datetime) -> None:
    """Write the run where later runs can be compared with it."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{started_at:%Y-%m-%dT%H%M%SZ}.json"
    run = {
        "started_at": started_at.isoformat(),
        "machine": {
            "cpu_count": os.cpu_count(),
            "load_average": os.getloadavg(),
            "kernel": platform.release(),
            "python": platform.python_version(),
        },
        "measures": [{**asdict(measure), "holds": measure.holds} for measure in measures],
    }
    path.write_text(json.dumps(run, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
