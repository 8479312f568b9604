"""How soon a command writes its first byte (G16): from the start of its process."""

import subprocess
import sys
import time

from tests.bench.measure import Measure, median, spread

RUNS = 15
FIRST_BYTE_MS_MAX = 250.0
PROGRAM = "from backend.cli.app import main; main()"
COMMANDS = (["--help"], ["--version"], ["topic", "--help"], ["completion", "bash"], ["mqadmin"])


def measure_startup() -> list[Measure]:
    """Start each command some times; the first start, which fills caches, does not count."""
    measures = []
    for arguments in COMMANDS:
        times = [first_byte_ms(arguments) for _ in range(RUNS + 1)][1:]
        title = f"first byte of `regent {' '.join(arguments)}`"
        limit = FIRST_BYTE_MS_MAX
        facts = {"runs": spread(times)}
        measures.append(Measure("G16", title, median(times), " ms", ceiling=limit, facts=facts))
    return measures


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
