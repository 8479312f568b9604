"""Each kind of fault under each lease policy; `make soak SOAK=chaos` runs 120 failovers."""

import json
import re
import subprocess
import sys

import pytest

from backend.domain.share_queue import ShareMode
from tests.chaos.cluster import ROOT
from tests.chaos.schedule import Kind

FAILOVERS = 16
PAUSE_S_MAX = 4


@pytest.mark.timeout(1800)
def test_faults_of_every_kind_lose_nothing_and_leave_replicas_alike(capsys):
    # I1, I2, I4, I7, I8. By POP, in both modes: Q8, Q9, Q10, Q12, Q18, Q21, Q88, O3, O11.
    command = [sys.executable, "-m", "tests.chaos", "--runs", "2"]
    command += ["--failovers", str(FAILOVERS), "--pause-max", str(PAUSE_S_MAX)]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    with capsys.disabled():
        sys.stdout.write("\n" + ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    seeds = re.findall(r"^seed (\d+) \((quorum|strict), \w+, (\w+)\)", ended.stdout, re.MULTILINE)
    assert {policy for _, policy, _ in seeds} == {"quorum", "strict"}
    assert {mode for *_, mode in seeds} == set(ShareMode)
    outcomes = [
        json.loads((ROOT / f"build/chaos/seed-{seed}/outcome.json").read_text())
        for seed, *_ in seeds
    ]
    assert [set(outcome["faults"]) for outcome in outcomes] == [set(Kind)] * 2
    assert sum(sum(outcome["failovers"].values()) for outcome in outcomes) >= FAILOVERS
