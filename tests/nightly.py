"""Run tests that need the nightly compiler: coverage-guided fuzzing, and Miri.

Usage: `python -m tests.nightly coverage|miri`. The exit code is 2 where the compiler is missing.
"""

# ruff: noqa: T201 - what it prints is for who runs it

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
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
MIRI_TESTS: Final = (
    (
        *("-p", "regent-remoting", "--", "--skip", "as_large_as", "--skip", "broken_json"),
        *("--skip", "cannot_be_written"),
    ),
    (
        *("-p", "regent-hotpath", "--lib", "--", "pattern::", "properties::", "unique_key::"),
        # Thousands of rounds, and long texts: half an hour each, for the same few lines.
        *("--skip", "become_rare", "--skip", "long_properties"),
    ),
    (
        *("-p", "regent-commitlog", "--lib", "--"),
        *("record::", "queue_layout::", "cursor::", "properties::", "checked_text::"),
        "range_sums::",
    ),
    ("-p", "regent-commitlog", "--test", "suite", "--", "epoch_lists::"),
    (
        *("-p", "regent-fuzz", "--test", "fuzz_runner", "--"),
        *("of_a_batch", "of_a_client", "_header", "both_readers"),
    ),
)
"""Tests that map no file, which Miri does not support, and do not walk through megabytes."""
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


def _cargo(*arguments: str, environment: dict[str, str]) -> int:
    command = ("cargo", "+nightly", *arguments)
    return subprocess.run(command, cwd=ENGINE, env=os.environ | environment, check=False).returncode


def _fuzz() -> int:
    """Drive each target for as long as the variable says; a new input is kept for the next run."""
    flags = {"RUSTFLAGS": " ".join(COVERAGE_FLAGS), "CARGO_TARGET_DIR": str(BUILD / "target")}
    package = ("-p", "regent-fuzz", "--features", "coverage", "--bin", "coverage")
    # With the assertions of the tests. Build scripts do not get the flags where a target is named.
    if _cargo(
        "build", "--locked", "--profile", "test", "--target", HOST, *package, environment=flags
    ):
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
    """Run with Miri the tests that map no file."""
    flags = {"MIRIFLAGS": "-Zmiri-disable-isolation", "CARGO_TARGET_DIR": str(BUILD / "miri")}
    codes = [_cargo("miri", "test", "--locked", *tests, environment=flags) for tests in MIRI_TESTS]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
