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
    command: Literal["send", "pull", "pop", "wake"],
    address: str,
    topic: str,
    *flags: Literal["--read-back"],
    ended_within_s: float = TIMEOUT_S,
    **options: float | str,
) -> Result:
    """Run the generator to its end, and read what it prints.

    Raises:
        LoadError: it failed; the message is its own.
    """
    words = {f"--{name.replace('_', '-')}": str(value) for name, value in options.items()}
    process = await asyncio.create_subprocess_exec(
        *(str(BINARY), command, "--address", address, "--topic", topic),
        *flags,
        *(word for option in words.items() for word in option),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        async with asyncio.timeout(ended_within_s):
            printed, errors = await process.communicate()
    except TimeoutError as error:
        raise LoadError(f"{command} to {address} takes more than {ended_within_s:.0f} s") from error
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        raise LoadError(f"{command} to {topic} at {address}: {errors.decode().strip()}")
    result: Result = json.loads(printed)
    return result
