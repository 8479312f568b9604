"""Run the long forms of the tests, and print the work and the result of each.

Usage: `python -m tests.soak [--all] [PART …]`. Without a part it runs the parts that have not
passed with the present code, so an interrupted run continues; with `--all` it runs every part. A
part that fails does not stop the others. Two parts with clusters run at once, and beside them one
that only computes, at a lower priority. Parts that judge durations follow, one by one: they need
the machine for themselves. The output of a part is shown once it is over, and kept as
`build/soak/PART.log`; that of a single part is shown as it comes. The variable of a part sets
another amount than the default. `make test` runs a short form of each.
"""

# ruff: noqa: T201 - its table is what it prints

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tests.bench.results import current_commit

ROOT: Final = Path(__file__).resolve().parents[1]
PYTEST: Final = (sys.executable, "-m", "pytest", "-q", "--timeout", "7200")
CARGO_TEST: Final = (
    *("cargo", "test", "--locked", "--quiet"),
    *("--manifest-path", str(ROOT / "workers/engine/Cargo.toml")),
)
CARGO_TEST_BUILT: Final = (*CARGO_TEST, "--features", "regent-commitlog/failpoints")
"""With the features of `make test`, so that nothing is compiled again."""
CARGO_TEST_SCHEDULES: Final = (
    *(*CARGO_TEST, "-p", "regent-commitlog", "-p", "regent-replication"),
    *("--features", "regent-replication/schedules", "--test", "schedules"),
)
ALL_CASES: Final = "REGENT_ALL_CASES"
"""The variable that makes a test run all of its cases. Each part sets it."""
KEPT: Final = ROOT / "build/soak"
"""Has the last result of each part."""
CLUSTER_PARTS_AT_ONCE: Final = 2
"""They wait for half of their time."""
SHOWING: Final = threading.Lock()
ROW: Final = "{:<12}{:<66}{:>8}  {}"


@dataclass(frozen=True, slots=True)
class Part:
    """The long form of some tests: its amount is passed to them as an environment variable."""

    name: str
    what: str
    """What it runs so many of; `{}` is the amount."""

    variable: str
    usual_amount: int
    command: tuple[str, ...]
    only_computes: bool = False
    """It waits for nothing, so it runs at a lower priority."""

    judges_durations: bool = False
    """On a busy machine it fails, so it runs alone."""

    @property
    def amount(self) -> int:
        """Give the amount of the environment, or the default one."""
        return int(os.environ.get(self.variable, self.usual_amount))

    def describe(self, amount: int) -> str:
        """Say what it runs in this amount."""
        return self.what.format(f"{amount:,}".replace(",", " "))


PARTS_OF_ONE_KIND: Final = (
    Part(
        "miri",
        "tests that map no file, in Miri: fuzzing for {} s at each entry point",
        "REGENT_FUZZ_SECONDS",
        5,
        (sys.executable, "-m", "tests.nightly", "miri"),
        only_computes=True,
    ),
    Part(
        "coverage",
        "inputs chosen by the code they reach, for {} s at each entry point",
        "REGENT_COVERAGE_SECONDS",
        60,
        (sys.executable, "-m", "tests.nightly", "coverage"),
        only_computes=True,
    ),
    Part(
        "fuzz",
        "mutated inputs for {} s at each entry point of the engine",
        "REGENT_FUZZ_SECONDS",
        30,
        (
            *(*CARGO_TEST, "-p", "regent-fuzz", "--release"),
            *("--test", "fuzz_runner", "--", "--nocapture", "--test-threads", "2"),
        ),
        only_computes=True,
    ),
    Part(
        "model",
        "every state of three brokers, three epochs and {} messages",
        "REGENT_MODEL_MESSAGES",
        4,
        (*CARGO_TEST_BUILT, "--test", "model", "--", "--nocapture", "with_all_rules"),
        only_computes=True,
    ),
    Part(
        "crash",
        "{} crash images of a store",
        "REGENT_CRASH_IMAGES",
        20_000,
        (*CARGO_TEST_BUILT, "--test", "crash", "--", "--nocapture"),
        only_computes=True,
    ),
    Part(
        "ext4",
        "{} crashes of an ext4 in a loop device, which needs root",
        "REGENT_EXT4_IMAGES",
        400,
        (*CARGO_TEST_BUILT, "--test", "crash", "--", "--nocapture", "--ignored", "ext4"),
        only_computes=True,
    ),
    Part(
        "schedules",
        "{} schedules of each set of threads of the engine",
        "REGENT_SCHEDULES",
        50_000,
        CARGO_TEST_SCHEDULES,
        only_computes=True,
    ),
    Part(
        "flips",
        "{} wrong bits in a closed or killed store, looks at a busy one",
        "REGENT_BIT_FLIPS",
        2_500,
        (*CARGO_TEST_BUILT, "--test", "suite", "--", "bit_flips", "inspecting_busy"),
        only_computes=True,
    ),
    Part(
        "order",
        "the order in which records reach the log, built as the engine is shipped: {} rounds",
        "REGENT_ORDER_ROUNDS",
        50,
        (
            *(*CARGO_TEST, "-p", "regent-commitlog", "--release"),
            *("--test", "writing_order"),
        ),
        only_computes=True,
    ),
    Part(
        "codec",
        "{} generated commands, decoded by the engine and by a slow decoder",
        "REGENT_GENERATED_COMMANDS",
        100_000,
        (*PYTEST, "tests/unit/engine/test_codec.py", "-k", "independent"),
        only_computes=True,
    ),
    Part(
        "endurance",
        "{} minutes at 60 % load, topics that come and go, a failover every five",
        "REGENT_ENDURANCE_MINUTES",
        60,
        (sys.executable, "-m", "tests.chaos.endurance"),
    ),
    Part(
        "chaos",
        "{} failovers by faults of every kind, half of them in SHARED mode, from a new seed",
        "REGENT_CHAOS_FAILOVERS",
        450,
        (sys.executable, "-m", "tests.chaos"),
    ),
    Part(
        "special",
        "{} faults under delayed, timer and transactional messages of stock clients",
        "REGENT_SPECIAL_FAULTS",
        300,
        (sys.executable, "-m", "tests.chaos.special"),
    ),
    Part(
        "queues",
        "{} logical queues that move under load of each stock client",
        "REGENT_MOVING_QUEUES",
        100,
        (*PYTEST, "-s", "tests/interop/test_static_topics.py"),
        judges_durations=True,
    ),
    Part(
        "moves",
        "{} kills of each process at each step of moves of a logical queue",
        "REGENT_MOVE_ROUNDS",
        10,
        (*PYTEST, "tests/integration/replication/test_queue_moves.py"),
    ),
    Part(
        "operations",
        "{} stories in which workers and servers die during operations",
        "REGENT_OPERATION_RUNS",
        3_000,
        (
            *(*PYTEST, "-n", "2"),
            "tests/integration/operations/test_crashes.py",
            "tests/integration/operations/test_crash_mistakes.py",
        ),
    ),
    Part(
        "modes",
        "{} scripts of consumers by POP in PRIMARY and in SHARED mode, over a failover",
        "REGENT_SHARE_SCRIPTS",
        60,
        (*PYTEST, "-n", "2", "tests/integration/replication/test_share_modes.py"),
    ),
    Part(
        "lives",
        "{} random lives of a group, whose log says what its master knows",
        "REGENT_GROUP_LIVES",
        500,
        (*PYTEST, "tests/unit/broker/replication/test_state_model.py"),
    ),
    Part(
        "schemas",
        "{} generated questions at each entry of REST and GraphQL",
        "REGENT_SCHEMA_EXAMPLES",
        60,
        (
            *(*PYTEST, "-n", "2"),
            "tests/integration/api/test_openapi.py",
            "tests/integration/api/test_graphql_schema.py",
        ),
    ),
    Part(
        "events",
        "{} killed subscribers under 1 000 events a second",
        "REGENT_EVENT_KILLS",
        1_000,
        (*PYTEST, "-s", "tests/integration/api/test_events.py", "-k", "killed"),
    ),
    Part(
        "messages",
        "{} messages in each way that both stock clients can send",
        "REGENT_SENT_MESSAGES",
        10_000,
        (*PYTEST, "tests/interop/test_messages.py", "-k", "each_kind"),
    ),
    Part(
        "kills",
        "{} kills of brokers that a stock client sends to",
        "REGENT_BROKER_KILLS",
        20,
        (*PYTEST, "tests/interop/test_chaos.py"),
    ),
    Part(
        "elections",
        "{} ordered elections under 1 000 messages a second",
        "REGENT_ELECTIONS",
        20,
        (*PYTEST, "-s", "tests/system/test_graceful_elections.py"),
    ),
    Part(
        "pauses",
        "a paused control plane of {} broker groups",
        "REGENT_PAUSED_GROUPS",
        200,
        (*PYTEST, "tests/integration/nameserver/test_own_pauses.py", "-k", "empties_no_route"),
    ),
)
"""The parts that take longest come first."""


def _case_files() -> list[str]:
    """List the files with cases that no other part runs."""
    has_cases = re.compile(
        "^from tests.long_form import|newest_client|CLIENT_VERSIONS", re.MULTILINE
    )
    whole = [one.command for one in PARTS_OF_ONE_KIND if "-k" not in one.command]
    files = sorted((ROOT / "tests").rglob("test_*.py"))
    named = (str(one.relative_to(ROOT)) for one in files if has_cases.search(one.read_text()))
    return [name for name in named if not any(name in command for command in whole)]


PARTS: Final = (
    *PARTS_OF_ONE_KIND,
    Part(
        "cases",
        "all cases of the tests of which `make test` runs a few",
        ALL_CASES,
        1,
        (*PYTEST, "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder", *_case_files()),
        judges_durations=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a part ended.

    Attributes:
        commit: The commit that was checked out, with a mark if files differed from it.
        code: The digest of the sources.
        amount: How many of its work the part did.
        seconds: Its duration.
        exit_code: 0 if it passed.
    """

    commit: str
    code: str
    amount: int
    seconds: float
    exit_code: int

    def is_passed(self, part: Part, code: str) -> bool:
        """Return whether the part has passed with this code and the amount that is asked for."""
        return self.exit_code == 0 and self.code == code and self.amount >= part.amount

    def describe(self, code: str) -> str:
        """Say the result and the commit it is of."""
        result = "passed" if self.exit_code == 0 else f"FAILED ({self.exit_code})"
        return f"{result} at {self.commit}{'' if self.code == code else ', other code'}"


def main(arguments: Sequence[str], parts: Sequence[Part] = PARTS, folder: Path = KEPT) -> int:
    """Run the named parts, or those that have not passed; 1 if one has not passed after it."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("names", metavar="PART", nargs="*", help="a part to run in any case")
    parser.add_argument("--all", action="store_true", help="run the parts that have passed, too")
    asked = parser.parse_args(arguments)
    if unknown := sorted(set(asked.names) - {part.name for part in parts}):
        known = ", ".join(part.name for part in parts)
        print(f"no part {', '.join(unknown)}; the parts are {known}", file=sys.stderr)
        return 2
    chosen = [part for part in parts if not asked.names or part.name in asked.names]
    code, last = _code(), [(part, _kept(part, folder)) for part in chosen]
    is_forced = bool(asked.names or asked.all)
    due = [part for part, one in last if is_forced or not (one and one.is_passed(part, code))]
    try:
        _run_all(due, folder)
    finally:
        _print_table(parts, folder)
    last = [(part, _kept(part, folder)) for part in chosen]
    return 0 if all(one and one.is_passed(part, _code()) for part, one in last) else 1


def _code() -> str:
    """Give a digest of the sources as they lie on the disk; pages of text are not among them."""
    listed = subprocess.run(
        ("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", ":!docs", ":!*.md"),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    digest = hashlib.sha256()
    for name in sorted(filter(None, listed.split("\0"))):
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        digest.update(hashlib.sha256(content).digest() + name.encode())
    return digest.hexdigest()


def _run_all(parts: Sequence[Part], folder: Path) -> None:
    """Run parts, and keep how each ended."""
    folder.mkdir(parents=True, exist_ok=True)
    _run_together([part for part in parts if not part.judges_durations], folder, len(parts))
    for part in parts:
        if part.judges_durations:
            _run(part, folder, is_alone=len(parts) == 1)


def _run_together(parts: Sequence[Part], folder: Path, count: int) -> None:
    """Run some of so many parts beside one another."""
    with ThreadPoolExecutor(1) as computing, ThreadPoolExecutor(CLUSTER_PARTS_AT_ONCE) as others:
        pools = (others, computing)
        runs = [
            pools[part.only_computes].submit(_run, part, folder, is_alone=count == 1)
            for part in parts
        ]
        try:
            for run in as_completed(runs):
                run.result()
        finally:
            for pool in pools:
                pool.shutdown(wait=False, cancel_futures=True)


def _run(part: Part, folder: Path, *, is_alone: bool) -> None:
    """Run a part. Beside others its output is shown at its end, as a whole."""
    begins = f"\n{part.name}: {part.describe(part.amount)}"
    print(begins, flush=True)
    commit, code, begun_s = current_commit(), _code(), time.monotonic()
    environment = os.environ | {ALL_CASES: "1", part.variable: str(part.amount)}
    command = ("nice", "-n", "10", *part.command) if part.only_computes else part.command
    log = folder / f"{part.name}.log"
    with nullcontext() if is_alone else log.open("w") as output:
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=environment,
            check=False,
            stdout=output,
            stderr=output and subprocess.STDOUT,
        )
    ended = Ended(commit, code, part.amount, time.monotonic() - begun_s, done.returncode)
    _keep(part, ended, folder)
    if not is_alone:
        with SHOWING:
            print(begins, log.read_text(errors="replace"), sep="\n", end="")
            print(f"{part.name}: {ended.describe(code)} after {ended.seconds:.0f} s", flush=True)


def _keep(part: Part, ended: Ended, folder: Path) -> None:
    written = folder / f"{part.name}.new"
    written.write_text(json.dumps(asdict(ended), indent=2) + "\n")
    written.replace(folder / f"{part.name}.json")


def _kept(part: Part, folder: Path) -> Ended | None:
    path = folder / f"{part.name}.json"
    return Ended(**json.loads(path.read_text())) if path.exists() else None


def _print_table(parts: Sequence[Part], folder: Path) -> None:
    """Print the last result of every part."""
    code = _code()
    print("\n" + ROW.format("part", "what it ran", "seconds", "result"))
    for part in parts:
        if kept := _kept(part, folder):
            row = (part.describe(kept.amount), f"{kept.seconds:.0f}", kept.describe(code))
        else:
            row = (part.describe(part.amount), "", "has not run")
        print(ROW.format(part.name, *row), flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
