"""Run the load generator of `tests/bench/load` against a broker."""

import asyncio
import json
import subprocess
from pathlib import Path
from typing import Any, Literal

CRATE = Path(__file__).resolve().parents[1] / "load"
BINARY = CRATE / "target" / "release" / "regent-load"
TIMEOUT_S = 120.0

Result = dict[str, Any]


class LoadError(RuntimeError):
    """The generator could not do what a row asks for."""


def build() -> None:
    """Build the generator, unless it is newer than its sources."""
    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked"], cwd=CRATE, check=True)


async def run_load(
    command: Literal["send", "pull", "wake"], address: str, topic: str, **options: float
) -> Result:
    """Run the generator to its end, and read what it prints.

    Raises:
        LoadError: it failed; the message is its own.
    """
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    process = await asyncio.create_subprocess_exec(
        *(str(BINARY), command, "--address", address, "--topic", topic),
        *(part for word in words for part in word.split("=")),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            printed, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
    if process.returncode:
        raise LoadError(f"{command} to {topic} at {address}: {errors.decode().strip()}")
    result: Result = json.loads(printed)
    return result
