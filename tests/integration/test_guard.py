"""No process or folder outlives the run of tests that made it, however the run ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests import guard
from tests.system.cluster import wait_until
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
RUN = """
import subprocess, sys, time
from tests import guard

guard.watch()
stray = [sys.executable, "-c", "import time; time.sleep(600)"]
folder = guard.folder("test")
(folder / "file").touch()
print(subprocess.Popen(stray, start_new_session=True).pid, folder, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, None])
def test_what_a_run_has_left_ends_with_it(number):
    environment = {name: value for name, value in os.environ.items() if name != guard.MARK}
    with subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as run:
        assert run.stdout is not None
        pid, path = run.stdout.readline().decode().split()
        stray, folder = psutil.Process(int(pid)), Path(path)
        assert folder.is_dir()
        if number is not None:
            run.send_signal(number)

    wait_until(lambda: not is_running(stray), timeout_s=PATIENCE_S, what=lambda: "its end")
    wait_until(lambda: not folder.exists(), timeout_s=PATIENCE_S, what=lambda: f"{folder} to go")


def test_what_belongs_to_no_run_is_left_alone():
    environment = {name: value for name, value in os.environ.items() if name != guard.MARK}
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], env=environment, stdin=subprocess.PIPE
    ) as other:
        guard._kill_marked("another run")

        assert other.poll() is None


def is_running(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
