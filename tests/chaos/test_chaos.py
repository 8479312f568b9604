"""Thirty failovers by many kinds of faults; `make soak SOAK=chaos` makes five hundred."""

import json
import re
import subprocess
import sys

import pytest

from tests.chaos.cluster import ROOT

FAILOVERS = 30
KINDS_MIN = 5
PAUSE_S_MAX = 4


@pytest.mark.timeout(1800)
def test_thirty_failovers_lose_nothing_and_leave_replicas_alike(capsys):  # I1, I2, I4, I7, I8
    command = [sys.executable, "-m", "tests.chaos", "--runs", "2"]
    command += ["--failovers", str(FAILOVERS), "--pause-max", str(PAUSE_S_MAX)]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    with capsys.disabled():
        sys.stdout.write("\n" + ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    seeds = re.findall(r"^seed (\d+) \((quorum|strict),", ended.stdout, re.MULTILINE)
    assert {policy for _, policy in seeds} == {"quorum", "strict"}
    outcomes = [
        json.loads((ROOT / f"build/chaos/seed-{seed}/outcome.json").read_text())
        for seed, _ in seeds
    ]
    kinds = {kind for outcome in outcomes for kind in outcome["failovers"]}
    assert len(kinds) >= KINDS_MIN
    assert sum(sum(outcome["failovers"].values()) for outcome in outcomes) >= FAILOVERS
