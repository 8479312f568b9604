"""Segments go only when their data is gone for good, and a returned source ends what was forced."""

import pytest

from backend.domain.logical_queue.errors import QueueChangeRefused
from backend.domain.logical_queue.expiry import (
    CarriedPosition,
    Overlap,
    Sighting,
    carry_to_leader,
    close_forced,
    drop_oldest,
    is_expired,
    last_known_end,
)
from backend.domain.logical_queue.lookup import locate_strict, message_offset
from backend.domain.logical_queue.mapping import RetiredQueue
from backend.domain.logical_queue.segment import QueueBounds
from backend.domain.logical_queue.topic_checks import check_plan
from tests.unit.domain.logical_queue.builders import queue, segment, topic

LIST = queue(segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", 101))


def seen(first, second, *, apart_ms=60_000):
    return Sighting(0, QueueBounds(*first)), Sighting(apart_ms, QueueBounds(*second))


@pytest.mark.parametrize(
    ("sightings", "expired"),
    [
        (seen((101, 101), (101, 101)), True),
        (seen((100, 101), (101, 101)), False),
        (seen((101, 101), (100, 101)), False),
        (seen((101, 101), (101, 101), apart_ms=59_999), False),
        # A queue that is not dispatched up to its end looks empty.
        (seen((50, 50), (50, 50)), False),
        (seen((0, 0), (0, 0)), False),
    ],
)
def test_a_segment_is_expired_when_it_was_empty_twice(sightings, expired):
    assert is_expired(LIST, LIST.segments[0], *sightings) is expired


def test_the_last_segment_and_one_without_an_end_never_expire():
    empty = seen((101, 101), (101, 101))
    opened = queue(segment(0, "b1:q0"), segment(1, "b2:q2", 101))
    pending = queue(segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", -1))

    assert not is_expired(queue(LIST.segments[0]), LIST.segments[0], *empty)
    assert not is_expired(opened, opened.segments[0], *empty)
    # An undecided segment alone would leave nothing to read (H-8).
    assert not is_expired(pending, pending.segments[0], *empty)


@pytest.mark.parametrize("global_id", [0, 1, 7])
def test_a_segment_that_may_hold_messages_stays(global_id):
    found = topic([*LIST.segments], [segment(0, "b1:q1")])

    with pytest.raises(QueueChangeRefused):
        drop_oldest(found, global_id, seen((100, 101), (100, 101)), {})


def test_groups_go_on_behind_an_empty_segment_that_a_move_dropped():
    before = topic([segment(0, "b1:q0", 0, 0, 9), segment(1, "b2:q0", 9)])
    after = topic([segment(0, "b1:q0", 0, 0, 9), segment(2, "b3:q4", 9)])
    positions = {
        "g": {("b1", 0): 3, ("b2", 0): 0},
        "h": {("b1", 0): 3},
        "i": {("b2", 0): 0, ("b3", 4): 7},
    }

    assert carry_to_leader(before, after, 0, positions) == (CarriedPosition("g", ("b3", 4), 0),)
    assert carry_to_leader(before, before, 0, positions) == ()
    assert carry_to_leader(before, after, 9, positions) == ()


def test_groups_go_on_in_a_queue_that_comes_back_after_it_was_removed():
    before = topic([segment(0, "b1:q0")], retired=(RetiredQueue("b1", 4, 1, 0, 70),))
    after = topic([segment(0, "b1:q0")], [segment(1, "b1:q4", 70, 70)])

    for position in (70, 12):
        carried = carry_to_leader(before, after, 1, {"g": {("b1", 4): position}})
        assert carried == ((CarriedPosition("g", ("b1", 4), 70),) if position < 70 else ())


FORCED = topic([segment(0, "b1:q0"), segment(1, "b2:q0", 10_000)], forced=frozenset({(0, 0)}))


def test_a_returned_source_adds_messages_below_the_jump_l46():
    after, overlap = close_forced(FORCED, 0, 0, 151)

    assert overlap is None
    assert after.forced == frozenset()
    assert message_offset(after.queue(0), "b1", 0, 150) == 150
    assert locate_strict(after.queue(0), 151) is None
    assert check_plan(after) == ()


def test_a_returned_source_with_too_many_messages_is_an_incident_l46():
    after, overlap = close_forced(FORCED, 0, 0, 20_101)

    assert overlap == Overlap(0, 0, 10_000, 20_101)
    assert overlap.message_count == 10_101
    assert message_offset(after.queue(0), "b1", 0, 9_999) == 9_999
    # No logical offset belongs to two messages.
    assert message_offset(after.queue(0), "b1", 0, 10_000) is None
    assert locate_strict(after.queue(0), 10_000).segment.generation == 1
    assert check_plan(after) == ()


@pytest.mark.parametrize(("global_id", "generation"), [(0, 1), (0, 7), (4, 0)])
def test_only_an_open_segment_gets_its_end(global_id, generation):
    with pytest.raises(QueueChangeRefused, match="does not wait"):
        close_forced(FORCED, global_id, generation, 5)


def test_the_last_known_end_is_the_greatest_that_anyone_reported():
    one = segment(3, "b1:q0", 500, 10)

    assert last_known_end(one, [], []) == 500
    assert last_known_end(one, [100, 40], [570]) == 590
    assert last_known_end(one, [40], [570]) == 570
