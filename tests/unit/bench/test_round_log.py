"""A measurement of failovers that is made in parts knows what the parts before it measured."""

from dataclasses import replace

import pytest

from tests.bench.failover.round_log import RoundLog
from tests.bench.failover.rounds import PROBE_DELAY_S_MAX, Kind, Round

ROUND = Round(
    group="ours, quorum",
    kind=Kind.KILL,
    gap_s=0.02,
    gap_began_s=0.0,
    rejoin_gap_s=0.0,
    acknowledged=1000,
    refused=0,
    unanswered=3,
    lost=0,
    lost_in_time=0,
    probe_delay_s=0.001,
    stolen_percent=0.0,
    whole_after_s=1.3,
)
VOID = replace(ROUND, probe_delay_s=PROBE_DELAY_S_MAX * 2)


def test_the_next_part_goes_on_with_every_round_of_those_before(tmp_path):
    path = tmp_path / "parts" / "rounds.json"
    first = RoundLog(path)
    first.add(ROUND)
    first.add(VOID)

    second = RoundLog(path)
    second.add(replace(ROUND, gap_s=float("inf")))

    assert RoundLog(path).rounds == [ROUND, VOID, replace(ROUND, gap_s=float("inf"))]
    assert [one.name for one in path.parent.iterdir()] == [path.name]


def test_what_was_void_has_to_be_measured_again(tmp_path):
    log = RoundLog(tmp_path / "rounds.json")
    for one in (ROUND, VOID, replace(ROUND, kind=Kind.STOP), replace(ROUND, group="stock 5.5.0")):
        log.add(one)

    assert log.count_valid(Kind.KILL, "ours, quorum") == 1


def test_without_a_file_rounds_are_kept_for_this_run_only(tmp_path):
    log = RoundLog(None)
    log.add(ROUND)

    assert log.rounds == [ROUND]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["", "{", '[{"group": "ours"}]', '[{"a": 1}]'])
def test_a_file_that_holds_something_else_is_refused_and_left_as_it_is(tmp_path, content):
    path = tmp_path / "rounds.json"
    path.write_text(content)

    with pytest.raises(ValueError, match="name another file"):
        RoundLog(path)
    assert path.read_text() == content
