"""A plan draws the segments of queues as they are, and as they would be if the queues moved now."""

import pytest

from backend.domain.logical_queue.move_planning import plan_moves
from backend.domain.logical_queue.placement import Relocation
from backend.domain.logical_queue.segment import OffsetMode, QueueBounds
from backend.operations.planning import static_topics
from backend.operations.planning.static_topics import pictures, planned_result
from tests.unit.domain.logical_queue.builders import NOW, created, groups, segment, shown, topic

TWO = groups("b1", "b2")
OFFSETS = ("logical_start", "logical_end", "physical_start", "physical_end")


def move(mapping, *global_ids, to="b2", **forced):
    moves = [Relocation(one, mapping.queue(one).leader_name, to) for one in global_ids]
    return plan_moves(mapping, moves, groups=TWO, now_ms=NOW + 1, **forced)


def lines(drawn):
    return [
        (one["broker_group_name"], one["status"], *(one[key] for key in OFFSETS)) for one in drawn
    ]


@pytest.mark.parametrize(
    ("mode", "after"),
    [
        (OffsetMode.CONTIGUOUS, "[g0 b1:q0 L0 S0 E5] [g1 b2:q0 L5 S0 E-]"),
        (OffsetMode.BLOCK, "[g0 b1:q0 L0 S0 E5] [g1 b2:q0 L10000 S0 E-]"),
    ],
)
def test_a_planned_move_follows_the_offset_mode(mode, after):
    mapping = created(1, "b1", cluster=("b1", "b2"), offset_mode=mode)

    result = planned_result(move(mapping, 0), {("b1", 0): QueueBounds(2, 5)})

    assert shown(result, 0) == after


def test_an_empty_segment_goes_and_a_forced_one_stays_open():
    mapping = created(1, "b1", cluster=("b1", "b2"))

    empty = planned_result(move(mapping, 0), {("b1", 0): QueueBounds(0, 0)})
    forced = planned_result(move(mapping, 0, forced_ends={0: 7}), {})

    assert shown(empty, 0) == "[g1 b2:q0 L0 S0 E-]"
    assert shown(forced, 0) == "[g0 b1:q0 L0 S0 E-] [g1 b2:q0 L10000 S0 E-]"


def test_both_sides_show_physical_offsets_and_what_expired():
    old = segment(0, "b1:q0", end=9)
    mapping = topic([old, segment(1, "b1:q1", 9)], counts={"b1": 2, "b2": 0})
    bounds = {("b1", 0): QueueBounds(9, 9), ("b1", 1): QueueBounds(0, 2)}

    drawn = pictures(mapping, planned_result(move(mapping, 0), bounds), [0], bounds)

    expired = ("b1", "expired", "0", "9", "0", "9")
    assert lines(drawn["before"]) == [expired, ("b1", "normal", "9", None, "0", None)]
    assert lines(drawn["after"]) == [
        expired,
        ("b1", "read_only", "9", "11", "0", "2"),
        ("b2", "normal", "11", None, None, None),
    ]


def test_a_plan_says_how_many_queues_it_does_not_draw(monkeypatch):
    monkeypatch.setattr(static_topics, "DRAWN_MAX", 2)
    mapping = created(3, "b1", cluster=("b1", "b2"))

    drawn = pictures(mapping, mapping, [2, 0, 1])

    assert [one["global_id"] for one in drawn["after"]] == [0, 1]
    assert drawn["left_out"] == 1
