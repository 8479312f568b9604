"""A local cluster goes on with a full disk and without a terminal, and always stops as a whole."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from backend.supervisor import cluster as cluster_module
from backend.supervisor.cluster import LocalCluster
from backend.supervisor.layout import plan_layout
from backend.supervisor.process import ProcessSpec
from tests.waiting import eventually


def a_cluster(data_dir: Path) -> LocalCluster:
    layout = plan_layout(
        data_dir=data_dir, http_port=1, remoting_port=2, broker_port=3, replica_counts={}
    )
    return LocalCluster(layout, resting=())


def a_sleeper(tmp_path: Path, name: str) -> ProcessSpec:
    return ProcessSpec(name=name, command=("sleep", "3600"), log_path=tmp_path / f"{name}.log")


def is_full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


async def test_a_full_disk_is_reported_and_keeps_no_part_from_being_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    cluster = a_cluster(tmp_path)
    sleeper = await cluster._launch(a_sleeper(tmp_path, "probe"))
    first = sleeper.part.pid
    monkeypatch.setattr(cluster_module, "write_atomically", is_full)

    os.kill(first, signal.SIGKILL)
    await eventually(lambda: sleeper.part.pid not in (None, first))
    await cluster._stop()

    told = capsys.readouterr().out
    assert f"{tmp_path / 'cluster.json'} is out of date: No space left on device" in told
    assert "probe was ended by SIGKILL; starting it again" in told
    assert sleeper.part.pid is None


async def test_a_part_that_does_not_stop_keeps_no_other_from_stopping(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cluster = a_cluster(tmp_path)
    parts = [
        (await cluster._launch(a_sleeper(tmp_path, name))).part for name in ("one", "two", "three")
    ]
    stubborn = parts[1]
    terminate = stubborn.terminate

    async def fail() -> None:
        raise PermissionError

    monkeypatch.setattr(stubborn, "terminate", fail)

    with pytest.raises(PermissionError):
        await cluster._stop()

    assert [part.pid for part in parts] == [None, stubborn.pid, None]
    await terminate()


async def run_until(number: signal.Signals, tmp_path: Path, monkeypatch) -> int:
    cluster = a_cluster(tmp_path)

    async def start(_stack: AsyncExitStack) -> None:
        pass

    async def announce() -> None:
        signal.raise_signal(number)

    monkeypatch.setattr(cluster, "_start", start)
    monkeypatch.setattr(cluster, "_announce", announce)
    return await cluster.run()


@pytest.fixture
def _own_signals() -> Iterator[None]:
    """Heed signals as a process of a terminal does, also where tests run under nohup."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    former = {number: signal.signal(number, signal.SIG_DFL) for number in numbers}
    yield
    for number, handler in former.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_own_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_a_request_to_stop_is_a_clean_end(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert await run_until(number, tmp_path, monkeypatch) == 0


@pytest.mark.usefixtures("_own_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_cluster_in_the_background_of_a_script_stops_on_request(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    # Case B16: a shell without job control starts background jobs with SIGINT ignored.
    signal.signal(number, signal.SIG_IGN)

    assert await run_until(number, tmp_path, monkeypatch) == 0


@pytest.mark.usefixtures("_own_signals")
async def test_a_cluster_under_nohup_outlives_its_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    await run_until(signal.SIGTERM, tmp_path, monkeypatch)

    assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN


def test_a_terminal_that_is_gone_ends_nothing():
    program = (
        "import sys; from backend.supervisor.progress import Progress; progress = Progress();"
        "sys.stdin.readline(); progress.note('stopping'); progress.facts({'a': 'b'});"
        "progress.note('stopped'); sys.stderr.write('went on')"
    )
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
    )
    os.close(write_end)
    os.close(read_end)

    _, told = process.communicate("go\n", timeout=60)

    assert told.startswith("went on")
