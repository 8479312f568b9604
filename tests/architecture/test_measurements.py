"""docs/measurements.md shows the runs that stand beside it, and marks what misses its target."""

import pytest

from tests.bench.clients.rows import ROWS
from tests.bench.targets import Limit, limits
from tests.measurements import (
    AREAS,
    CLIENTS,
    GOALS_AT_MOST,
    PAGE,
    RATIOS,
    Run,
    misses,
    plot,
    read_runs,
    render,
)
from tests.spec_index import numbers


@pytest.fixture(scope="module")
def runs():
    return read_runs()


def test_the_page_is_up_to_date(runs):
    assert PAGE.read_text() == render(runs), "run make measurements"


def test_every_run_has_an_area_a_machine_and_numbers_that_are_defined(runs):
    known = {one.number for one in numbers()} | {""}

    assert {run.area for run in runs} - {CLIENTS} == set(AREAS)
    assert [run.name for run in runs if not run.machine or not run.measures] == []
    assert {one["id"] for run in runs for one in run.measures} <= known
    assert {*RATIOS, *GOALS_AT_MOST, *(row.id for row in ROWS)} <= known


def test_a_value_on_the_wrong_side_of_its_target_is_bold():
    measures = (
        {"id": "R1", "title": "appends", "value": 0.44, "unit": ""},
        {"id": "R4b", "title": "bytes", "value": 1.5, "unit": ""},
        {"id": "R16", "title": "ready", "value": 0.2, "unit": " s"},
    )
    run = Run("store-01", "store", "here", "", measures)

    cells = [run.cell((one["id"], one["title"])) for one in measures]

    assert cells == ["**0.44**", "1.5", "0.2 s"]
    assert misses("G10", 201)
    assert run.cell(("R2", "none")) == ""


def test_limits_are_those_of_the_table_of_targets():
    assert limits()["R7c"] == (Limit(floor=3, target=8),)
    assert limits()["R13"] == (Limit(floor=5, target=2), Limit(floor=4, target=2))
    assert limits()["R9b"][1] == Limit(floor=0.020, target=0.005)
    assert limits()["R7"][0].is_ceiling
    assert not limits()["R7c"][0].is_ceiling


def test_a_plot_has_a_bar_for_each_commit_and_marks_limit_and_target():
    commits = {
        "a1b2c3d": measure(2.0, verdict="BELOW ITS LIMIT"),
        "d4e5f6a": measure(16.0, verdict="ok"),
    }

    title, below, above = plot(("R7c", "sends"), list(commits.items()))

    assert title == "R7c sends (limit 3, target 8)"
    assert below == f"  a1b2c3d          {'█' * 5}   |           :{' ' * 20} 2  BELOW ITS LIMIT"
    assert above.endswith(f"{'█' * 8}|{'█' * 11}:{'█' * 19}  16  ok")


def test_the_page_draws_the_runs_of_clients_with_their_commits():
    run = Run("clients-1", CLIENTS, "here", "", (measure(9.0, verdict="ok"),), "a1b2c3d")

    page = render([run])

    assert "- a1b2c3d: [clients-1](measurements/clients-1.json): here" in page
    assert "R7c sends (limit 3, target 8)\n  a1b2c3d  " in page


def measure(value, *, verdict):
    return {
        "id": "R7c",
        "title": "sends",
        "value": value,
        "unit": "",
        "limit": 3.0,
        "target": 8.0,
        "verdict": verdict,
    }
