"""Run tests that need the nightly compiler: coverage-guided fuzzing, and Miri.

Usage: `python -m tests.nightly coverage|miri`. The exit code is 2 where the compiler is missing.
"""

# ruff: noqa: T201 - what it prints is for who runs it

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
ENGINE: Final = ROOT / "workers/engine"
BUILD: Final = ROOT / "build/nightly"
HOST: Final = "x86_64-unknown-linux-gnu"
INSTALL: Final = "rustup toolchain install nightly --profile minimal --component miri,rust-src"

COVERAGE_FLAGS: Final = (
    "-Cpasses=sancov-module",
    "-Cllvm-args=-sanitizer-coverage-level=4",
    "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
    "-Cllvm-args=-sanitizer-coverage-pc-table",
    "-Cllvm-args=-sanitizer-coverage-trace-compares",
    "-Zsanitizer=address",
)
"""What `cargo fuzz` passes, so that `cargo-fuzz` need not be installed."""
LIMITS: Final = ("-timeout=30", "-rss_limit_mb=1024", "-max_len=65536", "-print_final_stats=1")


@dataclass(frozen=True, slots=True)
class MiriGroup:
    """Tests of one package that one process interprets."""

    name: str
    build: tuple[str, ...]
    """The package, and which of its test programs are built."""

    tests: tuple[str, ...]
    """The names that the test programs filter by."""


REMOTING: Final = ("-p", "regent-remoting")
HOT_PATH: Final = ("-p", "regent-hotpath", "--lib")
COMMIT_LOG: Final = ("-p", "regent-commitlog", "--lib")
COMMIT_LOG_SUITE: Final = ("-p", "regent-commitlog", "--test", "suite")
FUZZ_RUNNER: Final = ("-p", "regent-fuzz", "--test", "fuzz_runner")
MIRI_GROUPS: Final = (
    MiriGroup("fuzzed frames", FUZZ_RUNNER, ("of_a_batch", "of_a_client", "both_readers")),
    MiriGroup("fuzzed headers", FUZZ_RUNNER, ("_header_that",)),
    MiriGroup("remoting", REMOTING, ("--skip", "as_large_as", "--skip", "cannot_be_written")),
    MiriGroup("records", COMMIT_LOG, ("record::", "--skip", "glance::")),
    MiriGroup("records at a glance", COMMIT_LOG, ("record::glance::",)),
    MiriGroup(
        "layouts",
        COMMIT_LOG,
        ("queue_layout::", "cursor::", "properties::", "checked_text::", "range_sums::"),
    ),
    MiriGroup("epochs", COMMIT_LOG_SUITE, ("epoch_lists::",)),
    MiriGroup(
        "sends",
        HOT_PATH,
        # Thousands of rounds, and long texts: half an hour each, for the same few lines.
        (
            *("pattern::", "properties::", "unique_key::"),
            *("--skip", "become_rare", "--skip", "long_properties"),
        ),
    ),
)
"""Tests that map no file, which Miri does not support, and do not walk through megabytes.

The groups that take longest come first.
"""
MIRI_PROCESSES: Final = 2
"""The groups that run at once. Miri interprets all threads of a process on one."""
PASSED: Final = re.compile(r"^test result: .* (\d+) passed", re.MULTILINE)
FUZZ_SECONDS: Final = "REGENT_COVERAGE_SECONDS"


def main(arguments: Sequence[str]) -> int:
    """Run what is named; 1 if it found a fault."""
    runs = {"coverage": _fuzz, "miri": _interpret}
    if len(arguments) != 1 or arguments[0] not in runs:
        print(__doc__, file=sys.stderr)
        return 2
    if not _has_nightly():
        print(f"missing: the nightly compiler with Miri. Install it: {INSTALL}", file=sys.stderr)
        return 2
    return runs[arguments[0]]()


def _has_nightly() -> bool:
    listed = ("rustup", "component", "list", "--toolchain", "nightly", "--installed")
    try:
        shown = subprocess.run(listed, check=False, capture_output=True, text=True)
    except FileNotFoundError:
        return False
    return shown.returncode == 0 and {"miri", "rust-src"} <= {
        line.removesuffix(f"-{HOST}") for line in shown.stdout.split()
    }


def _cargo(
    *arguments: str, environment: dict[str, str], output: int | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ("cargo", "+nightly", *arguments),
        cwd=ENGINE,
        env=os.environ | environment,
        check=False,
        stdout=output,
        stderr=output and subprocess.STDOUT,
        text=True,
    )


def _fuzz() -> int:
    """Drive each target for as long as the variable says; a new input is kept for the next run."""
    flags = {"RUSTFLAGS": " ".join(COVERAGE_FLAGS), "CARGO_TARGET_DIR": str(BUILD / "target")}
    package = ("-p", "regent-fuzz", "--features", "coverage", "--bin", "coverage")
    # With the assertions of the tests. Build scripts do not get the flags where a target is named.
    if _cargo(
        "build", "--locked", "--profile", "test", "--target", HOST, *package, environment=flags
    ).returncode:
        return 1
    program = BUILD / "target" / HOST / "debug/coverage"
    listed = subprocess.run((program,), check=True, capture_output=True, text=True)
    names = listed.stdout.split()
    # Each target has one thread.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        codes = list(pool.map(partial(_drive, program), names))
    failed = [name for name, code in zip(names, codes, strict=True) if code]
    if failed:
        print(f"inputs that fail lie below {BUILD}: {', '.join(failed)}")
    return 1 if failed else 0


def _drive(program: Path, name: str) -> int:
    folder = BUILD / name
    corpus = folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    seconds = os.environ.get(FUZZ_SECONDS, "60")
    with (folder / "log").open("w") as log:
        done = subprocess.run(
            (
                *(program, *LIMITS, f"-max_total_time={seconds}"),
                *(f"-artifact_prefix={folder}/", corpus),
            ),
            env=os.environ | {"REGENT_FUZZ_TARGET": name, "REGENT_FUZZ_CORPUS": str(corpus)},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        )
    lines = (folder / "log").read_text(errors="replace").splitlines()
    shown = lines[-40:] if done.returncode else [line for line in lines if _is_result(line)]
    print("\n".join(("", name, *shown)), flush=True)
    return done.returncode


def _is_result(line: str) -> bool:
    return "DONE" in line or line.startswith("stat::number_of_executed_units")


def _interpret() -> int:
    """Run with Miri the tests that map no file; print tests and seconds of each group."""
    builds = dict.fromkeys(group.build for group in MIRI_GROUPS)
    if any(_miri(*build, "--no-run").returncode for build in builds):
        return 1
    print(f"\n{'group':<24}{'tests':>6}{'seconds':>9}  result", flush=True)
    with ThreadPoolExecutor(MIRI_PROCESSES) as pool:
        passed = list(pool.map(_interpret_group, MIRI_GROUPS))
    return 0 if all(passed) else 1


def _miri(*arguments: str, output: int | None = None) -> subprocess.CompletedProcess[str]:
    flags = {"MIRIFLAGS": "-Zmiri-disable-isolation", "CARGO_TARGET_DIR": str(BUILD / "miri")}
    return _cargo("miri", "test", "--locked", *arguments, environment=flags, output=output)


def _interpret_group(group: MiriGroup) -> bool:
    """Run one group; without a test, whose name has perhaps changed, it has failed."""
    begun_s = time.monotonic()
    done = _miri(*group.build, "--", *group.tests, output=subprocess.PIPE)
    seconds = time.monotonic() - begun_s
    count = sum(map(int, PASSED.findall(done.stdout)))
    is_passed = done.returncode == 0 and count > 0
    result = "passed" if is_passed else f"FAILED ({done.returncode})"
    row = f"{group.name:<24}{count:>6}{seconds:>9.0f}  {result}"
    print(row if is_passed else f"{done.stdout}{row}", flush=True)
    return is_passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
