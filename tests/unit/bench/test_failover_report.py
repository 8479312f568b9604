"""What the failover benchmark makes of its rounds."""

import math

from tests.bench.failover.report import measures_of
from tests.bench.failover.rounds import PROBE_DELAY_S_MAX, Kind, Round

STOCK = "stock 5.5.0"


def build_round(gap_s, *, group="ours, quorum", kind=Kind.KILL, **changes):
    values = {
        "group": group,
        "kind": kind,
        "gap_s": gap_s,
        "gap_began_s": 0.0,
        "rejoin_gap_s": 0.0,
        "acknowledged": 1000,
        "refused": 0,
        "unanswered": 0,
        "lost": 0,
        "lost_in_time": 0,
        "probe_delay_s": 0.0,
        "stolen_percent": 0.0,
        "whole_after_s": 1.0,
    }
    return Round(**values | changes)


def test_a_kind_is_the_median_of_its_valid_rounds_and_says_what_share_of_the_peers_that_is():
    busy = build_round(9.0, probe_delay_s=2 * PROBE_DELAY_S_MAX)
    rounds = [build_round(gap) for gap in (0.1, 0.2, 0.12)] + [busy]

    ours, lost, stock = measures_of([*rounds, build_round(0.3, group=STOCK)])

    assert (ours.id, ours.value, ours.ceiling, ours.holds) == ("R10", 0.12, 0.3, True)
    assert ours.facts["void"] == 1
    assert ours.facts["of stock's"] == 0.4
    assert (lost.value, lost.holds) == (0, True)
    assert (stock.value, stock.is_gate) == (0.3, False)


def test_a_pause_is_measured_in_leases():
    (ours, _) = measures_of([build_round(3.6, kind=Kind.PAUSE)])

    assert (ours.id, round(ours.value, 6), ours.holds) == ("R10b", 1.2, True)


def test_void_rounds_alone_are_no_success():
    (ours, _) = measures_of([build_round(0.1, stolen_percent=50.0)])

    assert math.isinf(ours.value)
    assert not ours.holds


def test_one_lost_message_fails_the_run_also_when_its_round_is_void():
    (_, lost) = measures_of([build_round(0.1, lost=1, stolen_percent=50.0)])

    assert (lost.value, lost.holds) == (1, False)


def test_what_the_peer_lost_is_reported_and_fails_nothing():
    (stock,) = measures_of(
        [build_round(12.0, group=STOCK, kind=Kind.PAUSE, lost=40, lost_in_time=3)]
    )

    assert stock.facts["acknowledged and lost"] == "40 (3 while their client waited)"
    assert stock.holds
