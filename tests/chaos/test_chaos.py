"""Each kind of fault in each mode of share queues; `make soak SOAK=chaos` runs 450 failovers."""

import json
import re
import subprocess
import sys
from itertools import product

import pytest

from backend.domain.share_mode import ShareMode
from tests.chaos.cluster import ROOT
from tests.chaos.schedule import Kind

RUN_COUNT = 10
KINDS_EACH = 3
"""The five runs of each mode have every kind."""

JOB_COUNT = 3
"""A run waits for its faults for half of its time."""

PAUSE_S_MAX = 4


@pytest.mark.timeout(1800)
def test_faults_of_every_kind_lose_nothing_and_leave_replicas_alike(capsys):
    # I1, I2, I4, I7, I8. By POP, in both modes: Q8, Q9, Q10, Q12, Q18, Q21, Q88, O3, O11.
    command = [sys.executable, "-m", "tests.chaos", "--runs", str(RUN_COUNT)]
    command += ["--failovers", str(RUN_COUNT), "--kinds-each", str(KINDS_EACH)]
    command += ["--jobs", str(JOB_COUNT), "--pause-max", str(PAUSE_S_MAX)]

    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)

    with capsys.disabled():
        sys.stdout.write("\n" + ended.stdout)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    runs = re.findall(r"^seed (\d+) \((quorum|strict), \w+, (\w+)\)", ended.stdout, re.MULTILINE)
    assert len(runs) == RUN_COUNT
    assert {run[1:] for run in runs} == set(product(("quorum", "strict"), ShareMode))
    found = {mode: set() for mode in ShareMode}
    for seed, _, mode in runs:
        outcome = json.loads((ROOT / f"build/chaos/seed-{seed}/outcome.json").read_text())
        assert outcome["faults"].keys() == set(outcome["plan"]["kinds"])
        assert sum(outcome["failovers"].values()) >= 1
        found[mode] |= outcome["faults"].keys()
    assert found == {mode: set(Kind) for mode in ShareMode}
