import subprocess
import sys
from pathlib import Path

import pytest

from tests.durations import main

TIMED = Path(__file__).resolve().parents[2] / ".ci/timed"
ORPHAN_CPU_S = 0.3
LEAVES_AN_ORPHAN = f"""
import os, sys, time
read, write = os.pipe()
if not os.fork():
    orphan = os.fork()
    while not orphan and time.process_time() < {ORPHAN_CPU_S}:
        pass
    os.write(write, str(orphan).encode()) if orphan else None
    os._exit(0)
os.wait()
orphan = int(os.read(read, 20))
while True:
    try:
        os.kill(orphan, 0)
    except ProcessLookupError:
        sys.exit(3)
    time.sleep(0.01)
"""
REPORT = '<testsuites><testsuite name="s">{}</testsuite></testsuites>'
CASE = '<testcase classname="tests.{}" name="test_{}" time="{}"></testcase>'


def test_parts_come_in_the_order_in_which_they_ended_and_say_whether_they_failed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for name, text in {"second": "3.2 5.9 0\n", "first": "61.7 70.1 2\n"}.items():
        (tmp_path / f"{name}.part").write_text(text)

    main(tmp_path)

    rows = [line.split() for line in capsys.readouterr().out.splitlines()[2:4]]
    assert rows == [["second", "3", "6", "passed"], ["first", "62", "70", "FAILED"]]


def test_the_ten_slowest_tests_of_all_reports_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    for report in range(2):
        cases = [CASE.format(report, number, 2 * number + report) for number in range(8)]
        (tmp_path / f"{report}.xml").write_text(REPORT.format("".join(cases)))
    (tmp_path / "interrupted.xml").write_text("<testsuites><tests")

    main(tmp_path)

    lines = capsys.readouterr().out.splitlines()
    slowest = [line.split() for line in lines[lines.index(" seconds") + 1 :]]
    assert slowest[:2] == [["15.0", "tests.1", "test_7"], ["14.0", "tests.0", "test_7"]]
    assert [float(seconds) for seconds, *_ in slowest] == [float(n) for n in range(15, 5, -1)]


def test_the_time_of_a_process_without_its_parent_belongs_to_the_part(tmp_path: Path):
    command = [TIMED, tmp_path / "part", sys.executable, "-c", LEAVES_AN_ORPHAN]

    ended = subprocess.run(command, check=False)

    seconds, cpu_s, code = map(float, (tmp_path / "part.part").read_text().split())
    assert ended.returncode == code == 3
    assert cpu_s >= ORPHAN_CPU_S
    assert seconds > 0
