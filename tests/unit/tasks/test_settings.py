"""Worker and scheduler with settings that are missing or wrong."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
WAIT_S = 60
SECRET = "hunter2"


@pytest.mark.parametrize("command", ["worker", "beat"])
def test_a_setting_that_is_missing_is_named_in_one_line_without_what_others_hold(command):
    known = {name: value for name, value in os.environ.items() if not name.startswith("REGENT_")}
    given = {
        "REGENT_DATABASE_URL": f"postgresql://regent:{SECRET}@db/regent",
        "REGENT_REDIS_URL": f"redis://:{SECRET}@redis/0",
        "REGENT_REPORT_DIR": "/reports",
    }

    ended = subprocess.run(
        [sys.executable, "-m", "celery", "-A", "workers.celery_app", command],
        cwd=ROOT,
        env=known | given,
        capture_output=True,
        text=True,
        timeout=WAIT_S,
        check=False,
    )

    assert ended.returncode == 2
    assert ended.stderr == "regent run: REGENT_HISTORY_DIR field required\n"
    assert SECRET not in ended.stdout
