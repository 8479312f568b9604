"""Measure failovers beside stock's: R10, R10b and R10c of targets.md 2.

Usage: `python -m tests.bench.failover [--kinds kill pause partition stop elect] [--rounds N]`.
"""

# ruff: noqa: T201 - its report is what it prints

import argparse
import asyncio
import signal
import sys
import tempfile
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import uvloop

from tests.bench.failover.group import Group
from tests.bench.failover.network import Network, cabled, loopback, missing_for_cables
from tests.bench.failover.ours import OurGroup
from tests.bench.failover.report import measures_of
from tests.bench.failover.rounds import Kind, Round, run_round
from tests.bench.failover.stock import StockGroup
from tests.bench.results import keep
from tests.interop.client import build

BROKER_COUNT = 3
"""A master and two replicas."""

ROUNDS = {Kind.KILL: 20, Kind.PAUSE: 7, Kind.PARTITION: 7, Kind.STOP: 7, Kind.ELECT: 7}
STOCK_ROUNDS = 7
VOID_ROUNDS_MAX = 2
"""A round that is void is repeated; so many times the wanted number are run at most."""

FAULT_S = 20.0
"""How long a pause or a partition lasts, as in the measurements that the targets are made from."""

PORT_FIRST, PORTS_A_GROUP = 14_000, 1_000
STRICT_KINDS = frozenset({Kind.PAUSE, Kind.PARTITION, Kind.STOP})
"""Where the policy makes a difference, and does not rule the kind out: a closed connection is no
proof of death, and an operator's election has to wait until the lease is over (targets.md 5.6)."""


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    if Kind.PARTITION in options.kinds and (missing := missing_for_cables()):
        print(f"{missing}; leave them out with --kinds", file=sys.stderr)
        return 2
    if not options.without_stock:
        build()
    started_at = datetime.now(UTC)
    rounds = uvloop.run(measure(options))
    measures = measures_of(rounds)
    for one in measures:
        print(one.line(), flush=True)
    path = keep(measures, started_at, failovers=[asdict(one) for one in rounds])
    print(f"kept in {path}")
    return 0 if all(one.holds for one in measures) else 1


def read_options(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.failover")
    parser.add_argument(
        "--kinds", nargs="+", type=Kind, choices=list(Kind), default=list(Kind),
        help="how masters are taken away (default: every way)",
    )  # fmt: skip
    parser.add_argument(
        "--rounds", type=int, help="rounds of ours for each kind (20 kills, else 7)"
    )
    parser.add_argument("--stock-rounds", type=int, default=STOCK_ROUNDS, help="of stock (7)")
    parser.add_argument("--fault-s", type=float, default=FAULT_S, help="length of a pause (20)")
    parser.add_argument("--without-stock", action="store_true", help="measure ours alone")
    parser.add_argument("--directory", type=Path, help="keep logs and stores here")
    return parser.parse_args(arguments)


async def measure(options: argparse.Namespace) -> list[Round]:
    """Run every kind; a signal ends it in order."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    rounds: list[Round] = []
    with ExitStack() as stack:
        if options.directory is None:
            directory = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="regent-bench-"))
            )
        else:
            directory = options.directory
        for kind in options.kinds:
            rounds += await measure_kind(kind, options, directory / kind)
    return rounds


async def measure_kind(kind: Kind, options: argparse.Namespace, directory: Path) -> list[Round]:
    """Run the rounds of one kind, the systems in turn."""
    async with AsyncExitStack() as stack:
        wanted: dict[Group, int] = {}
        for group in build_groups(stack, kind, options, directory):
            is_stock = isinstance(group, StockGroup)
            wanted[group] = options.stock_rounds if is_stock else options.rounds or ROUNDS[kind]
            print(f"{kind}: starting {group.label}", flush=True)
            stack.push_async_callback(group.stop)
            await group.start()
        return await run_rounds(kind, wanted, fault_s=options.fault_s)


def build_groups(
    stack: AsyncExitStack, kind: Kind, options: argparse.Namespace, directory: Path
) -> list[Group]:
    policies = ("quorum", "strict") if kind in STRICT_KINDS else ("quorum",)
    count = len(policies) + (not options.without_stock)
    network: Network = (
        stack.enter_context(cabled(count * BROKER_COUNT))
        if kind is Kind.PARTITION
        else loopback(count * BROKER_COUNT)
    )
    places = [network.places[i * BROKER_COUNT : (i + 1) * BROKER_COUNT] for i in range(count)]
    ports = [PORT_FIRST + i * PORTS_A_GROUP for i in range(count)]
    groups: list[Group] = [
        OurGroup(directory / policy, network.host, place, port, policy=policy)
        for policy, place, port in zip(policies, places, ports, strict=False)
    ]
    if not options.without_stock:
        groups.append(StockGroup(directory / "stock", network.host, places[-1], ports[-1]))
    return groups


async def run_rounds(kind: Kind, wanted: dict[Group, int], *, fault_s: float) -> list[Round]:
    rounds: list[Round] = []
    left = {group: VOID_ROUNDS_MAX * count for group, count in wanted.items()}
    missing = dict(wanted)
    turn = 0
    while any(missing[group] > 0 and left[group] > 0 for group in wanted):
        turn += 1
        # In turn, and each time in the other order.
        for group in list(wanted)[:: 1 if turn % 2 else -1]:
            if missing[group] <= 0 or left[group] <= 0:
                continue
            left[group] -= 1
            one = await run_round(group, kind, turn=turn, fault_s=fault_s)
            missing[group] -= not one.is_void
            rounds.append(one)
            done = wanted[group] - missing[group]
            print(f"{kind} {done}/{wanted[group]} {group.label}: {one.line()}", flush=True)
    return rounds


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped; nothing of it is kept", file=sys.stderr)
        sys.exit(130)
