"""A supervised process: restarted when it dies, gone when it is stopped."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from backend.supervisor.errors import CannotStart
from backend.supervisor.process import LOG_BYTES_MAX, ChildProcess, ProcessSpec
from backend.supervisor.supervision import Condition, Supervised
from tests.waiting import PATIENCE_S, eventually

SLEEP = "import time; print('up', flush=True); time.sleep(60)"
DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('up', flush=True); time.sleep(60)"
)


def a_process(
    tmp_path: Path,
    program: str,
    *,
    stop_timeout_s: float = 10,
    is_ready: Condition | None = None,
    show: Callable[[str], None] = lambda _line: None,
) -> Supervised:
    spec = ProcessSpec(
        name="probe",
        command=(sys.executable, "-c", program),
        log_path=tmp_path / "probe.log",
        is_ready=is_ready,
        stop_timeout_s=stop_timeout_s,
    )
    return Supervised(ChildProcess(spec), show=show, on_change=lambda: None)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_a_killed_process_is_started_again(tmp_path: Path):
    process = a_process(tmp_path, SLEEP)
    await process.start()
    first = process.part.pid

    os.kill(first, signal.SIGKILL)
    await eventually(lambda: process.part.pid not in (None, first))

    assert process.restart_count == 1
    await process.stop()


async def test_the_user_learns_what_ended_how_and_when_it_does_its_work_again(tmp_path: Path):
    told: list[str] = []
    is_well = asyncio.Event()

    async def is_ready() -> bool:
        return is_well.is_set()

    process = a_process(tmp_path, SLEEP, is_ready=is_ready, show=told.append)
    await process.start()
    first = process.part.pid
    os.kill(first, signal.SIGKILL)
    await eventually(lambda: process.part.pid not in (None, first))

    assert [line.partition(" (log")[0] for line in told] == [
        "probe was ended by SIGKILL; starting it again"
    ]
    is_well.set()
    await eventually(lambda: len(told) > 1)
    assert told[1].startswith("probe is up again after ")
    await process.stop()


async def test_the_last_words_of_a_process_that_ends_by_itself_are_shown(tmp_path: Path):
    told: list[str] = []
    process = a_process(tmp_path, "raise SystemExit('the disk is full')", show=told.append)

    await process.start()
    await eventually(lambda: told)

    assert told[0].startswith("probe exited with 1: the disk is full; starting it again")
    await process.stop()


async def test_what_keeps_ending_is_started_ever_more_seldom(tmp_path: Path):
    process = a_process(tmp_path, "raise SystemExit(1)")
    started = time.monotonic()

    await process.start()
    await eventually(lambda: process.restart_count == 4)

    # 0.2 + 0.4 + 0.8 s lie between the four ends.
    assert time.monotonic() - started >= 1.4
    await process.stop()


async def test_what_cannot_be_started_again_is_tried_again(tmp_path: Path):
    told: list[str] = []
    process = a_process(tmp_path, SLEEP, show=told.append)
    await process.start()
    log_path = process.part.log_path
    log_path.unlink()
    log_path.mkdir()

    os.kill(process.part.pid, signal.SIGKILL)
    await eventually(lambda: any("probe did not start" in line for line in told))
    log_path.rmdir()

    await eventually(lambda: told[-1].startswith("probe is up again"))
    assert process.part.pid is not None
    await process.stop()


async def test_a_stopped_process_is_not_started_again(tmp_path: Path):
    process = a_process(tmp_path, SLEEP)
    await process.start()
    pid = process.part.pid

    await process.stop()

    assert process.part.pid is None
    assert not is_alive(pid)


async def test_a_process_that_ignores_the_request_to_stop_is_killed(tmp_path: Path):
    process = a_process(tmp_path, DEAF, stop_timeout_s=0.2)
    await process.start()
    await eventually(lambda: "up" in (tmp_path / "probe.log").read_text())

    await process.stop()

    assert process.part.pid is None


async def test_a_process_that_dies_while_starting_says_why(tmp_path: Path):
    process = a_process(tmp_path, "raise SystemExit('no such database')")
    await process.start()

    async def never() -> bool:
        return False

    with pytest.raises(CannotStart, match="no such database"):
        await process.wait_until(never, timeout_s=PATIENCE_S)
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


class ErringPart:
    """A part whose state can't be seen once: its end or its readiness is an error."""

    name = "probe"
    log_path = Path("probe.log")
    pid = None

    def __init__(self, *, ended: list[BaseException], is_ready: list[BaseException]) -> None:
        self.spawn_count = 0
        self.was_terminated = False
        self._ended, self._is_ready = ended, is_ready

    async def spawn(self) -> None:
        self.spawn_count += 1

    async def ended(self) -> str:
        if self._ended:
            raise self._ended.pop()
        await asyncio.Event().wait()
        return "ended"

    async def is_ready(self) -> bool:
        if self._is_ready:
            raise self._is_ready.pop()
        return True

    async def terminate(self) -> None:
        self.was_terminated = True

    def kill(self) -> None:
        pass


async def test_a_part_that_cannot_be_asked_is_started_again_and_watched_on():
    told: list[str] = []
    part = ErringPart(ended=[RuntimeError("no such process")], is_ready=[ValueError("no HTTP")])
    supervised = Supervised(part, show=told.append, on_change=lambda: None)

    await supervised.start()
    await eventually(lambda: told and told[-1].startswith("probe is up again"))

    assert "no such process" in told[0]
    assert part.spawn_count == 2
    await supervised.stop()


async def test_a_part_whose_watch_has_failed_is_stopped_all_the_same():
    part = ErringPart(ended=[RuntimeError("no such process")], is_ready=[])
    bugs: list[str] = []

    def fail() -> None:
        bugs.append("a bug")
        raise AssertionError

    supervised = Supervised(part, show=lambda _line: None, on_change=lambda: None)
    await supervised.start()
    supervised._on_change = fail
    await eventually(lambda: bugs)

    await supervised.stop()

    assert part.was_terminated
