import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import soak
from tests.soak import PARTS, Part, _code, main

SHOWS = "import os, sys; print('runs', {!r}, os.environ['REGENT_TEST_AMOUNT']); sys.exit({})"
Output = pytest.CaptureFixture[str]


def part(name: str, *, code: int = 0) -> Part:
    command = (sys.executable, "-c", SHOWS.format(name, code))
    return Part(name, "{} of them", "REGENT_TEST_AMOUNT", 2_000, command)


def ran(output: str) -> list[str]:
    return sorted(line.split()[1] for line in output.splitlines() if line.startswith("runs "))


@pytest.fixture(autouse=True)
def now_is(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Give a function that replaces the sources, which need not be read for each test."""

    def replace(code: str) -> None:
        monkeypatch.setattr(soak, "_code", lambda: code)
        monkeypatch.setattr(soak, "current_commit", code.title)

    replace("first")
    return replace


def test_a_failed_part_does_not_stop_the_parts_after_it(capfd: Output, tmp_path: Path):
    code = main([], [part("first"), part("second", code=3), part("third")], tmp_path)

    table = [line.split() for line in capfd.readouterr().out.splitlines()[-3:]]
    assert code == 1
    assert [(row[0], row[1:5]) for row in table] == [
        (name, ["2", "000", "of", "them"]) for name in ("first", "second", "third")
    ]
    assert [row[6] for row in table] == ["passed", "FAILED", "passed"]


def test_only_the_named_parts_run_and_the_table_shows_all(capfd: Output, tmp_path: Path):
    parts = [part("first"), part("second", code=3), part("third")]

    codes = [main(["third", "first"], parts, tmp_path) for _ in range(2)]

    output = capfd.readouterr().out
    assert codes == [0, 0]
    assert ran(output) == ["first", "first", "third", "third"]
    table = [line.split() for line in output.splitlines()[-3:]]
    assert [row[0] for row in table] == ["first", "second", "third"]
    assert table[1][5:] == ["has", "not", "run"]


def test_a_run_continues_with_the_parts_that_have_not_passed(capfd: Output, tmp_path: Path):
    main([], [part("first"), part("second", code=3)], tmp_path)
    capfd.readouterr()

    code = main([], [part("first"), part("second"), part("third")], tmp_path)

    output = capfd.readouterr().out
    assert code == 0
    assert ran(output) == ["second", "third"]
    assert all(line.endswith(" passed at First") for line in output.splitlines()[-3:])


def test_an_interrupted_part_runs_again_and_those_before_it_do_not(capfd: Output, tmp_path: Path):
    stopped = Part("second", "{}", "REGENT_TEST_AMOUNT", 1, (str(tmp_path / "none"),))
    with pytest.raises(FileNotFoundError):
        main([], [part("first"), stopped], tmp_path)
    output = capfd.readouterr().out
    assert [line.split()[0] for line in output.splitlines()[-2:]] == ["first", "second"]

    code = main([], [part("first"), part("second")], tmp_path)

    assert code == 0
    assert ran(capfd.readouterr().out) == ["second"]


def test_the_option_runs_what_has_passed_as_well(capfd: Output, tmp_path: Path):
    main([], [part("first")], tmp_path)

    code = main(["--all"], [part("first")], tmp_path)

    assert code == 0
    assert ran(capfd.readouterr().out) == ["first", "first"]


def test_a_part_that_has_passed_with_other_code_runs_again(
    capfd: Output, tmp_path: Path, now_is: Callable[[str], None]
):
    main([], [part("first"), part("second")], tmp_path)
    now_is("second")

    code = main(["first"], [part("first"), part("second")], tmp_path)

    *_, first, second = capfd.readouterr().out.splitlines()
    assert code == 0
    assert first.endswith(" passed at Second")
    assert second.endswith(" passed at First, other code")
    main([], [part("first"), part("second")], tmp_path)
    assert ran(capfd.readouterr().out) == ["second"]


def test_a_part_that_has_passed_in_a_smaller_amount_runs_again(
    capfd: Output, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("REGENT_TEST_AMOUNT", "7")
    main([], [part("first")], tmp_path)
    assert "7 of them" in capfd.readouterr().out.splitlines()[-1]
    monkeypatch.delenv("REGENT_TEST_AMOUNT")

    main([], [part("first")], tmp_path)

    assert "runs first 2000" in capfd.readouterr().out.splitlines()
    kept = json.loads((tmp_path / "first.json").read_text())
    assert (kept["commit"], kept["amount"], kept["exit_code"]) == ("First", 2_000, 0)


def test_each_part_runs_all_cases(capfd: Output, tmp_path: Path):
    shows = "import os; print('cases', os.environ['REGENT_ALL_CASES'])"
    command = (sys.executable, "-c", shows)

    main([], [Part("first", "{} of them", "REGENT_TEST_AMOUNT", 2_000, command)], tmp_path)

    assert "cases 1" in capfd.readouterr().out.splitlines()


def test_an_unknown_part_is_an_error_that_names_the_known_ones(capfd: Output, tmp_path: Path):
    code = main(["crush"], [part("first"), part("second")], tmp_path)

    assert code == 2
    assert capfd.readouterr().err == "no part crush; the parts are first, second\n"


def test_the_code_is_that_of_the_sources_and_no_page_of_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    monkeypatch.setattr(soak, "ROOT", tmp_path)
    digests = []
    for name in ("tests/a.py", "docs/page", "README.md", "tests/a.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{len(digests)}")
        digests.append(_code())

    first, page, text, changed = digests
    assert first == page == text != changed


@pytest.mark.parametrize("one", PARTS, ids=lambda one: one.name)
def test_the_tests_of_a_part_read_its_variable(one: Part):
    roots = [soak.ROOT / "tests", *(soak.ROOT / "workers/engine").glob("*/tests")]
    sources = [
        path
        for root in roots
        for path in root.rglob("*")
        if path.suffix in {".py", ".rs"} and path != Path(soak.__file__)
    ]

    assert any(f'"{one.variable}"' in path.read_text() for path in sources)


def test_the_output_of_parts_at_once_is_shown_whole_and_kept(capfd: Output, tmp_path: Path):
    shows = "import time\nfor line in range(3): print('{}', flush=True); time.sleep(0.05)"
    parts = [
        Part(name, "{}", "REGENT_TEST_AMOUNT", 1, (sys.executable, "-c", shows.format(name)))
        for name in ("first", "second", "third")
    ]

    main([], parts, tmp_path)

    lines = capfd.readouterr().out.splitlines()
    for name in ("first", "second", "third"):
        at = lines.index(name)
        assert lines[at : at + 3] == [name] * 3
        assert (tmp_path / f"{name}.log").read_text().splitlines() == [name] * 3


def test_a_part_that_only_computes_has_a_lower_priority(capfd: Output, tmp_path: Path):
    shows = "import os; print('priority', os.nice(0))"
    command = (sys.executable, "-c", shows)

    main([], [Part("first", "{}", "REGENT_TEST_AMOUNT", 1, command, only_computes=True)], tmp_path)

    lower = min(os.nice(0) + 10, 19)
    assert f"priority {lower}" in capfd.readouterr().out.splitlines()


def test_a_part_that_judges_durations_runs_alone_after_the_others(tmp_path: Path):
    shows = "import time; print(time.monotonic()); time.sleep(0.2); print(time.monotonic())"
    command = (sys.executable, "-c", shows)
    names = {"first": True, "second": False, "third": True, "fourth": False}

    main(
        [],
        [
            Part(name, "{}", "REGENT_TEST_AMOUNT", 1, command, judges_durations=judges)
            for name, judges in names.items()
        ],
        tmp_path,
    )

    spans = {name: (tmp_path / f"{name}.log").read_text().split() for name in names}
    together_s = max(float(spans[name][1]) for name in ("second", "fourth"))
    (first_begun_s, first_ended_s), (third_begun_s, _) = (
        map(float, spans[name]) for name in ("first", "third")
    )
    assert together_s <= first_begun_s
    assert first_ended_s <= third_begun_s
