"""How blocks of what clients see become measures with limits."""

import json
from datetime import UTC, datetime

import pytest

from tests.bench import results
from tests.bench.clients.rows import (
    ALONE,
    BEFORE_RATIO_MIN,
    STOCK_RATIO_MIN,
    Block,
    Row,
    judge_cold_work,
    judge_cpu,
    judge_rates,
    judge_wakes,
)
from tests.bench.clients.systems import BEFORE, OURS, STOCK
from tests.bench.clients.workloads import Sends
from tests.bench.measure import Measure
from tests.bench.targets import limits

LOAD = Sends(1, 64, 128)


def build_block(ours, stock, *, before=None, echoes=()):
    samples = {OURS: rates(ours), STOCK: rates(stock)}
    if before is not None:
        samples[BEFORE] = rates(before)
    return Block(samples, echoes)


def rates(per_second):
    return {"per_second": per_second, "cpu_us": 1e6 / per_second}


def build_row(number, judge, **changes):
    return Row(number, "sends", ALONE, LOAD, judge, **changes)


def test_the_ratio_is_the_median_of_the_ratios_of_blocks_and_keeps_them():
    blocks = [build_block(900, 100), build_block(400, 100), build_block(1000, 200)]

    (measure,) = judge_rates(build_row("R7c", judge_rates, bound=limits()["R7c"][0]), blocks)

    assert (measure.value, measure.floor, measure.target) == (5, 3, 8)
    assert measure.verdict == "below its target"
    assert measure.facts["per second"] == "900 ours and 100 stock"
    assert measure.blocks[1]["samples"][STOCK]["per_second"] == 100


def test_every_row_of_sends_and_pulls_must_be_well_above_stock():
    row = build_row("R7d", judge_rates, bound=limits()["R7d"][0])

    (measure,) = judge_rates(row, [build_block(120, 100)])

    assert limits()["R7d"][0].floor < STOCK_RATIO_MIN == measure.floor
    assert measure.verdict == "BELOW ITS LIMIT"


def test_an_older_commit_in_the_same_run_bounds_ours_as_well():
    row = build_row("W4", judge_rates)

    _, against_before = judge_rates(row, [build_block(170, 100, before=200)])

    assert (against_before.value, against_before.floor) == (0.85, BEFORE_RATIO_MIN)
    assert not against_before.holds


def test_a_block_whose_echoes_differ_says_nothing_of_the_ratio_to_the_echo():
    row = build_row("R6b", judge_rates, has_echo=True)
    steady, restless = (90, 110), (100, 300)

    of_echo, of_stock = judge_rates(
        row, [build_block(50, 10, echoes=steady), build_block(900, 10, echoes=restless)]
    )
    of_restless_echo, _ = judge_rates(row, [build_block(1, 1, echoes=restless)])

    assert (of_echo.value, of_echo.facts["void"], of_echo.floor) == (0.5, 1, 0.25)
    assert of_stock.value == 47.5
    assert not of_restless_echo.is_gate


def test_processor_time_is_bounded_from_above():
    (measure,) = judge_cpu(build_row("R7", judge_cpu), [build_block(300, 100)])

    assert measure.value == pytest.approx(1 / 3)
    assert (measure.ceiling, measure.target) == (0.5, 0.25)
    assert measure.verdict == "below its target"


def test_cold_work_and_wakes_are_judged_by_our_own_figures():
    block = Block({OURS: {"ratio": 3.0, "wake_us": 1.5}, STOCK: {"ratio": 9.0, "wake_us": 4.0}})

    (cold,) = judge_cold_work(build_row("R8", judge_cold_work), [block])
    each, tail = judge_wakes(build_row("R13", judge_wakes), [block])

    assert (cold.value, cold.ceiling, cold.verdict) == (3, 5, "below its target")
    assert (each.value, each.unit, each.verdict) == (1.5, " µs", "ok")
    assert (tail.value, tail.ceiling) == (3, 4)


def test_a_line_shows_limit_target_and_verdict():
    line = Measure("R7c", "sends", 5.0, floor=3.0, target=8.0).line()

    assert line.endswith("5.000  at least 3 (target 8)  below its target")


def test_a_run_is_written_in_the_form_that_the_page_is_made_from(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "FOR_PAGE", tmp_path)
    measure = Measure("R7", "CPU of a send", 0.123456, ceiling=0.5, target=0.25)

    started_at = datetime(2026, 11, 28, 9, 5, tzinfo=UTC)

    path = results.keep_for_page("clients", [measure], started_at, commit="a1b2c3d")

    run = json.loads(path.read_text())
    assert (path.name, run["commit"]) == ("clients-20261128T0905-a1b2c3d.json", "a1b2c3d")
    (kept,) = run["measures"]
    assert (kept["value"], kept["limit"], kept["target"]) == (0.1235, 0.5, 0.25)
    assert kept["verdict"] == "ok"
