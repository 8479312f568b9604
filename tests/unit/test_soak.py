import sys
from pathlib import Path

import pytest

from tests import soak
from tests.soak import PARTS, Part, main

SHOWS = "import os, sys; print(os.environ['REGENT_TEST_AMOUNT']); sys.exit({})"


def part(name: str, *, code: int = 0) -> Part:
    command = (sys.executable, "-c", SHOWS.format(code))
    return Part(name, "{} of them", "REGENT_TEST_AMOUNT", 2_000, command)


def test_a_failed_part_does_not_stop_the_parts_after_it(capfd: pytest.CaptureFixture[str]):
    code = main([], [part("first"), part("second", code=3), part("third")])

    table = [line.split() for line in capfd.readouterr().out.splitlines()[-3:]]
    assert code == 1
    assert [(row[0], row[1:5]) for row in table] == [
        (name, ["2", "000", "of", "them"]) for name in ("first", "second", "third")
    ]
    assert [row[6] for row in table] == ["passed", "FAILED", "passed"]


def test_only_the_named_parts_run_in_the_order_of_the_table(capfd: pytest.CaptureFixture[str]):
    code = main(["third", "first"], [part("first"), part("second", code=3), part("third")])

    assert code == 0
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()[-2:]] == [
        "first",
        "third",
    ]


def test_a_variable_sets_another_amount(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("REGENT_TEST_AMOUNT", "7")

    main([], [part("first")])

    shown = capfd.readouterr().out.splitlines()
    assert "7" in shown
    assert "7 of them" in shown[-1]


def test_each_part_runs_all_cases(capfd: pytest.CaptureFixture[str]):
    shows = "import os; print('cases', os.environ['REGENT_ALL_CASES'])"
    command = (sys.executable, "-c", shows)

    main([], [Part("first", "{} of them", "REGENT_TEST_AMOUNT", 2_000, command)])

    assert "cases 1" in capfd.readouterr().out.splitlines()


def test_an_unknown_part_is_an_error_that_names_the_known_ones(
    capfd: pytest.CaptureFixture[str],
):
    code = main(["crush"], [part("first"), part("second")])

    assert code == 2
    assert capfd.readouterr().err == "no part crush; the parts are first, second\n"


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
