"""Print the seconds and processor seconds of each part of a test run, and its ten slowest tests.

Usage: `python -m tests.durations FOLDER`. The folder holds what `.ci/timed` wrote for each part,
and the JUnit reports of pytest and Vitest. The tests of the engine write no report.
"""

# ruff: noqa: T201 - its tables are what it prints

import sys
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

SLOWEST_COUNT: Final = 10


def main(folder: Path) -> None:
    """Print both tables."""
    print(f"\n{'part':<18}{'seconds':>8}{'cpu':>8}  result")
    for path in sorted(folder.glob("*.part"), key=lambda path: path.stat().st_mtime):
        seconds, cpu_s, code = path.read_text().split()
        result = "passed" if code == "0" else "FAILED"
        print(f"{path.stem:<18}{float(seconds):>8.0f}{float(cpu_s):>8.0f}  {result}")
    tests = [test for path in folder.glob("*.xml") for test in _tests(path)]
    print("\nthe slowest tests\n seconds")
    for seconds, name in sorted(tests, reverse=True)[:SLOWEST_COUNT]:
        print(f"{seconds:>8.1f}  {name}")


def _tests(report: Path) -> list[tuple[float, str]]:
    try:
        cases = ET.parse(report).iter("testcase")
        return [
            (float(case.get("time", 0)), f"{case.get('classname')} {case.get('name')}")
            for case in cases
        ]
    except ET.ParseError:
        # The run was interrupted while it wrote.
        return []


if __name__ == "__main__":
    main(Path(sys.argv[1]))
