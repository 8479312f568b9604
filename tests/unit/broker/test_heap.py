"""The heap of an agent keeps what it got."""

import subprocess
import sys

_PROGRAM = """
import resource, sys
from workers.broker.commit_log.heap import keep_heap

if sys.argv[1] == "kept":
    keep_heap()
bytearray(1 << 20)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    [bytearray(b"x") * (1 << 20) for _ in range(4)]
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults_of(mode):
    command = [sys.executable, "-c", _PROGRAM, mode]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(ended.stdout)


def test_memory_that_comes_and_goes_is_asked_for_once():
    kept, given_back = page_faults_of("kept"), page_faults_of("given back")

    assert kept < 2 * 1024 + 200
    assert given_back > 4 * kept
