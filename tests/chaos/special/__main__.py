"""Disturb groups of both modes under messages of stock clients that are not visible at once.

Usage: `python -m tests.chaos.special [--faults N] [--mode MODE] [--seed N] [--kinds KIND …]`; see
docs/chaos.md. Without a mode, runs of both modes alternate.
"""

# ruff: noqa: T201 - its report is what it prints

import argparse
import asyncio
import json
import os
import random
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Final

import uvloop

from tests.chaos.__main__ import SEED_COUNT, VIOLATIONS_SHOWN, until_reported
from tests.chaos.schedule import Kind
from tests.chaos.special.run import (
    KINDS,
    PAUSE_S_MAX,
    Mode,
    SpecialOutcome,
    SpecialPlan,
    run_special,
)
from tests.interop.java import build

RESULTS: Final = Path("build/chaos-special")
DEFAULT_FAULTS: Final = 300
FAULTS_PER_RUN: Final = 25
EXIT_VIOLATED: Final = 1


def main() -> int:
    """Carry out the faults; return 1 after a violation."""
    options = _parse()
    build()
    kinds = tuple(kind for kind in KINDS if kind in options.kinds)
    if options.mode is not None and options.faults <= FAULTS_PER_RUN:
        return _run_one(SpecialPlan(options.seed, options.faults, PAUSE_S_MAX, kinds, options.mode))
    return uvloop.run(until_reported(_run_all(list(_plans(options, kinds)))))


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.chaos.special", description=__doc__)
    faults = int(os.environ.get("REGENT_SPECIAL_FAULTS", DEFAULT_FAULTS))
    seed = random.SystemRandom().randrange(SEED_COUNT)
    parser.add_argument("--faults", type=int, default=faults)
    parser.add_argument("--mode", type=Mode, choices=list(Mode))
    parser.add_argument("--seed", type=int, default=seed)
    parser.add_argument("--kinds", nargs="+", type=Kind, choices=KINDS, default=list(KINDS))
    options = parser.parse_args()
    if options.faults < 1:
        parser.error("--faults must be 1 or more")
    return options


def _plans(options: argparse.Namespace, kinds: tuple[Kind, ...]) -> Iterator[SpecialPlan]:
    """Divide the faults among runs, each of one mode."""
    modes = list(Mode) if options.mode is None else [options.mode]
    run_count = max(len(modes), -(-options.faults // FAULTS_PER_RUN))
    each, rest = divmod(options.faults, run_count)
    for number in range(run_count):
        count = each + (number < rest)
        if count:
            mode = modes[number % len(modes)]
            yield SpecialPlan(options.seed + number // len(modes), count, PAUSE_S_MAX, kinds, mode)


async def _run_all(plans: list[SpecialPlan]) -> int:
    """Run each plan in a separate process, one after the other."""
    failed = []
    for plan in plans:
        process = await asyncio.create_subprocess_exec(sys.executable, *plan.command.split()[1:])
        try:
            if await process.wait():
                failed.append(f"{plan.mode}-{plan.seed}")
        except asyncio.CancelledError:
            process.terminate()
            await process.wait()
            raise
    print(f"{len(plans)} runs, failed: {failed or 'none'}")
    return EXIT_VIOLATED if failed else 0


def _run_one(plan: SpecialPlan) -> int:
    directory = (RESULTS / f"{plan.mode}-{plan.seed}").absolute()
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    outcome = uvloop.run(until_reported(run_special(plan, directory)))
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
    return EXIT_VIOLATED


def _described(outcome: SpecialOutcome) -> str:
    plan = outcome.plan
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(outcome.faults.items()))
    return (
        f"{plan.mode} mode, seed {plan.seed}: {outcome.fault_count} faults ({kinds}) in"
        f" {outcome.duration_s:.0f} s; {outcome.special_count} special messages acknowledged,"
        f" {outcome.receipt_count} received; {outcome.lock_count} locks given;"
        f" {outcome.acknowledged_count} other messages, {outcome.read_count} readings"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except asyncio.CancelledError:
        sys.exit("ended by a signal")
