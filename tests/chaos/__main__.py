"""Run seeds until enough masters have changed, print the results, and fail on a violation.

Usage: `python -m tests.chaos [--failovers N] [--runs N] [--jobs N] [--seed N] [--pause-max S]
[--kinds KIND …] [--kinds-each N] [--share-modes MODE …]`; see docs/chaos.md. Runs take the modes by
turns, and the runs of each mode the kinds.
"""

# ruff: noqa: T201 - its report is what it prints

import argparse
import asyncio
import json
import os
import random
import shutil
import signal
import sys
from collections.abc import Coroutine
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeVar

import uvloop

from backend.domain.share_mode import ShareMode
from tests.chaos.run import Outcome, Plan, run
from tests.chaos.schedule import LONG_S_MIN, Kind

RESULTS: Final = Path("build/chaos")
SEED_COUNT: Final = 1_000_000
DEFAULT_FAILOVERS: Final = 500
FAILOVERS_PER_RUN: Final = 25
VIOLATIONS_SHOWN: Final = 20

Result = TypeVar("Result")


def main() -> int:
    """Run the requested seeds; return 1 after a violation."""
    options = _parse()
    plans = _plans(options)
    if options.runs == 1:
        return _run_one(plans[0])
    print(
        f"{options.failovers} failovers in {options.runs} runs, from seed {options.seed} on",
        flush=True,
    )
    return uvloop.run(until_reported(_run_all(plans, options.jobs)))


def _plans(options: argparse.Namespace) -> list[Plan]:
    """Divide failovers, modes and kinds among the runs."""
    each, rest = divmod(options.failovers, options.runs)
    kinds, modes = [kind for kind in Kind if kind in options.kinds], options.share_modes
    count = min(options.kinds_each or len(kinds), len(kinds))
    plans = []
    for number in range(options.runs):
        # The policy alternates with the seed: each mode is to have both.
        mode = modes[(number + 1) // 2 % len(modes)] if options.runs > 1 else modes[0]
        first = number // len(modes) * count
        own = {kinds[(first + at) % len(kinds)] for at in range(count)}
        plan = Plan(
            options.seed + number,
            each + (number < rest),
            options.pause_max,
            tuple(kind for kind in Kind if kind in own),
            share_mode=mode,
        )
        plans.append(plan)
    return plans


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    failovers = int(os.environ.get("REGENT_CHAOS_FAILOVERS", DEFAULT_FAILOVERS))
    seed = os.environ.get("REGENT_CHAOS_SEED")
    parser.add_argument("--failovers", type=int, default=failovers)
    parser.add_argument("--runs", type=int, default=None)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--pause-max", type=float, default=20.0)
    parser.add_argument("--kinds-each", type=int, default=None)
    parser.add_argument("--kinds", nargs="+", type=Kind, choices=list(Kind), default=list(Kind))
    modes = list(ShareMode)
    parser.add_argument("--share-modes", nargs="+", type=ShareMode, choices=modes, default=modes)
    parser.add_argument("--seed", type=int, default=int(seed) if seed else None)
    options = parser.parse_args()
    if options.seed is None:
        options.seed = random.SystemRandom().randrange(SEED_COUNT)
    if options.runs is None:
        options.runs = -(-options.failovers // FAILOVERS_PER_RUN)
    if options.failovers < options.runs or options.runs < 1 or options.jobs < 1:
        parser.error("failovers, runs and jobs must be 1 or more, and failovers as many as runs")
    if options.kinds_each is not None and options.kinds_each < 1:
        parser.error("--kinds-each must be 1 or more")
    if options.pause_max < LONG_S_MIN:
        parser.error(f"--pause-max must be {LONG_S_MIN:g} or more, longer than a lease")
    return options


def _run_one(plan: Plan) -> int:
    directory = RESULTS / f"seed-{plan.seed}"
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    outcome = uvloop.run(until_reported(run(plan, directory)))
    (directory / "outcome.json").write_text(json.dumps(asdict(outcome), indent=1) + "\n")
    print(_described(outcome), flush=True)
    for violation in outcome.violations[:VIOLATIONS_SHOWN]:
        print(f"  VIOLATION {violation}")
    if not outcome.violations:
        for store in directory.glob("agent*/store"):
            shutil.rmtree(store)
        return 0
    print(f"  {len(outcome.violations)} violations; what is left of it: {directory}")
    print(f"  again: {plan.command}", flush=True)
    return 1


async def _run_all(plans: list[Plan], job_count: int) -> int:
    """Run each plan in a separate process, some side by side."""
    slots = asyncio.Semaphore(job_count)

    async def run_slotted(plan: Plan) -> int:
        async with slots:
            process = await asyncio.create_subprocess_exec(
                sys.executable, *plan.command.split()[1:]
            )
            try:
                return await process.wait()
            except asyncio.CancelledError:
                process.terminate()
                await process.wait()
                raise

    codes = await asyncio.gather(*map(run_slotted, plans))
    failed = [plan.seed for plan, code in zip(plans, codes, strict=True) if code]
    print(f"{len(plans)} runs, failed: {failed or 'none'}")
    return 1 if failed else 0


async def until_reported(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine; a signal ends it, and with it every process that it has started."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    return await task


def _described(outcome: Outcome) -> str:
    plan = outcome.plan
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(outcome.failovers.items()))
    return (
        f"seed {plan.seed} ({plan.policy}, {plan.flush}, {plan.share_mode}):"
        f" {outcome.failover_count} failovers ({kinds}) by {outcome.fault_count} faults in"
        f" {outcome.duration_s:.0f} s"
        f" ({outcome.own_processor_s:.0f} s of processor time of the run's own);"
        f" {outcome.acknowledged_count} messages acknowledged, {outcome.read_count} readings,"
        f" {outcome.delivery_count} deliveries by POP"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except asyncio.CancelledError:
        sys.exit("ended by a signal")
