"""docs/measurements.md shows the runs that stand beside it, and marks what misses its target."""

import pytest

from tests.measurements import AREAS, AT_LEAST, AT_MOST, PAGE, Run, misses, read_runs, render
from tests.spec_index import numbers


@pytest.fixture(scope="module")
def runs():
    return read_runs()


def test_the_page_is_up_to_date(runs):
    assert PAGE.read_text() == render(runs), "run make measurements"


def test_every_run_has_an_area_a_machine_and_numbers_that_are_defined(runs):
    known = {one.number for one in numbers()} | {""}

    assert {run.area for run in runs} == set(AREAS)
    assert [run.name for run in runs if not run.machine or not run.measures] == []
    assert {one["id"] for run in runs for one in run.measures} <= known
    assert set(AT_LEAST) | set(AT_MOST) <= known


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
