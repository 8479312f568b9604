"""Build and run the engine's measuring programs."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parents[2] / "workers" / "engine"
EXAMPLES = ENGINE / "target" / "release" / "examples"
RUN_TIMEOUT_S = 120


@dataclass(frozen=True, slots=True)
class Server:
    """A process to be loaded."""

    address: str
    pid: int


def build() -> None:
    """Build the programs; the engine itself is expected to be installed already."""
    _build("--examples", "-p", "regent-commitlog", "--features", "bench")
    _build("--examples", "-p", "regent-hotpath")


def build_echo() -> None:
    """Build the echo alone."""
    _build("--example", "echo", "-p", "regent-hotpath")


def _build(*targets: str) -> None:
    subprocess.run(["cargo", "build", "--quiet", "--release", *targets], cwd=ENGINE, check=True)


def run_json(name: str, *arguments: str, core: int | None = None) -> Any:
    """Run a program, on one core or on any, and read the JSON that it prints."""
    pinned = [] if core is None else ["taskset", "--cpu-list", str(core)]
    finished = subprocess.run(
        [*pinned, str(EXAMPLES / name), *arguments],
        check=True,
        timeout=RUN_TIMEOUT_S,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(finished.stdout)


@contextmanager
def running(name: str) -> Iterator[Server]:
    """Run a program that serves and prints its port: `echo` or `sendfile`."""
    process = subprocess.Popen([EXAMPLES / name], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield Server(f"127.0.0.1:{process.stdout.readline().strip()}", process.pid)
    finally:
        process.kill()
        process.wait()


@contextmanager
def taking_turns(name: str, *arguments: str) -> Iterator[Callable[[], str]]:
    """Run a program that does something for each line it is given, and then prints a line."""
    process = subprocess.Popen(
        [EXAMPLES / name, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    told, answers = process.stdin, process.stdout

    def turn() -> str:
        told.write("\n")
        told.flush()
        return answers.readline()

    try:
        if answers.readline() != "ready\n":
            raise RuntimeError(f"{name} is not ready")
        yield turn
        told.close()
        process.wait(RUN_TIMEOUT_S)
    finally:
        process.kill()
        process.wait()
