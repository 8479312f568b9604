"""A supervised process: restarted when it dies, gone when it is stopped."""

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from backend.supervisor.errors import CannotStart
from backend.supervisor.process import LOG_BYTES_MAX, ProcessSpec, SupervisedProcess

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('up', flush=True); time.sleep(60)"
)


def a_process(tmp_path: Path, program: str, *, stop_timeout_s: float = 10) -> SupervisedProcess:
    spec = ProcessSpec(
        name="probe",
        command=(sys.executable, "-c", program),
        log_path=tmp_path / "probe.log",
        stop_timeout_s=stop_timeout_s,
    )
    return SupervisedProcess(spec, on_change=lambda: None)


async def until(condition, *, timeout_s: float = 10) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_killed_process_is_started_again(tmp_path: Path):
    process = a_process(tmp_path, SLEEP)
    await process.start()
    first = process.pid

    os.kill(first, signal.SIGKILL)
    await until(lambda: process.pid not in (None, first))

    assert process.restart_count == 1
    await process.stop()


async def test_a_stopped_process_is_not_started_again(tmp_path: Path):
    process = a_process(tmp_path, SLEEP)
    await process.start()
    pid = process.pid

    await process.stop()

    assert process.pid is None
    assert not is_alive(pid)


async def test_a_process_that_ignores_the_request_to_stop_is_killed(tmp_path: Path):
    process = a_process(tmp_path, DEAF, stop_timeout_s=0.2)
    await process.start()
    await until(lambda: "up" in (tmp_path / "probe.log").read_text())

    await process.stop()

    assert process.pid is None


async def test_a_process_that_dies_while_starting_says_why(tmp_path: Path):
    process = a_process(tmp_path, "raise SystemExit('no such database')")
    await process.start()

    async def never() -> bool:
        return False

    with pytest.raises(CannotStart, match="no such database"):
        await process.wait_until(never, timeout_s=10)
    await process.stop()


async def test_a_large_log_becomes_the_previous_one(tmp_path: Path):
    log = tmp_path / "probe.log"
    with log.open("wb") as file:
        file.truncate(LOG_BYTES_MAX + 1)
    process = a_process(tmp_path, SLEEP)

    await process.start()

    assert (tmp_path / "probe.log.1").stat().st_size == LOG_BYTES_MAX + 1
    assert log.stat().st_size < LOG_BYTES_MAX
    await process.stop()
