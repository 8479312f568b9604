"""Print each performance ratio of one run, and fail when one misses its limit or can't be taken.

Usage: `python -m tests.bench [appends] [store] [stock_store] [pipelined] [pulls] [catch_up]
[idle] [replication] [startup]`; all of these without names. `stock_store` measures a peer, in facts
without limits, and needs Maven and Java. By name alone: `elections` and `api`, which load a control
plane for minutes (`make bench-controller`, `make bench-api`). Failovers are a run of their own:
`python -m tests.bench.failover`.
"""

# ruff: noqa: T201 - its report is what it prints

import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

from tests.bench import native
from tests.bench.api import measure_api
from tests.bench.appends import measure_appends
from tests.bench.catch_up import measure_catch_up
from tests.bench.elections import measure_elections
from tests.bench.heartbeats import measure_heartbeats
from tests.bench.idle import measure_idle
from tests.bench.measure import Measure, UnsteadyError
from tests.bench.pipelined import measure_pipelined
from tests.bench.pulls import measure_pulls
from tests.bench.replication import measure_replication
from tests.bench.results import keep
from tests.bench.startup import measure_startup
from tests.bench.stock_store import measure_stock_store
from tests.bench.store import measure_store

MEASUREMENTS: dict[str, Callable[[], Iterable[Measure]]] = {
    "appends": measure_appends,
    "store": measure_store,
    "stock_store": measure_stock_store,
    "pipelined": measure_pipelined,
    "pulls": measure_pulls,
    "catch_up": measure_catch_up,
    "idle": measure_idle,
    "replication": measure_replication,
    "startup": measure_startup,
}
BY_NAME_ALONE: dict[str, Callable[[], Iterable[Measure]]] = {
    "elections": lambda: [*measure_elections(), *measure_heartbeats()],
    "api": measure_api,
}


def main(names: list[str]) -> int:
    known = MEASUREMENTS | BY_NAME_ALONE
    unknown = set(names) - set(known)
    if unknown:
        print(f"no measurement {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    if not names or MEASUREMENTS.keys() & set(names):
        native.build()
    started_at = datetime.now(UTC)
    measures: list[Measure] = []
    unsteady: dict[str, str] = {}
    for name in names or MEASUREMENTS:
        try:
            for measure in known[name]():
                print(measure.line(), flush=True)
                measures.append(measure)
        except UnsteadyError as error:
            unsteady[name] = str(error)
            print(f"{name}: not measured, {error}", flush=True)
    keep(measures, started_at, unsteady=unsteady)
    if unsteady:
        again = " ".join(unsteady)
        print(f"let the machine come to rest, then: python -m tests.bench {again}", file=sys.stderr)
    return 0 if not unsteady and all(measure.holds for measure in measures) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
