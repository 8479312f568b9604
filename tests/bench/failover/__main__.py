"""Measure failovers beside stock's: R10, R10b and R10c of targets.md 2.

Usage: `python -m tests.bench.failover [--kinds kill pause partition stop elect] [--systems ours
stock] [--rounds N] [--into FILE] [--for-s SECONDS]`. The whole takes about an hour. With a file it
can be run in parts: each call goes on where the last one ended, and prints what all of them show.
"""

# ruff: noqa: T201 - its report is what it prints

import argparse
import asyncio
import math
import signal
import sys
import tempfile
from contextlib import AsyncExitStack, ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path

import uvloop

from tests.bench.failover.group import Group, GroupError
from tests.bench.failover.network import Network, cabled, loopback, missing_for_cables
from tests.bench.failover.ours import LeasePolicy, OurGroup
from tests.bench.failover.report import measures_of
from tests.bench.failover.round_log import RoundLog
from tests.bench.failover.rounds import Kind, run_round
from tests.bench.failover.stock import StockGroup
from tests.bench.results import keep
from tests.interop.java import build

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


class System(StrEnum):
    """Whose brokers."""

    OURS = "ours"
    STOCK = "stock"


def main(arguments: list[str]) -> int:
    options = read_options(arguments)
    if Kind.PARTITION in options.kinds and (missing := missing_for_cables()):
        print(f"{missing}; leave them out with --kinds", file=sys.stderr)
        return 2
    try:
        log = RoundLog(options.into)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    if System.STOCK in options.systems:
        build()
    started_at = datetime.now(UTC)
    is_complete = uvloop.run(measure(options, log))
    measures = measures_of(log.rounds)
    for one in measures:
        print(one.line(), flush=True)
    if options.into is None:
        path = keep(measures, started_at, failovers=[asdict(one) for one in log.rounds])
    else:
        path = options.into
    print(f"kept in {path}" + ("" if is_complete else "; the same command goes on"))
    return 0 if is_complete and all(one.holds for one in measures) else 1


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
    parser.add_argument(
        "--systems", nargs="+", type=System, choices=list(System), default=list(System),
        help="whose masters (default: both in turn)",
    )  # fmt: skip
    parser.add_argument("--into", type=Path, help="keep every round here, and go on from there")
    parser.add_argument(
        "--for-s", type=float, default=math.inf, help="begin no round after so many seconds"
    )
    parser.add_argument("--directory", type=Path, help="keep logs and stores here")
    return parser.parse_args(arguments)


async def measure(options: argparse.Namespace, log: RoundLog) -> bool:
    """Run what is missing of every kind, as far as time allows; a signal ends it in order.

    Returns whether nothing is missing any more.
    """
    task = asyncio.current_task()
    assert task is not None
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    ends_at = loop.time() + options.for_s
    with ExitStack() as stack:
        if options.directory is None:
            directory = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="regent-bench-"))
            )
        else:
            directory = options.directory
        for kind in options.kinds:
            if not await measure_kind(kind, options, directory / kind, log, ends_at=ends_at):
                return False
    return True


async def measure_kind(
    kind: Kind, options: argparse.Namespace, directory: Path, log: RoundLog, *, ends_at: float
) -> bool:
    """Run the missing rounds of one kind, the systems in turn; return whether none is left."""
    async with AsyncExitStack() as stack:
        missing: dict[Group, int] = {}
        for group in build_groups(stack, kind, options, directory):
            is_stock = isinstance(group, StockGroup)
            wanted = options.stock_rounds if is_stock else options.rounds or ROUNDS[kind]
            missing[group] = wanted - log.count_valid(kind, group.label)
            if missing[group] <= 0:
                del missing[group]
        if missing and asyncio.get_running_loop().time() >= ends_at:
            return False
        for group in missing:
            print(f"{kind}: starting {group.label}", flush=True)
            stack.push_async_callback(group.stop)
            try:
                await group.start()
            except GroupError as error:
                await restart_empty(group, error)
        return await run_rounds(kind, missing, log, fault_s=options.fault_s, ends_at=ends_at)


def build_groups(
    stack: AsyncExitStack, kind: Kind, options: argparse.Namespace, directory: Path
) -> list[Group]:
    policies: tuple[LeasePolicy, ...] = (
        ("quorum", "strict") if kind in STRICT_KINDS else ("quorum",)
    )
    if System.OURS not in options.systems:
        policies = ()
    count = len(policies) + (System.STOCK in options.systems)
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
    if System.STOCK in options.systems:
        groups.append(StockGroup(directory / "stock", network.host, places[-1], ports[-1]))
    return groups


async def run_rounds(
    kind: Kind, missing: dict[Group, int], log: RoundLog, *, fault_s: float, ends_at: float
) -> bool:
    """Run rounds in turn until none is missing, too many were void, or time is over."""
    loop = asyncio.get_running_loop()
    left = {group: VOID_ROUNDS_MAX * count for group, count in missing.items()}
    turn = 0
    while any(missing[group] > 0 and left[group] > 0 for group in missing):
        turn += 1
        # In turn, and each time in the other order.
        for group in list(missing)[:: 1 if turn % 2 else -1]:
            if missing[group] <= 0 or left[group] <= 0:
                continue
            if loop.time() >= ends_at:
                return False
            left[group] -= 1
            try:
                one = await run_round(group, kind, turn=turn, fault_s=fault_s)
            except GroupError as error:
                await restart_empty(group, error)
                continue
            missing[group] -= not one.is_void
            log.add(one)
            print(f"{kind} {missing[group]} left {group.label}: {one.line()}", flush=True)
    return True


async def restart_empty(group: Group, error: GroupError) -> None:
    """Start the peer again from nothing: a replica of it does not always find back.

    Raises:
        GroupError: it was a group of ours, which has to.
    """
    if not isinstance(group, StockGroup):
        raise error
    print(f"{error}; it begins anew", flush=True)
    await group.restart_empty()


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print("stopped; what --into names is kept", file=sys.stderr)
        sys.exit(130)
    except GroupError as error:
        print(f"{error}; what --into names is kept", file=sys.stderr)
        sys.exit(1)
