"""How soon a command writes its first byte (G16): from the start of its process."""

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.bench.control_plane import running_control_plane
from tests.bench.measure import Measure, median, spread

RUNS = 15
FIRST_BYTE_MS_MAX = 250.0
PROGRAM = "from backend.cli.app import main; main()"
COMMANDS = (["--help"], ["--version"], ["topic", "--help"], ["completion", "bash"], ["mqadmin"])
READS = (["whoami"], ["audit", "list"])
"""Reads of a running local cluster, in the session that its commands keep."""


def measure_startup() -> list[Measure]:
    """Start each command some times; the first start, which fills caches, does not count."""
    measures = [_measure(arguments) for arguments in COMMANDS]
    with tempfile.TemporaryDirectory(prefix="regent-bench-") as directory:
        secret = Path(directory) / "bootstrap-secret"
        secret.write_text("a password of the bench")
        with running_control_plane(REGENT_BOOTSTRAP_SECRET_FILE=str(secret)) as plane:
            state = {"http": {"url": f"http://127.0.0.1:{plane.http_port}"}}
            (Path(directory) / "cluster.json").write_text(json.dumps(state))
            measures += [_measure(arguments, "--data", directory) for arguments in READS]
    return measures


def _measure(arguments: list[str], *place: str) -> Measure:
    times = [first_byte_ms([*arguments, *place]) for _ in range(RUNS + 1)][1:]
    title = f"first byte of `regent {' '.join(arguments)}`"
    facts = {"runs": spread(times)}
    return Measure("G16", title, median(times), " ms", ceiling=FIRST_BYTE_MS_MAX, facts=facts)


def first_byte_ms(arguments: list[str]) -> float:
    """Return the milliseconds until a command has written something."""
    began = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.read(1)
        passed_ms = (time.perf_counter() - began) * 1000
        process.stdout.read()
    return passed_ms
