"""Print each performance ratio of one run, and fail when one misses its limit or can't be taken.

Usage: `python -m tests.bench [appends] [store] [stock_store] [pipelined] [pulls] [catch_up]
[idle] [replication] [startup] [clients]`; all of these without names. `stock_store` measures a
peer, in facts without limits; it and `clients` need Maven and Java. By name alone: `elections` and
`api`, which load a control plane for minutes (`make bench-controller`, `make bench-api`), and
`queue_moves` and `static_rates`, which measure static topics, `member_join`, and `share_modes`.
`timers` and `transactions` compare ours with stock, and need Maven and Java. Failovers are a run of
their own: `python -m tests.bench.failover`.

`clients` runs our broker and stock's in turn. Its options: `--rows R6a R7c`, `--blocks N`,
`--seconds S`, `--before CHECKOUT`. A whole run is also kept in docs/measurements.
"""

# ruff: noqa: T201 - its report is what it prints

import argparse
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests.bench import native
from tests.bench.api import measure_api
from tests.bench.appends import measure_appends
from tests.bench.catch_up import measure_catch_up
from tests.bench.clients.measure import BLOCK_COUNT, BLOCK_S, Options, measure_clients
from tests.bench.clients.rows import ROWS
from tests.bench.elections import measure_elections
from tests.bench.heartbeats import measure_heartbeats
from tests.bench.idle import measure_idle
from tests.bench.measure import Measure, NotMeasuredError
from tests.bench.member_join import measure_member_join
from tests.bench.pipelined import measure_pipelined
from tests.bench.pulls import measure_pulls
from tests.bench.queue_moves import measure_queue_moves
from tests.bench.replication import measure_replication
from tests.bench.results import current_commit, keep, keep_for_page
from tests.bench.share_modes import measure_share_modes
from tests.bench.special.timers import measure_timers
from tests.bench.special.transactions import measure_transactions
from tests.bench.startup import measure_startup
from tests.bench.static_rates import measure_static_rates
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
    "member_join": measure_member_join,
    "queue_moves": measure_queue_moves,
    "share_modes": measure_share_modes,
    "static_rates": measure_static_rates,
    "timers": measure_timers,
    "transactions": measure_transactions,
}
CLIENTS = "clients"


def main(arguments: list[str]) -> int:
    names, options = read_options(arguments)
    started_at, commit = datetime.now(UTC), current_commit()
    every = MEASUREMENTS | {CLIENTS: lambda: measure_clients(options)}
    if not names or MEASUREMENTS.keys() & set(names):
        native.build()
    measures: list[Measure] = []
    missing: dict[str, str] = {}
    for name in names or every:
        first = len(measures)
        try:
            for measure in (every | BY_NAME_ALONE)[name]():
                print(measure.line(), flush=True)
                measures.append(measure)
        except NotMeasuredError as error:
            missing[name] = str(error)
            print(f"{name}: not measured, {error}", flush=True)
        if name == CLIENTS and options.is_whole and name not in missing:
            kept = keep_for_page(CLIENTS, measures[first:], started_at, commit=commit)
            print(f"kept in {kept}")
    keep(measures, started_at, commit=commit, unsteady=missing)
    if missing:
        again = " ".join(missing)
        print(f"let the machine come to rest, then: python -m tests.bench {again}", file=sys.stderr)
    return 0 if not missing and all(measure.holds for measure in measures) else 1


def read_options(arguments: list[str]) -> tuple[list[str], Options]:
    """Read the names of measurements, and how `clients` is run."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench")
    names = [*MEASUREMENTS, CLIENTS, *BY_NAME_ALONE]
    numbers = list(dict.fromkeys(row.id for row in ROWS))
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(names)}")
    parser.add_argument(
        "--rows", nargs="+", choices=numbers, default=[], help="rows of clients (default: all)"
    )
    parser.add_argument(
        "--blocks",
        type=int,
        default=BLOCK_COUNT,
        help=f"blocks of a row of clients ({BLOCK_COUNT})",
    )
    parser.add_argument(
        "--seconds", type=float, default=BLOCK_S, help=f"length of a block ({BLOCK_S:g})"
    )
    parser.add_argument(
        "--before", type=Path, help="checkout of an older commit that clients measures as well"
    )
    read = parser.parse_args(arguments)
    if unknown := set(read.names) - set(names):
        parser.error(f"no measurement {', '.join(sorted(unknown))}")
    if read.blocks < 1 or read.seconds <= 0:
        parser.error("--blocks must be at least 1, and --seconds above 0")
    before = read.before.resolve() if read.before else None
    if before and not (before / ".venv" / "bin" / "python").exists():
        parser.error(f"{before} is no checkout that is set up: run make setup there")
    return read.names, Options(
        frozenset(read.rows), block_count=read.blocks, seconds=read.seconds, before=before
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
