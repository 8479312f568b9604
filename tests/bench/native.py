"""Build and run the engine's measuring programs."""

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ENGINE = Path(__file__).resolve().parents[2] / "workers" / "engine"
EXAMPLES = ENGINE / "target" / "release" / "examples"
RUN_TIMEOUT_S = 120


def build() -> None:
    """Build the programs; the engine itself is expected to be installed already."""
    for crate, features in (("regent-commitlog", ["--features", "bench"]), ("regent-hotpath", [])):
        subprocess.run(
            ["cargo", "build", "--quiet", "--release", "--examples", "-p", crate, *features],
            cwd=ENGINE,
            check=True,
        )


def run_json(name: str, *arguments: str) -> dict[str, Any]:
    """Run a program and read the one JSON object it prints."""
    finished = subprocess.run(
        [EXAMPLES / name, *arguments],
        check=True,
        timeout=RUN_TIMEOUT_S,
        stdout=subprocess.PIPE,
        text=True,
    )
    result: dict[str, Any] = json.loads(finished.stdout)
    return result


@contextmanager
def running_echo() -> Iterator[str]:
    """Run the bare echo and give its address."""
    process = subprocess.Popen([EXAMPLES / "echo"], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.kill()
        process.wait()
