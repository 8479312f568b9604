"""No process outlives the run of tests that started it, however the run ends."""

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
print(subprocess.Popen(stray, start_new_session=True).pid, flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, None])
def test_what_a_run_has_left_is_killed_with_it(number):
    environment = {name: value for name, value in os.environ.items() if name != guard.MARK}
    with subprocess.Popen(
        [sys.executable, "-c", RUN],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as run:
        assert run.stdout is not None
        stray = psutil.Process(int(run.stdout.readline()))
        if number is not None:
            run.send_signal(number)

    wait_until(lambda: not is_running(stray), timeout_s=PATIENCE_S, what=lambda: "its end")


def test_what_belongs_to_no_run_is_left_alone():
    environment = {name: value for name, value in os.environ.items() if name != guard.MARK}
    with subprocess.Popen(
        [sys.executable, "-c", "input()"], env=environment, stdin=subprocess.PIPE
    ) as other:
        guard._kill_marked("another run")

        assert other.poll() is None


def is_running(process):
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
