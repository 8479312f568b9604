"""Ten faults in both modes under special messages; `make soak SOAK=special` carries out 300."""

import json
import re
import subprocess
import sys

import pytest

from tests.chaos.cluster import ROOT
from tests.chaos.special.run import Mode

FAULTS = 10


@pytest.mark.interop
@pytest.mark.timeout(1800)
def test_special_messages_offsets_and_locks_outlive_ten_faults(capsys):  # I9, I11, I12, I13
    command = [sys.executable, "-m", "tests.chaos.special", "--faults", str(FAULTS)]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    with capsys.disabled():
        sys.stdout.write("\n" + ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    runs = re.findall(r"^(\w+) mode, seed (\d+):", ended.stdout, re.MULTILINE)
    assert {mode for mode, _ in runs} == set(Mode)
    outcomes = [
        json.loads((ROOT / f"build/chaos-special/{mode}-{seed}/outcome.json").read_text())
        for mode, seed in runs
    ]
    assert sum(sum(outcome["faults"].values()) for outcome in outcomes) == FAULTS
    assert all(outcome["special_count"] and outcome["lock_count"] for outcome in outcomes)
