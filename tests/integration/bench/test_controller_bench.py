"""What `make bench-controller` does is done here for a moment, so that it goes on working."""

import pytest

from tests.bench.control_plane import ask_in_turn, frame, running_control_plane
from tests.bench.elections import Brokers
from tests.bench.heartbeats import measure_heartbeats
from tests.long_form import long_form_only

GROUP_COUNT = 4
MOMENT_S = 0.05


@pytest.fixture(scope="module")
def plane():
    with running_control_plane() as plane:
        yield plane


def test_every_election_of_the_bench_is_one_and_leaves_both_replicas_in_sync(plane):
    brokers = Brokers(plane, group_count=GROUP_COUNT)

    blocks = [brokers.measure_block(count, seconds=MOMENT_S) for count in (1, 4)]

    # Each set was altered by the master and from the epoch that the election should have made.
    assert all(group.epoch > 2 for group in brokers.groups)
    assert all(min(one.before, one.elections, one.after, one.ratio) > 0 for one in blocks)
    # An election that did not happen ends the bench: the sets are whole, and a master that asks for
    # the set that there is, is refused.
    with pytest.raises(RuntimeError, match="answered with 2013"):
        brokers.complete_sets(1)
    brokers.close()


@long_form_only
def test_heartbeats_and_routes_are_answered_at_some_rate():
    measures = measure_heartbeats(block_count=1, block_s=MOMENT_S)

    assert len(measures) == 3
    assert all(measure.value > 0 for measure in measures)


def test_questions_are_asked_to_their_end_and_no_further(plane):
    peer = plane.connect()
    asked = ask_in_turn([peer], [iter([frame(1005, {})] * 10)], at_once=3)

    assert asked.count == 10
    peer.close()
