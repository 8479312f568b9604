"""Segments are found by any offset, in both directions (logical-queues.md 4, 13)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.logical_queue.lookup import (
    find_segment,
    locate,
    locate_position,
    locate_strict,
    max_offset,
    message_offset,
    min_offset,
    next_segment,
    physical_bound,
    search_result,
    segments_to_search,
    to_logical,
    to_logical_loose,
    upper_bound,
)
from backend.domain.logical_queue.mapping import LogicalQueue
from backend.domain.logical_queue.segment import INT64_MAX, INT64_MIN, QueueSegment
from tests.unit.domain.logical_queue.builders import queue, segment

INT64 = st.integers(INT64_MIN, INT64_MAX)
# The list of 21.4 of the page: b1:q0 is used again from physical offset 101 on.
REUSED = queue(segment(1, "b2:q2", 101, 0, 100), segment(2, "b1:q0", 201, 101))
BLOCKS = queue(segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", 10_000))


@st.composite
def sound_queues(draw):
    """Lists that hold the invariants, up to the greatest offsets."""
    count = draw(st.integers(1, 5))
    logical = draw(st.sampled_from([0, 1, 2**31, 2**62]))
    segments = []
    for at in range(count):
        start = draw(st.sampled_from([0, 1, 100, 2**40]))
        size = draw(st.integers(1, 50))
        is_open = at == count - 1
        end = -1 if is_open else start + size
        segments.append(QueueSegment(at, f"b{at}", at, logical, start, end))
        logical += size + draw(st.sampled_from([0, 0, 5, 10_000]))
    return LogicalQueue(0, tuple(segments))


@given(sound_queues(), st.data())
def test_a_message_has_one_logical_offset_in_both_directions(one, data):
    part = data.draw(st.sampled_from(one.segments))
    high = part.physical_end - 1 if part.is_ended else part.physical_start + 60
    physical = data.draw(st.integers(part.physical_start, high))

    logical = message_offset(one, *part.place, physical)
    located = locate_strict(one, logical)

    assert (located.segment, located.physical_offset) == (part, physical)
    assert to_logical(one, *part.place, physical) == logical


@given(sound_queues(), st.data())
def test_ranges_of_segments_do_not_overlap(one, data):
    logical = data.draw(st.integers(0, one.segments[-1].logical_start + 100))

    owners = [
        part
        for part in one.segments
        if part.logical_start <= logical
        and (upper_bound(one, part) is None or logical < upper_bound(one, part))
    ]

    assert len(owners) <= 1
    located = locate_strict(one, logical)
    assert [located.segment] == owners if owners else located is None


@given(
    st.lists(
        st.builds(
            QueueSegment,
            generation=st.integers(0, 3),
            broker_group_name=st.sampled_from(["b1", "b2"]),
            queue_id=st.integers(0, 1),
            logical_start=INT64,
            physical_start=INT64,
            physical_end=INT64,
        ),
        max_size=4,
    ),
    INT64,
)
def test_no_look_up_fails_whatever_list_and_offset_it_is_given(segments, offset):
    one = LogicalQueue(0, tuple(segments))

    answers = [
        locate(one, offset),
        locate_strict(one, offset),
        locate_position(one, offset),
        to_logical(one, "b1", 0, offset),
        to_logical_loose(one, "b1", 0, offset),
        message_offset(one, "b1", 0, offset),
        min_offset(one, offset),
        max_offset(one, offset),
        max_offset(one),
        *(physical_bound(one, part) for part in segments),
        *segments_to_search(one, offset),
    ]

    if not one.decided:
        assert answers[:9] == [None] * 9


def test_an_offset_in_a_gap_belongs_to_the_segment_before_the_gap():
    assert find_segment(BLOCKS, 101).generation == 0
    assert find_segment(BLOCKS, 9_999).generation == 0
    assert find_segment(BLOCKS, 10_000).generation == 1
    assert locate_strict(BLOCKS, 101) is None


def test_an_offset_before_the_list_belongs_to_the_oldest_segment():
    assert locate(REUSED, 50).segment.generation == 1
    assert locate(REUSED, 50).physical_offset == -51


def test_a_list_with_an_undecided_segment_alone_gives_nothing_l66():
    """Stock fails with a null access here (H-8)."""
    alone = queue(segment(1, "b2:q2", -1))

    assert find_segment(alone, 500) is None
    assert locate(alone, 0) is None
    assert max_offset(alone, 7) is None
    assert min_offset(alone, 0) is None


def test_an_undecided_segment_is_left_out_of_every_look_up():
    pending = queue(segment(0, "b1:q0"), segment(1, "b2:q2", -1))

    assert find_segment(pending, 500).generation == 0
    assert find_segment(pending, INT64_MAX).generation == 0
    assert next_segment(pending, pending.segments[0]) is None
    # The queue id is that of the segment whose broker is asked (H-21).
    assert max_offset(pending, 7) == 7


def test_a_committed_offset_in_a_gap_is_stored_as_the_end_before_it_l36():
    place = locate_position(BLOCKS, 5_000)

    assert place.segment.generation == 0
    assert place.physical_offset == 101
    assert to_logical(BLOCKS, "b1", 0, 101) == 101


def test_a_committed_offset_before_the_list_is_stored_as_its_start():
    assert locate_position(REUSED, 3).physical_offset == 0
    assert locate_position(REUSED, 201).physical_offset == 101


def test_least_and_greatest_offsets_skip_an_expired_head_l39():
    one = queue(segment(0, "b1:q0", 0, 0, 101), segment(1, "b2:q2", 101))

    assert min_offset(one, 0) == 0
    assert min_offset(one, 0, expired={0}) == 101
    assert max_offset(one, 0) == max_offset(one) == 101
    assert max_offset(one, 99) == 200
    assert min_offset(queue(segment(3, "b1:q0", 50)), 10, expired={3}) == 60


TIMED = queue(
    segment(0, "b1:q0", 0, 0, 10, first_stored_ms=100, last_stored_ms=199),
    segment(1, "b2:q0", 10, 0, 10, first_stored_ms=200, last_stored_ms=299),
    segment(2, "b3:q0", 20),
)


@pytest.mark.parametrize(
    ("timestamp", "hits", "found"),
    [
        (50, {0: 0}, 0),
        (150, {0: 5}, 5),
        (250, {1: 3}, 13),
        # The search ends with the first hit, also of another broker (H-20).
        (199, {0: 9, 1: 0, 2: 0}, 9),
        (350, {2: 4}, 24),
        (999, {}, 30),
    ],
)
def test_the_first_segment_with_a_message_of_the_time_wins_l38(timestamp, hits, found):
    asked = segments_to_search(TIMED, timestamp)
    answers = [(one, hits.get(one.generation)) for one in asked]

    assert search_result(answers, end=30) == found


def test_a_segment_whose_last_message_is_older_is_not_asked():
    assert [one.generation for one in segments_to_search(TIMED, 200)] == [1, 2]
    assert [one.generation for one in segments_to_search(TIMED, 0, expired={0})] == [1, 2]
